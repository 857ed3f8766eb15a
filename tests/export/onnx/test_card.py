"""A card in ONNX is scored by onnxruntime as by the classifier, raw columns in."""

from dataclasses import replace

import card_problems
import numpy as np
import pytest

from directrix import Binner, ScorecardClassifier
from directrix.export import Float32PrecisionWarning, to_onnx
from directrix.export.expressions import Segments
from directrix.moments import BinCounts
from directrix.tables import LevelBins, NumberBins

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

#: No row has it.
MISSING = "\x07 missing"


def run(model, columns):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    read = {each.name: columns[each.name] for each in session.get_inputs()}
    return dict(zip(names, session.run(None, read), strict=True))


def tensors(frame, bins, dtype="float64", missing=MISSING):
    """Return the columns of a frame as inputs of a model."""
    made = {}
    for name, column in zip(frame.columns, bins, strict=True):
        values = frame[name]
        if column.kind == "text":
            values = np.array([missing if text is None else text for text in values], dtype=object)
        elif column.kind == "date":
            values = values.to_numpy(dtype="M8[us]").astype(np.int64)
        else:
            values = np.array([np.nan if x is None else x for x in values], dtype=dtype)
        made[name] = values.reshape(-1, 1)
    return made


def scored(classifier, rows, **options):
    missing = {"missing_text": MISSING} | options
    return run(to_onnx(classifier, **missing), tensors(rows, classifier.card_.bins))


def random_card(seed=0, *, whole=True, **options):
    return card_problems.with_random_points(
        card_problems.fitted_card(), seed, whole=whole, **options
    )


@pytest.mark.parametrize("higher_is_positive", [True, False])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_whole_points_are_equal_in_every_row(seed, higher_is_positive):
    classifier = random_card(seed, higher_is_positive=higher_is_positive)
    rows = card_problems.raw_rows(2000, seed=seed + 10)
    answer = scored(classifier, rows)
    assert set(answer) == {"label", "probabilities", "score", "points_", "probability_1"}
    expected = classifier.predict_points(rows)
    assert answer["points_"].tolist() == expected.tolist()  # a column is called points
    assert answer["score"].tolist() == classifier.decision_function(rows).tolist()
    assert answer["label"].tolist() == classifier.predict(rows).tolist()
    probabilities = classifier.predict_proba(rows)
    np.testing.assert_allclose(answer["probabilities"], probabilities, rtol=0, atol=1e-12)
    assert len(set(expected)) > 10
    assert len(set(answer["label"])) == 2


@pytest.mark.parametrize("points", ["random", "fitted"])
def test_other_points_are_equal_up_to_rounding(figure, points):
    classifier = card_problems.fitted_card()
    if points == "random":
        classifier = random_card(4, whole=False)
    rows = card_problems.raw_rows(2000, seed=12)
    answer = scored(classifier, rows)
    apart = np.abs(answer["points_"] - classifier.predict_points(rows)).max()
    figure(f"ONNX of a card: {apart:.1e}")
    assert apart < 1e-12
    np.testing.assert_allclose(answer["score"], classifier.decision_function(rows), atol=1e-11)
    np.testing.assert_allclose(answer["probabilities"], classifier.predict_proba(rows), atol=1e-11)
    # Sums in another order may round to another side of the cutoff.
    sure = np.abs(classifier.decision_function(rows)) > 1e-9
    assert sure.mean() > 0.9
    assert (answer["label"] == classifier.predict(rows))[sure].all()


def test_labels_are_those_of_the_classifier():
    classifier = random_card(1, labels=["it's \r\n", "日本"])
    rows = card_problems.raw_rows(50, seed=1)
    assert scored(classifier, rows)["label"].tolist() == classifier.predict(rows).tolist()


def test_a_card_of_one_column_and_of_no_name():
    for values in ([[k % 7] for k in range(40)], [["ab"[k % 2]] for k in range(40)]):
        counts = BinCounts.of(Binner(min_rows=1).fit(values), values, [k % 2 for k in range(40)])
        classifier = ScorecardClassifier(max_lines=None).fit_summary(counts)
        rows = np.array(values, dtype=object if isinstance(values[0][0], str) else float)
        answer = run(to_onnx(classifier), {"x0": rows})
        np.testing.assert_allclose(answer["points"], classifier.predict_points(values), atol=1e-12)


def test_the_graph_is_small_however_many_columns():
    rng = np.random.default_rng(0)
    sizes = []
    for d in (2, 40):
        X, y = rng.normal(size=(200, d)), np.arange(200) % 2
        counts = BinCounts.of(Binner(max_bins=8).fit(X), X, y)
        classifier = ScorecardClassifier(max_lines=None).fit_summary(counts)
        model = to_onnx(classifier)
        sizes.append(len(model.graph.node))
        answer = run(model, {f"x{k}": X[:, [k]] for k in range(d)})
        np.testing.assert_allclose(answer["points"], classifier.predict_points(X), atol=1e-12)
    assert sizes[0] == sizes[1] < 40


def test_inputs_have_types():
    model = to_onnx(random_card(), missing_text=MISSING, dtype="float32")
    types = [value.type.tensor_type.elem_type for value in model.graph.input]
    number, text, date = onnx.TensorProto.FLOAT, onnx.TensorProto.STRING, onnx.TensorProto.INT64
    assert types == [number, text, number, date]  # the last column is constant
    names = list(card_problems.raw_rows(1).columns)
    assert [value.name for value in model.graph.input] == names[:-1]


def test_float32_scores_values_that_it_can_hold():
    classifier = random_card(2)
    rows = card_problems.raw_rows(400, seed=2)
    number = rows.columns[0]
    exact = rows[number].astype(np.float32).astype(float)
    rows = rows.assign(**{number: exact.to_numpy()})
    inputs = tensors(rows, classifier.card_.bins, "float32")
    answer = run(to_onnx(classifier, dtype="float32", missing_text=MISSING), inputs)
    assert answer["points_"].dtype == np.float32
    assert answer["points_"].tolist() == classifier.predict_points(rows).tolist()


@pytest.mark.parametrize(("center", "warns"), [(0.0, False), (1e9, True)])
def test_float32_warns_where_it_passes_bins(center, warns, recwarn):
    X = center + np.arange(20.0).reshape(-1, 1)
    y = np.isin(np.arange(20), [5, *range(10, 16), *range(17, 20)])
    counts = BinCounts.of(Binner(min_rows=1).fit(X), X, y)
    classifier = ScorecardClassifier(max_lines=None).fit_summary(counts)
    points = np.arange(21.0)
    classifier.card_ = replace(classifier.card_, columns=(points,))
    to_onnx(classifier, dtype="float32")
    assert [warning.category for warning in recwarn] == [Float32PrecisionWarning] * warns
    assert all(warning.filename == __file__ for warning in recwarn)


def test_the_text_for_missing_must_not_be_a_level():
    with pytest.raises(ValueError, match="missing_text is '', which is a text of column \"it's\""):
        to_onnx(random_card())


def test_texts_that_no_tensor_can_hold_are_left_out():
    rows = [["\ud800"], ["x"], ["y"]] * 20
    counts = BinCounts.of(Binner().fit(rows), rows, [0, 1] * 30)
    classifier = ScorecardClassifier(max_lines=None).fit_summary(counts)
    answer = run(to_onnx(classifier), {"x0": np.array([["x"], ["z"], [""]], dtype=object)})
    expected = classifier.predict_points([["x"], ["z"], [None]])
    np.testing.assert_allclose(answer["points"], expected, atol=1e-12)


# ── segments ──────────────────────────────────────────────────────────────────────────────────────


def test_segments_are_cells_where_there_is_no_special_value():
    bins = NumberBins("x", "number", (1.0, 2.0), (0.0, 1.5, 3.0))
    segments = Segments.of(bins)
    assert segments.bounds.tolist() == [1.0, 2.0]
    assert segments.cells.tolist() == [0, 1, 2, 3]
    levels = Segments.of(LevelBins("x", ("a", "b", "c"), (), (0, 1, 0)))
    assert levels.cells.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("special", [(1.5,), (1.0,), (-7.0, 9.0), (float(np.nextafter(1, 0)), 1.0)])
def test_a_special_value_is_a_segment_of_its_own(special):
    bins = NumberBins("x", "number", (1.0, 2.0), (0.0, 1.5, 3.0), special)
    segments = Segments.of(bins)
    near = np.array([*special, 1.0, 2.0, -np.inf, np.inf])
    values = np.array([*near, *np.nextafter(near, -np.inf), *np.nextafter(near, np.inf)])
    found = segments.cells[1 + (values[:, None] > segments.bounds).sum(axis=1)]
    assert found.tolist() == bins.cells(values).tolist()
