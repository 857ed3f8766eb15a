import json
import shutil

import numpy as np
import pandas as pd
import pytest
from monitored_days import NAMES, Days

from directrix import MomentClassifier, OperatingPointClassifier, ScorecardClassifier
from directrix.export import save
from directrix.monitoring import SummaryStore

pytest.importorskip("typer")
pytest.importorskip("pyarrow")


@pytest.fixture(scope="module", params=["line", "card"])
def written(request, tmp_path_factory):
    """A folder with a model and files of days."""
    folder = tmp_path_factory.mktemp("days")
    day = Days(0)
    X, y = day(3000, 0.1)
    frame = pd.DataFrame(X, columns=NAMES)
    if request.param == "line":
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
def folder(written, tmp_path, monkeypatch):
    """A copy of these files in a folder of the test, which is the current one."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(written, tmp_path, dirs_exist_ok=True)
    return tmp_path


def collect(call, k, *options):
    command = ("collect", "m.dx", f"{k}.parquet", "-r", "store", "--day", f"2026-01-{k:02d}")
    return call(*command, *options)


def test_days_are_collected_and_watched(folder, call):
    pytest.importorskip("matplotlib", reason="pages have charts")
    for k in range(1, 9):
        assert collect(call, k, "-t", "label").code == 0
    assert "was added before" in collect(call, 8, "-t", "label").out
    store = SummaryStore("store")
    assert len(store.days("scores")) == 8
    watch = ("watch", "m.dx", "9.parquet", "-r", "store", "--day", "2026-01-09", "--keep")
    result = call(*watch, "-o", "page.html", "--json-output", "day.json")
    assert result.code == 0
    assert result.out.startswith("2026-01-09: 1,500 rows; reference 12,000 rows")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "<h1>2026-01-09: " in page
    assert "data:image/png" in page
    values = json.loads((folder / "day.json").read_text(encoding="utf-8"))
    assert not values["alarm"]
    assert store.days("unlabelled-scores") == store.days()[-1:]
    drifted = call("watch", "m.dx", "10.parquet", "-r", "store", "--day", "2026-01-10", "--json")
    assert drifted.code == 3
    assert json.loads(drifted.out)["verdict"] == "drift"


def test_a_labelled_day_checks_promises(folder, call):
    for k in range(1, 9):
        collect(call, k, "-t", "label")
    watch = ("watch", "m.dx", "9.parquet", "-r", "store", "--day", "2026-01-09", "-t", "label")
    assert "recall 0." in call(*watch).out
    assert (folder / "store").is_dir()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--day", "yesterday"), "not a date such as 2026-01-31"),
        (("--alarm-rate", "2"), "must lie between 0 and 1"),
    ],
)
def test_what_is_wrong_is_said(folder, call, options, message):
    result = call("watch", "m.dx", "9.parquet", "-r", "store", *options)
    assert result.code in (1, 2)
    assert message in " ".join(result.err.replace("│", " ").split())
    assert (folder / "m.dx").exists()


@pytest.mark.usefixtures("folder")
def test_labels_that_come_later_do_not_count_rows_twice(call):
    collect(call, 1, "-t", "label")
    assert collect(call, 2).code == 0
    result = collect(call, 2, "-t", "label")
    assert "labels added to rows that had none" in result.out
    store = SummaryStore("store")
    assert store.get("2026-01-02", "unlabelled-scores").weight.sum() == 0
    assert store.get("2026-01-02", "scores").weight.sum() == 1500
    collect(call, 2, "-t", "label")  # a second time: refused, and nothing is counted twice
    assert store.get("2026-01-02", "scores").weight.sum() == 1500


@pytest.mark.usefixtures("folder")
def test_a_store_without_reference_days_says_how_to_add_some(call):
    watch = ("watch", "m.dx", "9.parquet", "-r", "store", "--day", "2026-01-09")
    for _ in range(2):  # an empty store, and one whose day is not before this one
        result = call(*watch)
        assert result.code == 2
        assert "no labelled days until 2026-01-08: add some with directrix collect" in " ".join(
            result.err.replace("│", " ").split()
        )
        collect(call, 9, "-t", "label")


def test_missing_numbers_are_named(folder, call):
    frame = pd.read_parquet("1.parquet")
    frame.loc[3, "age"] = np.nan
    frame.to_parquet("1.parquet")
    result = collect(call, 1, "-t", "label")
    card = result.code == 0
    assert card or "age" in result.err
    assert (folder / "store").exists()


@pytest.mark.usefixtures("folder")
def test_rows_without_labels_have_their_weights(call):
    frame = pd.read_parquet("1.parquet")
    frame.assign(w=np.where(np.arange(len(frame)) < 500, 0.0, 2.0)).to_parquet("1.parquet")
    assert collect(call, 1, "--weight", "w").code == 0
    assert SummaryStore("store").get("2026-01-01", "unlabelled-scores").weight.tolist() == [2000.0]


def test_scores_of_any_model_are_collected_and_watched(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)

    def day(n):
        y = rng.random(n) < 0.1
        return pd.DataFrame({"score": 100 * rng.beta(1 + 3 * y, 4), "fraud": y.astype(int)})

    rows = day(3000)
    model = OperatingPointClassifier(None, "recall@fpr=0.05").fit(rows["score"], rows["fraud"])
    save(model, "m.dx")
    for k in range(1, 4):
        day(1500).to_parquet(f"{k}.parquet")
        if k < 3:
            assert collect(call, k, "-t", "fraud", "--features", "score").code == 0
    watch = ("watch", "m.dx", "3.parquet", "-r", "store", "--day", "2026-01-03")
    result = call(*watch, "--features", "score", "-t", "fraud", "--json")
    alerts = (pd.read_parquet("3.parquet")["score"] > model.operating_point_.threshold).sum()
    assert json.loads(result.out)["alerts"]["observed"] == alerts
    shown = call("show", "m.dx")
    assert f"positive if its score > {model.operating_point_.threshold:.6g}" in shown.out
