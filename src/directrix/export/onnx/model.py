"""A fitted classifier as an ONNX graph of plain operators: label, probabilities and score."""

from __future__ import annotations

import json
from dataclasses import astuple
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from directrix.classifiers.scoring import CardFormula, Response, ScoringFormula, Sigmoid
from directrix.exceptions import MissingLibraryError
from directrix.export.onnx.card import add_card_points, warn_about_bins
from directrix.export.onnx.features import FeatureGraph
from directrix.export.onnx.graph import Graph
from directrix.export.onnx.linear import add_linear_scores, warn_about_rounding
from directrix.export.pipelines.raw_formula import raw_formula
from directrix.export.scoring_formula import linear_formula, scoring_formula

#: Runtimes of the last years support these; the graph has no newer operator.
_OPSETS, _IR_VERSION = {"": 17, "ai.onnx.ml": 3}, 8
_DTYPES = ("float64", "float32")


def to_onnx(classifier: Any, *, dtype: str = "float64", missing_text: str = "") -> Any:
    """Return a fitted classifier as an ONNX model.

    The outputs are ``label`` of shape (n,), ``probabilities`` of shape (n, k), in the order of
    ``classes_``, and ``score`` of shape (n,), or (n, k) for more than two classes. With two classes
    the last output is the probability of the positive one, of shape (n,), called after it:
    ``probability_bad``. The metadata of the model has the entry ``classes``, a list of the labels
    in JSON. The input of a linear classifier is ``X`` of shape (n, d).

    A `ScorecardClassifier` or a pipeline has one input of shape (n, 1) for each raw column, by its
    name, and a card has one more output after the score, ``points``. Numbers are in ``dtype``, and
    so are booleans, as 0 and 1; NaN is missing. Dates are int64, microseconds since 1970-01-01 in
    UTC, and the least integer is missing, as in NumPy. Texts are strings. An output that a column
    is called already has an underscore at the end of its name.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel; or a Pipeline that ends with one
        Its steps may be those that `to_sql` writes.
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
    is_pipeline = isinstance(classifier, Pipeline)
    if is_pipeline and narrow:
        msg = "a pipeline is written in float64: leave dtype out"
        raise ValueError(msg)
    formula = scoring_formula(classifier.steps[-1][1] if is_pipeline else classifier)
    if narrow:
        _warn_about_rounding(classifier, formula)
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        purpose = "a model is written as ONNX with the package onnx"
        raise MissingLibraryError(purpose, "onnx") from None

    if is_pipeline:
        graph, value, inputs = _pipeline(classifier, missing_text)
    elif isinstance(formula, CardFormula):
        graph, value, inputs = _card(formula, missing_text, narrow=narrow)
    else:
        graph, wide = Graph(["X"]), TensorProto.DOUBLE
        rows = graph.add_node("Cast", ["X"], to=wide) if narrow else "X"
        value = add_linear_scores(graph, linear_formula(classifier), rows)
        value_type, shape = TensorProto.FLOAT if narrow else wide, ["n", formula.n_features]
        inputs = [helper.make_tensor_value_info("X", value_type, shape)]
    more = {}
    if isinstance(formula, CardFormula):
        more["points"] = value
        value = _above_cutoffs(graph, formula, value)
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


def _card(formula: CardFormula, missing_text: str, *, narrow: bool) -> tuple[Graph, str, list[Any]]:
    """Return a graph, its node of points, and its inputs."""
    bins = formula.cards[0].bins
    names = formula.features or tuple(column.name for column in bins)
    graph = Graph(names)
    points = add_card_points(graph, formula, names, missing_text, narrow=narrow)
    kinds = zip(names, (column.kind for column in bins), strict=True)
    return graph, points, [_raw_input(name, kind, narrow=narrow) for name, kind in kinds]


def _pipeline(pipeline: Any, missing_text: str) -> tuple[Graph, str, list[Any]]:
    """Return a graph, its node of scores or of points, and the columns that are read as inputs."""
    raw = raw_formula(pipeline)
    names = raw.columns or tuple(f"x{k}" for k in range(pipeline.n_features_in_))
    graph = Graph(names)
    features = FeatureGraph(graph, names, missing_text)
    if isinstance(raw.formula, CardFormula):
        bins = raw.formula.cards[0].bins
        columns = [features.column(*pair) for pair in zip(raw.features, bins, strict=True)]
        value = add_card_points(graph, raw.formula, columns, missing_text, narrow=False)
    else:
        value = add_linear_scores(graph, raw.formula, features.numbers(raw.features))
    kinds = sorted(features.kinds.items())
    return graph, value, [_raw_input(names[k], kind, narrow=False) for k, kind in kinds]


def _raw_input(name: str, kind: str, *, narrow: bool) -> Any:
    from onnx import TensorProto, helper

    number = TensorProto.FLOAT if narrow else TensorProto.DOUBLE
    types = {"text": TensorProto.STRING, "date": TensorProto.INT64}
    return helper.make_tensor_value_info(name, types.get(kind, number), ["n", 1])


def _warn_about_rounding(classifier: Any, formula: ScoringFormula) -> None:
    if isinstance(formula, CardFormula):
        warn_about_bins(formula)
    else:
        warn_about_rounding(classifier, linear_formula(classifier))


def _above_cutoffs(graph: Graph, formula: CardFormula, points: str) -> str:
    """Return how far points are on the positive side of the cutoff of each card."""
    cutoffs = graph.constant(np.array([card.cutoff for card in formula.cards]))
    above = graph.add_node("Sub", [points, cutoffs])
    if all(card.higher_is_last for card in formula.cards):
        return above
    signs = [1.0 if card.higher_is_last else -1.0 for card in formula.cards]
    return graph.add_node("Mul", [above, graph.constant(np.array(signs))])


def _add_outputs(
    graph: Graph, formula: ScoringFormula, scores: str, more: dict[str, str], *, narrow: bool
) -> list[Any]:
    """Add label, probabilities and score, and more outputs of one column for each score.

    The last output is the probability of the positive one of two classes.

    Returns
    -------
    list
        Descriptions of the outputs.
    """
    from onnx import TensorProto, helper

    if formula.response is not None:
        probabilities, index = _two_classes(graph, formula, formula.response, scores)
    else:
        scores = _all_columns(formula.one_vs_rest).log_odds(scores, graph)
        # Far out all sigmoids may be too small for a float; their ratios are not.
        probabilities = graph.add_node("Softmax", [_log_sigmoid(graph, scores)], axis=1)
        index = graph.add_node("ArgMax", [scores], axis=1, keepdims=0)
    labels = np.array(formula.classes)
    name = graph.free_name("label")
    graph.add_node("Gather", [graph.constant(labels), index], name, axis=0)
    text = labels.dtype.kind == "U"
    label_type = TensorProto.STRING if text else helper.np_dtype_to_tensor_dtype(labels.dtype)
    described = [helper.make_tensor_value_info(name, label_type, ["n"])]
    value_type, n = TensorProto.FLOAT if narrow else TensorProto.DOUBLE, len(formula.classes)
    made = {"probabilities": probabilities, "score": scores, **more}
    if formula.two_classes:
        column = graph.constant(np.array([formula.positive_index]))
        positive = graph.add_node("Gather", [probabilities, column], axis=1)
        made[formula.probability_names[0]] = positive
    for output, value in made.items():
        flat = formula.two_classes and output != "probabilities"
        if flat:
            value = graph.add_node("Reshape", [value, graph.constant(np.array([-1]))])  # noqa: PLW2901
        free = graph.free_name(output)
        options = {"to": value_type} if narrow else {}
        graph.add_node("Cast" if narrow else "Identity", [value], free, **options)
        shape = ["n"] if flat else ["n", n]
        described.append(helper.make_tensor_value_info(free, value_type, shape))
    return described


def _two_classes(
    graph: Graph, formula: ScoringFormula, response: Response, scores: str
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


def _log_sigmoid(graph: Graph, log_odds: str) -> str:
    """Return ``min(s, 0) - log(1 + exp(-|s|))``."""
    below = graph.add_node("Min", [log_odds, graph.constant(np.array(0.0))])
    small = graph.add_node("Exp", [graph.add_node("Neg", [graph.add_node("Abs", [log_odds])])])
    rest = graph.add_node("Log", [graph.add(small, 1.0)])
    return graph.add_node("Sub", [below, rest])
