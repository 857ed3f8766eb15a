"""What ``support_vectors.csv`` says: support vectors and errors by rows, and the exponent."""

from __future__ import annotations

import numpy as np

from benchmarks.beta_bernoulli.kernels.record import read
from benchmarks.beta_bernoulli.kernels.support_vectors import RESULTS
from directrix._typing import FloatArray


class Growth:
    """All fits of the file, by method and training rows."""

    def __init__(self) -> None:
        self._fits: dict[tuple[str, int], dict[int, tuple[float, float]]] = {}
        for row in read(RESULTS):
            percent = 100.0 * int(row["errors"]) / int(row["tested"])
            fits = self._fits.setdefault((row["method"], int(row["rows"])), {})
            fits[int(row["shuffle"])] = float(row["support"]), percent

    def sizes(self, method: str) -> list[int]:
        """Return the training rows that a method is measured with."""
        return sorted(n for name, n in self._fits if name == method)

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
        """Return of each shuffle the slope of log support by log rows."""
        by_shuffle: dict[int, list[tuple[float, float]]] = {}
        for n in self.sizes(method):
            for shuffle, (support, _) in self._fits[method, n].items():
                by_shuffle.setdefault(shuffle, []).append((np.log(n), np.log(support)))
        points = [np.array(own) for own in by_shuffle.values() if len(own) > 1]
        return np.array([np.polyfit(own[:, 0], own[:, 1], 1)[0] for own in points])

    @staticmethod
    def deviation(values: FloatArray) -> float:
        """Return the standard error of the mean; zero of a single one."""
        return float(np.std(values, ddof=1)) / len(values) ** 0.5 if len(values) > 1 else 0.0
