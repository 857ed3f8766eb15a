"""The option ``--segment``: rates by segment, and limits in each."""

import numpy as np
import pandas as pd
import pytest

from directrix import DirectClassifier, MomentClassifier
from directrix.export import load, save
from directrix.metrics import InEverySegment

pytest.importorskip("typer")
pytest.importorskip("pyarrow")

NAMES = ["a", "b"]


def rows(seed, n=1500, moved=0.0):
    rng = np.random.default_rng(seed)
    country, y = rng.choice(["at", "ch", "li/x"], n), rng.random(n) < 0.2
    X = rng.normal(size=(n, 2)) + 1.5 * y[:, None] + 0.4 * (country == "ch")[:, None]
    X += moved * np.outer(country == "at", [1, -1])
    return pd.DataFrame(X, columns=NAMES).assign(y=y, country=country)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a model and files of days."""
    place = tmp_path_factory.mktemp("segments")
    day = rows(0, 3000)
    save(MomentClassifier("recall@fpr=0.1").fit(day[NAMES], day["y"]), place / "m.dx")
    for k in range(1, 11):
        rows(k, moved=0.5 if k == 10 else 0.0).to_parquet(place / f"{k}.parquet")
    return place


def test_evaluate_has_the_rates_of_evaluate_in_python(folder, call):
    words = ("evaluate", folder / "m.dx", folder / "1.parquet", "-t", "y", "--segment", "country")
    shown = call(*words).out
    assert "by country, at the cutoff of the model" in shown
    assert "adverse impact ratio" in shown
    found = call(*words, "--json").json["segments"]
    day = rows(1)
    flagged = load(folder / "m.dx").predict(day[NAMES])
    for rate in found["rates"]:
        inside = (day["country"] == rate["segment"]) & ~day["y"]
        assert rate["fpr"]["value"] == pytest.approx(flagged[inside].mean())
    assert found["gaps"]["fpr"]["highest"] == "ch"


@pytest.mark.parametrize("more", [[], ["--two-passes"]], ids=["in memory", "in passes"])
def test_fit_keeps_the_limit_in_every_segment(folder, call, tmp_path, more):
    words = ("fit", folder / "[1-4].parquet", "-t", "y", "-m", "recall@fpr=0.1", *more)
    words += ("-o", tmp_path / "f.dx", "--segment", "country", "--guarantee", "0.9")
    result = call(*words, "--in-every-segment")
    assert result.code == 0, result.err
    assert "fpr <= 0.1 in every segment, with confidence 0.9" in result.out
    assert "by segment, on rows set apart for the guarantee" in result.out
    model = load(tmp_path / "f.dx")
    assert model.limits == InEverySegment({"fpr": 0.1})
    assert model.feature_names_in_.tolist() == NAMES


def test_threshold_keeps_limits_in_every_segment(folder, call):
    words = ("threshold", folder / "1.parquet", "-s", "a", "-t", "y", "--segment", "country")
    result = call(*words, "--limit", "fpr=0.1", "--guarantee", "0.9", "--in-every-segment")
    assert "fpr <= 0.1 in every segment" in result.out
    values = call(*words, "--json").json["operating_point"]["segments"]
    assert [each["segment"] for each in values["rates"]] == ["at", "ch", "li/x"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("fit 1.parquet -t y -o f.dx -c moment --segment country", "-c direct"),
        ("fit 1.parquet -t y -o f.dx -m recall@fpr=0.1 --in-every-segment", "column of segments"),
        ("threshold 1.parquet -s a -t y --segment country --in-every-segment", "--limit"),
        ("evaluate m.dx 1.parquet -t y --segment land", "land"),
        ("report m.dx -o r.html --segment country", "ROWS"),
    ],
)
def test_what_is_missing_is_named(folder, call, words, message, monkeypatch):
    monkeypatch.chdir(folder)
    result = call(*words.split())
    assert result.code
    assert message in result.err.replace("\n", " ")


def test_a_report_prints_the_segments_of_the_fit():
    day = rows(1)
    model = DirectClassifier("recall@fpr=0.1", cv=3, warn_baseline=False)
    report = model.fit(day[NAMES], day["y"], segment=day["country"]).report_
    assert "adverse impact ratio" in str(report)
    assert "<p>by segment</p><table" in report._repr_html_()
