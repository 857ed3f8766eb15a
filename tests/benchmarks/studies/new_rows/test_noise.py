"""The study of noise: its cells have no signal, and its figures are what they say."""

from argparse import Namespace

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="tables are read from Parquet files")

from benchmarks.studies.new_rows.noise import (
    CELLS,
    METRICS,
    chance,
    grouped,
    lines,
    measured,
    normal_columns,
    planned,
    selected,
    summary,
)
from directrix.metrics import AUC, RecallAtFPR


@pytest.mark.parametrize("metric", [AUC(), RecallAtFPR(0.05), *METRICS.values()], ids=str)
def test_chance_is_the_best_that_scores_without_signal_can_do(metric):
    rng = np.random.default_rng(0)
    y, scores = rng.random(200_000) < 0.3, rng.normal(size=200_000)
    # Of metrics that need a threshold, that of all rows or of none is best.
    values = [metric.score(y, scores + shift) for shift in (-20, 0, 20)]
    best = max(values) if metric.greater_is_better else min(values)
    assert chance(metric, 0.3) == pytest.approx(best, abs=0.005)


def test_cells_are_selected_by_the_beginning_of_their_names():
    assert selected("a") == ["a"]
    assert selected("p,n:f1") == ["n:f1", "p:rows", "p:counts"]
    assert len(selected("perm")) == 24
    assert selected("") == list(CELLS)
    with pytest.raises(ValueError, match="no cell is named 'zz'"):
        selected("zz")


def test_a_round_fits_every_cell_once():
    plan = list(planned(Namespace(label="now", cells="a,b", fits=2)))
    assert plan == [("now", cell, seed) for seed in (100, 101) for cell in "ab"]


def test_copies_of_a_row_are_a_group():
    sample = grouped(9, np.random.default_rng(0))
    assert sample.groups.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert (sample.X[0] == sample.X[2]).all()
    assert (sample.X[2] != sample.X[3]).all()


def test_labels_have_a_fixed_share_and_know_nothing_of_the_rows():
    sample = normal_columns(1_000, np.random.default_rng(0), 2)
    assert sample.y.sum() == 300
    assert np.abs(np.corrcoef(sample.X.T, sample.y)[-1, :2]).max() < 0.1


def test_a_fit_is_recorded_and_reported():
    (row,) = measured("now", "g", 100)
    names = ("code", "commit", "cell", "seed", "better", "expected", "low", "high", "empirical")
    recorded = dict(zip(names, row, strict=False))
    assert (recorded["cell"], recorded["better"]) == ("g", "more")
    assert float(recorded["low"]) < float(recorded["expected"]) < float(recorded["high"])


def fit(**figures):
    names = ("gap", "gap low", "gap high", "straight", "straight low", "straight high")
    row = dict.fromkeys(names, "nan") | {"code": "now", "commit": "abc", "cell": "g", "seed": "1"}
    row |= {"better": "more", "expected": "0.6", "low": "0.55", "high": "0.65", "truth": "0.5"}
    row |= {"empirical": "0.58", "chance": "0.5", "crosses": "2", "seconds": "1"}
    return row | figures


def test_figures_of_a_cell():
    honest = fit(expected="0.5", low="0.4", high="0.6", empirical="0.52", crosses="0")
    found = summary([fit(), honest])
    assert (found.fits, found.excluded, found.above_chance, found.rosier) == (2, 0.5, 0.5, 0.5)
    assert (found.bias, found.bias_error) == (pytest.approx(0.05), pytest.approx(0.05))
    assert (found.crosses, found.false_gaps, found.no_width) == (1.0, 0.0, 0.0)
    assert lines([fit(), honest])[-1].startswith("| g | 500 by 20 numbers, DirectClassifier | 2 |")


def test_less_of_an_error_is_optimistic():
    found = summary([fit(better="less", expected="0.2", low="0.1", high="0.25", truth="0.3",
                         empirical="0.19", chance="0.3")])  # fmt: skip
    assert found.bias == pytest.approx(0.1)
    assert (found.excluded, found.above_chance, found.rosier) == (1.0, 1.0, 0.0)


def test_a_gap_without_width_is_counted_unless_the_choice_is_the_baseline():
    same = {"gap": "0", "gap low": "0", "gap high": "0"}
    sure = {"gap": "0.01", "gap low": "0.01", "gap high": "0.01"}
    straight = {"straight": "0", "straight low": "0", "straight high": "0"}
    found = [summary([fit(**gaps)]) for gaps in (same, sure, straight)]
    assert [each.no_width for each in found] == [0.0, 1.0, 1.0]
    assert [each.false_gaps for each in found] == [0.0, 1.0, 0.0]
