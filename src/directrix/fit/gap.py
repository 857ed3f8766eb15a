"""Gap: the difference of a metric between two models, with its interval, in words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import stats

from directrix._typing import FloatArray

_LEVEL = 0.95
#: Ends of intervals are rounded to so many digits, so that what is zero but for rounding is zero.
_DIGITS = 12


class Gap(NamedTuple):
    """Difference of a metric between two models, or with and without something.

    Above zero is better, whatever the metric.

    Parameters
    ----------
    mean, low, high : float
        Expected on new rows, with a 95 % interval from paired differences over folds. Without
        folds the ends of the interval are NaN.
    """

    mean: float
    low: float
    high: float

    @classmethod
    def of_folds(cls, mean: float, differences: FloatArray, most: float = np.inf) -> Gap:
        """Return a gap with the interval of paired differences over folds.

        The gap differs from the mean over folds by what the choice of a model promised too much,
        and that is known as badly as it is large: the interval grows by it. ``most`` is the largest
        gap that values of the metric can have.
        """
        taken = mean - (float(differences.mean()) if len(differences) else mean)
        reach = float(np.hypot(half_width(differences), taken))
        low, high = round(mean - reach, _DIGITS), round(mean + reach, _DIGITS)
        return cls(*np.clip([mean, low, high], -most, most).tolist())

    @property
    def is_none(self) -> bool:
        """Whether both models are the same."""
        return self.mean == 0.0 and bool(np.isnan(self.low) or self.low == self.high == 0.0)

    @property
    def numbers(self) -> str:
        """The gap with its interval, as "+0.0100 (-0.0100 to +0.0300)"."""
        without = " (no interval)"
        ends = without if np.isnan(self.low) else f" ({self.low:+.4f} to {self.high:+.4f})"
        return f"{self.mean:+.4f}{ends}"

    def text(self, name: str) -> str:
        """Return the gap in words, as "better than ... by 0.02 (0.01 to 0.03)".

        The name is that of what the choice is compared with. Better and worse are said only where
        the interval excludes zero.
        """
        if self.is_none:  # the choice is one of these itself
            return f"the same as {name}"
        if self.low > 0:
            return f"better than {name} by {self.mean:.4f} ({self.low:.4f} to {self.high:.4f})"
        if self.high < 0:
            return f"worse than {name} by {-self.mean:.4f} ({-self.high:.4f} to {-self.low:.4f})"
        if np.isnan(self.low):
            return f"compared with {name}: {self.numbers}"
        return f"not clearly different from {name}: {self.numbers}"

    @property
    def reverse(self) -> Gap:
        """The gap of the other model to this one."""
        return Gap(-self.mean + 0.0, -self.high + 0.0, -self.low + 0.0)


def half_width(values: FloatArray) -> float:
    r"""Return half the width of the interval of a mean over folds, which share training rows.

    .. math:: t_{K - 1}\, s \sqrt{1/K + 1/(K - 1)}

    Nadeau and Bengio 2003. NaN without folds.
    """
    folds = len(values)
    if folds < 2:
        return float("nan")
    factor = float(np.sqrt(1.0 / folds + 1.0 / (folds - 1)))
    return t_quantile(folds) * float(values.std(ddof=1)) * factor


def t_quantile(folds: int) -> float:
    """Return the quantile of a 95 % interval of a mean over folds."""
    return float(stats.t.ppf((1.0 + _LEVEL) / 2.0, folds - 1))
