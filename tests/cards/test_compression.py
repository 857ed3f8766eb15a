"""Compressed cards: few lines, near their teacher, with directions, whatever the table."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit

from directrix.cards.card import Card, Cross
from directrix.cards.compression import (
    RIDGE,
    Fitted,
    RowCompression,
    Teacher,
    compression_of_counts,
    whole_points,
)
from directrix.cards.merging import Atoms, merge_path
from directrix.cards.prior import CellKinds
from directrix.fit.directions import Direction


def tiny(seed, *, n=400, n_cells=(4, 4), levels=False, cross=False):
    """Return a teacher of a few cells; cell 0 is missing, and has rows."""
    rng = np.random.default_rng(seed)
    cells = np.column_stack([rng.integers(0, size, n) for size in n_cells])
    kinds = [
        CellKinds(
            size,
            slice(1, 1) if levels else slice(1, size),
            None if levels else np.arange(1.0, size),
        )
        for size in n_cells
    ]
    crosses = ()
    if cross:
        maps = tuple(np.arange(size) for size in n_cells[:2])
        crosses = (Cross((0, 1), maps, rng.normal(size=n_cells[:2])),)
    card = Card(0.3, tuple(rng.normal(size=size) for size in n_cells), crosses)
    return Teacher(card, cells, card.points(cells), rng.uniform(0.5, 2.0, n)), kinds


def distance(teacher, columns):
    """Return the least distance of a card of indicator columns from its teacher."""
    X = np.column_stack([np.ones(len(teacher.weight)), *columns])
    root = np.sqrt(teacher.curvature)
    fitted = np.linalg.lstsq(X * root[:, None], teacher.log_odds * root, rcond=None)[0]
    return 0.5 * float(np.square((teacher.log_odds - X @ fitted) * root).sum())


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("n_columns", "most", "count"), [(20, 150, 150), (75, 150, 225), (300, 150, 900)]
)
def test_atoms_grow_with_the_columns(n_columns, most, count):
    """Missing values are one a column, and never leave a column without a cut."""
    rng = np.random.default_rng(n_columns)
    kinds = [CellKinds(9, slice(1, 9), np.arange(8.0))] * n_columns
    points, weights = rng.normal(size=(n_columns, 9)), rng.uniform(0.5, 2.0, (n_columns, 9))
    atoms = Atoms.of_points(points, weights, kinds, most=most)
    assert atoms.count == count
    assert sum(len(each) > 1 for each in atoms.lines) > 0.5 * n_columns


@pytest.mark.parametrize("levels", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_first_merge_is_the_best_of_all(seed, levels):
    teacher, kinds = tiny(seed, levels=levels)
    compression = RowCompression(teacher, kinds)
    of_atom = compression.path([7])[7].of_atom
    merged = [pair for pair in combinations(range(8), 2) if of_atom[pair[0]] == of_atom[pair[1]]]
    assert len(merged) == 1

    def cost(pair):
        atoms = [np.where(rows == pair[1], pair[0], rows) for rows in compression.rows]
        return distance(teacher, [rows == k for rows in atoms for k in range(8)])

    # Cells 0 and 4 are missing values, which have a line of their own.
    pairs = [(i, j) for i, j in combinations(range(8), 2) if i // 4 == j // 4 and i % 4]
    allowed = pairs if levels else [(i, j) for i, j in pairs if j == i + 1]
    # Atoms of ordered bins come before those of missing values.
    cells = [compression.atoms.cells[k] for k in (0, 1)]
    atom = {4 * k + cell: int(cells[k][cell]) for k in (0, 1) for cell in range(4)}
    costs = {tuple(sorted((atom[i], atom[j]))): None for i, j in allowed}
    costs = {pair: cost(pair) for pair in costs}
    assert costs[merged[0]] == pytest.approx(min(costs.values()), rel=1e-3)


@pytest.mark.parametrize("cross", [False, True])
def test_sizes_are_nested_and_have_few_lines(cross):
    teacher, kinds = tiny(1, n=3000, n_cells=(9, 8, 5), cross=cross)
    sizes = [4, 6, 9, 12, 16, 20]
    compression = RowCompression(teacher, kinds)
    path = merge_path(compression.atoms, compression.curvature, sizes)
    assert sorted(path) == sizes
    finer = None
    for size in reversed(sizes):
        groups = path[size]
        assert groups.lines <= size
        if finer is not None:  # atoms that are together stay together
            for name in np.unique(finer.of_atom):
                assert len(set(groups.of_atom[finer.of_atom == name].tolist())) == 1
        finer = groups


@pytest.mark.parametrize("cross", [False, True])
def test_points_are_a_logistic_fit_to_the_probabilities_of_the_teacher(cross):
    teacher, kinds = tiny(2, n=600, n_cells=(6, 5), cross=cross)
    compression = RowCompression(teacher, kinds)
    made = compression.fitted(compression.path([8])[8])
    number = np.full(compression.atoms.count, -1)
    number[made.groups] = np.arange(len(made.groups))
    index = number[made.of_atom[compression.rows]]
    X = np.array([(index == k).any(axis=0) for k in range(len(made.groups))], dtype=float).T
    chance = expit(teacher.log_odds)

    def loss(values):
        scores = X @ values[:-1] + values[-1]
        fit = np.logaddexp(0.0, scores) - chance * scores
        return teacher.weight @ fit + 0.5 * RIDGE * float(values[:-1] @ values[:-1])

    found = np.append(made.points, made.intercept)
    best = minimize(loss, np.zeros(len(found)), method="BFGS", options={"gtol": 1e-9})
    assert loss(found) <= best.fun + 1e-4
    np.testing.assert_allclose(
        expit(X @ found[:-1] + found[-1]), expit(X @ best.x[:-1] + best.x[-1]), atol=1e-4
    )


@pytest.mark.parametrize("largest", [None, 100, 8])
def test_directions_are_kept_by_every_size(largest):
    teacher, kinds = tiny(3, n=500, n_cells=(9, 6))
    columns = np.sort(teacher.card.columns[0][1:]), teacher.card.columns[1]
    card = Card(0.0, (np.append(0.4, columns[0]), columns[1]))
    teacher = Teacher(card, teacher.cells, card.points(teacher.cells), teacher.weight)
    rising = [
        Direction(0, "x", "increasing", np.arange(1, 9)),
        Direction(1, "y", "a, b", np.array([3, 1])),
    ]
    points = card.columns[1]
    points[1] = points[3] + 0.5
    compression = RowCompression(teacher, kinds, rising)
    for groups in compression.path(range(2, 15)).values():
        made = compression.compact(groups)
        if largest is not None:
            fitted = compression.fitted(groups)
            made = compression.card(fitted, compression.whole(fitted, largest)[0], 0.0)
        assert (np.diff(made.columns[0][1:]) >= 0).all()
        assert made.columns[1][1] >= made.columns[1][3]
        if largest is not None:
            assert made.is_whole
            assert min(points.min() for points in made.blocks) == 0
            assert max(points.max() for points in made.blocks) <= largest


def test_whole_points_are_the_best_of_all_for_their_unit():
    rng = np.random.default_rng(0)
    for _ in range(5):
        root = rng.normal(size=(3, 3))
        hessian, points = root @ root.T + np.eye(3), rng.uniform(0, 4, 3)
        nothing, zeros = np.full(3, -1), np.zeros(3, dtype=int)
        made = Fitted(zeros, np.arange(3), zeros, points, 0.0, hessian, np.full(3, np.nan))
        whole, unit = whole_points(made, 3, (nothing, nothing))
        base = points - points.min()

        def cost(tried, hessian=hessian, base=base, unit=unit):
            off = np.array(tried) * unit - base
            return off @ hessian @ off

        assert whole.min() == 0
        assert whole.max() <= 3
        changed = [whole + step * np.eye(3)[k] for k in range(3) for step in (1, -1)]
        allowed = [each for each in changed if each.min() >= 0 and each.max() <= 3]
        assert cost(whole) <= min(map(cost, allowed)) + 1e-9


@pytest.mark.parametrize("levels", [False, True])
def test_counts_and_rows_merge_alike(levels):
    """Where all rows have the same curvature, pair counts are all that the path needs."""
    teacher, kinds = tiny(4, n=2000, n_cells=(6, 5), levels=levels)
    card = Card(0.0, tuple(1e-3 * points for points in teacher.card.columns))
    weight = np.ones(len(teacher.weight))
    rows = RowCompression(Teacher(card, teacher.cells, card.points(teacher.cells), weight), kinds)
    starts = np.cumsum([0, 6])
    X = np.zeros((len(weight), 11))
    X[np.arange(len(weight))[:, None], starts + teacher.cells] = 1.0
    counts = compression_of_counts(card, X.T @ X, 0.5, kinds)
    for size in range(2, 11):
        ours, theirs = (each.path([size])[size] for each in (rows, counts))
        assert np.array_equal(ours.of_atom, theirs.of_atom)
        np.testing.assert_allclose(ours.points, theirs.points, atol=1e-6)
