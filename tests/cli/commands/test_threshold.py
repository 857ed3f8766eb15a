"""A threshold of any model's scores on the command line, and the commands that use it."""

import numpy as np
import pandas as pd
import pytest

from directrix import OperatingPointClassifier
from directrix.classifiers import threshold_for
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
        frame.to_parquet(f"{name}.parquet")
        frames[name] = frame
    return frames["march"]


def threshold(call, *options, rows="march.parquet"):
    return call("threshold", rows, "--score", "s, raw", *options)


def test_a_threshold_is_that_of_the_function(scored, call):
    found = threshold(call, "-t", "label", "--positive", "bad", *LIMIT, "--json")
    assert found.code == 0, found.err
    (point,) = found.json["operating_points"]
    alone = threshold_for(
        scored["label"], scored["s, raw"], limits={"fpr": 0.05}, guarantee=0.9, positive="bad"
    )
    assert point["threshold"] == alone.threshold
    assert point["expected"]["tpr"] == alone.expected.tpr
    weighted = threshold(
        call, "-t", "label", "--positive", "bad", "-m", "f1", "--weight", "w", "--json"
    )
    best = threshold_for(
        scored["label"], scored["s, raw"], "f1", positive="bad", sample_weight=scored["w"]
    )
    assert weighted.json["operating_points"][0]["threshold"] == best.threshold


def test_a_budget_is_kept_in_the_periods_of_a_column(scored, call):
    scored["week day"] = np.arange(len(scored)) // 100
    scored.to_parquet("march.parquet")
    words = ["-t", "label", "--positive", "bad", "--budget", "5", "--per", "week day"]
    found = threshold(call, *words, "--guarantee", "0.9", "-o", "t.dx", "--json")
    assert found.code == 0, found.err
    alone = OperatingPointClassifier(
        None, positive="bad", limits=Budget(5, per="week day"), guarantee=0.9
    ).fit(scored["s, raw"], scored["label"], **{"week day": scored["week day"]})
    (point,) = found.json["operating_points"]
    assert point["threshold"] == alone.operating_point_.threshold
    assert "at most 5 alerts a week day on 90 % of new week days" in call("show", "t.dx").out
    refused = threshold(call, *words, *LIMIT)
    assert "a budget is a limit by itself" in " ".join(refused.err.replace("│", " ").split())
    assert "needs a confidence" in threshold(call, *words).err


@pytest.mark.usefixtures("scored")
def test_a_number_of_alerts_is_no_limit_but_a_budget(call):
    refused = threshold(call, "-t", "label", "--limit", "alerts=10", "--guarantee", "0.9")
    assert refused.code == 2
    assert "--budget 10 --per day" in " ".join(refused.err.replace("│", " ").split())


@pytest.mark.usefixtures("scored")
def test_other_commands_use_the_file(call):
    assert threshold(call, "-t", "label", "--positive", "bad", *LIMIT, "-o", "t.dx").code == 0
    shown = call("show", "t.dx").out
    assert "kept on new rows: fpr <= 0.05, with confidence 0.9" in shown
    measured = call("evaluate", "t.dx", "april.parquet", "-t", "label")
    assert "FPR at most 5 % is kept on these rows" in measured.out
    for day, rows in (("2026-04-30", "march"), ("2026-05-01", "april")):
        collected = call(
            "collect", "t.dx", f"{rows}.parquet", "-r", "days", "--day", day, "-t", "label"
        )
        assert collected.code == 0, collected.err
    watched = call("watch", "t.dx", "may.parquet", "-r", "days", "--day", "2026-05-02")
    assert watched.code == 0, watched.err
    assert "unchanged" in watched.out
    assert call("predict", "t.dx", "may.parquet", "-o", "out.csv").code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--limit", "fpr"), "'fpr' is not a limit such as fpr=0.01"),
        (("--limit", "fpr=0.05"), "a limit needs a confidence"),
        (("--limit", "fp=0.05", "--guarantee", "0.9"), "limits must map some of"),
        (("-m", "f2@"), "f2@"),
    ],
)
@pytest.mark.usefixtures("scored")
def test_wrong_options_are_named(options, message, call):
    found = threshold(call, "-t", "label", *options)
    assert found.code in (1, 2)
    assert message in found.err


@pytest.mark.usefixtures("scored")
def test_columns_that_are_not_there_are_named(call):
    found = call("threshold", "march.parquet", "--score", "scroe", "-t", "label")
    assert found.code == 1
    assert "no column named 'scroe'" in found.err
    assert "give the column that has the labels" in threshold(call).err
