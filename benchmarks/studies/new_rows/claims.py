"""Bias and coverage of what DirectClassifier claims, against the truth on 60,000 new rows.

``python -m benchmarks.studies.new_rows.claims`` draws samples of 300, 2,000 and 10,000 rows from
five populations, fits a `DirectClassifier` to each of five metrics, and compares its claims and
95 % intervals with what the classifier does on other rows of the population. ``--label`` names the
code that is measured, in a column of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness.markdown import table
from benchmarks.harness.record import (
    Record,
    Row,
    commit,
    commits_of,
    distinct,
    grouped_by,
    numbers,
    select,
)
from benchmarks.harness.runner import Part, Study, quiet
from benchmarks.studies.new_rows.populations import POPULATIONS, draw
from directrix import DirectClassifier
from directrix.metrics import AUC, Error, FBeta, RecallAtFPR

#: Draws of each population by the number of rows.
DRAWS = {300: 150, 2000: 150, 10_000: 40}
METRICS = {
    "error": Error(),
    "AUC": AUC(),
    "F1": FBeta(),
    "recall at FPR 5 %": RecallAtFPR(0.05),
    "recall at FPR 1 %": RecallAtFPR(0.01),
}
_FIGURES = ("claim", "low", "high", "truth", "fpr claim", "fpr low", "fpr high", "fpr truth")


def measured(code: str, name: str, n_rows: int, seed: int) -> list[tuple[Any, ...]]:
    """Return a row for each metric: the claim, its interval and the truth, and the same of FPR."""
    X, y, X_new, y_new = draw(name, n_rows, seed)
    if len(y_new) < 2 * n_rows or min(y.sum(), (~y).sum()) < 10:
        return []  # too few new rows to tell the truth by, or too few of a class to fold
    with quiet():
        fitted = DirectClassifier().fit_each(list(METRICS.values()), X, y)
    rows = []
    for (key, metric), classifier in zip(METRICS.items(), fitted, strict=True):
        point, scores = classifier.operating_point_, classifier.decision_function(X_new)
        claim, intervals = getattr(point, "expected", point.empirical), point.intervals
        tpr, fpr = (float((scores[of_class] > 0).mean()) for of_class in (y_new, ~y_new))
        if isinstance(metric, RecallAtFPR):
            figures = (claim.tpr, *intervals.tpr, tpr)
        else:
            figures = (claim.metric, *intervals.metric, metric.score(y_new, scores))
        figures += (claim.fpr, *intervals.fpr, fpr)
        about = (code, commit(), name, n_rows, seed, key)
        rows.append((*about, *(f"{figure:.5f}" for figure in figures)))
    return rows


def planned(args: argparse.Namespace) -> Iterator[tuple[str, str, int, int]]:
    """Yield label, population, rows and seed of each draw."""
    first, step = map(int, args.share.split("/"))
    for n_rows in args.sizes:
        for seed in range(first - 1, round(DRAWS[n_rows] * args.draws), step):
            yield from ((args.label, name, n_rows, seed) for name in args.populations)


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        "Bias is that of the claim in units of the deviation of claim minus truth (above zero is "
        "rosy): in the mean of the populations, and in the worst. Coverage is that of 95 % "
        "intervals: mean, and least. `before` claims what held-out rows show, `now` what is "
        "expected on new rows."
    )
    text = ["# Claims against the truth", "", about]
    columns = (
        "rows | metric | populations | draws | bias | worst | coverage | least | FPR / limit | "
        "worst | coverage of FPR"
    )
    for code in distinct(rows, "code"):
        of_code = select(rows, code=code)
        groups = grouped_by(of_code, "n", "metric")
        cells = (
            _cells(n_rows, key, groups.get((str(n_rows), key), []))
            for n_rows in DRAWS
            for key in METRICS
        )
        text += table(columns, cells, f"{code} (commit {commits_of(of_code)})")
    return text


def _cells(n_rows: int, key: str, rows: list[Row]) -> tuple[object, ...]:
    """Return bias, coverages and false-positive rates of one metric over the populations."""
    by_population = grouped_by(rows, "population")
    if not by_population:
        return n_rows, key, 0, *[""] * 8
    metric, summaries = METRICS[key], []
    for draws in by_population.values():
        claim, low, high, truth, _, fpr_low, fpr_high, fpr = (numbers(draws, f) for f in _FIGURES)
        off = (claim - truth) if metric.greater_is_better else (truth - claim)
        covered = ((low <= truth) & (truth <= high)).mean()
        fpr_covered = ((fpr_low <= fpr) & (fpr <= fpr_high)).mean()
        summaries.append((off.mean() / off.std(), covered, fpr_covered, fpr.mean()))
    bias, covered, fpr_covered, fpr = np.array(summaries).T
    at_limit = ["", "", ""]
    if metric.limit is not None:
        ratio = fpr / metric.limit.value
        at_limit = [f"{ratio.mean():.2f}", f"{ratio.max():.2f}", f"{fpr_covered.mean():.2f}"]
    sizes = [len(draws) for draws in by_population.values()]
    worst = bias[np.abs(bias).argmax()]
    return (
        *(n_rows, key, len(sizes), f"{min(sizes)} to {max(sizes)}", f"{bias.mean():+.2f}"),
        *(f"{worst:+.2f}", f"{covered.mean():.3f}", f"{covered.min():.2f}", *at_limit),
    )


RECORD = Record.beside(
    __file__,
    ("code", "commit", "population", "n", "seed", "metric", *_FIGURES),
    "code, population, n, seed",
)
STUDY = Study(
    [Part(RECORD, planned, measured)],
    lines,
    options={
        "--label": {"default": "now"},
        "--results": None,
        "--share": {"default": "1/1", "help": "k/m: every m-th draw, from the k-th on"},
        "--draws": {"type": float, "default": 1.0, "help": "of those planned, this part"},
        "--sizes": {"type": int, "nargs": "*", "default": list(DRAWS)},
        "--populations": {"nargs": "*", "default": POPULATIONS},
    },
)

if __name__ == "__main__":
    STUDY.main(__doc__)
