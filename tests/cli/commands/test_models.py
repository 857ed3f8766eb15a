import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

import pandas as pd
import pyarrow as pa
from pyarrow import csv, parquet

from directrix import MomentClassifier, ScorecardClassifier
from directrix.export import load, save


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_predictions_are_those_of_the_model(call, files, tmp_path, name):
    output = tmp_path / name
    keep = ["--keep", "amount,fraud"]
    result = call("predict", files / "model.dx", files / "tuesday.parquet", *keep, "-o", output)
    assert result.code == 0, result.err
    written = (parquet.read_table if name.endswith("parquet") else csv.read_csv)(output)
    assert written.column_names == ["amount", "fraud", "score", "probability_true", "prediction"]
    model = load(files / "model.dx")
    X = parquet.read_table(files / "tuesday.parquet").to_pandas()[["amount", "age", "clock"]]
    rows = written.to_pandas()
    assert rows["score"].to_numpy() == pytest.approx(model.decision_function(X))
    assert rows["probability_true"].to_numpy() == pytest.approx(model.predict_proba(X)[:, 1])
    assert (rows["prediction"].to_numpy() == model.predict(X)).all()
    assert not list(tmp_path.glob("*.part"))


def test_predictions_are_streamed_to_stdout(call, files):
    result = call("predict", files / "model.dx", files / "tuesday.parquet", "-o", "-")
    lines = result.out.splitlines()
    assert len(lines) == 601
    assert lines[0] == '"score","probability_true","prediction"'
    assert "600 rows" in result.err


def test_counts_as_json(call, files, tmp_path):
    rows = [files / "holes.parquet", "-o", tmp_path / "out.csv"]
    result = call("predict", files / "model.dx", *rows, "--json")
    assert result.code == 0, result.err
    assert result.json.keys() == {"output", "rows", "flagged", "incomplete", "warnings"}
    assert (result.json["rows"], result.json["incomplete"]) == (600, 1)


def test_a_row_that_lacks_a_value_has_an_empty_prediction(call, files):
    result = call("predict", files / "model.dx", files / "holes.parquet", "-o", "-")
    assert result.code == 0
    assert result.out.splitlines()[6] == ",,"
    assert "1 rows lack a value" in result.err


def test_libsvm(call, files, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    save(MomentClassifier("auc").fit(X, X[:, 0] > 0), tmp_path / "m.dx")
    result = call("predict", tmp_path / "m.dx", files / "tuesday.svm", "-o", "-")
    assert len(result.out.splitlines()) == 601


def test_no_rows_write_no_file(call, files, tmp_path):
    empty, output = tmp_path / "empty.parquet", tmp_path / "out.parquet"
    parquet.write_table(parquet.read_table(files / "tuesday.parquet").slice(0, 0), empty)
    result = call("predict", files / "model.dx", empty, "-o", output)
    assert result.code == 1
    assert "no rows" in result.err
    assert not output.exists()


def test_the_probability_is_that_of_the_positive_class(call, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.where(X[:, 0] + rng.normal(size=300) > 0, "bad", "good")
    rows = pd.DataFrame(X, columns=["a", "b"])
    model = MomentClassifier("auc", positive="bad").fit(rows, y)
    save(model, tmp_path / "m.dx")
    parquet.write_table(
        pa.table({"a": X[:, 0], "b": X[:, 1], "score": y}), tmp_path / "rows.parquet"
    )
    output = tmp_path / "out.parquet"
    result = call("predict", tmp_path / "m.dx", tmp_path / "rows.parquet", "-o", output)
    assert result.code == 0, result.err
    written = parquet.read_table(output)
    assert written.column_names == ["score", "probability_bad", "prediction"]
    assert written["probability_bad"].to_numpy() == pytest.approx(model.predict_proba(rows)[:, 0])
    keep = ["--keep", "score", "-o", output, "--force"]
    result = call("predict", tmp_path / "m.dx", tmp_path / "rows.parquet", *keep)
    assert result.code == 2
    assert "'score' is also written by predict" in result.err


def test_a_card_writes_its_points_as_sql_does(call, tmp_path):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"a": rng.normal(size=300), "b": rng.choice(["u", "v"], 300)})
    y = np.where(rows["a"] + rng.normal(size=300) > 0, "bad", "good")
    card = ScorecardClassifier(
        "auc", positive="bad", points="integer", learn_from="counts", max_crosses=0, max_lines=6
    ).fit(rows, y)
    save(card, tmp_path / "card.dx")
    rows.to_parquet(tmp_path / "rows.parquet")
    output = tmp_path / "out.parquet"
    result = call("predict", tmp_path / "card.dx", tmp_path / "rows.parquet", "-o", output)
    assert result.code == 0, result.err
    written = parquet.read_table(output)
    assert written.column_names == ["points", "score", "probability_bad", "prediction"]
    assert (written["points"].to_numpy() == card.predict_points(rows)).all()
