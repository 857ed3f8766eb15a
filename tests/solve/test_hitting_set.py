import numpy as np
import pytest
from margin_problems import least_errors, turned_rows

from directrix.solve import vertex_search, zero_one_lower_bound


@pytest.mark.parametrize("seed", range(12))
def test_on_the_plane_the_optimum_is_proved(seed):
    rng = np.random.default_rng(seed)
    rows = turned_rows(rng, 12, 2, shift=0.1)
    if seed % 2:
        rows[:, :2] = np.round(2 * rows[:, :2])
    best = least_errors(rows)
    # With an upper bound that is not reached the optimum is the most that can be proved.
    proof = zero_one_lower_bound(rows, upper=best + 3, seconds=5.0, rng=seed)
    assert proof.lower_bound == best
    assert not proof.optimal
    assert zero_one_lower_bound(rows, upper=best, seconds=5.0, rng=seed).optimal


@pytest.mark.parametrize("whole", [True, False])
def test_weights(whole):
    rng = np.random.default_rng(3)
    rows = turned_rows(rng, 12, 2, shift=0.1)
    weight = rng.integers(1, 4, 12) * (1.0 if whole else 0.3)
    best = least_errors(rows, weight)
    proof = zero_one_lower_bound(rows, weight=weight, upper=100.0, seconds=5.0)
    assert 0 < proof.lower_bound <= best + 1e-9
    assert proof.lower_bound == best or not whole


def test_the_bound_climbs_one_by_one_above_the_linear_program():
    rows = turned_rows(np.random.default_rng(7), 24, 2, shift=0.0)
    weight = np.full(24, 3.0)
    best = least_errors(rows, weight)
    # The linear program alone ends at 18 here.
    proof = zero_one_lower_bound(rows, weight=weight, upper=best + 3, seconds=9.0)
    assert proof.lower_bound == best == 21.0


def test_no_set_counts_unchecked(monkeypatch):
    rows = turned_rows(np.random.default_rng(0), 12, 2, shift=0.1)
    monkeypatch.setattr("directrix.solve.papers.hitting_set.cancel_exactly", lambda _: False)
    assert zero_one_lower_bound(rows, upper=3, seconds=5.0) == (0.0, False, 0)


def test_a_larger_problem_is_bracketed():
    rows = turned_rows(np.random.default_rng(5), 80, 4, shift=0.8)
    upper = vertex_search(rows, rows.sum(axis=0), max_steps=500).value
    proof = zero_one_lower_bound(rows, upper=upper, seconds=10.0)
    assert 0.5 * upper < proof.lower_bound <= upper


def test_separable_rows_have_no_circuit():
    rows = turned_rows(np.random.default_rng(0), 30, 2, shift=10.0)
    assert zero_one_lower_bound(rows, upper=5) == (0.0, False, 0)
    empty = np.vstack([rows, np.zeros((2, 3))])
    assert zero_one_lower_bound(empty, upper=2) == (2.0, True, 0)
