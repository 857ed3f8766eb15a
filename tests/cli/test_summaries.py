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
    done = call("summarize", files / source, "-t", "fraud", "-o", tmp_path / "a.moments")
    assert done.code == 0, done.err
    assert "600 rows; 3 features" in done.out
    own = Moments.load(tmp_path / "a.moments")
    assert same(own, Moments.load(files / "tuesday.moments"))
    assert own.feature_names == ("amount", "age", "clock")


def test_summarize_reads_libsvm(call, files, tmp_path):
    done = call("summarize", files / "tuesday.svm", "-o", tmp_path / "a.moments", "--folds", 3)
    assert done.code == 0, done.err
    own = Moments.load(tmp_path / "a.moments")
    assert own.classes.tolist() == [-1, 1]
    assert len(own.folds) == 3
    assert near(own.positive, Moments.load(files / "tuesday.moments").positive)


def test_summarize_with_roles(call, files, tmp_path):
    options = ["-t", "three", "--features", "age, amount", "--weight", "weight", "--folds", 4]
    output = tmp_path / "a.moments"
    done = call("summarize", files / "rich.parquet", *options, "--positive", 2, "-o", output)
    assert done.code == 0, done.err
    own = Moments.load(output)
    assert own.feature_names == ("age", "amount")
    assert own.classes.tolist() == [False, True]
    assert own.positive.count == 200
    assert own.weight > own.count
    assert len(own.folds) == 4


def test_columns_are_dropped(call, files, tmp_path):
    options = ["-t", "fraud", "--drop", "country,kind", "--drop", "id,three,weight"]
    done = call("summarize", files / "rich.parquet", *options, "-o", tmp_path / "a.moments")
    assert done.code == 0, done.err
    assert same(Moments.load(tmp_path / "a.moments"), Moments.load(files / "monday.moments"))


def test_merge_and_subtract_are_inverse(call, files, tmp_path):
    days = [files / "monday.moments", files / "tuesday.moments"]
    done = call("merge", *days, "-o", tmp_path / "both.moments", "--json")
    assert done.code == 0
    assert done.json["rows"] == 1200
    assert done.err == ""
    output = tmp_path / "less.moments"
    assert call("subtract", tmp_path / "both.moments", days[0], "-o", output).code == 0
    assert same(Moments.load(output), Moments.load(days[1]))


def test_show_tells_of_a_summary(call, files):
    words = call("show", files / "monday.moments")
    assert words.code == 0
    assert "amount" in words.out
    facts = call("show", files / "monday.moments", "--json").json
    assert facts["kind"] == "summary"
    own = Moments.load(files / "monday.moments")
    assert facts["moments"]["True"]["mean"] == own.positive.mean.tolist()


def test_show_tells_of_a_model(call, files):
    words = call("show", files / "model.dx")
    assert "MomentClassifier for recall at FPR 10 %" in words.out
    facts = call("show", files / "model.dx", "--json").json
    assert facts["features"] == ["amount", "age", "clock"]
    assert len(facts["coefficients"][0]) == 3
    assert facts["operating_points"][0]["predicted"]["fpr"] == pytest.approx(0.1)
