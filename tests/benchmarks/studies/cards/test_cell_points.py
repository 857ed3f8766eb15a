import numpy as np
import pytest

from benchmarks.studies.cards.integer_cards import CellPoints, thermometer
from directrix import Binner
from directrix.tables import LevelBins, NumberBins

AGE = NumberBins("age", "number", (18.0, 65.0), (10.0, 40.0, 70.0), (-9.0,), (1, 5, 20, 4, 1))
HOME = LevelBins("home", ("own", "rent"), (3, 0, 20, 10))


def test_thermometers_are_the_features_of_the_binner():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(0, 50, 300), rng.choice(["a", "b"], 300)]).astype(object)
    rows[::7, 0] = None
    rows[:, 0] = [None if v is None else float(v) for v in rows[:, 0]]
    binner = Binner(max_bins=6, sparse_output=False).fit(rows)
    cells = binner.cells(rows)
    ours = np.hstack([thermometer(bins)[cells[:, k]] for k, bins in enumerate(binner.bins_)])
    theirs = binner.transform(rows)
    assert ours.shape == theirs.shape
    # The same features, in another order.
    assert sorted(map(tuple, ours.T)) == sorted(map(tuple, theirs.T))


def test_points_of_coefficients_give_the_same_scores():
    rng = np.random.default_rng(0)
    codes = [thermometer(AGE), thermometer(HOME)]
    coefficients = rng.normal(size=sum(code.shape[1] for code in codes))
    cells = np.column_stack([rng.integers(0, bins.n_cells, 50) for bins in (AGE, HOME)])
    features = np.hstack([code[cells[:, k]] for k, code in enumerate(codes)])
    points = CellPoints.of_features((AGE, HOME), coefficients)
    assert points.scores(cells) == pytest.approx(features @ coefficients)


def test_rounded_points_are_whole_and_span_what_is_asked():
    points = CellPoints((AGE, HOME), [np.array([0.0, 0.3, 0.1, -0.2, 0.2]), np.zeros(4)])
    rounded = points.rounded(10)
    assert rounded.spans() == [10.0, 0.0]
    assert all((of == np.round(of)).all() and of.min() == 0.0 for of in rounded.points)


def test_a_card_without_points_stays_one():
    assert CellPoints((HOME,), [np.zeros(4)]).rounded(10).used == []
    assert CellPoints((), ()).scores(np.zeros((3, 0), dtype=int)).tolist() == [0.0] * 3


def test_lines_join_neighbours_and_levels_with_equal_points():
    # missing, <= 18, 18 to 65, > 65, -9
    age = np.array([0.0, 1.0, 1.0, 2.0, 5.0])
    assert CellPoints((AGE,), [age]).n_lines == 4
    # missing and other, own, rent
    assert CellPoints((HOME,), [np.array([0.0, 0.0, 1.0, 2.0])]).n_lines == 3
    assert CellPoints((AGE, HOME), [age, np.ones(4)]).n_lines == 4
