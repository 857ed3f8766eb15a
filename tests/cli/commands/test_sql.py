import json

import numpy as np
import pytest

pytest.importorskip("typer")

from directrix import Moments

TABLE = ["--table", "rows", "--target", "fraud"]


@pytest.mark.parametrize("file_format", ["csv", "json"])
def test_a_table_is_summarised_in_three_steps(call, files, tmp_path, file_format):
    duckdb = pytest.importorskip("duckdb")
    database = duckdb.connect()
    database.read_parquet(str(files / "monday.parquet")).create("rows")

    def run_query(text, name):
        path = tmp_path / f"{name}.{file_format}"
        options = "(FORMAT json, ARRAY true)" if file_format == "json" else "(FORMAT csv, HEADER)"
        database.execute(f"COPY ({text.strip().rstrip(';')}) TO '{path}' {options}")
        return path

    features = ["--features", "amount", "age", "clock"]
    first = run_query(call("sql", *TABLE, *features).out, "first")
    queries = call("sql", *TABLE, *features, "--first", first, "--json").json
    second = run_query(queries["statements"][0], "second")
    output = tmp_path / "a.moments"
    options = ["--first", first, "--second", second, "-o", output]
    result = call("sql", *TABLE, *features, *options)
    assert result.code == 0, result.err
    moments, expected = Moments.load(output), Moments.load(files / "monday.moments")
    assert moments.classes.tolist() == [False, True]
    assert np.allclose(moments.positive.mean, expected.positive.mean)
    assert np.allclose(moments.negative.covariance, expected.negative.covariance)


def test_json_holds_statements(call):
    result = call("sql", *TABLE, "--features", "a,b", "--dialect", "bigquery", "--json")
    values = json.loads(result.out)
    assert values["query"] == "first"
    assert "`rows`" in values["statements"][0]
