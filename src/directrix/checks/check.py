"""Check: one law applied to one loss or metric, and the comparisons that laws are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Check(NamedTuple):
    """A law applied to one loss or metric.

    Parameters
    ----------
    name : str
    run : callable
        Takes no arguments; raises AssertionError if the law is broken.
    """

    name: str
    run: Callable[[], None]


def run_all(checks: Iterable[Check], subject: Any) -> None:
    """Run checks one after the other; the first that fails is named in the error."""
    for check in checks:
        try:
            check.run()
        except AssertionError as error:
            msg = f"{subject!r} breaks the law {check.name!r}: {error}"
            raise AssertionError(msg) from None


def require(condition: Any, message: str) -> None:
    """Raise AssertionError unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def require_close(
    actual: Any, expected: Any, message: str, *, absolute: float = 0.0, relative: float = 0.0
) -> None:
    """Raise AssertionError unless numbers agree to the greater of two tolerances."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    require(
        actual.shape == expected.shape,
        f"{message}: shape {actual.shape} instead of {expected.shape}",
    )
    tolerance = np.maximum(absolute, relative * np.abs(expected))
    with np.errstate(invalid="ignore"):  # equal infinities have no difference
        off = np.abs(actual - expected)
    agree = (off <= tolerance) | (actual == expected)
    if not agree.all():
        worst = np.unravel_index(int(np.argmax(np.where(agree, -np.inf, off))), actual.shape)
        require(condition=False, message=f"{message}: {actual[worst]} instead of {expected[worst]}")
