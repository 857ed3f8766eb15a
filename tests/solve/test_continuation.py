import numpy as np
import pytest
from margin_problems import errors, turned_rows
from scipy.special import expit

from directrix.solve import sla, slam


class Sigmoids:
    def __init__(self, rows):
        self.rows = rows

    def at(self, gamma, ridge=0.0):
        def objective(coef):
            wrong = expit(-gamma * (self.rows @ coef))
            value = wrong.sum() + ridge / 2 * coef @ coef
            return float(value), -gamma * ((wrong * (1 - wrong)) @ self.rows) + ridge * coef

        return objective

    def probe(self, coef, i, offsets, gamma):
        margin = (self.rows @ coef)[:, np.newaxis] + np.outer(self.rows[:, i], offsets)
        return expit(-gamma * margin).sum(axis=0)

    def errors(self, coef):
        return errors(self.rows, coef)


@pytest.fixture
def problem():
    rows = turned_rows(np.random.default_rng(0), 120, 3)
    rows[:8] *= -15.0
    return Sigmoids(rows)


def test_it_improves_on_its_start(problem):
    start = np.linalg.lstsq(problem.rows, np.ones(120), rcond=None)[0]
    solution = sla(problem.at, start, probe=problem.probe, exact=problem.errors)
    assert solution.value == problem.errors(solution.coef)
    assert solution.value < problem.errors(start) - 5
    assert solution.history[0] == problem.errors(start)
    assert (np.diff(solution.history) <= 0).all()


def test_the_probe_changes_nothing_but_the_time(problem):
    start = np.ones(4)
    fast = sla(problem.at, start, probe=problem.probe, radius=1.0, gamma_max=20.0)
    slow = sla(problem.at, start, radius=1.0, gamma_max=20.0)
    assert slow.coef == pytest.approx(fast.coef)
    assert fast.value == pytest.approx(problem.at(20.0)(fast.coef)[0])


def test_probing_leaves_a_local_minimum():
    def two_valleys(x):
        a = x[0]
        return float(a**4 - 8 * a**2 - 2 * a + 30), np.array([4 * a**3 - 16 * a - 2])

    seen = []

    def at(gamma):
        seen.append(gamma)
        return two_valleys

    told = []
    solution = sla(at, np.array([-3.0]), callback=lambda *now: told.append(now))
    assert all(value == pytest.approx(two_valleys(coef)[0]) for coef, value in told)
    kept = sla(at, np.array([-3.0]), exact=lambda coef: abs(float(coef[0]) + 3.0))
    assert (kept.coef, kept.value) == (-3.0, 0.0)
    assert solution.coef == pytest.approx([2.06], abs=0.02)
    assert set(seen) == {2.0, 20.0, 200.0}
    assert sla(at, np.array([-3.0]), radius=0.2).coef == pytest.approx([-1.93], abs=0.02)


def test_a_callback_stops(problem):
    solution = sla(problem.at, np.ones(4), probe=problem.probe, callback=lambda *_: True)
    assert solution.n_iter == 1


@pytest.mark.parametrize("wrong", [{"growth": 1.0}, {"gamma_min": 300.0}, {"spacing": 9.0}])
def test_a_path_that_leads_nowhere_is_refused(problem, wrong):
    with pytest.raises(ValueError, match="sla needs"):
        sla(problem.at, np.ones(4), **wrong)


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
