"""Bias and coverage of what DirectClassifier claims, against the truth on 60,000 new rows.

``python -m benchmarks.studies.new_rows.claims`` draws samples of 300, 2,000 and 10,000 rows from
five populations, fits a `DirectClassifier` to each of five metrics, and compares its claims and
95 % intervals with what the classifier does on other rows of the population. Every draw is written
to ``claims.csv`` when it is done, with the commit it was measured on, so that the run can be
stopped and taken up again; then ``claims.md`` is written. ``--label`` names the code that is
measured, in a column of its own; ``--report`` measures nothing.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness.markdown import header, line, write_report
from benchmarks.harness.record import Record, Row, commit
from benchmarks.harness.runner import measure_missing, option_parser
from benchmarks.studies.new_rows.populations import POPULATIONS, draw
from directrix import DirectClassifier
from directrix._typing import FloatArray
from directrix.metrics import AUC, Error, FBeta, RecallAtFPR

REPORT = Path(__file__).with_suffix(".md")
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
_COLUMNS = ("code", "commit", "population", "n", "seed", "metric", *_FIGURES)
RECORD = Record(Path(__file__).with_suffix(".csv"), _COLUMNS, ("code", "population", "n", "seed"))


def measured(code: str, name: str, n_rows: int, seed: int) -> list[tuple[Any, ...]]:
    """Return a row for each metric: the claim, its interval and the truth, and the same of FPR."""
    X, y, X_new, y_new = draw(name, n_rows, seed)
    if len(y_new) < 2 * n_rows or min(y.sum(), (~y).sum()) < 10:
        return []  # too few new rows to tell the truth by, or too few of a class to fold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where nothing beats logistic regression, and rare rows
        fitted = DirectClassifier().fit_each(list(METRICS.values()), X, y)
    rows = []
    for key, classifier in zip(METRICS, fitted, strict=True):
        point, metric = classifier.operating_point_, METRICS[key]
        claim, intervals = getattr(point, "expected", point.empirical), point.intervals
        scores = classifier.decision_function(X_new)
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


def summary(rows: FloatArray, *, less_is_better: bool) -> tuple[float, float, float, float]:
    """Return bias, coverage of the metric and of the FPR, and the mean FPR on new rows.

    The bias is in units of the deviation of claim minus truth; above zero is optimistic.
    """
    claim, low, high, truth, _, fpr_low, fpr_high, fpr = rows.T
    off = (truth - claim) if less_is_better else (claim - truth)
    covered = ((low <= truth) & (truth <= high)).mean()
    fpr_covered = ((fpr_low <= fpr) & (fpr <= fpr_high)).mean()
    return off.mean() / off.std(), covered, fpr_covered, fpr.mean()


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        "Bias is that of the claim in units of the deviation of claim minus truth (above zero is "
        "rosy): in the mean of the populations, and in the worst. Coverage is that of 95 % "
        "intervals: mean, and least. `before` claims what held-out rows show, `now` what is "
        "expected on new rows."
    )
    text = ["# Claims against the truth", "", about]
    for code in dict.fromkeys(row["code"] for row in rows):
        commits = ", ".join(dict.fromkeys(row["commit"] for row in rows if row["code"] == code))
        text += ["", f"## {code} (commit {commits})", ""]
        text += header(
            "rows",
            "metric",
            "populations",
            "draws",
            "bias",
            "worst",
            "coverage",
            "least",
            "FPR / limit",
            "worst",
            "coverage of FPR",
        )
        for n_rows in DRAWS:
            text += [_line(rows, code, n_rows, key) for key in METRICS]
    return text


def _line(rows: list[Row], code: str, n_rows: int, key: str) -> str:
    chosen = [
        row for row in rows if (row["code"], row["n"], row["metric"]) == (code, str(n_rows), key)
    ]
    names = list(dict.fromkeys(row["population"] for row in chosen))
    summaries, draws = [], []
    for name in names:
        figures = [
            [float(row[field]) for field in _FIGURES] for row in chosen if row["population"] == name
        ]
        draws.append(len(figures))
        less_is_better = not METRICS[key].greater_is_better
        summaries.append(summary(np.array(figures), less_is_better=less_is_better))
    if not summaries:
        return line(str(n_rows), key, "0", *[""] * 8)
    bias, covered, fpr_covered, fpr = np.array(summaries).T
    worst = bias[np.abs(bias).argmax()]
    limit = METRICS[key].limit
    at_limit = ["", "", ""]
    if limit is not None:
        ratio = fpr / limit.value
        at_limit = [f"{ratio.mean():.2f}", f"{ratio.max():.2f}", f"{fpr_covered.mean():.2f}"]
    return line(
        str(n_rows),
        key,
        str(len(names)),
        f"{min(draws)} to {max(draws)}",
        f"{bias.mean():+.2f}",
        f"{worst:+.2f}",
        f"{covered.mean():.3f}",
        f"{covered.min():.2f}",
        *at_limit,
    )


def main() -> None:
    """Measure what is missing of the plan, and report."""
    parser = option_parser(__doc__)
    parser.add_argument("--label", default="now")
    parser.add_argument("--results", type=Path, default=RECORD.path, help="another file")
    parser.add_argument("--share", default="1/1", help="k/m: every m-th draw, from the k-th on")
    parser.add_argument("--draws", type=float, default=1.0, help="of those planned, this part")
    parser.add_argument("--sizes", type=int, nargs="*", default=list(DRAWS))
    parser.add_argument("--populations", nargs="*", default=POPULATIONS)
    args = parser.parse_args()
    if not args.report:
        measure_missing(replace(RECORD, path=args.results), planned(args), measured)
    write_report(REPORT, lines(RECORD.rows()))


if __name__ == "__main__":
    main()
