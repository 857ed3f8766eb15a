import pytest

from directrix.exceptions.columns import (
    InfiniteValuesError,
    MissingValuesError,
    NotNumericError,
    UnusableColumnsError,
    listed,
)


@pytest.mark.parametrize("n_columns", [1, 2, 5, 6, 40])
def test_at_most_five_columns_are_listed_and_the_others_counted(n_columns):
    names = tuple(f"name{k}" for k in range(n_columns))
    text = listed(names)
    assert [name for name in names if repr(name) in text] == list(names[:5])
    assert text.endswith(f" and {n_columns - 5} more") == (n_columns > 5)


@pytest.mark.parametrize(
    "error",
    [
        NotNumericError(["a", "b"], ["str", "date"]),
        MissingValuesError(["a", "b"], 3),
        InfiniteValuesError(["a", "b"], 3),
    ],
)
def test_all_are_caught_together_and_say_the_problem_before_the_remedy(error):
    assert isinstance(error, UnusableColumnsError)
    assert error.columns == ("a", "b")
    assert str(error) == f"{error.problem}; {error.remedy}"
    assert "'a', 'b'" in error.problem


@pytest.mark.parametrize("error_class", [NotNumericError, MissingValuesError])
def test_what_a_scorecard_takes_is_recommended_to_it(error_class):
    second = ["str"] if error_class is NotNumericError else 3
    assert "ScorecardClassifier" in error_class(["a"], second).remedy
    assert "ScorecardClassifier" not in InfiniteValuesError(["a"], 3).remedy
