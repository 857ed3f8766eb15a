import pytest

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

from directrix import Moments


def same(a, b):
    return a.classes.tolist() == b.classes.tolist() and all(
        a.by_class[label].count == b.by_class[label].count
        and a.by_class[label].mean == pytest.approx(b.by_class[label].mean, rel=1e-12, abs=1e-12)
        for label in a.by_class
    )


@pytest.mark.parametrize("source", ["tuesday.parquet", "tuesday.csv", "tues*.parquet"])
def test_summarize_reads_files_and_patterns(call, files, tmp_path, source):
    result = call("summarize", files / source, "-t", "fraud", "-o", tmp_path / "a.moments")
    assert result.code == 0, result.err
    assert "600 rows; 3 features" in result.out
    moments = Moments.load(tmp_path / "a.moments")
    assert same(moments, Moments.load(files / "tuesday.moments"))
    assert moments.feature_names == ("amount", "age", "clock")


def test_roles_of_columns(call, files, tmp_path):
    options = ["-t", "three", "--features", "age, amount", "--weight", "weight"]
    output = tmp_path / "a.moments"
    result = call("summarize", files / "rich.parquet", *options, "-o", output)
    assert result.code == 0, result.err
    moments = Moments.load(output)
    assert moments.feature_names == ("age", "amount")
    assert moments.weight > moments.count
    assert moments.classes.tolist() == [0, 1, 2]
    refused = call("fit", output, "-o", tmp_path / "m.dx")
    assert "a column that is true for one of them" in refused.err
    options = ["-t", "fraud", "--drop", "country,kind", "--drop", "id,three,weight", "--force"]
    assert call("summarize", files / "rich.parquet", *options, "-o", output).code == 0
    assert same(Moments.load(output), Moments.load(files / "monday.moments"))


def test_adding_and_subtracting_are_inverse(call, files, tmp_path):
    monday, tuesday = files / "monday.moments", files / "tuesday.moments"
    both, output = tmp_path / "both.moments", tmp_path / "less.moments"
    result = call("summarize", "--add", monday, "--add", tuesday, "-o", both, "--json")
    assert result.code == 0, result.err
    assert result.json["rows"] == 1200
    assert call("summarize", "--add", both, "--subtract", monday, "-o", output).code == 0
    assert same(Moments.load(output), Moments.load(tuesday))
    rows = files / "tuesday.parquet"
    assert call("summarize", rows, "-t", "fraud", "--add", monday, "-o", both, "--force").code == 0
    assert same(Moments.load(both), Moments.load(monday) + Moments.load(tuesday))
