import numpy as np
import pytest

from directrix.fit.evidence import HeldOut
from directrix.fit.finish import point_at
from directrix.fit.operating_point import OF_LINES
from directrix.fit.training_rows import Rows
from directrix.metrics import AUC


def training_rows(n=2000, *, folds=True):
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.3
    fold = rng.integers(0, 4, n) if folds else None
    return Rows(np.zeros((n, 1)), positive, rng.integers(1, 3, n) * 1.0, fold)


def scores_of(rows):
    return np.random.default_rng(1).normal(size=len(rows.positive)) + rows.positive


def test_all_weight_is_kept_by_part_and_class():
    rows = training_rows()
    held_out = HeldOut.of_rows(rows, scores_of(rows), OF_LINES, rows.name)
    assert len(held_out.histograms) == 4
    for number, histogram in enumerate(held_out.histograms):
        inside = rows.fold == number
        by_class = [rows.weight[inside & (rows.positive == side)].sum() for side in (False, True)]
        np.testing.assert_array_equal(histogram.counts.sum(axis=-1)[0], by_class)
        np.testing.assert_array_equal(histogram.weight, by_class)


def test_a_restated_decision_function_has_restated_thresholds():
    rows = training_rows()
    held_out = HeldOut.of_rows(rows, scores_of(rows), OF_LINES, rows.name)
    points = held_out.restated(shift=0.5, factor=0.1).restated(shift=2.0, factor=4.0)
    for score in (-1.0, 0.0, 0.7):
        first = (score - 0.5) / 0.1
        np.testing.assert_allclose(points.in_decisions(score), (first - 2.0) / 4.0, atol=1e-12)


def test_a_ranking_has_no_threshold():
    rows = training_rows()
    with pytest.raises(ValueError, match="no threshold"):
        point_at(AUC(), HeldOut.of_rows(rows, scores_of(rows), OF_LINES, rows.name))
