from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from threading import Barrier

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

import directrix.estimators
from directrix import (
    DirectClassifier,
    MomentClassifier,
    OperatingPointClassifier,
)
from directrix.estimators.base import LinearClassifier
from directrix.fit.progress import FITS, SingleBlasThread, single_blas_thread

CLASSIFIERS = [
    each
    for each in map(directrix.estimators.__dict__.get, directrix.estimators.__all__)
    if isinstance(each, type) and issubclass(each, LinearClassifier) and hasattr(each, "fit")
]
CLASSIFIERS.remove(OperatingPointClassifier)  # the model inside may use as many as it likes
FITTED = [(each, name) for each in CLASSIFIERS for name in FITS if hasattr(each, name)]


def blas_threads():
    """Return the numbers of threads of all BLAS libraries, of which NumPy and SciPy have two."""
    pools = ThreadpoolController().info()
    return {pool["num_threads"] for pool in pools if pool["user_api"] == "blas"}


def set_blas_threads(number):
    pools = ThreadpoolController().select(user_api="blas")
    for library in pools.lib_controllers:
        library.set_num_threads(number)
    with pools.limit():  # lets other threads set numbers too
        pass


@pytest.fixture
def two_threads():
    (before,) = blas_threads() or {1}
    set_blas_threads(2)
    if blas_threads() != {2}:
        pytest.skip("the BLAS of this machine has no threads that can be set")
    yield
    set_blas_threads(before)


class Labels:
    """Labels that write down the BLAS threads whenever they are read."""

    def __init__(self, values):
        self.values, self.seen, self.shape = np.asarray(values), [], (len(values),)

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        self.seen.append(blas_threads())
        return np.array(self.values, dtype=dtype)


def problem():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    return rng.normal(size=(200, 2)) + y[:, None], y


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_fit_has_one_blas_thread(classifier):
    X, y = problem()
    labels = Labels(y)
    model = classifier()
    model.warn_baseline = False
    model.fit(X, labels)
    assert labels.seen
    assert set.union(*labels.seen) == {1}
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(("classifier", "name"), FITTED)
def test_every_fit_is_limited_even_if_it_fails(monkeypatch, classifier, name):
    entered = []
    enter = SingleBlasThread.__enter__
    monkeypatch.setattr(
        SingleBlasThread, "__enter__", lambda limit: (entered.append(name), enter(limit))
    )
    with pytest.raises(TypeError, match="argument"):
        getattr(classifier(), name)()
    assert entered
    assert blas_threads() == {2}


def test_no_method_that_fits_is_forgotten():
    names = {name for each in CLASSIFIERS for name in dir(each) if "fit" in name}
    public = {name for name in names if not name.startswith(("_", "set_"))}
    assert public == set(FITS)


@pytest.mark.usefixtures("two_threads")
def test_a_fit_inside_a_fit_leaves_the_limit():
    X, y = problem()
    with single_blas_thread:
        MomentClassifier().fit(X, y)
        assert blas_threads() == {1}
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_threads")
def test_fits_that_overlap_in_threads_restore_what_was_before():
    limit, both_inside, first_ended = SingleBlasThread(), Barrier(2), Barrier(2)

    def first():
        with limit:
            both_inside.wait(10)
        first_ended.wait(10)

    def last():
        with limit:
            both_inside.wait(10)
            first_ended.wait(10)
            return blas_threads()

    with ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(first), pool.submit(last)]
        assert [job.result() for job in jobs] == [None, {1}]
    assert blas_threads() == {2}


def test_the_signature_of_a_fit_is_kept():
    assert list(signature(DirectClassifier.fit).parameters)[1:3] == ["X", "y"]
    assert MomentClassifier.fit.__doc__
    assert "groups" in str(signature(MomentClassifier().fit))
