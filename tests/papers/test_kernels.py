import numpy as np
import pytest
from scipy import sparse

from directrix.papers.kernels import KernelRows, kernel_of


def test_kernels_are_those_of_the_notes():
    X, Z = np.abs(np.random.default_rng(0).normal(size=(2, 5, 3)))
    apart = np.square(X[:, None] - Z[None]).sum(axis=2)
    np.testing.assert_allclose(kernel_of("rbf", 2.0)(X, Z), np.exp(-apart / 8.0), rtol=1e-12)
    least = np.minimum(X[:, None], Z[None]).sum(axis=2)
    for holder in (np.asarray, sparse.csr_array):
        np.testing.assert_allclose(kernel_of("min", 1.0)(holder(X), holder(Z)), least, rtol=1e-12)
    own = kernel_of(lambda a, b: float(a @ b), 1.0)
    np.testing.assert_allclose(own(sparse.csr_array(X), Z), X @ Z.T, rtol=1e-12)


@pytest.mark.parametrize(("kernel", "tau"), [("cosine", 1.0), (None, 1.0), ("rbf", 0.0)])
def test_other_kernels_are_refused(kernel, tau):
    with pytest.raises(ValueError, match=r"kernel must be|tau must be"):
        kernel_of(kernel, tau)


def test_negative_features_have_no_intersection():
    with pytest.raises(ValueError, match="never negative"):
        kernel_of("min", 1.0)(-np.ones((2, 1)), np.ones((2, 1)))


def test_coordinates_have_the_scores_and_the_norm_of_the_coefficients():
    X = np.random.default_rng(0).normal(size=(8, 2))[[0, 1, 2, 3, 4, 5, 6, 7, 0, 3]]
    space = KernelRows.of(kernel_of("rbf", 1.0), X)
    assert len(space.centers) == 8
    coordinates, back = space.coordinates()
    w = np.random.default_rng(1).normal(size=coordinates.shape[1])
    a = back @ w
    np.testing.assert_allclose(space.of_rows @ a, coordinates @ w, atol=1e-9)
    assert a @ space.matrix @ a == pytest.approx(w @ w, rel=1e-9)


def test_what_is_no_kernel_is_refused():
    space = KernelRows.of(lambda a, b: -(a @ b.T), np.random.default_rng(0).normal(size=(5, 2)))
    with pytest.raises(ValueError, match="not positive semi-definite"):
        space.coordinates()
