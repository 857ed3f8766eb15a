"""Weights of evidence and information values of the cells of a column."""

from __future__ import annotations

import numpy as np

from directrix._typing import AnyArray, FloatArray


def weights_of_evidence(cells: AnyArray, smoothing: float) -> FloatArray:
    r"""Return the weight of evidence of each cell of a column, zero in cells without rows.

    With shares :math:`p_k` and :math:`q_k` of the positives and negatives in cell k,

    .. math:: \mathrm{WoE}_k = \log \frac{p_k}{q_k}, \qquad
              \mathrm{IV} = \sum_k (p_k - q_k)\, \mathrm{WoE}_k

    ``cells`` of shape (2, cells) are the counts of negatives and of positives; ``smoothing`` is
    added to each.
    """
    negative, positive = _shares(cells, smoothing)
    filled = (negative > 0) & (positive > 0)
    evidence = np.zeros(len(filled))
    evidence[filled] = np.log(positive[filled] / negative[filled])
    return evidence


def information_value(cells: AnyArray, smoothing: float) -> float:
    """Return the information value of a column; the parameters are those above."""
    negative, positive = _shares(cells, smoothing)
    return float((positive - negative) @ weights_of_evidence(cells, smoothing))


def _shares(cells: AnyArray, smoothing: float) -> FloatArray:
    """Return the shares of both classes in cells that have rows; others are zero."""
    if not smoothing >= 0:
        msg = f"smoothing must be a number that is not negative, not {smoothing!r}"
        raise ValueError(msg)
    filled = cells.sum(axis=0) > 0
    if smoothing == 0 and not cells[:, filled].all():
        msg = "a cell has rows of one class only, so its evidence is infinite: use smoothing=0.5"
        raise ValueError(msg)
    smoothed = np.where(filled, cells + smoothing, 0.0)
    totals = smoothed.sum(axis=1, keepdims=True)
    shares: FloatArray = smoothed / np.where(totals > 0, totals, 1.0)
    return shares
