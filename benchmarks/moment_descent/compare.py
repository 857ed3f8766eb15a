"""What the folds of a set say: means, differences of two methods, and ratios of CPU time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.moment_descent.artificial import SETS as ARTIFICIAL
from benchmarks.moment_descent.methods import Outcome
from benchmarks.moment_descent.published_sets import SETS as PUBLISHED
from benchmarks.moment_descent.record import Fold
from directrix._typing import FloatArray

Known = dict[Fold, dict[str, Outcome]]
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

    Parameters
    ----------
    known : dict
        Outcomes of every method, by fold.
    """

    def __init__(self, known: Known) -> None:
        self._folds: dict[tuple[str, str], list[dict[str, Outcome]]] = {}
        for fold in sorted(known):
            self._folds.setdefault((fold.metric, fold.set), []).append(known[fold])

    def sets(self, metric: str, *, artificial: bool = False) -> list[str]:
        """Return the sets that were measured, in the order of the paper."""
        order = ARTIFICIAL if artificial else PUBLISHED
        return [name for name in order if (metric, name) in self._folds]

    def folds(self, metric: str, name: str) -> int:
        """Return how many folds were measured."""
        return len(self._folds[metric, name])

    def values(self, metric: str, name: str, method: str) -> FloatArray:
        """Return the test metric of every fold."""
        return np.array([own[method].value for own in self._folds[metric, name]])

    def mean(self, metric: str, name: str, method: str) -> float:
        """Return the mean test metric."""
        return float(self.values(metric, name, method).mean())

    def curve(self, metric: str, name: str, method: str) -> FloatArray:
        """Return the mean test metric at every checkpoint."""
        return np.mean([own[method].curve for own in self._folds[metric, name]], axis=0)

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
        return float(np.median([own[method].time for own in self._folds[metric, name]]))

    def evaluation_ratio(self, metric: str, name: str, first: str, second: str) -> float:
        """Return evaluations of one descent over those of another, summed over folds."""
        folds = self._folds[metric, name]
        counts = [sum(own[method].evaluations for own in folds) for method in (first, second)]
        return counts[0] / counts[1]


def counted(words: dict[str, str]) -> str:
    """Return how many are better, level and worse."""
    found = list(words.values())
    return ", ".join(f"{word} in {found.count(word)}" for word in ("better", "level", "worse"))


def listed(names: list[str]) -> str:
    """Return names, or that there are none."""
    return ", ".join(names) or "none"
