import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from benchmarks.harness.data import Rows
from benchmarks.harness.record import Record
from benchmarks.rivals.base import Rival
from benchmarks.rivals.tables import ExplainableBoosting, LightGBM
from benchmarks.studies.cards import monotone_cards
from benchmarks.studies.cards.folds import table_of
from benchmarks.studies.cards.monotone_cards import (
    DEMANDS,
    DOWN,
    METHODS,
    RECORD,
    UP,
    Method,
    Results,
    Walks,
    frequent,
    monotone,
    quality,
    signs,
    with_ranks,
)

DIRECTIONS = {"delay": "increasing", "income": "decreasing", "grade": ["A", "B", "C"]}


def table(n=400, seed=0):
    """Return rows in which risk rises and falls with the delay, against its direction."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "delay": rng.integers(0, 4, n),
            "income": rng.normal(size=n),
            "grade": pd.array(rng.choice(["A", "B", "C", "none"], n), dtype="string"),
            "town": pd.array(rng.choice(["x", "y"], n), dtype="string"),
        }
    )
    risk = (
        np.abs(frame["delay"] - 2)
        + np.abs(frame["income"])
        + (frame["grade"] == "A").to_numpy(dtype=float)
    )
    return Rows(frame, (risk + rng.normal(size=n) > 2.5).to_numpy())


class ByRank(Rival):
    """Scores that are the rank of the grade."""

    def scores(self, train, test, metrics):  # noqa: ARG002
        return dict.fromkeys(metrics, test.X["grade"].fillna(0.0).to_numpy(dtype=float))


def measured(method):
    columns = RECORD.columns[3:-1]
    return dict(zip(columns, quality(method, table(), table(seed=1), DIRECTIONS), strict=True))


def test_methods_that_need_numbers_get_ranks():
    found = measured(Method(lambda _: ByRank()))
    assert (found["directions"], found["violated"], found["wrong_share"]) == (3, 0, "0")
    rows = table(seed=1)
    rank = rows.X["grade"].map({"A": 0.0, "B": 1.0, "C": 2.0}).fillna(0.0)
    expected = monotone_cards.METRICS["AUC"].score(rows.y, rank.to_numpy(dtype=float))
    assert float(found["AUC"]) == pytest.approx(expected, abs=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("make", "library"),
    [(LightGBM, "lightgbm"), (lambda by=None: ExplainableBoosting(1, by), "interpret")],
    ids=["LightGBM", "EBM"],
)
def test_constraints_reach_the_library(make, library):
    pytest.importorskip(library, reason="a competitor of the group 'rivals'")
    free = measured(Method(lambda _: make()))
    bound = measured(Method(lambda wanted: make(signs(wanted))))
    assert free["violated"] > 0
    assert bound["violated"] == 0


@pytest.fixture
def record(tmp_path):
    return Record(tmp_path / "record.csv", RECORD.columns, RECORD.key)


def rows_of(name, fold, gain):
    """Return one row a method; those with directions are better by a gain, and three times slow."""
    return [
        (name, fold, method, 3.0, 0.5 + gain, 0.7, 6, 0, 0, "abc")
        if "monotone" in method
        else (name, fold, method, 1.0, 0.5, 0.7, 6, 2, 0.5, "abc")
        for method in METHODS
    ]


def test_price_is_the_mean_over_tables_not_over_folds(record):
    record.append(rows_of("german_credit", 0, 0.1))
    record.append(rows_of("german_credit", 1, 0.1))
    record.append(rows_of("credit_data", 0, -0.02))
    results = Results(record.rows())
    mean, error = results.price("EBM", monotone_cards.RECALL)
    assert mean == pytest.approx(0.04)
    assert error == pytest.approx(0.06)
    assert results.ratio("EBM, monotone", "EBM") == 3.0
    text = "\n".join(monotone_cards.lines(record.rows()))
    assert "+0.0400 (0.0600)" in text
    assert "2.0 (50%)" in text


def test_folds_that_lack_a_method_are_left_out(record):
    record.append(rows_of("german_credit", 0, 0.1))
    record.append(rows_of("credit_data", 0, 0.1)[:-1])
    assert Results(record.rows()).names == ["german_credit"]


def test_an_empty_record_says_so(record):
    assert not record.path.exists()
    assert monotone_cards.lines(record.rows())[-1] == "Nothing was measured yet."


def test_quick_tables_are_among_those_with_demands():
    assert set(monotone_cards.QUICK) <= set(DEMANDS)


@pytest.mark.parametrize("name", DEMANDS)
def test_columns_and_levels_are_those_of_the_table(name):
    pytest.importorskip("pyarrow", reason="tables are Parquet files")
    try:
        frame = table_of(name, 10_000).X
    except FileNotFoundError as reason:
        pytest.skip(str(reason))
    for column, (direction, _) in DEMANDS[name].items():
        numbers = frame[column].dtype.kind in "iuf"
        assert numbers == (direction in {UP, DOWN}), column
        if not numbers:
            free = set(frame[column].dropna()) - set(direction)
            assert len(free) <= 1, f"{column}: ranks would make {free} one level"


def test_ranks_rise_with_the_risk_and_free_levels_are_missing():
    frame = pd.DataFrame({"grade": ["B", "A", "free", None], "age": [1, 2, 3, 4]})
    directions = {"grade": ["A", "B"], "age": DOWN}
    ranked = with_ranks(frame, directions)
    assert np.array_equal(ranked["grade"], [1.0, 0.0, np.nan, np.nan], equal_nan=True)
    assert ranked["age"].equals(frame["age"])
    assert signs(directions) == {"grade": 1, "age": -1}


@pytest.mark.parametrize("name", DEMANDS)
def test_directions_are_words_or_lists_of_distinct_levels(name):
    for direction in monotone(name).values():
        assert direction in (UP, DOWN) or len(set(direction)) == len(direction) > 1


def test_rare_levels_are_free_and_the_others_keep_their_order():
    frame = pd.DataFrame({"grade": ["C"] * 3 + ["B"] * 1 + ["A"] * 2, "age": range(6)})
    directions = {"grade": ["A", "B", "C", "D"], "age": UP}
    assert frequent(directions, frame, least=2) == {"grade": ["A", "C"], "age": UP}


RANK = {"A": 0.0, "B": 1.0, "C": 2.0}
WALKED = {"income": "decreasing", "delay": "increasing", "grade": ["A", "B", "C"]}


def frame(n=80):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "delay": rng.integers(0, 5, n),
            "grade": pd.array(rng.choice([*RANK], n), dtype="string"),
            "free": rng.normal(size=n),
        }
    )


def good(rows):
    """Return scores that keep all directions."""
    income = rows["income"].fillna(-3.0)
    return (rows["delay"] - income + rows["grade"].map(RANK) + rows["free"]).to_numpy(dtype=float)


def test_scores_that_keep_all_directions_break_none():
    steps = Walks.of(frame(), WALKED)
    assert steps.kept(good(steps.frame)) == (0, 0.0)


@pytest.mark.parametrize("column", WALKED)
def test_one_column_the_other_way_is_one_broken_direction(column):
    steps = Walks.of(frame(), WALKED)
    rows = steps.frame
    against = rows["grade"].map(RANK) if column == "grade" else rows[column].fillna(0.0)
    sign = 3.0 if column == "income" else -3.0
    kept = steps.kept(good(rows) + sign * against.to_numpy(dtype=float))
    assert kept.violated == 1
    assert kept.wrong_share == pytest.approx(1 / 3)


def test_a_direction_that_is_broken_for_some_rows_only_is_broken():
    steps = Walks.of(frame(), WALKED)
    rare = steps.frame["free"] > frame()["free"].sort_values().iloc[-5]
    kept = steps.kept(good(steps.frame) - 3.0 * np.where(rare, steps.frame["delay"], 0.0))
    assert kept.violated == 1
    assert 0.0 < kept.wrong_share < 0.1


def test_ties_and_rounding_are_no_steps_back():
    steps = Walks.of(frame(), WALKED)
    noise = 1e-12 * np.random.default_rng(1).normal(size=len(steps.frame))
    assert steps.kept(100.0 + noise).violated == 0


def test_all_values_are_visited_and_the_other_columns_are_those_of_a_row():
    rows = frame()
    steps = Walks.of(rows, WALKED)
    assert steps.frame.dtypes.equals(rows.dtypes)
    count, length = steps.shapes["income"]
    assert count == monotone_cards.MOST_ROWS
    first = steps.frame.iloc[:length]
    assert first["income"].tolist() == sorted(rows["income"].dropna(), reverse=True)
    assert (first.drop(columns="income").nunique() == 1).all()


def test_of_many_values_the_ends_are_visited(monkeypatch):
    monkeypatch.setattr(monotone_cards, "MOST_VALUES", 7)
    rows = frame()
    steps = Walks.of(rows, {"free": "increasing"})
    assert steps.shapes == {"free": (monotone_cards.MOST_ROWS, 7)}
    assert steps.frame["free"].min() == rows["free"].min()
    assert steps.frame["free"].max() == rows["free"].max()
