import card_problems
import numpy as np
import pytest

from directrix.export.expressions import free_name
from directrix.export.pmml import characteristics, reasons_by_name


def test_points_of_all_cells_are_in_characteristics():
    classifier = card_problems.with_random_points(card_problems.fitted_card(), 0, whole=False)
    card = classifier.card_
    names = ["a", "b", "c", "d", "e"]
    parts = characteristics(card, names)
    assert [part.name for part in parts] == ["a", "b", "c", "d", "a x b", "d x c"]
    sums = [*card.columns[:4], *(cross.points for cross in card.crosses)]
    for part, points in zip(parts, sums, strict=True):
        assert {value for _, value in part.cases} <= set(points.ravel().tolist())
        # The baseline is the best of them, whichever side that is.
        for adverse, best in ((True, np.min), (False, np.max)):
            made = part.to_element("why", more_is_adverse=adverse)
            assert float(made.get("baselineScore")) == pytest.approx(best(points))
            assert made.get("reasonCode") == "why"


def test_a_derived_field_has_a_name_of_its_own():
    classifier = card_problems.with_random_points(card_problems.fitted_card(), 0, whole=False)
    names = ["a", "b", "cell of a x b", "d", "cell of a x b_"]
    *_, cross, _ = characteristics(classifier.card_, names)
    assert cross.field.name == cross.derived[0].get("name") == "cell of a x b__"


def test_free_names_are_noted():
    taken = {"x"}
    assert [free_name("x", taken), free_name("x", taken), free_name("y", taken)] == [
        "x_",
        "x__",
        "y",
    ]


def test_reason_codes_are_names_unless_given():
    parts = characteristics(card_problems.fitted_card().card_, list("abcde"))
    codes = reasons_by_name(parts, {"b": "17"})
    assert codes == {part.name: part.name for part in parts} | {"b": "17"}
    with pytest.raises(ValueError, match="reason_codes has 'z', which is no column"):
        reasons_by_name(parts, {"z": "1"})
