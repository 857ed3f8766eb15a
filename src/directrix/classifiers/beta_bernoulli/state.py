"""The state of a fitted BetaBernoulliClassifier as facts and arrays, and its checks."""

from __future__ import annotations

from dataclasses import asdict
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.classifiers.beta_bernoulli.plateaus import pair_of
from directrix.classifiers.beta_bernoulli.sparse_prior import GaussianLaplace
from directrix.classifiers.kernels.state import (
    expansion_attributes,
    require_matching_kernel,
    restored_kernel,
    support_attributes,
)
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
_PRIOR_PARAMS = ("scale", "share", "variance")


def prior_facts(prior: GaussianLaplace | None) -> Facts | None:
    """Return a prior as facts."""
    return None if prior is None else Facts(asdict(prior))


def restored_attributes(state: ModelState) -> dict[str, Any]:
    """Return the attributes of a classifier with this state, after checking it."""
    arrays = StateArrays(state.arrays)
    read = expansion_attributes if "rows" in arrays else _linear_attributes
    attributes = read(arrays, state.n_features)
    arrays.require_empty()
    attributes |= _restored_facts(state.facts)
    require_matching_kernel(attributes, attributes["_kernel"])
    calibrated = state.calibrations is not None or state.operating_points
    require(not calibrated, "BetaBernoulliClassifier has no calibration and no operating point")
    return attributes


def _linear_attributes(arrays: StateArrays, n_features: int) -> dict[str, Any]:
    """Return the attributes of a model without a kernel."""
    attributes = support_attributes(arrays)
    attributes["coef_"] = arrays.take("coef", (1, n_features), "float64")
    if "scale" in arrays:
        attributes["feature_scales_"] = arrays.take("scale", (n_features,), "float64")
    support = attributes["support_"]
    ordered = (np.diff(support) > 0).all() and (support < n_features).all()
    require(ordered, "support is beyond the features, or not in their order")
    pruned = np.delete(attributes["coef_"][0], support)
    require(not pruned.any(), "support lacks a feature with a coefficient")
    return attributes


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
        "_kernel": restored_kernel(facts["kernel"]),
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
