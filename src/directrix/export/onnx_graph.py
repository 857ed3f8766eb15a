"""A fitted classifier as an ONNX graph of plain operators: label, probabilities and score."""

from __future__ import annotations

import warnings
from dataclasses import astuple
from typing import Any

import numpy as np

from directrix._typing import AnyArray
from directrix.classifiers import LinearFormula, Response, Sigmoid
from directrix.exceptions import Float32PrecisionWarning, MissingLibraryError, find_stacklevel
from directrix.export.scoring_formula import linear_formula

#: Runtimes of the last years support these; the graph has no newer operator.
_OPSET, _IR_VERSION = 17, 8
_DTYPES = ("float64", "float32")

#: Greatest relative error of a number that is rounded to float32.
_ROUNDING = 2.0**-24
#: Least change of the log-odds that matters: a probability of 0.5 becomes 0.5025.
_LEAST_CHANGE = 0.01


def to_onnx(classifier: Any, *, dtype: str = "float64") -> Any:
    """Return a fitted classifier as an ONNX model.

    The input ``X`` has shape (n, d). The outputs are ``label`` of shape (n,), ``probabilities`` of
    shape (n, k), and ``score`` of shape (n,), or (n, k) for more than two classes.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel
    dtype : "float64" or "float32"
        Type of the input, the probabilities and the score; float64, the default, gives the labels
        of the classifier. Choose float32 only for callers that have nothing else: features are
        then rounded to about seven digits first, which is too few if they are far from zero
        compared with their spread. Sums inside the graph are in float64 either way.

    Returns
    -------
    onnx.ModelProto
        Save it with ``onnx.save``.

    Warns
    -----
    Float32PrecisionWarning
        If rounding features to float32 can change the log-odds near the threshold by more than
        0.01. This is judged from the intercept, and from the means of the features if the
        classifier has them (a `MomentClassifier` that was not loaded from a file).

    Examples
    --------
    ::

        onnx.save(to_onnx(classifier), "model.onnx")
        session = onnxruntime.InferenceSession("model.onnx")
        label, probabilities, score = session.run(None, {"X": X.astype("float64")})
    """
    if dtype not in _DTYPES:
        msg = f"dtype must be one of {', '.join(map(repr, _DTYPES))}, not {dtype!r}"
        raise ValueError(msg)
    formula = linear_formula(classifier)
    if dtype == "float32":
        _warn_about_rounding(classifier, formula)
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        purpose = "a model is written as ONNX with the package onnx"
        raise MissingLibraryError(purpose, "onnx") from None

    graph = _Graph()
    wide, narrow = TensorProto.DOUBLE, TensorProto.FLOAT if dtype == "float32" else None
    rows = graph.add_node("Cast", ["X"], to=wide) if narrow else "X"
    coefficients = graph.constant(np.array(formula.coefficients).T)
    intercepts = graph.constant(np.array(formula.intercepts))
    scores = graph.add_node("Add", [graph.add_node("MatMul", [rows, coefficients]), intercepts])
    if formula.response is not None:
        probabilities, index = _two_classes(graph, formula, formula.response, scores)
        scores = graph.add_node("Reshape", [scores, graph.constant(np.array([-1]))])
    else:
        scores = _all_columns(formula.one_vs_rest).log_odds(scores, graph)
        # Far out all sigmoids may be too small for a float; their ratios are not.
        probabilities = graph.add_node("Softmax", [_log_sigmoid(graph, scores)], axis=1)
        index = graph.add_node("ArgMax", [scores], axis=1, keepdims=0)
    labels = np.array(formula.classes)
    graph.add_node("Gather", [graph.constant(labels), index], "label", axis=0)
    last = {"to": narrow} if narrow else {}
    for value, name in ((probabilities, "probabilities"), (scores, "score")):
        graph.add_node("Cast" if narrow else "Identity", [value], name, **last)
    value_type, n = narrow or wide, len(formula.classes)
    text = labels.dtype.kind == "U"
    label_type = TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(labels.dtype)
    shape = ["n"] if formula.two_classes else ["n", n]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "directrix",
            [helper.make_tensor_value_info("X", value_type, ["n", formula.n_features])],
            [
                helper.make_tensor_value_info("label", label_type, ["n"]),
                helper.make_tensor_value_info("probabilities", value_type, ["n", n]),
                helper.make_tensor_value_info("score", value_type, shape),
            ],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="directrix",
    )
    checker.check_model(model, full_check=True)
    return model


def _warn_about_rounding(classifier: Any, formula: LinearFormula) -> None:
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
        worst = max(worst, _ROUNDING * size * response.greatest_slope)
    if worst > _LEAST_CHANGE:
        warnings.warn(Float32PrecisionWarning(worst), stacklevel=find_stacklevel())


def _two_classes(
    graph: _Graph, formula: LinearFormula, response: Response, scores: str
) -> tuple[str, str]:
    """Return the probabilities of two classes, and the index of the predicted one."""
    from onnx import TensorProto

    one, zero = graph.constant(np.array(1.0)), graph.constant(np.array(0.0))
    positive = response.probability(scores, graph)
    negative = graph.add_node("Sub", [one, positive])
    probabilities = graph.add_node("Concat", [negative, positive], axis=1)
    above = graph.add_node("Greater", [scores, zero])
    index = graph.add_node("Cast", [above], to=TensorProto.INT64)
    index = graph.add_node("Reshape", [index, graph.constant(np.array([-1]))])
    if formula.always is not None:
        zeros = graph.add_node("Mul", [index, graph.constant(np.array(0))])
        index = graph.add_node("Add", [zeros, graph.constant(np.array(formula.always))])
    return probabilities, index


def _all_columns(sigmoids: tuple[Sigmoid, ...]) -> Sigmoid:
    """Return one sigmoid whose numbers are arrays, for a matrix with a column for each."""
    return Sigmoid(*np.array([astuple(sigmoid) for sigmoid in sigmoids]).T)


def _log_sigmoid(graph: _Graph, log_odds: str) -> str:
    """Return ``min(s, 0) - log(1 + exp(-|s|))``."""
    below = graph.add_node("Min", [log_odds, graph.constant(np.array(0.0))])
    small = graph.add_node("Exp", [graph.add_node("Neg", [graph.add_node("Abs", [log_odds])])])
    rest = graph.add_node("Log", [graph.add(small, 1.0)])
    return graph.add_node("Sub", [below, rest])


class _Graph:
    """Nodes and constants of a graph; as an `Arithmetic`, its values are names of nodes."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, value: AnyArray) -> str:
        """Add an array; return its name."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        value = value.astype(object) if value.dtype.kind == "U" else value
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add_node(
        self, operator: str, inputs: list[str], name: str | None = None, **options: Any
    ) -> str:
        """Add an operator; return the name of its output."""
        from onnx import helper

        name = name or f"{operator}_{len(self.nodes)}".lower()
        self.nodes.append(helper.make_node(operator, inputs, [name], **options))
        return name

    def add(self, value: str, number: float) -> str:
        """Return the value plus a number."""
        return self.add_node("Add", [value, self.constant(np.array(number))])

    def multiply(self, value: str, number: float) -> str:
        """Return the value times a number."""
        return self.add_node("Mul", [value, self.constant(np.array(number))])

    def slopes(self, value: str, below: float, above: float) -> str:
        """Return the value times one number where it is below zero, and times another elsewhere."""
        zero = self.constant(np.array(0.0))
        negative, positive = (self.add_node(name, [value, zero]) for name in ("Min", "Max"))
        return self.add_node(
            "Add", [self.multiply(negative, below), self.multiply(positive, above)]
        )

    def at_most(self, value: str, number: float) -> str:
        """Return the lesser of the value and a number."""
        return self.add_node("Min", [value, self.constant(np.array(number))])

    def sigmoid(self, value: str) -> str:
        """Return 1 / (1 + exp(-value))."""
        return self.add_node("Sigmoid", [value])
