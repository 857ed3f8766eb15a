"""The state of a fitted BetaBernoulliClassifier as facts and arrays, and its checks."""

from __future__ import annotations

from dataclasses import asdict
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from directrix.classifiers.beta_bernoulli.kernels import KERNELS, Kernel
from directrix.classifiers.beta_bernoulli.plateaus import pair_of
from directrix.classifiers.beta_bernoulli.sparse_prior import GaussianLaplace
from directrix.classifiers.fitting.standardization import Standardization
from directrix.classifiers.state import (
    Facts,
    StateArrays,
    is_number,
    require,
    restored_loss_fit,
)
from directrix.losses import BetaBernoulli

if TYPE_CHECKING:
    from directrix.classifiers.state import ModelState

_FACTS = ("alpha", "held_out", "kernel", "loss", "n_iter", "prior", "shift")
_KERNEL_PARAMS = ("coef0", "degree", "gamma")
_PRIOR_PARAMS = ("scale", "share", "variance")


def kernel_facts(kernel: Kernel | None) -> Facts | None:
    """Return a kernel as facts; raise TypeError for one that is a function."""
    if kernel is None:
        return None
    params = kernel.params or {}
    if callable(kernel.name) or not set(params) <= set(_KERNEL_PARAMS):
        msg = (
            "a model file holds no code, so the kernel must be one of "
            f"{', '.join(map(repr, KERNELS))} with no other parameters than gamma, degree and coef0"
        )
        raise TypeError(msg)
    return Facts(name=kernel.name, params=Facts(params))


def prior_facts(prior: GaussianLaplace | None) -> Facts | None:
    """Return a prior as facts."""
    return None if prior is None else Facts(asdict(prior))


def restored_attributes(state: ModelState) -> dict[str, Any]:
    """Return the attributes of a classifier with this state, after checking it."""
    arrays = StateArrays(state.arrays)
    with_kernel = "rows" in arrays
    read = _expansion_attributes if with_kernel else _linear_attributes
    attributes = read(arrays, state.n_features)
    arrays.require_empty()
    attributes |= _restored_facts(state.facts)
    kernel = attributes["_kernel"]
    require((kernel is not None) == with_kernel, "its kernel does not match its arrays")
    if kernel is not None and kernel.as_given:
        _require_unscaled(attributes)
    calibrated = state.calibrations is not None or state.operating_points
    require(not calibrated, "BetaBernoulliClassifier has no calibration and no operating point")
    return attributes


def _linear_attributes(arrays: StateArrays, n_features: int) -> dict[str, Any]:
    """Return the attributes of a model without a kernel."""
    attributes = _common_attributes(arrays)
    attributes["coef_"] = arrays.take("coef", (1, n_features), "float64")
    if "scale" in arrays:
        attributes["feature_scales_"] = arrays.take("scale", (n_features,), "float64")
    support = attributes["support_"]
    ordered = (np.diff(support) > 0).all() and (support < n_features).all()
    require(ordered, "support is beyond the features, or not in their order")
    pruned = np.delete(attributes["coef_"][0], support)
    require(not pruned.any(), "support lacks a feature with a coefficient")
    return attributes


def _expansion_attributes(arrays: StateArrays, n_features: int) -> dict[str, Any]:
    """Return the attributes of a kernel expansion."""
    attributes = _common_attributes(arrays)
    n_rows = attributes["n_support_"]
    attributes["dual_coef_"] = arrays.take("dual_coef", (1, n_rows), "float64")
    mean = arrays.take("unit_mean", (n_features,), "float64")
    scale = arrays.take("unit_scale", (n_features,), "float64")
    require((scale > 0).all(), "unit_scale is not above zero")
    attributes["_units"] = Standardization(mean, scale)
    attributes["support_vectors_"] = arrays.take("rows", (n_rows, n_features), "float32", "float64")
    return attributes


def _common_attributes(arrays: StateArrays) -> dict[str, Any]:
    support = arrays.take("support", (None,), "int64")
    require((support >= 0).all(), "support has a negative index")
    intercept = arrays.take("intercept", (1,), "float64")
    return {"support_": support, "n_support_": len(support), "intercept_": intercept}


def _restored_facts(facts: Facts) -> dict[str, Any]:
    facts.require_names(*_FACTS)
    attributes = restored_loss_fit(facts)
    loss = attributes["loss_"]
    require(isinstance(loss, BetaBernoulli), "its loss has no plateaus")
    inside = 0 <= loss.mixing < 1 and 0 <= loss.prior_mean <= 1 and 0 < loss.gamma < inf
    require(inside, "its plateaus are not probabilities")
    require(is_number(facts["shift"]), "its shift is not a number")
    held_out = facts["held_out"]
    # Nested Facts are not a dictionary of floats, even if they are empty.
    numbers = type(held_out) is dict and all(
        type(number) is float for pair in held_out.items() for number in pair
    )
    require(numbers, "its held-out losses are not numbers")
    return attributes | {
        "plateaus_": pair_of(loss),
        "held_out_": held_out,
        "prior_": _restored_prior(facts["prior"]),
        "_shift": facts["shift"],
        "_kernel": _restored_kernel(facts["kernel"]),
    }


def _restored_prior(facts: Any) -> GaussianLaplace | None:
    if facts is None:
        return None
    complete = isinstance(facts, Facts) and sorted(facts) == list(_PRIOR_PARAMS)
    require(
        complete and all(map(is_number, facts.values())),
        "its prior is not a share, a variance and a scale",
    )
    return GaussianLaplace(**facts)


def _restored_kernel(facts: Any) -> Kernel | None:
    if facts is None:
        return None
    complete = isinstance(facts, Facts) and sorted(facts) == ["name", "params"]
    known = complete and isinstance(facts["name"], str) and facts["name"] in KERNELS
    require(known, "it names a kernel that this version does not know")
    params = facts["params"]
    known = isinstance(params, Facts) and set(params) <= set(_KERNEL_PARAMS)
    require(known, "its kernel has parameters that this version does not know")
    numbers = all(value is None or is_number(value) for value in params.values())
    require(numbers, "a parameter of its kernel is not a number")
    return Kernel(facts["name"], dict(params))


def _require_unscaled(attributes: dict[str, Any]) -> None:
    """Check what a kernel of unscaled features needs: no standardisation, nothing negative."""
    units, rows = attributes["_units"], attributes["support_vectors_"]
    unscaled = not units.mean.any() and (units.scale == 1.0).all()
    values = rows.data if sparse.issparse(rows) else rows
    require(
        unscaled and (values >= 0).all(),
        "its kernel takes features as given, and never negative ones",
    )
