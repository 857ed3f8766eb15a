import pytest

pytest.importorskip("pandas")

import numpy as np
import pandas as pd

from benchmarks.studies.cards import monotone_cards as walks
from benchmarks.studies.cards.monotone_cards import Walks

RANK = {"A": 0.0, "B": 1.0, "C": 2.0}
DIRECTIONS = {"income": "decreasing", "delay": "increasing", "grade": ["A", "B", "C"]}


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
    steps = Walks.of(frame(), DIRECTIONS)
    assert steps.kept(good(steps.frame)) == (0, 0.0)


@pytest.mark.parametrize("column", DIRECTIONS)
def test_one_column_the_other_way_is_one_broken_direction(column):
    steps = Walks.of(frame(), DIRECTIONS)
    rows = steps.frame
    against = rows["grade"].map(RANK) if column == "grade" else rows[column].fillna(0.0)
    sign = 3.0 if column == "income" else -3.0
    kept = steps.kept(good(rows) + sign * against.to_numpy(dtype=float))
    assert kept.violated == 1
    assert kept.wrong_share == pytest.approx(1 / 3)


def test_a_direction_that_is_broken_for_some_rows_only_is_broken():
    steps = Walks.of(frame(), DIRECTIONS)
    rare = steps.frame["free"] > frame()["free"].sort_values().iloc[-5]
    kept = steps.kept(good(steps.frame) - 3.0 * np.where(rare, steps.frame["delay"], 0.0))
    assert kept.violated == 1
    assert 0.0 < kept.wrong_share < 0.1


def test_ties_and_rounding_are_no_steps_back():
    steps = Walks.of(frame(), DIRECTIONS)
    noise = 1e-12 * np.random.default_rng(1).normal(size=len(steps.frame))
    assert steps.kept(100.0 + noise).violated == 0


def test_all_values_are_visited_and_the_other_columns_are_those_of_a_row():
    rows = frame()
    steps = Walks.of(rows, DIRECTIONS)
    assert steps.frame.dtypes.equals(rows.dtypes)
    count, length = steps.shapes["income"]
    assert count == walks.MOST_ROWS
    first = steps.frame.iloc[:length]
    assert first["income"].tolist() == sorted(rows["income"].dropna(), reverse=True)
    assert (first.drop(columns="income").nunique() == 1).all()


def test_of_many_values_the_ends_are_visited(monkeypatch):
    monkeypatch.setattr(walks, "MOST_VALUES", 7)
    rows = frame()
    steps = Walks.of(rows, {"free": "increasing"})
    assert steps.shapes == {"free": (walks.MOST_ROWS, 7)}
    assert steps.frame["free"].min() == rows["free"].min()
    assert steps.frame["free"].max() == rows["free"].max()
