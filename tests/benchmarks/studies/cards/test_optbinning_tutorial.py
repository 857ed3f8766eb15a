import pytest

pytest.importorskip("pandas")

import numpy as np
import pandas as pd

from benchmarks.harness.record import Record
from benchmarks.studies.cards import optbinning_tutorial
from benchmarks.studies.cards.optbinning_tutorial import METHODS, RECORD, body, measure, odd_rows


def example(X, path):
    """Say what a function is."""
    import json

    path.write_text(json.dumps(X))
    return path


def test_body_is_the_script_without_signature_docstring_and_return():
    assert body(example) == ["import json", "", "path.write_text(json.dumps(X))"]


@pytest.mark.parametrize("method", ["optbinning", "directrix"])
def test_shown_code_is_a_script(method):
    compile("\n".join(body(METHODS[method])), method, "exec")


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


def test_report_shows_both_cards_and_the_ratio_of_cpu(tmp_path):
    record = Record(tmp_path / "record.csv", RECORD.columns, RECORD.key)
    answers = ("yes", "yes", "")
    record.write(
        [
            ("german_credit", "optbinning", 2.0, 0.5, 0.8, *answers, "theirs\n1", "abc"),
            ("german_credit", "directrix", 3.0, 0.6, 0.9, *answers, "ours\n2", "abc"),
        ]
    )
    text = "\n".join(optbinning_tutorial.lines(record.rows()))
    assert "| directrix | 0.6000 | 0.9000 | 1.50 | yes | yes | no texts |" in text
    assert "theirs\n1\n" in text
    assert "ours\n2\n" in text
