"""The end of a fit: the same from scores of rows and from counts, and kept by one assignment."""

from types import SimpleNamespace

import numpy as np
import pytest

from directrix import (
    DirectClassifier,
    MomentClassifier,
    OperatingPointClassifier,
    ScorecardClassifier,
)
from directrix.exceptions import FewRowsWarning
from directrix.export import load, save
from directrix.fit.choice import choose, sizes_of
from directrix.fit.compare import compare
from directrix.fit.curves import ScoreCurves
from directrix.fit.evidence import CountEvidence, RowEvidence
from directrix.fit.finish import finish
from directrix.fit.guarantee import Guarantee
from directrix.fit.operating_point import Rule
from directrix.fit.training_rows import Rows
from directrix.metrics import AUC, Budget, Cost, Error, RecallAtFPR
from directrix.metrics.score_histogram import bin_of, centres, histogram_of_scores

N = 6_000
METRICS = (Error(), AUC(), RecallAtFPR(0.05), Cost(fp=1, fn=5))


@pytest.fixture(scope="module")
def scored():
    """Return rows in five folds, and scores of four candidates in the middles of bins."""
    rng = np.random.default_rng(0)
    positive = rng.random(N) < 0.3
    scores = rng.normal(size=(4, N)) + np.outer([0.5, 1.0, 1.4, 1.5], positive)
    rows = Rows(None, positive, np.ones(N), np.arange(N) % 5)
    return rows, centres()[bin_of(scores)]


def histograms(rows, scores):
    parts = [np.flatnonzero(rows.fold == k) for k in range(int(rows.fold.max()) + 1)]
    return [histogram_of_scores(scores[:, part], rows.positive[part]) for part in parts]


def chosen_from(metric, curves, sizes):
    """Choose among candidates of these curves; the last two are less simple."""
    candidates = [
        SimpleNamespace(name=f"{k}", complexity=float(k > 1), curves=each)
        for k, each in enumerate(curves)
    ]
    complexities = [each.complexity for each in candidates]
    comparison = compare(metric, curves, curves[0].criterion(metric), complexities)
    return choose(metric, candidates, comparison, sizes, curves)


@pytest.mark.parametrize("metric", METRICS, ids=repr)
def test_scores_and_counts_of_them_have_the_same_end(metric, scored):
    rows, scores = scored
    folds = histograms(rows, scores)
    of_rows = [ScoreCurves(*rows[1:2], each, *rows[2:4]) for each in scores]
    of_counts = [CountEvidence(folds, k) for k in range(len(scores))]
    by_rows = chosen_from(metric, of_rows, sizes_of(rows))
    by_counts = chosen_from(metric, of_counts, of_counts[0].sizes)
    assert by_rows.index == by_counts.index
    np.testing.assert_allclose(
        by_rows.comparison.deciding, by_counts.comparison.deciding, atol=1e-3
    )
    first = finish(metric, by_rows.choice, RowEvidence(rows, scores[by_rows.index])).point
    second = finish(metric, by_counts.choice, of_counts[by_counts.index]).point
    np.testing.assert_allclose(first.empirical, second.empirical, atol=2e-3)
    np.testing.assert_allclose(first.expected, second.expected, atol=5e-3)
    np.testing.assert_allclose(first.intervals, second.intervals, atol=1e-2)


def test_limits_and_probabilities_come_from_rows_set_apart_of_either_kind(scored):
    rows, scores = scored
    guarantee = Guarantee.of(RecallAtFPR(0.1), None, 0.95)
    ends = []
    for evidence in (RowEvidence(rows, scores[3]), CountEvidence(histograms(rows, scores), 3)):
        end = finish(RecallAtFPR(0.1), None, None, guarantee, evidence)
        ends.append((end.point, end.result(np.array([1.0, -end.point.threshold]))))
    (first, by_rows), (second, by_counts) = ends
    np.testing.assert_allclose(first.empirical, second.empirical, atol=5e-3)
    assert first.guarantee == second.guarantee == "fpr <= 0.1, with confidence 0.95"
    odds = np.linspace(-2.0, 2.0, 9)
    probabilities = by_rows.calibration(odds), by_counts.calibration(odds)
    np.testing.assert_allclose(*probabilities, atol=0.02)
    assert "set apart" in by_rows.calibration.how
    assert "set apart" in by_counts.calibration.how


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    y = rng.random(900) < 0.3
    return rng.normal(size=(900, 3)) + 0.8 * y[:, None], y


def test_a_fit_keeps_one_result(table):
    X, y = table
    line = DirectClassifier("f1", cv=2, warn_baseline=False).fit(X, y)
    assert not {"coef_", "intercept_", "calibration_", "operating_point_"} & {*vars(line)}
    result = line._result
    np.testing.assert_array_equal(np.append(line.coef_, line.intercept_), result.line)
    assert line.operating_point_ is result.operating_point
    assert line.operating_point_.origin == "held-out rows"
    assert MomentClassifier("f1", sample=0).fit(X, y).operating_point_.origin == "normal scores"
    assert line.report_ is result.report
    with pytest.raises(AttributeError):
        line.operating_point_ = None


def test_a_rule_is_data_that_is_saved(table, tmp_path):
    X, y = table
    rng = np.random.default_rng(2)
    beside = {"day": np.arange(900) // 30, "team": rng.choice(["A", "B"], 900)}
    budget = Budget({"A": 3, "B": 5}, per="day", by="team")
    model = OperatingPointClassifier(None, limits=budget, guarantee=0.8).fit(X[:, 0], y, **beside)
    rule = model.operating_point_.rule
    assert (rule.by_saving, rule.team) == (False, "team")
    save(model, tmp_path / "model.json")
    assert load(tmp_path / "model.json").operating_point_.rule == rule
    flagged = model.predict(X[:, 0], team=beside["team"])
    above = model.decision_function(X[:, 0])
    np.testing.assert_array_equal(flagged, rule.flags(above, (beside["team"] == "B").astype(int)))
    plain = OperatingPointClassifier(None, "error").fit(X[:, 0], y)
    assert plain.operating_point_.rule == Rule()


def test_one_extreme_row_sets_no_threshold():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 3))
    y = X[:, 0] + rng.normal(size=40_000) > 1.0
    line, flagged = DirectClassifier("recall@fpr=0.05", warn_baseline=False), []
    for value in (3.0, 1_000.0):
        X[np.flatnonzero(y)[0], 0] = value
        flagged.append(line.fit(X[:1000], y[:1000]).predict(X[1000:]).mean())
    assert flagged[1] == pytest.approx(flagged[0], rel=0.1)


def test_few_rows_are_warned_of_beside_a_guarantee():
    rng = np.random.default_rng(0)
    y = np.arange(300) < 25
    X = rng.normal(size=(300, 2)) + y[:, None]
    card = ScorecardClassifier("recall@fpr=0.3", guarantee=0.8, max_crosses=0, warn_baseline=False)
    with pytest.warns(FewRowsWarning, match="one class has 16 rows only"):
        card.fit(X, y)


def test_a_point_that_decides_by_costs_is_a_threshold_for_a_model_without_them(table):
    X, y = table
    metric = Cost(fp=1, fn="amount")
    amount = np.full(900, 5.0)
    priced = DirectClassifier(metric, warn_baseline=False).fit(X, y, amount=amount)
    plain = DirectClassifier("error", warn_baseline=False).fit(X, y)
    changed = plain.with_threshold(priced.operating_point_)
    np.testing.assert_array_equal(changed.predict(X), changed.decision_function(X) > 0)
