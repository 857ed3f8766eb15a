"""A fitted line as an ONNX graph of plain operators: label, probabilities and score."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from directrix._typing import AnyArray
from directrix.exceptions import Float32PrecisionWarning, MissingLibraryError, find_stacklevel
from directrix.export.scoring_formula import Plateaus, ScoringFormula

#: Old enough for runtimes of the last years; nothing here is newer.
_OPSET, _IR_VERSION = 17, 8
_DTYPES = ("float64", "float32")


#: Greatest relative error of a number that is rounded to float32.
_ROUNDING = 2.0**-24
#: Change of the log-odds that is no longer negligible: a probability of 0.5 becomes 0.5025.
_MATERIAL = 0.01


def to_onnx(classifier: Any, *, dtype: str = "float64") -> Any:
    """Return a fitted classifier as an ONNX model.

    The input ``X`` has shape (n, d). The outputs are ``label`` of shape (n,), ``probabilities`` of
    shape (n, k), and ``score`` of shape (n,), or (n, k) for more than two classes.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel
    dtype : "float64" or "float32"
        Type of the input, the probabilities and the score; float64 gives the labels of the
        classifier. Choose float32 only if what calls the model has nothing else: features are
        then rounded to about seven digits before they come in, which is too few where they are
        far from zero compared with their spread. Sums inside are in float64 either way.

    Returns
    -------
    onnx.ModelProto
        Save it with ``onnx.save``.

    Warns
    -----
    Float32PrecisionWarning
        If rounding features to float32 can change the log-odds near the threshold by more than
        0.01. This is judged from the intercept, and from the means of the features where the
        classifier keeps them (a `MomentClassifier` that was not loaded from a file).

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
    formula = ScoringFormula.of(classifier)
    if dtype == "float32":
        _warn_of_rounding(classifier, formula)
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        purpose = "a model is written as ONNX with the package onnx"
        raise MissingLibraryError(purpose, "onnx") from None

    graph = _Graph()
    wide, narrow = TensorProto.DOUBLE, TensorProto.FLOAT if dtype == "float32" else None
    rows = graph.add("Cast", ["X"], to=wide) if narrow else "X"
    lines = graph.constant(np.array(formula.coefficients).T)
    intercepts = graph.constant(np.array(formula.intercepts))
    scores = graph.add("Add", [graph.add("MatMul", [rows, lines]), intercepts])
    if formula.two_classes:
        probabilities, place = _of_two(graph, formula, scores)
        scores = graph.add("Reshape", [scores, graph.constant(np.array([-1]))])
    else:
        scores = _log_odds(graph, formula, scores)
        # Far out all sigmoids may be too small for a float; their ratios are not.
        probabilities = graph.add("Softmax", [_log_sigmoid(graph, scores)], axis=1)
        place = graph.add("ArgMax", [scores], axis=1, keepdims=0)
    labels = np.array(formula.classes)
    graph.add("Gather", [graph.constant(labels), place], "label", axis=0)
    last = {"to": narrow} if narrow else {}
    for own, name in ((probabilities, "probabilities"), (scores, "score")):
        graph.add("Cast" if narrow else "Identity", [own], name, **last)
    kind, n = narrow or wide, len(formula.classes)
    text = labels.dtype.kind == "U"
    of_labels = TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(labels.dtype)
    shape = ["n"] if formula.two_classes else ["n", n]
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "directrix",
            [helper.make_tensor_value_info("X", kind, ["n", formula.n_features])],
            [
                helper.make_tensor_value_info("label", of_labels, ["n"]),
                helper.make_tensor_value_info("probabilities", kind, ["n", n]),
                helper.make_tensor_value_info("score", kind, shape),
            ],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="directrix",
    )
    checker.check_model(model, full_check=True)
    return model


def _warn_of_rounding(classifier: Any, formula: ScoringFormula) -> None:
    r"""Warn if features in float32 lose digits that labels and probabilities depend on.

    Rounding changes a score by up to :math:`2^{-24} \sum_j |w_j x_j|`. Near the threshold, where
    :math:`w \cdot x = -b`, the sum is at least :math:`|b|`; at the mean of a class it is known
    where the means are.
    """
    moments = getattr(classifier, "moments_", None)
    groups = [] if moments is None else moments.by_class.values()
    means = np.array([group.mean for group in groups if group.count])
    worst = 0.0
    lines = zip(formula.coefficients, formula.intercepts, formula.responses, strict=True)
    for coefficients, intercept, response in lines:
        size = abs(intercept)
        if means.size:
            size = max(size, float((np.abs(means) @ np.abs(coefficients)).max()))
        if isinstance(response, Plateaus):
            slope = abs(response.gamma)
        else:
            slope = max(abs(response.below), abs(response.above))
        worst = max(worst, _ROUNDING * size * slope)
    if worst > _MATERIAL:
        warnings.warn(Float32PrecisionWarning(worst), stacklevel=find_stacklevel())


def _of_two(graph: _Graph, formula: ScoringFormula, scores: str) -> tuple[str, str]:
    """Return the probabilities of two classes, and the place of the label."""
    (response,) = formula.responses
    one, zero = graph.constant(np.array(1.0)), graph.constant(np.array(0.0))
    if isinstance(response, Plateaus):
        moved = graph.add("Add", [scores, graph.constant(np.array(response.shift))])
        sharp = graph.add("Mul", [moved, graph.constant(np.array(response.gamma))])
        share = graph.add("Sigmoid", [sharp])
        risen = graph.add("Mul", [share, graph.constant(np.array(response.rise))])
        sure = graph.add("Add", [risen, graph.constant(np.array(response.low))])
        positive = graph.add("Min", [sure, graph.constant(np.array(response.high))])
    else:
        positive = graph.add("Sigmoid", [_log_odds(graph, formula, scores)])
    negative = graph.add("Sub", [one, positive])
    probabilities = graph.add("Concat", [negative, positive], axis=1)
    above = graph.add("Greater", [scores, zero])
    from onnx import TensorProto

    place = graph.add("Cast", [above], to=TensorProto.INT64)
    place = graph.add("Reshape", [place, graph.constant(np.array([-1]))])
    if formula.always is not None:
        nothing = graph.add("Mul", [place, graph.constant(np.array(0))])
        place = graph.add("Add", [nothing, graph.constant(np.array(formula.always))])
    return probabilities, place


def _log_sigmoid(graph: _Graph, log_odds: str) -> str:
    """Return ``min(s, 0) - log(1 + exp(-|s|))``."""
    below = graph.add("Min", [log_odds, graph.constant(np.array(0.0))])
    small = graph.add("Exp", [graph.add("Neg", [graph.add("Abs", [log_odds])])])
    rest = graph.add("Log", [graph.add("Add", [small, graph.constant(np.array(1.0))])])
    return graph.add("Sub", [below, rest])


def _log_odds(graph: _Graph, formula: ScoringFormula, scores: str) -> str:
    """Return ``c + a min(s, 0) + b max(s, 0)`` of each line."""
    each = [own for own in formula.responses if not isinstance(own, Plateaus)]
    zero = graph.constant(np.array(0.0))
    below, above = graph.add("Min", [scores, zero]), graph.add("Max", [scores, zero])
    lower = graph.add("Mul", [below, graph.constant(np.array([own.below for own in each]))])
    upper = graph.add("Mul", [above, graph.constant(np.array([own.above for own in each]))])
    offset = graph.constant(np.array([own.offset for own in each]))
    return graph.add("Add", [graph.add("Add", [lower, upper]), offset])


class _Graph:
    """Nodes and constants of a graph, with names made as they come."""

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

    def add(self, kind: str, inputs: list[str], name: str | None = None, **options: Any) -> str:
        """Add an operator; return the name of its output."""
        from onnx import helper

        name = name or f"{kind}_{len(self.nodes)}".lower()
        self.nodes.append(helper.make_node(kind, inputs, [name], **options))
        return name
