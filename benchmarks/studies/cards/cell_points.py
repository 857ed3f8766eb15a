"""Points of the cells of columns, however they were found: scores, and the size of the card."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from directrix._typing import FloatArray, IntArray


def thermometer(bins: Any) -> FloatArray:
    """Return the features of each cell of a column: above each cut; each level; missing.

    An ordered bin has a one for each cut below it. Every other cell, missing values among them, has
    a feature of its own.
    """
    ordered = np.zeros((bins.n_cells, max(bins.n_ordered - 1, 0)))
    for cell in range(1, bins.n_ordered + 1):
        ordered[cell, : cell - 1] = 1.0
    free = [cell for cell in range(bins.n_cells) if not 1 <= cell <= bins.n_ordered]
    return np.hstack([ordered, np.eye(bins.n_cells)[:, free]])


class CellPoints(NamedTuple):
    """Points of every cell of every column."""

    bins: Any
    points: Any

    @classmethod
    def of_features(cls, bins: Any, coefficients: FloatArray) -> CellPoints:
        """Multiply out the coefficients of the thermometers of all columns, one after another."""
        codes = [thermometer(of_column) for of_column in bins]
        ends = np.cumsum([code.shape[1] for code in codes])
        parts = np.split(coefficients, ends[:-1])
        return cls(bins, [code @ part for code, part in zip(codes, parts, strict=True)])

    def rounded(self, largest: float) -> CellPoints:
        """Scale so that the widest column spans so many points from zero on, and round plainly."""
        widest = max(self.spans(), default=0.0)
        scale = largest / widest if widest else 0.0
        return self._replace(
            points=[np.round((points - points.min()) * scale) for points in self.points]
        )

    def scores(self, cells: IntArray) -> FloatArray:
        """Return the sum of the points of rows with these cells, of shape (n, columns)."""
        columns = [points[cells[:, k]] for k, points in enumerate(self.points)]
        return np.sum(columns, axis=0) if columns else np.zeros(len(cells))

    def spans(self) -> list[float]:
        """Return the greatest less the least points of each column."""
        return [float(np.ptp(points)) for points in self.points]

    @property
    def used(self) -> list[int]:
        """The columns whose cells do not all have the same points."""
        return [k for k, span in enumerate(self.spans()) if span > 0.0]

    @property
    def n_lines(self) -> int:
        """Lines of the printed card: ordered neighbours, or levels, with equal points share one."""
        lines = 0
        for k in self.used:
            points, n_ordered = self.points[k], self.bins[k].n_ordered
            ordered = points[1 : n_ordered + 1]
            free = np.concatenate([points[:1], points[n_ordered + 1 :]])
            lines += len(np.unique(free)) + (n_ordered > 0) + np.count_nonzero(np.diff(ordered))
        return int(lines)
