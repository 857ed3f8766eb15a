import pytest

pytest.importorskip("pandas")

import numpy as np
import pandas as pd

from benchmarks.harness.data import Rows
from benchmarks.harness.record import Record
from benchmarks.rivals.base import Rival
from benchmarks.rivals.tables import ExplainableBoosting, LightGBM
from benchmarks.studies.cards import monotone_cards
from benchmarks.studies.cards.monotone_cards import (
    DEMANDS,
    METHODS,
    RECORD,
    Method,
    Results,
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
