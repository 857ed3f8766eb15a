"""Scales of points: what a point of a card is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class PointsToDoubleOdds:
    r"""Points as banks use them: so many points double the odds of the negative class.

    .. math:: \text{points} = b + \frac{d}{\log 2} \Bigl(\log\frac{1 - p}{p} - \log o\Bigr)

    with probability p of the positive class, base points b at base odds o, and d points to double
    the odds. More points are safer.

    Parameters
    ----------
    pdo : float
        Points to double the odds.
    base_points, base_odds : float
        Rows with so many points have so many negatives to one positive.
    rounded : bool
        Whether points of bins are rounded to whole numbers.
    """

    pdo: float = 20.0
    base_points: float = 600.0
    base_odds: float = 50.0
    rounded: bool = True

    def __post_init__(self) -> None:
        for name in ("pdo", "base_odds"):
            _require(self, name, getattr(self, name) > 0, "above zero")
        _require(self, "base_points", np.isfinite(self.base_points), "a finite number")


@dataclass(frozen=True)
class IntegerPoints:
    """Small whole numbers: the lowest bin of every column has none, and more are riskier.

    Parameters
    ----------
    largest : int
        Points of any bin at most.
    """

    largest: int = 20

    def __post_init__(self) -> None:
        largest: Any = self.largest
        whole = isinstance(largest, int | np.integer) and largest >= 1
        _require(self, "largest", whole, "a whole number, 1 or more")


Scale = PointsToDoubleOdds | IntegerPoints
_NAMES: dict[str, type[Scale]] = {"pdo": PointsToDoubleOdds, "integer": IntegerPoints}


def scale_of(points: Any) -> Scale | None:
    """Return the scale that a user gave, by its name or itself; None for plain points."""
    if points is None or isinstance(points, Scale):
        return points
    if isinstance(points, str) and points in _NAMES:
        return _NAMES[points]()
    msg = (
        f"points must be {' or '.join(map(repr, _NAMES))}, PointsToDoubleOdds(...), "
        f"IntegerPoints(...) or None, not {points!r}"
    )
    raise ValueError(msg)


def _require(scale: Scale, name: str, holds: Any, expected: str) -> None:
    if not holds:
        msg = f"{name} of {type(scale).__name__} must be {expected}, not {getattr(scale, name)!r}"
        raise ValueError(msg)
