from pathlib import Path

import numpy as np
import pytest

from benchmarks.harness.data import Split
from benchmarks.harness.record import select
from benchmarks.papers.claims import LEVEL
from benchmarks.papers.ghanbari_2018 import methods
from benchmarks.papers.ghanbari_2018 import run as report
from benchmarks.papers.ghanbari_2018.methods import METRICS, outcomes_of
from benchmarks.papers.ghanbari_2018.run import RECORD, Results
from directrix import MomentClassifier
from directrix.linear import Frontier


def first_split(name):
    try:
        return methods.split_of(name, 0, 0)[0]
    except FileNotFoundError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("metric", METRICS)
def test_a_fold_measured_again_is_as_tracked(metric):
    split = first_split("vowel")
    again = outcomes_of(metric, split, methods.seed_of("vowel", 0, 0))
    rows = select(RECORD.rows(), metric=metric, set="vowel", repeat=0, fold=0)
    tracked = {row["method"]: row for row in rows}
    assert again.keys() == tracked.keys()
    # Rounding of another BLAS may turn one row, and some pairs.
    near = 1.0 / len(split.y_test) + 1e-4
    for method, outcome in again.items():
        assert outcome.value == pytest.approx(float(tracked[method]["value"]), abs=near)
        curve = np.array(tracked[method]["curve"].split(), dtype=float)
        np.testing.assert_allclose(outcome.curve, curve, rtol=0, atol=near)
        assert outcome.iterations == pytest.approx(int(tracked[method]["iterations"]), abs=2)


def test_only_lines_with_an_intercept_part_classes_on_one_side_of_zero():
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2 == 0
    X = np.where(y, 3.0, 6.0)[:, None] + 0.3 * rng.standard_normal((400, 1))
    outcomes = outcomes_of("accuracy", Split(X[:300], y[:300], X[300:], y[300:]), rng)
    for method, outcome in outcomes.items():
        free = "intercept" in method or method in {"LDA", "ours"}
        assert (outcome.value > 0.9) if free else (outcome.value == 0.5), method


def test_artificial_moments_have_the_papers_best_area():
    recipe = methods.Recipe(20, 0.3, 0.05)
    split, exact = methods.drawn(recipe, np.random.default_rng(1))
    assert Frontier(exact, shrinkage=0.0).best("auc").risk == pytest.approx(1 - 0.9965, abs=1e-9)
    model = MomentClassifier("auc").fit(split.X, split.y)
    value = METRICS["AUC"].score(split.y_test, model.decision_function(split.X_test))
    assert value == pytest.approx(0.9965, abs=0.004)


def test_some_labels_of_training_rows_change_sides_and_none_of_test_rows():
    clean, swapped = (
        methods.drawn(methods.Recipe(4, 0.4, share), np.random.default_rng(2))[0]
        for share in (0.0, 0.1)
    )
    changed = clean.y != swapped.y
    assert changed.sum() == 2 * int(0.1 * clean.y.sum())
    assert changed[clean.y].sum() == changed[~clean.y].sum()
    assert (clean.y_test == swapped.y_test).all()


def test_the_tables_are_made_of_the_tracked_folds():
    text = report.REPORT.read_text(encoding="utf-8")
    assert text == "\n".join(report.lines(RECORD.rows())) + "\n"


def test_the_theory_page_says_what_was_measured():
    page = Path(__file__).parents[3] / "docs" / "theory" / "moment-training.md"
    text, results = page.read_text(encoding="utf-8"), Results(RECORD.rows())
    counts = {}
    for metric, ending in (("accuracy", ", intercept"), ("AUC", "")):
        sets = results.sets(metric)
        words = list(results.words(metric, sets, "ours", f"moments{ending}").values())
        counts[metric] = words.count("better"), words.count("worse"), len(words)
    accuracy, area = counts.values()
    assert (
        f"better than this descent by more than {LEVEL} on {accuracy[0]} data sets for accuracy "
        f"and {area[0]} for AUC, worse on {accuracy[1]} and {area[1]}, and level on the others of "
        f"{area[2]}."
    ) in text
    counts, of = report.readings(results)
    assert (
        f"with an intercept, {counts['(1 + A) / 2, intercept']} of {of} are within two standard "
        f"deviations of that value, and {counts['A, intercept']} are within"
    ) in text
    assert f"all means are within {report.effect_of_the_slip(results):.4f}." in text
    (rows_of_segment,) = (line for line in report.lines(RECORD.rows()) if "rows of segment" in line)
    assert "of 210 rows for accuracy of moments, accuracy of surrogate, accuracy of LDA;" in (
        rows_of_segment
    )
    assert "rows of the file for AUC of moments, AUC of surrogate." in rows_of_segment
