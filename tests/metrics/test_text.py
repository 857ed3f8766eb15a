import re

import numpy as np
import pytest

from directrix.metrics import Cost, FBeta, FPRAtRecall, FromRates, PrecisionAtK, RecallAtFPR
from directrix.metrics.base import Metric
from directrix.metrics.table import TABLE, metric_text, resolve


@pytest.mark.parametrize("row", [row for row in TABLE if row.name != "from_rates"])
def test_every_metric_is_read_as_it_was_written(row):
    assert resolve(metric_text(row.example)) == row.example


@pytest.mark.parametrize("row", [row for row in TABLE if not row.needs_parameters])
def test_a_name_stands_for_itself(row):
    assert metric_text(row.name) == row.name
    assert resolve(row.name) == row.example


def test_text_is_what_one_would_write():
    assert metric_text(Cost(fp=1.0, fn=20.0)) == "Cost(fp=1.0, fn=20.0)"
    assert metric_text("RecallAtFPR(0.01)") == "RecallAtFPR(0.01)"
    assert resolve("RecallAtFPR(0.01)") == RecallAtFPR(0.01)
    assert metric_text(RecallAtFPR(np.float64(0.1))) == "RecallAtFPR(fpr=0.1)"


def test_no_digit_is_lost():
    third = FBeta(beta=1.0 / 3.0)
    assert resolve(metric_text(third)).beta == third.beta


class Stranger(Metric):
    def score(self, y, scores, sample_weight=None):
        raise NotImplementedError

    best = risk = score


@pytest.mark.parametrize(
    ("metric", "error", "words"),
    [
        (FromRates(lambda tpr, fpr, prior: tpr - fpr * prior), ValueError, "cannot be written"),
        (3.0, TypeError, "a metric is a name or one of directrix.metrics, not float"),
        ("acu", ValueError, "no metric named 'acu' .did you mean 'auc'..: give one of"),
        ("recall_at_fpr", ValueError, "needs its parameters"),
        ("RecallAtFPR(fpr=2.0)", ValueError, "must be a share between 0 and 1"),
        ("RecallAtFPR(fpr=open('x'))", ValueError, "must be numbers"),
        ("Curve(1, 2, 3)", ValueError, "no metric named"),
        ("print('x')", ValueError, "no metric named"),
        ("f 1", ValueError, "no metric named"),
    ],
)
def test_what_is_no_text_of_a_metric_is_refused(metric, error, words):
    with pytest.raises(error, match=words):
        metric_text(metric)


def test_a_metric_of_another_library_is_refused():
    with pytest.raises(ValueError, match="cannot be written down as text"):
        metric_text(Stranger())


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("recall@fpr=0.01", RecallAtFPR(0.01)),
        (" precision@k=100 ", PrecisionAtK(100)),
        ("fpr @ recall = 0.9", FPRAtRecall(0.9)),
        ("cost(fp=1, fn=20)", Cost(1, 20)),
        ("fbeta(beta=2.0)", FBeta(2.0)),
    ],
)
def test_short_forms_for_command_lines(text, metric):
    assert resolve(text) == metric


@pytest.mark.parametrize(
    "text", ["recall@", "recall@fpr", "recall@k=", "@", "auc@fpr=0.1", "f1@", "recall@fpr=0.1, k=2"]
)
def test_a_short_form_that_is_none_says_what_would_be(text):
    with pytest.raises(ValueError, match=r"recall@fpr=0.01"):
        resolve(text)


@pytest.mark.parametrize("metric", [["auc"], None, 3.0], ids=["list", "nothing", "number"])
def test_what_is_neither_text_nor_metric_is_refused(metric):
    with pytest.raises(TypeError, match="a metric is a name"):
        resolve(metric)


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("recall@frp=0.05", "'recall@fpr=0.05'"),
        ("Precision@Recal=0.9", "'precision@recall=0.9'"),
        ("recall(fpr=0.05)", "'recall@fpr=0.05'"),
        ("averageprecision", "'average_precision'"),
        ("AUC ", "'auc'"),
        ("accuracy", "'error'"),
        ("PR_AUC", "'average_precision'"),
        ("recall@fpr=5%", "'recall@fpr=0.05'"),
        ("recal@fpr=0.5 %", "'recall@fpr=0.005'"),
    ],
)
def test_a_misspelt_metric_has_a_suggestion(misspelt, meant):
    with pytest.raises(ValueError, match=re.escape(f"(did you mean {meant}?)")):
        resolve(misspelt)


def test_what_is_like_no_metric_has_none():
    with pytest.raises(ValueError, match="no metric named 'xyzzy': give one of"):
        resolve("xyzzy")
