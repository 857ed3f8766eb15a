import pytest

pytest.importorskip("typer")

from directrix import Moments


def test_a_summary(call, files):
    result = call("show", files / "monday.moments")
    assert result.code == 0
    assert result.out.startswith("600 rows; 3 features; classes {False: ")
    assert "amount" in result.out
    values = call("show", files / "monday.moments", "--json").json
    assert values["kind"] == "summary"
    moments = Moments.load(files / "monday.moments")
    assert values["moments"]["True"]["mean"] == moments.positive.mean.tolist()


def test_a_model(call, files):
    result = call("show", files / "model.dx")
    assert "MomentClassifier for recall at FPR 10 %" in result.out
    assert "operating point: positive if coefficients · features > " in result.out
    values = call("show", files / "model.dx", "--json").json
    assert values["kind"] == "model"
    assert values["features"] == ["amount", "age", "clock"]
    assert len(values["coefficients"][0]) == 3
    assert values["operating_point"]["predicted"]["fpr"] == pytest.approx(0.1)


def test_a_long_summary_lists_some_features(call, tmp_path):
    rows = [[float(row == column) for column in range(30)] for row in range(8)]
    Moments.of(rows, [0, 1] * 4).save(tmp_path / "wide.moments")
    result = call("show", tmp_path / "wide.moments")
    assert "\nx19 " in result.out
    assert "\nx20 " not in result.out
    assert "and 10 more features" in result.out
