import warnings

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der, rosen_hess_prod
from sklearn.exceptions import ConvergenceWarning

from benchmarks.studies.descents import random_moments
from directrix.linear.lbfgs import lbfgs
from directrix.moments.risks import RankingRisk
from directrix.papers.ghanbari_li_scheinberg_2019 import newton_cg, wolfe_lbfgs
from directrix.papers.ghanbari_scheinberg_2018 import descent
from directrix.papers.moment_risk import MomentObjective, part_of_mean


class Rosenbrock:
    def __call__(self, x):
        return rosen(x), rosen_der(x)

    def hessian_product(self, x, vector):
        return rosen_hess_prod(x, vector)


class Bowl:
    """A quadratic with minimum at (1, 2, 3)."""

    scale = np.array([1.0, 4.0, 0.5])

    def __call__(self, x):
        off = x - np.array([1.0, 2.0, 3.0])
        return float(off @ (self.scale * off)) / 2.0, self.scale * off

    def hessian_product(self, x, vector):  # noqa: ARG002
        return self.scale * vector


@pytest.mark.parametrize("solver", [lbfgs, wolfe_lbfgs, descent, newton_cg])
def test_the_bottom_of_a_bowl_is_found(solver):
    solution = solver(Bowl(), np.zeros(3))
    assert solution.converged
    assert solution.coef == pytest.approx([1.0, 2.0, 3.0], abs=1e-3)
    assert solution.history[0] == Bowl()(np.zeros(3))[0]
    assert (np.diff(solution.history) <= 0).all()
    assert len(solution.history) == solution.n_iter + 1


@pytest.mark.parametrize("solver", [lbfgs, wolfe_lbfgs, newton_cg])
def test_a_curved_valley_is_followed(solver):
    solution = solver(Rosenbrock(), np.full(6, -1.0), tol=1e-8)
    assert solution.coef == pytest.approx(np.ones(6), abs=1e-5)


@pytest.mark.parametrize("solver", [lbfgs, wolfe_lbfgs, newton_cg, descent])
def test_too_few_iterations_are_said_with_what_to_do(solver):
    with pytest.warns(ConvergenceWarning, match=r"stopped after 2 iterations.*standardise"):
        solution = solver(Rosenbrock(), np.full(6, -1.0), max_iter=2)
    assert not solution.converged


def test_the_start_is_not_changed():
    start = np.zeros(3)
    lbfgs(Bowl(), start)
    assert not start.any()


def test_all_descend_to_the_same_auc():
    moments = random_moments(np.random.default_rng(3), most_features=4)
    objective = MomentObjective(moments, RankingRisk(), 1e-3)
    start = np.append(part_of_mean(moments.positive.mean, moments.negative.mean), 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        values = [
            wolfe_lbfgs(objective, start, tol=1e-8).value,
            lbfgs(objective, start, tol=1e-8, ftol=0.0).value,
            newton_cg(objective, start, tol=1e-8).value,
            descent(objective, start, max_iter=20_000).value,
        ]
    assert max(values) - min(values) < 1e-4
