"""A fitted classifier as an ONNX graph of plain operators: label, probabilities and score."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np

from directrix.cards.card import Card
from directrix.estimators.scoring import ScoringFormula
from directrix.exceptions import Float32PrecisionWarning, MissingLibraryError, find_stacklevel
from directrix.export.expressions import features_to_read, with_columns
from directrix.export.onnx_writer import OnnxWriter
from directrix.export.scoring_formula import scoring_formula
from directrix.tables import NumberBins

#: Runtimes of the last years support these; the graph has no newer operator.
_OPSETS, _IR_VERSION = {"": 17, "ai.onnx.ml": 3}, 8
_DTYPES = ("float64", "float32")
#: Greatest relative error of a number that is rounded to float32.
_ROUNDING = 2.0**-24
#: Least change of the log-odds that matters: a probability of 0.5 becomes 0.5025.
_LEAST_CHANGE = 0.01


def to_onnx(classifier: Any, *, dtype: str = "float64", missing_text: str = "") -> Any:
    """Return a fitted classifier as an ONNX model.

    The outputs are ``label`` of shape (n,), ``probabilities`` of shape (n, 2), in the order of
    ``classes_``, ``score`` of shape (n,), and the probability of the positive class, of shape (n,),
    called after it: ``probability_bad``. The metadata of the model has the entry ``classes``, a
    list of the labels in JSON. The input of a linear classifier is ``X`` of shape (n, d).

    A `ScorecardClassifier` has one input of shape (n, 1) for each raw column, by its name, and one
    more output after the score, ``points``. Numbers are in ``dtype``, and
    so are booleans, as 0 and 1; NaN is missing. Dates are int64, microseconds since 1970-01-01 in
    UTC, and the least integer is missing, as in NumPy. Texts are strings. An output that a column
    is called already has an underscore at the end of its name.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel
    dtype : "float64" or "float32"
        Type of numbers in the input, of the probabilities and the score; float64, the default,
        gives the labels of the classifier. Choose float32 only for callers that have nothing else:
        features are then rounded to about seven digits first, which is too few if they are far from
        zero compared with their spread. Sums inside the graph are in float64 either way.
    missing_text : str
        The text that stands for a missing text in a raw column, since ONNX has none.

    Returns
    -------
    onnx.ModelProto
        Save it with ``onnx.save``.

    Warns
    -----
    Float32PrecisionWarning
        If rounding features to float32 can change the log-odds near the threshold by more than
        0.01. This is judged from the intercept, and from the means of the features if the
        classifier has them (a `MomentClassifier` that was not loaded from a file); of a scorecard,
        from bins that are so narrow that rounding passes them.

    Examples
    --------
    ::

        onnx.save(to_onnx(classifier), "model.onnx")
        session = onnxruntime.InferenceSession("model.onnx")
        label, probabilities, score, probability_bad = session.run(None, {"X": X})
    """
    if dtype not in _DTYPES:
        msg = f"dtype must be one of {', '.join(map(repr, _DTYPES))}, not {dtype!r}"
        raise ValueError(msg)
    narrow = dtype == "float32"
    formula = scoring_formula(classifier)
    if narrow:
        _warn_about_rounding(classifier, formula)
    try:
        from onnx import checker, helper
    except ImportError:
        purpose = "a model is written as ONNX with the package onnx"
        raise MissingLibraryError(purpose, "onnx") from None

    more = {}
    if formula.card is not None:
        graph, points, inputs = _of_columns(formula, formula.card, missing_text, narrow=narrow)
        more["points"] = points
        value = graph.add(points, -formula.card.cutoff)
        value = value if formula.card.higher_is_last else graph.multiply(value, -1.0)
    else:
        graph, value, inputs = _of_matrix(formula, narrow=narrow)
    outputs = _add_outputs(graph, formula, value, more, narrow=narrow)
    domains = {node.domain for node in graph.nodes}
    model = helper.make_model(
        helper.make_graph(graph.nodes, "directrix", inputs, outputs, graph.constants),
        opset_imports=[helper.make_opsetid(name, _OPSETS[name]) for name in sorted(domains)],
        ir_version=_IR_VERSION,
        producer_name="directrix",
    )
    helper.set_model_props(model, {"classes": json.dumps(formula.classes)})
    checker.check_model(model, full_check=True)
    return model


def _of_columns(
    formula: ScoringFormula, card: Card, missing_text: str, *, narrow: bool
) -> tuple[OnnxWriter, str, list[Any]]:
    """Return a graph, its node of points, and the columns that are read as inputs."""
    from onnx import TensorProto, helper

    names = formula.features or tuple(f"x{k}" for k in range(formula.n_features))
    graph = OnnxWriter(names, missing_text, narrow)
    # Without an input, a graph would not know how many rows there are.
    positions = features_to_read(formula) or [0]
    card, read = with_columns(card, positions), [names[k] for k in positions]
    points = graph.points(card, read)
    number = TensorProto.FLOAT if narrow else TensorProto.DOUBLE
    types = {"text": TensorProto.STRING, "date": TensorProto.INT64}
    inputs = [
        helper.make_tensor_value_info(name, types.get(bins.kind, number), ["n", 1])
        for name, bins in zip(read, card.bins, strict=True)
    ]
    return graph, points, inputs


def _of_matrix(formula: ScoringFormula, *, narrow: bool) -> tuple[OnnxWriter, str, list[Any]]:
    """Return a graph, its node of linear scores, and its input, a matrix."""
    from onnx import TensorProto, helper

    graph = OnnxWriter(["X"])
    rows = graph.node("Cast", ["X"], to=TensorProto.DOUBLE) if narrow else "X"
    value_type = TensorProto.FLOAT if narrow else TensorProto.DOUBLE
    described = helper.make_tensor_value_info("X", value_type, ["n", formula.n_features])
    coefficients = graph.constant(np.array(formula.coefficients)[:, None])
    product = graph.node("MatMul", [rows, coefficients])
    return graph, graph.add(product, formula.intercept), [described]


def _add_outputs(
    graph: OnnxWriter, formula: ScoringFormula, scores: str, more: dict[str, str], *, narrow: bool
) -> list[Any]:
    """Add label, probabilities and score, and more outputs of one column; return descriptions.

    The last output is the probability of the positive class.
    """
    from onnx import TensorProto, helper

    probabilities, index = _two_classes(graph, formula, scores)
    labels = np.array(formula.classes)
    name = graph.free_name("label")
    graph.node("Gather", [graph.constant(labels), index], name, axis=0)
    text = labels.dtype.kind == "U"
    label_type = TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(labels.dtype)
    described = [helper.make_tensor_value_info(name, label_type, ["n"])]
    value_type = TensorProto.FLOAT if narrow else TensorProto.DOUBLE
    column = graph.constant([formula.positive_index])
    positive = graph.node("Gather", [probabilities, column], axis=1)
    made = {"probabilities": probabilities, "score": scores, **more}
    made[formula.probability_name] = positive
    for output, value in made.items():
        flat = output != "probabilities"
        if flat:
            value = graph.flat(value)  # noqa: PLW2901
        free = graph.free_name(output)
        options = {"to": value_type} if narrow else {}
        graph.node("Cast" if narrow else "Identity", [value], free, **options)
        shape = ["n"] if flat else ["n", 2]
        described.append(helper.make_tensor_value_info(free, value_type, shape))
    return described


def _two_classes(graph: OnnxWriter, formula: ScoringFormula, scores: str) -> tuple[str, str]:
    """Return the probabilities of two classes, and the index of the predicted one."""
    from onnx import TensorProto

    one, zero = graph.constant(1.0), graph.constant(0.0)
    positive = formula.response.probability(scores, graph)
    negative = graph.node("Sub", [one, positive])
    probabilities = graph.node("Concat", [negative, positive], axis=1)
    above = graph.node("Greater", [scores, zero])
    index = graph.node("Cast", [above], to=TensorProto.INT64)
    index = graph.flat(index)
    return probabilities, index


# ── What float32 would change ─────────────────────────────────────────────────────────────────────


def _warn_about_rounding(classifier: Any, formula: ScoringFormula) -> None:
    if formula.card is None:
        worst = _rounded_score(classifier, formula)
    else:
        worst = _bins_passed(formula.card) * formula.response.greatest_slope
    if worst > _LEAST_CHANGE:
        warnings.warn(Float32PrecisionWarning(worst), stacklevel=find_stacklevel())


def _rounded_score(classifier: Any, formula: ScoringFormula) -> float:
    r"""Return how much the log-odds change if features are rounded to float32.

    Rounding changes a score by up to :math:`2^{-24} \sum_j |w_j x_j|`. Near the threshold, where
    :math:`w \cdot x = -b`, the sum is at least :math:`|b|`; at the mean of a class it is known if
    the classifier has the means.
    """
    moments = getattr(classifier, "moments_", None)
    groups = [] if moments is None else moments.by_class.values()
    means = np.array([group.mean for group in groups if group.count])
    size = abs(formula.intercept)
    if means.size:
        size = max(size, float((np.abs(means) @ np.abs(formula.coefficients)).max()))
    return _ROUNDING * size * formula.response.greatest_slope


def _bins_passed(card: Card) -> float:
    """Return how much the points change if numbers in float32 pass a whole bin.

    A value that is rounded may pass the nearest cut, as may one that is measured a little
    differently; what matters is a bin so narrow that rounding can pass it.
    """
    worst = 0.0
    for bins, points in zip(card.bins, card.columns, strict=True):
        if not isinstance(bins, NumberBins) or bins.kind == "date" or len(bins.cuts) < 2:
            continue
        low, high = np.array(bins.cuts[:-1]), np.array(bins.cuts[1:])
        passed = high - low < _ROUNDING * np.maximum(np.abs(low), np.abs(high))
        jumps = np.abs(points[3 : bins.n_ordered + 1] - points[1 : bins.n_ordered - 1])
        worst = max(worst, float(np.max(jumps, where=passed, initial=0.0)))
    return worst
