import re

import pytest

from directrix.metrics import Cost, FBeta, FPRAtRecall, PrecisionAtK, RecallAtFPR
from directrix.metrics.table import TABLE, resolve


@pytest.mark.parametrize("row", [row for row in TABLE if row.name != "from_rates"])
def test_every_metric_is_read_as_it_is_shown(row):
    assert resolve(repr(row.example)) == row.example


@pytest.mark.parametrize("row", [row for row in TABLE if not row.needs_parameters])
def test_a_name_stands_for_itself(row):
    assert resolve(row.name) == row.example


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("acu", "no metric named 'acu' .did you mean 'auc'..: give one of"),
        ("recall_at_fpr", "needs its parameters"),
        ("RecallAtFPR(fpr=2.0)", "must be a share between 0 and 1"),
        ("RecallAtFPR(fpr=open('x'))", "must be numbers"),
        ("Curve(1, 2, 3)", "no metric named"),
        ("print('x')", "no metric named"),
        ("f 1", "no metric named"),
    ],
)
def test_what_is_no_text_of_a_metric_is_refused(metric, words):
    with pytest.raises(ValueError, match=words):
        resolve(metric)


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
        ("Gini", "'auc'"),
        ("KS", "'balanced_error'"),
        ("recall@fpr=5%", "'recall@fpr=0.05'"),
        ("recal@fpr=0.5 %", "'recall@fpr=0.005'"),
    ],
)
def test_a_misspelt_metric_has_a_suggestion(misspelt, meant):
    with pytest.raises(ValueError, match=re.escape(f"(did you mean {meant}?)")):
        resolve(misspelt)


def test_what_cannot_be_read_is_not_suggested_as_it_was_given():
    with pytest.raises(ValueError, match=r"no metric named 'recall@fpr=0.05\+': give one of"):
        resolve("recall@fpr=0.05+")


def test_a_misspelt_parameter_of_a_metric_is_named():
    with pytest.raises(ValueError, match="has no parameter 'fm': the parameters are fp, fn"):
        resolve("cost(fp=1, fm=5)")
    with pytest.raises(ValueError, match="does not give what is needed: the parameters are fp, fn"):
        resolve("cost(1, 2, 3, 4)")


def test_what_is_like_no_metric_has_none():
    with pytest.raises(ValueError, match="no metric named 'xyzzy': give one of"):
        resolve("xyzzy")
