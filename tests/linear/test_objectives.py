import numpy as np
import pytest
from scipy import sparse

from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.margin import Logistic
from directrix.linear.objectives import DataObjective
from directrix.linear.pairwise import PairwiseHinge

pytestmark = pytest.mark.every_case  # each is cheap

HOLDERS = {"dense": np.asarray, "sparse": sparse.csr_array, "sparse matrix": sparse.csr_matrix}
every_holder = pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)


def objective(loss, ridge, holder=np.asarray):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * (rng.random((40, 3)) < 0.7)
    return DataObjective(holder(X), rng.random(40) < 0.4, rng.uniform(0.5, 2.0, 40), loss, ridge)


@every_holder
@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("loss", [Logistic(), BetaBernoulli(), PairwiseHinge()], ids=str)
def test_the_gradient_is_that_of_the_value(loss, ridge, holder):
    function = objective(loss, ridge, holder)
    coef = np.random.default_rng(1).normal(size=4)
    value, gradient = function(coef)
    assert isinstance(value, float)
    assert gradient.shape == (4,)
    step = 1e-6
    by_differences = [
        (function(coef + step * unit)[0] - function(coef - step * unit)[0]) / (2.0 * step)
        for unit in np.eye(4)
    ]
    assert gradient == pytest.approx(by_differences, abs=1e-8)


@every_holder
def test_whatever_holds_the_rows_the_objective_is_the_same(holder):
    coef = np.random.default_rng(1).normal(size=4)
    ours, theirs = objective(Logistic(), 0.3, holder), objective(Logistic(), 0.3)
    assert ours(coef)[0] == pytest.approx(theirs(coef)[0], rel=1e-14)
    assert ours(coef)[1] == pytest.approx(theirs(coef)[1], rel=1e-12)
    assert ours.scores(coef) == pytest.approx(theirs.X @ coef[:3] + coef[3], abs=1e-14)


def test_the_intercept_is_not_penalised():
    coef = np.array([1.0, -2.0, 3.0, 100.0])
    bare, held = objective(Logistic(), 0.0), objective(Logistic(), 0.5)
    assert held(coef)[0] - bare(coef)[0] == pytest.approx(0.25 * 14.0, rel=1e-12)
    assert held(coef)[1] - bare(coef)[1] == pytest.approx([0.5, -1.0, 1.5, 0.0], abs=1e-14)


def test_sharpened_is_of_a_sharper_loss_and_else_the_same():
    sharp = objective(BetaBernoulli(), 0.3).sharpened(5.0)
    assert sharp.loss == BetaBernoulli().sharpen(5.0) != BetaBernoulli()
    assert sharp.ridge == 0.3
