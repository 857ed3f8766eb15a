import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import laplace, norm

from directrix import BetaBernoulliClassifier
from directrix.classifiers.beta_bernoulli.sparse_prior import (
    GaussianLaplace,
    PenalizedInterceptObjective,
    SparseObjective,
    prune,
)
from directrix.linear.beta_bernoulli import BetaBernoulli

PRIOR = GaussianLaplace(0.4, 2.0, 0.1)


def few_of_many(n=400, d=20, seed=0):
    """Three features that matter, seventeen that do not."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = rng.random(n) < 1.0 / (1.0 + np.exp(-X[:, [2, 5, 11]] @ [2.0, -2.0, 1.5]))
    return X, y


def objective():
    X, y = few_of_many(100, 12)
    return PenalizedInterceptObjective(
        X[:, [0, 2, 3, 5, 11]], y, np.ones(100), BetaBernoulli(0.3), 0.0
    )


class TestPrior:
    def test_it_is_a_mixture_of_densities(self):
        a = np.array([-3.0, -0.2, 0.0, 0.01, 1.0])
        density = 0.4 * norm.pdf(a, scale=2.0**0.5) + 0.6 * laplace.pdf(a, scale=0.1)
        np.testing.assert_allclose(PRIOR(np.abs(a))[0], -np.log(density), rtol=1e-13)

    def test_its_slope_is_that_of_finite_differences(self):
        for size in (1e-3, 0.1, 0.4, 0.6, 3.0):
            expected = approx_fprime([size], lambda at: PRIOR(at)[0][0], 1e-8)
            assert PRIOR(np.array([size]))[1] == pytest.approx(expected, rel=1e-5)

    def test_far_out_it_is_the_gaussians_and_near_zero_the_laplacians(self):
        coef = np.array([0.0, 0.05, -0.05, 2.0, -2.0])
        assert PRIOR.narrow(coef).tolist() == [True, True, True, False, False]
        assert PRIOR(np.array([10.0]))[1] == pytest.approx(10.0 / 2.0)
        # Beyond 2σ²/b the Laplacian's tail is the heavier, and none of it is near zero.
        assert PRIOR(np.array([1e3]))[1] == pytest.approx(1.0 / 0.1)
        assert not PRIOR.narrow(np.array([1e3, -1e3])).any()

    def test_a_hard_step_fits_each_part_to_its_own(self):
        coef, narrow = np.array([0.1, -0.3, 2.0, 4.0, 3.0]), np.array([True] * 2 + [False] * 3)
        fitted = PRIOR.fitted(coef, narrow, 0.0)
        assert fitted.share == pytest.approx(4 / 7)
        assert fitted.variance == pytest.approx(29 / 3)
        assert fitted.scale == pytest.approx(0.2)
        assert fitted.near(fitted)
        assert not fitted.near(PRIOR)

    def test_widths_have_a_least(self):
        coef, narrow = np.array([0.0, 0.0, 0.5]), np.array([True, True, False])
        fitted = PRIOR.fitted(coef, narrow, 4.0)
        assert fitted.variance == 4.0
        assert fitted.scale == 0.05  # half of before
        assert fitted.share == 0.5
        nothing = PRIOR.fitted(coef, np.array([True] * 3), 0.0)
        assert nothing.variance == PRIOR.variance


class TestObjective:
    def test_its_gradient_is_that_of_finite_differences(self):
        ours = SparseObjective(objective(), PRIOR)
        point = np.random.default_rng(0).uniform(0.05, 0.5, 11)
        expected = approx_fprime(point, lambda at: ours(at)[0], 1e-8)
        np.testing.assert_allclose(ours(point)[1], expected, rtol=0, atol=1e-6)

    def test_it_is_the_posterior_of_the_paper(self):
        rows = objective()
        coef = np.array([0.5, -0.3, 0.0, 1.0, -2.0, 0.1])
        point = np.concatenate([np.maximum(coef[:-1], 0), np.maximum(-coef[:-1], 0), coef[-1:]])
        value = 100 * SparseObjective(rows, PRIOR)(point)[0]
        mu = 0.15 + 0.7 / (1.0 + np.exp(-rows.scores(coef)))
        density = 0.4 * norm.pdf(coef[:-1], scale=2.0**0.5) + 0.6 * laplace.pdf(
            coef[:-1], scale=0.1
        )
        log_likelihood = np.log(np.where(rows.positive, mu, 1.0 - mu)).sum()
        assert value == pytest.approx(-log_likelihood - np.log(density).sum())

    def test_zeros_are_exact(self):
        ours = SparseObjective(objective(), GaussianLaplace(0.5, 1.0, 0.01))
        coef = ours.minimized(np.append(np.full(5, 0.02), 0.0))
        assert (coef[:-1] == 0.0).any()


class TestPruning:
    def test_features_that_do_not_matter_go(self):
        X, y = few_of_many()
        ours = BetaBernoulliClassifier(plateaus="weak", prior="gaussian-laplace").fit(X, y)
        assert {2, 5, 11} <= set(ours.support_.tolist())
        assert ours.n_support_ == len(ours.support_) <= 5
        np.testing.assert_array_equal(np.flatnonzero(ours.coef_[0]), ours.support_)
        new, truth = few_of_many(2000, seed=1)
        ridge = BetaBernoulliClassifier(plateaus="weak").fit(X, y)
        assert np.count_nonzero(ridge.coef_) == ridge.n_support_ == 20
        assert ridge.prior_ is None
        assert ours.score(new, truth) > ridge.score(new, truth) - 0.005

    def test_what_is_kept_is_not_shrunk_towards_zero_as_by_a_lasso(self):
        X, y = few_of_many(4000)
        ours = BetaBernoulliClassifier(plateaus="weak", prior="gaussian-laplace").fit(X, y)
        np.testing.assert_allclose(ours.coef_[0, [2, 5, 11]], [2.0, -2.0, 1.5], atol=0.35)

    def test_the_gaussian_is_as_wide_as_what_it_keeps(self):
        rows = objective()
        pruned = prune(rows, np.append(np.ones(5), 0.0), 1e-3)
        assert pruned.prior.variance == pytest.approx(
            np.mean(pruned.coef[pruned.kept] ** 2), rel=0.1
        )

    def test_of_a_kernel_few_rows_are_kept(self, figure):
        rng = np.random.default_rng(0)
        y = np.arange(200) % 2 == 0
        angle = rng.uniform(0.0, 2.0 * np.pi, 200)
        radius = np.where(y, 2.0, 1.0) + 0.2 * rng.normal(size=200)
        X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
        ours = BetaBernoulliClassifier(kernel="rbf", prior="gaussian-laplace").fit(X, y)
        figure(f"rings: {ours.n_support_} of 200 rows kept, accuracy {ours.score(X, y):.3f}")
        assert 1 <= ours.n_support_ <= 40
        assert ours.score(X, y) > 0.95
        np.testing.assert_array_equal(ours.support_vectors_, X[ours.support_])
        assert ours.dual_coef_.shape == (1, ours.n_support_)

    def test_where_nothing_matters_nothing_may_be_left(self):
        rng = np.random.default_rng(1)
        X, y = rng.normal(size=(200, 8)), np.arange(200) % 2
        for kernel in (None, "rbf"):
            ours = BetaBernoulliClassifier(kernel=kernel, prior="gaussian-laplace").fit(X, y)
            assert ours.n_support_ <= 4
            assert np.isfinite(ours.decision_function(X)).all()

    def test_a_constant_feature_is_one_that_does_not_matter(self):
        X, y = few_of_many(100, 12)
        X[:, 0] = 7.0
        ours = BetaBernoulliClassifier(prior="gaussian-laplace").fit(X, y)
        assert 0 not in ours.support_

    def test_without_a_ridge_there_is_nothing_to_begin_with(self):
        X, y = few_of_many(200, 12)
        with pytest.raises(ValueError, match="starts from a ridge: give alpha above zero"):
            BetaBernoulliClassifier(alpha=0.0, prior="gaussian-laplace").fit(X, y)
