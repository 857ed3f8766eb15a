import sys

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from benchmarks.harness.data import Rows
from benchmarks.studies.cards import faster_risk, integer_cards
from benchmarks.studies.cards.integer_cards import (
    INTEGER,
    RECORD,
    ROUNDED,
    UNROUNDED,
    CellPoints,
    ScoredCard,
)
from directrix import Binner
from directrix.tables import LevelBins, NumberBins


def table(n=500, seed=0):
    """Return rows of which two columns of three tell the classes apart."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "number": rng.normal(size=n),
            "text": pd.array(rng.choice(["a", "b", "c"], n), dtype="string"),
        }
    )
    frame.loc[::9, "number"] = np.nan
    risk = 2.0 * frame["number"].fillna(0.5) + 2.0 * (frame["text"] == "a").to_numpy(dtype=float)
    return Rows(frame, (risk + rng.normal(size=n) > 1.0).to_numpy())


def card_of(rows, spans):
    """Return points of the bins of a table whose columns span this much."""
    binner = Binner(max_bins=8).fit(rows.X)
    points = [
        np.linspace(0.0, span, bins.n_cells) for bins, span in zip(binner.bins_, spans, strict=True)
    ]
    return CellPoints(binner.bins_, points)


def test_rounded_logistic_has_our_columns_and_our_largest_points():
    train, test = table(), table(seed=1)
    scored = integer_cards.fit_rounded(train, test, card_of(train, (0.0, 20.0, 7.0)))
    assert [bins.name for bins in scored.points.bins] == ["number", "text"]
    assert max(scored.points.spans()) == 20.0
    assert (scored.scores == np.round(scored.scores)).all()
    assert integer_cards.METRICS["AUC"].score(test.y, scored.scores) > 0.85


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Put a script in the place of FasterRisk's; return a function that sets what it does."""
    script = tmp_path / "fit.py"
    monkeypatch.setattr(faster_risk, "_SCRIPT", script)
    monkeypatch.setenv(faster_risk.VARIABLE, sys.executable)
    return lambda text: script.write_text("import sys, numpy as np\n" + text)


def test_coefficients_come_back_to_their_features(fake):
    fake(
        "given = np.load(sys.argv[1])\n"
        "assert given['X'].std(axis=0).all() and given['group'].max() < len(given['group'])\n"
        "best = np.arange(given['X'].shape[1]) == given['X'].shape[1] - 1\n"
        "np.savez(sys.argv[2], coefficients=3.0 * best, cpu=1.5)\n"
    )
    train, test = table(), table(seed=1)
    scored = integer_cards.fit_faster_risk(train, test, faster_risk.Settings(10))
    assert scored.cpu == 1.5
    # The last feature that varies is the last level of the text.
    assert np.array_equal(scored.scores, 3.0 * (test.X["text"] == "c").to_numpy(dtype=float))
    assert scored.points.used == [2]


def test_a_fit_that_the_limit_ended_leaves_empty_cells(fake):
    fake("import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)\n")
    train, test = table(), table(seed=1)
    scored = integer_cards.fit_faster_risk(train, test, faster_risk.Settings(10))
    assert scored is None
    assert integer_cards.cells(scored, test.y)[1:] == ("",) * 5


def test_a_fit_that_fails_is_no_result(fake):
    fake("sys.exit(3)\n")
    with pytest.raises(RuntimeError, match="code 3"):
        integer_cards.fit_faster_risk(table(), table(seed=1), faster_risk.Settings(10))


def test_a_task_fits_what_it_lacks_and_no_more(monkeypatch):
    train, test = table(), table(seed=1)
    asked = []

    def ours(train, test, points):
        asked.append(points)
        return ScoredCard(test.X["noise"].to_numpy(), card_of(train, (0.0, 20.0, 7.0)), 1.0)

    monkeypatch.setattr(integer_cards, "split", lambda *_: (train, test))
    monkeypatch.setattr(integer_cards, "fit_ours", ours)
    rows = integer_cards.measure(0, "german_credit", [(ROUNDED,)])
    assert [row[:3] for row in rows] == [("german_credit", 0, ROUNDED)]
    assert asked == ["integer"]  # its columns, and its largest points
    rows = integer_cards.measure(0, "german_credit", [(UNROUNDED,), (INTEGER,)])
    assert [row[2] for row in rows] == [UNROUNDED, INTEGER]
    assert all(len(row) == len(RECORD.columns) for row in rows)


AGE = NumberBins("age", "number", (18.0, 65.0), (10.0, 40.0, 70.0), (-9.0,), (1, 5, 20, 4, 1))
HOME = LevelBins("home", ("own", "rent"), (3, 0, 20, 10))


def test_lines_join_neighbours_and_levels_with_equal_points():
    # missing, <= 18, 18 to 65, > 65, -9
    age = np.array([0.0, 1.0, 1.0, 2.0, 5.0])
    assert CellPoints((AGE,), [age]).n_lines == 4
    # missing and other, own, rent
    assert CellPoints((HOME,), [np.array([0.0, 0.0, 1.0, 2.0])]).n_lines == 3
    assert CellPoints((AGE, HOME), [age, np.ones(4)]).n_lines == 4
