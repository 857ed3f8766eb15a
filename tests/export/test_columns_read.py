"""Every export of a card or a line asks only for columns that have a part in the score."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from directrix import MomentClassifier, ScorecardClassifier
from directrix.export import to_json, to_onnx, to_pmml, to_python, to_sql

N = 300
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "a": np.round(RNG.normal(size=N), 2),
        "idle": RNG.normal(size=N),
        "b": RNG.choice(["u", "v", "w"], N),
        "other idle": RNG.choice(["x", "y"], N),
        "c": RNG.integers(0, 9, N).astype(float),
    }
)
Y = TABLE["a"] + (TABLE["b"] == "u") + RNG.normal(size=N) > 0.5
USED = ["a", "b", "c"]


def card_with(idle, **options):
    """Return a card in which each cell of some columns has the same points."""
    model = ScorecardClassifier("auc", cv=2, max_lines=None, warn_baseline=False, **options).fit(
        TABLE, Y
    )
    card = model.card_
    crosses = tuple(cross for cross in card.crosses if not {1, 3} & {*cross.columns})
    columns = [np.full_like(p, idle) if k in {1, 3} else p for k, p in enumerate(card.columns)]
    model.card_ = replace(card, columns=tuple(columns), crosses=crosses)
    return model


def module(model, **options):
    scope = {}
    exec(to_python(model, **options), scope)  # noqa: S102 - our own text
    return scope


@pytest.fixture(scope="module", params=[{"max_crosses": 0}, {"max_crosses": 2}])
def card(request):
    return card_with(0.0, **request.param)


def test_a_module_scores_rows_of_the_used_columns_to_the_last_bit(card):
    scope, expected = module(card, reasons=True), card.predict_points(TABLE)
    assert [column["name"] for column in scope["COLUMNS"]] == USED
    rows = TABLE[USED].to_dict("records")
    assert [scope["points"](row) for row in rows] == expected.tolist()
    assert [scope["points"](list(row.values())) for row in rows] == expected.tolist()
    assert [scope["points"](row) for row in TABLE.to_dict("records")] == expected.tolist()
    assert {each["column"] for row in rows for each in scope["reasons"](row)} <= {*USED}
    with pytest.raises(ValueError, match="a row has 3 values, those of COLUMNS, not 5"):
        scope["points"](TABLE.to_numpy()[0])


def test_json_pmml_and_sql_name_the_used_columns_alone(card):
    assert [column["name"] for column in json.loads(to_json(card))["columns"]] == USED
    assert re.findall('<MiningField name="([^"]*)"', to_pmml(card)) == USED
    assert "idle" not in to_sql(card).select("t", reasons=2)


def test_onnx_has_an_input_for_each_used_column(card):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(to_onnx(card).SerializeToString())
    assert [entry.name for entry in session.get_inputs()] == USED
    given = {name: TABLE[[name]].to_numpy() for name in USED}
    (points,) = session.run(["points"], given)
    np.testing.assert_allclose(points, card.predict_points(TABLE), rtol=1e-12)


def test_a_card_of_nothing_needs_no_column():
    card = card_with(0.0, max_crosses=0)
    made = card.card_
    card.card_ = replace(made, columns=tuple(np.zeros_like(p) for p in made.columns))
    assert module(card)["points"]({}) == made.intercept
    assert json.loads(to_json(card))["columns"] == []


def test_a_card_of_nothing_in_onnx_has_an_input_to_count_rows():
    pytest.importorskip("onnx")
    card = card_with(0.0, max_crosses=0)
    made = card.card_
    card.card_ = replace(made, columns=tuple(np.zeros_like(p) for p in made.columns))
    assert [entry.name for entry in to_onnx(card).graph.input] == ["a"]


def test_constant_points_are_added_where_they_were():
    card = card_with(0.1, max_crosses=0)
    scope = module(card)
    assert [scope["points"](row) for row in TABLE.to_dict("records")] == card.predict_points(
        TABLE
    ).tolist()


def test_named_features_without_coefficients_are_not_asked_for():
    numbers = TABLE[["a", "idle", "c"]]
    line = MomentClassifier("auc", sample=0).fit(numbers, Y)
    line.coef_[0, 1] = 0.0
    scope = module(line)
    found = [scope["score"](row) for row in numbers[["a", "c"]].to_dict("records")]
    np.testing.assert_allclose(found, line.decision_function(numbers), rtol=1e-12, atol=1e-12)
    assert json.loads(to_json(line))["features"] == ["a", "c"]
    unnamed = MomentClassifier("auc", sample=0).fit(numbers.to_numpy(), Y)
    unnamed.coef_[0, 1] = 0.0
    assert len(module(unnamed)["COEFFICIENTS"]) == 3
