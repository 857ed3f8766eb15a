from pathlib import Path

import numpy as np
import pytest

from benchmarks.harness.data import folder
from benchmarks.harness.record import grouped_by, select
from benchmarks.papers.ghanbari_2019 import cost_of_rows, report, second_order
from benchmarks.papers.ghanbari_2019.config import (
    ARTIFICIAL,
    LEFT_OUT,
    REPEATS,
    planned,
)
from benchmarks.papers.ghanbari_2019.report import (
    BASE,
    RECORD,
    Paper,
    Results,
    least_deviation,
    possible,
)
from benchmarks.papers.ghanbari_2019.run import measured
from benchmarks.studies import descents

#: What another BLAS may change: a row or two, and as much of the ranking.
TOLERANCE = {"accuracy": 0.002, "AUC": 1e-3}


def is_found_again(name, metric, method):
    """Return whether a fit is as tracked, to what another BLAS may change."""
    (fit,) = measured(name, 0, 0, [(metric, method)])
    (known,) = select(RECORD.rows(), set=name, metric=metric, method=method, repeat=0, fold=0)
    return abs(float(fit[5]) - float(known["value"])) <= TOLERANCE[metric]


def test_every_fit_is_tracked_once():
    rows = RECORD.rows()
    assert len(rows) == len(RECORD.done())
    assert all(0.0 <= float(row["value"]) <= 1.0 for row in rows if row["method"] != "file")


def test_times_are_relative_to_a_fit_that_is_always_there():
    fits = [row for row in RECORD.rows() if row["method"] != "file"]
    base = select(fits, method=BASE)
    assert all(float(row["time"]) == 1.0 for row in base)
    key = ("set", "metric", "repeat", "fold")
    assert grouped_by(fits, *key).keys() == grouped_by(base, *key).keys()


@pytest.mark.parametrize("metric", ["accuracy", "AUC"])
def test_artificial_figures_are_found_again(metric):
    assert is_found_again("data_1", metric, "approximate moments")


@pytest.mark.parametrize(("metric", "method"), [("accuracy", "F_n01"), ("AUC", "F_nrank")])
def test_real_figures_are_found_again(metric, method):
    try:
        folder()
    except FileNotFoundError:
        pytest.skip("the data folder is not here")
    assert is_found_again("svm1", metric, method)


def test_every_tracked_fit_is_planned():
    plan = {tuple(map(str, key)) for key in planned(list(REPEATS), quick=False)}
    assert RECORD.done() <= plan


def test_the_report_is_made_of_the_tracked_fits():
    text = report.REPORT.read_text(encoding="utf-8")
    assert text.splitlines() == report.lines(Results(), Paper())


def test_some_printed_accuracies_of_segment_cannot_be_of_210_rows():
    """Twenty folds of 42 rows, by brute force over up to three errors in any folds."""
    assert least_deviation(1.0 - 2 / 840) == pytest.approx(np.std([1, 1] + [0] * 18) / 42)
    assert least_deviation(1.0 - 21 / 840) == pytest.approx(np.std([2] + [1] * 19) / 42)
    assert least_deviation(0.9978) == np.inf  # 1.85 errors
    assert not possible(0.9978, 0.0022)
    assert possible(0.9617, 0.0331)


@pytest.mark.parametrize("metric", ["accuracy", "AUC"])
def test_second_order_figures_are_found_again(metric):
    try:
        folder()
    except FileNotFoundError:
        pytest.skip("the data folder is not here")
    known = second_order.read()["fourclass", metric]
    for run in second_order.measured("fourclass", metric):
        assert run.value == pytest.approx(known[run.solver].value, abs=1e-5)
        assert run.iterations == pytest.approx(known[run.solver].iterations, abs=2)


def test_costs_are_in_units_of_the_fewest_rows():
    first = [row for row in cost_of_rows.RECORD.rows() if int(row["rows"]) == cost_of_rows.ROWS[0]]
    assert {float(row["time"]) for row in first} == {1.0}
    assert cost_of_rows.growth().keys() == {"F_n01", "F_nrank", "F_log", "F_hinge"}


def test_the_theory_page_says_what_was_measured():
    docs = Path(__file__).parents[3] / "docs"
    text = (docs / "theory" / "moment-training.md").read_text(encoding="utf-8")
    results = Results()
    alone, chosen = (
        results.values("covtype", "accuracy", method).mean()
        for method in ("frontier", "moments and rows")
    )
    assert f"increases the accuracy from {alone:.3f} to {chosen:.3f}." in text
    rows = descents.RECORD.rows()
    above = {
        str(metric): np.mean(
            [
                float(row["papers"]) - float(row["descents"]) > 1e-4
                for row in rows
                if row["metric"] == str(metric)
            ]
        )
        for metric in descents.METRICS
    }
    problems = len({row["problem"] for row in rows})
    assert f"On {problems:,} random problems, the single descent of the paper ended" in text
    assert (
        f"the best of {rows[0]['starts']} descents in up to {max(above.values()):.0%}".replace(
            "%", " %"
        )
        in text
    )
    assert f"at least {least_deviation(0.9978, half_unit=6.5e-4):.4f}." in text


def test_the_report_says_which_runs_are_missing_and_why():
    results = Results()
    text = "\n".join(report.lines(results, Paper()))
    section = text[text.index("## Planned and not measured yet") :]
    for name in ARTIFICIAL:
        runs = results.runs(name, "AUC", "frontier")
        assert (f"{name} {runs} of {REPEATS[name]}" in section) == (runs < REPEATS[name])
    for name, methods in LEFT_OUT.items():
        assert f"* {name} without {' and '.join(methods)}: " in section
