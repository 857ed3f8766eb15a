"""The scores of a classifier, counted wherever the rows are."""

import numpy as np
import pandas as pd
import pytest

from directrix import MomentClassifier
from directrix.metrics import RecallAtFPR, ScoreHistogram
from directrix.metrics.base import Curve
from directrix.metrics.table import resolve

FEATURES = ["a", "b c", '"d"']


def frame(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    rows = pd.DataFrame(rng.normal(size=(n, 3)) + y[:, None], columns=FEATURES)
    return rows.assign(other=1.0, w=rng.choice([0.5, 1.0, 2.0], n), y=np.where(y, "yes", "no"))


@pytest.fixture(scope="module")
def model():
    rows = frame()
    return MomentClassifier(RecallAtFPR(0.05)).fit(rows[FEATURES], rows["y"])


def expected(model, rows, weight=None):
    scores = model.decision_function(rows[FEATURES])
    histogram = ScoreHistogram.of_scores(rows["y"], scores, weight, classes=["no", "yes"])
    return histogram.counts


def in_files(rows, folder):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    for k in range(3):
        rows[k::3].to_parquet(folder / f"{k}.parquet", index=False)
    return str(folder / "*.parquet")


def in_dask(rows, _):
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    return dd.from_pandas(rows, npartitions=4)


SOURCES = {
    "frame": lambda rows, _: rows,
    "chunks": lambda rows, _: [rows[:7], rows[7:7], rows[7:]],
    "files": in_files,
    "dask": in_dask,
}


@pytest.mark.every_case
@pytest.mark.parametrize("source", SOURCES)
def test_it_is_the_histogram_of_all_scores_on_every_engine(model, source, tmp_path):
    rows = frame(seed=1)
    source = SOURCES[source](rows, tmp_path)
    plain = model.score_histogram(source, target="y", progress=False)
    np.testing.assert_array_equal(plain.counts, expected(model, rows))
    assert plain.weight_sq.tolist() == plain.weight.tolist()
    weighted = model.score_histogram(source, target="y", weight="w", progress=False)
    np.testing.assert_allclose(weighted.counts, expected(model, rows, rows["w"]), rtol=1e-12)
    assert plain.classes.tolist() == ["no", "yes"]


def test_days_add_up_and_give_the_metric_of_all(model):
    days = [frame(1000, seed) for seed in range(2, 6)]
    histograms = [model.score_histogram(day, target="y") for day in days]
    month = sum(histograms[1:], start=histograms[0])
    rows = pd.concat(days)
    curve = Curve.of(rows["y"] == "yes", model.decision_function(rows[FEATURES]))
    for metric in (RecallAtFPR(0.05), resolve("auc"), resolve("f1"), resolve("error")):
        ours, theirs = metric.best(Curve.of_histogram(month)), metric.best(curve)
        assert ours.value == pytest.approx(theirs.value, abs=0.003)
    above = model.predict(rows[FEATURES]) == "yes"
    tpr, fpr = month.rates(0.0)
    assert tpr == pytest.approx(above[rows["y"] == "yes"].mean(), abs=1e-12)
    assert fpr == pytest.approx(above[rows["y"] == "no"].mean(), abs=1e-12)


def test_another_fit_is_another_model(model):
    rows = frame()
    again = MomentClassifier(RecallAtFPR(0.05)).fit(rows[FEATURES], rows["y"])
    other = MomentClassifier("auc").fit(rows[FEATURES], rows["y"])
    ours = model.score_histogram(rows, target="y")
    assert ours + again.score_histogram(rows, target="y") == ours + ours
    with pytest.raises(ValueError, match="different models"):
        ours + other.score_histogram(rows, target="y")


def test_rows_of_one_class_are_enough_and_of_none(model):
    rows = frame()
    negatives = model.score_histogram(rows[rows["y"] == "no"], target="y")
    assert negatives.weight.tolist() == [(rows["y"] == "no").sum(), 0]
    assert model.score_histogram(rows[:0], target="y").weight.tolist() == [0, 0]


def test_features_without_names_are_all_other_columns():
    X = frame()[FEATURES].to_numpy()
    y = (frame()["y"] == "yes").to_numpy()
    model = MomentClassifier().fit(X, y)
    histogram = model.score_histogram(X, target=y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(histogram.counts, ScoreHistogram.of_scores(y, scores).counts)
    with pytest.raises(ValueError, match="rows have 2 features, and the model has 3"):
        model.score_histogram(X[:, :2], target=y)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf], ids=str)
def test_values_that_have_no_score_are_refused_by_column(model, value):
    rows = frame()
    rows.loc[[5, 2000], "b c"] = value
    with pytest.raises(ValueError, match="b c"):
        model.score_histogram([rows[:1000], rows[1000:]], target="y")


@pytest.mark.parametrize("weight", [-1.0, np.nan])
def test_weights_that_are_none_are_refused(model, weight):
    rows = frame()
    rows.loc[7, "w"] = weight
    with pytest.raises(ValueError, match="sample_weight must be finite and not negative"):
        model.score_histogram(rows, target="y", weight="w")


def test_what_cannot_be_counted_is_refused(model):
    rows = frame()
    with pytest.raises(ValueError, match="is not among the classes"):
        model.score_histogram(rows.assign(y="maybe"), target="y")
    with pytest.raises(KeyError, match="b c"):
        model.score_histogram(rows.drop(columns="b c"), target="y")
    with pytest.raises(TypeError, match="unexpected keyword argument 'fold'"):
        model.score_histogram(rows, target="y", fold="w")
