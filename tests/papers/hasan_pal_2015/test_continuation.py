import numpy as np
import pytest

from directrix.papers.hasan_pal_2015.continuation import sharpness_levels, sla


def one_by_one(objective_at):
    """Return a probe that evaluates the objective at each offset."""

    def probe(coef, index, offsets, gamma):
        unit = np.eye(len(coef))[index]
        return np.array([objective_at(gamma)(coef + offset * unit)[0] for offset in offsets])

    return probe


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
    slow = sla(problem.at, start, probe=one_by_one(problem.at), radius=1.0, gamma_max=20.0)
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

    start, probe = np.array([-3.0]), one_by_one(at)
    solution = sla(at, start, probe=probe)
    kept = sla(at, start, probe=probe, exact=lambda coef: abs(float(coef[0]) + 3.0))
    assert (kept.coef, kept.value) == (-3.0, 0.0)
    assert solution.coef == pytest.approx([2.06], abs=0.02)
    assert set(seen) == {2.0, 20.0, 200.0}
    assert sla(at, start, probe=probe, radius=0.2).coef == pytest.approx([-1.93], abs=0.02)


def test_the_levels_of_sharpness_end_at_the_last_that_is_not_beyond_the_greatest():
    assert sharpness_levels() == (2.0, 20.0, 200.0)
    assert sharpness_levels(2.0, 199.0, 10.0) == (2.0, 20.0)
    assert sharpness_levels(3.0, 3.0, 2.0) == (3.0,)
