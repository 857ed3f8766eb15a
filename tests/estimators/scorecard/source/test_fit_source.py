"""A scorecard in passes over a source: the card of the rows, wherever they are."""

from functools import cache

import card_problems
import numpy as np
import pandas as pd
import pytest
from card_sources import FEATURES, N_FOLDS, fit, frame, parts, points
from sklearn.metrics import roc_auc_score

from directrix import ScorecardClassifier
from directrix.engines import HashFolds
from directrix.engines.column_roles import ColumnRoles
from directrix.exceptions.columns import ColumnNotFoundError

ADDITIVE = {"max_crosses": 0, "max_lines": None, "cv": 2}
COMPACT = {"max_lines": "auto"}
TWO_FOLDS = HashFolds(2, key="id")


@cache
def of_counts():
    return fit(frame(), card=COMPACT)


@cache
def of_rows():
    return fit(parts(frame(3000)), card=ADDITIVE, fold=TWO_FOLDS)


def auc(card):
    new = frame(20_000, 5)
    return roc_auc_score(new["y"] == "yes", points(card, new))


# ── where rows are ────────────────────────────────────────────────────────────────────────────────


def source_of(name, tmp_path):
    rows = frame()
    if name == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        for number, part in enumerate(parts(rows, 4)):
            part.to_parquet(tmp_path / f"{number}.parquet", index=False)
        return str(tmp_path / "*.parquet")
    if name == "csv":
        rows.to_csv(tmp_path / "rows.csv", index=False)
        return str(tmp_path / "rows.csv")
    module_of = {"arrow": "pyarrow", "polars": "polars", "duckdb": "duckdb"}
    library = pytest.importorskip(module_of.get(name, "dask.dataframe"))
    if name == "arrow":
        return library.Table.from_pandas(rows, preserve_index=False)
    if name == "polars":
        return library.from_pandas(rows).lazy()
    if name == "duckdb":
        connection = library.connect()
        connection.register("some_rows", rows)
        return connection.sql("SELECT * FROM some_rows")
    return library.from_pandas(rows.sort_values("age").reset_index(drop=True), npartitions=4)


@pytest.mark.every_case
@pytest.mark.parametrize("name", ["parquet", "csv", "arrow", "polars", "duckdb", "dask"])
def test_the_card_does_not_depend_on_where_the_rows_are(name, tmp_path):
    card = fit(source_of(name, tmp_path), card=COMPACT)
    np.testing.assert_allclose(points(card), points(of_counts()), atol=1e-6)
    assert card.report_.chosen == of_counts().report_.chosen
    assert card.operating_point_.empirical == of_counts().operating_point_.empirical
    np.testing.assert_allclose(
        card.predict_proba(frame()[FEATURES]),
        of_counts().predict_proba(frame()[FEATURES]),
        atol=1e-6,
    )


@pytest.mark.parametrize("column", FEATURES)
def test_a_column_may_be_missing_in_one_part(column):
    rows = frame().copy()
    rows[column] = rows[column].astype(object)
    rows.loc[rows.index[:500], column] = None
    whole, split = fit(rows), fit(parts(rows))
    np.testing.assert_allclose(points(split), points(whole), atol=1e-6)
    assert [bins.kind for bins in split.binner_.bins_] == [
        bins.kind for bins in whole.binner_.bins_
    ]


def test_everything_that_a_column_can_hold():
    rows = card_problems.raw_rows(600, new=False)
    number = np.nan_to_num(rows.iloc[:, 0].to_numpy(dtype=float), posinf=20, neginf=-20)
    y = number + np.random.default_rng(0).normal(size=600) > 0
    rows = rows.assign(y=y, id=np.arange(600))
    options = {"features": [*list(card_problems.NAMES.values()), "constant"]}
    card = fit(parts(rows), **options)
    new = card_problems.raw_rows(200, seed=4)
    assert np.isfinite(card.decision_function(new)).all()
    assert card.classes_.tolist() == [False, True]
    assert np.ptp(card.card_.columns[4]) == 0.0  # of the constant
    in_memory = ScorecardClassifier("auc", cv=3, max_lines=None).fit(rows[options["features"]], y)
    correlation = np.corrcoef(card.decision_function(new), in_memory.decision_function(new))
    assert correlation[0, 1] > 0.98


def test_columns_without_names():
    rows = frame()
    array = np.column_stack([rows["age"], rows["member"], rows["y"] == "yes"]).astype(float)
    card = ScorecardClassifier("auc", cv=3, max_lines=None).fit_source(array, target=2)
    assert card.n_features_in_ == 2
    assert not hasattr(card, "feature_names_in_")
    assert np.isfinite(card.decision_function(array[:, :2])).all()


# ── how good it is ────────────────────────────────────────────────────────────────────────────────


def test_it_is_as_good_as_a_card_of_rows_in_memory(figure):
    rows = frame(3000)
    in_memory = ScorecardClassifier("auc", **ADDITIVE).fit(rows[FEATURES], rows["y"])
    values = [auc(card) for card in (of_rows(), in_memory)]
    figure(f"AUC on new rows: card in passes {values[0]:.4f}, in memory {values[1]:.4f}")
    assert values[0] > values[1] - 0.005


def test_rates_on_new_rows_are_in_their_intervals():
    card = fit(frame(4000, 6), "recall@fpr=0.1")
    new = frame(20_000, 7)
    predicted, positive = card.predict(new[FEATURES]) == "yes", (new["y"] == "yes").to_numpy()
    for name, rate in (("tpr", predicted[positive].mean()), ("fpr", predicted[~positive].mean())):
        low, high = getattr(card.operating_point_.intervals, name)
        assert low <= rate <= high
    probability = card.predict_proba(new[FEATURES])[:, 1]
    assert probability.mean() == pytest.approx(positive.mean(), abs=0.02)


def test_the_report_names_every_candidate_once():
    names = [tried.name for tried in of_rows().report_.tried]
    assert len(set(names)) == len(names)
    assert "all rows, each held out once" in str(of_rows().report_)
    assert "logistic scorecard" in str(of_rows().report_)


def test_the_card_counts_all_rows():
    rows = frame()
    for k, counts in enumerate(of_counts().card_.counts):
        assert counts.sum(axis=1).tolist() == [
            np.sum(rows["y"] == "no"),
            np.sum(rows["y"] == "yes"),
        ]
        assert counts.shape[1] == of_counts().binner_.bins_[k].n_cells


# ── options ───────────────────────────────────────────────────────────────────────────────────────


def test_rows_of_weight_zero_do_not_count():
    rows = frame()
    extra = rows.iloc[:200].assign(y="third", age=-5.0, id=np.arange(200) + 10_000)
    both = pd.concat([rows.assign(w=1.0), extra.assign(w=0.0)])
    card = fit(both, weight="w", card=COMPACT)
    np.testing.assert_allclose(points(card), points(of_counts()), atol=1e-6)


def test_balanced_classes_move_the_threshold():
    plain, balanced = (
        fit(frame(), "error", card={"class_weight": weight}) for weight in (None, "balanced")
    )
    rates = [card.operating_point_.empirical for card in (plain, balanced)]
    assert rates[1].tpr > rates[0].tpr
    assert rates[1].fpr > rates[0].fpr


@pytest.mark.parametrize("card", [{}, ADDITIVE], ids=["counts", "rows"])
def test_points_keep_their_direction(card):
    fold = HashFolds(card.get("cv", N_FOLDS), key="id")
    made = fit(frame(), card=card | {"monotone": {"age": "increasing"}}, fold=fold)
    number_of_cells = len(made.binner_.bins_[0].cuts) + 1
    ages = np.linspace(18, 80, 50)
    rows = frame().iloc[[3] * 50][FEATURES].assign(age=ages)
    scores = made.decision_function(rows)
    assert (np.diff(scores) >= -1e-9).all()
    assert np.ptp(scores) > 0.0
    assert number_of_cells > 5


def test_few_columns_have_points_if_asked():
    card = fit(frame(), card=ADDITIVE | {"max_columns": 2}, fold=TWO_FOLDS)
    assert sum(np.ptp(column) > 0.0 for column in card.card_.columns) == 2


@pytest.mark.parametrize("scale", ["pdo", "integer"])
def test_points_are_whole_numbers_if_asked(scale):
    card = fit(frame(), "recall@fpr=0.1", card={"points": scale})
    whole = np.concatenate(card.card_.columns)
    np.testing.assert_array_equal(whole, np.round(whole))
    predicted = card.predict(frame()[FEATURES]) == "yes"
    assert predicted[(frame()["y"] == "no").to_numpy()].mean() < 0.15


# The few negatives that are set apart in the other table allow no threshold.
@pytest.mark.filterwarnings("ignore::directrix.exceptions.OneClassPredictedWarning")
def test_rows_that_a_guarantee_sets_apart_are_not_seen():
    options = {"card": {"guarantee": 0.9, "max_lines": None}}
    rows = frame().assign(age=frame()["age"] + frame()["id"] / 1500)  # cuts move with any weight
    plan = ColumnRoles.of(
        raw=True, target="y", features=FEATURES, fold=HashFolds(N_FOLDS + 1, key="id")
    )
    apart = plan.block(rows).fold == N_FOLDS
    other = rows.assign(age=rows["age"].mask(apart, 20.0), y=rows["y"].mask(apart, "no"))
    other.loc[apart & (rows["id"] % 9 > 0).to_numpy(), "y"] = "yes"
    first, second = (fit(each, "recall@fpr=0.1", **options) for each in (rows, other))
    assert first.binner_.bins_ == second.binner_.bins_
    for column, of_other in zip(first.card_.columns, second.card_.columns, strict=True):
        np.testing.assert_allclose(column, of_other, rtol=1e-9)
    tried = [[each[:2] for each in card.report_.tried] for card in (first, second)]
    assert tried[0] == tried[1]
    assert first.operating_point_ != second.operating_point_
    new = frame(20_000, 7)
    negatives = new[new["y"] == "no"]
    assert np.mean(first.predict(negatives[FEATURES]) == "yes") <= 0.1


# ── what it refuses ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (frame().assign(y=frame()["id"] % 3), {}, "Only binary classification is supported"),
        (frame().assign(y="yes"), {}, "one class only"),
        (frame().iloc[:0], {}, "there are no rows to learn from"),
        (frame().assign(w=0.0), {"weight": "w"}, "there are no rows to learn from"),
        (frame().assign(w=np.nan), {"weight": "w"}, "weight= must be finite"),
        (frame().iloc[:4], {}, "has no rows of one class: there are too few"),
        (frame().iloc[:4], {"card": {}}, "has no rows of one class"),
        (frame(), {"card": {"max_columns": 2}}, "max_columns= needs rows to choose by"),
    ],
)
def test_what_it_cannot_do_is_said(rows, options, message):
    with pytest.raises(ValueError, match=message):
        fit(rows, **options)


def test_other_errors_name_the_culprit():
    with pytest.raises(ColumnNotFoundError, match="no column named 'nope'"):
        fit(frame(), features=["age", "nope"])
    with pytest.raises(TypeError, match="fit_source holds rows out by a hash"):
        fit(frame(), fold="id")
    with pytest.raises(ValueError, match="guarantee= counts rows, each once"):
        fit(frame(), "recall@fpr=0.1", card={"guarantee": 0.9}, weight="age")
    with pytest.raises(ValueError, match="name those of the card in features="):
        fit([frame().iloc[:700], frame().iloc[700:, ::-1]], features=None)
