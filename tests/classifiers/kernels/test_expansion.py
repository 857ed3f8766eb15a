import numpy as np
import pytest
from kernel_problems import cost, counts, rings
from scipy import sparse
from scipy.optimize import approx_fprime

from directrix import BetaBernoulliClassifier
from directrix.classifiers.kernels import Kernel, KernelExpansion

# Some samples are small.
pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.FewRowsWarning")


def first_two(x, y):
    return x[:2] @ y[:2]


class TestExpansion:
    @pytest.mark.parametrize("name", ["rbf", "linear", "min"])
    def test_coordinates_keep_scores_and_norm(self, name):
        X, _ = counts()
        space = KernelExpansion.from_rows(Kernel(name), X)
        weight = np.random.default_rng(1).normal(size=space.X.shape[1])
        a = space.coefficients(weight)
        np.testing.assert_allclose(space.columns @ a, space.X @ weight, atol=1e-7)
        assert a @ space.columns_for(space.rows) @ a == pytest.approx(weight @ weight)
        np.testing.assert_allclose(space.columns_for(X[:3]), space.columns[:3], atol=1e-12)
        np.testing.assert_array_equal(X[space.centers][space.center_index], X)

    def test_a_linear_kernel_has_as_many_coordinates_as_features(self):
        assert KernelExpansion.from_rows(Kernel("linear"), counts()[0]).X.shape == (90, 6)

    def test_rows_that_are_equal_have_one_coefficient(self):
        X, _ = counts(10)
        space = KernelExpansion.from_rows(Kernel("rbf"), np.vstack([X, X[:4]]))
        assert space.columns.shape == (14, 10)
        assert space.rows.shape == (10, 6)
        np.testing.assert_array_equal(space.columns[10:], space.columns[:4])

    def test_what_is_no_kernel_is_refused(self):
        with pytest.raises(
            ValueError, match="not positive semi-definite: its matrix has the eigenvalue"
        ):
            KernelExpansion.from_rows(lambda X, Y: -X @ Y.T, counts()[0])

    def test_what_is_not_finite_is_refused(self):
        with pytest.raises(ValueError, match="the kernel is not finite"):
            KernelExpansion.from_rows(
                lambda X, Y: np.log(X @ Y.T * 0.0 - 1.0), np.ones((2, 2)) * np.nan
            )

    def test_too_many_rows_are_told_what_to_do(self):
        with pytest.raises(ValueError, match=r"20001 rows are too many .*Nystroem"):
            KernelExpansion.from_rows(Kernel("rbf"), np.arange(20_001.0)[:, None])


class TestClassifier:
    @pytest.mark.parametrize("name", ["rbf", "polynomial"])
    def test_a_kernel_tells_rings_apart(self, name):
        X, y = rings()
        ours = BetaBernoulliClassifier(kernel=name).fit(X, y)
        new, truth = rings(500, seed=1)
        assert ours.score(new, truth) > 0.95
        assert BetaBernoulliClassifier().fit(X, y).score(new, truth) < 0.7
        assert not hasattr(ours, "coef_")

    @pytest.mark.parametrize("plateaus", ["robust", (0.05, 0.7), "learned"])
    def test_the_linear_kernel_is_the_linear_model(self, plateaus):
        X, y = counts()
        line = BetaBernoulliClassifier(plateaus=plateaus).fit(X, y)
        kernel = BetaBernoulliClassifier(plateaus=plateaus, kernel="linear").fit(X, y)
        new = counts(50, seed=1)[0]
        np.testing.assert_allclose(
            kernel.predict_proba(new), line.predict_proba(new), rtol=0, atol=1e-6
        )
        np.testing.assert_array_equal(kernel.predict(new), line.predict(new))

    @pytest.mark.parametrize("name", ["rbf", "min", "polynomial"])
    def test_the_coefficients_are_stationary(self, name):
        X, y = counts(40)
        ours = BetaBernoulliClassifier(kernel=name, alpha=0.5).fit(X, y)
        X, y = X[ours.support_], y[ours.support_]
        K = Kernel(name)(*[ours._units.rows(X)] * 2)
        point = np.append(ours.dual_coef_, ours.intercept_)
        grad = approx_fprime(point, lambda at: cost(K, y, (0.15, 0.7), 0.5, at), 1e-7)
        # Of a step from zero the gradient is hundreds of times that.
        start = approx_fprime(0.0 * point, lambda at: cost(K, y, (0.15, 0.7), 0.5, at), 1e-7)
        assert np.abs(grad).max() < 1e-4 * np.abs(start).max()
        scores = K @ point[:-1] + point[-1]
        np.testing.assert_allclose(ours.decision_function(X), scores, atol=1e-9)

    def test_rows_are_kept_as_they_were_given(self):
        X, y = rings()
        ours = BetaBernoulliClassifier(kernel="rbf").fit(X, y)
        assert sorted(ours.support_) == list(range(len(X)))
        np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])
        assert ours.n_support_ == len(X)
        assert ours.dual_coef_.shape == (1, len(X))

    @pytest.mark.parametrize("name", ["rbf", "min", "polynomial", first_two])
    def test_sparse_rows(self, name):
        X, y = counts()
        ours = BetaBernoulliClassifier(kernel=name).fit(sparse.csr_array(X), y)
        assert ours.score(sparse.csr_array(X), y) > 0.7
        if name in ("min", first_two):  # nothing is centred
            dense = BetaBernoulliClassifier(kernel=name).fit(X, y)
            np.testing.assert_allclose(
                dense.decision_function(X), ours.decision_function(sparse.csr_array(X)), atol=1e-6
            )

    def test_a_width_is_validated_with_the_ridge(self):
        X, y = rings()
        ours = BetaBernoulliClassifier(kernel="rbf", alpha=(0.1, 1e4)).fit(X, y)
        assert ours.alpha_ == 0.1
        assert ours.held_out_[0.1] < ours.held_out_[1e4] - 0.1
