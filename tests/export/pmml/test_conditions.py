"""Conditions hold for the values of their cells, as predicates and as expressions alike."""

import operator
from datetime import datetime

import card_problems
import numpy as np
import pytest

from directrix.export.expressions import OneOf, cases
from directrix.export.pmml import Field
from directrix.tables import LevelBins, NumberBins

_COMPARE = {
    "equal": operator.eq,
    "lessOrEqual": operator.le,
    "lessThan": operator.lt,
    "greaterThan": operator.gt,
    "greaterOrEqual": operator.ge,
}
_READ = {
    "string": str,
    "double": float,
    "integer": int,
    "boolean": {"true": True, "false": False}.__getitem__,
    "dateTime": datetime.fromisoformat,
}


def holds(predicate, value, read):
    """Return whether a predicate of PMML holds for a value; None is missing."""
    kind = predicate.tag
    if kind == "True":
        return True
    if kind == "CompoundPredicate":
        joined = all if predicate.get("booleanOperator") == "and" else any
        return joined(holds(part, value, read) for part in predicate)
    if predicate.get("operator") == "isMissing":
        return value is None
    if value is None:
        return False
    if kind == "SimpleSetPredicate":
        texts = predicate[0].text.split('"')[1::2]
        assert len(texts) == int(predicate[0].get("n"))
        return value in texts
    return _COMPARE[predicate.get("operator")](value, read(predicate.get("value")))


def value_of(expression, value):
    """Return an expression of PMML at a value."""
    if expression.tag == "FieldRef":
        return value
    if expression.tag == "Constant":
        return _READ[expression.get("dataType")](expression.text)
    arguments = [value_of(part, value) for part in expression]
    function = expression.get("function")
    if function == "isMissing":
        return arguments[0] is None
    if function == "and":
        return all(arguments)
    if function == "isIn":
        return arguments[0] in arguments[1:]
    return value is not None and _COMPARE[function](*arguments)


def bins_and_values():
    binner, rows = card_problems.fitted_card().binner_, card_problems.raw_rows(150, seed=8)
    cells = binner.cells(rows)
    for k, bins in enumerate(binner.bins_):
        values = [None if x is None or x != x else x for x in rows.iloc[:, k]]  # noqa: PLR0124
        yield bins, values, cells[:, k]


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize("column", range(5))
def test_the_first_condition_that_holds_is_that_of_the_cell(column, merged):
    bins, values, cells = list(bins_and_values())[column]
    results = np.random.default_rng(1).integers(0, 3 if merged else 10**6, bins.n_cells).tolist()
    made = cases(bins, results)
    types = {"text": str, "boolean": _READ["boolean"], "date": datetime.fromisoformat}
    read = types.get(bins.kind, float)
    data_types = {"text": "string", "boolean": "boolean", "date": "dateTime"}
    field = Field("x", data_types.get(bins.kind, "double"))
    for value, cell in zip(values, cells, strict=True):
        ways = (
            [result for case, result in made if holds(field.predicate(case), value, read)],
            [result for case, result in made if value_of(field.holds(case), value)],
        )
        assert [found[0] for found in ways] == [results[cell]] * 2
    if merged:
        assert len(made) < bins.n_cells or bins.n_cells < 4


def test_texts_that_an_array_would_misread_have_a_predicate_of_their_own():
    texts = OneOf(("a", "b c", 'd"', "e  f", " g", "\\", "", "h\n"))
    predicate = Field("x", "string").predicate(texts)
    own = [part.get("value") for part in predicate if part.tag == "SimplePredicate"]
    assert own == ['d"', "e  f", " g", "\\", "", "h\n"]
    assert predicate[-1][0].text == '"a" "b c"'


def test_numbers_keep_every_digit():
    cut = 0.1 + 0.2
    bins = NumberBins("x", "number", (cut,), (0.0, 1.0), (1e22,))
    field = Field("x", "double")
    predicates = [field.predicate(case) for case, _ in cases(bins, [0, 1, 2, 3])]
    assert [float(part.get("value")) for part in predicates[1:]] == [1e22, cut, cut]


def test_a_level_with_the_points_of_other_texts_needs_no_condition():
    made = cases(LevelBins("x", ("a", "b")), [0.0, 1.0, 1.0, 2.0])
    assert [result for _, result in made] == [0.0, 2.0, 1.0]
