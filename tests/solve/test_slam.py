import numpy as np
import pytest
from margin_problems import Sigmoids, turned_rows

from directrix.solve import sla, slam


def test_slam_chooses_what_does_best_on_held_out_rows(problem):
    other = Sigmoids(turned_rows(np.random.default_rng(1), 200, 3))

    def probe_of(ridge):
        def probe(coef, i, offsets, gamma):
            squares = (coef[i] + offsets) ** 2 - coef[i] ** 2 + coef @ coef
            return problem.probe(coef, i, offsets, gamma) + ridge / 2 * squares

        return probe

    tuned = slam(
        problem.at,
        np.zeros(4),
        validate=other.errors,
        ridges=(1e-2, 1.0),
        growths=(4.0, 10.0),
        brackets=1,
        probe=probe_of,
        exact=problem.errors,
    )
    assert tuned.held_out == other.errors(tuned.solution.coef)

    def fixed(**path):
        return sla(
            lambda gamma: problem.at(gamma, tuned.ridge),
            tuned.start,
            probe=probe_of(tuned.ridge),
            exact=problem.errors,
            **path,
        )

    ends = {name: getattr(tuned, name) for name in ("gamma_min", "gamma_max", "growth")}
    assert (fixed(**ends).coef == tuned.solution.coef).all()
    for growth in (4.0, 10.0):
        assert tuned.held_out <= other.errors(fixed(growth=growth).coef)


@pytest.mark.parametrize(("sign", "ridge"), [(1.0, 100.0), (-1.0, 0.1)])
def test_slam_asks_nothing_but_the_held_out_error(problem, sign, ridge):
    tuned = slam(
        problem.at,
        np.zeros(4),
        validate=lambda coef: sign * float(coef @ coef),
        ridges=(0.1, 10.0, 100.0),
        gammas=(2.0,),
        growths=(10.0,),
        brackets=0,
        probe=lambda _: problem.probe,
    )
    assert tuned.ridge == ridge


def test_slam_moves_the_ends_of_the_path_while_that_helps():
    def at(gamma, ridge):  # noqa: ARG001
        return lambda x: (float((x[0] - gamma) ** 2), 2.0 * (x - gamma))

    tuned = slam(
        at,
        np.zeros(1),
        validate=lambda coef: abs(float(coef[0]) - 1000.0),
        ridges=(0.0,),
        growths=(2.0,),
    )
    assert tuned.gamma_max == 1600.0  # 200, 400, 800, …: the last γ is 1024
    assert tuned.gamma_min == 2.0
    assert tuned.held_out == pytest.approx(24.0, abs=0.5)


def test_slam_needs_something_to_choose_from(problem):
    with pytest.raises(ValueError, match="ridges is empty"):
        slam(problem.at, np.zeros(4), validate=problem.errors, ridges=())
