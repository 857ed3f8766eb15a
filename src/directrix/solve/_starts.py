"""Starting points for solvers, from class means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import FloatArray


def part_of_mean(mean_pos: FloatArray, mean_neg: FloatArray) -> FloatArray:
    r"""Return the starting point of Ghanbari, Li and Scheinberg 2019, §4, with intercept zero.

    .. math:: w_0 = \bar w_0 / \|\bar w_0\|, \qquad
              \bar w_0 = \mu_+ - \frac{\mu_-^\top \mu_+}{\|\mu_-\|^2} \mu_-

    which is the part of the positive mean that is orthogonal to the negative mean. If that part is
    zero (one mean is zero, or they are parallel), the difference of the means is used instead.
    """
    square = float(mean_neg @ mean_neg)
    start = mean_pos - (float(mean_neg @ mean_pos) / square) * mean_neg if square else mean_pos
    length = float(np.linalg.norm(start))
    if length <= 1e-12 * float(np.linalg.norm(mean_pos)):
        start = mean_pos - mean_neg
        length = float(np.linalg.norm(start))
    return np.append(start / (length or 1.0), 0.0)
