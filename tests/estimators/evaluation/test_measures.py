import numpy as np
import pytest
from sklearn import metrics

from directrix.estimators.evaluation import (
    ScoredRows,
    brier_score,
    delong,
    measure_binary,
)
from directrix.metrics import AUC, Error, FBeta, PartialAUC, RecallAtFPR
from directrix.metrics.base import Curve


def scored_rows(n=500, *, weighted=False):
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    scores = rng.normal(size=n) + 1.5 * y - 0.5
    weight = rng.integers(1, 4, n).astype(float) if weighted else None
    return ScoredRows(y, scores, 1.0 / (1.0 + np.exp(-scores)), weight)


@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_those_of_scikit_learn(weighted):
    scored = scored_rows(weighted=weighted)
    measures = measure_binary(scored, RecallAtFPR(0.1), [False, True])
    y, scores, w = scored.y, scored.scores, scored.weight
    predicted = scores > 0
    values = {measure.name: measure.value for measure in measures.at_threshold}
    assert values == pytest.approx(
        {
            "error rate": 1 - metrics.accuracy_score(y, predicted, sample_weight=w),
            "AUC": metrics.roc_auc_score(y, scores, sample_weight=w),
            "recall": metrics.recall_score(y, predicted, sample_weight=w),
            "FPR": np.average(predicted[~y], weights=None if w is None else w[~y]),
            "precision": metrics.precision_score(y, predicted, sample_weight=w),
            "F1": metrics.f1_score(y, predicted, sample_weight=w),
            "Brier score": metrics.brier_score_loss(y, scored.probability, sample_weight=w),
        }
    )
    total = np.ones(len(y)) if w is None else w
    assert measures.rows == total.sum()
    assert measures.positives == total[y].sum()
    assert measures.flagged == total[predicted].sum()
    assert measures.metric.name == "recall at FPR 10 %"
    assert measures.metric.value == values["recall"]  # at the threshold of the model
    (best,) = measures.best_cutoff
    assert best.name == "recall at FPR 10 %, best cutoff on these rows"
    assert best.value == pytest.approx(RecallAtFPR(0.1).score(y, scores, w))
    for measure in (measures.metric, *measures.at_threshold):
        assert measure.low < measure.value < measure.high


@pytest.mark.parametrize(
    ("metric", "method"),
    [(AUC(), "DeLong"), (PartialAUC(0.2), "DeLong"), (Error(), "posterior draws")],
)
def test_the_interval_of_the_metric_names_its_method(metric, method):
    assert measure_binary(scored_rows(), metric, [False, True]).metric.how == method


def test_the_interval_of_auc_is_delongs():
    scored = scored_rows()
    measures = measure_binary(scored, AUC(), [False, True])
    interval = delong(scored.y, scored.scores, np.ones(len(scored.y)))
    assert (measures.metric.low, measures.metric.high) == interval


def test_rows_of_one_class_are_refused():
    scored = scored_rows()._replace(y=np.ones(500, dtype=bool))
    with pytest.raises(ValueError, match="all rows are of class True"):
        measure_binary(scored, Error(), [False, True])


def test_the_interval_of_the_brier_score_is_that_of_a_mean():
    residuals = np.array([0.1, -0.3, 0.5, 0.7])
    squares = residuals**2
    measure = brier_score(residuals, np.ones(4))
    half_width = 1.959963984540054 * squares.std() / 2.0
    assert measure.value == pytest.approx(squares.mean())
    assert measure.high == pytest.approx(squares.mean() + half_width)
    assert measure.low == pytest.approx(max(squares.mean() - half_width, 0.0))


def measured(scored, metric):
    return measure_binary(scored, metric, [False, True])


def test_a_metric_with_a_limit_is_that_of_the_delivered_threshold():
    scored = scored_rows()
    fpr = float(np.mean(scored.scores[~scored.y] > 0))
    for limit, word in ((fpr + 0.01, "kept"), (fpr - 0.01, "broken")):
        measures = measured(scored, RecallAtFPR(limit))
        rates = {measure.name: measure for measure in measures.at_threshold}
        delivered = measures.metric
        assert delivered[1:] == rates["recall"][1:]  # with its interval, and its method
        assert f"is {word} on these rows: {fpr:.4f}" in measures.limit
        assert measures.at_cutoff == (delivered, *measures.at_threshold)
    assert measured(scored, AUC()).limit == ""


def test_one_name_has_one_row_and_the_metric_is_first():
    measures = measured(scored_rows(), AUC())
    names = [measure.name for measure in measures.at_cutoff]
    assert names[0] == "AUC"
    assert len(set(names)) == len(names) == len(measures.at_threshold)
    assert measures.best_cutoff == ()


def test_ties_are_split_beside_the_strict_value_where_many_rows_tie():
    scored = scored_rows(2000)
    whole = scored._replace(scores=np.round(scored.scores) + 0.5)
    strict, split = measured(whole, RecallAtFPR(0.1)).best_cutoff
    assert split.name == "recall at FPR 10 %, best cutoff on these rows, ties split at random"
    assert split.value > strict.value + 0.01
    curve = Curve.of(whole.y, whole.scores)
    assert split.value == pytest.approx(np.interp(0.1, curve.fpr, curve.tpr))
    assert len(measured(scored, RecallAtFPR(0.1)).best_cutoff) == 1


@pytest.mark.parametrize("metric", [AUC(), Error(), RecallAtFPR(0.1), FBeta()], ids=str)
def test_random_scores_are_no_better_than_a_constant(metric):
    scored = scored_rows(2000)
    assert measured(scored, metric).verdict == ""
    noise = np.random.default_rng(5).normal(size=2000) + 3.0 * (metric == FBeta())
    random = measured(scored._replace(scores=noise), metric)
    assert random.verdict.startswith(f"No better than a constant prediction: {metric.label}")
    assert random.chance == pytest.approx(metric.chance(scored.y.mean()))
