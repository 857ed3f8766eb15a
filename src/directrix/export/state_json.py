"""Facts, calibrations and operating points of a model state as JSON, and back.

What the facts of a classifier must be, its `from_state` checks.
"""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite, nan
from typing import Any

from directrix.classifiers import OperatingPoint
from directrix.classifiers.state import Facts, is_number
from directrix.export._checks import require
from directrix.export.plain_values import from_plain, is_encoded, to_plain
from directrix.metrics.base import Metric
from directrix.models.calibration import Calibration
from directrix.models.intervals import Intervals, Rates

_CALIBRATION_KEYS = ["above", "below", "how", "offset"]
_POINT_KEYS = {"empirical", "intervals", "metric", "predicted", "rows", "threshold"}
#: Files before 0.2 have neither.
_LATER_POINT_KEYS = {"expected", "guarantee", "weighted_by"}


def facts_to_json(facts: Facts) -> dict[str, Any]:
    """Return facts as JSON objects; raise TypeError for a value that is code."""
    return {
        name: facts_to_json(value) if isinstance(value, Facts) else to_plain(value)
        for name, value in facts.items()
    }


def facts_from_json(plain: Any) -> Facts:
    """Return the facts of a JSON object."""
    require(isinstance(plain, dict), "its facts are not those of this class")
    return Facts({name: _fact(value) for name, value in plain.items()})


def _fact(plain: Any) -> Any:
    is_object = isinstance(plain, dict) and not is_encoded(plain)
    return facts_from_json(plain) if is_object else from_plain(plain)


def calibrations_to_json(
    calibrations: tuple[Calibration, ...] | None,
) -> list[dict[str, Any]] | None:
    """Return one JSON object for each calibration, or None if the model has none."""
    if calibrations is None:
        return None
    return [
        {name: to_plain(value) for name, value in asdict(calibration).items()}
        for calibration in calibrations
    ]


def calibrations_from_json(plain: Any) -> tuple[Calibration, ...] | None:
    """Return calibrations, or None if the model has none."""
    if plain is None:
        return None
    require(isinstance(plain, list), "its calibrations are not a list")
    return tuple(map(_calibration, plain))


def _calibration(plain: Any) -> Calibration:
    complete = isinstance(plain, dict) and sorted(plain) == _CALIBRATION_KEYS
    require(complete, "a calibration lacks an entry")
    offset, below, above, how = (plain[key] for key in ("offset", "below", "above", "how"))
    increasing = all(map(is_number, (offset, below, above))) and below > 0 < above
    require(increasing and type(how) is str, "a calibration is not an increasing sigmoid")
    return Calibration(offset, below, above, how)


def points_to_json(points: tuple[OperatingPoint, ...]) -> list[dict[str, Any]] | None:
    """Return one JSON object for each operating point, or None if there are none."""
    return [_point_to_json(point) for point in points] or None


def _point_to_json(point: OperatingPoint) -> dict[str, Any]:
    plain = {
        "metric": to_plain(point.metric),
        "threshold": float(point.threshold),
        "predicted": _rates_to_json(point.predicted),
        "empirical": None if point.empirical is None else _rates_to_json(point.empirical),
        "rows": point.rows,
        "intervals": None if point.intervals is None else [*map(_rates_to_json, point.intervals)],
    }
    if point.expected is not None:
        plain["expected"] = _rates_to_json(point.expected)
    if point.guarantee is not None:
        plain["guarantee"] = point.guarantee
    if point.weighted_by:
        plain["weighted_by"] = point.weighted_by
    return plain


def points_from_json(plain: Any) -> tuple[OperatingPoint, ...]:
    """Return operating points, none if the model has none."""
    if plain is None:
        return ()
    # No points are written as null, so an empty list was not written by `save`.
    require(isinstance(plain, list) and plain, "its operating points are not a list of some")
    return tuple(map(_point_from_json, plain))


def _point_from_json(plain: Any) -> OperatingPoint:
    complete = isinstance(plain, dict) and set(plain) - _LATER_POINT_KEYS == _POINT_KEYS
    require(complete, "an operating point lacks an entry")
    metric, rows, guarantee = from_plain(plain["metric"]), plain["rows"], plain.get("guarantee")
    require(isinstance(metric, Metric), "an operating point has no metric")
    require(is_number(plain["threshold"]), "a threshold is not a number")
    require(rows is None or type(rows) is str, "an operating point has no name for its rows")
    predicted = Rates(*_rates_from_json(plain["predicted"], 4))
    empirical = plain["empirical"]
    empirical = None if empirical is None else Rates(*_rates_from_json(empirical, 4))
    expected = Rates(*_rates_from_json(plain["expected"], 4)) if "expected" in plain else None
    require(guarantee is None or type(guarantee) is str, "a guarantee is not text")
    weighted_by = plain.get("weighted_by", "")
    require(type(weighted_by) is str, "what rates are weighted by is not text")
    return OperatingPoint(
        metric,
        plain["threshold"],
        predicted,
        empirical,
        rows,
        expected,
        _intervals_from_json(plain["intervals"]),
        guarantee,
        weighted_by,
    )


def _intervals_from_json(plain: Any) -> Intervals | None:
    if plain is None:
        return None
    require(_is_list(plain, 4), "an operating point does not have four intervals")
    pairs = (_rates_from_json(pair, 2) for pair in plain)
    return Intervals(*((low, high) for low, high in pairs))


def _rates_to_json(rates: Any) -> list[float | None]:
    # JSON has no NaN: a rate that is not known is null.
    return [float(rate) if isfinite(rate) else None for rate in rates]


def _rates_from_json(plain: Any, length: int) -> list[float]:
    numbers = _is_list(plain, length) and all(rate is None or is_number(rate) for rate in plain)
    require(numbers, "a rate of an operating point is not a number")
    return [nan if rate is None else rate for rate in plain]


def _is_list(value: Any, length: int) -> bool:
    return isinstance(value, list) and len(value) == length
