"""The study of models from one pass: what it compares, and what the page says of it."""

from argparse import Namespace
from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="populations are read from Parquet files")

from benchmarks.harness.data import load
from benchmarks.studies import one_pass as study

PAGE = Path(__file__).parents[3] / "docs" / "read-the-rows-once.md"


def test_the_page_says_what_was_measured():
    rows, page = study.RECORD.rows(), PAGE.read_text(encoding="utf-8")
    assert "\n".join(study.in_short(rows)[-8:]) in page
    assert study.kept_limit(rows) in page
    assert study.cost(rows) in page
    broken = {line.split("|")[-2].strip() for line in study.laws(rows)[5:]} - {"none"}
    assert len(broken) == 5
    assert all(sets in page for sets in broken)


def test_losses_are_means_of_splits_that_both_have():
    def row(split, method, value):
        values = {"set": "sonar", "split": split, "method": method, "metric": "AUC"}
        return values | {"value": value}

    rows = [row("0", "summary", "0.9"), row("0", "logistic", "0.8"), row("1", "summary", "0.1")]
    assert study.losses(rows, "summary", "logistic", "AUC") == {"sonar": pytest.approx(-0.1)}


@pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of LogisticRegressionCV
def test_a_quick_run_measures_a_small_set():
    try:
        load("sonar")
    except FileNotFoundError:
        pytest.skip("the folder DIRECTRIX_DATA has no sonar")
    plan = list(study.planned(Namespace(quick=True, method=None)))
    assert plan == [("sonar", 0, method) for method in ("summary", "normal scores", "logistic")]
    for key in plan:
        rows = [dict(zip(study.RECORD.columns, row, strict=True)) for row in study.measure(*key)]
        assert [row["metric"] for row in rows] == list(study.METRICS)
        (auc,) = (float(row["value"]) for row in rows if row["metric"] == "AUC")
        assert auc > 0.7
