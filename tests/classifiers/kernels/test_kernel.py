import numpy as np
import pytest
from kernel_problems import counts
from scipy import sparse
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

from directrix.classifiers.kernels import (
    Kernel,
    alpha_from_svc,
    gamma_from_bandwidth,
    intersection,
)


def first_two(x, y):
    return x[:2] @ y[:2]


class TestKernel:
    def test_intersection_is_the_sum_of_the_lesser(self):
        X, Y = counts(8)[0], counts(5, seed=1)[0]
        expected = np.minimum(X[:, None, :], Y[None, :, :]).sum(axis=2)
        np.testing.assert_allclose(intersection(X, Y), expected, rtol=0, atol=1e-12)
        of_sparse = intersection(sparse.csr_array(X), sparse.csr_array(Y))
        np.testing.assert_allclose(of_sparse, expected, rtol=0, atol=1e-12)

    def test_intersection_takes_sparse_rows_with_long_indices(self):
        X, Y = (sparse.csr_array(counts(n)[0]) for n in (8, 5))
        expected = intersection(X, Y)
        for rows in (X, Y):
            rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        np.testing.assert_array_equal(intersection(X, Y), expected)
        assert X.indices.dtype == np.int64

    @pytest.mark.parametrize("container", [np.array, sparse.csr_array])
    def test_intersection_refuses_negative_features(self, container):
        with pytest.raises(ValueError, match="kernel='min' is for features that are never neg"):
            intersection(container([[1.0, 2.0]]), container([[-1.0, 2.0]]))

    @pytest.mark.parametrize(
        ("name", "params", "expected"),
        [
            ("linear", None, lambda X, Y: X @ Y.T),
            ("rbf", {"gamma": 0.3}, lambda X, Y: rbf_kernel(X, Y, gamma=0.3)),
            ("polynomial", {"degree": 2}, lambda X, Y: polynomial_kernel(X, Y, degree=2)),
            (first_two, None, lambda X, Y: X[:, :2] @ Y[:, :2].T),
        ],
    )
    @pytest.mark.parametrize("container", [np.array, sparse.csr_array])
    def test_others_are_those_of_scikit_learn(self, name, params, expected, container):
        X, Y = counts(8)[0], counts(5, seed=1)[0]
        ours = Kernel(name, params)(container(X), container(Y))
        np.testing.assert_allclose(ours, expected(X, Y), rtol=1e-12)

    def test_a_bandwidth_is_that_of_the_notes(self):
        X, tau = counts(8)[0], 3.0
        squares = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
        ours = Kernel.of("rbf", {"bandwidth": tau})(X, X)
        np.testing.assert_allclose(ours, np.exp(-squares / (2.0 * tau**2)), rtol=1e-12)
        assert Kernel.of("rbf", {"gamma": 0.5}) == Kernel("rbf", {"gamma": 0.5})
        assert gamma_from_bandwidth(tau) == pytest.approx(1.0 / 18.0)

    @pytest.mark.parametrize(
        ("name", "params", "message"),
        [
            ("rbf", {"bandwidth": 0.0}, "bandwidth must be a number above zero, not 0.0"),
            ("rbf", {"bandwidth": 1.0, "gamma": 1.0}, "has both gamma and bandwidth"),
            ("rbf", [1.0], "kernel_params must be a dict"),
            (None, {"gamma": 1.0}, "without a kernel: name one"),
            ("gauss", None, "kernel must be None, 'linear', 'rbf'"),
        ],
    )
    def test_invalid_parameters_are_refused(self, name, params, message):
        with pytest.raises(ValueError, match=message):
            Kernel.of(name, params)

    def test_the_ridge_of_a_support_vector_machine(self):
        assert alpha_from_svc(10.0, 50) == pytest.approx(0.002)
        with pytest.raises(ValueError, match=r"C and n_rows must be above zero, not 0\.0 and 50"):
            alpha_from_svc(0.0, 50)
