import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from directrix import BetaBernoulliClassifier
from directrix.exceptions import FewRowsWarning
from directrix.fitting.training_rows import Standardization
from directrix.linear import ZeroOne
from directrix.linear.beta_bernoulli import BetaBernoulli


def rows(n=300, d=4, seed=0, share=0.4):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.2 * y
    X[:, 1] -= 0.5 * y
    return X, y


def standardized(n=300, **options):
    X, y = rows(n, **options)
    return Standardization.robust(X, np.ones(len(X))).rows(X), y


def cost(X, y, model, alpha, point):
    """Eq. 39, written down once more."""
    a, b = model
    mu = a + b / (1.0 + np.exp(-(X @ point[:-1] + point[-1])))
    return -np.log(np.where(y, mu, 1.0 - mu)).sum() + alpha / 2 * (point[:-1] ** 2).sum()


@pytest.mark.filterwarnings("ignore::directrix.exceptions.ChangedColumnsWarning")  # far rows
@pytest.mark.parametrize("positive", [False, True])
def test_plateaus_bound_the_probability_of_the_positive_label(positive):
    X, y = rows()
    model = BetaBernoulliClassifier(positive=positive, plateaus=(0.05, 0.7), alpha=0.01)
    probability = model.fit(X, y).predict_proba(100.0 * X)[:, int(positive)]
    assert (probability.min(), probability.max()) == pytest.approx((0.05, 0.75), abs=1e-6)


def test_a_line_knows_the_scales_of_its_features_and_an_expansion_has_none():
    X, y = rows()
    X[:, 2] *= 30.0
    line, expansion = (
        BetaBernoulliClassifier(kernel=kernel, alpha=1.0, plateaus=(0.02, 0.95)).fit(X, y)
        for kernel in (None, "rbf")
    )
    np.testing.assert_allclose(line.feature_scales_, X.std(axis=0), rtol=1e-12)
    assert not hasattr(expansion, "feature_scales_")


def test_held_out_losses_are_means_over_the_rows_of_all_folds():
    X, y = rows(share=0.3)
    model = BetaBernoulliClassifier(alpha=(1.0, 1e9), plateaus=(0.0, 1.0)).fit(X, y)
    # With such a ridge every row has the same probability, the share of positives or one half.
    share = y.mean()
    entropy = -share * np.log(share) - (1.0 - share) * np.log(1.0 - share)
    assert 0.98 * entropy < model.held_out_[1e9] < 1.05 * np.log(2.0)
    assert 0.3 * entropy < model.held_out_[1.0] < entropy


class TestLinear:
    @pytest.mark.parametrize("alpha", [0.1, 1.0, 10.0])
    def test_without_plateaus_it_is_logistic_regression(self, alpha):
        X, y = standardized()
        weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
        ours = BetaBernoulliClassifier(plateaus=(0.0, 1.0), alpha=alpha)
        theirs = LogisticRegression(C=1 / alpha, solver="newton-cholesky", tol=1e-10)
        # So that its own units change nothing: of weighted rows they are weighted.
        X = Standardization.robust(X, weight).rows(X)
        ours.fit(X, y, weight)
        theirs.fit(X, y, weight)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-6)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=1e-6)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-6)

    @pytest.mark.parametrize("plateaus", ["robust", "weak", "empirical", (0.05, 0.8)])
    def test_the_line_is_stationary_for_the_objective_of_the_paper(self, plateaus):
        X, y = standardized()
        ours = BetaBernoulliClassifier(plateaus=plateaus, alpha=2.0).fit(X, y)
        point = np.append(ours.coef_, ours.intercept_ + ours._shift)

        def paper(at):
            return cost(X, y, ours.plateaus_, 2.0, at)

        assert np.abs(approx_fprime(point, paper, 1e-6)).max() < 1e-2
        # And least, as far as another descent from there can see.
        assert minimize(paper, point, method="Nelder-Mead").fun > paper(point) - 1e-6

    def test_the_ridge_is_of_standardised_features(self):
        X, y = rows()
        ours = BetaBernoulliClassifier().fit(X, y)
        other = BetaBernoulliClassifier().fit(X * [1.0, 1e4, 1e-3, 1.0] + 7.0, y)
        scores = other.decision_function(X * [1.0, 1e4, 1e-3, 1.0] + 7.0)
        np.testing.assert_allclose(scores, ours.decision_function(X), atol=1e-6)

    def test_sparse_rows_give_the_line_of_dense_ones_scaled_alone(self):
        X, y = rows()
        X[np.abs(X) < 0.5] = 0.0
        ours = BetaBernoulliClassifier().fit(sparse.csr_array(X), y)
        scale = np.abs(X).max(axis=0)
        point = np.append(ours.coef_ * scale, ours.intercept_)
        grad = approx_fprime(point, lambda at: cost(X / scale, y, (0.15, 0.7), 1.0, at), 1e-6)
        assert np.abs(grad).max() < 1e-2

    def test_a_weight_is_a_repetition(self):
        X, y = rows()
        weight = np.random.default_rng(1).integers(0, 4, len(y))
        ours = BetaBernoulliClassifier(plateaus="learned").fit(X, y, weight)
        index = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weight))
        theirs = BetaBernoulliClassifier(plateaus="learned").fit(X[index], y[index])
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


class TestProbabilities:
    @pytest.mark.filterwarnings("ignore::directrix.exceptions.ChangedColumnsWarning")  # far rows
    @pytest.mark.parametrize("plateaus", ["robust", "weak", "empirical", "learned", (0.05, 0.7)])
    def test_they_stay_between_the_plateaus_and_predict_the_more_probable(self, plateaus):
        X, y = rows()
        ours = BetaBernoulliClassifier(plateaus=plateaus).fit(X, y)
        far = np.vstack([100.0 * X, X, 0.01 * X])
        mu = ours.predict_proba(far)
        a, b = ours.plateaus_
        assert mu[:, 1].min() >= a > 0
        assert mu[:, 1].max() <= a + b + 1e-15 < 1
        assert mu[:, 1].min() < a + 0.01
        assert mu[:, 1].max() > a + b - 0.01
        np.testing.assert_allclose(mu.sum(axis=1), 1.0, rtol=1e-15)
        np.testing.assert_array_equal(ours.predict(far), mu[:, 1] > 0.5)
        np.testing.assert_array_equal(ours.decision_function(far) > 0, mu[:, 1] > 0.5)

    def test_they_are_the_models_own(self):
        X, y = rows()
        ours = BetaBernoulliClassifier(plateaus=(0.05, 0.7)).fit(X, y)
        # Asymmetric: the score is zero at one half, and the model's own is elsewhere.
        scores = ours.decision_function(X) + np.log(0.45 / 0.25)
        np.testing.assert_allclose(ours.predict_proba(X)[:, 1], 0.05 + 0.7 * expit(scores))

    @pytest.mark.filterwarnings("ignore::directrix.exceptions.ChangedColumnsWarning")  # far rows
    @pytest.mark.parametrize(("plateaus", "label"), [((0.0, 0.4), "no"), ((0.6, 0.3), "yes")])
    def test_on_one_side_of_one_half_there_is_one_class_and_a_warning(self, plateaus, label):
        X, y = rows()
        y = np.where(y, "yes", "no")
        ours = BetaBernoulliClassifier(plateaus=plateaus)
        with pytest.warns(UserWarning, match=f"every row is predicted '{label}': .* one half"):
            ours.fit(X, y)
        assert set(ours.predict(100.0 * X)) == {label}
        assert ((ours.decision_function(X) > 0) == (label == "yes")).all()
        mu = ours.predict_proba(X)[:, 1]
        assert mu.min() >= plateaus[0]
        assert mu.max() <= sum(plateaus)
        assert mu[y == "yes"].mean() > mu[y == "no"].mean() + 0.01


def test_as_gamma_grows_the_loss_becomes_the_error():
    # Section 3: s (L - c), which takes the plateaus to 0 and 1.
    X, y = rows()
    scores = X[:, 0] - 0.3
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    error = ZeroOne().value_and_grad(y, scores, weight)[0]
    far = []
    for gamma in (1.0, 10.0, 1e2, 1e6):
        loss = BetaBernoulli(0.3, 0.5, gamma)
        value = loss.value_and_grad(y, scores, weight)[0]
        far.append(abs((value - loss.best) / (loss.worst - loss.best) - error))
    assert far == sorted(far, reverse=True)
    assert far[0] > 0.02
    assert far[-1] < 1e-9


def with_outliers(X, y, rng):
    """A tenth more rows, up to ten deviations away, with random labels."""
    n = len(y) // 10
    far = X.mean(axis=0) + X.std(axis=0) * rng.uniform(-10.0, 10.0, (n, X.shape[1]))
    return np.vstack([X, far]), np.append(y, rng.integers(0, 2, n))


def test_far_outliers_turn_logistic_regression_and_not_this(figure):
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    rivals = [
        BetaBernoulliClassifier(),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ]
    errors = []
    for seed in range(3):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
            noisy = with_outliers(X[train], y[train], rng)
            fitted = [clone(classifier).fit(*noisy) for classifier in rivals]
            errors.append([1.0 - classifier.score(X[test], y[test]) for classifier in fitted])
    ours, theirs = np.mean(errors, axis=0)
    figure(f"breast, 10 % far outliers: error {ours:.3f}, logistic regression {theirs:.3f}")
    assert ours < 0.035
    assert ours < 0.85 * theirs


class TestRidge:
    def test_of_several_the_least_held_out_loss_chooses(self):
        X, y = rows(120, 30)
        ours = BetaBernoulliClassifier(alpha=(0.01, 10.0, 1e4)).fit(X, y)
        assert set(ours.held_out_) == {0.01, 10.0, 1e4}
        assert ours.alpha_ == min(ours.held_out_, key=ours.held_out_.get) == 10.0
        alone = BetaBernoulliClassifier(alpha=10.0).fit(X, y)
        np.testing.assert_array_equal(ours.coef_, alone.coef_)
        assert alone.held_out_ == {}

    def test_the_loss_is_that_of_rows_held_out(self):
        # Labels without any pattern: on its own rows the weakest ridge would be best.
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(60, 20)), np.arange(60) % 2
        ours = BetaBernoulliClassifier(alpha=(1e-3, 1e3)).fit(X, y)
        assert ours.alpha_ == 1e3
        assert ours.held_out_[1e-3] > ours.held_out_[1e3] + 0.05

    def test_each_starts_from_logistic_regression_whatever_the_others_are(self):
        X, y = rows()
        many = BetaBernoulliClassifier(alpha=(1e4, 1.0)).fit(X, y)
        few = BetaBernoulliClassifier(alpha=(1.0, 1e5)).fit(X, y)
        assert many.held_out_[1.0] == few.held_out_[1.0]

    def test_too_few_rows_to_hold_any_out(self):
        X, y = np.array([[0.0], [1.0]]), [0, 1]
        with pytest.warns(FewRowsWarning, match="one row only"):
            assert BetaBernoulliClassifier(alpha="auto").fit(X, y).held_out_ == {}


class TestLearned:
    def test_plateaus_of_flipped_labels_are_found(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(3000, 2))
        truth = X[:, 0] > 0
        y = truth ^ (rng.random(3000) < np.where(truth, 0.05, 0.2))
        ours = BetaBernoulliClassifier(plateaus="learned").fit(X, y)
        a, b = ours.plateaus_
        assert a == pytest.approx(0.2, abs=0.03)
        assert a + b == pytest.approx(0.95, abs=0.03)
        assert (ours.predict(X) == truth).mean() > 0.97

    def test_gamma_and_the_ridge_are_one(self):
        X, y = standardized()
        weight = np.ones(len(y))
        ours = BetaBernoulliClassifier(alpha=1.0).fit(X, y)
        # The same line, twice as long, in a loss half as sharp and a quarter of the ridge.
        slope = BetaBernoulli(0.3, 0.5, 0.5).value_and_grad(
            y, 2.0 * ours.decision_function(X), weight
        )[1]
        left = len(y) * (X.T @ slope) + 0.25 * 2.0 * ours.coef_[0]
        assert np.abs(left).max() < 1e-5


def test_the_least_training_error_is_a_matter_of_the_solver():
    X, y = rows(150, 2)
    smooth = BetaBernoulliClassifier(plateaus="empirical").fit(X, y)
    sharp = BetaBernoulliClassifier(plateaus="learned", solver="slam").fit(X, y)
    assert sharp.score(X, y) >= smooth.score(X, y)
    # Its gamma is the most likely: neither of its neighbours is better.
    scores, weight = sharp.decision_function(X) + sharp._shift, np.ones(len(y))
    middle = sharp.loss_.gamma
    values = [
        BetaBernoulli(sharp.loss_.mixing, sharp.loss_.prior_mean, gamma).value_and_grad(
            y, scores, weight
        )[0]
        for gamma in (0.9 * middle, middle, 1.1 * middle)
    ]
    assert values[1] <= min(values) + 1e-9


def test_a_fit_with_another_kernel_leaves_nothing_of_the_last():
    X, y = rows(60)
    ours = BetaBernoulliClassifier().fit(X, y)
    ours.set_params(kernel="rbf").fit(X, y)
    assert not hasattr(ours, "coef_")
    ours.set_params(kernel=None).fit(X, y)
    assert not hasattr(ours, "dual_coef_")
    np.testing.assert_array_equal(ours.coef_, BetaBernoulliClassifier().fit(X, y).coef_)


def test_only_the_intersection_wants_features_that_are_never_negative():
    for kernel, only in (("min", True), ("rbf", False), (np.dot, False), (None, False)):
        tags = BetaBernoulliClassifier(kernel=kernel).__sklearn_tags__()
        assert tags.input_tags.positive_only is only


WRONG = {
    "plateaus must be": {"plateaus": "strong"},
    "alpha must be 'auto' or numbers from zero up": {"alpha": -1.0},
    "kernel must be None, 'linear', 'rbf'": {"kernel": "sigmoid"},
    "without a kernel": {"kernel_params": {"gamma": 1.0}},
    "kernel_params must be a dict": {"kernel": "rbf", "kernel_params": 3.0},
    "prior must be one of 'gaussian', 'gaussian-coefficients'": {"prior": "laplace"},
    "solver must be one of 'lbfgs', 'sgd'": {"solver": "newton"},
    "'sgd' learns no plateaus": {"solver": "sgd", "kernel": "rbf", "plateaus": "learned"},
    "'sgd' learns no plateaus and has no prior 'gaussian-laplace'": {
        "solver": "sgd",
        "kernel": "rbf",
        "prior": "gaussian-laplace",
    },
    "class_weight must be": {"class_weight": "heavy"},
}


@pytest.mark.parametrize(
    ("message", "parameters"), WRONG.items(), ids=lambda classifier: str(classifier)[:30]
)
def test_what_cannot_be_is_refused_in_words(message, parameters):
    X, y = rows(40)
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        BetaBernoulliClassifier(**parameters).fit(X, y)
