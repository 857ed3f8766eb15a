"""Log-loss of log-odds: how good the probabilities of a classifier are."""

from __future__ import annotations

from math import log1p
from typing import ClassVar

import numpy as np
from scipy.special import logit

from directrix._typing import AnyArray, FloatArray

#: Probabilities are kept so far from zero and one, as scikit-learn once did, so that one certain
#: mistake does not decide a comparison.
LEAST = 1e-15
_MOST = -float(logit(LEAST))


class LogLoss:
    r"""Mean negative log-likelihood of a row in nats.

    .. math:: \frac1n \sum_i \log\left(1 + e^{-y_i s_i}\right), \quad y_i = \pm 1

    with log-odds sᵢ whose probabilities are clipped to [1e-15, 1 − 1e-15].
    """

    greater_is_better: ClassVar[bool] = False
    uses_threshold: ClassVar[bool] = False
    fixes_threshold: ClassVar[bool] = False

    def score(self, y: AnyArray, log_odds: FloatArray) -> float:
        """Return the loss of these rows."""
        margins = np.where(y, 1.0, -1.0) * np.clip(log_odds, -_MOST, _MOST)
        return float(np.mean(np.logaddexp(0.0, -margins)))

    @property
    def unit(self) -> float:
        """The loss of one bit a row: what a fair coin says."""
        return log1p(1.0)
