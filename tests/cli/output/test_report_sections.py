import json
import re

import pytest

pytest.importorskip("typer")
pytest.importorskip("matplotlib")

HEADINGS = [
    "Data",
    "Operating point",
    "ROC curve and frontier",
    "Normality of the scores",
    "Calibration of the probabilities",
    "Feature importance",
]
FIT = {
    "classifier": "DirectClassifier",
    "candidates": [
        {"name": "<moments>", "metric": 0.5, "error": 0.02},
        {"name": "logistic", "metric": 1, "error": None},
    ],
    "compared_on": "held-out rows",
    "chosen": "<moments>",
    "why": "it is better",
    "expected_on_new_rows": {"value": 0.48, "low": 0.4, "high": 0.55},
    "better_than_logistic": {"mean": 0.1, "low": 0.05, "high": 0.15},
}


@pytest.fixture
def page(call, files, tmp_path):
    """Return a function that writes a report and gives its HTML."""

    def write(fit=None):
        rows = [files / "tuesday.parquet", "-t", "fraud"]
        if fit is not None:
            (tmp_path / "fit.json").write_text(json.dumps(fit), encoding="utf-8")
            rows += ["--fit", tmp_path / "fit.json"]
        result = call("report", files / "model.dx", *rows, "-o", tmp_path / "r.html")
        assert result.code == 0, result.err
        return (tmp_path / "r.html").read_text(encoding="utf-8")

    return write


def test_sections_and_figures(page):
    html = page()
    assert re.findall(r"<h2>(.*?)</h2>", html) == HEADINGS
    assert len(re.findall(r'src="data:image/png;base64,', html)) == 4


def test_nothing_is_loaded_from_elsewhere(page):
    assert not re.findall(r'(?:src|href)="(?!data:)|https?://|url\(', page(FIT))


def test_the_candidates_of_a_fit(page):
    html = page(FIT)
    assert re.findall(r"<h2>(.*?)</h2>", html) == [*HEADINGS, "Candidates"]
    assert "2 candidates were compared on held-out rows. Chosen: &lt;moments&gt;" in html
    assert "<moments>" not in html
    assert "Expected on new rows: 0.4800 (0.4000 to 0.5500)." in html
    assert "Better than logistic regression by +0.1000 (+0.0500 to +0.1500)." in html
    assert '<tr class="highlighted"><td>&lt;moments&gt;</td>' in html


def test_unknown_values_are_left_out(page):
    fit = FIT | {
        "expected_on_new_rows": {"value": None, "low": None, "high": None},
        "better_than_logistic": {"mean": None, "low": None, "high": None},
        "candidates": [{"name": "moments", "metric": None, "error": None}],
    }
    html = page(fit)
    assert "1 candidates were compared on held-out rows" in html
    assert "Better than logistic" not in html
    assert "Expected on new rows:" not in html
    assert "<td>moments</td><td></td><td></td>" in html


def test_a_difference_without_an_interval(page):
    html = page(FIT | {"better_than_logistic": {"mean": 0.1, "low": None, "high": None}})
    assert "Better than logistic regression by +0.1000." in html
