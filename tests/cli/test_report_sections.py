import json
import re

import numpy as np
import pandas as pd
import pytest

from directrix import ScorecardClassifier
from directrix.export import save

pytest.importorskip("typer")
parquet = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("matplotlib")

HEADINGS = [
    "Data",
    "Operating point",
    "ROC curve",
    "Calibration of the probabilities",
    "Feature importance",
    "Normality of the scores",
]
FIT = {
    "classifier": "DirectClassifier",
    "candidates": [
        {"name": "<moments>", "metric": 0.5, "error": 0.02},
        {"name": "logistic", "metric": 1, "error": None},
    ],
    "compared_on": "held-out rows",
    "chosen": "<moments>",
    "why": "It was the best of 2 candidates on held-out rows.",
    "expected_on_new_rows": {"value": 0.48, "low": 0.4, "high": 0.55},
    "better_than": {"baseline": "logistic regression", "mean": 0.1, "low": 0.05, "high": 0.15},
    "no_better_than_constant": False,
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


@pytest.mark.filterwarnings("ignore")
def test_a_page_about_scores_gives_no_advice_about_features(call, files, tmp_path):
    rows = [files / "tuesday.parquet", "-t", "fraud"]
    name = parquet.read_schema(files / "tuesday.parquet").names[0]
    model, page = tmp_path / "s.dx", tmp_path / "r.html"
    made = call("threshold", *rows, "-s", name, "-m", "auc", "-o", model)
    assert made.code == 0, made.err
    assert call("report", model, *rows, "-o", page).code == 0
    html = page.read_text(encoding="utf-8")
    assert "Model s.dx (OperatingPointClassifier), evaluated by AUC" in html
    assert "rows with 1 column." in html
    headings = re.findall(r"<h2>(.*?)</h2>", html)
    assert headings == ["Data", "Operating point", "ROC curve", "Calibration of the probabilities"]


def test_what_is_predicted_is_called_so(page):
    html = page()
    assert "<th>predicted without it</th><th>predicted gain of the feature</th>" in html
    assert "not measured" in html
    assert "nan" not in re.sub(r"base64,[^\"]*", "", html).lower()


def test_the_report_of_a_card_has_the_card(call, tmp_path):
    rng = np.random.default_rng(0)
    n = 600
    bad = rng.random(n) < 0.3
    table = pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.1, np.nan, rng.normal(3, 1, n) - bad),
            "home <b>": np.where(rng.random(n) < 0.3 + 0.4 * bad, "rent", "own"),
            "status": np.where(bad, "default", "paid"),
        }
    )
    table.to_parquet(tmp_path / "loans.parquet")
    X, y = table.drop(columns="status"), table["status"]
    card = ScorecardClassifier(
        "recall@fpr=0.1",
        positive="default",
        max_crosses=0,
        max_lines=None,
        cv=3,
        warn_baseline=False,
    )
    save(card.fit(X, y), tmp_path / "card.dx")
    rows = [tmp_path / "loans.parquet", "-t", "status", "-o", tmp_path / "r.html"]
    result = call("report", tmp_path / "card.dx", *rows)
    assert result.code == 0, result.err
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert re.findall(r"<h2>(.*?)</h2>", html) == [
        *("Data", "Operating point", "ROC curve", "The card", "Total points and risk"),
        "Calibration of the probabilities",
    ]
    assert "A row is predicted &#x27;default&#x27; if points &gt; 0." in html
    assert "home &lt;b&gt;" in html
    assert "home <b>" not in html
    assert "<tr><td>default</td>" in html
    result = call("evaluate", tmp_path / "card.dx", *rows[:3])
    assert f"{bad.sum()} of class default" in result.out


def test_nothing_is_loaded_from_elsewhere(page):
    assert not re.findall(r'(?:src|href)="(?!data:)|https?://|url\(', page(FIT))


def test_the_candidates_of_a_fit(page):
    html = page(FIT)
    assert re.findall(r"<h2>(.*?)</h2>", html) == [*HEADINGS, "Candidates"]
    assert ": &lt;moments&gt;. It was the best of 2 candidates on held-out rows." in html
    assert "<moments>" not in html
    assert "Expected on new rows: 0.4800 (0.4000 to 0.5500)." in html
    assert "Better than logistic regression by 0.1000 (0.0500 to 0.1500)." in html
    assert '<tr class="highlighted"><td>&lt;moments&gt;</td>' in html


def test_unknown_values_are_left_out(page):
    fit = FIT | {
        "expected_on_new_rows": {"value": None, "low": None, "high": None},
        "better_than": {"baseline": "logistic regression", "mean": None, "low": None, "high": None},
        "candidates": [{"name": "moments", "metric": None, "error": None}],
    }
    html = page(fit)
    assert "candidates on held-out rows." in html
    assert "etter than logistic" not in html
    assert "Expected on new rows:" not in html
    assert "<td>moments</td><td></td><td></td>" in html


def test_a_difference_without_an_interval(page):
    html = page(FIT | {"better_than": FIT["better_than"] | {"low": None, "high": None}})
    assert "Compared with logistic regression: +0.1000 (no interval)." in html


def test_a_page_about_noise_says_so_before_any_figure(call, files, tmp_path):
    table = pd.read_parquet(files / "tuesday.parquet")
    table["fraud"] = table["fraud"].sample(frac=1.0, random_state=0).to_numpy()
    table.to_parquet(tmp_path / "shuffled.parquet", index=False)
    rows = [tmp_path / "shuffled.parquet", "-t", "fraud", "--metric", "auc"]
    assert call("report", files / "model.dx", *rows, "-o", tmp_path / "r.html").code == 0
    html = (tmp_path / "r.html").read_text(encoding="utf-8")
    verdict = "No better than a constant prediction: AUC on these rows is 0."
    said = html.index(f'<p class="alert">{verdict}')
    assert said < html.index('<div class="cards">') < html.index("<h2>")


def test_the_delivered_cutoff_is_first_and_the_other_is_called_so(page):
    html = page(FIT | {"no_better_than_constant": True})
    assert '<tr class="highlighted"><td>recall at FPR 10 %</td>' in html
    assert "<td>recall at FPR 10 %, best cutoff on these rows</td>" in html
    assert "unless they are called best cutoff on these rows. FPR at most 10 % is " in html
    assert "(0.4000 to 0.5500), no better than a constant." in html
