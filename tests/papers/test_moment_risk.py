import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm

from benchmarks.studies.descents import random_moments
from directrix import Moments
from directrix.moments.projection import project
from directrix.moments.risks import CostRisk, RankingRisk
from directrix.papers.moment_risk import MomentObjective

pytestmark = pytest.mark.every_case  # each is cheap

#: The central difference of seven points has an error of h⁶ f⁽⁷⁾ / 140.
CENTRAL = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
#: Risks with derivatives: those of the papers.
RISKS = [CostRisk(), CostRisk(fp=1.0, fn=20.0, balanced=True), RankingRisk()]


@pytest.mark.parametrize("risk", RISKS, ids=str)
@pytest.mark.parametrize("penalty", [0.0, 1e-3])
def test_objective_gradient_and_hessian_product(risk, penalty):
    """Against central differences of seven points, of the value and of the gradient."""
    rng = np.random.default_rng(1)
    for _ in range(5):
        moments = random_moments(rng, most_features=6)
        objective = MomentObjective(moments, risk, penalty)
        coef, along = rng.normal(size=(2, moments.n_features + 1))
        numbers = project(moments, coef)
        step = 1e-3 * np.sqrt(min(numbers.var_pos, numbers.var_neg)) / np.linalg.norm(along)
        ends = {k: objective(coef + k * step * along) for k in CENTRAL}
        slope = sum(CENTRAL[k] * value / step for k, (value, _) in ends.items())
        change = sum(CENTRAL[k] * gradient / step for k, (_, gradient) in ends.items())
        assert objective(coef)[1] @ along == pytest.approx(slope, abs=1e-9 * abs(slope) + 1e-10)
        product = objective.hessian_product(coef, along)
        size = np.abs(change).max() + np.abs(objective(coef)[1]).max() / step * 1e-3
        assert product == pytest.approx(change, abs=1e-8 * size)
        if not penalty:  # a line has no length, so ∇²F w = −∇F
            assert objective(coef)[1] @ coef == pytest.approx(0.0, abs=1e-12)
            turned = objective.hessian_product(coef, coef)
            assert turned == pytest.approx(-objective(coef)[1], abs=1e-8 * size)
    assert not objective.hessian_product(coef, np.zeros_like(coef)).any()


def test_the_gradient_of_the_ranking_loss_is_minus_the_printed_one():
    """Ghanbari, Li and Scheinberg 2019: eqs. 3.8 and 3.10 agree, and both are of the AUC."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        moments = random_moments(rng, most_features=6)
        w = rng.normal(size=moments.n_features)
        positive, negative = moments.positive, moments.negative
        mu, sigma = negative.mean - positive.mean, negative.covariance + positive.covariance
        mu_z, sigma_z = w @ mu, np.sqrt(w @ sigma @ w)
        printed_value = 1.0 - norm.cdf(mu_z / sigma_z)  # (3.8)
        printed_gradient = (  # (3.10)
            -norm.pdf(mu_z / sigma_z) * (sigma_z * mu - mu_z / sigma_z * sigma @ w) / sigma_z**2
        )
        loss, gradient = MomentObjective(moments, RankingRisk())(np.append(w, 0.0))
        assert loss == pytest.approx(1.0 - printed_value, abs=1e-15)
        assert gradient[:-1] == pytest.approx(-printed_gradient, abs=1e-14)
        assert gradient[-1] == pytest.approx(0.0, abs=1e-15)


def test_the_gradient_of_the_error_is_the_printed_one():
    """Ghanbari, Li and Scheinberg 2019, eqs. 3.3 and 3.5."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        moments = random_moments(rng, most_features=6)
        w = rng.normal(size=moments.n_features)
        value, gradient = 0.0, np.zeros(len(w))
        for group, share, sign in (
            (moments.positive, moments.prior, -1.0),
            (moments.negative, 1.0 - moments.prior, 1.0),
        ):
            mu, sigma = w @ group.mean, np.sqrt(w @ group.covariance @ w)
            value += share * norm.cdf(sign * mu / sigma)
            by_ratio = (sigma * group.mean - mu / sigma * group.covariance @ w) / sigma**2
            gradient += sign * share * norm.pdf(mu / sigma) * by_ratio
        loss, ours = MomentObjective(moments, CostRisk())(np.append(w, 0.0))
        assert loss == pytest.approx(value, abs=1e-15)
        assert ours[:-1] == pytest.approx(gradient, abs=1e-13)


@pytest.mark.parametrize("risk", RISKS, ids=str)
def test_a_class_without_spread_has_a_finite_hessian_product(risk):
    """Rows of a class are all equal, or both are, and differ along one feature at most."""
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0], [3.0, -1.0], [2.0, 2.0]])
    for positive in ([1, 1, 0, 0, 0], [0, 0, 1, 1, 1]):
        objective = MomentObjective(Moments.of(X, np.array(positive) == 1), risk)
        for coef in ([1.0, 0.5, -1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]):
            product = objective.hessian_product(np.array(coef), np.array([0.3, -1.0, 0.2]))
            assert np.isfinite(product).all()


def test_hessian_products_of_an_operator_over_rows_are_those_of_the_matrix():
    """More than 5,000 features have no matrix of covariances."""
    rng = np.random.default_rng(4)
    X = sparse.random(60, 5_200, density=0.002, random_state=rng, format="csr")
    y = np.arange(60) % 3 == 0
    moments = Moments.of(X, y)
    assert not isinstance(moments.positive.covariance, np.ndarray)
    objective = MomentObjective(moments, CostRisk(), 1e-3)
    coef, along = rng.normal(size=(2, 5_201))
    step = 1e-4 / np.linalg.norm(along)
    change = sum(f * objective(coef + k * step * along)[1] / step for k, f in CENTRAL.items())
    size = np.abs(change).max()
    assert objective.hessian_product(coef, along) == pytest.approx(change, abs=1e-6 * size)
