import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve, roc_curve

from directrix.metrics import AUC, Error, PrecisionAtK, RecallAtFPR, ScoreHistogram
from directrix.metrics.base import Curve
from directrix.metrics.table import TABLE

LABELS = {
    "0 and 1": [0, 1],
    "0.0 and 1.0": [0.0, 1.0],
    "-1 and +1": [-1, 1],
    "bool": [False, True],
    "text": ["no", "yes"],
    "other numbers": [3, 7],
}


def test_counts_at_every_threshold_are_those_of_brute_force(rows, weight):
    curve = Curve.of(rows.y, rows.scores, weight)
    omega = np.ones(len(rows.y)) if weight is None else weight
    for t, tp, fp in zip(
        curve.thresholds, curve.true_positives, curve.false_positives, strict=True
    ):
        above = rows.scores > t
        assert tp == omega[above & (rows.y == 1)].sum()
        assert fp == omega[above & (rows.y == 0)].sum()
    assert (np.diff(curve.thresholds) < 0).all()
    assert len(curve.thresholds) == len(np.unique(rows.scores)) + 1


def test_rates_are_those_of_scikit_learn(rows, weight):
    curve = Curve.of(rows.y, rows.scores, weight)
    fpr, tpr, _ = roc_curve(rows.y, rows.scores, sample_weight=weight, drop_intermediate=False)
    assert curve.fpr == pytest.approx(fpr, abs=1e-15)
    assert curve.tpr == pytest.approx(tpr, abs=1e-15)
    precision, recall, _ = precision_recall_curve(rows.y, rows.scores, sample_weight=weight)
    assert curve.precision == pytest.approx(precision[::-1], abs=1e-15)
    assert curve.tpr == pytest.approx(recall[::-1], abs=1e-15)
    assert curve.prior == pytest.approx(np.average(rows.y, weights=weight), abs=1e-15)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (1.0, np.nextafter(1.0, 2.0)),
        (np.nextafter(1.0, 0.0), 1.0),
        (-1.0, np.nextafter(-1.0, 0.0)),
        (np.nextafter(-1.0, -2.0), -1.0),
        (0.0, 5e-324),
        (-5e-324, 0.0),
        (5e-324, 1e-323),
        (-1.7e308, 1.7e308),
        (1.7e308, np.nextafter(1.7e308, np.inf)),
        (0.0, np.inf),
        (-np.inf, 0.0),
        (-np.inf, np.inf),
        (np.finfo(float).max, np.inf),
        (-np.inf, np.finfo(float).min),
    ],
)
def test_threshold_separates_scores_however_close_or_far(low, high):
    curve = Curve.of([0, 1], [low, high])
    assert (np.array([low, high]) > curve.thresholds[1]).tolist() == [False, True]
    assert curve.true_positives.tolist() == [0, 1, 1]
    assert curve.false_positives.tolist() == [0, 0, 1]
    assert Error().best(curve).value == 0


def test_infinite_scores_tie_with_each_other():
    curve = Curve.of([1, 0, 1, 1, 0, 0], [np.inf, np.inf, 2.0, 1.0, -np.inf, -np.inf])
    assert curve.true_positives.tolist() == [0, 1, 2, 3, 3]
    assert curve.false_positives.tolist() == [0, 1, 1, 1, 3]
    assert AUC().score([1, 0], [-np.inf, -np.inf]) == 0.5


def test_zero_and_minus_zero_tie():
    assert Curve.of([0, 1], [0.0, -0.0]).thresholds.tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_labels_of_any_kind(few_rows, row, labels):
    rows = few_rows
    expected = row.example.score(rows.y, rows.scores)
    assert row.example.score(np.array(labels)[rows.y], rows.scores) == expected
    assert row.example.score([labels[k] for k in rows.y], rows.scores.tolist()) == expected


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
@pytest.mark.parametrize(
    ("y", "scores", "weight", "message"),
    [
        ([0, 1], [0.5, np.nan], None, "a score is NaN"),
        ([0, 1, 1], [0.5, 0.7], None, r"one score for each label.*\(3,\).*\(2,\)"),
        ([0, 1], [[0.5], [0.7]], None, "one score for each label"),
        ([], [], None, "one label at least"),
        ([0, 1], [0.5, 0.7], [1.0, -1.0], "finite, non-negative"),
        ([0, 1], [0.5, 0.7], [1.0, np.nan], "finite, non-negative"),
        ([0, 1], [0.5, 0.7], [1.0, np.inf], "finite, non-negative"),
        ([0, 1], [0.5, 0.7], [1.0], "for each row"),
        ([0, 1, 2], [0.5, 0.7, 0.9], None, r"two classes, and the labels are \[0, 1, 2\]"),
        (["a", "b", "c"], [0.5, 0.7, 0.9], None, "two classes"),
        (["a", "a"], [0.5, 0.7], None, "two classes"),
    ],
)
def test_refuses_what_cannot_be_scored(row, y, scores, weight, message):
    with pytest.raises(ValueError, match=message):
        row.example.score(y, scores, weight)


ONE_CLASS = {
    "all positive": ([1, 1, 1], None),
    "all negative": ([0, 0, 0], None),
    "one class by weight": ([0, 1, 1], [0.0, 1.0, 1.0]),
}


@pytest.mark.parametrize(("y", "weight"), ONE_CLASS.values(), ids=ONE_CLASS)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_one_class_has_an_error_a_cost_and_a_top_and_nothing_else(row, y, weight):
    scores = [0.5, -0.5, 1.5]
    if row.name == "precision_at_k":  # of the highest row, which is there
        assert row.example.score(y, scores, weight) == y[-1]
        return
    if row.name in ("error", "cost"):
        wrong = (np.array(scores) > 0) != np.array(y, bool)
        cost = np.where(y, getattr(row.example, "fn", 1.0), getattr(row.example, "fp", 1.0))
        expected = pytest.approx(np.average(wrong * cost, weights=weight), abs=1e-15)
        assert row.example.score(y, scores, weight) == expected
    else:
        with pytest.raises(ValueError, match="of one class only"):
            row.example.score(y, scores, weight)
    with pytest.raises(ValueError, match="of one class only"):
        row.example.best(Curve.of(y, scores, weight))


def test_no_weight_at_all_is_refused():
    with pytest.raises(ValueError, match="of one class only"):
        Error().score([0, 1], [1.0, 2.0], [0.0, 0.0])


def test_rows_of_weight_zero_do_not_count():
    y, s, w = [1, 0, 1, 0, 0], [3.0, 2.0, 1.0, 0.0, 9.0], [1.0, 1.0, 1.0, 1.0, 0.0]
    for metric in (AUC(), RecallAtFPR(0.1), PrecisionAtK(1), Error()):
        assert metric.score(y, s, w) == metric.score(y[:4], s[:4])


def curves():
    """Return curves of eight samples."""
    rng = np.random.default_rng(5)
    positive = np.arange(60) < 20
    return [Curve.of(positive, rng.normal(size=60) + positive) for _ in range(8)]


@pytest.mark.parametrize(
    "row", [row for row in TABLE if row.example.uses_threshold], ids=lambda row: row.name
)
def test_the_metric_of_rates_is_that_of_a_threshold(row):
    metric = row.example
    for curve in curves():
        index = metric.best(curve).index
        tpr, fpr = curve.tpr[index], curve.fpr[index]
        value = metric.at_rates(tpr, fpr, curve.prior)
        # At a quota ties count in part; one row of sixty may be on it.
        assert value == pytest.approx(metric.best_value(curve), abs=0.06)
        many = metric.at_rates(*(np.full((2, 3), each) for each in (tpr, fpr, curve.prior)))
        np.testing.assert_allclose(many, value)


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_a_limit_can_be_changed(row):
    if row.example.limit is None:
        assert not hasattr(row.example, "with_limit")
    else:
        assert row.example.with_limit(0.5).limit.value == 0.5


def test_the_curve_of_a_histogram_is_that_of_its_bins():
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.3
    scores, weight = rng.normal(size=500) + y, rng.choice([0.5, 2.0], 500)
    histogram = ScoreHistogram.of_scores(y, scores, weight, center=0.2, scale=0.5)
    ours = Curve.of_histogram(histogram)
    rounded = histogram.centers[np.searchsorted(histogram.edges, scores) - 1]
    theirs = Curve.of(y, rounded, weight)
    at = np.searchsorted(-ours.levels, -theirs.levels) + 1
    np.testing.assert_allclose(ours.true_positives[at], theirs.true_positives[1:], rtol=1e-12)
    np.testing.assert_allclose(ours.false_positives[at], theirs.false_positives[1:], rtol=1e-12)
    assert ours.prior == pytest.approx(theirs.prior)
