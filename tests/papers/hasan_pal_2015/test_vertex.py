import numpy as np
import pytest
from margin_problems import errors, least_errors, turned_rows

from directrix.papers.hasan_pal_2015.vertex import merge_rows, vertex_search


@pytest.mark.parametrize("seed", range(25))
def test_on_the_plane_it_equals_brute_force(seed):
    rng = np.random.default_rng(seed)
    rows = turned_rows(rng, int(rng.integers(3, 13)), 2, shift=0.3)
    if seed % 2:  # whole numbers: ties and rows that repeat
        rows[:, :2] = np.round(2 * rows[:, :2])
    solution = vertex_search(rows, rng.standard_normal(3), max_steps=600, stall=40, rng=seed)
    assert solution.value == errors(rows, solution.coef)
    assert solution.value == least_errors(rows)


@pytest.mark.parametrize("seed", range(10))
def test_weights_are_repetitions(seed):
    rng = np.random.default_rng(seed)
    rows = turned_rows(rng, 12, 2, shift=0.2)
    weight = rng.integers(0, 4, 12).astype(float)
    start = rng.standard_normal(3)
    weighted = vertex_search(rows, start, weight=weight, max_steps=400, stall=40)
    repeated = vertex_search(np.repeat(rows, weight.astype(int), 0), start, max_steps=400, stall=40)
    assert weighted.value == repeated.value == least_errors(rows, weight)
    assert weighted.value == errors(rows, weighted.coef, weight)
    halved = vertex_search(rows, start, weight=weight / 2, max_steps=400, stall=40)
    assert halved.value == weighted.value / 2


@pytest.fixture
def rows():
    return turned_rows(np.random.default_rng(7), 150, 5, shift=0.3)


def test_the_same_seed_gives_the_same_line(rows):
    first, second = (vertex_search(rows, np.ones(6), max_steps=200, rng=3) for _ in range(2))
    assert (first.coef == second.coef).all()
    assert first.history == second.history
    assert len(first.history) == first.n_iter + 1 == 201
    assert (np.diff(first.history) <= 0).all()


def test_it_improves_on_least_squares(rows):
    start = np.linalg.lstsq(rows, np.ones(150), rcond=None)[0]
    solution = vertex_search(rows, start, max_steps=500)
    assert solution.value == errors(rows, solution.coef) < errors(rows, start) - 3
    assert np.linalg.norm(solution.coef) == pytest.approx(1.0)


def test_beginning_anew_finds_more(rows):
    values = {
        stall: np.mean(
            [
                vertex_search(rows, np.ones(6), max_steps=400, stall=stall, rng=seed).value
                for seed in range(2)
            ]
        )
        for stall in (60, 10_000)
    }
    assert values[60] <= values[10_000]


def test_units_do_not_matter(rows):
    scale = np.array([1e-4, 1.0, 1e5, 1.0, 10.0, 1.0])
    plain = vertex_search(rows, np.ones(6), max_steps=300)
    scaled = vertex_search(rows * scale, 1.0 / scale, max_steps=300)
    assert scaled.value == errors(rows * scale, scaled.coef)
    assert scaled.value == pytest.approx(plain.value, abs=1)


def test_dependent_and_constant_columns(rows):
    wide = np.column_stack([rows, rows @ np.arange(6), 3.0 * rows[:, -1], np.zeros(150)])
    start = np.append(np.ones(6), np.zeros(3))
    assert merge_rows(wide, None).rows.shape == (150, 6)
    solution = vertex_search(wide, start, max_steps=300)
    assert solution.value == errors(wide, solution.coef)
    plain = vertex_search(rows, np.ones(6), max_steps=300)
    assert solution.value == pytest.approx(plain.value, abs=1)


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_fewer_rows_than_columns_are_separated(n):
    rng = np.random.default_rng(n)
    rows = turned_rows(rng, n, 7, shift=0.0)
    solution = vertex_search(rows, -rows.sum(axis=0))
    assert solution.value == errors(rows, solution.coef) == 0.0


def test_orthogonal_rows_are_separated_from_the_worst_start():
    assert vertex_search(np.eye(4), -np.ones(4)).value == 0.0
    assert vertex_search(np.eye(4), np.zeros(4)).value == 0.0


def test_one_column():
    rows = np.array([[1.0], [1.0], [-1.0]])
    assert vertex_search(rows, np.array([-1.0])).value == 1.0


def test_rows_of_zeros_are_always_wrong():
    rows = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    solution = vertex_search(rows, np.array([1.0, -2.0]), weight=[1.0, 2.0, 0.5])
    assert solution.value == 1.5
    assert solution.n_iter < 2000  # it knows that there is nothing left


def test_opposite_rows_cost_one_of_two():
    rows = np.array([[1.0, 1.0], [-1.0, -1.0], [2.0, 1.0], [-2.0, -1.0]])
    assert vertex_search(rows, np.array([0.3, 0.1]), max_steps=100).value == 2.0


def test_limits(rows):
    assert vertex_search(rows, np.ones(6), max_steps=1).n_iter == 1
    assert vertex_search(rows, np.ones(6), max_steps=10**9, seconds=0.05).n_iter < 10**4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"start": np.ones(5)}, "start must have 6"),
        ({"weight": -np.ones(150)}, "weight must be 150"),
        ({"rows": np.full((2, 6), np.nan)}, "finite"),
    ],
)
def test_what_is_wrong_is_said(rows, wrong, message):
    given = {"rows": rows, "start": np.ones(6)} | wrong
    with pytest.raises(ValueError, match=message):
        vertex_search(given.pop("rows"), given.pop("start"), **given)
