import sys

import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from benchmarks.harness.data import Rows
from benchmarks.studies.cards import faster_risk
from benchmarks.studies.cards.faster_risk import n_lines
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
    scored = faster_risk.fit(train, test)
    assert scored.cpu == 1.5
    # The last feature that varies is the last level of the text.
    assert np.array_equal(scored.scores, 3.0 * (test.X["text"] == "c").to_numpy(dtype=float))
    assert scored.n_lines == 2


def test_a_fit_that_the_limit_ended_is_no_result(fake):
    fake("import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)\n")
    assert faster_risk.fit(table(), table(seed=1)) is None


def test_a_fit_that_fails_raises(fake):
    fake("sys.exit(3)\n")
    with pytest.raises(RuntimeError, match="code 3"):
        faster_risk.fit(table(), table(seed=1))


AGE = NumberBins("age", "number", (18.0, 65.0), (10.0, 40.0, 70.0), (-9.0,), (1, 5, 20, 4, 1))
HOME = LevelBins("home", ("own", "rent"), (3, 0, 20, 10))


def test_lines_join_neighbours_and_levels_with_equal_points():
    # missing, <= 18, 18 to 65, > 65, -9
    age = np.array([0.0, 1.0, 1.0, 2.0, 5.0])
    assert n_lines(AGE, age) == 4
    # missing and other, own, rent
    assert n_lines(HOME, np.array([0.0, 0.0, 1.0, 2.0])) == 3
    assert n_lines(HOME, np.ones(4)) == 0
