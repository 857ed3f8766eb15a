"""Gap: the difference of a metric between two models, with its interval, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

if TYPE_CHECKING:
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
    def of_folds(cls, mean: float, differences: FloatArray) -> Gap:
        """Return a gap with the interval of paired differences over folds.

        The gap differs from the mean over folds by what the choice of a model promised too much,
        and that is known as badly as it is large: the interval grows by it.
        """
        taken = mean - (float(differences.mean()) if len(differences) else mean)
        reach = float(np.hypot(half_width(differences), taken))
        low, high = round(mean - reach, _DIGITS), round(mean + reach, _DIGITS)
        return cls(mean, low, high)

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
        """Return the gap in words, as "better than ... by +0.02 (+0.01 to +0.03)".

        Better and worse are said only where the interval excludes zero.

        Parameters
        ----------
        name : str
            Of what the choice is compared with.
        """
        if self.is_none:  # the choice is one of these itself
            return f"the same as {name}"
        if self.low > 0:
            return f"better than {name} by {self.numbers}"
        if self.high < 0:
            return f"worse than {name}: {self.numbers}"
        if np.isnan(self.low):
            return f"compared with {name}: {self.numbers}"
        return f"no clear difference to {name}: {self.numbers}"


class DirectionEffect(NamedTuple):
    """What a direction that coefficients or points keep does to the metric on held-out rows.

    Parameters
    ----------
    column : str
    wish : str
        The direction.
    effect : Gap, optional
        How much better the metric is with it; below zero if it is worse. None if there are too
        many directions to tell, or was no time for it.
    flat : bool
        Whether the rows contradict the direction: the column is then left without effect.
    """

    column: str
    wish: str
    effect: Gap | None
    flat: bool = False

    def __str__(self) -> str:
        flat = "; the rows contradict it, so that the column has no effect" if self.flat else ""
        text = "" if self.effect is None else f": {self.effect.text('the model without')}"
        return f"direction of {self.column}, {self.wish}{text}{flat}"


def half_width(values: FloatArray) -> float:
    r"""Return half the width of the interval of a mean over folds, which share training rows.

    .. math:: t_{K - 1}\, s \sqrt{1/K + 1/(K - 1)}

    Nadeau and Bengio 2003. NaN without folds.
    """
    folds = len(values)
    if folds < 2:
        return float("nan")
    quantile = float(stats.t.ppf((1.0 + _LEVEL) / 2.0, folds - 1))
    factor = float(np.sqrt(1.0 / folds + 1.0 / (folds - 1)))
    return quantile * float(values.std(ddof=1)) * factor
