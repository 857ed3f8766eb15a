import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import SplineTransformer

from directrix import Moments, summarize
from directrix.engines import HashFolds
from directrix.exceptions.columns import ColumnNotFoundError
from directrix.moments import FeatureMap
from directrix.tables import Table

N = 1500
KINDS = ["auto", "linear", "splines", "cosines"]
BLOCKS = {
    "auto": ["raw", "levels", "missing", "splines"],
    "linear": ["raw", "levels", "missing"],
    "splines": ["levels", "missing", "splines"],
    "cosines": ["raw", "levels", "missing", "splines", "cosines"],
}
SETS = {"auto": ["", "splines"], "cosines": ["", "splines", "splines and cosines"]}


@pytest.fixture(scope="module")
def loans():
    rng = np.random.default_rng(5)
    amount = rng.lognormal(8, 1, N)
    return pd.DataFrame(
        {
            "amount": np.where(rng.random(N) < 0.1, np.nan, amount),
            "town": rng.choice(["Köln", "Lyon", "Ankara"], N, p=[0.6, 0.397, 0.003]),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, N), "D"),
            "owner": rng.random(N) < 0.5,
            "status": rng.choice(["good", "bad"], N, p=[0.8, 0.2]),
        }
    )


def mapped(loans, kind):
    table = Table.of(loans.drop(columns="status"))
    made = FeatureMap.learn(table, kind)
    return made, pd.DataFrame(made.transform(table), columns=list(made.feature_names))


def test_an_array_has_no_columns_to_map():
    with pytest.raises(TypeError, match="named columns: give a data frame"):
        summarize(np.eye(20), target=np.arange(20) % 2, features="auto")


@pytest.mark.every_case
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_divide_the_features(loans, kind):
    made, features = mapped(loans, kind)
    assert list(made.blocks) == BLOCKS[kind]
    index = np.concatenate(list(made.blocks.values()))
    np.testing.assert_array_equal(index, np.arange(features.shape[1]))
    # Sets of features begin with the linear ones, and each contains the one before.
    assert list(made.sets) == SETS.get(kind, [""])
    sizes = [len(columns) for columns in made.sets.values()]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] == len(made.feature_names)
    for columns in made.sets.values():
        np.testing.assert_array_equal(columns, np.arange(len(columns)))


def test_splines_are_those_of_scikit_learn(loans):
    made, features = mapped(loans, "splines")
    column = made.columns[0]
    present = loans["amount"].notna().to_numpy()
    np.testing.assert_allclose(
        column.knots, loans["amount"].quantile([0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99])
    )
    theirs = SplineTransformer(
        degree=1, knots=np.array(column.knots)[:, None], extrapolation="constant"
    ).fit_transform(loans[["amount"]][present].to_numpy())
    ours = features.filter(like="amount near").to_numpy()
    np.testing.assert_allclose(ours[present], theirs, atol=1e-12)
    assert not ours[~present].any()


def test_raw_features_levels_and_missing_values(loans):
    _, features = mapped(loans, "linear")
    assert "town = Ankara" not in features  # fewer than ten rows
    np.testing.assert_array_equal(features["town = Lyon"], loans["town"] == "Lyon")
    np.testing.assert_array_equal(features["amount missing"], loans["amount"].isna())
    filled = loans["amount"].fillna(loans["amount"].median())
    np.testing.assert_allclose(features["amount"], filled)
    days = (loans["since"] - pd.Timestamp("1970-01-01")).dt.days
    np.testing.assert_array_equal(features["since"], days)


def test_cosines_approximate_a_gaussian_kernel(loans):
    made, features = mapped(loans, "cosines")
    cosines = features.to_numpy()[:200, made.blocks["cosines"]]
    numbers = [c for c in made.columns if c.kind != "text"]
    raw = features[[c.name for c in numbers]].to_numpy()[:200]
    z = (raw - [c.median for c in numbers]) / [c.deviation for c in numbers]
    squared = ((z[:, None] - z[None]) ** 2).sum(axis=2) / made.bandwidth**2
    # Means of 300 products, each of variance below one: five standard deviations.
    error = 2 * cosines @ cosines.T / cosines.shape[1] - np.exp(-squared / 2)
    assert np.abs(error).max() < 5 * 2 / 300**0.5
    assert np.abs(error).mean() < 2 / 300**0.5


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_summarised_as_it_is(loans, kind, tmp_path):
    path = tmp_path / "loans.parquet"
    loans.to_parquet(path)
    whole = summarize(str(path), target="status", features=kind)
    made, features = mapped(loans, kind)
    assert replace(whole.map, n_folds=0) == made
    expected = Moments.of(features, loans["status"])
    for label, group in expected.by_class.items():
        np.testing.assert_allclose(whole.by_class[label].mean, group.mean, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(
            whole.by_class[label].scatter, group.scatter, rtol=1e-9, atol=1e-6
        )
    # Tomorrow's rows have other levels, and the same features.
    tomorrow = summarize(loans[:40].assign(town="Riga"), target="status", like=whole)
    (whole + tomorrow).save(tmp_path / "both.moments")
    loaded = Moments.load(tmp_path / "both.moments")
    assert loaded == whole + tomorrow
    assert loaded.map == whole.map
    assert f"a map learned from {N:,} rows" in repr(loaded)


def test_summaries_of_other_maps_do_not_add(loans):
    first = summarize(loans, target="status", features="splines")
    other = loans.assign(amount=2 * loans["amount"])
    second = summarize(other, target="status", features="splines")
    with pytest.raises(ValueError, match="different maps: make the second with `like=first`"):
        first + second
    assert (first + summarize(other, target="status", like=first)).count == 2 * N
    with pytest.raises(ValueError, match="leave features= out"):
        summarize(other, target="status", like=first, features="splines")
    with pytest.raises(TypeError, match=r"summarize\(X, target=y, like=...\)"):
        Moments.of(other, other["status"], like=first)
    assert first.select([0, 1]).map is None
    with pytest.raises(TypeError, match="an iterator is read only once"):
        summarize(iter([loans]), target="status", features="auto")
    with pytest.raises(ValueError, match="'amount missing'"):
        summarize(loans.assign(**{"amount missing": 1.0}), target="status", features="auto")


def test_features_that_are_chosen_have_folds(loans, tmp_path):
    asked = {"target": "status", "features": "auto"}
    summary = summarize(loans, **asked)
    assert summary.parts == summarize(loans, **asked, fold=HashFolds(5)).parts
    summary.save(tmp_path / "loans.moments")
    tomorrow = summarize(loans[:90], target="status", like=Moments.load(tmp_path / "loans.moments"))
    assert (summary + tomorrow).n_folds == tomorrow.n_folds == 5
    others = [summarize(loans, **asked, sample=0)]
    others += [summarize(loans, **asked | {"features": kind}) for kind in ("linear", "splines")]
    assert [each.n_folds for each in others] == [0, 0, 0]
    # Folds of a rule that was given are not made anew by another one.
    given = summarize(loans, **asked, fold=HashFolds(3, key="town"))
    with pytest.raises(ValueError, match="give both `fold=`"):
        given + summarize(loans[:90], target="status", like=given)


def test_features_that_are_misspelt_are_refused(loans):
    for given, meant in {"splnes": "splines", "Auto": "auto"}.items():
        with pytest.raises(ValueError, match=f"nor a map of a raw table; did you mean '{meant}'"):
            summarize(loans, target="status", features=given)
    with pytest.raises(ColumnNotFoundError, match="no column named 'age'"):
        summarize(loans, target="status", features="age")


def test_rows_like_those_of_a_summary_are_taken_by_name():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    y = np.arange(60) % 2
    first = Moments.of(frame[["c", "a"]], y)
    assert Moments.of(frame, y, like=first) == first
    assert summarize(frame.assign(y=y), target="y", like=first) == first
    assert Moments.of(frame[["c", "a"]].to_numpy(), y, like=first) == first
    with pytest.raises(KeyError, match="'a'"):
        Moments.of(frame[["b", "c"]], y, like=first)
    with pytest.raises(ValueError, match="`like=first`"):
        first + Moments.of(frame, y)


def test_a_state_is_read_as_json_holds_it(loans):
    made, _ = mapped(loans, "auto")
    assert FeatureMap.from_state(json.loads(json.dumps(made.state()))) == made
