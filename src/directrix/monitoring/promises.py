"""Promises of a model against what labelled rows have shown since."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scipy.special import betaincinv

from directrix.classifiers.fitting.intervals import Sizes
from directrix.classifiers.fitting.operating_point import OnRows
from directrix.metrics.curve import Curve

if TYPE_CHECKING:
    from directrix.classifiers import OperatingPoint
    from directrix.classifiers.fitting.intervals import Intervals, Rates
    from directrix.moments import ScoreHistogram

#: Name in reports, name of the field, and whether a higher rate is better.
_RATES = (("recall", "tpr", True), ("FPR", "fpr", False), ("precision", "precision", True))


class PromiseCheck(NamedTuple):
    """A rate or metric that a model promised, and what it was on labelled rows.

    Parameters
    ----------
    name : str
    promised : float
        Expected on new rows when the model was fitted; NaN if it promised nothing.
    promised_low, promised_high : float
        Interval of the promise.
    realised : float
    low, high : float
        95 % interval of what was realised: exact for rates (Clopper and Pearson 1934).
    kept : bool
        False if the whole interval is worse than the whole interval of the promise.
    """

    name: str
    promised: float
    promised_low: float
    promised_high: float
    realised: float
    low: float
    high: float
    kept: bool


def check_promises(
    point: OperatingPoint | None, scores: ScoreHistogram, threshold: float = 0.0
) -> tuple[PromiseCheck, ...]:
    """Compare the operating point of a model with labelled scores of later rows.

    Rates are those of all rows together, and so is a ranking metric: it is not averaged over days.

    Parameters
    ----------
    point : OperatingPoint or None
    scores : ScoreHistogram
        Labelled, in favour of the positive label.
    threshold : float
        Rows with scores above it are predicted positive.
    """
    negative, positive = scores.weight.tolist()
    below_size, above_size = (scores.weight**2 / scores.weight_sq).tolist()
    false_alarms, hits = scores.weight_above(threshold).tolist()
    predicted = false_alarms + hits
    realised = {
        "tpr": (hits / positive, above_size),
        "fpr": (false_alarms / negative, below_size),
        # Of weighted rows, those predicted positive count as far as all rows do on average.
        "precision": (
            hits / predicted if predicted else 1.0,
            predicted * (above_size + below_size) / (positive + negative),
        ),
    }
    expected = None if point is None else point.expected
    intervals = None if point is None else point.intervals
    checks = [
        _check(
            name,
            field,
            realised[field][0],
            exact_interval(*realised[field]),
            rises,
            expected,
            intervals,
        )
        for name, field, rises in _RATES
    ]
    if point is not None:
        curve = Curve.of_histogram(scores)
        index = int((curve.levels > threshold).sum())
        on_rows = OnRows(curve, index, Sizes(above_size, below_size))
        value, interval = on_rows.at_threshold(point.metric)
        name, rises = point.metric.label, point.metric.greater_is_better
        checks.append(_check(name, "metric", value, interval, rises, expected, intervals))
    return tuple(checks)


def exact_interval(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson for a share of n rows.

    Parameters
    ----------
    share : float
    n : float
        Effective number of rows, which need not be whole.
    level : float
    """
    tail, hits = (1.0 - level) / 2.0, share * n
    low = float(betaincinv(hits, n - hits + 1.0, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1.0, n - hits, 1.0 - tail)) if hits < n else 1.0
    return low, high


def _check(
    name: str,
    field: str,
    value: float,
    interval: tuple[float, float],
    rises: bool,  # noqa: FBT001 - only called above
    expected: Rates | None,
    intervals: Intervals | None,
) -> PromiseCheck:
    nothing = float("nan")
    promised = nothing if expected is None else float(getattr(expected, field))
    low, high = (promised, promised) if intervals is None else getattr(intervals, field)
    worse = interval[1] < low if rises else interval[0] > high
    return PromiseCheck(name, promised, low, high, value, *interval, not worse)
