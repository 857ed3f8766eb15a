"""The files of the tables: what the paper prints, and what was measured."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np

from directrix._typing import AnyArray

EXPECTED = Path(__file__).with_name("expected.csv")
RESULTS = Path(__file__).with_name("measured.csv")
COLUMNS = (
    *("table", "protocol", "set", "method", "repeat", "fold"),
    *("rows", "errors", "wrong"),
)


class Fit(NamedTuple):
    """Which test rows of a fold a method gets wrong."""

    table: int
    protocol: str
    name: str
    method: str
    repeat: int
    fold: int
    wrong: AnyArray

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """All but the outcome."""
        return self.protocol, self.name, self.method, self.repeat, self.fold

    def cells(self) -> tuple[object, ...]:
        """Return a row of the file."""
        bits = np.packbits(self.wrong).tobytes().hex()
        return self.table, *self.key, len(self.wrong), int(self.wrong.sum()), bits

    @classmethod
    def of(cls, row: dict[str, str]) -> Fit:
        """Read a row of the file."""
        packed = np.frombuffer(bytes.fromhex(row["wrong"]), dtype=np.uint8)
        wrong = np.unpackbits(packed, count=int(row["rows"])).astype(bool)
        about = (int(row["table"]), row["protocol"], row["set"], row["method"])
        return cls(*about, int(row["repeat"]), int(row["fold"]), wrong)


def read() -> list[Fit]:
    """Return all that was measured."""
    if not RESULTS.exists():
        return []
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return [Fit.of(row) for row in csv.DictReader(file)]


def expected() -> dict[tuple[int, str, str], str]:
    """Return what the paper prints: by table, set and method."""
    with EXPECTED.open(newline="", encoding="utf-8") as file:
        return {
            (int(row["table"]), row["set"], row["method"]): row["value"]
            for row in csv.DictReader(file)
        }
