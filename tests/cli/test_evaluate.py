import numpy as np
import pytest
from sklearn import metrics

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

from pyarrow import csv, parquet

from directrix import MomentClassifier
from directrix.export import load, save
from directrix.metrics import RecallAtFPR


@pytest.fixture
def tuesday(files):
    rows = parquet.read_table(files / "tuesday.parquet").to_pandas()
    return rows[["amount", "age", "clock"]], rows["fraud"].to_numpy()


def test_it_measures_exactly(call, files, tuesday):
    done = call("evaluate", files / "model.dx", files / "tuesday.parquet", "-t", "fraud", "--json")
    assert done.code == 0, done.err
    X, y = tuesday
    model = load(files / "model.dx")
    scores, predicted = model.decision_function(X), model.predict(X)
    found = {name: own["value"] for name, own in done.json["at_threshold"].items()}
    assert found["error"] == pytest.approx(1 - metrics.accuracy_score(y, predicted))
    assert found["AUC"] == pytest.approx(metrics.roc_auc_score(y, scores))
    assert found["recall"] == pytest.approx(metrics.recall_score(y, predicted))
    assert found["FPR"] == pytest.approx(predicted[~y].mean())
    assert found["precision"] == pytest.approx(metrics.precision_score(y, predicted))
    assert found["F1"] == pytest.approx(metrics.f1_score(y, predicted))
    proba = model.predict_proba(X)[:, 1]
    assert found["Brier score"] == pytest.approx(metrics.brier_score_loss(y, proba))
    assert done.json["metric"]["value"] == pytest.approx(RecallAtFPR(0.1).score(y, scores))
    for own in (*done.json["at_threshold"].values(), done.json["metric"]):
        assert own["low"] < own["value"] < own["high"]


def test_another_metric_and_words(call, files):
    done = call(
        "evaluate", files / "model.dx", files / "tuesday.csv", "-t", "fraud", "--metric", "f1"
    )
    assert done.code == 0
    assert "600 rows" in done.out
    assert "F1" in done.out
    assert "\x1b" not in done.out + done.err


def test_columns_are_taken_by_name(call, files, tmp_path, tuesday):
    X, y = tuesday
    table = parquet.read_table(files / "tuesday.parquet")
    turned = table.select(["fraud", "clock", "age", "amount"])
    parquet.write_table(turned, tmp_path / "turned.parquet")
    answers = [
        call("evaluate", files / "model.dx", path, "-t", "fraud", "--json").json["metric"]
        for path in (files / "tuesday.parquet", tmp_path / "turned.parquet")
    ]
    assert answers[0] == answers[1]
    assert len(y) == len(X)


def test_more_than_two_classes(call, files, tmp_path):
    options = ["--features", "amount,age,clock", "-t", "three", "--time-budget", 0.3]
    done = call("fit", files / "rich.parquet", *options, "-o", tmp_path / "m.dx")
    assert done.code == 0, done.err
    found = call("evaluate", tmp_path / "m.dx", files / "rich.parquet", "-t", "three", "--json")
    assert 0.5 < found.json["at_threshold"]["error"]["value"] < 0.8
    assert "recall of 2" in found.json["at_threshold"]
    rows = call("predict", tmp_path / "m.dx", files / "rich.parquet", "-o", "-").out.splitlines()
    assert rows[0].replace('"', "").split(",")[-2:] == ["probability_2", "prediction"]


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_predict_writes_what_the_model_says(call, files, tmp_path, tuesday, name):
    output = tmp_path / name
    keep = ["--keep", "amount,fraud"]
    done = call("predict", files / "model.dx", files / "tuesday.parquet", *keep, "-o", output)
    assert done.code == 0, done.err
    written = (parquet.read_table if name.endswith("parquet") else csv.read_csv)(output)
    assert written.column_names == ["amount", "fraud", "score", "probability", "prediction"]
    model, (X, _) = load(files / "model.dx"), tuesday
    rows = written.to_pandas()
    assert rows["score"].to_numpy() == pytest.approx(model.decision_function(X))
    assert rows["probability"].to_numpy() == pytest.approx(model.predict_proba(X)[:, 1])
    assert (rows["prediction"].to_numpy() == model.predict(X)).all()
    assert not list(tmp_path.glob("*.part"))


def test_predict_streams_to_stdout(call, files):
    done = call("predict", files / "model.dx", files / "tuesday.parquet", "-o", "-")
    lines = done.out.splitlines()
    assert len(lines) == 601
    assert lines[0] == '"score","probability","prediction"'
    assert "600 rows" in done.err


def test_rows_that_lack_a_value_are_left_open(call, files):
    done = call("predict", files / "model.dx", files / "holes.parquet", "-o", "-")
    assert done.code == 0
    assert done.out.splitlines()[6] == ",,"
    assert "1 rows lack a value" in done.err


def test_predict_libsvm(call, files, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    save(MomentClassifier("auc").fit(X, X[:, 0] > 0), tmp_path / "m.dx")
    done = call("predict", tmp_path / "m.dx", files / "tuesday.svm", "-o", "-")
    assert len(done.out.splitlines()) == 601


def test_predict_of_no_rows_writes_no_file(call, files, tmp_path):
    empty, output = tmp_path / "empty.parquet", tmp_path / "out.parquet"
    parquet.write_table(parquet.read_table(files / "tuesday.parquet").slice(0, 0), empty)
    done = call("predict", files / "model.dx", empty, "-o", output)
    assert done.code == 1
    assert "no rows" in done.err
    assert not output.exists()
