from itertools import pairwise
from weakref import ref

import numpy as np
import pandas as pd
import polars as pl
import pytest
from nearness import distance
from scipy import sparse

from directrix import Moments, summarize
from directrix.exceptions.columns import MissingValuesError

RNG = np.random.default_rng(23)
N = 120
NAMES = ["a", "b", "größe"]
X = np.where(RNG.random((N, 3)) < 0.6, RNG.normal([0.0, 50.0, -1.0], 1.0, (N, 3)), 0.0)
Y = RNG.integers(0, 2, N)
WEIGHT = RNG.choice([0.0, 0.5, 1.0, 2.0], N)
FOLD = RNG.integers(0, 3, N)

#: Columns of the table that holds everything: target, weight and fold are not the first ones.
TABLE = np.column_stack([X[:, 0], Y, X[:, 1], WEIGHT, X[:, 2], FOLD])
COLUMNS = ["a", "label", "b", "w", "größe", "part"]

#: The same rows in the same or another order of summation.
SCALED = 1e-14


def frame_columns():
    return {
        "a": X[:, 0],
        "label": np.array(["no", "yes"])[Y],
        "b": X[:, 1],
        "w": WEIGHT,
        "größe": X[:, 2],
        "part": FOLD,
    }


FRAMES = {
    "pandas": lambda: pd.DataFrame(frame_columns()),
    "polars": lambda: pl.DataFrame(frame_columns()),
}
ARRAYS = {
    "array": lambda: TABLE,
    "Fortran order": lambda: np.asfortranarray(TABLE),
    "csr": lambda: sparse.csr_array(TABLE),
    "csc": lambda: sparse.csc_array(TABLE),
    "coo": lambda: sparse.coo_array(TABLE),
    "csr matrix": lambda: sparse.csr_matrix(TABLE),
}
each_frame = pytest.mark.parametrize("frame", FRAMES)
each_array = pytest.mark.parametrize("array", ARRAYS)


def of(*, labels=Y, weight=None, fold=None, names=None, columns=slice(None)):
    return Moments.of(X[:, columns], labels, weight, fold=fold, feature_names=names)


# ── one table ─────────────────────────────────────────────────────────────────────────────────────


@each_array
def test_labels_may_be_given_beside_an_array(array):
    moments = summarize(ARRAYS[array](), target=Y)
    assert distance(moments, Moments.of(TABLE, Y)) < SCALED


@each_array
@pytest.mark.parametrize("target", [1, -5, np.int64(1)])
def test_labels_may_be_a_column_of_an_array(array, target):
    moments = summarize(ARRAYS[array](), target=target)
    expected = Moments.of(np.delete(TABLE, 1, axis=1), Y.astype(float))
    assert distance(moments, expected) < SCALED


@each_array
def test_weights_and_folds_may_be_columns_of_an_array(array):
    moments = summarize(ARRAYS[array](), target=Y, features=[0, 2, 4], weight=3)
    assert distance(moments, of(weight=WEIGHT)) < SCALED
    moments = summarize(ARRAYS[array](), target=1, weight=3, fold=FOLD, features=[0, 2, 4])
    assert distance(moments, of(labels=Y.astype(float), weight=WEIGHT, fold=FOLD)) < SCALED


def test_columns_with_another_role_are_no_features():
    whole = np.column_stack([TABLE[:, :5] * 4, FOLD]).astype(int)
    moments = summarize(whole, target=1, weight=3, fold=5)
    expected = Moments.of(whole[:, [0, 2, 4]], whole[:, 1], whole[:, 3], fold=whole[:, 5])
    assert distance(moments, expected) < SCALED


@pytest.mark.parametrize("features", [[4, 0], np.array([4, 0]), (4, 0), [-2, 0]])
def test_features_of_an_array_are_taken_in_the_order_given(features):
    moments = summarize(TABLE, target=1, features=features)
    assert distance(moments, of(labels=Y.astype(float), columns=[2, 0])) < SCALED


@each_frame
def test_roles_are_columns_of_a_frame(frame):
    moments = summarize(FRAMES[frame](), target="label", weight="w", fold="part")
    labels = np.array(["no", "yes"])[Y]
    assert moments.feature_names == tuple(NAMES)
    assert moments.classes.tolist() == ["no", "yes"]
    expected = of(labels=labels, weight=WEIGHT, fold=FOLD, names=NAMES)
    assert distance(moments, expected) < SCALED


@each_frame
def test_features_of_a_frame_are_taken_in_the_order_given(frame):
    moments = summarize(FRAMES[frame](), target="label", features=["größe", "a"])
    labels = np.array(["no", "yes"])[Y]
    assert distance(moments, of(labels=labels, columns=[2, 0], names=["größe", "a"])) < SCALED


@each_frame
def test_labels_weights_and_folds_may_be_given_beside_a_frame(frame):
    table = FRAMES[frame]()[NAMES]
    moments = summarize(table, target=Y, weight=WEIGHT, fold=FOLD)
    assert distance(moments, of(weight=WEIGHT, fold=FOLD, names=NAMES)) < SCALED


def test_series_may_be_given_beside_a_frame():
    frame = FRAMES["pandas"]()
    moments = summarize(frame[NAMES], target=frame["label"], weight=frame["w"], fold=frame["part"])
    labels = np.array(["no", "yes"])[Y]
    assert distance(moments, of(labels=labels, weight=WEIGHT, fold=FOLD, names=NAMES)) < SCALED


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1, 2, 4], "b": [True, False, True], "y": [0, 1, 1]}).astype(
            {"a": "Int64", "b": "boolean", "y": "Int64"}
        ),
        pd.DataFrame({"a": [1, 2, 4], "b": [True, False, True], "y": [0, 1, 1]}).astype(
            {"a": "Float32", "y": "category"}
        ),
        pl.DataFrame({"a": [1, 2, 4], "b": [True, False, True], "y": [0, 1, 1]}),
    ],
    ids=["pandas nullable", "pandas category label", "polars"],
)
def test_nullable_and_boolean_columns_are_numbers(frame):
    expected = Moments.of([[1.0, 1], [2, 0], [4, 1]], [0, 1, 1], feature_names=["a", "b"])
    assert distance(summarize(frame, target="y"), expected) < SCALED


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1.0, 2.0], "town": pd.Categorical(["p", "q"]), "y": [0, 1]}),
        pl.DataFrame({"a": [1.0, 2.0], "town": ["p", "q"], "y": [0, 1]}).cast(
            {"town": pl.Categorical}
        ),
    ],
    ids=["pandas", "polars"],
)
def test_a_categorical_column_is_refused_by_name_or_left_out(frame):
    with pytest.raises(
        TypeError, match=r"column 'town' holds .*; use ScorecardClassifier.*transform="
    ):
        summarize(frame, target="y")
    assert summarize(frame, target="y", features=["a"]).count == 2


def test_a_missing_value_is_refused_by_name():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.array([None, 1], dtype="Int64"), "y": [0, 1]})
    with pytest.raises(MissingValuesError) as caught:
        summarize(frame, target="y")
    assert (caught.value.columns, caught.value.rows) == (("b",), 1)


def test_a_frame_may_have_numbers_for_names():
    frame = pd.DataFrame(TABLE)
    moments = summarize(frame, target=1, weight=3, features=[0, 2, 4])
    assert distance(moments, of(labels=Y.astype(float), weight=WEIGHT)) < SCALED


@each_frame
def test_an_unknown_column_is_refused_with_the_known_ones(frame):
    table = FRAMES[frame]()
    known = r"no column named 'x'; the columns are \['a', 'label', 'b', 'w', 'größe', 'part'\]"
    for roles in (
        {"target": "x"},
        {"target": "label", "weight": "x"},
        {"target": "label", "fold": "x"},
        {"target": "label", "features": ["a", "x"]},
    ):
        with pytest.raises(KeyError, match=known):
            summarize(table, **roles)


def test_an_array_has_no_names():
    with pytest.raises(TypeError, match="'label' names a column, but arrays have none: give its"):
        summarize(TABLE, target="label")
    with pytest.raises(KeyError, match="no column named 6; the columns are"):
        summarize(TABLE, target=6)


def test_labels_must_be_given():
    with pytest.raises(ValueError, match="target= is missing: it takes the"):
        summarize(TABLE, target=None)


def test_a_table_has_two_dimensions():
    with pytest.raises(ValueError, match="two dimensions, rows and columns, not 1"):
        summarize(np.ones(3), target=[0, 1, 1])


def test_a_table_of_objects_is_a_table():
    table = np.array([[1.0, "no", 5], [2.0, "yes", 7], [4.0, "yes", 6]], dtype=object)
    expected = Moments.of([[1.0, 5.0], [2.0, 7.0], [4.0, 6.0]], ["no", "yes", "yes"])
    assert distance(summarize(table, target=1), expected) < SCALED


def test_classes_can_be_named():
    moments = summarize(TABLE, target=1, classes=[0, 1, 2])
    assert moments.classes.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="not among the classes"):
        summarize(TABLE, target=1, classes=[0, 2])


def test_rows_are_never_changed():
    table = TABLE.copy()
    frame = FRAMES["pandas"]()
    summarize(table, target=1, weight=3)
    summarize(frame, target="label", weight="w", fold="part")
    np.testing.assert_array_equal(table, TABLE)
    pd.testing.assert_frame_equal(frame, FRAMES["pandas"]())


# ── chunks ────────────────────────────────────────────────────────────────────────────────────────

#: Some chunks are empty, one has one row, and one a single class.
EDGES = [0, 0, 1, 40, 41, 41, 90, N, N]
CHUNKS = [slice(a, b) for a, b in pairwise(EDGES)]


def test_chunks_bring_their_own_labels_weights_and_folds():
    chunks = ((X[c], Y[c]) for c in CHUNKS)
    assert distance(summarize(chunks, target=None), of()) < SCALED
    chunks = [(X[c], Y[c], WEIGHT[c]) for c in CHUNKS]
    assert distance(summarize(chunks, target=None), of(weight=WEIGHT)) < SCALED
    chunks = ((X[c], Y[c], WEIGHT[c], FOLD[c]) for c in CHUNKS)
    assert distance(summarize(chunks, target=None), of(weight=WEIGHT, fold=FOLD)) < SCALED
    chunks = ((X[c], Y[c], None, FOLD[c]) for c in CHUNKS)
    assert distance(summarize(chunks, target=None), of(fold=FOLD)) < SCALED


def test_chunks_may_be_sparse_or_lists():
    chunks = [(sparse.csr_array(X[:50]), Y[:50]), (X[50:].tolist(), Y[50:].tolist())]
    assert distance(summarize(chunks, target=None), of()) < SCALED


@each_array
def test_chunks_may_be_arrays_with_a_target_column(array):
    rows = ARRAYS["csr" if array == "coo" else array]()  # COO has no rows to slice
    chunks = (rows[c] for c in CHUNKS)
    moments = summarize(chunks, target=1, weight=3, fold=None, features=[0, 2, 4])
    assert distance(moments, of(labels=Y.astype(float), weight=WEIGHT)) < SCALED


@each_frame
def test_chunks_may_be_frames(frame):
    table = FRAMES[frame]()
    chunks = (table[c] for c in CHUNKS)
    moments = summarize(chunks, target="label", weight="w", fold="part")
    labels = np.array(["no", "yes"])[Y]
    expected = of(labels=labels, weight=WEIGHT, fold=FOLD, names=NAMES)
    assert distance(moments, expected) < SCALED


def test_a_class_may_be_missing_in_a_chunk():
    order = np.argsort(Y, kind="stable")
    chunks = [(X[o], Y[o]) for o in np.array_split(order, 7)]
    assert distance(summarize(chunks, target=None), Moments.of(X[order], Y[order])) < SCALED


def test_chunks_are_read_one_at_a_time():
    seen, most = [], 0

    def chunks():
        nonlocal most
        for start in range(0, N, 10):
            chunk = TABLE[start : start + 10].copy()
            seen.append(ref(chunk))
            most = max(most, sum(reference() is not None for reference in seen))
            yield chunk
            del chunk

    assert summarize(chunks(), target=1).count == N
    assert most <= 2


def test_no_chunks_are_refused_in_words():
    with pytest.raises(
        ValueError, match=r"there are no chunks \(an iterator can be read only once"
    ):
        summarize(iter([]), target=None)
    used = iter([(X, Y)])
    summarize(used, target=None)
    with pytest.raises(ValueError, match="can be read only once"):
        summarize(used, target=None)


def test_chunks_of_other_columns_are_refused():
    table = FRAMES["pandas"]()[["a", "b", "label"]]
    with pytest.raises(ValueError, match="different feature names"):
        summarize([table, table[["b", "a", "label"]]], target="label")
    with pytest.raises(ValueError, match="3 and 2 features"):
        summarize([(X, Y), (X[:, :2], Y)], target=None)
    with pytest.raises(KeyError, match="no column named 'label'"):
        summarize([table, table[["a", "b"]]], target="label")


def test_features_are_the_same_in_chunks_of_any_order():
    table = FRAMES["pandas"]()
    moments = summarize(
        [table[:50], table[table.columns[::-1]][50:]], target="label", features=NAMES
    )
    labels = np.array(["no", "yes"])[Y]
    assert distance(moments, of(labels=labels, names=NAMES)) < SCALED


@pytest.mark.parametrize(
    ("chunk", "roles"),
    [
        ((X,), {}),
        ((X, Y, WEIGHT, FOLD, X), {}),
        ((X, Y), {"target": 1}),
        ((X, Y), {"target": "label"}),
        ((X, Y), {"weight": 2}),
        ((X, Y), {"fold": 2}),
        ((X, Y), {"features": [0]}),
    ],
)
def test_a_tuple_brings_everything_itself(chunk, roles):
    with pytest.raises(ValueError, match=r"must be \(X, y\), \(X, y, weight\) or .*only classes="):
        summarize([chunk], **{"target": None, **roles})


@pytest.mark.parametrize("role", ["target", "weight", "fold"])
def test_labels_of_all_rows_cannot_be_given_beside_chunks(role):
    roles = {"target": 1, role: np.zeros(10, dtype=int)}
    with pytest.raises(ValueError, match=r"come in chunks, so .* must name a column of them"):
        summarize([TABLE[:10], TABLE[10:20]], **roles)


@pytest.mark.parametrize("data", [5, None, 1.5, object()])
def test_what_holds_no_rows_is_refused(data):
    with pytest.raises(
        TypeError, match=r"cannot read rows from .*: give an array, a sparse matrix"
    ):
        summarize(data, target=None)


@pytest.mark.parametrize("data", [[[1, 2], [3, 4]], {"a": [1], "y": [0]}, [None]])
def test_a_chunk_that_holds_no_rows_is_refused(data):
    with pytest.raises(TypeError, match=r"cannot read rows from .*: a chunk is an array"):
        summarize(data, target=0)


def test_the_same_chunks_give_the_same_bits():
    chunks = [(X[c], Y[c], WEIGHT[c]) for c in CHUNKS]
    assert summarize(chunks, target=None) == summarize(iter(chunks), target=None)
