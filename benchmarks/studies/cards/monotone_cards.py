"""What directions cost: cards, LightGBM and EBM with and without monotone columns.

``python -m benchmarks.studies.cards.monotone_cards`` fits three families to five tables of credit
risk, once as they are and once with the directions of ``directions.csv``, which were written before
any was measured, and measures the quality on held-out rows and the directions that the fitted model
breaks. ``--quick`` measures one fold of the two smallest tables.

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

import argparse
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.harness.markdown import sentence_case, signed_error, table
from benchmarks.harness.record import Record, Row, commit, grouped_by, mean_of, numbers, read_rows
from benchmarks.harness.runner import Part, Study, timed
from benchmarks.rivals.base import Rival
from benchmarks.rivals.ours import Ours
from benchmarks.rivals.tables import ExplainableBoosting, LightGBM
from benchmarks.studies.cards.folds import FOLDS, split
from directrix import ScorecardClassifier
from directrix._typing import FloatArray
from directrix.metrics import AUC, RecallAtFPR

UP, DOWN = "increasing", "decreasing"


class Demand(NamedTuple):
    """How the risk of a row may change with one column.

    ``direction``: of numbers a word; of texts the levels from the least risk to the greatest.
    Levels that are not among them are free.
    """

    direction: str | tuple[str, ...]
    reason: str


def _demands() -> dict[str, dict[str, Demand]]:
    """Return the directions of ``directions.csv``; levels of a text have " | " between them."""
    demands: dict[str, dict[str, Demand]] = {}
    for row in read_rows(Path(__file__).with_name("directions.csv")):
        levels = tuple(row["direction"].split(" | "))
        demand = Demand(levels if len(levels) > 1 else levels[0], row["reason"])
        demands.setdefault(row["table"], {})[row["column"]] = demand
    return demands


#: By table and column. At most one level of a text is left free: one that says nothing of the
#: quantity that the others measure.
DEMANDS = _demands()


def monotone(name: str) -> dict[str, Any]:
    """Return the directions of a table as `ScorecardClassifier` takes them."""
    return {
        column: demand.direction if isinstance(demand.direction, str) else list(demand.direction)
        for column, demand in DEMANDS[name].items()
    }


def frequent(directions: Mapping[str, Any], frame: Any, least: int = 10) -> dict[str, Any]:
    """Return directions without the levels of too few rows, which have no points of their own.

    ``frame``: training rows. ``least``: as ``min_level_rows`` of `Binner`.
    """
    found = {}
    for column, direction in directions.items():
        if isinstance(direction, str):
            found[column] = direction
            continue
        counts = frame[column].value_counts()
        found[column] = [level for level in direction if counts.get(level, 0) >= least]
    return found


def signs(directions: Mapping[str, Any]) -> dict[str, int]:
    """Return 1 for columns of rising risk, as texts by their ranks are, and -1 for falling."""
    return {column: -1 if direction == DOWN else 1 for column, direction in directions.items()}


def with_ranks(frame: Any, directions: Mapping[str, Any]) -> Any:
    """Return a frame whose texts with a direction are ranks, as numbers; free levels are missing.

    Libraries that constrain numbers only can then constrain these texts too.
    """
    ranks = {
        column: frame[column]
        .map({level: float(rank) for rank, level in enumerate(direction)})
        .astype(np.float64)
        for column, direction in directions.items()
        if not isinstance(direction, str)
    }
    return frame.assign(**ranks)


# ── whether scores keep a direction ───────────────────────────────────────────────────────────────


#: Real rows that are walked from, and values of a number that are visited, at most.
MOST_ROWS, MOST_VALUES = 50, 200
#: A step back below this share of the greatest score is rounding.
_ROUNDING = 1e-9


class Kept(NamedTuple):
    """How well directions are kept.

    ``violated``: columns in which a walk goes back. ``wrong_share``: share of all walks that go
    back somewhere.
    """

    violated: int
    wrong_share: float


class Walks(NamedTuple):
    """Rows to be scored, walk after walk, in the order in which scores must not fall.

    ``shapes``: by column how many walks there are, and of how many steps.
    """

    frame: Any
    shapes: dict[str, tuple[int, int]]

    @classmethod
    def of(cls, frame: Any, directions: Mapping[str, Any]) -> Walks:
        """Walk along each column that has a direction, from a sample of rows.

        ``frame``: the values of its numbers are visited, all of them if they are few.
        ``directions``: as `ScorecardClassifier` takes them.
        """
        import pandas as pd  # noqa: PLC0415 - reports need none

        sample = np.random.default_rng(0).permutation(len(frame))[:MOST_ROWS]
        rows = frame.iloc[np.sort(sample)]
        parts, shapes = [], {}
        for column, direction in directions.items():
            values = _visited(frame[column], direction)
            steps = rows.loc[rows.index.repeat(len(values))].reset_index(drop=True)
            steps[column] = pd.Series(
                [*values] * len(rows), dtype=frame[column].dtype, index=steps.index
            )
            parts.append(steps)
            shapes[column] = len(rows), len(values)
        return cls(pd.concat(parts, ignore_index=True), shapes)

    def kept(self, scores: FloatArray) -> Kept:
        """Return how well the scores of the rows of all walks keep the directions."""
        rounding = _ROUNDING * float(np.abs(scores).max())
        start, violated, wrong, total = 0, 0, 0, 0
        for walks, steps in self.shapes.values():
            part = scores[start : start + walks * steps].reshape(walks, steps)
            back = int((np.diff(part, axis=1) < -rounding).any(axis=1).sum())
            start, violated = start + walks * steps, violated + (back > 0)
            wrong, total = wrong + back, total + walks
        return Kept(violated, wrong / total)


def _visited(column: Any, direction: Any) -> Any:
    """Return the values of a column in the order in which scores must not fall."""
    if not isinstance(direction, str):
        return list(direction)
    distinct = np.unique(column.dropna().to_numpy())
    if len(distinct) > MOST_VALUES:
        index = np.linspace(0, len(distinct) - 1, MOST_VALUES).round().astype(int)
        distinct = distinct[index]
    return distinct[::-1] if direction == DOWN else distinct


# ── the study ─────────────────────────────────────────────────────────────────────────────────────


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


def measure(name: str, fold: int, method: str) -> list[tuple[object, ...]]:
    """Return the quality of one method on one fold, and the directions that it breaks."""
    measured = quality(METHODS[method], *split(name, fold), monotone(name))
    return [(name, fold, method, *measured, commit())]


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
    rows = Rows(fitted, train.y), Rows(scored, unknown)
    found, spent = timed(method.make(known).scores, *rows, {RECALL: METRICS[RECALL]})
    scores = found[RECALL]
    of_test, of_walks = scores[: len(test.y)], scores[len(test.y) :]
    values = (f"{metric.score(test.y, of_test):.6g}" for metric in METRICS.values())
    kept = walks.kept(of_walks)
    return f"{spent:.3g}", *values, len(directions), kept.violated, f"{kept.wrong_share:.3g}"


# ── the report ────────────────────────────────────────────────────────────────────────────────────


class Results:
    """What the record has, by column, table and method, of folds that all methods have."""

    def __init__(self, rows: list[Row]) -> None:
        folds = grouped_by(rows, "set", "fold")
        whole = [
            row for key in sorted(folds) if len(folds[key]) == len(METHODS) for row in folds[key]
        ]
        self._rows = grouped_by(whole, "set", "method")
        self.names = [name for name in DEMANDS if any(key[0] == name for key in self._rows)]

    def mean(self, name: str, method: str, column: str) -> float:
        """Return the mean over the folds of a table."""
        return mean_of(self._rows[name, method], column)

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
        of, unit = ([numbers(self._rows[n, m], "cpu") for n in self.names] for m in (method, to))
        return float(np.median(np.concatenate(of) / np.concatenate(unit)))


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    title = ["# Directions of columns, and what they cost", "", "How: see `monotone_cards.py`."]
    results = Results(rows)
    if not results.names:
        return [*title, "", "Nothing was measured yet."]
    return [*title, *_prices(results), *_values(results), *_violations(results), *_directions()]


def _prices(results: Results) -> list[str]:
    cells = []
    for family, (plain, directed) in FAMILIES.items():
        prices = (signed_error(*results.price(family, metric)) for metric in METRICS)
        ratios = (f"{results.ratio(directed, to):.2f}" for to in (plain, "EBM"))
        cells.append((family, *prices, *ratios))
    columns = (
        f"family | {' | '.join(METRICS)} | CPU, monotone to plain | CPU, monotone to plain EBM"
    )
    title = f"Monotone less plain, mean of {len(results.names)} tables (standard error)"
    return table(columns, cells, title)


def _values(results: Results) -> list[str]:
    text = []
    for metric in METRICS:
        means = {n: [results.mean(n, m, metric) for m in METHODS] for n in results.names}
        means["mean"] = [fmean(column) for column in zip(*means.values(), strict=True)]
        cells = ((name, *(f"{mean:.4f}" for mean in of)) for name, of in means.items())
        text += table(" | ".join(("table", *METHODS)), cells, sentence_case(metric))
    return text


def _violations(results: Results) -> list[str]:
    cells = []
    for name in results.names:
        means = ((results.mean(name, m, c) for c in ("violated", "wrong_share")) for m in METHODS)
        cells.append((name, len(DEMANDS[name]), *("{:.1f} ({:.0%})".format(*m) for m in means)))
    title = "Broken directions, mean of folds (share of walks that go back)"
    return table(" | ".join(("table", "directions", *METHODS)), cells, title)


def _directions() -> list[str]:
    cells = (
        (name, column, direction if isinstance(direction, str) else _order(direction), reason)
        for name, demands in DEMANDS.items()
        for column, (direction, reason) in demands.items()
    )
    return table("table | column | risk | why", cells, "Directions")


def _order(levels: tuple[str, ...]) -> str:
    few = levels if len(levels) <= 5 else (*levels[:2], "…", *levels[-2:])
    return ", then ".join(few)


def plan(args: argparse.Namespace) -> Iterable[tuple[object, ...]]:
    """Return table, fold and method."""
    names, folds = (QUICK, 1) if args.quick else (tuple(DEMANDS), FOLDS)
    return product(names, range(folds), METHODS)


RECORD = Record.beside(
    __file__,
    ("set", "fold", "method", "cpu", *METRICS, "directions", "violated", "wrong_share", "commit"),
    "set, fold, method",
)
STUDY = Study([Part(RECORD, plan, measure)], lines, quick="one fold of the two smallest tables")


if __name__ == "__main__":
    STUDY.main(__doc__)
