"""The values that the arena of tables has measured, and how competitors compare in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.arena.results import Arena, record_of
from benchmarks.arena.tables.protocol import METRICS
from benchmarks.harness.record import Record
from benchmarks.rivals.base import Rival
from benchmarks.rivals.on_tables import TABLE_RIVALS

MEASURED = record_of(Path(__file__).with_name("measured.csv"), METRICS)
LARGE = record_of(Path(__file__).with_name("large.csv"), METRICS)


class TableArena(Arena):
    """The values of a record of the arena of tables."""

    metrics: ClassVar[Mapping[str, Any]] = METRICS
    competitors: ClassVar[Mapping[str, Rival]] = TABLE_RIVALS
    records: ClassVar[tuple[Record, ...]] = (MEASURED,)


class LargeTableArena(TableArena):
    """The large sets, whole: one fold has test rows enough."""

    records: ClassVar[tuple[Record, ...]] = (LARGE,)
    planned_folds: ClassVar[int] = 1
