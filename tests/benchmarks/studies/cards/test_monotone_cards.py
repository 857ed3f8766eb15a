import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import Rival
from benchmarks.rivals.tables import ExplainableBoosting, LightGBM
from benchmarks.studies.cards import monotone_cards
from benchmarks.studies.cards.folds import table_of
from benchmarks.studies.cards.monotone_cards import (
    DEMANDS,
    DOWN,
    RECORD,
    UP,
    Method,
    Walks,
    quality,
    signs,
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
