"""Rounded cards are whole, within their limit, and near the card they come from."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from directrix.designs import points as rounding
from directrix.designs.points import (
    RoundingSearch,
    _cell_weights,
    _cut_off,
    _Sums,
    largest_unit,
    rounded_card,
)
from directrix.metrics import AUC, RecallAtFPR
from directrix.metrics.base import Curve
from directrix.metrics.table import resolve
from directrix.models.card import Card, Cross
from directrix.tables import NumberBins
from directrix.tables.coding.card_coding import Direction
from directrix.tables.coding.prior import CellKinds

SIZES = (6, 5, 4)


def problem(seed=0, n=400, *, crosses=False):
    rng = np.random.default_rng(seed)
    bins = tuple(
        NumberBins(f"x{k}", "number", tuple(np.arange(size - 2.0)), tuple(np.arange(size - 1.0)))
        for k, size in enumerate(SIZES)
    )
    columns = tuple(np.sort(rng.normal(size=size)) for size in SIZES)
    cross = Cross((0, 1), (np.arange(6), np.arange(5)), rng.normal(size=(6, 5)))
    card = Card(-0.3, columns, (cross,) if crosses else (), bins)
    cells = np.column_stack([rng.integers(0, size, n) for size in SIZES])
    positive = card.points(cells) + rng.logistic(size=n) > 0
    return card, cells, positive, rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("crosses", [False, True])
@pytest.mark.parametrize("how", ["plain", "nearest", "searched"])
@pytest.mark.parametrize("largest", [1, 3, 20])
def test_points_are_whole_from_none_to_the_largest(crosses, how, largest):
    card, *rows = problem(crosses=crosses)
    search = RoundingSearch(RecallAtFPR(0.1), largest)
    made = getattr(search, how)(card, *rows)
    assert made.is_whole
    for points in (*made.columns, *(cross.points for cross in made.crosses)):
        assert points.min() >= 0
        assert points.max() <= largest


@pytest.mark.parametrize("how", ["plain", "nearest", "searched"])
def test_a_column_without_points_stays_without(how):
    card, cells, positive, weight = problem()
    positive |= cells[:, 0] == 0  # it would help to have points
    dropped = replace(card, columns=(np.zeros(SIZES[0]), *card.columns[1:]))
    made = getattr(RoundingSearch(RecallAtFPR(0.1), 20), how)(dropped, cells, positive, weight)
    assert not made.columns[0].any()


@given(st.integers(0, 1000), st.floats(1.0, 1e4))
def test_sums_are_within_half_a_point_a_column(seed, unit):
    card, cells, *_ = problem(seed, 50)
    off = rounded_card(card, unit).points(cells) - unit * card.points(cells)
    assert np.ptp(off) <= len(SIZES) + 1e-6 * unit


def test_the_largest_unit_uses_the_whole_range():
    card, *_ = problem()
    made = rounded_card(card, largest_unit(card, 7))
    assert max(points.max() for points in made.columns) == 7


@pytest.mark.parametrize("metric", ["recall@fpr=0.1", "auc", "error", "f1"])
def test_a_search_is_never_behind_where_it_starts(metric):
    card, cells, positive, weight = problem()
    search = RoundingSearch(resolve(metric), 4)

    def value(made):
        of_metric = resolve(metric)
        score = of_metric.score(positive, made.points(cells), weight)
        if of_metric.uses_threshold:
            score = of_metric.best_value(Curve.of(positive, made.points(cells), weight))
        area = AUC().score(positive, made.points(cells), weight)
        return area + (score if of_metric.greater_is_better else -score)

    before, after = (
        getattr(search, how)(card, cells, positive, weight) for how in ("nearest", "searched")
    )
    assert value(after) >= value(before) - 1e-12


def moved(card, number, cell, step):
    columns = [points.copy() for points in card.columns]
    columns[number][cell] += step
    return replace(card, columns=tuple(columns))


@pytest.mark.parametrize("metric", ["recall@fpr=0.1", "f1", "precision@k=0.1"])
def test_changes_that_are_judged_together_are_those_judged_one_by_one(metric):
    card, cells, positive, weight = problem(3)
    search = RoundingSearch(resolve(metric), 4)
    made = search.nearest(card, cells, positive, weight)
    sums = _Sums(made.points(cells).astype(np.int64), positive, weight)
    for number, size in enumerate(SIZES):
        each = [np.array([cell]) for cell in range(size)]
        together = search._values(sums.counts_after_steps(cells[:, number], size, each))
        for index, (cell, step) in enumerate((c, s) for c in range(size) for s in (1, -1)):
            points = moved(made, number, cell, step).points(cells)
            one = _Sums(points.astype(np.int64), positive, weight)
            curve = Curve.of(positive, points, weight)
            exact = resolve(metric).best_value(curve) + AUC().best_value(curve)
            np.testing.assert_allclose(search._values(one.counts()[None])[0], exact, rtol=1e-12)
            np.testing.assert_allclose(together[index], exact, rtol=1e-12)


def test_many_levels_are_judged_in_parts(monkeypatch):
    card, *rows = problem(1)
    search = RoundingSearch(RecallAtFPR(0.1), 6)
    together = search.searched(card, *rows)
    monkeypatch.setattr(rounding, "_TOGETHER", 2)
    in_parts = search.searched(card, *rows)
    for one, other in zip(together.columns, in_parts.columns, strict=True):
        np.testing.assert_array_equal(one, other)
    assert any(
        (a != b).any()
        for a, b in zip(together.columns, search.nearest(card, *rows).columns, strict=True)
    )


def test_neighbouring_bins_of_equal_points_change_together():
    card, cells, positive, weight = problem(2)
    flat = np.array([0.0, 0.0, 0.0, 0.0, 1.0, 1.0])
    card = replace(card, columns=(flat, *card.columns[1:]))
    kinds = [CellKinds.of(bins) for bins in card.bins]
    pulled = positive | (cells[:, 0] == 2)  # rows that would move one bin alone
    made = [
        RoundingSearch(RecallAtFPR(0.2), 20, (), each).searched(card, cells, pulled, weight)
        for each in (kinds, ())
    ]
    together, apart = (
        [len(np.unique(card.columns[0][part])) for part in (slice(1, 4), slice(4, 6))]
        for card in made
    )
    assert together == [1, 1]
    assert apart != [1, 1]


def test_a_search_keeps_directions():
    card, cells, positive, weight = problem()
    rising = [
        Direction(k, f"x{k}", "increasing", np.arange(1, size)) for k, size in enumerate(SIZES)
    ]
    turned = positive ^ (cells[:, 0] == 3)  # rows that pull against the direction
    made = RoundingSearch(AUC(), 10, rising).searched(card, cells, turned, weight)
    for points in made.columns:
        assert (np.diff(points[1:]) >= 0).all()


def test_rare_ends_are_cut_off_and_nothing_else():
    card, cells, _, weight = problem()
    columns = (np.array([0.0, 0.1, 0.2, 0.3, 0.4, 50.0]), *card.columns[1:])
    card = Card(0.0, columns, (), card.bins)
    cells[:, 0] = np.where(cells[:, 0] == 5, 4, cells[:, 0])
    cells[0, 0] = 5
    cut = _cut_off(card, 1.0, _cell_weights(card, cells, weight))
    np.testing.assert_allclose(cut.columns[0][:5], columns[0][:5], atol=1.0)
    assert np.ptp(cut.columns[0]) <= 1.0 + 1e-12
    assert (np.diff(cut.columns[0]) >= 0).all()
    wide = _cut_off(card, 100.0, _cell_weights(card, cells, weight))
    np.testing.assert_array_equal(wide.columns[0], columns[0])
