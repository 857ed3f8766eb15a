import json

import pandas as pd
import pytest
from monitored_days import NAMES, Days

from directrix import MomentClassifier, ScorecardClassifier
from directrix.export import load, save
from directrix.monitoring import Monitor, summarize_day

pytest.importorskip("typer")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module", params=["linear", "card"])
def folder(request, tmp_path_factory):
    """Return a folder with a model and files of days."""
    folder = tmp_path_factory.mktemp("days")
    day = Days(0)
    X, y = day(3000, 0.1)
    frame = pd.DataFrame(X, columns=NAMES)
    if request.param == "linear":
        model = MomentClassifier("recall@fpr=0.05", positive="bad")
    else:
        options = {"max_crosses": 0, "max_lines": None, "warn_baseline": False, "cv": 3}
        model = ScorecardClassifier("recall@fpr=0.05", positive="bad", **options)
    save(model.fit(frame, y), folder / "m.dx")
    for k in range(1, 11):
        X, y = day(1500, 0.1, drift=0.5 if k == 10 else 0.0)
        pd.DataFrame(X, columns=NAMES).assign(label=y).to_parquet(folder / f"{k}.parquet")
    return folder


@pytest.fixture
def watch(call, folder):
    """Return a function that checks a file against the first eight days."""

    def run(name, *words):
        return call("watch", folder / "m.dx", folder / name, "-r", folder / "[1-8].parquet", *words)

    return run


def test_a_check_is_that_of_the_library(folder, watch):
    result = watch("9.parquet", "-t", "label", "--json")
    assert result.code == 0, result.err
    model = load(folder / "m.dx")
    days = []
    for k in range(1, 10):
        frame = pd.read_parquet(folder / f"{k}.parquet")
        days.append(summarize_day(model, frame[NAMES], frame["label"]))
    check = Monitor.of_days(model, days[:-1]).check(days[-1])
    assert json.loads(result.out)["p_value"] == pytest.approx(check.p_value)
    shown = watch("9.parquet", "-t", "label").out
    assert shown.startswith("day: 1,500 rows; reference 12,000 rows")
    assert "recall 0." in shown


def test_a_drift_of_rows_without_labels_is_an_alarm(folder, watch, tmp_path):
    frame = pd.read_parquet(folder / "10.parquet").drop(columns="label")
    frame.to_parquet(tmp_path / "today.parquet")
    drifted = watch(tmp_path / "today.parquet", "-t", "label", "--json")
    assert drifted.code == 3
    assert json.loads(drifted.out)["verdict"] == "drift"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-t", "label", "--alarm-rate", "2"), "must lie between 0 and 1"),
        (("-t", "lable"), "did you mean 'label'"),
        ((), "--target"),
    ],
)
def test_errors_name_what_is_wrong(watch, words, message):
    result = watch("9.parquet", *words)
    assert result.code in (1, 2)
    assert message in " ".join(result.err.replace("│", " ").split())
