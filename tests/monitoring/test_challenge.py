import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

from directrix import DirectClassifier
from directrix.metrics import ScoreHistogram
from directrix.metrics.table import resolve
from directrix.monitoring import challenge, compare_models


def scores(rng, y, gap):
    return ScoreHistogram.of_scores(y, rng.normal(size=len(y)) + gap * (y - 0.5))


@pytest.mark.parametrize("metric", ["auc", "error", "recall@fpr=0.1", "f1"])
def test_the_better_model_gains(metric):
    rng = np.random.default_rng(0)
    y = rng.random(5000) < 0.4
    weak, strong = scores(rng, y, 1.0), scores(rng, y, 2.0)
    found = compare_models(weak, strong, metric)
    assert 0 < found.low < found.gain < found.high
    back = compare_models(strong, weak, metric)
    assert back.gain == pytest.approx(-found.gain)
    assert back.high == pytest.approx(-found.low)
    better = found.challenger > found.champion
    assert better == resolve(metric).greater_is_better


def test_intervals_of_independent_models_cover_no_gain():
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(100):
        y = rng.random(1000) < 0.3
        found = compare_models(scores(rng, y, 1.0), scores(rng, y, 1.0), "auc")
        covered += found.low <= 0 <= found.high
    assert covered >= 90


def test_other_rows_are_refused():
    rng = np.random.default_rng(2)
    y = rng.random(100) < 0.3
    with pytest.raises(ValueError, match="not of the same rows"):
        compare_models(scores(rng, y, 1.0), scores(rng, y[:50], 1.0), "auc")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("y", "message"), [(None, "have no labels"), ([0, 0], "one class has")])
def test_rows_of_one_class_or_without_labels_compare_nothing(y, message):
    classes = None if y is None else [0, 1]
    scores = ScoreHistogram.of_scores(y, np.array([0.0, 1.0]), classes=classes)
    with pytest.raises(ValueError, match=message):
        compare_models(scores, scores, "auc")


def test_each_model_takes_its_columns():
    rng = np.random.default_rng(0)
    y = rng.random(600) < 0.4
    X = pd.DataFrame(rng.normal(size=(600, 3)) + y[:, None], columns=list("abc"))
    champion = DirectClassifier("f1", warn_baseline=False).fit(X[["a", "b"]], y)
    forest = RandomForestClassifier(20, random_state=0).fit(X[["b", "c"]][:300], y[:300])
    rows, truth = X[300:], y[300:]
    found = challenge(champion, forest, rows, truth)
    alone = challenge(champion, champion, rows[["a", "b"]], truth)
    assert [each.champion for each in found] == [each.champion for each in alone]
    flagged = forest.predict(rows[["b", "c"]])
    recall, precision = flagged[truth].mean(), truth[flagged].mean()
    assert found[-1].challenger == pytest.approx(2 / (1 / recall + 1 / precision))
