import json

import numpy as np
import pytest

pytest.importorskip("typer")

from directrix import Moments
from directrix.export import load, to_json, to_python, to_sql

TABLE = ["--table", "rows", "--target", "fraud"]


@pytest.mark.parametrize("to", ["json", "python"])
def test_text_is_what_the_library_writes(call, files, to):
    own = {"json": to_json, "python": to_python}[to](load(files / "model.dx"))
    done = call("export", files / "model.dx", "--to", to)
    assert done.code == 0, done.err
    assert done.out.rstrip() == own.rstrip()


def test_sql_of_a_table(call, files, tmp_path):
    own = to_sql(load(files / "model.dx"), dialect="postgres").select("shop.rows", keep=["id"])
    options = ["--to", "sql", "--dialect", "postgres", "--table", "shop.rows", "--keep", "id"]
    assert call("export", files / "model.dx", *options).out.rstrip() == own
    done = call("export", files / "model.dx", *options, "-o", tmp_path / "a.sql")
    assert done.out == ""
    assert (tmp_path / "a.sql").read_text(encoding="utf-8").rstrip() == own


def test_onnx(call, files, tmp_path):
    onnx = pytest.importorskip("onnx")
    output = tmp_path / "m.onnx"
    assert call("export", files / "model.dx", "--to", "onnx", "-o", output).code == 0
    assert [own.name for own in onnx.load(output).graph.input] == ["X"]


@pytest.mark.parametrize("dtype", [None, "float64", "float32"])
def test_onnx_has_the_type_that_was_asked_for(call, files, tmp_path, dtype):
    onnx = pytest.importorskip("onnx")
    output = tmp_path / "m.onnx"
    more = [] if dtype is None else ["--dtype", dtype]
    done = call("export", files / "model.dx", "--to", "onnx", "-o", output, *more)
    assert done.code == 0, done.err
    (given,) = onnx.load(output).graph.input
    wanted = onnx.TensorProto.FLOAT if dtype == "float32" else onnx.TensorProto.DOUBLE
    assert given.type.tensor_type.elem_type == wanted


@pytest.mark.parametrize("form", ["csv", "json"])
def test_a_table_is_summarised_by_hand(call, files, tmp_path, form):
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    base.read_parquet(str(files / "monday.parquet")).create("rows")

    def answer(text, name):
        path = tmp_path / f"{name}.{form}"
        how = "(FORMAT json, ARRAY true)" if form == "json" else "(FORMAT csv, HEADER)"
        base.execute(f"COPY ({text.strip().rstrip(';')}) TO '{path}' {how}")
        return path

    features = ["--features", "amount", "age", "clock"]
    first = answer(call("sql", *TABLE, *features).out, "first")
    told = call("sql", *TABLE, *features, "--first", first, "--json").json
    second = answer(told["statements"][0], "second")
    output = tmp_path / "a.moments"
    options = ["--first", first, "--second", second, "-o", output]
    done = call("sql", *TABLE, *features, *options)
    assert done.code == 0, done.err
    own, theirs = Moments.load(output), Moments.load(files / "monday.moments")
    assert own.classes.tolist() == [False, True]
    assert np.allclose(own.positive.mean, theirs.positive.mean)
    assert np.allclose(own.negative.covariance, theirs.negative.covariance)


def test_json_holds_statements(call):
    done = call("sql", *TABLE, "--features", "a,b", "--dialect", "bigquery", "--json")
    told = json.loads(done.out)
    assert told["query"] == "first"
    assert "`rows`" in told["statements"][0]
