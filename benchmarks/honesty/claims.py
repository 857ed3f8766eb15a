"""Bias and coverage of what DirectClassifier claims, against the truth on 60,000 new rows.

``python -m benchmarks.honesty.claims`` draws samples of 300, 2,000 and 10,000 rows from five
populations, fits a `DirectClassifier` to each of five metrics, and compares its claims and 95 %
intervals with what the classifier does on other rows of the population. Every draw is written to
``claims.csv`` when it is done, with the commit it was measured on, so that the run can be stopped
and taken up again. ``--label`` names the code that is measured, in a column of its own.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import warnings
from pathlib import Path
from typing import Any

from benchmarks.honesty.populations import POPULATIONS, draw
from directrix import DirectClassifier
from directrix.metrics import AUC, Error, FBeta, RecallAtFPR

RESULTS = Path(__file__).with_suffix(".csv")
#: Draws of each population by the number of rows.
DRAWS = {300: 150, 2000: 150, 10_000: 40}
METRICS = {
    "error": Error(),
    "AUC": AUC(),
    "F1": FBeta(),
    "recall at FPR 5 %": RecallAtFPR(0.05),
    "recall at FPR 1 %": RecallAtFPR(0.01),
}
COLUMNS = ("code", "commit", "population", "n", "seed", "metric", "claim", "low", "high", "truth")
COLUMNS += ("fpr claim", "fpr low", "fpr high", "fpr truth")


def claims(name: str, n_rows: int, seed: int) -> list[tuple[Any, ...]]:
    """Return the claim, its interval and the truth of the metric and the FPR, for each metric."""
    X, y, X_new, y_new = draw(name, n_rows, seed)
    if len(y_new) < 2 * n_rows or min(y.sum(), (~y).sum()) < 10:
        return []  # too few new rows to tell the truth by, or too few of a class to fold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where nothing beats logistic regression, and rare rows
        fitted = DirectClassifier().fit_each(list(METRICS.values()), X, y)
    found = []
    for key, classifier in zip(METRICS, fitted, strict=True):
        point = classifier.operating_point_
        claim, intervals = getattr(point, "expected", point.empirical), point.intervals
        scores = classifier.decision_function(X_new)
        tpr, fpr = (float((scores[own] > 0).mean()) for own in (y_new, ~y_new))
        metric = METRICS[key]
        truth = tpr if isinstance(metric, RecallAtFPR) else metric.score(y_new, scores)
        value, ends = claim.metric, intervals.metric
        if isinstance(metric, RecallAtFPR):
            value, ends = claim.tpr, intervals.tpr
        found.append((key, value, *ends, truth, claim.fpr, *intervals.fpr, fpr))
    return found


def main() -> None:
    """Measure what is missing of the plan."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--label", default="now")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--share", default="1/1", help="k/m: every m-th draw, from the k-th on")
    parser.add_argument("--draws", type=float, default=1.0, help="of those planned, this part")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(DRAWS))
    parser.add_argument("--populations", nargs="*", default=POPULATIONS)
    options = parser.parse_args()
    first, step = map(int, options.share.split("/"))
    done = _done(options.results, options.label)
    made_of = commit()
    new = not options.results.exists()
    with options.results.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        for n_rows in options.sizes:
            for seed in range(first - 1, round(DRAWS[n_rows] * options.draws), step):
                for name in options.populations:
                    if (name, str(n_rows), str(seed)) in done:
                        continue
                    for key, *figures in claims(name, n_rows, seed):
                        shown = [f"{figure:.5f}" for figure in figures]
                        writer.writerow((options.label, made_of, name, n_rows, seed, key, *shown))
                    file.flush()


def _done(results: Path, label: str) -> set[tuple[str, str, str]]:
    if not results.exists():
        return set()
    with results.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["code"] == label]
    return {(row["population"], row["n"], row["seed"]) for row in rows}


def commit() -> str:
    """Return the commit that is measured."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603


if __name__ == "__main__":
    main()
