"""What a fitted classifier knows besides its arrays, as plain JSON, and back.

Calibrations, operating points, and the few facts that each class of classifiers has of its own.
"""

from __future__ import annotations

from dataclasses import asdict
from math import inf, isfinite, nan
from typing import Any

from directrix.classifiers import (
    BetaBernoulliClassifier,
    DirectClassifier,
    MomentClassifier,
    OperatingPoint,
    SmoothClassifier,
)
from directrix.classifiers.beta_bernoulli.kernels import KERNELS, Kernel
from directrix.classifiers.beta_bernoulli.plateaus import pair_of
from directrix.classifiers.beta_bernoulli.sparse_prior import GaussianLaplace
from directrix.classifiers.fitting.calibration import Calibration
from directrix.classifiers.fitting.intervals import Intervals, Rates
from directrix.export.model_file_error import ModelFileError, require
from directrix.export.plain_values import from_plain, to_plain
from directrix.losses import BetaBernoulli, Loss
from directrix.metrics import Metric

CLASSIFIERS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        BetaBernoulliClassifier,
        DirectClassifier,
        MomentClassifier,
        SmoothClassifier,
    )
}

_FACTS = {
    "BetaBernoulliClassifier": (
        *("alpha", "held_out", "kernel", "loss", "n_iter", "prior", "shift"),
    ),
    "DirectClassifier": (),
    "MomentClassifier": ("shrinkage",),
    "SmoothClassifier": ("alpha", "loss", "n_iter"),
}
_KERNEL_PARAMS = ("coef0", "degree", "gamma")


def calibrations_to_plain(classifier: Any) -> list[dict[str, Any]] | None:
    """Return the calibration of each line, or None where the model has its own probabilities."""
    calibrations = getattr(classifier, "calibrations_", None)
    if calibrations is None:
        return None
    return [to_plain_floats(asdict(calibration)) for calibration in calibrations]


def calibrations_from_plain(plain: Any, n_lines: int) -> tuple[Calibration, ...]:
    """Return the calibration of each line."""
    require(_is_list(plain, n_lines), "it does not have a calibration for each line")
    read = []
    for own in plain:
        keys = ["above", "below", "how", "offset"]
        require(isinstance(own, dict) and sorted(own) == keys, "a calibration lacks an entry")
        offset, below, above = own["offset"], own["below"], own["above"]
        fits = all(map(_is_finite, (offset, below, above))) and below > 0 < above
        require(fits and type(own["how"]) is str, "a calibration is not an increasing sigmoid")
        read.append(Calibration(offset, below, above, own["how"]))
    return tuple(read)


def points_to_plain(classifier: Any) -> list[dict[str, Any]] | None:
    """Return the operating point of each line, or None where there is none."""
    points = getattr(classifier, "operating_points_", ())
    return [_point(point) for point in points] or None


def _point(point: OperatingPoint) -> dict[str, Any]:
    plain = {
        "metric": to_plain(point.metric),
        "threshold": float(point.threshold),
        "predicted": _numbers(point.predicted),
        "empirical": None if point.empirical is None else _numbers(point.empirical),
        "rows": point.rows,
        "intervals": None if point.intervals is None else [*map(_numbers, point.intervals)],
    }
    if point.expected is not None:  # which files before 0.2 do not have
        plain["expected"] = _numbers(point.expected)
    if point.guarantee is not None:
        plain["guarantee"] = point.guarantee
    return plain


def points_from_plain(plain: Any, n_lines: int) -> tuple[OperatingPoint, ...]:
    """Return the operating point of each line; none from a classifier that has none yet."""
    if plain is None:
        return ()
    require(_is_list(plain, n_lines), "it does not have an operating point for each line")
    read = []
    for own in plain:
        keys = {"empirical", "intervals", "metric", "predicted", "rows", "threshold"}
        # Files before 0.2 do not say what to expect on new rows, nor what is guaranteed.
        fits = isinstance(own, dict) and set(own) - {"expected", "guarantee"} == keys
        require(fits, "an operating point lacks an entry")
        metric, rows, intervals = from_plain(own["metric"]), own["rows"], own["intervals"]
        require(isinstance(metric, Metric), "an operating point has no metric")
        require(_is_finite(own["threshold"]), "a threshold is not a number")
        require(rows is None or type(rows) is str, "an operating point has no name for its rows")
        predicted = Rates(*_rates(own["predicted"], 4))
        empirical = None if own["empirical"] is None else Rates(*_rates(own["empirical"], 4))
        expected = Rates(*_rates(own["expected"], 4)) if "expected" in own else None
        kept = own.get("guarantee")
        require(kept is None or type(kept) is str, "a guarantee is not text")
        ends = None
        if intervals is not None:
            require(_is_list(intervals, 4), "an operating point does not have four intervals")
            pairs = [_rates(each, 2) for each in intervals]
            ends = Intervals(*((low, high) for low, high in pairs))
        read.append(
            OperatingPoint(
                metric, own["threshold"], predicted, empirical, rows, expected, ends, kept
            )
        )
    return tuple(read)


def facts_to_plain(classifier: Any) -> dict[str, Any]:
    """Return what this class of classifiers knows besides lines and operating points."""
    facts: dict[str, Any] = {}
    for name in _FACTS[type(classifier).__name__]:
        if name == "kernel":
            facts[name] = _kernel_to_plain(classifier._kernel)  # noqa: SLF001
        elif name == "prior":
            prior = classifier.prior_
            facts[name] = None if prior is None else to_plain_floats(asdict(prior))
        elif name == "shift":
            facts[name] = float(classifier._shift)  # noqa: SLF001
        else:
            facts[name] = to_plain(getattr(classifier, f"{name}_", None))
    return facts


def facts_from_plain(plain: Any, kind: str) -> dict[str, Any]:
    """Return these facts as attributes of a classifier."""
    fits = isinstance(plain, dict) and sorted(plain) == sorted(_FACTS[kind])
    require(fits, "its facts are not those of this class")
    if kind == "MomentClassifier":
        shrinkage = plain["shrinkage"]
        known = shrinkage in (None, "oas") or (_is_finite(shrinkage) and 0 <= shrinkage <= 1)
        require(known, "its shrinkage is not a share")
        return {} if shrinkage is None else {"shrinkage_": shrinkage}
    if not plain:
        return {}
    loss, alpha, n_iter = from_plain(plain["loss"]), plain["alpha"], plain["n_iter"]
    require(isinstance(loss, Loss), "it has no loss")
    require(_is_finite(alpha) and alpha >= 0, "its alpha is not a number from zero up")
    require(type(n_iter) is int and 0 <= n_iter < 1 << 53, "its number of iterations is not one")
    facts = {"loss_": loss, "alpha_": alpha, "n_iter_": n_iter}
    return facts if kind == "SmoothClassifier" else facts | _facts_of_plateaus(plain, loss)


def _facts_of_plateaus(plain: dict[str, Any], loss: Loss) -> dict[str, Any]:
    """Return the facts that only a Beta-Bernoulli model has."""
    if not isinstance(loss, BetaBernoulli):
        raise ModelFileError("its loss has no plateaus")  # noqa: EM101, TRY003
    inside = 0 <= loss.mixing < 1 and 0 <= loss.prior_mean <= 1 and 0 < loss.gamma < inf
    require(inside, "its plateaus are not probabilities")
    require(_is_finite(plain["shift"]), "its shift is not a number")
    held_out, prior = from_plain(plain["held_out"]), plain["prior"]
    fits = isinstance(held_out, dict) and all(
        type(number) is float for pair in held_out.items() for number in pair
    )
    require(fits, "its held-out losses are not numbers")
    if prior is not None:
        keys = ["scale", "share", "variance"]
        fits = isinstance(prior, dict) and sorted(prior) == keys
        require(fits and all(map(_is_finite, prior.values())), "its prior is not one")
    return {
        "plateaus_": pair_of(loss),
        "held_out_": held_out,
        "prior_": None if prior is None else GaussianLaplace(**prior),
        "_shift": plain["shift"],
        "_kernel": _kernel_from_plain(plain["kernel"]),
    }


def _kernel_to_plain(kernel: Kernel | None) -> dict[str, Any] | None:
    if kernel is None:
        return None
    params = kernel.params or {}
    if callable(kernel.name) or not set(params) <= set(_KERNEL_PARAMS):
        msg = (
            "a model file holds no code, so the kernel must be one of "
            f"{', '.join(map(repr, KERNELS))} with no other parameters than gamma, degree and coef0"
        )
        raise TypeError(msg)
    return {"name": kernel.name, "params": to_plain_floats(params)}


def _kernel_from_plain(plain: Any) -> Kernel | None:
    if plain is None:
        return None
    fits = isinstance(plain, dict) and sorted(plain) == ["name", "params"]
    require(fits and plain["name"] in KERNELS, "it names a kernel that this version does not know")
    params = plain["params"]
    fits = isinstance(params, dict) and set(params) <= set(_KERNEL_PARAMS)
    require(fits, "its kernel has parameters that this version does not know")
    known = all(value is None or _is_finite(value) for value in params.values())
    require(known, "a parameter of its kernel is not a number")
    return Kernel(plain["name"], params)


def to_plain_floats(values: dict[str, Any]) -> dict[str, Any]:
    """Return a flat dictionary with NumPy's numbers made plain."""
    return {name: to_plain(value) for name, value in values.items()}


def _numbers(rates: Any) -> list[float | None]:
    # Where nothing is known, JSON has null.
    return [float(rate) if isfinite(rate) else None for rate in rates]


def _rates(plain: Any, length: int) -> list[float]:
    fits = _is_list(plain, length) and all(rate is None or _is_finite(rate) for rate in plain)
    require(fits, "a rate of an operating point is not a number")
    return [nan if rate is None else rate for rate in plain]


def _is_list(value: Any, length: int) -> bool:
    return isinstance(value, list) and len(value) == length


def _is_finite(value: Any) -> bool:
    return (type(value) is float and isfinite(value)) or (
        type(value) is int and abs(value) < 1 << 53
    )
