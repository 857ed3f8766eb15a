"""What directions cost: cards, LightGBM and EBM with and without monotone columns.

``python -m benchmarks.studies.cards.monotone_cards`` fits three families to five tables of credit
risk, once as they are and once with the directions of ``directions.py``, which were written before
any was measured, and appends the quality on held-out rows and the directions that the fitted model
breaks to ``monotone_cards.csv``; it goes on where it stopped. ``--quick`` measures one fold of the
two smallest tables, ``--report`` only writes the report.

Five folds, at most 10,000 rows a table, the same for all.

* The scorecard is trained for the recall at 5 % false positives, by its defaults.
* LightGBM is tuned as in the arena of tables (7 or 31 leaves, learning rate 0.1 or 0.03, early
  stopping, three inner folds), EBM has four outer bags. Both constrain numbers only: texts with a
  direction are ranks for them, with and without the constraint; other texts are categories.
* Levels of fewer than ten training rows are free: the card has no points of their own.
* A direction is broken if the score goes back anywhere on walks along its column, through all
  values that the training rows have (200 at most) and all levels, from 50 real rows.
* CPU is that of the whole choice, with the scores of the test rows and of the walks.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from statistics import fmean, median, stdev
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.harness.markdown import header, line, write_report
from benchmarks.harness.record import Record, commit
from benchmarks.harness.runner import measure_missing, option_parser
from benchmarks.rivals.base import Rival
from benchmarks.rivals.ours import Ours
from benchmarks.rivals.tables import ExplainableBoosting, LightGBM
from benchmarks.studies.cards.directions import DEMANDS, frequent, monotone, signs, with_ranks
from benchmarks.studies.cards.folds import FOLDS, split
from benchmarks.studies.cards.walks import Walks
from directrix import ScorecardClassifier
from directrix.metrics import AUC, RecallAtFPR

RECALL = "recall at FPR 5 %"
METRICS: dict[str, Any] = {RECALL: RecallAtFPR(0.05), "AUC": AUC()}
#: Each plain, then with directions.
FAMILIES = {
    "scorecard": ("scorecard", "scorecard, monotone"),
    "LightGBM": ("LightGBM", "LightGBM, monotone"),
    "EBM": ("EBM", "EBM, monotone"),
}
QUICK = ("german_credit", "credit_data")


class Method(NamedTuple):
    """A competitor made for the directions of a table; ``ranked`` if texts have to be ranks."""

    make: Callable[[Mapping[str, Any]], Rival]
    ranked: bool = True


METHODS: dict[str, Method] = {
    "scorecard": Method(lambda _: Ours(ScorecardClassifier), ranked=False),
    "scorecard, monotone": Method(
        lambda wanted: Ours(ScorecardClassifier, monotone=dict(wanted)), ranked=False
    ),
    "LightGBM": Method(lambda _: LightGBM()),
    "LightGBM, monotone": Method(lambda wanted: LightGBM(signs(wanted))),
    "EBM": Method(lambda _: ExplainableBoosting(4)),
    "EBM, monotone": Method(lambda wanted: ExplainableBoosting(4, signs(wanted))),
}
RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    ("set", "fold", "method", "cpu", *METRICS, "directions", "violated", "wrong_share", "commit"),
    ("set", "fold", "method"),
)
REPORT = Path(__file__).with_suffix(".md")


def measure(name: str, fold: int, method: str) -> Iterator[tuple[object, ...]]:
    """Yield the quality of one method on one fold, and the directions that it breaks."""
    train, test = split(name, fold)
    yield (name, fold, method, *quality(METHODS[method], train, test, monotone(name)), commit())


def quality(
    method: Method, train: Rows, test: Rows, directions: Mapping[str, Any]
) -> tuple[object, ...]:
    """Return CPU seconds, both metrics, the number of directions, and how they are kept."""
    import pandas as pd  # noqa: PLC0415 - reports need none

    known = frequent(directions, train.X)
    walks = Walks.of(train.X, known)
    fitted, scored = train.X, pd.concat([test.X, walks.frame], ignore_index=True)
    if method.ranked:
        fitted, scored = (with_ranks(frame, directions) for frame in (fitted, scored))
    unknown = np.zeros(len(scored), dtype=bool)
    rival = method.make(known)
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes, and where a straight line is as good
        scores = rival.scores(
            Rows(fitted, train.y), Rows(scored, unknown), {RECALL: METRICS[RECALL]}
        )[RECALL]
    spent = process_time() - start
    of_test, of_walks = scores[: len(test.y)], scores[len(test.y) :]
    values = (f"{metric.score(test.y, of_test):.6g}" for metric in METRICS.values())
    kept = walks.kept(of_walks)
    return f"{spent:.3g}", *values, len(directions), kept.violated, f"{kept.wrong_share:.3g}"


# ── the report ────────────────────────────────────────────────────────────────────────────────────


class Results:
    """What the record has, by column, table and method, of folds that all methods have."""

    def __init__(self, rows: list[dict[str, str]]) -> None:
        by_fold: dict[tuple[str, str], dict[str, dict[str, str]]] = defaultdict(dict)
        for row in rows:
            by_fold[row["set"], row["fold"]][row["method"]] = row
        self.whole = {key: of for key, of in by_fold.items() if len(of) == len(METHODS)}
        self.names = [name for name in DEMANDS if any(key[0] == name for key in self.whole)]

    def column(self, name: str, method: str, column: str) -> list[float]:
        """Return one value for each fold of a table."""
        return [
            float(of[method][column]) for key, of in sorted(self.whole.items()) if key[0] == name
        ]

    def mean(self, name: str, method: str, column: str) -> float:
        """Return the mean over the folds of a table."""
        return fmean(self.column(name, method, column))

    def price(self, family: str, column: str) -> tuple[float, float]:
        """Return the mean of monotone less plain over the tables, and its standard error."""
        plain, directed = FAMILIES[family]
        of_tables = [
            self.mean(name, directed, column) - self.mean(name, plain, column)
            for name in self.names
        ]
        error = stdev(of_tables) / len(of_tables) ** 0.5 if len(of_tables) > 1 else float("nan")
        return fmean(of_tables), error

    def ratio(self, method: str, to: str) -> float:
        """Return the median ratio of CPU seconds on the same folds."""
        return median(
            ours / theirs
            for name in self.names
            for ours, theirs in zip(
                self.column(name, method, "cpu"), self.column(name, to, "cpu"), strict=True
            )
        )


def lines() -> list[str]:
    """Return the report."""
    title = ["# Directions of columns, and what they cost", "", "How: see `monotone_cards.py`."]
    results = Results(RECORD.rows())
    if not results.names:
        return [*title, "", "Nothing was measured yet."]
    return [*title, *_prices(results), *_values(results), *_violations(results), *_demands()]


def _prices(results: Results) -> list[str]:
    text = ["", f"## Monotone less plain, mean of {len(results.names)} tables (standard error)", ""]
    text += header("family", *METRICS, "CPU, monotone to plain", "CPU, monotone to plain EBM")
    for family, (plain, directed) in FAMILIES.items():
        prices = (results.price(family, metric) for metric in METRICS)
        cells = (f"{mean:+.4f} ({error:.4f})" for mean, error in prices)
        ratios = (f"{results.ratio(directed, to):.2f}" for to in (plain, "EBM"))
        text.append(line(family, *cells, *ratios))
    return text


def _values(results: Results) -> list[str]:
    text = []
    for metric in METRICS:
        text += ["", f"## {metric[0].upper()}{metric[1:]}", "", *header("table", *METHODS)]
        for name in results.names:
            means = (results.mean(name, method, metric) for method in METHODS)
            text.append(line(name, *(f"{mean:.4f}" for mean in means)))
        means = (
            fmean(results.mean(n, method, metric) for n in results.names) for method in METHODS
        )
        text.append(line("mean", *(f"{mean:.4f}" for mean in means)))
    return text


def _violations(results: Results) -> list[str]:
    text = ["", "## Broken directions, mean of folds (share of walks that go back)", ""]
    text += header("table", "directions", *METHODS)
    for name in results.names:
        cells = (
            f"{results.mean(name, method, 'violated'):.1f} "
            f"({results.mean(name, method, 'wrong_share'):.0%})"
            for method in METHODS
        )
        text.append(line(name, str(len(DEMANDS[name])), *cells))
    return text


def _demands() -> list[str]:
    text = ["", "## Directions", "", *header("table", "column", "risk", "why")]
    for name, demands in DEMANDS.items():
        for column, (direction, reason) in demands.items():
            shown = direction if isinstance(direction, str) else _order(direction)
            text.append(line(name, column, shown, reason))
    return text


def _order(levels: tuple[str, ...]) -> str:
    few = levels if len(levels) <= 5 else (*levels[:2], "…", *levels[-2:])
    return ", then ".join(few)


def main() -> None:
    """Measure what is missing, and write the report."""
    options = option_parser(__doc__, quick="one fold of the two smallest tables").parse_args()
    if not options.report:
        names, folds = (QUICK, 1) if options.quick else (tuple(DEMANDS), FOLDS)
        measure_missing(RECORD, product(names, range(folds), METHODS), measure)
    write_report(REPORT, lines())


if __name__ == "__main__":
    main()
