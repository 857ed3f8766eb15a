"""The scores of a linear classifier in an ONNX graph: one matrix product."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from directrix.classifiers.scoring import LinearFormula
from directrix.exceptions import Float32PrecisionWarning, find_stacklevel
from directrix.export.onnx.graph import Graph

#: Greatest relative error of a number that is rounded to float32.
ROUNDING = 2.0**-24
#: Least change of the log-odds that matters: a probability of 0.5 becomes 0.5025.
LEAST_CHANGE = 0.01


def add_linear_scores(graph: Graph, formula: LinearFormula, rows: str) -> str:
    """Add the scores of rows, a node of doubles, to a graph; return their name."""
    coefficients = graph.constant(np.array(formula.coefficients).T)
    intercepts = graph.constant(np.array(formula.intercepts))
    return graph.add_node("Add", [graph.add_node("MatMul", [rows, coefficients]), intercepts])


def warn_about_rounding(classifier: Any, formula: LinearFormula) -> None:
    r"""Warn if features in float32 lose digits that labels and probabilities depend on.

    Rounding changes a score by up to :math:`2^{-24} \sum_j |w_j x_j|`. Near the threshold, where
    :math:`w \cdot x = -b`, the sum is at least :math:`|b|`; at the mean of a class it is known if
    the classifier has the means.
    """
    moments = getattr(classifier, "moments_", None)
    groups = [] if moments is None else moments.by_class.values()
    means = np.array([group.mean for group in groups if group.count])
    worst = 0.0
    parts = zip(formula.coefficients, formula.intercepts, formula.responses, strict=True)
    for coefficients, intercept, response in parts:
        size = abs(intercept)
        if means.size:
            size = max(size, float((np.abs(means) @ np.abs(coefficients)).max()))
        worst = max(worst, ROUNDING * size * response.greatest_slope)
    if worst > LEAST_CHANGE:
        warnings.warn(Float32PrecisionWarning(worst), stacklevel=find_stacklevel())
