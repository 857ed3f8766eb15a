import pytest

pytest.importorskip("pandas")

import numpy as np
import pandas as pd

from benchmarks.studies.cards import optbinning_tutorial
from benchmarks.studies.cards.optbinning_tutorial import METHODS, RECORD, measure, odd_rows


@pytest.fixture
def table(monkeypatch):
    """Put a small table in the place of german_credit."""
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame(
        {
            "number": rng.integers(0, 40, n),
            "text": pd.array(rng.choice(["a", "b", "c"], n), dtype="string"),
        }
    )
    risk = frame["number"] / 10 + (frame["text"] == "a").to_numpy(dtype=float)
    y = (risk + rng.normal(size=n) > 3.0).to_numpy()
    monkeypatch.setattr(optbinning_tutorial, "table_of", lambda *_: (frame, y))
    return frame


@pytest.mark.parametrize("method", METHODS)
def test_both_libraries_score_odd_rows(method, table):
    if method != "directrix":
        pytest.importorskip("optbinning", reason="a competitor of the group 'rivals'")
    row = dict(zip(RECORD.columns, measure("german_credit", method)[0], strict=True))
    assert float(row["AUC"]) > 0.7
    assert row["card"]
    assert (row["missing"], row["infinite"], row["unseen"]) == ("yes",) * 3
    assert len(odd_rows(table)) == 3


def test_a_card_that_fails_or_gives_no_number_is_not_said_to_score():
    class Card:
        def predict_proba(self, rows):
            if rows["x"].isna().any():
                raise OverflowError
            return np.full((len(rows), 2), np.nan)

    rows = pd.DataFrame({"x": [1.0, 2.0]})
    answers = [optbinning_tutorial._is_scored(Card(), odd) for odd in odd_rows(rows)]
    assert answers == ["OverflowError", "no number", ""]
