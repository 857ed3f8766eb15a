"""Editing to please the number: what a card shows after edits that were chosen by what it shows.

``python -m benchmarks.studies.cards.edits`` draws samples from large tables, edits a card of each
50 times, and compares what is reported with the same card on all other rows of the table.
``--quick`` makes one trial of each table and metric.

* 1,500 rows a sample, ten columns of at most 16 bins; a card of at most 30 lines from counts,
  without crosses, three folds. A fifth of the rows is the lockbox.
* In each of 50 rounds two edits are drawn at random: lines merged, cuts set anywhere, a column
  dropped, a direction, and most often points typed in (up to 20 hundredths of the range of a column
  more or less). The one with the best expected value on held-out rows is kept, if it beats the
  present card: whoever edits looks at nothing else.
* Reported are the interval of held-out rows, which the edits have seen, and that of the lockbox,
  read once at the end. The truth is the metric of the edited card, at its cutoff, on up to 40,000
  rows that are in neither.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import product
from statistics import fmean
from typing import Any

import numpy as np

from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, commit, grouped_by, numbers
from benchmarks.harness.runner import Part, Study, timed
from benchmarks.studies.new_rows.populations import draw
from directrix import Binner, ScorecardClassifier
from directrix.classifiers import Card, CardEditor
from directrix.exceptions import EditError
from directrix.metrics.base import Curve, Metric
from directrix.metrics.table import resolve

POPULATIONS = ("give_me_some_credit", "covtype", "susy_30k", "census_income")
METRICS = ("auc", "recall@fpr=0.1")
SEEDS, N_ROWS, N_COLUMNS, ROUNDS, PROPOSALS = 25, 1_500, 10, 50, 2
#: Rows that the truth is measured on, at most.
MOST_NEW = 40_000
#: Kinds of edits that are drawn, each as often as it is listed.
KINDS = ("merge", "cuts", "drop", "monotone", "points", "points", "points", "points")
#: Largest change of points, as a share of the range of the points of all columns.
_CHANGE = 0.2

RECORD = Record.beside(
    __file__,
    "population, metric, seed, edits, start, start_low, start_high, start_true, shown, shown_low, "
    "shown_high, lockbox, lockbox_low, lockbox_high, true, cpu, commit",
    "population, metric, seed",
)


def proposal(edit: CardEditor, rng: Any, X: Any) -> CardEditor | None:  # noqa: PLR0911 - a kind each
    """Return an editor after one random edit; None if it cannot be made."""
    kind = KINDS[int(rng.integers(len(KINDS)))]
    used = [k for k in range(X.shape[1]) if len(edit.lines(k)) > 1]
    if not used:
        return None
    column = int(rng.choice(used))
    lines = edit.lines(column)
    try:
        if kind == "merge":
            first = int(rng.integers(len(lines) - 1))
            return edit.merge(column, first, first + 1)
        if kind == "cuts":
            values = np.unique(X[:, column])
            cuts = rng.choice(values, min(int(rng.integers(1, 6)), len(values)), replace=False)
            return edit.cuts(column, sorted(cuts.tolist()))
        if kind == "drop":
            return edit.drop(column)
        if kind == "monotone":
            return edit.monotone(column, str(rng.choice(["increasing", "decreasing"])))
        points = [line.points for k in used for line in edit.lines(k)]
        change = _CHANGE * float(np.ptp(points)) * rng.uniform(-1.0, 1.0)
        line = int(rng.integers(len(lines)))
        return edit.points(column, {line: lines[line].points + change})
    except EditError:
        return None


def pleased(edit: CardEditor, rng: Any, X: Any, metric: Metric) -> CardEditor:
    """Return the editor after rounds of edits; those are kept that show a better number."""
    for _ in range(ROUNDS):
        tried = [each for _ in range(PROPOSALS) if (each := proposal(edit, rng, X)) is not None]
        best = max(tried, key=lambda each: metric.as_score(each.expected.value), default=edit)
        if metric.as_score(best.expected.value) > metric.as_score(edit.expected.value):
            edit = best
    return edit


def on_rows(card: Card, metric: Metric, X: Any, y: Any) -> float:
    """Return the metric of a card on rows, at its cutoff."""
    cells = np.column_stack(
        [bins.cells(column) for bins, column in zip(card.bins, X.T, strict=True)]
    )
    scores = card.scores(cells)
    if not metric.uses_threshold:
        return metric.best_value(Curve.of(y, scores))
    rates = [float((scores[side] > 0).mean()) for side in (y, ~y)]
    return float(metric.at_rates(*rates, float(y.mean())))


def trial(population: str, name: str, seed: int) -> list[Any]:
    """Return what is shown before and after edits, what the lockbox shows, and the truth."""
    X, y, X_new, y_new = draw(population, N_ROWS, seed)
    X, X_new, metric = X[:, :N_COLUMNS], X_new[:MOST_NEW, :N_COLUMNS], resolve(name)
    y_new = y_new[:MOST_NEW]
    settings = {"max_lines": 30, "max_crosses": 0, "learn_from": "counts", "cv": 3}
    binner = Binner(max_bins=16)
    edit = ScorecardClassifier(metric, binner=binner, warn_baseline=False, **settings).edit(X, y)
    before, true_before = edit.expected, on_rows(edit.card, metric, X_new, y_new)
    edit = pleased(edit, np.random.default_rng(seed), X, metric)
    fitted = edit.fit()
    read = fitted.report_.expected
    true = on_rows(fitted.card_, metric, X_new, y_new)
    return [edit.n_edits, *before, true_before, *edit.expected, *read, true]


def measure(population: str, name: str, seed: int) -> list[list[Any]]:
    """Return the row of one trial."""
    found, seconds = timed(trial, population, name, int(seed))
    texts = [found[0], *(f"{value:.6f}" for value in found[1:])]
    return [[population, name, seed, *texts, f"{seconds:.2f}", commit()]]


def plan(args: argparse.Namespace) -> Iterable[tuple[object, ...]]:
    """Return the trials, one of each table and metric after another."""
    seeds = range(1 if args.quick else SEEDS)
    return ((name, metric, seed) for seed, name, metric in product(seeds, POPULATIONS, METRICS))


def _covered(rows: list[Row], kind: str, true: str = "true") -> str:
    low, high, truth = (numbers(rows, column) for column in (f"{kind}_low", f"{kind}_high", true))
    inside = [a <= t <= b for a, b, t in zip(low, high, truth, strict=True)]
    return f"{sum(inside)} of {len(inside)} ({100.0 * fmean(inside):.1f} %)"


def _too_good(rows: list[Row], kind: str, true: str = "true") -> str:
    metric = resolve(rows[0]["metric"])
    pairs = zip(numbers(rows, kind), numbers(rows, true), strict=True)
    return f"{fmean(metric.as_score(shown) - metric.as_score(t) for shown, t in pairs):+.4f}"


def _width(rows: list[Row], kind: str) -> str:
    pairs = zip(numbers(rows, f"{kind}_low"), numbers(rows, f"{kind}_high"), strict=True)
    return f"{fmean(high - low for low, high in pairs):.3f}"


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    made = []
    groups = {
        ("all", metric): [row for row in rows if row["metric"] == metric] for metric in METRICS
    }
    groups |= grouped_by(rows, "population", "metric")
    for (population, metric), found in groups.items():
        if found:
            before = _covered(found, "start", "start_true"), _too_good(found, "start", "start_true")
            after = _covered(found, "shown"), _too_good(found, "shown")
            box = _covered(found, "lockbox"), _too_good(found, "lockbox")
            widths = _width(found, "shown"), _width(found, "lockbox")
            edits = f"{fmean(numbers(found, 'edits')):.0f}"
            made.append((population, metric, len(found), edits, *before, *after, *box, *widths))
    every = {
        "before edits, on held-out rows": _covered(rows, "start", "start_true"),
        "after edits, on the same held-out rows": _covered(rows, "shown"),
        "after edits, in the lockbox": _covered(rows, "lockbox"),
    }
    return [
        "# Editing to please the number",
        "",
        f"{len(rows)} trials; {fmean(numbers(rows, 'cpu')):.1f} CPU seconds each.",
        "",
        "Reported 95 % intervals that hold the truth:",
        "",
        *(f"- {name}: **{text}**" for name, text in every.items()),
        "",
        *table(
            "table | metric | trials | edits kept | before: covered | too good by | "
            "after edits, held out: covered | too good by | lockbox: covered | too good by | "
            "width held out | width lockbox",
            made,
        ),
        "",
        (__doc__ or "").partition("\n\n")[2].strip(),
    ]


STUDY = Study(
    [Part(RECORD, plan, measure)],
    lines,
    quick="one trial of each table and metric",
    options={"--minutes": None, "--jobs": None},
)

if __name__ == "__main__":
    STUDY.main(__doc__)
