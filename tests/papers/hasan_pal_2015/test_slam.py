import numpy as np
import pytest
from margin_problems import Sigmoids, turned_rows

from directrix.papers.hasan_pal_2015.continuation import sla, slam

GAMMAS = (1.0, 4.0)


def search_of(problem, exact=None):
    """Return SLA with the ridge and the start that it is given."""

    def search(ridge, start, **path):
        def probe(coef, i, offsets, gamma):
            squares = (coef[i] + offsets) ** 2 - coef[i] ** 2 + coef @ coef
            return problem.probe(coef, i, offsets, gamma) + ridge / 2 * squares

        return sla(lambda g: problem.at(g, ridge), start, probe=probe, exact=exact, **path)

    return search


def test_slam_chooses_what_does_best_on_held_out_rows(problem):
    other = Sigmoids(turned_rows(np.random.default_rng(1), 200, 3))
    search = search_of(problem, problem.errors)
    tuned = slam(
        problem.at,
        np.zeros(4),
        validate=other.errors,
        search=search,
        ridges=(1e-2, 1.0),
        gammas=GAMMAS,
        growths=(4.0, 10.0),
        brackets=1,
    )
    assert tuned.held_out == other.errors(tuned.solution.coef)
    ends = {name: getattr(tuned, name) for name in ("gamma_min", "gamma_max", "growth")}
    assert (search(tuned.ridge, tuned.start, **ends).coef == tuned.solution.coef).all()
    for growth in (4.0, 10.0):
        fixed = search(tuned.ridge, tuned.start, growth=growth)
        assert tuned.held_out <= other.errors(fixed.coef)


@pytest.mark.parametrize(("sign", "ridge"), [(1.0, 100.0), (-1.0, 0.1)])
def test_slam_asks_nothing_but_the_held_out_error(problem, sign, ridge):
    tuned = slam(
        problem.at,
        np.zeros(4),
        validate=lambda coef: sign * float(coef @ coef),
        search=search_of(problem),
        ridges=(0.1, 10.0, 100.0),
        gammas=(2.0,),
        growths=(10.0,),
        brackets=0,
    )
    assert tuned.ridge == ridge


def test_slam_moves_the_ends_of_the_path_while_that_helps():
    def at(gamma, ridge):  # noqa: ARG001
        return lambda x: (float((x[0] - gamma) ** 2), 2.0 * (x - gamma))

    def probe(coef, index, offsets, gamma):  # noqa: ARG001
        return (coef[0] + offsets - gamma) ** 2

    def search(ridge, start, **path):
        return sla(lambda gamma: at(gamma, ridge), start, probe=probe, **path)

    tuned = slam(
        at,
        np.zeros(1),
        validate=lambda coef: abs(float(coef[0]) - 1000.0),
        search=search,
        ridges=(0.0,),
        gammas=GAMMAS,
        growths=(2.0,),
    )
    assert tuned.gamma_max == 1600.0  # 200, 400, 800, …: the last γ is 1024
    assert tuned.gamma_min == 2.0
    assert tuned.held_out == pytest.approx(24.0, abs=0.5)
