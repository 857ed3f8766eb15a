from dataclasses import asdict, replace

import numpy as np
import pytest

from directrix import BetaBernoulliClassifier
from directrix.classifiers.state import ModelMetadata
from directrix.exceptions import StateError
from directrix.linear import Logistic

# Some samples are small.
pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning")

RNG = np.random.default_rng(2)
X = np.abs(RNG.normal(size=(40, 3)))
Y = X[:, 0] + RNG.normal(size=40) > 1


@pytest.fixture(params=[None, "rbf", "min"])
def state(request):
    return BetaBernoulliClassifier(kernel=request.param).fit(X, Y).export_state()


def refused(state, words, **facts):
    changed = replace(state, facts=ModelMetadata(state.facts | facts))
    with pytest.raises(StateError, match=words):
        BetaBernoulliClassifier.from_state(changed)


def test_a_prior_is_facts():
    assert BetaBernoulliClassifier().fit(X, Y).export_state().facts["prior"] is None
    sparse = BetaBernoulliClassifier(prior="gaussian-laplace").fit(X, Y)
    assert sparse.export_state().facts["prior"] == asdict(sparse.prior_)


def test_facts_are_checked(state):
    refused(state, "facts are not those", more=1)
    refused(state, "no plateaus", loss=Logistic())
    refused(state, "shift", shift=np.inf)
    refused(state, "held-out", held_out={1: 0.5})
    refused(state, "held-out", held_out=ModelMetadata())
    refused(state, "prior", prior=ModelMetadata(share=0.5))
    refused(
        state, "a kernel that this version does not know", kernel=ModelMetadata(name="x", params={})
    )
    refused(state, "a kernel that this version does not know", kernel=np.ones(2))


def test_the_kernel_goes_with_the_arrays(state):
    other = (
        ModelMetadata(name="linear", params=ModelMetadata())
        if state.facts["kernel"] is None
        else None
    )
    refused(state, "its kernel does not match its arrays", kernel=other)


def test_support_names_every_coefficient():
    state = BetaBernoulliClassifier().fit(X, Y).export_state()
    for support, words in (([0, 1], "lacks a feature"), ([0, 2, 1], "not in their order")):
        arrays = state.arrays | {"support": np.array(support)}
        with pytest.raises(StateError, match=words):
            BetaBernoulliClassifier.from_state(replace(state, arrays=arrays))


def test_the_intersection_kernel_takes_features_as_they_are():
    state = BetaBernoulliClassifier(kernel="min").fit(X, Y).export_state()
    arrays = state.arrays | {"unit_scale": np.full(3, 2.0)}
    with pytest.raises(StateError, match="takes features as given"):
        BetaBernoulliClassifier.from_state(replace(state, arrays=arrays))
