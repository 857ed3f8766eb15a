"""The rows of a card's table: the points of each bin, and the training rows that are in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.classifiers.scorecard.card.printed.labels import cells_label
from directrix.tables import LevelBins
from directrix.tables.counts.evidence import weights_of_evidence

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.tables.bins import Bins

#: Added to each count of a row for its weight of evidence.
SMOOTHING = 0.5


class CardRow(NamedTuple):
    """A bin of a column, or several bins with equal points.

    Parameters
    ----------
    column : str
    bin : str
        What rows of the bin have.
    rows : float
        Weight of the training rows in it; NaN for a card without counts, as are the next three.
    share : float
        The same as a share of all training rows.
    positive_rate : float
        Share of the positives among them; NaN without rows.
    evidence : float
        Weight of evidence: logarithm of the bin's share of the positives over its share of the
        negatives, with 0.5 added to each count; zero without rows.
    points : float
    cells : tuple of int
        Cells of the column, as numbered by ``Binner.cells``.
    """

    column: str
    bin: str
    rows: float
    share: float
    positive_rate: float
    evidence: float
    points: float
    cells: tuple[int, ...]


def column_rows(bins: Bins, points: FloatArray, counts: FloatArray | None) -> list[CardRow]:
    """Return the rows of a column: neighbouring ordered bins, and levels, of equal points are one.

    Missing, other and special values keep rows of their own.

    Parameters
    ----------
    bins : NumberBins or LevelBins
    points : array of shape (cells,)
    counts : array of shape (2, cells) or None
        Weight of the negative and of the positive training rows.
    """
    groups = _level_groups(points) if isinstance(bins, LevelBins) else _ranges(bins, points)
    if counts is None:
        nothing = [float("nan")] * len(groups)
        totals, shares, rates, evidence = nothing, nothing, nothing, nothing
    else:
        merged = np.stack([counts[:, group].sum(axis=1) for group in groups], axis=1)
        weight, everything = merged.sum(axis=0), merged.sum()
        totals = weight.tolist()
        shares = (weight / (everything or 1.0)).tolist()
        rates = np.divide(
            merged[1], weight, np.full(len(weight), np.nan), where=weight > 0
        ).tolist()
        evidence = weights_of_evidence(merged, SMOOTHING).tolist()
    return [
        CardRow(
            bins.name,
            cells_label(bins, group),
            totals[k],
            shares[k],
            rates[k],
            evidence[k],
            float(points[group[0]]),
            tuple(group),
        )
        for k, group in enumerate(groups)
    ]


def _ranges(bins: Bins, points: FloatArray) -> list[list[int]]:
    groups: list[list[int]] = []
    for cell, value in enumerate(points.tolist()):
        inside = 1 < cell <= bins.n_ordered
        if inside and points[cell - 1] == value:
            groups[-1].append(cell)
        else:
            groups.append([cell])
    return groups


def _level_groups(points: FloatArray) -> list[list[int]]:
    """Return missing, other, and groups of levels in the order of their first ones."""
    groups: dict[float, list[int]] = {}
    for cell, value in enumerate(points[2:].tolist(), start=2):
        groups.setdefault(value, []).append(cell)
    return [[0], [1], *groups.values()]
