import json

import numpy as np
import pandas as pd
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
    assert "Model model.dx (MomentClassifier), evaluated by recall at FPR 10 %" in page
    rows = [files / "tuesday.parquet", "-t", "fraud"]
    values = call("evaluate", files / "model.dx", *rows, "--json").json
    assert f"{values['metric']['value']:.4f}" in page
    for measure in values["at_threshold"].values():
        assert f"{measure['value']:.4f}" in page


@pytest.mark.parametrize("metric", ["auc", "f1"])
def test_the_auc_is_once_at_the_top_of_the_report(call, files, tmp_path, metric):
    pytest.importorskip("matplotlib")
    rows = [files / "tuesday.parquet", "-t", "fraud", "-m", metric]
    result = call("report", files / "model.dx", *rows, "-o", tmp_path / "r.html")
    assert result.code == 0, result.err
    top = (tmp_path / "r.html").read_text(encoding="utf-8").partition("<h2>")[0]
    assert top.count(">AUC<") == 1


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


@pytest.fixture(scope="module")
def card_files(tmp_path_factory):
    """Return a folder with rows, a card of them, and what an author says."""
    from directrix import ScorecardClassifier
    from directrix.export import save

    folder = tmp_path_factory.mktemp("card")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"age": rng.normal(40, 9, 400), "home": rng.choice(["own", "rent"], 400)})
    risk = (table["age"] < 35) + (table["home"] == "rent") + rng.normal(size=400)
    y = np.where(risk > 1, "bad", "good")
    card = ScorecardClassifier("auc", positive="bad", cv=2, max_crosses=0, warn_baseline=False)
    save(card.fit(table, y), folder / "card.dx")
    table.assign(status=y).to_parquet(folder / "rows.parquet")
    (folder / "about.toml").write_text('title = "Loans"\nauthor = "Ada"\n')
    fit = {
        "classifier": "ScorecardClassifier",
        "directions": [
            {
                "column": "age",
                "direction": "decreasing",
                "effect": {"mean": -0.01, "low": -0.02, "high": 0.005},
                "flat": False,
            },
            {"column": "home", "direction": "own, rent", "effect": None, "flat": True},
        ],
    }
    (folder / "fit.json").write_text(json.dumps(fit))
    return folder


@pytest.mark.parametrize("template", ["committee", "clinical"])
def test_a_document_is_that_of_the_library(call, card_files, tmp_path, template):
    options = ["--template", template, "--about", card_files / "about.toml"]
    options += ["--fit", card_files / "fit.json", "-t", "status"]
    output = tmp_path / "d.html"
    rows = card_files / "rows.parquet"
    result = call("report", card_files / "card.dx", rows, *options, "-o", output, "--json")
    assert result.code == 0, result.err
    assert result.json["rows"] == 400
    html = output.read_text(encoding="utf-8")
    assert "<h1>Loans</h1>" in html
    assert "-0.0100 (-0.0200 to +0.0050)" in html
    assert "the rows contradict it" in html


def test_the_checksum_is_that_of_the_exported_file(call, card_files, tmp_path):
    from hashlib import sha256

    output = tmp_path / "d.html"
    model = card_files / "card.dx"
    assert call("report", model, "--template", "committee", "-o", output).code == 0
    assert call("export", model, "--to", "sql", "-o", tmp_path / "card.sql").code == 0
    checksum = sha256((tmp_path / "card.sql").read_bytes()).hexdigest()
    assert checksum in output.read_text(encoding="utf-8")


@pytest.mark.every_case
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--template", "comittee"], "did you mean 'committee'"),
        (["--about", "about.toml"], "give --template"),
        (["--template", "clinical", "--metric", "auc"], "states the metric of the model"),
        ([], "give files of rows"),
    ],
)
def test_options_of_documents_are_checked(call, card_files, tmp_path, options, message):
    result = call("report", card_files / "card.dx", *options, "-o", tmp_path / "d.html")
    assert result.code == 2
    assert message in " ".join(result.err.replace("│", " ").split())
