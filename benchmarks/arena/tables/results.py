"""The values that the arena of tables has measured, and how competitors compare in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from benchmarks.arena.results import Arena
from benchmarks.arena.tables.protocol import METRICS
from benchmarks.harness.record import Record, Row
from benchmarks.rivals.base import Rival
from benchmarks.rivals.on_tables import TABLE_RIVALS
from directrix._typing import FloatArray

_ABOUT = ("set", "rows", "features", "repeat", "fold", "rival", "cpu_seconds", "cpu", "commit")
MEASURED = Record(
    Path(__file__).with_name("measured.csv"),
    (*_ABOUT, *METRICS),
    ("set", "repeat", "fold", "rival"),
)


class Score(NamedTuple):
    """All metrics of a competitor on one fold.

    Attributes
    ----------
    name : str
    rows, features, repeat, fold : int
    rival : str
    cpu_seconds : float
        CPU time of the whole choice, for all metrics together.
    cpu : float
        The same, to that of one-hot logistic regression on the same fold in the same process.
    commit : str
    values : dict
        By metric.
    """

    name: str
    rows: int
    features: int
    repeat: int
    fold: int
    rival: str
    cpu_seconds: float
    cpu: float
    commit: str
    values: dict[str, float]

    def cells(self) -> tuple[object, ...]:
        """Return a row of the file."""
        values = (f"{self.values[m]:.6g}" if m in self.values else "" for m in METRICS)
        return *self[:6], f"{self.cpu_seconds:.4g}", f"{self.cpu:.4g}", self.commit, *values

    @classmethod
    def of(cls, row: Row) -> Score:
        """Read a row of the file."""
        numbers = (int(row[name]) for name in _ABOUT[1:5])
        spent = float(row["cpu_seconds"]), float(row["cpu"])
        values = {name: float(row[name]) for name in METRICS if row[name]}
        return cls(row["set"], *numbers, row["rival"], *spent, row["commit"], values)


class TableArena(Arena):
    """The values of a record of the arena of tables."""

    metrics: ClassVar[Mapping[str, Any]] = METRICS
    competitors: ClassVar[Mapping[str, Rival]] = TABLE_RIVALS

    def __init__(self, record: Record = MEASURED) -> None:
        super().__init__(record)

    @staticmethod
    def read(record: Record) -> Sequence[Score]:
        """Return the scores of a record."""
        return [Score.of(row) for row in record.rows()]

    def means(self, names: Sequence[str], metric: str, rivals: Sequence[str]) -> FloatArray:
        """Return a row for each set that all of these have: their means over shared folds.

        More is better, whatever the metric.
        """
        tables = [self.folds(name, metric, rivals) for name in names]
        means = [table.mean(axis=1) for table in tables if table is not None]
        return np.array(means).reshape(len(means), len(rivals))

    def cpu_to(self, names: Sequence[str], rival: str, unit: str) -> float:
        """Return the median CPU time of a competitor to that of another, over shared folds."""
        spent: dict[str, dict[tuple[str, int, int], float]] = {rival: {}, unit: {}}
        for score in self.scores:
            if score.rival in spent and score.name in names:
                spent[score.rival][score.name, score.repeat, score.fold] = score.cpu
        shared = spent[rival].keys() & spent[unit].keys()
        ratios = [spent[rival][key] / spent[unit][key] for key in shared]
        return float(np.median(ratios)) if ratios else float("nan")
