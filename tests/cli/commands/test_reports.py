import json

import pytest

pytest.importorskip("typer")

FIT = {
    "classifier": "DirectClassifier",
    "candidates": [
        {"name": "<moments>", "metric": 0.5, "error": 0.02},
        {"name": "logistic", "metric": 0.4, "error": None},
    ],
    "compared_on": "held-out rows",
    "chosen": "<moments>",
    "why": "it is better",
    "expected_on_new_rows": {"value": 0.48, "low": 0.4, "high": 0.55},
    "better_than": {"baseline": "logistic regression", "mean": 0.1, "low": None, "high": None},
    "no_better_than_constant": False,
}


@pytest.fixture
def report(call, files, tmp_path):
    """Return a function that writes a report with the record of a fit."""

    def write(fit):
        (tmp_path / "fit.json").write_text(json.dumps(fit), encoding="utf-8")
        rows = [files / "tuesday.parquet", "-t", "fraud", "--fit", tmp_path / "fit.json"]
        return call("report", files / "model.dx", *rows, "-o", tmp_path / "r.html")

    return write


def test_the_report_has_the_values_of_evaluate(report, call, files, tmp_path):
    pytest.importorskip("matplotlib")
    result = report(FIT)
    assert result.code == 0, result.err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<title>Classifier report: recall at FPR 10 %</title>" in page
    assert "Model model.dx, a MomentClassifier, evaluated by recall at FPR 10 %" in page
    rows = [files / "tuesday.parquet", "-t", "fraud"]
    values = call("evaluate", files / "model.dx", *rows, "--json").json
    assert f"{values['metric']['value']:.4f}" in page
    for measure in values["at_threshold"].values():
        assert f"{measure['value']:.4f}" in page


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"chosen": 3}, "'chosen' must be text"), ({"candidates": 5}, "'candidates' must be a list")],
)
def test_a_wrong_field_of_the_fit_is_named(report, tmp_path, changes, message):
    result = report(FIT | changes)
    assert result.code == 1
    assert "fit.json is not what directrix fit --json prints" in result.err
    assert message in result.err
    assert not (tmp_path / "r.html").exists()


def test_a_model_of_several_classes_is_refused(call, files, tmp_path):
    pytest.importorskip("matplotlib")
    rows = [files / "rich.parquet", "-t", "three"]
    options = ["--features", "amount,age,clock", "--time-budget", 0.3, "-o", tmp_path / "m.dx"]
    assert call("fit", *rows, *options).code == 0
    refused = call("report", tmp_path / "m.dx", *rows, "-o", tmp_path / "r.html")
    assert refused.code == 1
    assert "this one has 3" in refused.err
