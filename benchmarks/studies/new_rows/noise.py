"""What classifiers promise where there is nothing to learn, against the truth on new rows.

``python -m benchmarks.studies.new_rows.noise`` fits cards and lines to columns that are independent
of the labels, generated ones and tables with permuted labels, and compares the expected metric and
its 95 % interval with what the fitted classifier does on new rows. Every fit is written to
``noise.csv`` when it is done, with the commit of the package, so that the run can be stopped and
taken up again; then ``noise.md`` is written. Each round fits every cell once.

``--cells a,n,perm:attrition`` selects cells by their names or by the beginnings of them (see
`noise_cells`), ``--fits`` is the number of rounds, ``--rounds`` writes the report after each of
them. ``--label`` names the code that is measured, by default by its commit; ``--report`` measures
nothing.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from dataclasses import replace
from math import inf, nan
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.markdown import header, line, write_report
from benchmarks.harness.record import Record, Row, package_commit
from benchmarks.harness.runner import measure_missing, option_parser
from benchmarks.studies.new_rows.noise_cells import CELLS, chance

REPORT = Path(__file__).with_suffix(".md")
FITS = 12
_FIRST_SEED = 100
_FIGURES: tuple[str, ...] = ("expected", "low", "high", "empirical", "truth", "chance")
_GAPS = tuple(f"{of}{end}" for of in ("gap", "straight") for end in ("", " low", " high"))
_FIGURES += (*_GAPS, "crosses", "seconds")
_COLUMNS = ("code", "commit", "cell", "seed", "better", *_FIGURES)
RECORD = Record(Path(__file__).with_suffix(".csv"), _COLUMNS, ("code", "cell", "seed"))


def measured(code: str, cell: str, seed: int) -> list[tuple[Any, ...]]:
    """Return a row: what a classifier expects, and the truth on new rows."""
    spec = CELLS[cell]
    sample, new = spec.draw(seed)
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few rows, and of columns that never repeat
        fitted = spec.fit(sample)
    seconds = process_time() - start
    point, report = fitted.operating_point_, fitted.report_
    metric, scores = point.metric, spec.scores(fitted, new)
    if metric.limit is None:
        truth = metric.score(new.y, scores, new.weight)
    else:  # the metric at the threshold of the classifier, not at the best one of new rows
        weight = np.ones(len(new.y)) if new.weight is None else new.weight
        truth = float(np.average(scores[new.y] > 0, weights=weight[new.y]))
    figures = (
        point.expected.metric,
        *point.intervals.metric,
        point.empirical.metric,
        truth,
        chance(metric, float(sample.y.mean())),
        *report.gap,
        *((nan, nan, nan) if report.straight is None else report.straight),
        len(fitted.card_.crosses) if hasattr(fitted, "card_") else 0,
        seconds,
    )
    better = "more" if metric.greater_is_better else "less"
    about = (code, package_commit(), cell, seed, better)
    return [(*about, *(f"{figure:.5g}" for figure in figures))]


def planned(label: str, cells: list[str], seeds: range) -> Iterator[tuple[str, str, int]]:
    """Yield label, cell and seed of each fit, in rounds over the cells."""
    for seed in seeds:
        yield from ((label, cell, seed) for cell in cells)


def selected(names: str) -> list[str]:
    """Return the cells with given names, or whose names begin with them."""
    if not names:
        return list(CELLS)
    cells = [
        cell
        for cell in CELLS
        if any(cell == name or cell.startswith(f"{name}:") for name in names.split(","))
    ]
    if not cells:
        msg = f"no cell is named {names!r}; there are {', '.join(CELLS)}"
        raise ValueError(msg)
    return cells


class Summary(NamedTuple):
    """Figures of several fits of one cell; a bias above zero is optimistic."""

    fits: int
    expected: float
    expected_error: float
    truth: float
    bias: float
    bias_error: float
    excluded: float
    above_chance: float
    rosier: float
    false_gaps: float
    no_width: float
    crosses: float
    seconds: float


def summary(rows: list[Row]) -> Summary:
    """Return the figures of the fits of one cell."""
    figures = np.array([[float(row[name]) for name in _FIGURES] for row in rows])
    expected, low, high, empirical, truth, base, *gaps, crosses, seconds = figures.T
    gap, gap_low, gap_high = (np.array(gaps[part::3]) for part in range(3))
    sign = 1.0 if rows[0]["better"] == "more" else -1.0
    bias = sign * (expected - truth)
    above = (low > base) if sign > 0 else (high < base)
    return Summary(
        len(rows),
        expected.mean(),
        _standard_error(expected),
        truth.mean(),
        bias.mean(),
        _standard_error(bias),
        ((truth < low) | (truth > high)).mean(),
        above.mean(),
        (sign * (expected - empirical) > 1e-9).mean(),
        ((gap_low > 0.0) | (gap_high < 0.0)).sum() / max((~np.isnan(gap_low)).sum(), 1),
        ((gap_low == gap_high) & ((gap != 0.0) | [[False], [True]])).any(axis=0).mean(),
        crosses.mean(),
        seconds.mean(),
    )


def _standard_error(values: Any) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else inf


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        "Labels are independent of all columns, so that no classifier has any signal to find. "
        "Expected is the metric that a fit promises on new rows, truth what its classifier has "
        "there. The bias (expected minus truth; above zero is optimistic in every line) is "
        "followed by its standard error. Then shares of fits: of 95 % intervals that exclude the "
        "truth; of intervals that lie wholly on the better side of chance; where more is expected "
        "than held-out rows showed to the choice. Gaps found is the share of intervals of gaps to "
        "logistic regression (on the same bins, and without bins) that exclude zero, where the "
        "models rank new rows alike; no width the share of fits with such a gap of no width. Then "
        "the mean number of crosses, and CPU seconds of a fit."
    )
    text = ["# Promises on noise", "", about]
    for code in dict.fromkeys(row["code"] for row in rows):
        chosen = [row for row in rows if row["code"] == code]
        commits = ", ".join(dict.fromkeys(row["commit"] for row in chosen))
        text += ["", f"## {code} (commit {commits})", ""]
        text += header(
            "cell",
            "rows and classifier",
            "fits",
            "expected",
            "truth",
            "bias",
            "excluded",
            "above chance",
            "above empirical",
            "gaps found",
            "no width",
            "crosses",
            "CPU s",
        )
        for cell, spec in CELLS.items():
            fits = [row for row in chosen if row["cell"] == cell]
            if fits:
                text.append(_line(cell, spec.text, summary(fits)))
    return text


def _line(cell: str, text: str, of: Summary) -> str:
    return line(
        cell,
        text,
        str(of.fits),
        f"{of.expected:.3f}{_error_text(of.expected_error)}",
        f"{of.truth:.3f}",
        f"{of.bias:+.3f}{_error_text(of.bias_error)}",
        f"{of.excluded:.0%}",
        f"{of.above_chance:.0%}",
        f"{of.rosier:.0%}",
        f"{of.false_gaps:.0%}",
        f"{of.no_width:.0%}",
        f"{of.crosses:.1f}",
        f"{of.seconds:.1f}",
    )


def _error_text(error: float) -> str:
    return f" ± {error:.3f}" if error < inf else ""


def main() -> None:
    """Measure what is missing of the plan, and report."""
    parser = option_parser(__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--cells", default="", help="names, or beginnings of names")
    parser.add_argument("--fits", type=int, default=FITS, help="of each cell")
    parser.add_argument("--rounds", action="store_true", help="write the report after each round")
    parser.add_argument("--label", help="name of the code; by default its commit")
    parser.add_argument("--minutes", type=float, default=inf, help="after which no fit is begun")
    parser.add_argument("--results", type=Path, default=RECORD.path, help="another file")
    args = parser.parse_args()
    record = replace(RECORD, path=args.results)
    report = args.results.with_suffix(".md")
    seeds = range(_FIRST_SEED, _FIRST_SEED + args.fits)
    cells, label = selected(args.cells), args.label or package_commit()
    if not args.report:
        rounds = [range(seed, seed + 1) for seed in seeds] if args.rounds else [seeds]
        for part in rounds:
            plan = planned(label, cells, part)
            measure_missing(record, plan, measured, minutes=args.minutes)
            if args.rounds:
                write_report(report, lines(record.rows()))
    write_report(report, lines(record.rows()))


if __name__ == "__main__":
    main()
