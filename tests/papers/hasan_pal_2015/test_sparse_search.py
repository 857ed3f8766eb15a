import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import laplace, norm
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.papers import SparseKernelBetaBernoulliClassifier
from directrix.papers.hasan_pal_2015.search import ConstantObjective
from directrix.papers.hasan_pal_2015.sparse_prior import (
    GaussianLaplace,
    MixtureObjective,
    sparse_sla,
)

START = np.array([0.3, -0.3, 0.2, 0.1, -0.1, 0.0])
CONSTANTS = {"gamma_max": 20.0, "radius": 1.0, "spacing": 0.25}


def objective(seed=0, n=60, d=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = rng.random(n) < 1.0 / (1.0 + np.exp(-X[:, [0, 1]] @ [2.0, -1.5]))
    return ConstantObjective(X, y, np.ones(n), BetaBernoulli(0.4, 0.45), 0.02)


def printed(rows, start, stages=(1, 2, 3), rounds=20, updates=20, tol=1e-5):  # noqa: C901, PLR0912, PLR0915 - as one piece, like the paper's
    """Algorithms 1 and 3 written down line by line, with plain loops and densities."""
    n, d = rows.X.shape
    mixing, mean = rows.loss.mixing, rows.loss.prior_mean

    def density(a, prior):
        pi, variance, scale = prior
        wide, narrow = pi * norm.pdf(a, scale=variance**0.5), (1 - pi) * laplace.pdf(a, scale=scale)
        return wide, narrow

    def cost(w, gamma, prior):
        sigma = 1.0 / (1.0 + np.exp(-gamma * (rows.X @ w[:-1] + w[-1])))
        mu = mixing * mean + (1.0 - mixing) * sigma
        value = -np.log(np.where(rows.positive, mu, 1.0 - mu)).mean()
        outer = -np.where(rows.positive, 1.0 / mu, -1.0 / (1.0 - mu)) / n
        slope = outer * (1.0 - mixing) * gamma * sigma * (1.0 - sigma)
        grad = np.append(rows.X.T @ slope, slope.sum())
        for j in range(d):
            if prior is None:
                value += rows.ridge / 2 * w[j] ** 2
                grad[j] += rows.ridge * w[j]
                continue
            wide, narrow = density(w[j], prior)
            value -= np.log(wide + narrow) / n
            grad[j] += (wide * w[j] / prior[1] + narrow * np.sign(w[j]) / prior[2]) / (
                (wide + narrow) * n
            )
        return value, grad

    def vanilla(w, gamma, prior):
        (value, grad), length = cost(w, gamma, prior), 1.0
        for _ in range(200):
            norm_ = np.linalg.norm(grad)
            while True:
                trial = w - length / norm_ * grad
                new, new_grad = cost(trial, gamma, prior)
                if new <= value - 1e-4 * length * norm_ or length < 1e-12:
                    break
                length /= 2
            gain = value - new
            if gain <= 0:
                break
            w, value, grad, length = trial, new, new_grad, 2 * length
            if gain < tol * abs(value):
                break
        return w

    w, prior, R, spacing, gamma, count = start, None, 1.0, 0.25, 2.0, 0
    while gamma <= 20.0:
        for _ in range(rounds):
            count += 1
            if 1 in stages:
                w = vanilla(w, gamma, prior)
            size = abs(w[:-1])
            if prior is None:
                cluster = [bool(a < np.median(size)) for a in size]
            else:
                cluster = [bool(np.greater(*density(a, prior)[::-1])) for a in size]
            for _ in range(updates if 2 in stages else 1):
                wide = [w[j] for j in range(d) if not cluster[j]]
                near = [abs(w[j]) for j in range(d) if cluster[j]]
                prior = (
                    len(wide) / d,
                    np.mean(np.square(wide)) if wide else prior[1],
                    np.mean(near) if near else prior[2],
                )
                if 2 in stages:
                    w = vanilla(w, gamma, prior)
                before, cluster = (
                    cluster,
                    [bool(np.greater(*density(abs(a), prior)[::-1])) for a in w[:-1]],
                )
                if cluster == before:
                    break
            value, better = cost(w, gamma, prior)[0], None
            for i in range(d + 1) if 3 in stages else ():
                for k in range(1, int(R / spacing) + 1):
                    for step in (k * spacing, -k * spacing):
                        trial = w.copy()
                        trial[i] += step
                        if better is None and value - cost(trial, gamma, prior)[0] >= tol * abs(
                            value
                        ):
                            better = trial
                if better is not None:
                    break
            if better is None:
                break
            w = better
        gamma, R, spacing = 10 * gamma, R / 2, spacing / 2
    return w, np.array(cluster), prior, count


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_stage_is_run_as_printed(seed):
    rows, start = objective(seed), START
    ours = sparse_sla(rows, start, **CONSTANTS)
    w, narrow, prior, count = printed(rows, start)
    assert 0 < len(ours.kept) < 5
    np.testing.assert_array_equal(ours.kept, np.flatnonzero(~narrow))
    np.testing.assert_allclose(
        ours.coef, np.append(np.where(narrow, 0.0, w[:-1]), w[-1]), rtol=1e-6
    )
    assert (ours.prior.share, ours.prior.variance) == pytest.approx(prior[:2], rel=1e-6)
    assert ours.n_iter == count


@pytest.mark.parametrize("stages", [(2, 3), (1, 3), (1, 2)])
def test_each_stage_matters_there(stages):
    def change(seed):
        rows = objective(seed)
        return np.abs(printed(rows, START, stages)[0] - printed(rows, START)[0]).max()

    assert any(change(seed) > 1e-3 for seed in range(3))


def test_nothing_is_kept_from_zero_by_a_floor():
    coef, narrow = np.array([1e-9, -3e-9, 2.0]), np.array([True, True, False])
    prior = GaussianLaplace.of_clusters(coef, narrow, None)
    assert (prior.share, prior.variance, prior.scale) == pytest.approx((1 / 3, 4.0, 2e-9))
    one = GaussianLaplace.of_clusters(coef, np.ones(3, dtype=bool), prior)
    assert (one.share, one.variance) == (0.0, 4.0)
    assert one.more_laplacian(np.abs(coef)).all()
    assert np.isfinite(one(np.abs(coef))[0]).all()


@pytest.mark.parametrize("prior", [None, GaussianLaplace(0.4, 2.0, 0.1)])
def test_the_objective_has_the_gradient_and_the_probes_of_its_values(prior):
    ours = MixtureObjective(objective(), prior)
    coef = np.array([0.5, -0.3, 0.02, 1.0, -0.01, 0.2])
    expected = approx_fprime(coef, lambda at: ours(at)[0], 1e-8)
    np.testing.assert_allclose(ours(coef)[1], expected, rtol=0, atol=1e-6)
    offsets = np.array([0.1, -0.1, 2.0])
    for index in (0, 4, 5):
        values = [ours(coef + offset * np.eye(6)[index])[0] for offset in offsets]
        np.testing.assert_allclose(ours.probe(coef, index, offsets), values, rtol=1e-12)


def test_with_a_kernel_the_coefficients_of_few_rows_are_kept(figure):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2 == 0
    angle, radius = rng.uniform(0.0, 2.0 * np.pi, 80), np.where(y, 2.0, 1.0)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    X += 0.2 * rng.normal(size=X.shape)
    X /= X.std(axis=0)
    model = SparseKernelBetaBernoulliClassifier(lam=0.01).fit(X, y)
    figure(f"rings: {len(model.support_)} of 80 rows, accuracy {model.score(X, y):.3f}")
    assert 1 <= len(model.support_) < 40
    assert model.score(X, y) > 0.9
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


@pytest.mark.parametrize(
    ("lam", "kept", "least", "warning"),
    [
        (1.0, 0, 0.5, "followed every coefficient to zero.*smaller lam"),
        (1e-4, 60, 0.9, "did not become narrow.*greater lam"),
    ],
)
def test_no_model_is_worse_than_chance(lam, kept, least, warning):
    X, y = make_moons(60, noise=0.2, random_state=2)
    model = SparseKernelBetaBernoulliClassifier(lam=lam)
    with pytest.warns(ConvergenceWarning, match=warning):
        model.fit(X, y)
    assert len(model.support_) == kept
    assert model.score(X, y) >= least
