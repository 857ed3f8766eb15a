"""Both arenas read together: the names of competitors and sets, and the values of all folds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from benchmarks.arena.pooled import Gain
from benchmarks.arena.protocol import METRICS, SETS
from benchmarks.arena.results import MEASURED, Arena
from benchmarks.arena.tables.protocol import METRICS as TABLE_METRICS
from benchmarks.arena.tables.protocol import SETS as TABLE_SETS
from benchmarks.arena.tables.results import MEASURED as MEASURED_TABLES
from benchmarks.harness.record import Record
from benchmarks.rivals import RIVALS, TUNED, Rival
from benchmarks.rivals.on_tables import EBM, LINE, TABLE_RIVALS

TABLES = TABLE_SETS["tables"]
NUMBERS = (*SETS["general"], *SETS["imbalanced"])

DIRECT, CARD, COUNTS, TREES = "direct", "scorecard, rows", "scorecard, counts", "LightGBM, tuned"
EVIDENCE, ONE_HOT = "weights of evidence", "direct, one-hot"
#: That of each arena: on sets of numbers tuned for every metric, on tables over one-hot texts.
LOGISTIC = "logistic regression"
#: What the pages call them.
SHORT = {
    DIRECT: "DirectClassifier",
    ONE_HOT: "DirectClassifier",
    CARD: "ScorecardClassifier",
    COUNTS: "the same from counts",
    **dict.fromkeys((LOGISTIC, TUNED, LINE), "logistic regression"),
    TREES: "LightGBM",
    EVIDENCE: "optbinning",
    EBM: "EBM",
}


class Everything(Arena):
    """Both arenas: on sets of numbers their folds are the same."""

    metrics: ClassVar[Mapping[str, Any]] = {**METRICS, **TABLE_METRICS}
    competitors: ClassVar[Mapping[str, Rival]] = {**RIVALS, **TABLE_RIVALS}
    records: ClassVar[tuple[Record, ...]] = (MEASURED, MEASURED_TABLES)

    @cached_property
    def values(self) -> dict[tuple[str, str, str], dict[tuple[int, int], float]]:
        """Return the values of both arenas; the logistic regression of each is one competitor more.

        By set, competitor and metric, then repeat and fold; more is better.
        """
        values = super().values
        logistic = {
            (name, LOGISTIC, metric): folds
            for (name, rival, metric), folds in values.items()
            if rival == (LINE if name in TABLES else TUNED)
        }
        return values | logistic

    @cached_property
    def rows(self) -> dict[str, int]:
        """Rows of each set, of which at most 10,000 were used."""
        return {score.name: score.rows for score in self.scores}

    @cached_property
    def prevalence(self) -> dict[str, float]:
        """Share of positives of each set of numbers: the average precision of one score for all."""
        folds: dict[str, list[float]] = {}
        for score in self.scores:
            if score.rival == "prior":
                folds.setdefault(score.name, []).append(score.values["average precision"])
        return {name: float(np.mean(values)) for name, values in folds.items()}

    def gain(self, names: Sequence[str], metric: str, ours: str, rival: str) -> Gain | None:
        """Return the gain of one over another on the sets that both have; None if there is none."""
        means = self.means(names, metric, [ours, rival])
        return Gain.of(means[:, 0] - means[:, 1]) if len(means) else None
