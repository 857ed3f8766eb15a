"""Laws of every loss, of the search and of the papers, and of some with other parameters.

The laws themselves are in `contracts.losses`.
"""

import pickle
from functools import partial

import numpy as np
import pytest
from contracts.cases import draw_rows
from contracts.losses import agrees_with_definition, loss_laws
from loss_oracle import by_definition

from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.margin import Logistic
from directrix.linear.pairwise import PairwiseHinge
from directrix.linear.ramp import Ramp
from directrix.papers.chuang_2017 import Exponential, Hinge, Squared
from directrix.papers.hasan_pal_2015.losses import Sigmoid, ZeroOne
from directrix.papers.zhang_saha_vishwanathan_2011 import SmoothedPRBEP, SmoothedROCArea

CONVEX = (
    *(Logistic(), Hinge(), Exponential(), Squared()),
    *(PairwiseHinge(), PairwiseHinge(kappa=0.0), PairwiseHinge(kappa=1.5, margin=0.5)),
    *(SmoothedROCArea(), SmoothedROCArea(epsilon=0.0), SmoothedROCArea(epsilon=0.2)),
    *(SmoothedPRBEP(), SmoothedPRBEP(epsilon=0.0), SmoothedPRBEP(epsilon=0.3)),
)
BOUNDED = (
    *(BetaBernoulli(), BetaBernoulli(mixing=0.4, prior_mean=0.8, gamma=2.0)),
    *(Sigmoid(), Sigmoid(gamma=5.0), ZeroOne()),
    *(Ramp(), Ramp(PairwiseHinge(), gamma=2.0)),
)
LOSSES = (*CONVEX, *BOUNDED)
OF_PAIRS = (PairwiseHinge, Ramp, SmoothedROCArea, SmoothedPRBEP)
LAWS = [
    pytest.param(law, id=f"{loss}-{title}")
    for loss in LOSSES
    for title, law in loss_laws(
        loss, convex=loss in CONVEX, of_pairs=isinstance(loss, OF_PAIRS)
    ).items()
]
SOLVED = [loss for loss in LOSSES if isinstance(loss, SmoothedPRBEP)]
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=str)


@pytest.mark.every_case
@pytest.mark.parametrize("law", LAWS)
def test_law(law):
    law()


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss not in SOLVED], ids=str)
@pytest.mark.parametrize("ties", [False, True])
def test_is_what_its_definition_says(loss, ties):
    agrees_with_definition(loss, partial(by_definition, loss), draw_rows(7, 200, ties=ties))


@pytest.mark.parametrize("loss", SOLVED, ids=str)
@pytest.mark.parametrize("seed", range(4))
def test_is_the_maximum_that_its_definition_says(loss, seed):
    rows = draw_rows(seed, 9, ties=seed % 2 == 1, whole=True)
    rows = rows.take(rows.weight > 0)
    agrees_with_definition(loss, partial(by_definition, loss), rows, 1e-6)


@pytest.mark.parametrize("smoothed", [SmoothedROCArea, SmoothedPRBEP])
def test_smoothing_lowers_the_loss_by_epsilon_at_most(smoothed):
    for seed in range(10):
        rows = draw_rows(seed + 60, ties=seed % 2 == 1, spread=(0.1, 1.0, 10.0)[seed % 3])
        exact, smooth = (smoothed(epsilon).value_and_grad(*rows)[0] for epsilon in (0.0, 0.2))
        assert -1e-12 <= exact - smooth <= 0.2 + 1e-12


@every_loss
def test_pickle_gives_the_same_loss(loss):
    same = pickle.loads(pickle.dumps(loss))  # noqa: S301
    assert same == loss
    assert hash(same) == hash(loss)


def test_different_losses_differ():
    assert len(set(LOSSES)) == len(LOSSES)


def test_a_sharp_sigmoid_and_a_sharp_ramp_are_the_metric():
    positive, scores, weight = draw_rows(50)
    rows = positive, scores, weight
    sharp = Sigmoid().sharpen(1e7).value_and_grad(*rows)[0]
    assert sharp == pytest.approx(ZeroOne().value_and_grad(*rows)[0], abs=1e-6)
    apart = np.subtract.outer(scores[positive], scores[~positive])
    pairs = np.multiply.outer(weight[positive], weight[~positive])
    ramp = Ramp().sharpen(1e7).value_and_grad(*rows)[0]
    assert ramp == pytest.approx(np.average(apart <= 0, weights=pairs), abs=1e-6)
