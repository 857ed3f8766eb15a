r"""Score test of a cross: whether the effects of two columns do not add up.

For sums R and H of residuals and curvatures of an additive card by pairs of cells, and codings A
and B of both columns, the squared gradient of the cross less its expectation, over its deviation:

.. math:: t = \frac{\sum_{ab} (G_{ab}^2 - E_{ab})}{\sqrt{\sum_{ab} E_{ab}^2}}, \qquad
          G = A^\top R^\circ B,\quad E = (A^2)^\top H\, B^2

where :math:`R^\circ` is R less what each column explains alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import FloatArray


def cross_score(
    residual: FloatArray, curvature: FloatArray, left: FloatArray, right: FloatArray
) -> float:
    """Return the score test of a cross; zero if nothing is known of it.

    Parameters
    ----------
    residual, curvature : arrays of shape (cells, other cells)
        Sums by pairs of cells.
    left, right : arrays of shape (cells, directions)
        Codings of both columns.
    """
    R, H = residual, curvature
    R = (
        R
        - H * (R.sum(1) / (H.sum(1) + 1.0))[:, None]
        - H * (R.sum(0) / (H.sum(0) + 1.0))
        + H * (R.sum() / (H.sum() + 1.0))
    )
    return score_statistic(left.T @ R @ right, (left**2).T @ H @ right**2)


def score_statistic(gradient: FloatArray, expected: FloatArray) -> float:
    """Return the squares of a gradient less their expectations, over their deviation.

    Parameters
    ----------
    gradient, expected : arrays of shape (directions, other directions)
    """
    deviation = np.sqrt(np.square(expected).sum())
    return float((np.square(gradient) - expected).sum() / deviation) if deviation > 0 else 0.0
