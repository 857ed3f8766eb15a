import pytest
from contracts.risks import constraint_of

from directrix.metrics import (
    AUC,
    PRBEP,
    Cost,
    Error,
    FPRAtRecall,
    FromRates,
    PartialAUC,
    PrecisionAtK,
    RecallAtFPR,
    RecallAtK,
    RecallAtPrecision,
)
from directrix.metrics.limit import Limit


@pytest.mark.parametrize(
    ("metric", "label", "limit"),
    [
        (Error(), "error rate", None),
        (AUC(), "AUC", None),
        (Cost(fp=1, fn=20), "mean cost of a row (false positive 1, miss 20)", None),
        (RecallAtFPR(0.01), "recall at FPR 1 %", "FPR at most 1 %"),
        (FPRAtRecall(0.9), "FPR at recall 90 %", "recall at least 90 %"),
        (RecallAtPrecision(0.6), "recall at precision 60 %", "precision at least 60 %"),
        (PartialAUC(0.1), "AUC up to FPR 10 %", None),
        (PrecisionAtK(0.02), "precision of the top 2 %", "at most 2 % of the rows flagged"),
        (RecallAtK(50), "recall of the top 50 rows", "at most 50 % of the rows flagged"),
        (PRBEP(), "precision-recall break-even", "at most 25 % of the rows flagged"),
    ],
    ids=repr,
)
def test_labels_of_a_metric_and_of_its_limit(metric, label, limit):
    assert metric.label == label
    constraint = constraint_of(metric, 0.25, 100.0)
    assert (None if constraint is None else constraint.label) == limit


def test_a_function_is_called_by_its_name():
    def youden_index(tpr, fpr, prior):  # noqa: ARG001
        return tpr - fpr

    assert FromRates(youden_index).label == "youden index"
    assert FromRates(lambda tpr, fpr, prior: tpr).label == "function of the rates"  # noqa: ARG005


@pytest.mark.parametrize(
    ("limit", "kept", "broken"),
    [
        (Limit("fpr", 0.1, at_most=True), (0.5, 0.1), (0.5, 0.11)),
        (Limit("tpr", 0.6, at_most=False), (0.6, 0.3), (0.59, 0.0)),
        # 0.2 of the rows are positive: 0.5 * 0.2 = 0.1 caught, and 0.1 / 0.2 of those flagged.
        (Limit("precision", 0.5, at_most=False), (0.5, 0.125), (0.5, 0.13)),
        (Limit("alerts", 0.2, at_most=True), (0.5, 0.125), (0.5, 0.13)),
    ],
    ids=str,
)
def test_slack_is_above_zero_where_a_limit_is_kept(limit, kept, broken):
    assert limit.slack(*kept, 0.2) == pytest.approx(0.0, abs=1e-12)
    assert limit.slack(*broken, 0.2) < -1e-3
