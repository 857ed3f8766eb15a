"""The commands ``evaluate``, ``predict``, ``export`` and ``show``."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

from pyarrow import csv, parquet

from directrix import MomentClassifier, Moments
from directrix.estimators import evaluate
from directrix.export import load, save, to_json, to_pmml, to_python, to_sql


@pytest.fixture
def tuesday(files):
    rows = parquet.read_table(files / "rich.parquet").to_pandas()
    return rows[["amount", "age", "clock"]], rows["fraud"].to_numpy(), rows


@pytest.mark.every_case
@pytest.mark.parametrize("model", ["model.dx", "card.dx"])
def test_values_are_those_of_the_library(call, files, tuesday, model):
    X, y, rows = tuesday
    scores = load(files / model).decision_function(X)
    roles = {"sample_weight": rows["weight"], "segment": rows["country"]}
    expected = evaluate(y, scores, "recall@fpr=0.1", threshold=0.0, **roles)
    words = ["evaluate", files / model, files / "rich.parquet", "-t", "fraud"]
    words += ["--weight", "weight", "--segment", "country"]
    assert call(*words).out == f"{expected}\n"
    values = call(*words, "--json").json
    assert values["measures"]["recall"] == pytest.approx(expected["recall"]._asdict())
    assert values["segments"]["rates"][0]["segment"] == "bad"
    assert str(evaluate(y, scores, "f1", threshold=0.0)) in call(*words[:5], "-m", "f1").out


@pytest.mark.parametrize("name", ["out.parquet", "out.csv"])
def test_predictions_are_those_of_the_model(call, files, tmp_path, tuesday, name):
    output, (X, _, _) = tmp_path / name, tuesday
    keep = ["--keep", "amount,fraud"]
    result = call("predict", files / "model.dx", files / "rich.parquet", *keep, "-o", output)
    assert result.code == 0, result.err
    written = (parquet.read_table if name.endswith("parquet") else csv.read_csv)(output)
    assert written.column_names == ["amount", "fraud", "score", "probability_true", "prediction"]
    model, rows = load(files / "model.dx"), written.to_pandas()
    assert rows["score"].to_numpy() == pytest.approx(model.decision_function(X))
    assert rows["probability_true"].to_numpy() == pytest.approx(model.predict_proba(X)[:, 1])
    assert (rows["prediction"].to_numpy() == model.predict(X)).all()


@pytest.mark.parametrize("kind", ["object", "category"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_no_text_of_a_csv_file_is_a_formula(call, tmp_path, suffix, kind):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"x": rng.normal(size=60), "name": ["=1+1", "-2", "+a", "@b", "a=b", None] * 10}
    ).astype({"name": kind})
    model = MomentClassifier(positive="=yes").fit(X[["x"]], np.where(X["x"] > 0, "=yes", "no"))
    save(model, tmp_path / "m.dx")
    X.to_parquet(tmp_path / "rows.parquet")
    output = tmp_path / f"out.{suffix}"
    words = [tmp_path / "m.dx", tmp_path / "rows.parquet", "--keep", "name", "-o", output]
    assert call("predict", *words).code == 0
    written = pd.read_csv(output) if suffix == "csv" else pd.read_parquet(output)
    quote = "'" if suffix == "csv" else ""
    names = [f"{quote}=1+1", f"{quote}-2", f"{quote}+a", f"{quote}@b", "a=b"]
    assert written["name"].tolist()[:5] == names
    assert set(written["prediction"]) == {f"{quote}=yes", "no"}


def test_a_row_that_lacks_a_value_has_an_empty_prediction(call, files, tmp_path):
    result = call("predict", files / "model.dx", files / "holes.parquet", "-o", "-")
    assert result.code == 0, result.err
    lines = result.out.splitlines()
    assert lines[0] == '"score","probability_true","prediction"'
    assert (len(lines), lines[6]) == (601, ",,")
    assert "1 rows lack a value" in result.err
    rows = [files / "holes.parquet", "-o", tmp_path / "out.csv"]
    values = call("predict", files / "model.dx", *rows, "--json").json
    assert values.keys() == {"output", "rows", "flagged", "incomplete", "warnings"}
    assert (values["rows"], values["incomplete"]) == (600, 1)
    card = call("predict", files / "card.dx", files / "holes.parquet", "-o", "-")
    assert "lack" not in card.err


def test_no_rows_write_no_file(call, files, tmp_path):
    empty, output = tmp_path / "empty.parquet", tmp_path / "out.parquet"
    parquet.write_table(parquet.read_table(files / "tuesday.parquet").slice(0, 0), empty)
    result = call("predict", files / "model.dx", empty, "-o", output)
    assert result.code == 1
    assert "no rows" in result.err
    assert not output.exists()


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("suffix", "writer"),
    [("json", to_json), ("py", to_python), ("sql", to_sql), ("pmml", to_pmml)],
)
def test_the_suffix_chooses_the_format(call, files, tmp_path, suffix, writer):
    output = tmp_path / f"card.{suffix}"
    result = call("export", files / "card.dx", "-o", output)
    assert result.code == 0, result.err
    expected = str(writer(load(files / "card.dx"))).rstrip()
    assert output.read_text(encoding="utf-8").rstrip() == expected
    named = {"py": "python"}.get(suffix, suffix)
    assert call("export", files / "card.dx", "--to", named).out.rstrip() == expected


def test_sql_of_a_table(call, files):
    expected = to_sql(load(files / "model.dx"), dialect="postgres").select("shop.rows", keep=["id"])
    options = ["--to", "sql", "--dialect", "postgres", "--table", "shop.rows", "--keep", "id"]
    assert call("export", files / "model.dx", *options).out.rstrip() == expected


def test_binary_formats(call, files, tmp_path, tuesday):
    model, (X, _, _) = tmp_path / "again.dx", tuesday
    assert call("export", files / "model.dx", "-o", model).code == 0
    again, before = load(model).decision_function(X), load(files / "model.dx").decision_function(X)
    assert np.array_equal(again, before)
    onnx = pytest.importorskip("onnx")
    assert call("export", model, "-o", tmp_path / "m.onnx").code == 0
    assert [value.name for value in onnx.load(tmp_path / "m.onnx").graph.input] == ["X"]


def test_a_summary_and_a_model_are_shown(call, files):
    result = call("show", files / "monday.moments")
    assert result.out.startswith("600 rows; 3 features; classes {False: ")
    values = call("show", files / "monday.moments", "--json").json
    moments = Moments.load(files / "monday.moments")
    assert values["moments"]["True"]["mean"] == moments.positive.mean.tolist()
    result = call("show", files / "model.dx")
    assert result.out.startswith("MomentClassifier of the classes False, True; positive is True")
    values = call("show", files / "model.dx", "--json").json
    assert (values["kind"], len(values["coef"][0])) == ("model", 3)
    measured = load(files / "model.dx").operating_point_.empirical
    assert values["operating_point"]["empirical"]["fpr"] == measured.fpr
