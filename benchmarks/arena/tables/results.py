"""The values that the arena of tables has measured, and how competitors compare in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

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

    def cpu_to(self, names: Sequence[str], rival: str, unit: str) -> float:
        """Return the median CPU time of a competitor to that of another, over shared folds."""
        spent: dict[str, dict[tuple[str, int, int], float]] = {rival: {}, unit: {}}
        for score in self.scores:
            if score.rival in spent and score.name in names:
                spent[score.rival][score.name, score.repeat, score.fold] = score.cpu
        shared = spent[rival].keys() & spent[unit].keys()
        ratios = [spent[rival][key] / spent[unit][key] for key in shared]
        return float(np.median(ratios)) if ratios else float("nan")
