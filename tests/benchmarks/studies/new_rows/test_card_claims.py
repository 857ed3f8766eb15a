"""The study of the claims of cards: its generated population, and its rebuilt rival."""

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="tables are read from Parquet files")

from sklearn.metrics import roc_auc_score

from benchmarks.studies.new_rows.card_claims import (
    VARIANTS,
    StraightLine,
    best_value,
    card,
    lines,
    simulated,
)
from directrix import ScorecardClassifier
from directrix.metrics import AUC, Cost


@pytest.fixture(scope="module")
def rows():
    return simulated(4_000, np.random.default_rng(0))


def test_the_generated_population_has_rare_positives_and_missing_values(rows):
    X, y = rows
    assert 0.08 < y.mean() < 0.16
    assert X["income"].isna().any()
    assert X.isna().sum()[["age", "debt", "home"]].sum() == 0


def test_the_rebuilt_line_is_near_what_a_report_compares_with(rows):
    X, y = rows
    fitted = ScorecardClassifier("auc", learn_from="counts", max_crosses=0, max_lines=None).fit(
        X[:1_500], y[:1_500]
    )
    chosen = next(
        tried for tried in fitted.report_.tried if tried.name == fitted.report_.chosen
    ).metric
    held_out = chosen - fitted.report_.unbinned_baseline.mean
    line = StraightLine().fit(X[:1_500], y[:1_500])
    assert line.held_out_auc == pytest.approx(held_out, abs=0.02)
    assert roc_auc_score(y[1_500:], line.decision_function(X[1_500:])) > 0.6


def test_every_variant_is_a_card():
    made = [card("simulated", variant) for variant in VARIANTS]
    assert made[2].monotone == {"debt": "increasing", "income": "decreasing"}
    assert [each.learn_from for each in made].count("counts") == 3


def test_models_are_compared_at_their_best_thresholds():
    y, scores = np.array([False, False, True, True]), np.array([1.0, 2.0, 3.0, 4.0])
    assert best_value(Cost(fp=1, fn=20), y, scores) == 0.0
    assert best_value(AUC(), y, scores) == 1.0


def test_there_is_a_report_before_anything_is_measured():
    assert lines([])[0] == "# Claims of scorecards against the truth"
