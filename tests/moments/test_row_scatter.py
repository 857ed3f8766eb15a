import copy
import pickle

import numpy as np
import pytest
from nearness import group_distance, worst_ratio
from scipy import sparse

from directrix import Moments
from directrix.moments import RowScatter
from directrix.moments.class_moments import DENSE_FEATURES

D = DENSE_FEATURES + 50
N = 60

#: The first columns are full (heavy in sparse rows), the next half full, and then one in a
#: hundred; the last is empty. Chosen to look into all kinds at once.
LOOK = np.r_[0:12, D - 3 : D]

#: A few roundings: the products of centred rows do not cancel.
SCALED = 1e-13


def table():
    rng = np.random.default_rng(7)
    X = np.where(rng.random((N, D)) < 0.01, rng.normal(size=(N, D)), 0.0)
    X[:, :4] = rng.normal([0.0, 3.0, 1e5, -1e8], 1.0, (N, 4))
    X[:, 4:8] = np.where(rng.random((N, 4)) < 0.5, rng.normal(2.0, 1.0, (N, 4)), 0.0)
    X[:, 8] = 0.1
    X[:, -1] = 0.0
    return X, rng.integers(0, 2, N), rng.choice([0.0, 0.5, 1.0, 3.0], N)


X, Y, WEIGHT = table()
HOLDERS = {"sparse": sparse.csr_array, "dense": np.array}
WEIGHTS = {"no weights": None, "weights": WEIGHT}

#: Those of them that vary in both classes, among the rows of positive weight.
VARIED = np.array(
    [
        j
        for j in LOOK
        if all(np.ptp(X[np.equal(Y, label) & (WEIGHT > 0), j]) > 0 for label in (0, 1))
    ]
)

#: Columns without large means, of which no part of the rows holds almost all scatter.
FULL = np.r_[0, 1, 4:8]

each_holder = pytest.mark.parametrize("holder", HOLDERS)
each_weight = pytest.mark.parametrize("weights", WEIGHTS)


def wide(holder="sparse", weights="weights", rows=slice(None), **options):
    weight = WEIGHTS[weights]
    weight = None if weight is None else weight[rows]
    return Moments.of(HOLDERS[holder](X[rows]), Y[rows], weight, **options)


def dense(weights="weights", columns=LOOK, rows=slice(None)):
    weight = WEIGHTS[weights]
    return Moments.of(X[rows][:, columns], Y[rows], None if weight is None else weight[rows])


@each_holder
@each_weight
def test_the_operator_is_the_scatter(holder, weights):
    vectors = np.random.default_rng(1).normal(size=(D, 3))
    for label in (0, 1):
        group = wide(holder, weights).by_class[label]
        assert isinstance(group.scatter, RowScatter)
        in_class = np.equal(Y, label)
        weight = np.longdouble(1.0) if weights == "no weights" else WEIGHT[in_class][:, None]
        rows = X[in_class].astype(np.longdouble)
        rows = rows - (weight * rows).sum(axis=0) / (weight * np.ones_like(rows[:, :1])).sum()
        truth = (rows.T @ (weight * (rows @ vectors))).astype(float)
        spread = np.sqrt(((weight * rows**2).sum(axis=0)).astype(float))
        unit = np.multiply.outer(spread, spread @ np.abs(vectors))
        assert worst_ratio(group.scatter @ vectors - truth, unit) < SCALED
        # One vector, and the transpose, are the same operator.
        assert worst_ratio(group.scatter @ vectors[:, 0] - truth[:, 0], unit[:, 0]) < SCALED
        assert worst_ratio(group.scatter.T @ vectors - truth, unit) < SCALED
        assert worst_ratio(group.scatter.diagonal() - spread**2, spread**2) < SCALED


@each_holder
@each_weight
def test_selected_columns_have_the_scatter_of_those_columns(holder, weights):
    chosen = wide(holder, weights).select(LOOK)
    for label in (0, 1):
        assert isinstance(chosen.by_class[label].scatter, np.ndarray)
        assert group_distance(chosen.by_class[label], dense(weights).by_class[label]) < SCALED


@each_holder
def test_many_selected_columns_stay_an_operator(holder):
    columns = np.arange(D)[::-1][: DENSE_FEATURES + 1]
    chosen = wide(holder).select(columns)
    assert isinstance(chosen.positive.scatter, RowScatter)
    few = np.arange(8)
    expected = dense(columns=columns[few]).positive
    assert group_distance(chosen.select(few).positive, expected) < SCALED


def test_a_constant_column_and_an_empty_one_have_scatter_zero():
    diagonal = wide().positive.scatter.diagonal()
    assert diagonal[8] == 0.0
    assert diagonal[-1] == 0.0


@each_holder
@each_weight
@pytest.mark.parametrize("cut", [1, 20, N - 1])
def test_merged_parts_have_the_scatter_of_the_whole(holder, weights, cut):
    parts = (wide(holder, weights, rows, classes=[0, 1]) for rows in (slice(cut), slice(cut, None)))
    first, second = parts
    merged = (first + second).select(LOOK)
    for label in (0, 1):
        assert group_distance(merged.by_class[label], dense(weights).by_class[label]) < SCALED


def test_sparse_and_dense_rows_can_be_merged():
    merged = wide("sparse", rows=slice(30)) + wide("dense", rows=slice(30, None))
    assert group_distance(merged.select(LOOK).positive, dense().positive) < SCALED


@each_holder
@each_weight
def test_standardising_is_that_of_the_columns(holder, weights):
    moments, center, scale = wide(holder, weights).standardize()
    expected = dense(weights, VARIED).standardize()
    np.testing.assert_allclose(center[VARIED], expected.center, rtol=1e-15)
    np.testing.assert_allclose(scale[VARIED], expected.scale, rtol=1e-13)
    for label in (0, 1):
        chosen = moments.select(VARIED).by_class[label]
        assert group_distance(chosen, expected.moments.by_class[label]) < SCALED


@each_holder
def test_a_diagonal_map_is_that_of_the_columns(holder):
    rng = np.random.default_rng(2)
    matrix, center, offset = rng.uniform(0.5, 2.0, D), rng.normal(size=D), rng.normal(size=D)
    mapped = wide(holder).affine(matrix, center=center, offset=offset).select(VARIED)
    expected = dense(columns=VARIED).affine(
        matrix[VARIED], center=center[VARIED], offset=offset[VARIED]
    )
    assert group_distance(mapped.positive, expected.positive) < SCALED


@each_holder
def test_a_map_to_few_features_gives_a_matrix(holder):
    matrix = np.zeros((3, D))
    matrix[:, LOOK] = np.random.default_rng(2).normal(size=(3, len(LOOK)))
    mapped = wide(holder).affine(matrix, center=X.mean(axis=0))
    expected = dense().affine(matrix[:, LOOK], center=X.mean(axis=0)[LOOK])
    assert isinstance(mapped.positive.scatter, np.ndarray)
    assert group_distance(mapped.positive, expected.positive) < SCALED


def test_covariance_is_the_operator_over_the_weight():
    group = wide().positive
    vector = np.random.default_rng(1).normal(size=D)
    expected = group.scatter @ vector / group.weight
    np.testing.assert_allclose(group.covariance @ vector, expected, rtol=1e-14)
    np.testing.assert_allclose(group.covariance.diagonal(), group.variance, rtol=1e-15)
    np.testing.assert_allclose((2 * group.scatter) @ vector, 2 * (group.scatter @ vector))


def test_the_matrix_is_not_written_out_by_accident():
    with pytest.raises(
        TypeError, match=r"0\.2 GB, .* use `scatter @ vectors`.*or `select` at most"
    ):
        np.asarray(wide().positive.scatter)


def test_rows_cannot_be_taken_out_again():
    with pytest.raises(TypeError, match=r"cannot be subtracted from; add up the parts you keep"):
        wide() - wide(rows=slice(10))


def test_wide_folds_are_added_up_without_subtraction():
    fold = np.arange(N) % 3
    moments = Moments.of(sparse.csr_array(X), Y, WEIGHT, fold=fold)
    training = moments.without_fold(1).select(LOOK)
    expected = Moments.of(X[fold != 1][:, LOOK], Y[fold != 1], WEIGHT[fold != 1])
    assert group_distance(training.positive, expected.positive) < SCALED


def test_one_against_the_rest_of_wide_rows():
    three = Moments.of(sparse.csr_array(X), np.arange(N) % 3)
    expected = Moments.of(X[:, LOOK], np.arange(N) % 3 == 2)
    assert group_distance(three.one_vs_rest(2).select(LOOK).negative, expected.negative) < SCALED


@pytest.mark.parametrize("twin", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])  # noqa: S301
def test_a_wide_summary_can_be_copied(twin):
    moments = wide()
    assert twin(moments) == moments
    assert group_distance(twin(moments).select(LOOK).positive, dense().positive) < SCALED


def test_other_rows_give_another_operator():
    assert wide() == wide()
    assert wide(weights="no weights") != wide(weights="no weights", rows=slice(N - 1))
    changed = X.copy()
    changed[np.flatnonzero(Y == 1)[0], 5] += 1.0
    assert wide().positive.scatter != Moments.of(sparse.csr_array(changed), Y).positive.scatter
    assert wide().positive.scatter != 3


def test_rows_are_copied():
    matrix = sparse.csr_array(X)
    moments = Moments.of(matrix, Y, WEIGHT)
    matrix.data[:] = 0.0
    assert moments == wide()
    array = X.copy()
    moments = Moments.of(array, Y, WEIGHT)
    array[:] = 0.0
    assert moments == wide("dense")


def test_no_rows_are_the_identity():
    moments = wide()
    assert Moments.empty(D) + moments == moments
    assert moments + Moments.of(sparse.csr_array((0, D)), []) == moments


@each_holder
def test_an_offset_costs_no_digits(holder):
    plain = wide(holder).by_class[1]
    moved = wide(holder).affine(np.ones(D), offset=1e12).by_class[1]
    vectors = np.eye(D)[:, LOOK]
    spread = np.sqrt(plain.scatter.diagonal())
    unit = np.multiply.outer(spread, spread[LOOK])
    assert worst_ratio(moved.scatter @ vectors - plain.scatter @ vectors, unit) < SCALED


def test_a_column_constant_in_a_class_stays_so_and_can_be_saved(tmp_path):
    rows = np.zeros((60, D))
    rng = np.random.default_rng(3)
    rows[:, :3], rows[:30, 5] = rng.normal(size=(60, 3)), rng.normal(size=30)
    moments = Moments.of(sparse.csr_array(rows), np.repeat([0, 1], 30)).standardize().moments
    chosen = moments.select([0, 1, 2, 5])
    assert not chosen.positive.scatter[3].any()
    chosen.save(tmp_path / "chosen.moments")


@each_holder
@each_weight
def test_few_features_are_kept_as_rows_if_asked(holder, weights):
    weight = WEIGHTS[weights]
    moments = Moments.of(HOLDERS[holder](X[:, :40]), Y, weight, keep_rows=True)
    for label in (0, 1):
        group, matrix = moments.by_class[label], dense(weights, np.arange(40)).by_class[label]
        assert isinstance(group.scatter, RowScatter)
        assert group_distance(group.with_matrix(), matrix) < SCALED
        assert group.with_matrix().with_matrix().scatter is not group.scatter


def test_kept_rows_and_matrices_are_added_as_matrices():
    kept = Moments.of(X[:30, :40], Y[:30], WEIGHT[:30], keep_rows=True)
    matrices = Moments.of(X[30:, :40], Y[30:], WEIGHT[30:])
    for whole in (kept + matrices, matrices + kept):
        assert group_distance(whole.positive, dense(columns=np.arange(40)).positive) < SCALED


def test_kept_rows_can_be_subtracted_from_and_saved_if_matrices_would_fit(tmp_path):
    kept = Moments.of(X[:, FULL], Y, keep_rows=True)
    part = Moments.of(X[:25][:, FULL], Y[:25], keep_rows=True)
    expected = Moments.of(X[25:][:, FULL], Y[25:])
    assert group_distance((kept - part).positive, expected.positive) < 1e-11
    kept.save(tmp_path / "kept.moments")
    loaded = Moments.load(tmp_path / "kept.moments")
    assert group_distance(loaded.positive, Moments.of(X[:, FULL], Y).positive) < SCALED


@each_holder
@each_weight
def test_stacked_blocks_are_the_same_operator(holder, weights):
    vectors = np.random.default_rng(1).normal(size=(D, 3))
    parts = [wide(holder, weights, slice(k, k + 20), classes=[0, 1]) for k in (0, 20, 40)]
    folds = wide(holder, weights, fold=np.arange(N) % 3)
    for moments in (parts[0] + parts[1] + parts[2], folds, folds.standardize().moments):
        scatter = moments.positive.scatter
        stacked = scatter.stacked()
        assert len(stacked.blocks) <= len(scatter.blocks)
        spread = np.sqrt(scatter.diagonal())
        unit = np.multiply.outer(spread, spread @ np.abs(vectors))
        assert worst_ratio(stacked @ vectors - scatter @ vectors, unit) < SCALED
    if holder == "sparse":
        assert len(folds.positive.scatter.blocks) == 3
        assert len(folds.positive.scatter.stacked().blocks) == 1
