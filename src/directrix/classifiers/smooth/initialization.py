"""Where descents start, and the grids of ``alpha`` and ``levels``."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.classifiers.positive import toward_positive
from directrix.frontier import Frontier
from directrix.moments import Moments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.fitting.standardization import Standardization
    from directrix.metrics import Metric

    Start = Callable[[Any, AnyArray, FloatArray], FloatArray]


def start_of(start: Any, classifier: Any, metric: Metric, units: Standardization) -> Start | None:
    """Return a function from rows to where their descent starts; None for zero.

    Parameters
    ----------
    start : "moments", "zero", "previous" or array of shape (d + 1,)
    classifier : LinearClassifier
        Its last line is meant by "previous".
    metric : Metric
    units : Standardization
        Units of the descents.
    """
    if not isinstance(start, str):
        line = np.asarray(start, dtype=np.float64)
        if line.shape != (len(units.mean) + 1,):
            msg = (
                f"start must have {len(units.mean) + 1} numbers, the intercept last, not shape "
                f"{line.shape}"
            )
            raise ValueError(msg)
        given = units.line_there(toward_positive(classifier, line))
        return lambda *_: given
    if start not in ("moments", "zero", "previous"):
        msg = (
            f"start must be 'moments', 'zero', 'previous' or a line, intercept last, not {start!r}"
        )
        raise ValueError(msg)
    if start == "previous" and hasattr(classifier, "coef_"):
        line = np.append(classifier.coef_[0], classifier.intercept_)
        previous = units.line_there(toward_positive(classifier, line))
        return lambda *_: previous
    if start == "moments":
        return lambda *rows: _moment_line(metric, Moments.of(*rows))
    return None


def _moment_line(metric: Metric, moments: Moments) -> FloatArray:
    """Return the best line for normal scores; `Frontier.best` would warn if it is constant."""
    return Frontier(moments).minimize_risk(metric.risk(moments.weight)).line


def validate_grid(given: Any, default: Sequence[float], name: str) -> tuple[float, ...]:
    """Return a number or several as a tuple; "auto" is the default."""
    if isinstance(given, str):
        if given == "auto":
            return tuple(default)
    else:
        values = tuple(np.atleast_1d(np.asarray(given, dtype=np.float64)).tolist())
        if values and all(0 <= value < inf for value in values):
            return values
    msg = f"{name} must be 'auto' or numbers from zero up, not {given!r}"
    raise ValueError(msg)
