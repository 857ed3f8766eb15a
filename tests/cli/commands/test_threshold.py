"""A threshold of any model's scores on the command line, and the commands that use it."""

import numpy as np
import pandas as pd
import pytest

from directrix import OperatingPointClassifier
from directrix.estimators import threshold_for
from directrix.metrics import Budget

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

LIMIT = ("--limit", "fpr=0.05", "--guarantee", "0.9")


@pytest.fixture
def scored(tmp_path, monkeypatch):
    """Write files of scores with labels and weights, and return the rows of the first."""
    monkeypatch.chdir(tmp_path)
    frames = {}
    for name, seed in (("march", 0), ("april", 1), ("may", 2)):
        rng = np.random.default_rng(seed)
        fraud = rng.random(3000) < 0.1
        frame = pd.DataFrame({"s, raw": rng.normal(size=3000) + 2 * fraud})
        frame["label"] = np.where(fraud, "bad", "good")
        frame["w"] = rng.integers(1, 4, 3000)
        frame["week day"] = np.arange(3000) // 100
        frame.to_parquet(f"{name}.parquet")
        frames[name] = frame
    return frames["march"]


def threshold(call, *options):
    words = ["threshold", "march.parquet", "--score", "s, raw", "-t", "label", "--positive", "bad"]
    result = call(*words, *options)
    assert result.code == 0, result.err
    return result


def test_a_threshold_is_that_of_the_function(scored, call):
    y, scores = scored["label"], scored["s, raw"]
    point = threshold(call, *LIMIT, "--json").json["operating_point"]
    alone = threshold_for(y, scores, limits={"fpr": 0.05}, guarantee=0.9, positive="bad")
    assert point["threshold"] == alone.threshold
    assert point["expected"]["tpr"] == alone.expected.tpr
    weighted = threshold(call, "-m", "f1", "--weight", "w", "--json").json["operating_point"]
    best = threshold_for(y, scores, "f1", positive="bad", sample_weight=scored["w"])
    assert weighted["threshold"] == best.threshold


def test_a_budget_is_kept_in_the_periods_of_a_column(scored, call):
    words = ["--budget", "5", "--per", "week day", "--guarantee", "0.9"]
    point = threshold(call, *words, "-o", "t.dx", "--json").json["operating_point"]
    alone = OperatingPointClassifier(
        None, positive="bad", limits=Budget(5, per="week day"), guarantee=0.9
    ).fit(scored["s, raw"], scored["label"], **{"week day": scored["week day"]})
    assert point["threshold"] == alone.operating_point_.threshold
    assert "at most 5 alerts a week day on 90 % of new week days" in call("show", "t.dx").out


@pytest.mark.usefixtures("scored")
def test_other_commands_use_the_file(call):
    threshold(call, *LIMIT, "-o", "t.dx")
    assert "kept on new rows: fpr <= 0.05, with confidence 0.9" in call("show", "t.dx").out
    measured = call("evaluate", "t.dx", "april.parquet", "-t", "label")
    assert "FPR at most 5 % is kept on these rows" in measured.out
    reference = ("-r", "march.parquet", "-r", "april.parquet")
    watched = call("watch", "t.dx", "may.parquet", *reference, "-t", "label")
    assert watched.code == 0, watched.err
    assert "unchanged" in watched.out
    assert call("predict", "t.dx", "may.parquet", "-o", "out.csv").code == 0
