import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from nearness import distance, group_distance
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from directrix import Moments

RNG = np.random.default_rng(11)
N, D = 80, 4
X = RNG.normal([0.0, 3.0, -1e3, 0.5], [1.0, 0.1, 5.0, 2.0], (N, D))
Y = RNG.integers(0, 2, N)
THREE = RNG.integers(0, 3, N)
WEIGHT = RNG.uniform(0.1, 2.0, N)
FOLD = RNG.integers(0, 4, N)
NAMES = ("a", "b", "größe", "d")

#: The same rows through another path: a few roundings.
SCALED = 1e-14

# ── classes ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("labels", "negative", "positive"),
    [
        ([0, 1], 0, 1),
        ([-1, 1], -1, 1),
        (["no", "yes"], "no", "yes"),
        ([False, True], False, True),
        ([2.5, 7.5], 2.5, 7.5),
    ],
)
def test_the_positive_class_is_the_last_of_the_sorted_labels(labels, negative, positive):
    moments = Moments.of(X, np.array(labels)[Y], WEIGHT)
    assert list(moments.by_class) == [negative, positive]
    assert moments.positive is moments.by_class[positive]
    assert moments.negative is moments.by_class[negative]
    assert (
        moments.positive
        == Moments.of(X[Y == 1], np.ones((Y == 1).sum()), WEIGHT[Y == 1]).by_class[1.0]
    )
    assert moments.count == N
    assert moments.weight == pytest.approx(WEIGHT.sum(), rel=1e-15)


def test_the_prior_is_the_share_of_weight():
    moments = Moments.of(X, Y, WEIGHT)
    assert moments.prior == pytest.approx(WEIGHT[Y == 1].sum() / WEIGHT.sum(), rel=1e-15)


def test_another_prior_can_be_stated():
    moments = Moments.of(X, Y)
    stated = moments.with_prior(0.01)
    assert stated.prior == 0.01
    assert stated.parts == moments.parts
    assert stated != moments
    assert moments.stated_prior is None
    assert stated.with_prior(np.float32(0.5)).prior == 0.5


@pytest.mark.parametrize("prior", [0, 1, -0.1, 1.5, np.nan, np.inf])
def test_a_prior_lies_strictly_between_zero_and_one(prior):
    with pytest.raises(ValueError, match="strictly between 0 and 1, not"):
        Moments.of(X, Y).with_prior(prior)


@pytest.mark.parametrize("what", ["positive", "negative", "prior"])
@pytest.mark.parametrize(
    ("labels", "advice"), [(np.zeros(N), "`classes=`|classes="), (THREE, "one_vs_rest")]
)
def test_two_classes_are_needed_and_the_message_helps(what, labels, advice):
    with pytest.raises(ValueError, match=f"needs two classes.*({advice})"):
        getattr(Moments.of(X, labels), what)
    with pytest.raises(ValueError, match="needs two classes"):
        Moments.of(X, labels).with_prior(0.5)


def test_no_rows_have_no_prior_but_one_can_be_stated():
    moments = Moments.of(np.empty((0, 2)), [], classes=[0, 1])
    with pytest.raises(ValueError, match=r"there are no rows.*state one with `with_prior`"):
        _ = moments.prior
    assert moments.with_prior(0.5).prior == 0.5


@pytest.mark.parametrize("label", [0, 1, 2])
def test_one_class_against_all_others(label):
    two = Moments.of(X, THREE, WEIGHT, feature_names=NAMES).one_vs_rest(label)
    assert two.classes.tolist() == [False, True]
    assert (
        distance(two, Moments.of(X, np.equal(THREE, label), WEIGHT, feature_names=NAMES)) < SCALED
    )


def test_one_class_against_all_others_keeps_folds_and_drops_the_prior():
    moments = Moments.of(X, THREE, fold=FOLD).one_vs_rest(1)
    assert distance(moments, Moments.of(X, THREE == 1, fold=FOLD)) < SCALED
    assert Moments.of(X, Y).with_prior(0.1).one_vs_rest(0).stated_prior is None
    swapped = Moments.of(X, Y).one_vs_rest(0)
    assert swapped.positive == Moments.of(X, Y).negative


def test_one_class_alone_against_nothing():
    moments = Moments.of(X, np.zeros(N)).one_vs_rest(0)
    assert (moments.negative.count, moments.positive.count) == (0, N)


def test_an_unknown_class_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no class 7; the classes are \[0, 1, 2\]"):
        Moments.of(X, THREE).one_vs_rest(7)


# ── columns ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("columns", "indices"),
    [
        (2, [2]),
        (-1, [3]),
        ([3, 0], [3, 0]),
        (slice(1, 3), [1, 2]),
        ([True, False, False, True], [0, 3]),
        ("größe", [2]),
        (["d", "a"], [3, 0]),
        ([], []),
    ],
)
def test_selected_columns_are_those_of_the_rows(columns, indices):
    chosen = Moments.of(X, Y, WEIGHT, feature_names=NAMES, fold=FOLD).select(columns)
    assert chosen.n_features == len(indices)
    assert chosen.feature_names == tuple(NAMES[index] for index in indices)
    if len(indices):
        expected = Moments.of(
            X[:, indices], Y, WEIGHT, feature_names=chosen.feature_names, fold=FOLD
        )
        assert distance(chosen, expected) < SCALED


def test_select_refuses_unknown_names():
    with pytest.raises(KeyError, match="no feature named 'x'"):
        Moments.of(X, Y, feature_names=NAMES).select(["a", "x"])


def test_names_come_from_the_frame_or_are_given():
    frame = pd.DataFrame(X, columns=NAMES)
    assert Moments.of(frame, Y).feature_names == NAMES
    assert Moments.of(frame, Y, feature_names=["p", "q", "r", "s"]).feature_names == tuple("pqrs")
    assert Moments.of(X, Y).feature_names is None
    assert distance(Moments.of(frame, Y), Moments.of(X, Y, feature_names=NAMES)) == 0.0


# ── folds ─────────────────────────────────────────────────────────────────────────────────────────


def test_each_fold_is_the_summary_of_its_rows():
    moments = Moments.of(X, Y, WEIGHT, fold=FOLD, feature_names=NAMES)
    assert len(moments.folds) == 4
    for k, fold in enumerate(moments.folds):
        in_fold = np.equal(FOLD, k)
        alone = Moments.of(X[in_fold], Y[in_fold], WEIGHT[in_fold], feature_names=NAMES)
        assert distance(fold, alone) < SCALED


@pytest.mark.parametrize("k", range(4))
def test_training_summaries_are_those_of_all_other_rows(k):
    moments = Moments.of(X, Y, WEIGHT, fold=FOLD).with_prior(0.3)
    others = np.not_equal(FOLD, k)
    expected = Moments.of(X[others], Y[others], WEIGHT[others]).with_prior(0.3)
    assert distance(moments.without_fold(k), expected) < SCALED


def test_a_summary_with_folds_is_that_of_all_rows():
    folded, whole = Moments.of(X, Y, WEIGHT, fold=FOLD), Moments.of(X, Y, WEIGHT)
    assert group_distance(folded.positive, whole.positive) < SCALED
    assert folded.count == N
    assert folded.prior == pytest.approx(whole.prior, rel=1e-15)
    assert folded.folded
    assert not whole.folded
    assert whole.folds == ()


def test_without_the_only_fold_nothing_is_left():
    left = Moments.of(X, Y, fold=np.zeros(N, dtype=int)).without_fold(0)
    assert left == Moments.of(np.empty((0, D)), [], classes=[0, 1])


@pytest.mark.parametrize("k", [-1, 4, 100])
def test_a_fold_that_is_not_there_is_refused(k):
    with pytest.raises(ValueError, match=f"there is no fold {k}: this summary has 4 folds"):
        Moments.of(X, Y, fold=FOLD).without_fold(k)
    with pytest.raises(ValueError, match="has 0 folds"):
        Moments.of(X, Y).without_fold(0)


# ── maps ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["no weights", "weights"])
def test_standardising_is_that_of_scikit_learn(weight):
    rows = np.column_stack([X, np.full(N, 7.0)])  # a constant feature is centred only
    scaler = StandardScaler().fit(rows, sample_weight=weight)
    moments, center, scale = Moments.of(rows, THREE, weight).standardize()
    # Its mean is good to a few roundings of the largest value.
    np.testing.assert_allclose(center, scaler.mean_, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(scale, scaler.scale_, rtol=1e-12)
    expected = Moments.of(scaler.transform(rows)[:, :D], THREE, weight)
    # The third feature lies 200 deviations from zero, which costs scikit-learn three digits.
    assert distance(moments.select(slice(D)), expected) < 1e-12
    assert (center[D], scale[D]) == (7.0, 1.0)
    assert not moments.by_class[0].mean[D]


def test_standardised_features_have_mean_zero_and_variance_one_over_all_rows():
    moments = Moments.of(X, THREE, WEIGHT, fold=FOLD).standardize().moments
    pooled = moments.one_vs_rest(0)
    both = pooled.positive + pooled.negative
    np.testing.assert_allclose(both.mean, 0.0, atol=1e-14)
    np.testing.assert_allclose(both.variance, 1.0, rtol=1e-14)
    assert len(moments.folds) == 4


def test_nothing_cannot_be_standardised():
    for moments in (Moments.empty(3), Moments.of(np.empty((0, 3)), [], classes=[0, 1])):
        with pytest.raises(ValueError, match="there are no rows to standardise"):
            moments.standardize()


MAPS = {
    "diagonal": (np.array([2.0, -0.5, 1e3, 0.0]), 0.0, 0.0),
    "diagonal about a center": (np.array([2.0, -0.5, 1.0, 3.0]), X.mean(axis=0), 0.0),
    "diagonal with offset": (np.ones(D), 1.5, np.array([1.0, 2.0, 3.0, 4.0])),
    "matrix": (RNG.normal(size=(3, D)), X.mean(axis=0), np.array([1.0, 0.0, -5.0])),
    "one row": (RNG.normal(size=(1, D)), X.mean(axis=0), 0.0),
    "more features": (RNG.normal(size=(9, D)), X.mean(axis=0), 2.0),
}


@pytest.mark.parametrize("name", MAPS)
def test_a_map_of_the_summary_is_the_summary_of_mapped_rows(name):
    matrix, center, offset = MAPS[name]
    mapped = Moments.of(X, Y, WEIGHT, fold=FOLD).affine(matrix, center=center, offset=offset)
    full = np.diag(matrix) if matrix.ndim == 1 else matrix
    rows = ((X - center) @ full.T) + offset
    # Rounding of the mapped rows themselves: up to |row| eps, 1e3 deviations from zero.
    assert distance(mapped, Moments.of(rows, Y, WEIGHT, fold=FOLD)) < 1e-12


def test_a_diagonal_map_keeps_names_and_a_matrix_drops_them():
    moments = Moments.of(X, Y, feature_names=NAMES)
    assert moments.affine(np.ones(D)).feature_names == NAMES
    assert moments.affine(np.eye(D)).feature_names is None
    assert moments.affine(np.ones(D)) == moments


def test_a_map_of_no_rows_has_the_new_number_of_features():
    assert Moments.empty(D).affine(np.ones((2, D))) == Moments.empty(2)


@pytest.mark.parametrize("matrix", [np.ones(D + 1), np.ones((D, D - 1)), 2.0, np.ones((1, 1, D))])
def test_a_matrix_that_does_not_fit_is_refused(matrix):
    with pytest.raises(ValueError, match=f"the matrix must have {D} columns, not shape"):
        Moments.of(X, Y).affine(matrix)


# ── algebra ───────────────────────────────────────────────────────────────────────────────────────


def test_summaries_of_two_days_merge_and_split():
    monday, tuesday = Moments.of(X[:50], THREE[:50]), Moments.of(X[50:], THREE[50:])
    week = monday + tuesday
    assert distance(week, Moments.of(X, THREE)) < SCALED
    # Five eighths of the scatter is taken out: a digit at most.
    assert distance(week - monday, tuesday) < 1e-13


def test_nothing_left_keeps_its_classes():
    moments = Moments.of(X, Y, WEIGHT)
    assert moments - moments == Moments.of(np.empty((0, D)), [], classes=[0, 1])


def test_a_class_that_is_not_there_cannot_be_taken_out():
    with pytest.raises(ValueError, match="it is not a part of it"):
        Moments.of(X, Y) - Moments.of(X, Y + 1)


def test_an_empty_chunk_changes_nothing():
    moments = Moments.of(X, Y)
    for empty in (
        Moments.empty(D),
        Moments.of(X[:0], Y[:0]),
        Moments.of(X[:0], []),
        Moments.of(X[:3], [0, 1, 1], [0, 0, 0]),
    ):
        assert moments + empty == moments
        assert empty + moments == moments


def test_all_empty_summaries_are_alike():
    assert Moments.of(X[:0], []) == Moments.of(X[:0], np.array([], dtype=str)) == Moments.empty(D)
    assert Moments.of(sparse.csr_array((0, D)), []) == Moments.empty(D)


@pytest.mark.parametrize(
    "other",
    [
        Moments.of(X, Y, WEIGHT),
        Moments.of(X, Y.astype(float)),
        Moments.of(X, Y + 1),
        Moments.of(X, Y, classes=[0, 1, 2]),
        Moments.of(X, Y, feature_names=NAMES),
        Moments.of(X, Y, fold=np.zeros(N, dtype=int)),
        Moments.of(X, Y).with_prior(0.5),
        Moments.of(X[:, :3], Y),
        Moments.of(X + 1e-9, Y),
        Moments.empty(D),
        0,
        None,
    ],
)
def test_what_differs_is_not_equal(other):
    assert Moments.of(X, Y) != other
    assert Moments.of(X, Y) == Moments.of(X.copy(), Y.copy())


def test_a_summary_is_not_hashable():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Moments.of(X, Y))


# ── extremes ──────────────────────────────────────────────────────────────────────────────────────


def thin(rows):
    """Return rows and forty empty columns, so few values that their pairs are formed one by one."""
    return sparse.csr_array(np.hstack([rows, np.zeros((len(rows), 40), dtype=rows.dtype)]))


each_layout = pytest.mark.parametrize("layout", [np.array, sparse.csr_array, thin])


@each_layout
@pytest.mark.parametrize("value", [0.0, 0.1, -7.3, 1e100, 123456789.123, 1e-100])
def test_a_constant_column_has_scatter_exactly_zero(layout, value):
    rows = X.copy()
    rows[:, 1] = value
    for weight in (None, WEIGHT):
        for group in Moments.of(layout(rows), Y, weight).by_class.values():
            assert group.mean[1] == value
            assert not group.scatter[1].any()
            assert not group.scatter[:, 1].any()


def test_one_row_is_its_own_mean():
    group = Moments.of(X[:1], [0], [0.3]).by_class[0]
    np.testing.assert_array_equal(group.mean, X[0])
    assert not group.scatter.any()
    assert group.effective_count == pytest.approx(1.0, rel=1e-15)


def test_one_feature_is_legal():
    group = Moments.of(X[:, :1], Y).positive
    assert group.covariance.shape == (1, 1)
    assert group.covariance[0, 0] == pytest.approx(np.var(X[Y == 1, 0]), rel=1e-13)


def test_one_class_and_no_row_are_legal():
    assert Moments.of(X, np.zeros(N)).count == N
    assert Moments.of(X[:0], Y[:0]).count == 0


def test_zero_weights_leave_rows_out():
    weight = np.where(np.arange(N) % 3 == 0, 0.0, WEIGHT)
    kept = weight > 0
    moments = Moments.of(X, Y, weight)
    assert moments.count == kept.sum()
    assert distance(moments, Moments.of(X[kept], Y[kept], weight[kept])) < SCALED


def test_whole_weights_are_repetitions():
    times = np.random.default_rng(1).integers(0, 4, N)
    repeated = Moments.of(np.repeat(X, times, axis=0), np.repeat(Y, times))
    weighted = Moments.of(X, Y, times)
    for label in (0, 1):
        by_weight, by_repetition = weighted.by_class[label], repeated.by_class[label]
        assert by_weight.weight == by_repetition.weight == by_repetition.count
        spread = np.sqrt(by_repetition.scatter.diagonal())
        assert (
            np.abs(
                (by_weight.scatter - by_repetition.scatter) / np.multiply.outer(spread, spread)
            ).max()
            < SCALED
        )


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["no weights", "weights"])
def test_sparse_rows_are_summarised_as_dense_ones(weight):
    rows = X.copy()
    rows[np.random.default_rng(1).random(N) < 0.7, 3] = (
        0.0  # one column mostly zero among full ones, far from zero
    )
    moments = Moments.of(thin(rows), Y, weight)
    assert distance(moments.select(slice(D)), Moments.of(rows, Y, weight)) < SCALED
    assert not moments.positive.scatter[D:].any()


# ── what holds the rows ───────────────────────────────────────────────────────────────────────────


def whole(dtype):
    return (10 * X).astype(dtype)


HOLDERS = {
    "Fortran order": np.asfortranarray,
    "every other column": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "every other row": lambda rows: np.repeat(rows, 2, axis=0)[::2],
    "backwards": lambda rows: rows[::-1, ::-1].copy()[::-1, ::-1],
    "transposed": lambda rows: rows.T.copy().T,
    "list of lists": lambda rows: rows.tolist(),
    "objects": lambda rows: rows.astype(object),
    "big-endian": lambda rows: rows.astype(rows.dtype.newbyteorder(">")),
    "pandas": pd.DataFrame,
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_the_layout_of_the_rows_changes_nothing(holder):
    assert Moments.of(HOLDERS[holder](X), Y, WEIGHT) == Moments.of(X, Y, WEIGHT)


@pytest.mark.parametrize(
    "dtype", ["f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "longdouble"]
)
@each_layout
def test_numbers_of_any_type_are_summed_as_float64(dtype, layout):
    rows = np.where(np.abs(X) > 0.5, np.abs(10 * X) % 100, 0.0).astype(dtype)
    expected = Moments.of(layout(rows.astype(float)), Y, WEIGHT)
    assert Moments.of(layout(rows), Y, WEIGHT) == expected


def test_half_floats_are_summed_as_float64():  # which SciPy's sparse matrices do not know
    rows = X.astype(np.float16)
    assert Moments.of(rows, Y, WEIGHT) == Moments.of(rows.astype(float), Y, WEIGHT)


def test_a_read_only_file_on_disk_will_do(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    assert isinstance(rows, np.memmap)
    assert Moments.of(rows, Y) == Moments.of(X, Y)


def frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def test_input_may_be_read_only():
    moments = Moments.of(frozen(X), frozen(Y), frozen(WEIGHT), fold=frozen(FOLD))
    assert moments == Moments.of(X, Y, WEIGHT, fold=FOLD)


@pytest.mark.parametrize("labels", [Y, Y == 1, Y + 0.5, Y.astype(str), Y.astype(np.int8)])
def test_input_is_never_changed(labels):
    given = (X.copy(), labels.copy(), WEIGHT.copy(), FOLD.copy())
    Moments.of(*given[:3], fold=given[3], classes=np.unique(labels)[::-1])
    for before, after in zip((X, labels, WEIGHT, FOLD), given, strict=True):
        np.testing.assert_array_equal(before, after)


def test_sparse_input_is_never_changed():
    data, indices = np.array([1.0, 2.0, 4.0, 8.0]), np.array([2, 0, 0, 1])
    matrix = sparse.csr_array((data.copy(), indices.copy(), np.array([0, 3, 4])), shape=(2, 3))
    moments = Moments.of(matrix, [0, 1], [0.5, 2.0])
    assert moments.by_class[0].mean.tolist() == [6.0, 0.0, 1.0]
    np.testing.assert_array_equal(matrix.data, data)
    np.testing.assert_array_equal(matrix.indices, indices)


def test_later_changes_of_the_rows_do_not_reach_the_summary():
    rows, labels, weight, names = X.copy(), Y.copy(), WEIGHT.copy(), list(NAMES)
    moments = Moments.of(rows, labels, weight, feature_names=names)
    rows[:], labels[:], weight[:], names[0] = 0.0, 0, 1.0, "z"
    assert moments == Moments.of(X, Y, WEIGHT, feature_names=NAMES)


def test_summaries_are_read_only():
    moments = Moments.of(X, Y)
    with pytest.raises(ValueError, match="read-only"):
        moments.classes[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        moments.positive.mean[0] = 5
    with pytest.raises(AttributeError, match="cannot assign"):
        moments.n_features = 3


@pytest.mark.parametrize(
    "twin",
    [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))],  # noqa: S301
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_copy_is_equal_and_works(twin):
    moments = Moments.of(X, Y, WEIGHT, fold=FOLD, feature_names=NAMES).with_prior(0.2)
    assert twin(moments) == moments
    _ = moments.positive  # which is kept after the first time
    assert twin(moments).positive == moments.positive
    assert twin(moments) + moments == moments + moments
    with pytest.raises(ValueError, match="read-only"):
        twin(moments).positive.mean[0] = 0.0


def test_names_may_be_any_sequence():
    pandas = pytest.importorskip("pandas")
    assert Moments.of(X, Y, feature_names=pandas.Index(NAMES)).feature_names == tuple(NAMES)
    with pytest.raises(ValueError, match="different names"):
        Moments.of(X, Y, feature_names=[])


def test_a_column_cannot_be_chosen_twice():
    with pytest.raises(ValueError, match="chosen twice"):
        Moments.of(X, Y).select([0, 0])


def test_a_map_must_be_finite():
    with pytest.raises(ValueError, match="finite"):
        Moments.of(X, Y).affine(np.full(X.shape[1], np.nan))


def test_a_label_and_a_fold_of_weight_zero_are_absent():
    labels, folds = np.r_[Y, 7], np.r_[FOLD, 9]
    rows, weight = np.vstack([X, np.full_like(X[:1], np.nan)]), np.r_[WEIGHT, 0.0]
    assert Moments.of(rows, labels, weight, fold=folds) == Moments.of(X, Y, WEIGHT, fold=FOLD)


def test_the_classes_cannot_be_changed_through_their_mapping():
    with pytest.raises(TypeError, match="does not support item assignment"):
        Moments.of(X, Y).by_class[0] = None


def test_a_stated_prior_is_that_of_two_classes_only():
    three = Moments.of(X, Y).with_prior(0.2) + Moments.of(X, np.full(len(X), 2))
    with pytest.raises(ValueError, match="one_vs_rest"):
        _ = three.prior


def test_a_missing_value_is_refused_with_the_name_given_to_its_column():
    rows = X.copy()
    rows[4, 1] = np.nan
    with pytest.raises(ValueError, match=f"column '{NAMES[1]}' holds missing values"):
        Moments.of(rows, Y, feature_names=NAMES)
