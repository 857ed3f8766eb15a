import numpy as np
import pytest

from directrix.estimators import OperatingPointClassifier, evaluate, threshold_for
from directrix.exceptions import MissingScoresError
from directrix.metrics import AUC, RecallAtFPR


def scored(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    return y, rng.normal(size=n) + 1.5 * y


@pytest.mark.parametrize(
    "asked",
    [{"metric": "f1"}, {"limits": {"alerts": 0.1}, "guarantee": 0.95}, {"positive": "bad"}],
    ids=str,
)
def test_the_threshold_is_that_of_the_classifier(asked):
    y, scores = scored()
    labels = np.where(y, "bad", "good")
    asked = {"positive": "bad"} | asked
    point = threshold_for(labels, scores, **asked)
    fitted = OperatingPointClassifier(None, **asked).fit(scores, labels)
    assert point == fitted.operating_point_


def test_the_rates_are_those_at_the_threshold():
    y, scores = scored()
    point = threshold_for(y, scores, "recall@fpr=0.05")
    fresh, of_fresh = scored(seed=1)
    found = evaluate(fresh, of_fresh, "f1", threshold=point)
    flagged = of_fresh > point.threshold
    assert found["recall"].value == pytest.approx(flagged[fresh].mean())
    assert found["FPR"].value == pytest.approx(flagged[~fresh].mean())
    assert found["precision"].value == pytest.approx(fresh[flagged].mean())
    assert found.flagged == flagged.sum()
    assert found["recall"].low < found["recall"].value < found["recall"].high
    assert found == evaluate(fresh, of_fresh, "f1", threshold=point.threshold)
    with pytest.raises(KeyError, match="'lift' is not among the measures 'F1', 'error rate'"):
        found["lift"]


def test_a_ranking_and_a_limit_need_no_threshold():
    y, scores = scored()
    assert evaluate(y, scores)["AUC"].value == AUC().score(y, scores)
    limited = evaluate(y, scores, "recall@fpr=0.05")
    assert limited.measures[0].value == RecallAtFPR(0.05).score(y, scores)
    assert limited.flagged is None
    with pytest.raises(ValueError, match="F1 depends on a threshold: give threshold="):
        evaluate(y, scores, "f1")


def test_whether_a_limit_is_kept_is_said():
    y, scores = scored()
    text = str(evaluate(y, scores, "recall@fpr=0.05", threshold=0.0))
    assert "FPR at most 5 % is broken on these rows" in text or "is broken on these rows" in text


def test_segments_are_measured_by_themselves():
    y, scores = scored()
    country = np.where(np.arange(len(y)) % 3, "at", "ch")
    country[:5] = "li"
    y[:5] = False
    found = evaluate(y, scores, "f1", threshold=1.0, segment=country)
    inside = country == "ch"
    alone = evaluate(y[inside], scores[inside], "f1", threshold=1.0)
    assert found.segments["ch"] == alone
    assert found.segments["li"] is None
    header, rows, *_ = found.table()
    assert header == ["", "all rows"]
    assert [each.name for each in found.rates] == ["at", "ch", "li"]
    assert rows[0] == "rows"
    assert "<table" in found._repr_html_()


def test_weights_and_labels():
    y, scores = scored()
    weight = np.where(y, 2.0, 1.0)
    weight[::5] = 0.0
    found = evaluate(y, scores, "f1", threshold=1.0, sample_weight=weight)
    assert found.rows == weight.sum()
    turned = evaluate(np.where(y, "a", "b"), scores, "f1", threshold=1.0, positive="a")
    assert turned == evaluate(y, scores, "f1", threshold=1.0)


def test_what_is_refused():
    y, scores = scored(50)
    with pytest.raises(MissingScoresError):
        evaluate(y, np.where(np.arange(50) == 3, np.nan, scores))
    with pytest.raises(ValueError, match="one for each row"):
        evaluate(y, scores[:-1])
    with pytest.raises(ValueError, match="segment must be the segment of each"):
        evaluate(y, scores, segment=["a"])
    with pytest.raises(ValueError, match="one class only"):
        evaluate(np.zeros(50), scores)
