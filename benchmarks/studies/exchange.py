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
from functools import partial
from importlib.util import find_spec
from typing import Any, NamedTuple

from sklearn.metrics import roc_auc_score

from benchmarks.harness.data import TABLES, Rows
from benchmarks.harness.record import Record, Row, commit
from benchmarks.harness.runner import Part, Study, timed
from benchmarks.studies import exchange_rivals
from benchmarks.studies.exchange_sites import FOLDS, MOST_ROWS, split
from directrix import Binner, ScorecardClassifier
from directrix._typing import FloatArray
from directrix.metrics import RecallAtFPR
from directrix.tables import BinCounts

BINS = 16
EPSILONS = (1.0, 4.0)
RECALL = RecallAtFPR(0.05)


class Result(NamedTuple):
    """Scores of test rows, bytes that were sent, and whether the card is that of pooled rows."""

    scores: FloatArray
    n_bytes: int | str = ""
    same: bool | str = ""


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
    "pooled, dictionary": plain,
    "logistic regression": logistic,
    "DP-EBM": partial(rival, exchange_rivals.boosting),
    "DP logistic regression": partial(rival, exchange_rivals.private_logistic),
}
PRIVATE = ("DP-EBM", "DP logistic regression")


def is_there(method: str) -> bool:
    """Return whether what a method needs is installed."""
    if method == "DP logistic regression":
        return exchange_rivals.VARIABLE in os.environ
    return method != "DP-EBM" or find_spec("interpret") is not None


def plan(args: argparse.Namespace) -> Iterator[tuple[Any, ...]]:
    """Yield table, rows at most, fold, method and epsilon; all tables of one fold first."""
    for fold in range(1 if args.quick else FOLDS):
        for name in ("hmda_boston",) if args.quick else TABLES:
            for method in filter(is_there, args.only or METHODS):
                for epsilon in EPSILONS if method in PRIVATE else ("",):
                    yield name, MOST_ROWS, fold, method, epsilon


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


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    return ["# One exchange between twelve sites", "", f"{len(rows)} rows."]


RECORD = Record.beside(
    __file__,
    "table, rows, fold, method, epsilon, auc, recall, bytes, same, cpu, commit",
    "table, rows, fold, method, epsilon",
)
STUDY = Study(
    [Part(RECORD, plan, measure, together=4)],
    lines,
    quick="one fold of one table",
    options={
        "--only": {"nargs": "+", "choices": list(METHODS), "help": "methods"},
        "--minutes": None,
        "--results": None,
    },
)

if __name__ == "__main__":
    STUDY.main(__doc__)
