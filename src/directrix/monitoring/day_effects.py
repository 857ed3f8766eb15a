r"""How much days differ beyond chance, how long such differences last, and what follows for tests.

Rows of a day share what the day brings: weather, a campaign, a weekday. Reference days tell the
variance of such effects and, in their order, their autocorrelation :math:`\varphi` from one day to
the next. Of N reference days the mean has the variance

.. math:: V = \frac{1}{N} \Bigl(1 + 2 \sum_{k=1}^{N-1} \bigl(1 - \tfrac{k}{N}\bigr) \varphi^k\Bigr)

in units of that of one day. Days of the reference therefore differ from their mean by 1 − V, and a
later day by 1 + V: effects that last make the reference look steadier than later days are. There
are only about 1/V days that tell the variance, so that a test by it has an F distribution.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import chdtrc, fdtrc

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray

#: Fewest reference days that tell how much days differ.
FEWEST_DAYS = 7
#: Autocorrelation at most: the days that would tell more are more than a reference has.
_LONGEST = 0.95


class DayEffects(NamedTuple):
    """Variance between days, in units of that of one row, and how it is known.

    Parameters
    ----------
    excess : float
        The mean of a day of n rows has 1 + n times it the variance that independent rows have,
        about the mean of the reference.
    autocorrelation : float
        Of the effects of two days in a row; zero if days are independent or too few to tell.
    days : float
        Number of independent days that would tell as much; infinite without effects.
    spread : float
        Variance of chi-squared per degree of freedom among reference days of mean one; 2 over the
        degrees of freedom if effects are alike in all directions.
    """

    excess: float = 0.0
    autocorrelation: float = 0.0
    days: float = float("inf")
    spread: float = 0.0

    def p_value(self, statistic: float, freedom: int, n_rows: float) -> float:
        """Return the probability of a chi-squared that has been divided by the dispersion.

        Parameters
        ----------
        statistic : float
        freedom : int
        n_rows : float
            Rows of the day.
        """
        if not freedom:
            return 1.0
        part = n_rows * self.excess / (1.0 + n_rows * self.excess)
        if not part or not np.isfinite(self.days):
            return float(chdtrc(freedom, statistic))
        # Effects in few directions are like chi-squared of few degrees of freedom (Satterthwaite).
        of_effects = np.clip(2.0 / self.spread if self.spread else freedom, 1.0, freedom)
        numerator = 1.0 / ((1.0 - part) / freedom + part / of_effects)
        denominator = max(numerator * (self.days - 1.0), 1.0) / part**2
        return float(fdtrc(numerator, denominator, statistic / freedom))


def effects_of_days(
    ratios: Sequence[float], n_rows: Sequence[float], residuals: Sequence[FloatArray] = ()
) -> DayEffects:
    """Return the effects that reference days show.

    Parameters
    ----------
    ratios : sequence of float
        Chi-squared of each day over its degrees of freedom: one if days differ by chance only.
    n_rows : sequence of float
        Rows of each day.
    residuals : sequence of arrays of shape (d,), optional
        What no share of positives explains of each day, in order, in standard errors.
    """
    ratio, rows = np.asarray(ratios, dtype=np.float64), np.asarray(n_rows, dtype=np.float64)
    # Sums, not a mean of ratios: chi-squared of a day of few rows is as noisy as any other.
    excess = float((ratio - 1.0).sum() / rows.sum()) if len(ratio) else 0.0
    if excess <= 0:
        return DayEffects()
    scaled = ratio / (1.0 + rows * excess)
    spread = float(np.var(scaled / scaled.mean(), ddof=1))
    lasting = _autocorrelation(residuals) if len(residuals) else 0.0
    variance = mean_variance(lasting, len(ratio))
    return DayEffects(excess * (1.0 + variance) / (1.0 - variance), lasting, 1.0 / variance, spread)


def mean_variance(autocorrelation: float, n_days: int) -> float:
    """Return V, the variance of the mean of so many days in units of that of one."""
    lags = np.arange(1, n_days)
    total = 1.0 + 2.0 * float((1.0 - lags / n_days) @ autocorrelation**lags)
    return min(total / n_days, 1.0 - 1.0 / n_days)


def _autocorrelation(residuals: Sequence[FloatArray]) -> float:
    """Return the correlation of effects on days in a row, from what is left of each day.

    Rows of two days are independent, so that products of two days tell of effects alone; the
    squares of one day hold chance too, one for each component. The mean of the reference is
    estimated, which lowers the correlation by about (1 + 3 φ)/N (Marriott and Pope 1954).
    """
    n_days = len(residuals)
    # Rare cells of a day are merged with others, so that it may have fewer components.
    pairs = [(a, b) for a, b in pairwise(residuals) if a.shape == b.shape]
    effects = float(np.mean([each @ each - len(each) for each in residuals]))
    if not pairs or effects <= 0:
        return 0.0
    together = float(np.mean([a @ b for a, b in pairs]))
    raw = min(together / effects, 1.0)
    return min((n_days * raw + 1.0) / (n_days - 3.0), _LONGEST) if raw > 0 else 0.0
