import bz2
import os
from functools import cache
from io import BytesIO
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from few_cases import SELECTION
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_svmlight_file
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from directrix import DirectClassifier, MomentClassifier
from directrix.engines import HashFolds
from directrix.fit.choice import Choice
from directrix.fit.evidence import CountEvidence
from directrix.fit.finish import at_best_threshold
from directrix.fit.operating_point import OF_LINES
from directrix.metrics import RecallAtFPR
from directrix.metrics.score_histogram import (
    BINS,
    SIDES,
    ScoreHistogram,
    centres,
)
from directrix.metrics.table import resolve

N, PARTS = 60_000, 8
FEATURES = ["a", "b", "c", "d"]
CLOSE = 0.001


@cache
def frame(n=N, seed=0):
    """Return rows of two classes of different means and spreads, with a rare one and a key."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    X = rng.normal(size=(n, 4)) @ np.array(
        [[1.0, 0.5, 0, 0], [0, 1.0, 0, 0.3], [0, 0, 2.0, 0], [0, 0, 0, 1.0]]
    )
    X[:, 0] += 1.5 * y
    X[y, 3] *= 2.5
    X[:, 2] += 40.0
    rows = pd.DataFrame(X, columns=FEATURES)
    return rows.assign(
        y=np.where(y, "yes", "no"),
        w=rng.choice([0.5, 1.0, 2.0], n),
        customer=rng.integers(0, n // 3, n),
        town=np.where(rng.random(n) < 0.3 + 0.4 * y, "Ulm", "Bonn"),
    )


def in_parts(rows, folder, n=PARTS):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    for k, part in enumerate(np.array_split(np.arange(len(rows)), n)):
        rows.iloc[part].to_parquet(folder / f"part-{k:02}.parquet", index=False)
    return str(folder / "part-*.parquet")


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    return in_parts(frame(), tmp_path_factory.mktemp("rows"))


def dask_frame(_):
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    return dd.from_pandas(frame(), npartitions=PARTS)


SOURCES = {
    "memory": lambda _: frame(),
    "chunks": lambda _: [frame()[:1000], frame()[1000:]],
    "arrow": lambda parquet: parquet,
    "dask": dask_frame,
}


def quality(model, X, y, weight=None):
    """Return accuracy and AUC."""
    positive = model.classes_[1]
    return (
        np.average(model.predict(X) == y, weights=weight),
        roc_auc_score(y == positive, model.decision_function(X), sample_weight=weight),
    )


#: What a classifier is trained for, as scikit-learn measures it on other rows.
METRICS = {
    "error": lambda positive, scores: np.mean(positive == (scores > 0)),
    "auc": roc_auc_score,
    "f1": lambda positive, scores: f1_score(positive, scores > 0),
    RecallAtFPR(0.05): lambda positive, scores: np.mean(scores[positive] > 0),
}
each_metric = pytest.mark.parametrize("metric", METRICS, ids=str)


@each_metric
def test_it_is_as_good_as_a_fit_of_the_rows_in_memory(parquet, metric, figure):
    rows, test = frame(), frame(seed=1)
    ours = MomentClassifier(metric).fit_source(parquet, target="y", features=FEATURES)
    theirs = MomentClassifier(metric).fit(rows[FEATURES], rows["y"])
    assert ours.classes_.tolist() == ["no", "yes"]
    one, other = (
        METRICS[metric](
            (test["y"] == "yes").to_numpy(), np.asarray(model.decision_function(test[FEATURES]))
        )
        for model in (ours, theirs)
    )
    figure(f"one pass, {metric}: {one:.4f} on other rows, {other:.4f} of a fit in memory")
    # Each draws its sample of 10,000 rows of a class: a rate of 0.8 is known to 0.004.
    assert abs(one - other) < (3 * CLOSE if metric in ("error", "auc") else 0.015)
    # The rates themselves may differ where the metric is flat.
    found, expected = ours.operating_point_.empirical, theirs.operating_point_.empirical
    assert abs(found.metric - expected.metric) < 0.015


@pytest.mark.every_case
@pytest.mark.parametrize("source", SOURCES)
def test_the_line_is_the_same_through_every_engine(parquet, source):
    options = {"target": "y", "features": FEATURES, "fold": HashFolds(5, key="customer")}
    ours = MomentClassifier("f1", sample=0).fit_source(SOURCES[source](parquet), **options)
    theirs = MomentClassifier("f1", sample=0).fit_source(frame(), **options)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9)
    scores = np.linspace(-3.0, 3.0, 7)
    np.testing.assert_allclose(ours.calibration_(scores), theirs.calibration_(scores), rtol=1e-9)
    assert ours.feature_names_in_.tolist() == FEATURES
    assert ours.n_features_in_ == 4


class Counted:
    """Counts how often the rows of a dataset are read."""

    def __init__(self, monkeypatch):
        from directrix.engines import readers

        self.scans, self.rows = 0, 0
        really = readers.open_dataset

        def opened(rows, **options):
            known = really(rows, **options)

            def counted(read):
                def batches(*asked):
                    self.scans += 1
                    for batch in read(*asked):
                        self.rows += batch.num_rows
                        yield batch

                return batches

            return known._replace(
                batches=counted(known.batches), positioned=counted(known.positioned)
            )

        monkeypatch.setattr(readers, "open_dataset", opened)


@pytest.mark.parametrize(
    ("classifier", "passes"), [(MomentClassifier, 1), (DirectClassifier, 2)], ids=["one", "two"]
)
def test_the_rows_are_read_as_often_as_is_said(parquet, monkeypatch, classifier, passes):
    counted = Counted(monkeypatch)
    classifier("auc").fit_source(parquet, target="y", features=FEATURES)
    assert counted.scans == passes
    assert counted.rows == passes * N


def test_what_can_be_read_only_once_takes_one_pass():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    reader = pa.Table.from_pandas(frame()[:5000]).to_reader(max_chunksize=500)
    with pytest.raises(ValueError, match="did not find the rows of the first: it read 0 rows"):
        DirectClassifier().fit_source(reader, target="y", features=FEATURES)
    with pytest.raises(ValueError, match="an iterator can be read only once"):
        DirectClassifier().fit_source(iter([frame()[:5000]]), target="y", features=FEATURES)
    reader = pa.Table.from_pandas(frame()[:5000]).to_reader(max_chunksize=500)
    once = MomentClassifier().fit_source(reader, target="y", features=FEATURES)
    assert once.moments_.count == 5000


class Changing:
    """Rows that are read twice, and are others the second time."""

    def __init__(self, change):
        self.change, self.times = change, 0

    def __iter__(self):
        self.times += 1
        rows = frame()[:4000][[*FEATURES, "y"]]
        yield rows if self.times == 1 else self.change(rows)


CHANGES = {
    "a row is replaced": lambda rows: rows.assign(a=rows["a"].where(rows.index != 7, 0.5)),
    "columns in another order": lambda rows: rows[["b", "a", "c", "d", "y"]],
    "a column made by chance": lambda rows: rows.assign(
        a=np.random.default_rng().normal(size=len(rows))
    ),
    "labels are swapped": lambda rows: rows.assign(y=rows["y"].sample(frac=1.0).to_numpy()),
    "one row fewer, another twice": lambda rows: pd.concat([rows[1:], rows[-1:]]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_rows_that_change_between_the_passes_are_refused(change):
    with pytest.raises(ValueError, match="later pass did not find the rows of the first"):
        DirectClassifier("auc").fit_source(Changing(change), target="y")


def test_the_order_of_rows_may_change_between_the_passes():
    ours, steady = (
        DirectClassifier("auc").fit_source(Changing(change), target="y")
        for change in (lambda rows: rows.sample(frac=1.0), lambda rows: rows)
    )
    np.testing.assert_allclose(ours.coef_, steady.coef_, rtol=1e-9)


def test_weights_count_as_they_do_in_memory(parquet):
    rows, test = frame(), frame(seed=1)
    rare = rows["w"].where(rows["a"] < 1.0, 8.0)
    rows, weighted = rows.assign(w=rare), MomentClassifier("error")
    source = [rows[:20_000], rows[20_000:]]
    weighted.fit_source(source, target="y", features=FEATURES, weight="w")
    theirs = MomentClassifier("error").fit(rows[FEATURES], rows["y"], rows["w"])
    plain = MomentClassifier("error").fit_source(parquet, target="y", features=FEATURES)
    apart = np.abs(
        np.subtract(
            quality(weighted, test[FEATURES], test["y"]), quality(theirs, test[FEATURES], test["y"])
        )
    )
    assert apart.max() < 3 * CLOSE
    assert np.abs(plain.coef_ - weighted.coef_).max() > 0.01


@pytest.mark.parametrize(
    ("class_weight", "of_yes"), [("balanced", 4.0), ({"yes": 6.0}, 6.0)], ids=str
)
def test_class_weights_count_as_they_do_in_memory(parquet, class_weight, of_yes):
    rows, test = frame(), frame(seed=1)
    ours = MomentClassifier("error", class_weight=class_weight)
    ours.fit_source(parquet, target="y", features=FEATURES)
    theirs = MomentClassifier("error", class_weight=class_weight).fit(rows[FEATURES], rows["y"])
    plain = MomentClassifier("error").fit_source(parquet, target="y", features=FEATURES)
    weight = np.where(test["y"] == "yes", of_yes, 1.0)  # as it is trained for
    apart = np.abs(
        np.subtract(
            quality(ours, test[FEATURES], test["y"], weight),
            quality(theirs, test[FEATURES], test["y"], weight),
        )
    )
    # Two standard errors of a share near 0.8 on so many rows of unequal weight: near the least
    # error the threshold hardly matters, and each way of holding out picks its own.
    assert apart.max() < 2.0 * np.sqrt(0.8 * 0.2 * (weight @ weight)) / weight.sum()
    called = [(model.predict(test[FEATURES]) == "yes").mean() for model in (ours, theirs, plain)]
    assert min(called[:2]) > 1.5 * called[2]


def test_a_transformer_is_part_of_the_pass(parquet):
    rows, test = frame(), frame(seed=1)
    columns = ["town", *FEATURES]
    made = make_column_transformer(
        (OneHotEncoder(drop="first"), ["town"]), (StandardScaler(), FEATURES)
    ).fit(rows[columns])
    ours = MomentClassifier("error")
    ours.fit_source(parquet, target="y", features=columns, transform=made)
    theirs = MomentClassifier("error").fit(made.transform(rows[columns]), rows["y"])
    names = made.get_feature_names_out()
    unseen = pd.DataFrame(made.transform(test[columns]), columns=names)
    assert ours.feature_names_in_.tolist() == names.tolist()
    apart = np.subtract(
        quality(ours, unseen, test["y"]), quality(theirs, unseen.to_numpy(), test["y"])
    )
    assert np.abs(apart).max() < 5 * CLOSE
    without = MomentClassifier("error").fit_source(parquet, target="y", features=FEATURES)
    assert quality(ours, unseen, test["y"])[1] > quality(without, test[FEATURES], test["y"])[1]


LABELS = {"numbers": [3, 7], "bool": [False, True], "text": ["n", "p"]}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_labels_may_be_given_beside_the_rows(labels):
    rows = frame()[:5000]
    y = np.array(labels)[(rows["y"] == "yes").astype(int)]
    ours = MomentClassifier("f1").fit_source(rows[FEATURES], target=y)
    for given in (y.tolist(), y[:, None], pd.Series(y, index=rows.index + 5)):
        again = MomentClassifier("f1").fit_source(rows[FEATURES], target=given)
        np.testing.assert_array_equal(again.coef_, ours.coef_)
    assert ours.classes_.tolist() == labels
    # With folds by a key, what the labels are called changes nothing.
    fold = HashFolds(5, key="customer")
    named = MomentClassifier("f1").fit_source(rows, target="y", features=FEATURES, fold=fold)
    renamed = MomentClassifier("f1").fit_source(
        rows.assign(y=y), target="y", features=FEATURES, fold=fold
    )
    # But the order in which sampled rows are summed up.
    np.testing.assert_allclose(named.coef_, renamed.coef_, rtol=1e-9)


def test_probabilities_are_those_of_the_rows(parquet):
    test = frame(seed=1)
    ours = MomentClassifier("error").fit_source(parquet, target="y", features=FEATURES)
    called = ours.predict_proba(test[FEATURES])[:, 1]
    for low, high in ((0.0, 0.1), (0.1, 0.3), (0.3, 0.7), (0.7, 1.0)):
        own = (called >= low) & (called < high)
        assert abs(called[own].mean() - (test["y"][own] == "yes").mean()) < 0.05
    assert ours.calibration_.how.endswith("the training rows")


# ── what is refused ───────────────────────────────────────────────────────────────────────────────


def test_one_classifier_is_of_one_group():
    with pytest.raises(TypeError, match="unexpected keyword argument 'by'"):
        MomentClassifier().fit_source(frame(), target="y", features=FEATURES, by="town")


def test_one_class_and_three_are_refused():
    rows = frame()[:3000]
    with pytest.raises(ValueError, match="one class only"):
        MomentClassifier().fit_source(rows.assign(y="no"), target="y", features=FEATURES)
    three = rows.assign(y=np.arange(3000) % 3)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        MomentClassifier().fit_source(three, target="y", features=FEATURES)


# ── choosing by histograms ────────────────────────────────────────────────────────────────────────


def test_where_one_class_for_all_is_best_the_threshold_is_beyond_all_scores():
    counts = np.zeros((1, 2, BINS))
    counts[0, 0, BINS // 2], counts[0, 1, BINS // 2] = 99.0, 1.0
    histogram = ScoreHistogram(SIDES, counts, np.array([99.0, 1.0]))

    def best(factors):
        counted = CountEvidence((histogram,), 0, factors)
        choice = Choice.only(resolve("error"), counted, OF_LINES)
        return at_best_threshold(choice, counted).point.threshold

    assert best((1.0, 1.0)) > centres()[BINS // 2]
    assert best((1.0, 1e4)) < centres()[BINS // 2]


# ── a data set ────────────────────────────────────────────────────────────────────────────────────

DATA = Path(os.environ.get("DIRECTRIX_DATA", "nowhere"))
COVTYPE = 100_000  # rows of 581,012 in the quick form


@pytest.fixture(scope="module")
def covtype(tmp_path_factory):
    """Return rows to learn from, as files and in memory, and other rows."""
    if not (DATA / "covtype.svm.bz2").exists():
        pytest.skip("the folder DIRECTRIX_DATA has no covtype")
    with bz2.open(DATA / "covtype.svm.bz2") as lines:
        first = b"".join(islice(lines, COVTYPE if SELECTION.limit else None))
    X, labels = load_svmlight_file(BytesIO(first), zero_based=False)
    X, y = X.toarray(), labels > 0
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: len(y) * 4 // 5], order[len(y) * 4 // 5 :]
    names = [f"x{k}" for k in range(X.shape[1])]
    rows = pd.DataFrame(X[train].astype(np.float32), columns=names).assign(y=y[train])
    parts = in_parts(rows, tmp_path_factory.mktemp("covtype"), 16)
    return parts, (X[train], y[train]), (pd.DataFrame(X[test], columns=names), y[test])


@pytest.mark.parametrize("metric", ["error", "auc"])
def test_covtype_is_learnt_as_well_from_files(covtype, metric, figure):
    parts, rows, (X, y) = covtype
    ours = MomentClassifier(metric).fit_source(parts, target="y")
    theirs = MomentClassifier(metric).fit(*rows)
    one, other = quality(ours, X, y), quality(theirs, X.to_numpy(), y)
    trained_for = ["error", "auc"].index(metric)
    close = 3 * CLOSE  # each has its own sample
    assert abs(one[trained_for] - other[trained_for]) < close
    assert np.abs(np.subtract(one, other)).max() < 2 * close
    figure(
        f"one pass over covtype, {metric}: accuracy {one[0]:.4f} ({other[0]:.4f} in memory), "
        f"AUC {one[1]:.4f} ({other[1]:.4f})"
    )
