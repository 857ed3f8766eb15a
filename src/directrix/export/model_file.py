"""The model file: a fitted classifier as safetensors with a JSON header (``docs/export.md``).

A file holds the `ModelState` of `estimators.state`, and nothing that could be executed. Nothing in
it is trusted: `load` checks every length, type, shape and value before using it, and raises
`ModelFileError` for any file that `save` could not have written.
"""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite, nan
from os import PathLike
from typing import Any

import numpy as np

from directrix._typing import AnyArray
from directrix.estimators import OperatingPoint
from directrix.estimators.state import ModelMetadata, ModelState, model_params
from directrix.exceptions.files import FileContentError, ModelFileError
from directrix.export.plain_values import from_plain, is_encoded, to_plain
from directrix.export.scoring_formula import CLASSIFIERS, known_names
from directrix.files.layout import Layout, classes_of, is_text, require
from directrix.fit.operating_point import Calibration, Intervals, Rates
from directrix.metrics.budget import Budget, KeptBudget
from directrix.metrics.table import resolve

# ── metadata, calibrations and operating points as JSON ───────────────────────────────────────────


def facts_to_json(facts: ModelMetadata) -> dict[str, Any]:
    """Return facts as JSON objects; raise TypeError for a value that is code."""
    return {
        name: facts_to_json(value) if isinstance(value, ModelMetadata) else to_plain(value)
        for name, value in facts.items()
    }


def facts_from_json(plain: Any) -> ModelMetadata:
    """Return the facts of a JSON object."""
    require(isinstance(plain, dict), "its facts are not those of this class")
    return ModelMetadata({name: _fact(value) for name, value in plain.items()})


def _fact(plain: Any) -> Any:
    is_object = isinstance(plain, dict) and not is_encoded(plain)
    return facts_from_json(plain) if is_object else from_plain(plain)


def calibration_to_json(calibration: Calibration | None) -> dict[str, Any] | None:
    """Return a calibration for JSON, or None if the model has none."""
    if calibration is None:
        return None
    return {name: to_plain(value) for name, value in asdict(calibration).items()}


def calibration_from_json(plain: Any) -> Calibration | None:
    """Return a calibration, or None if the model has none."""
    if plain is None:
        return None
    return Calibration(**plain)


def point_to_json(point: OperatingPoint | None) -> dict[str, Any] | None:
    """Return an operating point for JSON, or None if the model has none."""
    if point is None:
        return None
    plain: dict[str, Any] = {
        "metric": to_plain(point.metric),
        "threshold": float(point.threshold),
        "predicted": None if point.predicted is None else _rates_to_json(point.predicted),
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
    if point.budget is not None:
        kept = point.budget
        plain["budget"] = {
            "budget": to_plain(kept.budget),
            "share": float(kept.share),
            "days": int(kept.days),
            "thresholds": [float(threshold) for _, threshold in kept.thresholds],
            "used": list(map(float, kept.used)),
        }
    return plain


def point_from_json(plain: Any) -> OperatingPoint | None:
    """Return an operating point, or None if the model has none."""
    if plain is None:
        return None
    metric, intervals = from_plain(plain["metric"]), plain["intervals"]
    return OperatingPoint(
        metric,
        plain["threshold"],
        _rates_from_json(plain["predicted"]),
        _rates_from_json(plain["empirical"]),
        plain["rows"],
        _rates_from_json(plain.get("expected")),
        None if intervals is None else Intervals(*((a, b) for a, b in map(_numbers, intervals))),
        plain.get("guarantee"),
        plain.get("weighted_by", ""),
        budget=_budget_from_json(plain.get("budget")),
    )


def _budget_from_json(plain: Any) -> KeptBudget | None:
    """Return the thresholds of a budget, or None if there is none."""
    if plain is None:
        return None
    budget: Budget = from_plain(plain["budget"])
    thresholds = tuple(zip(budget.by_team, plain["thresholds"], strict=True))
    return KeptBudget(budget, plain["share"], plain["days"], thresholds, tuple(plain["used"]))


def _rates_to_json(rates: Any) -> list[float | None]:
    # JSON has no NaN: a rate that is not known is null.
    return [float(rate) if isfinite(rate) else None for rate in rates]


def _rates_from_json(plain: list[float | None] | None) -> Rates | None:
    return None if plain is None else Rates(*_numbers(plain))


def _numbers(rates: list[float | None]) -> list[float]:
    return [nan if rate is None else rate for rate in rates]


# ── The file ──────────────────────────────────────────────────────────────────────────────────────

_LABEL_TYPES = (
    *("bool", "str", "object", "datetime64[us]", "float16", "float32", "float64"),
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
)


def save(classifier: Any, path: str | PathLike[str]) -> None:
    """Write a fitted classifier to a file, completely or not at all.

    Equal models give equal bytes. Parameters, coefficients, calibration and operating point are
    stored; reports, candidates and the moments of a `MomentClassifier` are not.

    Parameters
    ----------
    classifier : classifier of directrix, fitted
        Of a pipeline, the last step.
    path : str or path

    Raises
    ------
    TypeError
        If it is another estimator, or a parameter is code: a metric of your own, or a
        kernel that is a function.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_breast_cancer
    >>> from directrix import MomentClassifier
    >>> from directrix.export import load, save
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = MomentClassifier("auc").fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     save(classifier, Path(folder) / "cancer.model")
    ...     again = load(Path(folder) / "cancer.model")
    >>> bool((again.predict_proba(X) == classifier.predict_proba(X)).all())
    True
    """
    name = type(classifier).__name__
    if CLASSIFIERS.get(name) is not type(classifier):
        msg = f"save takes a fitted {known_names()}, not {name}: of a pipeline give the last step"
        raise TypeError(msg)
    state: ModelState = classifier.export_state()
    arrays = {name: np.ascontiguousarray(state.arrays[name]) for name in sorted(state.arrays)}
    entries = {
        "class": name,
        "params": {param: to_plain(state.params[param]) for param in sorted(state.params)},
        "n_features": state.n_features,
        "feature_names": state.feature_names,
        "feature_map": state.feature_map,
        "calibration": calibration_to_json(state.calibration),
        "operating_point": point_to_json(state.operating_point),
        "facts": facts_to_json(state.facts),
    }
    LAYOUT.write(path, state.classes, entries, arrays)


def load(path: str | PathLike[str]) -> Any:
    """Read a classifier from a file; its scores and probabilities are equal to the last bit.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    classifier of directrix, fitted

    Raises
    ------
    ModelFileError
        If the file is damaged, has another version, or is no model.
    """
    return LAYOUT.read(path)[2]


def _classifier(header: dict[str, Any], arrays: dict[str, AnyArray]) -> Any:
    """Return the classifier of a header and arrays, after checking both."""
    name, n_features, names = header["class"], header["n_features"], header["feature_names"]
    known = is_text(name) and name in CLASSIFIERS
    require(known, f"it holds a classifier that this version does not know: {name!r}")
    classifier_type = CLASSIFIERS[name]
    state = ModelState(
        params=_params(header["params"], classifier_type),
        classes=classes_of(header).copy(),
        n_features=n_features,
        feature_names=None if names is None else tuple(names),
        feature_map=header["feature_map"],
        arrays=dict(arrays),
        facts=facts_from_json(header["facts"]),
        calibration=calibration_from_json(header["calibration"]),
        operating_point=point_from_json(header["operating_point"]),
    )
    return classifier_type.from_state(state)


def _params(written: Any, classifier_type: Any) -> dict[str, Any]:
    """Return the parameters of a file, after checking that it has all of them."""
    known = model_params(classifier_type())
    complete = isinstance(written, dict) and set(written) == set(known)
    require(complete, f"its parameters are not those of {classifier_type.__name__}")
    params = {param: from_plain(value) for param, value in written.items()}
    metric: Any = params.get("metric")
    if metric is not None or known.get("metric") is not None:  # decisions ask it for its costs
        try:
            resolve(metric)
        except (TypeError, ValueError):
            msg = f"its metric is not one: {metric!r}"
            raise FileContentError(msg) from None
    return params


LAYOUT = Layout(
    format="directrix.model",
    noun="model",
    error=ModelFileError,
    entries=(
        *("class", "params", "n_features", "feature_names", "feature_map"),
        *("calibration", "operating_point", "facts"),
    ),
    label_types=_LABEL_TYPES,
    laws=_classifier,
)
