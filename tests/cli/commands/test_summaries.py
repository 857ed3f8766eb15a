import pytest

pytest.importorskip("typer")

from directrix import Moments
from directrix.moments.class_moments import ClassMoments


def same(a, b):
    return a.classes.tolist() == b.classes.tolist() and all(
        near(a.by_class[label], b.by_class[label]) for label in a.by_class
    )


def near(a: ClassMoments, b: ClassMoments):
    return (
        a.count == b.count
        and a.mean == pytest.approx(b.mean, rel=1e-12, abs=1e-12)
        and a.covariance == pytest.approx(b.covariance, rel=1e-10, abs=1e-12)
    )


@pytest.mark.parametrize("source", ["tuesday.parquet", "tuesday.csv", "tues*.parquet"])
def test_summarize_reads_files_and_patterns(call, files, tmp_path, source):
    result = call("summarize", files / source, "-t", "fraud", "-o", tmp_path / "a.moments")
    assert result.code == 0, result.err
    assert "600 rows; 3 features" in result.out
    moments = Moments.load(tmp_path / "a.moments")
    assert same(moments, Moments.load(files / "tuesday.moments"))
    assert moments.feature_names == ("amount", "age", "clock")


def test_summarize_reads_libsvm(call, files, tmp_path):
    result = call("summarize", files / "tuesday.svm", "-o", tmp_path / "a.moments", "--folds", 3)
    assert result.code == 0, result.err
    moments = Moments.load(tmp_path / "a.moments")
    assert moments.classes.tolist() == [-1, 1]
    assert len(moments.folds) == 3
    assert near(moments.positive, Moments.load(files / "tuesday.moments").positive)


def test_summarize_with_roles(call, files, tmp_path):
    options = ["-t", "three", "--features", "age, amount", "--weight", "weight", "--folds", 4]
    output = tmp_path / "a.moments"
    result = call("summarize", files / "rich.parquet", *options, "--positive", 2, "-o", output)
    assert result.code == 0, result.err
    moments = Moments.load(output)
    assert moments.feature_names == ("age", "amount")
    assert moments.classes.tolist() == [False, True]
    assert moments.positive.count == 200
    assert moments.weight > moments.count
    assert len(moments.folds) == 4


def test_columns_are_dropped(call, files, tmp_path):
    options = ["-t", "fraud", "--drop", "country,kind", "--drop", "id,three,weight"]
    result = call("summarize", files / "rich.parquet", *options, "-o", tmp_path / "a.moments")
    assert result.code == 0, result.err
    assert same(Moments.load(tmp_path / "a.moments"), Moments.load(files / "monday.moments"))


def test_adding_and_subtracting_are_inverse(call, files, tmp_path):
    monday, tuesday = files / "monday.moments", files / "tuesday.moments"
    both, output = tmp_path / "both.moments", tmp_path / "less.moments"
    result = call("summarize", "--add", monday, "--add", tuesday, "-o", both, "--json")
    assert result.code == 0, result.err
    assert result.json["rows"] == 1200
    assert result.err == ""
    assert call("summarize", "--add", both, "--subtract", monday, "-o", output).code == 0
    assert same(Moments.load(output), Moments.load(tuesday))
    rows = files / "tuesday.parquet"
    assert call("summarize", rows, "-t", "fraud", "--add", monday, "-o", both, "--force").code == 0
    assert same(Moments.load(both), Moments.load(monday) + Moments.load(tuesday))
