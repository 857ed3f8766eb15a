import numpy as np
import pandas as pd
import polars as pl
import pytest

from directrix.rows import labels


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ([1, 0, 1], "i"),
        (np.array([1, 0, 1], dtype=np.int8), "i"),
        (np.array([1, 0, 1], dtype=np.uint8), "i"),
        ([1.0, 0.0, 1.0], "f"),
        (np.array([1, 0, 1], dtype=np.float16), "f"),
        ([True, False, True], "b"),
        (["1", "0", "1"], "U"),
        (("1", "0", "1"), "U"),
        (np.array(["1", "0", "1"], dtype=object), "U"),
        (np.array(["1", "0", "1"], dtype=np.dtypes.StringDType()), "U"),
        (np.array([1, 0, True], dtype=object), "i"),
        (np.array([np.int64(1), np.int8(0), 1], dtype=object), "i"),
        (np.array([np.float64(1), 0.0, 1], dtype=object), "f"),
        (np.array([np.True_, np.False_, True], dtype=object), "b"),
        (np.array([np.str_("1"), "0", "1"], dtype=object), "U"),
        (pd.Series([1, 0, 1], dtype="Int64"), "i"),
        (pd.Series(["1", "0", "1"], dtype="string"), "U"),
        (pd.Series(["1", "0", "1"], dtype="category"), "U"),
        (pd.Series([1, 0, 1], dtype="category"), "i"),
        (pd.Series([True, False, True], dtype="boolean"), "b"),
        (pl.Series([1, 0, 1]), "i"),
        (pl.Series(["1", "0", "1"]), "U"),
        (pl.Series([True, False, True]), "b"),
    ],
)
@pytest.mark.parametrize("column", [False, True])
def test_labels_of_any_kind_become_one_array(given, kind, column):
    tidy = labels.as_labels(np.asarray(given)[:, None] if column else given)
    assert tidy.shape == (3,)
    assert tidy.dtype.kind == kind
    assert tidy[0] == tidy[2] != tidy[1]
    assert str(tidy[0]) in {"1", "1.0", "True"}


@pytest.mark.parametrize(
    ("given", "error", "reason"),
    [
        ([[1, 2], [3, 4]], ValueError, r"one per row, not an array of shape \(2, 2\)"),
        (3, ValueError, r"must be a list, one per row"),
        ([1.0, np.nan], ValueError, "NaN or infinite; drop those rows"),
        ([1.0, -np.inf], ValueError, "NaN or infinite; drop those rows"),
        (np.array([2**63], dtype=np.uint64), ValueError, "beyond the range of 64-bit"),
        ([1, "a"], TypeError, "all numbers or all text; these are of type int, str"),
        (("a", True), TypeError, "all numbers or all text; these are of type bool, str"),
        (["a", None], TypeError, "a label is missing in 1 of 2 rows: drop those rows"),
        (["a", pd.NA, None, np.nan], TypeError, "a label is missing in 3 of 4 rows"),
        (np.array(["a", 1.0], dtype=object), TypeError, "float, str"),
        (pd.Series([1, None], dtype="Int64"), (TypeError, ValueError), "drop (those )?rows"),
        (np.array([2**70], dtype=object), TypeError, "numbers, booleans or text"),
        (np.array([b"a"]), TypeError, r"numbers, booleans or text, not \|S1"),
        (np.array([1j]), TypeError, "numbers, booleans or text, not complex"),
        (np.array(["2020-01-01"], dtype="M8[D]"), TypeError, "numbers, booleans or text"),
    ],
)
def test_what_cannot_be_a_label_is_refused_in_words(given, error, reason):
    with pytest.raises(error, match=reason):
        labels.as_labels(given)


def expected_codes(values, classes):
    return [sorted(classes).index(value) for value in values]


@pytest.mark.parametrize(
    "values",
    [
        [0, 1, 1, 0],
        [-1, 1, 1],
        [5],
        [3, 130],
        [3, 131],
        [-128, -1],
        [2**62, -(2**62), 0],
        [2**62, 2**62 + 1],
        list(range(300, 0, -1)),
        [0.0, 1.0],
        [2.0, 7.0, 2.0],
        [0.5, 0.25, 0.5],
        [-0.5, 100.0],
        [1e300, -1e300],
        [2.0**52, 2.0**52 + 1],
        [True, False],
        [True],
        ["b", "a", "b"],
        ["ä", "z", "", "\U0001f600"],
    ],
)
def test_each_label_gets_its_place_among_the_sorted_ones(values):
    for array in in_all_widths(values):
        codes, classes = labels.encode(array, None)
        assert classes.tolist() == sorted(set(values))
        assert codes.tolist() == expected_codes(values, set(values))
        assert classes.dtype.name in {"bool", "int64", "float64"} or classes.dtype.kind == "U"
        assert not classes.flags.writeable


def in_all_widths(values):
    """Return values as an array of every type of number that holds them."""
    arrays = [np.array(values)]
    if arrays[0].dtype.kind in "if":
        with np.errstate(over="ignore", invalid="ignore"):
            narrow = [arrays[0].astype(dtype) for dtype in ("i1", "i2", "f2", "f4")]
        arrays += [array for array in narrow if array.tolist() == values]
    return arrays


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ([1, 1], [0, 1]),
        ([300, 301, 310], range(1000)),  # close together, but far down the list
        ([900, 5], range(1000)),
        ([127, 128], range(200)),
        ([7], [-5, 7]),
        ([1.5], [0.5, 1.5]),
        ([1, 0], [0.0, 1.0]),
        (["b"], ["a", "b", "c"]),
        ([True], [False, True]),
        ([], [0, 1]),
        ([], ["a", "b"]),
    ],
)
def test_classes_can_be_named(values, named):
    named = labels.distinct(labels.as_labels(list(named)))
    codes, classes = labels.encode(np.array(values), named)
    assert classes is named
    assert codes.tolist() == expected_codes(values, named.tolist())


@pytest.mark.parametrize(
    ("values", "named", "stray"),
    [
        ([0, 1, 2], [0, 1], "2"),
        (["x"], ["a", "b"], "'x'"),
        (["1"], [0, 1], "'1'"),
        ([1], ["1"], "1"),
    ],
)
def test_a_label_outside_the_named_classes_is_refused(values, named, stray):
    named = labels.distinct(np.array(named))
    with pytest.raises(ValueError, match=f"label .*{stray}.* is not among the classes"):
        labels.encode(np.array(values), named)


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        ([0, 1], [0, 1], [0, 1]),
        ([0, 2], [1], [0, 1, 2]),
        ([], [1], [1]),
        ([1], [], [1]),
        ([0], [0.5], [0.0, 0.5]),
        ([False], [True], [False, True]),
        ([False, True], [0, 1], [0, 1]),
        (["b"], ["a", "c"], ["a", "b", "c"]),
        (["b"], ["a long one"], ["a long one", "b"]),
    ],
)
def test_the_classes_of_both_are_sorted(a, b, both):
    a, b = (labels.distinct(np.array(side)) for side in (a, b))
    assert labels.union(a, b).tolist() == both


def test_text_and_numbers_do_not_mix():
    with pytest.raises(TypeError, match="one summary has text labels and the other has numbers"):
        labels.union(np.array(["1"]), np.array([1]))


@pytest.mark.parametrize(
    ("classes", "advice"),
    [
        ([1], r"there are 1: \[1\]. Name both with `classes="),
        ([], "the summary is empty: add summaries of rows"),
        ([1, 2, 3], r"there are 3: .*`one_vs_rest\(label\)`"),
    ],
)
def test_two_classes_are_needed(classes, advice):
    with pytest.raises(ValueError, match=f"needs two classes, and {advice}"):
        labels.negative_and_positive(np.array(classes))


def test_the_positive_class_is_the_last():
    assert labels.negative_and_positive(np.array([-1, 1])) == (-1, 1)


@pytest.mark.parametrize(("n", "dtype"), [(127, "int8"), (128, "int16"), (2**31, "int64")])
def test_codes_take_the_least_room_that_holds_one_more(n, dtype):
    assert np.dtype(labels.code_dtype(n)) == dtype


@pytest.mark.parametrize(
    "fold", [[0, 2, 1], np.array([0, 2, 1], dtype=np.int8), np.array([0, 2, 1], dtype=np.uint64)]
)
def test_folds_are_whole_numbers(fold):
    numbers = labels.fold_numbers(fold, 3)
    assert numbers.tolist() == [0, 2, 1]
    assert numbers.dtype.kind == "i"


def test_no_rows_need_no_folds():
    assert labels.fold_numbers([], 0).size == 0


@pytest.mark.parametrize("fold", [[0, 1], [0, 1, -1], [0.0, 1.0, 2.0], ["0", "1", "2"], [True] * 3])
def test_what_is_no_fold_is_refused(fold):
    with pytest.raises(ValueError, match="one whole number from zero for each of the 3 rows"):
        labels.fold_numbers(fold, 3)


@pytest.mark.parametrize("key", [10_000, 2**31, 2**62])
def test_keys_are_not_taken_for_folds(key):
    with pytest.raises(ValueError, match=f"fold {key} is beyond 9999: number the folds from zero"):
        labels.fold_numbers([0, 1, key], 3)
