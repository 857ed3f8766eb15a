"""The measured folds: means, differences of two methods, and ratios of CPU time."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.harness.record import Record
from benchmarks.papers.ghanbari_2018.config import ARTIFICIAL, REAL
from benchmarks.papers.ghanbari_2018.methods import Outcome
from directrix._typing import FloatArray

RECORD = Record(
    Path(__file__).with_name("measured.csv"),
    (
        *("metric", "set", "repeat", "fold", "method"),
        *("value", "iterations", "evaluations", "time_ratio", "curve"),
    ),
    ("metric", "set", "repeat", "fold"),
)


class Fold(NamedTuple):
    """A metric on a fold of a set; of an artificial set the repeat is the draw."""

    metric: str
    set: str
    repeat: int
    fold: int


Folds = dict[Fold, dict[str, Outcome]]


def read() -> Folds:
    """Return the outcomes of every method; ``time`` is in units of the descent on moments."""
    folds: Folds = {}
    for row in RECORD.rows():
        fold = Fold(row["metric"], row["set"], int(row["repeat"]), int(row["fold"]))
        folds.setdefault(fold, {})[row["method"]] = Outcome(
            float(row["value"]),
            int(row["iterations"]),
            int(row["evaluations"]),
            float(row["time_ratio"]),
            tuple(map(float, row["curve"].split())),
        )
    return folds


def cells(fold: Fold, outcomes: dict[str, Outcome]) -> list[tuple[object, ...]]:
    """Return the rows of a fold, with CPU time as a ratio."""
    unit = outcomes["moments"].time
    return [
        (
            *(*fold, method, f"{outcome.value:.6f}", outcome.iterations, outcome.evaluations),
            f"{outcome.time / unit:.3g}",
            " ".join(f"{value:.4f}" for value in outcome.curve),
        )
        for method, outcome in outcomes.items()
    ]


#: Test rows for each training row: of five folds, and of a draw with 80 % for training.
_TEST_SHARE = 0.25


class Difference(NamedTuple):
    """Mean over folds of one method less another, and its standard error.

    Folds share training rows, so the variance of the mean is (1/k + test/train) times that of the
    differences (Nadeau and Bengio 2003).
    """

    mean: float
    error: float

    @property
    def word(self) -> str:
        """Whether the first is better or worse by two standard errors, or level."""
        if abs(self.mean) <= 2.0 * self.error:
            return "level"
        return "better" if self.mean > 0 else "worse"


class Results:
    """All folds, by metric and set.

    ``folds``: outcomes of every method, by fold.
    """

    def __init__(self, folds: Folds) -> None:
        self._folds: dict[tuple[str, str], list[dict[str, Outcome]]] = {}
        for fold in sorted(folds):
            self._folds.setdefault((fold.metric, fold.set), []).append(folds[fold])

    def sets(self, metric: str, *, artificial: bool = False) -> list[str]:
        """Return the sets that were measured, in the order of the paper."""
        order = ARTIFICIAL if artificial else REAL
        return [name for name in order if (metric, name) in self._folds]

    def has(self, metric: str, name: str) -> bool:
        """Return whether a set, or a variant of one, was measured."""
        return (metric, name) in self._folds

    def folds(self, metric: str, name: str) -> int:
        """Return how many folds were measured."""
        return len(self._folds[metric, name])

    def values(self, metric: str, name: str, method: str) -> FloatArray:
        """Return the test metric of every fold."""
        return np.array([outcomes[method].value for outcomes in self._folds[metric, name]])

    def mean(self, metric: str, name: str, method: str) -> float:
        """Return the mean test metric."""
        return float(self.values(metric, name, method).mean())

    def curve(self, metric: str, name: str, method: str) -> FloatArray:
        """Return the mean test metric at every checkpoint."""
        return np.mean([outcomes[method].curve for outcomes in self._folds[metric, name]], axis=0)

    def difference(self, metric: str, name: str, first: str, second: str) -> Difference:
        """Compare two methods."""
        gap = self.values(metric, name, first) - self.values(metric, name, second)
        spread = float(gap.std(ddof=1)) if len(gap) > 1 else np.inf  # one says nothing
        return Difference(float(gap.mean()), spread * np.sqrt(1.0 / len(gap) + _TEST_SHARE))

    def words(self, metric: str, sets: list[str], first: str, second: str) -> dict[str, str]:
        """Say of each set whether the first method is better, worse or level."""
        return {name: self.difference(metric, name, first, second).word for name in sets}

    def time_ratio(self, metric: str, name: str, method: str = "surrogate") -> float:
        """Return CPU time in units of the descent on moments: the median of the folds."""
        return float(np.median([outcomes[method].time for outcomes in self._folds[metric, name]]))

    def iterations(self, metric: str, name: str, method: str) -> float:
        """Return the mean number of iterations."""
        return float(
            np.mean([outcomes[method].iterations for outcomes in self._folds[metric, name]])
        )

    def evaluation_ratio(self, metric: str, name: str, first: str, second: str) -> float:
        """Return evaluations of one descent over those of another, summed over folds."""
        above, below = (
            sum(outcomes[method].evaluations for outcomes in self._folds[metric, name])
            for method in (first, second)
        )
        return above / below


def counted(words: dict[str, str]) -> str:
    """Return how many are better, level and worse."""
    verdicts = list(words.values())
    return ", ".join(f"{word} in {verdicts.count(word)}" for word in ("better", "level", "worse"))
