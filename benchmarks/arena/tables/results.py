"""The values that the arena of tables has measured."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from benchmarks.arena.tables.protocol import METRICS
from benchmarks.harness.record import Record, Row

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


def read(record: Record = MEASURED) -> list[Score]:
    """Return all that was measured."""
    return [Score.of(row) for row in record.rows()]
