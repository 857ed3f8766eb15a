"""The state of a fitted kernel expansion as facts and arrays, and its checks."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from directrix.classifiers.fitting.standardization import Standardization
from directrix.classifiers.kernels.kernel import KERNELS, Kernel
from directrix.classifiers.state import Facts, ModelState, StateArrays, is_number, require

_KERNEL_PARAMS = ("coef0", "degree", "gamma")


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


def restored_kernel(facts: Any) -> Kernel | None:
    """Return the kernel of some facts, after checking them; None for none."""
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


def expansion_arrays(classifier: Any) -> dict[str, Any]:
    """Return the arrays of a classifier that is a kernel expansion, apart from its intercept."""
    units: Standardization = classifier._units  # noqa: SLF001 - both classifiers have them
    return {
        "dual_coef": classifier.dual_coef_,
        "unit_mean": units.mean,
        "unit_scale": units.scale,
        "rows": classifier.support_vectors_,
    }


def expansion_attributes(arrays: StateArrays, n_features: int) -> dict[str, Any]:
    """Return the attributes of a kernel expansion from its arrays, after checking them."""
    attributes = support_attributes(arrays)
    n_rows = attributes["n_support_"]
    attributes["dual_coef_"] = arrays.take("dual_coef", (1, n_rows), "float64")
    mean = arrays.take("unit_mean", (n_features,), "float64")
    scale = arrays.take("unit_scale", (n_features,), "float64")
    require((scale > 0).all(), "unit_scale is not above zero")
    attributes["_units"] = Standardization(mean, scale)
    attributes["support_vectors_"] = arrays.take("rows", (n_rows, n_features), "float32", "float64")
    return attributes


def restored_expansion(state: ModelState) -> dict[str, Any]:
    """Return the attributes of a kernel expansion with its kernel, after checking the arrays."""
    arrays = StateArrays(state.arrays)
    attributes = expansion_attributes(arrays, state.n_features)
    arrays.require_empty()
    kernel = restored_kernel(state.facts.get("kernel"))
    require_matching_kernel(attributes, kernel)
    return attributes | {"_kernel": kernel}


def support_attributes(arrays: StateArrays) -> dict[str, Any]:
    """Return the indices of the coefficients that are kept, their number and the intercept."""
    support = arrays.take("support", (None,), "int64")
    require((support >= 0).all(), "support has a negative index")
    intercept = arrays.take("intercept", (1,), "float64")
    return {"support_": support, "n_support_": len(support), "intercept_": intercept}


def require_matching_kernel(attributes: dict[str, Any], kernel: Kernel | None) -> None:
    """Check that there is a kernel where there are rows, and that these are rows it can take.

    A kernel of features as given needs rows that are not standardised and never negative.
    """
    with_kernel = "support_vectors_" in attributes
    require((kernel is not None) == with_kernel, "its kernel does not match its arrays")
    if kernel is None or not kernel.as_given:
        return
    units, rows = attributes["_units"], attributes["support_vectors_"]
    unscaled = not units.mean.any() and (units.scale == 1.0).all()
    values = rows.data if sparse.issparse(rows) else rows
    require(
        unscaled and (values >= 0).all(),
        "its kernel takes features as given, and never negative ones",
    )
