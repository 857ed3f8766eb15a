"""The recorded fits of kernel machines: errors and support vectors by set, and by rows."""

from __future__ import annotations

import numpy as np

from benchmarks.papers.hasan_pal_2015 import kernel_tables as tables
from benchmarks.papers.hasan_pal_2015 import support_vectors
from directrix._typing import FloatArray


class Folds:
    """The errors in percent and the support vectors of each fold, by set and method."""

    def __init__(self) -> None:
        self._folds: dict[tuple[str, str], dict[tuple[str, str], tuple[int, int, int]]] = {}
        for row in tables.RECORD.rows():
            folds = self._folds.setdefault((row["set"], row["method"]), {})
            counts = int(row["rows"]), int(row["errors"]), int(row["support"])
            folds[row["repeat"], row["fold"]] = counts

    def count(self, name: str, method: str) -> int:
        """Return how many folds there are."""
        return len(self._folds.get((name, method), {}))

    def percent(self, name: str, method: str, *others: str) -> float:
        """Return the error over the folds that some other methods have too."""
        counts = self._common(name, method, *others)
        return 100.0 * sum(errors for _, errors, _ in counts) / sum(rows for rows, _, _ in counts)

    def support(self, name: str, method: str, *others: str) -> float:
        """Return the mean support vectors over the folds that some other methods have too."""
        return float(np.mean([kept for _, _, kept in self._common(name, method, *others)]))

    def _common(self, name: str, method: str, *others: str) -> list[tuple[int, int, int]]:
        keys = set.intersection(*(set(self._folds[name, m]) for m in (method, *others)))
        return [self._folds[name, method][key] for key in sorted(keys)]


class Growth:
    """Support vectors and test errors by method and training rows."""

    def __init__(self) -> None:
        self._fits: dict[tuple[str, int], dict[int, tuple[float, float]]] = {}
        for row in support_vectors.RECORD.rows():
            percent = 100.0 * int(row["errors"]) / int(row["tested"])
            fits = self._fits.setdefault((row["method"], int(row["rows"])), {})
            fits[int(row["shuffle"])] = float(row["support"]), percent

    def sizes(self, method: str) -> list[int]:
        """Return the training rows that a method is measured with."""
        return sorted(n for name, n in self._fits if name == method)

    def shuffles(self, method: str, rows: int) -> int:
        """Return how many shuffles there are."""
        return len(self._fits.get((method, rows), {}))

    def support(self, method: str, rows: int) -> FloatArray:
        """Return the support vectors of each shuffle."""
        return np.array([fit[0] for fit in self._fits[method, rows].values()])

    def percent(self, method: str, rows: int) -> FloatArray:
        """Return the test error of each shuffle in percent."""
        return np.array([fit[1] for fit in self._fits[method, rows].values()])

    def beyond(self, method: str, rival: str, rows: int) -> FloatArray:
        """Return the test error less a rival's on the same shuffle, in points."""
        ours, theirs = self._fits[method, rows], self._fits[rival, rows]
        both = sorted(ours.keys() & theirs.keys())
        return np.array([ours[shuffle][1] - theirs[shuffle][1] for shuffle in both])

    def exponents(self, method: str) -> FloatArray:
        """Return the slope of log support by log rows of each shuffle."""
        by_shuffle: dict[int, list[tuple[float, float]]] = {}
        for n in self.sizes(method):
            for shuffle, (support, _) in self._fits[method, n].items():
                by_shuffle.setdefault(shuffle, []).append((np.log(n), np.log(support)))
        points = [np.array(pairs) for pairs in by_shuffle.values() if len(pairs) > 1]
        return np.array([np.polyfit(*pairs.T, 1)[0] for pairs in points])

    @staticmethod
    def deviation(values: FloatArray) -> float:
        """Return the standard error of the mean; zero for a single value."""
        return float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
