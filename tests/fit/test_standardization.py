import numpy as np
import pytest
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from directrix.fit.training_rows import Standardization


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 4)) * [1.0, 1e-6, 1e6, 3.0] + [0.0, 1e-5, -1e7, 100.0]
    return X, rng.uniform(0.5, 2.0, 50)


def test_dense_features_are_those_of_scikit_learn():
    X, weight = rows()
    ours = Standardization.of(X, weight).rows(X)
    theirs = StandardScaler().fit(X, sample_weight=weight).transform(X)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9)
    share = weight / weight.sum()
    assert share @ ours == pytest.approx(0.0, abs=1e-12)
    assert share @ ours**2 == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("holder", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_features_are_scaled_and_stay_sparse(holder):
    X, weight = rows()
    X *= np.random.default_rng(1).random(X.shape) < 0.3
    units = Standardization.of(holder(X), weight)
    ours = units.rows(holder(X))
    assert sparse.issparse(ours)
    assert ours.nnz == np.count_nonzero(X)
    assert not units.mean.any()
    assert (weight / weight.sum()) @ ours.toarray() ** 2 == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_line_in_the_units_of_the_features_has_the_same_scores(holder):
    X, weight = rows()
    units = Standardization.of(holder(X), weight)
    line = np.array([2.0, -3.0, 1e-3, 0.1, 0.7])
    back = units.line_back(line)
    standardised = units.rows(holder(X)) @ line[:-1] + line[-1]
    assert X @ back[:-1] + back[-1] == pytest.approx(standardised, abs=1e-8)


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.1, -1e12])
@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_constant_columns_stay_finite(constant, holder):
    X, weight = rows()
    X[:, 1] = constant
    units = Standardization.of(holder(X), weight)
    ours = units.rows(holder(X))
    column = (ours.toarray() if sparse.issparse(ours) else ours)[:, 1]
    assert np.isfinite(column).all()
    assert np.ptp(column) == 0.0
    if holder is np.asarray:
        # No more than rounding of the mean is left of it, in units of the column itself.
        assert np.abs(column).max() <= 1e-15 * abs(constant)
        assert units.scale[1] == 1.0


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("size", [2.0**-960, 2.0**-660, 2.0**-500, 2.0**500, 2.0**660, 2.0**960])
def test_units_whose_squares_are_no_floats_do_not_matter(size, holder):
    X, weight = rows()
    X[:, 1:] *= np.random.default_rng(1).random((50, 3)) < 0.3
    X[:, 3] = 0.0
    line = np.array([2.0, -3e5, 1e-6, 0.1, 0.7])
    plain, units = (
        Standardization.of(holder(X), weight),
        Standardization.of(holder(X * size), weight),
    )
    # Powers of two: all that rounds are the two ways to a deviation.
    np.testing.assert_array_equal(units.mean, plain.mean * size)
    np.testing.assert_allclose(units.scale[:3], plain.scale[:3] * size, rtol=1e-15)
    assert units.scale[3] == 1.0
    held = [each.rows(holder(own)) for each, own in ((plain, X), (units, X * size))]
    held = [own.toarray() if sparse.issparse(own) else own for own in held]
    np.testing.assert_allclose(held[1], held[0], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(
        units.line_back(line)[:-1] * np.append(np.full(3, size), 1.0),
        plain.line_back(line)[:-1],
        rtol=1e-14,
    )


@pytest.mark.parametrize(
    ("size", "holder"), [(1e-318, np.asarray), (1e-318, sparse.csr_array), (1.7e308, np.asarray)]
)
def test_a_column_without_a_coefficient_that_is_a_float_is_named(size, holder):
    X = np.array([[1.0, 1.0], [2.0, -1.0], [4.0, 1.0]]) * [1.0, size]
    with pytest.raises(ValueError, match=r"column 1 varies by .* Rescale it"):
        Standardization.of(holder(X), np.ones(3))


def test_a_coefficient_that_overflows_is_refused():
    units = Standardization(np.zeros(2), np.array([1.0, 1e-300]))
    assert units.line_back(np.array([1e9, 1e7, 0.0])).tolist() == [1e9, 1e307, 0.0]
    with pytest.raises(ValueError, match=r"column 1 varies by 1e-300: .* beyond the range"):
        units.line_back(np.array([1e9, 1e9, 0.0]))


@pytest.mark.parametrize("holder", [np.float32, lambda X: sparse.csr_array(np.float32(X))])
def test_float32_is_standardised_in_float64(holder):
    X, weight = rows()
    X = X.astype(np.float32).astype(np.float64)
    like = sparse.csr_array(X) if sparse.issparse(holder(X)) else X
    ours, theirs = Standardization.of(holder(X), weight), Standardization.of(like, weight)
    assert ours.mean == pytest.approx(theirs.mean, rel=1e-12)
    assert ours.scale == pytest.approx(theirs.scale, rel=1e-12)
    assert ours.rows(holder(X)).dtype == np.float64
