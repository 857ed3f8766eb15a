"""One exchange between twelve sites, against pooled rows, private rivals and federated learning.

``python -m benchmarks.studies.exchange`` splits the training rows of twelve tables (at most 20,000
rows each, three folds) among twelve sites: site k has a share in proportion to 1 / (k + 1), and
every second site prefers high or low values of one column.

* "pooled" is the additive card of the counts of all training rows, "sites" that of the sum of
  twelve counts, and "min_cell=10" that of twelve releases. Bins come from the sketches of the
  sites.
* "private, central" is the card of one release of all rows at a given epsilon, and "private,
  sites" that of twelve releases with noise each. DP-EBM and the logistic regression of diffprivlib
  see all rows. All of these, and the logistic regression without privacy, know a public dictionary:
  cut points and levels of the test rows, without labels. Delta is 1e-6 (diffprivlib: none).

``--only`` names methods: rivals are measured where their libraries are (see `exchange_rivals`).
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial, reduce
from importlib.util import find_spec
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.harness.data import TABLES, Rows
from benchmarks.harness.record import Record, commit
from benchmarks.harness.runner import Part, Study, timed
from benchmarks.studies import (
    exchange_attacks,
    exchange_federated,
    exchange_report,
    exchange_rivals,
)
from benchmarks.studies.exchange_rivals import DELTA
from benchmarks.studies.exchange_sites import FOLDS, MOST_ROWS, sites_of, split
from directrix import Binner, ScorecardClassifier
from directrix._typing import FloatArray
from directrix.exceptions import TooFewRowsError
from directrix.metrics import RecallAtFPR
from directrix.tables import BinCounts, TableSketch
from directrix.tables.table import Table

BINS, MIN_CELL = 16, 10
EPSILONS = (1.0, 4.0)
PARTS = ("cards", "federated", "attacks")
RECALL = RecallAtFPR(0.05)


class Result(NamedTuple):
    """Scores of test rows, bytes of all files, and whether the card is that of pooled rows.

    With control, ``same`` is the number of sites that had enough rows to release.
    """

    scores: FloatArray
    n_bytes: int | str = ""
    same: bool | int | str = ""


def card_of(counts: Any) -> ScorecardClassifier:
    """Fit a full card to counts."""
    return ScorecardClassifier("auc", max_lines=None, warn_baseline=False).fit_summary(counts)


def dictionary(test: Rows) -> Binner:
    """Return the bins that are public: those of the test rows, without labels."""
    return Binner(max_bins=BINS).fit(test.X)


def pooled(train: Rows, test: Rows, _epsilons: Sequence[str]) -> list[Result]:
    """Fit to the counts of all rows."""
    counts = BinCounts.of(Binner(max_bins=BINS).fit(train.X), train.X, train.y)
    return [Result(card_of(counts).decision_function(test.X))]


def plain(train: Rows, test: Rows, _epsilons: Sequence[str]) -> list[Result]:
    """Fit to the counts of all rows in the bins of the dictionary."""
    counts = BinCounts.of(dictionary(test), train.X, train.y)
    return [Result(card_of(counts).decision_function(test.X))]


def sites(train: Rows, test: Rows, _epsilons: Sequence[str]) -> list[Result]:
    """Fit to the sum of the counts of the sites, and compare the card with that of pooled rows."""
    parts = sites_of(train)
    sketches = [
        TableSketch.of(site.X, min_cell=1, site=f"site {k}", kinds=kinds_of(train))
        for k, site in enumerate(parts)
    ]
    binner = joined(sketches).binner(max_bins=BINS)
    released = [
        BinCounts.of(binner, site.X, site.y).release(min_cell=1, site=f"site {k}")
        for k, site in enumerate(parts)
    ]
    card = card_of(joined(released))
    pooled_bins = Binner(max_bins=BINS).fit(train.X)
    base = card_of(BinCounts.of(pooled_bins, train.X, train.y))
    same = binner.to_json() == pooled_bins.to_json()
    same = same and card.card_.intercept == base.card_.intercept
    same = same and all(
        np.array_equal(*points)
        for points in zip(card.card_.columns, base.card_.columns, strict=True)
    )
    n_bytes = file_bytes(sketches) + file_bytes(released)
    return [Result(card.decision_function(test.X), n_bytes, bool(same))]


def kinds_of(train: Rows) -> dict[str, str]:
    """Return the kinds of columns, which sites know: a small site may have no value of one."""
    return {column.name: column.kind for column in Table.of(train.X).columns}


def controlled(train: Rows, test: Rows, _epsilons: Sequence[str]) -> list[Result]:
    """Fit to releases of all sites with enough rows."""
    sketches, released, _ = releases_of(train)
    scores = card_of(joined(released)).decision_function(test.X)
    return [Result(scores, file_bytes(sketches) + file_bytes(released), len(released))]


def releasing(train: Rows, test: Rows, _epsilons: Sequence[str]) -> list[Result]:
    """Fit to the counts, without control, of the sites with enough rows to release."""
    _, released, counts = releases_of(train)
    return [Result(card_of(joined(counts)).decision_function(test.X), same=len(released))]


def releases_of(train: Rows) -> tuple[list[Any], list[Any], list[BinCounts]]:
    """Return sketches and releases of the sites with enough rows, and the counts of the latter."""
    parts, kinds = sites_of(train), kinds_of(train)
    sketches, released, kept = [], [], []
    for k, site in enumerate(parts):
        with suppress(TooFewRowsError):
            sketches.append(
                TableSketch.of(site.X, min_cell=MIN_CELL, site=f"site {k}", kinds=kinds)
            )
    binner = joined(sketches).binner(max_bins=BINS)
    for k, site in enumerate(parts):
        counts = BinCounts.of(binner, site.X, site.y)
        with suppress(TooFewRowsError):
            released.append(counts.release(min_cell=MIN_CELL, site=f"site {k}"))
            kept.append(counts)
    return sketches, released, kept


def private(
    parts_of: Callable[[Rows], list[Rows]],
    content: str,
    train: Rows,
    test: Rows,
    epsilons: Sequence[str],
) -> list[Result]:
    """Fit to private releases of parts of the rows, in the bins of the dictionary."""
    binner, results = dictionary(test), []
    classes = [False, True]  # public: a site may have none of one
    counted = [BinCounts.of(binner, part.X, part.y) for part in parts_of(train)]
    for epsilon in epsilons:
        budget = {"epsilon": float(epsilon), "delta": DELTA, "content": content}
        released = [
            counts.release(**budget, classes=classes, site=f"site {k}")
            for k, counts in enumerate(counted)
        ]
        scores = card_of(joined(released)).decision_function(test.X)
        results.append(Result(scores, file_bytes(released)))
    return results


def joined(released: Sequence[Any]) -> Any:
    """Return the sum of releases."""
    return reduce(add, released)


def file_bytes(released: Sequence[Any]) -> int:
    """Return the sizes of the files of releases."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "release")
        total = 0
        for release in released:
            release.save(path)
            total += path.stat().st_size
    return total


def logistic(train: Rows, test: Rows, _epsilons: Sequence[str]) -> list[Result]:
    """Fit logistic regression without privacy."""
    return [Result(exchange_rivals.logistic(train, test, dictionary(test)))]


def rival(
    fit: Callable[..., list[FloatArray]], train: Rows, test: Rows, epsilons: Sequence[str]
) -> list[Result]:
    """Fit a private rival to all rows."""
    scores = fit(train, test, dictionary(test), [float(epsilon) for epsilon in epsilons])
    return [Result(each) for each in scores]


METHODS: dict[str, Callable[..., list[Result]]] = {
    "pooled": pooled,
    "sites": sites,
    f"min_cell={MIN_CELL}": controlled,
    "pooled, sites that release": releasing,
    "private, central": partial(private, lambda train: [train], "auto"),
    "private, sites": partial(private, sites_of, "cells"),
    "pooled, dictionary": plain,
    "logistic regression": logistic,
    "DP-EBM": partial(rival, exchange_rivals.boosting),
    "DP logistic regression": partial(rival, exchange_rivals.private_logistic),
}
#: Methods that are measured on all rows of the large tables too.
ALL_ROWS = ("pooled", f"min_cell={MIN_CELL}", "pooled, sites that release")
LARGE, ALL = ("bank_marketing", "pakdd_2009", "give_me_some_credit", "census_income"), 300_000
PRIVATE = ("private, central", "private, sites", "DP-EBM", "DP logistic regression")


def is_there(method: str) -> bool:
    """Return whether what a method needs is installed."""
    if method == "DP logistic regression":
        return exchange_rivals.VARIABLE in os.environ
    needs = {"DP-EBM": "interpret", "private, central": "opendp", "private, sites": "opendp"}
    return method not in needs or find_spec(needs[method]) is not None


def plan(args: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """Yield table, rows at most, fold, method and epsilon; all tables of one fold first."""
    if "cards" not in args.parts:
        return
    for fold in range(1 if args.quick else FOLDS):
        for name in ("hmda_boston",) if args.quick else TABLES:
            for method in filter(is_there, args.only or METHODS):
                for epsilon in EPSILONS if method in PRIVATE else ("",):
                    yield name, MOST_ROWS, fold, method, epsilon
        for name in () if args.quick else LARGE:
            for method in args.only or ALL_ROWS:
                if method in ALL_ROWS:
                    yield name, ALL, fold, method, ""


def measure(
    name: str, most_rows: int, fold: int, method: str, ends: Sequence[tuple[Any]]
) -> list[tuple[object, ...]]:
    """Return the values of a method on the test rows of a fold, a row for each epsilon."""
    train, test = split(name, fold, most_rows)
    epsilons = [epsilon for (epsilon,) in ends]
    results, cpu = timed(METHODS[method], train, test, epsilons)
    rows = []
    for epsilon, (scores, n_bytes, same) in zip(epsilons, results, strict=True):
        values = roc_auc_score(test.y, scores), RECALL.score(test.y, scores), cpu / len(results)
        auc, recall, spent = (f"{value:.6g}" for value in values)
        about = (name, most_rows, fold, method, epsilon)
        rows.append((*about, auc, recall, n_bytes, same, spent, commit()))
    return rows


# ── federated learning ────────────────────────────────────────────────────────────────────────────

FEDERATED_TABLES = ("hmda_boston", "credit_data", "telco_churn", "give_me_some_credit")
ROUNDS, SHOWN_ROUNDS = 100, (1, 2, 5, 10, 20, 50, 100)
#: Iterations of L-BFGS that each site does in a round.
STEPS = (1, 10)


def federations(args: argparse.Namespace) -> Iterator[tuple[str, int, int]]:
    """Yield table, steps of a round and rounds."""
    if "federated" not in args.parts or exchange_federated.VARIABLE not in os.environ:
        return
    for steps in STEPS:
        for name in FEDERATED_TABLES[:1] if args.quick else FEDERATED_TABLES:
            yield name, steps, 2 if args.quick else ROUNDS


def measure_federation(name: str, steps: int, rounds: int) -> list[tuple[object, ...]]:
    """Return the values of some rounds, and all bytes up to them in proportion."""
    train, test = split(name, 0)
    run = exchange_federated.run(train, test, dictionary(test), rounds, steps)
    rows = []
    for number in (number for number in SHOWN_ROUNDS if number <= rounds):
        scores = run.scores[number - 1]
        values = roc_auc_score(test.y, scores), RECALL.score(test.y, scores)
        sent = (size * number // rounds for size in (run.n_bytes, run.parameter_bytes))
        about = (name, steps, rounds, number)
        rows.append((*about, *(f"{value:.6g}" for value in values), *sent, commit()))
    return rows


# ── attacks ───────────────────────────────────────────────────────────────────────────────────────


def attacks(args: argparse.Namespace) -> Iterator[tuple[str, str, str]]:
    """Yield attack, table and setting."""
    if "attacks" not in args.parts:
        return
    for attack, (settings, needs, _) in exchange_attacks.ATTACKS.items():
        if needs and find_spec(needs) is None:
            continue
        for name in list(exchange_attacks.ATTACKED)[: 1 if args.quick else None]:
            for setting in settings[: 1 if args.quick else None]:
                yield attack, name, setting


def measure_attack(attack: str, name: str, setting: str) -> list[tuple[object, ...]]:
    """Return the figures of an attack, a row for each."""
    figures = exchange_attacks.ATTACKS[attack].run(name, setting)
    return [
        (attack, name, setting, figure, f"{value:.6g}", commit())
        for figure, value in figures.items()
    ]


RECORD = Record.beside(
    __file__,
    "table, rows, fold, method, epsilon, auc, recall, bytes, same, cpu, commit",
    "table, rows, fold, method, epsilon",
)
FEDERATED = Record(
    RECORD.path.with_name("exchange_federated.csv"),
    "table, steps, rounds, round, auc, recall, bytes, parameter_bytes, commit",
    "table, steps, rounds",
)
ATTACKS = Record(
    RECORD.path.with_name("exchange_attacks.csv"),
    "attack, table, setting, figure, value, commit",
    "attack, table, setting",
)
STUDY = Study(
    [
        Part(RECORD, plan, measure, together=4),
        Part(FEDERATED, federations, measure_federation),
        Part(ATTACKS, attacks, measure_attack),
    ],
    exchange_report.lines,
    quick="one fold of one table, two rounds, and one attack of each kind",
    options={
        "--only": {"nargs": "+", "choices": list(METHODS), "help": "methods"},
        "--parts": {"nargs": "+", "choices": PARTS, "default": PARTS, "help": "of the study"},
        "--minutes": None,
        "--results": None,
    },
)

if __name__ == "__main__":
    STUDY.main(__doc__)
