import numpy as np
import pytest

pytest.importorskip("typer")

from directrix import ScorecardClassifier
from directrix.export import load, save, to_json, to_pmml, to_python, to_sql
from directrix.tables import BinCounts, Binner


@pytest.mark.parametrize("to", ["json", "python"])
def test_text_is_that_of_the_library(call, files, to):
    expected = {"json": to_json, "python": to_python}[to](load(files / "model.dx"))
    result = call("export", files / "model.dx", "--to", to)
    assert result.code == 0, result.err
    assert result.out.rstrip() == expected.rstrip()


def test_sql_of_a_table(call, files, tmp_path):
    expected = to_sql(load(files / "model.dx"), dialect="postgres").select("shop.rows", keep=["id"])
    options = ["--to", "sql", "--dialect", "postgres", "--table", "shop.rows", "--keep", "id"]
    assert call("export", files / "model.dx", *options).out.rstrip() == expected
    result = call("export", files / "model.dx", *options, "-o", tmp_path / "a.sql")
    assert result.out == ""
    assert (tmp_path / "a.sql").read_text(encoding="utf-8").rstrip() == expected


def test_onnx(call, files, tmp_path):
    onnx = pytest.importorskip("onnx")
    output = tmp_path / "m.onnx"
    assert call("export", files / "model.dx", "--to", "onnx", "-o", output).code == 0
    assert [value.name for value in onnx.load(output).graph.input] == ["X"]


@pytest.mark.parametrize("dtype", [None, "float64", "float32"])
def test_onnx_has_the_given_type(call, files, tmp_path, dtype):
    onnx = pytest.importorskip("onnx")
    output = tmp_path / "m.onnx"
    more = [] if dtype is None else ["--dtype", dtype]
    result = call("export", files / "model.dx", "--to", "onnx", "-o", output, *more)
    assert result.code == 0, result.err
    (value,) = onnx.load(output).graph.input
    elem_type = onnx.TensorProto.FLOAT if dtype == "float32" else onnx.TensorProto.DOUBLE
    assert value.type.tensor_type.elem_type == elem_type


def test_pmml_of_a_scorecard(call, files, tmp_path):
    rows = [[k, "a" if k % 3 else "b"] for k in range(30)]
    counts = BinCounts.of(Binner(min_rows=2).fit(rows), rows, [k % 2 for k in range(30)])
    save(ScorecardClassifier(max_lines=None).fit_summary(counts), tmp_path / "card.dx")
    expected = to_pmml(load(tmp_path / "card.dx"), columns=["age", "home"])
    result = call("export", tmp_path / "card.dx", "--to", "pmml", "--features", "age,home")
    assert result.code == 0, result.err
    assert result.out.rstrip() == expected.rstrip()
    refused = call("export", files / "model.dx", "--to", "pmml")
    assert refused.code != 0
    assert "to_pmml writes scorecards" in refused.err


@pytest.mark.filterwarnings("ignore::UserWarning")  # a small card is no better than a line
def test_sql_of_a_card_has_its_points(call, tmp_path):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=80), rng.choice(["a", "b"], 80).astype(object)])
    card = ScorecardClassifier("auc", learn_from="counts", cv=2, max_lines=None).fit(
        rows, rows[:, 0] > 0
    )
    save(card, tmp_path / "card.dx")
    options = ["--to", "sql", "--features", "x,home"]
    result = call("export", tmp_path / "card.dx", *options)
    assert result.code == 0, result.err
    sql = to_sql(card, columns=["x", "home"])
    assert f"-- points\n{sql.points}\n\n-- score\n{sql.score}\n" in result.out
    result = call("export", tmp_path / "card.dx", *options, "--table", "t")
    assert result.out.rstrip() == sql.select("t")
