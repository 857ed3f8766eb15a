"""The card of one penalised likelihood against the card of many candidates, and boosting.

``python -m benchmarks.studies.cards.one_card`` fits the card and LightGBM, with 150 trees of 7
leaves and by its defaults, to twelve tables and twelve sets of numbers, at most 6,000 rows of each,
first one fold of all, then the next. ``--quick`` measures one fold of the two smallest tables;
``--folds`` says how many folds. The card of many candidates was measured on the same folds by the
last commits that made it, which the rows name. The report has the differences of both cards, and
the gate that decided which of them `ScorecardClassifier` makes.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import product
from statistics import fmean, stdev
from typing import Any

import numpy as np

from benchmarks.arena.protocol import GENERAL
from benchmarks.harness.data import TABLES
from benchmarks.harness.markdown import signed_error, table
from benchmarks.harness.record import Record, Row, package_commit
from benchmarks.harness.runner import Part, Study, timed
from benchmarks.rivals.base import LogLoss
from benchmarks.studies.cards.folds import FOLDS, split
from directrix import ScorecardClassifier
from directrix.metrics import AUC, RecallAtFPR

#: Every second of the general sets of numbers, from the smallest of 700 rows on.
NUMBERS = GENERAL[4:28:2]
MOST_ROWS = 6_000
QUICK = ("german_credit", "hmda_boston")
GROWN, LANDED = "one likelihood", "many candidates"
TREES = {"LightGBM, 7 leaves": {"n_estimators": 150, "num_leaves": 7}, "LightGBM": {}}
METHODS = (GROWN, LANDED, *TREES)
#: What can be measured; the other card is recorded.
MEASURED = (GROWN, *TREES)
METRICS: dict[str, Any] = {
    "AUC": AUC(),
    "recall at FPR 5 %": RecallAtFPR(0.05),
    "log loss": LogLoss(),
}
#: What the new card may lose in the mean of all sets, and its CPU time relative to the other's.
GATE = {"AUC": -0.001, "recall at FPR 5 %": -0.005, "log loss": 0.0005}
MOST_CPU = 0.4


def measure(fold: int, name: str, missing: list[tuple[str]]) -> list[tuple[object, ...]]:
    """Fit the missing methods to one fold of one set."""
    train, test = split(name, fold, MOST_ROWS)
    rows = []
    for (method,) in missing:
        X, tested = train.X, test.X
        if method in TREES:
            from lightgbm import LGBMClassifier  # noqa: PLC0415 - optional

            classifier: Any = LGBMClassifier(**TREES[method], n_jobs=1, verbose=-1)
            texts = X.select_dtypes(exclude="number").columns
            kinds = {text: X[text].astype("category").dtype for text in texts}
            X, tested = X.astype(kinds), tested.astype(kinds)
        else:
            classifier = ScorecardClassifier("auc")
        _, cpu = timed(classifier.fit, X, train.y)
        chance = np.clip(classifier.predict_proba(tested)[:, 1], 1e-15, 1.0 - 1e-15)
        odds = np.log(chance / (1.0 - chance))
        values = [f"{metric.score(test.y, odds):.6g}" for metric in METRICS.values()]
        lines = "" if method in TREES else classifier.card_.n_lines
        rows.append((fold, name, method, *values, lines, f"{cpu:.3g}", package_commit()))
    return rows


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    values: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    every = [{(row["fold"], row["set"]) for row in rows if row["method"] == m} for m in METHODS]
    done = set.intersection(*every)
    for row in rows:
        if (row["fold"], row["set"]) in done:
            for column in (*METRICS, "cpu", "lines"):
                if row[column]:
                    values[row["set"], row["method"], column].append(float(row[column]))
    names = [name for name in (*TABLES, *NUMBERS) if (name, GROWN, "AUC") in values]
    text = ["# One likelihood, or many candidates", "", "How: see `one_card.py`."]
    if not names:
        return [*text, "", "Nothing was measured yet."]

    def gaps(other: str, column: str, of: Sequence[str]) -> list[float]:
        both = [name for name in of if (name, other, column) in values and name in names]
        of_names = [
            (fmean(values[n, GROWN, column]), fmean(values[n, other, column])) for n in both
        ]
        return [a - b for a, b in of_names]

    kinds = {"all": names, "tables": tuple(TABLES), "numbers": NUMBERS}
    for other in METHODS[1:]:
        cells = []
        for kind, of in kinds.items():
            found = [gaps(other, metric, of) for metric in METRICS]
            if len(found[0]) > 1:
                errors = [stdev(each) / len(each) ** 0.5 for each in found]
                shown = [
                    signed_error(fmean(each), e) for each, e in zip(found, errors, strict=True)
                ]
                cells.append((kind, len(found[0]), *shown))
        text += table(f"sets | number | {' | '.join(METRICS)}", cells, f"{GROWN} less {other}")
    cpu = [sum(fmean(values[name, method, "cpu"]) for name in names) for method in (GROWN, LANDED)]
    of_gate = [fmean(gaps(LANDED, metric, names)) for metric in METRICS]
    kept = [
        gap <= GATE[name] if name == "log loss" else gap >= GATE[name]
        for name, gap in zip(METRICS, of_gate, strict=True)
    ]
    kept.append(cpu[0] / cpu[1] <= MOST_CPU)
    figures = [f"{gap:+.4f} ({GATE[name]:+g})" for name, gap in zip(METRICS, of_gate, strict=True)]
    figures.append(f"{cpu[0] / cpu[1]:.2f} ({MOST_CPU:g})")
    cells = [
        (name, figure, "kept" if fine else "**not kept**")
        for name, figure, fine in zip((*METRICS, "CPU, ratio"), figures, kept, strict=True)
    ]
    text += table("figure | measured (at most lost) | gate", cells, "The gate")
    cells = [
        (
            name,
            *(
                f"{fmean(values[name, method, column]):.4g}"
                if (name, method, column) in values
                else ""
                for column in ("AUC", "log loss", "cpu", "lines")
                for method in METHODS[:3]
            ),
        )
        for name in names
    ]
    heading = [f"{column} {n}" for column in ("AUC", "log loss", "CPU", "lines") for n in "123"]
    numbered = ", ".join(f"{k} {name}" for k, name in enumerate(METHODS[:3], start=1))
    return [*text, *table(" | ".join(("set", *heading)), cells, f"Each set: {numbered}")]


def plan(args: argparse.Namespace) -> Iterable[tuple[object, ...]]:
    """Yield fold, set and method."""
    names, folds = (QUICK, 1) if args.quick else ((*TABLES, *NUMBERS), args.folds)
    return product(range(folds), names, MEASURED)


RECORD = Record.beside(
    __file__,
    ("fold", "set", "method", *METRICS, "lines", "cpu", "commit"),
    "fold, set, method",
)
STUDY = Study(
    [Part(RECORD, plan, measure, together=2)],
    lines,
    quick="one fold of the two smallest tables",
    options={
        "--folds": {"type": int, "default": FOLDS, "help": "of five"},
        "--minutes": None,
        "--results": None,
    },
)
if __name__ == "__main__":
    STUDY.main(__doc__)
