import numpy as np
import pytest
from scipy import sparse

from benchmarks.studies.random_moments import random_moments
from directrix.losses import BreakEven, Logistic, PairwiseHinge, Sigmoid
from directrix.objectives import DataObjective, MomentObjective
from directrix.risks import CostRisk, RankingRisk

HOLDERS = {"dense": np.asarray, "sparse": sparse.csr_array, "sparse matrix": sparse.csr_matrix}
every_holder = pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)


def objective(loss, ridge, holder=np.asarray):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * (rng.random((40, 3)) < 0.7)
    return DataObjective(holder(X), rng.random(40) < 0.4, rng.uniform(0.5, 2.0, 40), loss, ridge)


@every_holder
@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("loss", [Logistic(), Sigmoid(), PairwiseHinge(), BreakEven()], ids=str)
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
    sharp = objective(Sigmoid(), 0.3).sharpened(5.0)
    assert sharp.loss == Sigmoid().sharpen(5.0) != Sigmoid()
    assert sharp.ridge == 0.3


@pytest.mark.parametrize("risk", [CostRisk(), RankingRisk()], ids=str)
@pytest.mark.parametrize("penalty", [0.0, 1e-3])
def test_objective_gradient_and_hessian_product(risk, penalty):
    rng = np.random.default_rng(1)
    for _ in range(5):
        moments = random_moments(rng, most_features=6)
        objective = MomentObjective(moments, risk, penalty)
        coef, along = rng.normal(size=(2, moments.n_features + 1))
        step = 1e-5
        ahead, behind = objective(coef + step * along), objective(coef - step * along)
        slope = (ahead[0] - behind[0]) / (2 * step)
        assert objective(coef)[1] @ along == pytest.approx(slope, abs=1e-7)
        change = (ahead[1] - behind[1]) / (2 * step)
        assert objective.hessian_product(coef, along) == pytest.approx(change, abs=1e-6)
        if not penalty:  # a line has no length
            assert objective(coef)[1] @ coef == pytest.approx(0.0, abs=1e-12)
    assert not objective.hessian_product(coef, np.zeros_like(coef)).any()
