"""ModelState: what a fitted classifier hands to an export, and is restored from.

A classifier knows which of its numbers score rows. It writes them down in `export_state` and checks
them in `from_state`; an export stores a state without knowing which classifier it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from directrix._typing import AnyArray
from directrix.exceptions import StateError
from directrix.fit.operating_point import Calibration, OperatingPoint


def require(condition: object, otherwise: str) -> None:
    """Raise `StateError` with a message unless a condition holds."""
    if not condition:
        raise StateError(otherwise)


class ModelMetadata(dict[str, Any]):
    """Named values of a fitted classifier that are not arrays.

    Values are None, numbers, text, lists, tuples, dictionaries, metrics, or nested
    `ModelMetadata`. A file stores `ModelMetadata` as a JSON object, and a plain dictionary with the
    types of its keys.
    """

    def require_names(self, *names: str) -> None:
        """Check that there are exactly these facts."""
        require(sorted(self) == sorted(names), "its facts are not those of this class")


@dataclass(frozen=True)
class ModelState:
    """All that a fitted classifier needs in order to score rows.

    ``params`` are those of `model_params`. ``feature_map`` is the state of the `FeatureMap` of a
    model of a raw table. ``facts`` are results of the fit that are not
    arrays. There is no calibration if the model has probabilities without one.
    """

    params: dict[str, Any]
    classes: AnyArray
    n_features: int
    feature_names: tuple[str, ...] | None
    arrays: dict[str, Any]
    facts: ModelMetadata = field(default_factory=ModelMetadata)
    calibration: Calibration | None = None
    operating_point: OperatingPoint | None = None
    feature_map: dict[str, Any] | None = None


#: Parameters that change nothing but how a fit is run.
_OF_THE_RUN = ("n_jobs", "verbose", "warn_baseline")


def model_params(classifier: Any) -> dict[str, Any]:
    """Return the constructor's parameters that belong to a model: all but how a fit is run.

    What a fit prints and how many threads it has change no model; a file with and without them
    would differ for no reason.
    """
    params: dict[str, Any] = classifier.get_params(deep=False)
    return {name: value for name, value in params.items() if name not in _OF_THE_RUN}


class StateArrays:
    """The arrays of a state, taken out one by one and checked."""

    def __init__(self, arrays: dict[str, Any]) -> None:
        self.remaining = dict(arrays)

    def __contains__(self, name: str) -> bool:
        return name in self.remaining

    def take(self, name: str, shape: tuple[int | None, ...], *dtypes: str) -> Any:
        """Return an array after checking its type, its shape and that its numbers are finite.

        None in the shape stands for any length; ``dtypes`` are the names of allowed types.
        """
        require(name in self, f"it lacks the array {name}")
        array = self.remaining.pop(name)
        fits = len(array.shape) == len(shape) and all(
            expected in (None, length) for expected, length in zip(shape, array.shape, strict=True)
        )
        require(
            fits and array.dtype.name in dtypes,
            f"{name} has type {array.dtype}, shape {array.shape}",
        )
        require(np.isfinite(array).all(), f"{name} is not finite")
        return array

    def require_empty(self) -> None:
        """Check that every array has been taken."""
        names = ", ".join(sorted(self.remaining))
        require(not self.remaining, f"it has arrays that do not belong there: {names}")
