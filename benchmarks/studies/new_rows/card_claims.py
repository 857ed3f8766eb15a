"""Bias and coverage of what scorecards claim, against the truth on other rows of the population.

``python -m benchmarks.studies.new_rows.card_claims`` draws samples of 1,000 and 3,000 rows from
three real tables and a generated one, fits nine kinds of cards to each, and compares the expected
recall, false-positive rate, precision and metric and their 95 % intervals with what the card does
on up to 60,000 other rows. The gap to logistic regression without bins is compared with the gap to
a logistic regression that is rebuilt from the same bins (see `card_populations.StraightLine`). The
gap to the baseline on the same bins and the gap of rounding are recorded with their intervals
only: a fitted card has no trace of these two models, so that their truth is not known.

Every fit is written to ``card_claims.csv`` when it is done, with the commit of the package, so that
the run can be stopped and taken up again; then ``card_claims.md`` is written. ``--label`` names the
code that is measured, by default by its commit; ``--report`` measures nothing.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import inf, nan
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from benchmarks.harness.markdown import header, line, write_report
from benchmarks.harness.record import Record, Row, package_commit
from benchmarks.harness.runner import measure_missing, option_parser
from benchmarks.studies.new_rows.card_populations import (
    LIMIT,
    POPULATIONS,
    VARIANTS,
    Draw,
    StraightLine,
    card,
    draw,
)
from directrix._typing import FloatArray
from directrix.metrics.base import Metric
from directrix.metrics.curve import Curve
from directrix.metrics.table import resolve

REPORT = Path(__file__).with_suffix(".md")
SIZES = (1_000, 3_000)
DRAWS = 40
_RATES = {"recall": "tpr", "FPR": "fpr", "precision": "precision", "metric": "metric"}
_GAPS = ("gap", "straight", "rounding")
_FIGURES = tuple(f"{rate}{end}" for rate in _RATES for end in ("", " low", " high", " truth"))
_FIGURES += tuple(f"{gap}{end}" for gap in _GAPS for end in ("", " low", " high"))
_FIGURES += ("straight truth", "empirical", "crosses", "seconds")
_KEY = ("code", "population", "n", "seed", "variant")
RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    ("code", "commit", "population", "n", "seed", "variant", *_FIGURES),
    _KEY,
)


@lru_cache(maxsize=1)
def _straight_scores(population: str, n_rows: int, seed: int) -> tuple[Draw, FloatArray]:
    """Return a draw, and the scores of its new rows by logistic regression without bins."""
    rows = draw(population, n_rows, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a line of little ridge may not converge
        model = StraightLine().fit(rows.X, rows.y)
    return rows, model.decision_function(rows.X_new)


def best_value(metric: Metric, y: Any, scores: FloatArray) -> float:
    """Return a metric at the best threshold for these rows; a gap compares models at theirs."""
    if metric.uses_threshold and metric.limit is None:
        return float(metric.best(Curve.of(y, scores)).value)
    return float(metric.score(y, scores))


def measured(
    code: str, population: str, n_rows: int, seed: int, variant: str
) -> list[tuple[Any, ...]]:
    """Return a row: what a card claims, and the truth on other rows of the population."""
    rows, straight_scores = _straight_scores(population, n_rows, seed)
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rare rows, and of directions that rows contradict
        fitted = card(population, variant).fit(rows.X, rows.y)
    seconds = process_time() - start
    point, report, y = fitted.operating_point_, fitted.report_, rows.y_new
    metric, scores = point.metric, np.asarray(fitted.decision_function(rows.X_new))
    above = scores > 0
    truth = {
        "recall": above[y].mean(),
        "FPR": above[~y].mean(),
        "precision": y[above].mean() if above.any() else nan,
    }
    truth["metric"] = metric.score(y, scores) if metric.limit is None else truth["recall"]
    figures: list[float] = []
    for rate, field in _RATES.items():
        interval = getattr(point.intervals, field)
        figures += [getattr(point.expected, field), *interval, truth[rate]]
    for name in _GAPS:
        gap = getattr(report, name)
        figures += [nan] * 3 if gap is None else gap
    sign = 1.0 if metric.greater_is_better else -1.0
    better = best_value(metric, y, scores) - best_value(metric, y, straight_scores)
    figures += [sign * better, point.empirical.metric, len(fitted.card_.crosses), seconds]
    about = (code, package_commit(), population, n_rows, seed, variant)
    return [(*about, *(f"{figure:.5g}" for figure in figures))]


def planned(args: argparse.Namespace, label: str) -> Iterator[tuple[str, str, int, int, str]]:
    """Yield label, population, rows, seed and variant of each fit, in rounds over all of them."""
    for seed, n_rows in product(range(args.draws), args.sizes):
        for population, variant in product(args.populations, args.variants):
            yield label, population, n_rows, seed, variant


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        "The bias is the mean of expected minus true metric (above zero is optimistic), with its "
        "standard error, and in units of the deviation of this difference. Coverage is the share "
        "of 95 % intervals that contain the truth; each share is followed by its standard error. "
        "The gap is that to logistic regression without bins, whose truth is that of a rebuilt "
        "model and therefore approximate. "
        f"FPR is the mean on new rows, and broken the share of fits above the limit of {LIMIT:g}, "
        "where there is one. No width counts fits with a gap of no width to another model."
    )
    text = ["# Claims of scorecards against the truth", "", about]
    for code in dict.fromkeys(row["code"] for row in rows):
        of_code = [row for row in rows if row["code"] == code]
        commits = ", ".join(dict.fromkeys(row["commit"] for row in of_code))
        text += ["", f"## {code} (commit {commits})", ""]
        titles = ("bias", "in deviations", "recall", "FPR", "precision", "metric", "gap")
        ends = ("mean FPR", "broken", "no width", "crosses", "CPU s")
        text += header("population", "rows", "card", "draws", *titles, *ends)
        for n_rows, variant in product(SIZES, VARIANTS):
            fits = [row for row in of_code if row["n"] == str(n_rows) and row["variant"] == variant]
            for population in (*POPULATIONS, "all"):
                chosen = [row for row in fits if population in ("all", row["population"])]
                if chosen:
                    text.append(_line(population, n_rows, variant, chosen))
    return text


def _line(population: str, n_rows: int, variant: str, rows: list[Row]) -> str:
    figures = {name: np.array([float(row[name]) for row in rows]) for name in _FIGURES}
    metric = resolve(VARIANTS[variant]["metric"])
    sign = 1.0 if metric.greater_is_better else -1.0
    off = sign * (figures["metric"] - figures["metric truth"])
    error = off.std(ddof=1) / np.sqrt(len(off)) if len(off) > 1 else nan
    coverages = [_coverage(figures, name) for name in (*_RATES, "straight")]
    fpr = figures["FPR truth"]
    broken = "" if metric.limit is None else _share(fpr > LIMIT)
    no_width = [
        (figures[f"{gap} low"] == figures[f"{gap} high"])
        & ((figures[gap] != 0.0) | (gap == "straight"))
        for gap in _GAPS
    ]
    return line(
        population,
        f"{n_rows:,}",
        variant,
        str(len(rows)),
        f"{off.mean():+.4f} ± {error:.4f}",
        f"{off.mean() / off.std():+.2f}" if len(off) > 1 else "",
        *coverages,
        f"{fpr.mean():.3f}",
        broken,
        f"{np.any(no_width, axis=0).mean():.0%}",
        f"{figures['crosses'].mean():.1f}",
        f"{figures['seconds'].mean():.1f}",
    )


def _coverage(figures: dict[str, FloatArray], name: str) -> str:
    low, high, truth = (figures[f"{name} {part}"] for part in ("low", "high", "truth"))
    known = ~(np.isnan(low) | np.isnan(high) | np.isnan(truth))
    return _share(((low <= truth) & (truth <= high))[known])


def _share(hits: Any) -> str:
    """Return a share with its standard error, which is not zero where all are alike."""
    n = len(hits)
    if n == 0:
        return ""
    near = (hits.sum() + 2.0) / (n + 4.0)  # Agresti and Coull (1998)
    return f"{hits.mean():.2f} ± {np.sqrt(near * (1.0 - near) / (n + 4.0)):.2f}"


def main() -> None:
    """Measure what is missing of the plan, and report."""
    parser = option_parser(__doc__)
    parser.add_argument("--label", help="name of the code; by default its commit")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--populations", nargs="*", default=POPULATIONS)
    parser.add_argument("--variants", nargs="*", default=tuple(VARIANTS))
    parser.add_argument("--minutes", type=float, default=inf, help="after which no fit is begun")
    parser.add_argument("--results", type=Path, default=RECORD.path, help="another file")
    args = parser.parse_args()
    record = replace(RECORD, path=args.results)
    if not args.report:
        plan = planned(args, args.label or package_commit())
        measure_missing(record, plan, measured, minutes=args.minutes)
    write_report(args.results.with_suffix(".md"), lines(record.rows()))


if __name__ == "__main__":
    main()
