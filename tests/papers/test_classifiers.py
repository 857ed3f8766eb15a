"""The papers' classifiers: scikit-learn's checks, and what each minimises."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import directrix.papers
from directrix import Moments
from directrix.datasets import load_heart
from directrix.linear.objectives import DataObjective
from directrix.moments.risks import CostRisk, RankingRisk
from directrix.papers import (
    BetaBernoulliClassifier,
    KernelBetaBernoulliClassifier,
    MarginLossClassifier,
    NormalErrorClassifier,
    NormalRankingClassifier,
    PlateauClassifier,
    SLAClassifier,
    SmoothedPRBEPClassifier,
    SmoothedROCAreaClassifier,
    SparseKernelBetaBernoulliClassifier,
    VertexSearchClassifier,
)
from directrix.papers.base import Remembered, WithoutIntercept
from directrix.papers.chuang_2017 import LOSSES
from directrix.papers.ghanbari_li_scheinberg_2019 import wolfe_lbfgs
from directrix.papers.ghanbari_scheinberg_2018 import descent
from directrix.papers.moment_risk import MomentObjective, part_of_mean

FAST = {
    BetaBernoulliClassifier: {"variant": "BBLR2"},
    MarginLossClassifier: {"max_iter": 20},
    KernelBetaBernoulliClassifier: {"variant": "BBLR2"},
    # Under a stronger λ the prior may follow every coefficient to zero, under a weaker one none.
    SparseKernelBetaBernoulliClassifier: {"lam": 1e-2},
    VertexSearchClassifier: {"max_steps": 20},
}
CLASSES = [getattr(directrix.papers, name) for name in directrix.papers.__all__]
OF_MOMENTS = [each for each in CLASSES if hasattr(each, "fit_summary")]


def rows(n=200, d=4, seed=0, share=0.4):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < share
    X = rng.normal(size=(n, d))
    X[:, 0] += 1.5 * y
    X[:, 1] *= 1.0 + y
    return X, y


@pytest.mark.filterwarnings("ignore::UserWarning")
@parametrize_with_checks([each(**FAST.get(each, {})) for each in CLASSES])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("each", OF_MOMENTS)
@pytest.mark.parametrize("intercept", [False, True])
def test_a_summary_gives_the_fit_to_its_rows(each, intercept):
    X, y = rows()
    labels = np.where(y, "yes", "no")
    model = each(fit_intercept=intercept).fit(X, labels)
    of_summary = clone(model).fit_summary(Moments.of(X, labels))
    np.testing.assert_allclose(of_summary.coef_, model.coef_, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(of_summary.intercept_, model.intercept_, rtol=1e-6, atol=1e-12)
    assert of_summary.classes_.tolist() == ["no", "yes"]
    assert (model.intercept_[0] == 0.0) == (not intercept)
    np.testing.assert_array_equal(of_summary.predict(X), model.predict(X))


@pytest.mark.parametrize("each", [NormalErrorClassifier, NormalRankingClassifier])
def test_both_solvers_reach_the_same_risk(each):
    X, y = rows(400)
    first, second = (each(solver=solver, tol=1e-7).fit(X, y) for solver in ("lbfgs", "newton-cg"))
    assert first.solution_.value == pytest.approx(second.solution_.value, abs=1e-9)


def test_the_first_step_does_not_jump_onto_the_plateau():
    # One row in twenty is positive, and a first step of length one, or of that of the gradient,
    # ends where every row is of one class: at .05, a minimum without slope.
    for seed in range(10):
        y = np.arange(1000) < 50
        X = 0.3 * (np.random.default_rng(seed).normal(size=(1000, 3)) + 1.5 * y[:, None])
        model = NormalErrorClassifier().fit(np.column_stack([X, np.full(1000, 2.0)]), y)
        assert model.solution_.value < 0.035
        assert model.predict(np.column_stack([X, np.full(1000, 2.0)])).any()


def test_gradient_descent_goes_on_where_values_differ_by_rounding_only():
    table, y = load_heart()
    X = scale(table[["max_heart_rate", "st_depression", "vessels"]])
    calls = []

    def counted(coef):
        calls.append(coef)
        return objective(coef)

    moments = Moments.of(X, y)
    objective = WithoutIntercept(MomentObjective(moments, CostRisk()))
    start = part_of_mean(moments.positive.mean, moments.negative.mean)
    solution = descent(counted, start, tol=1e-7)
    # The last steps lower F by less than 1e-17 of 0.2.
    assert solution.converged
    assert len(calls) <= solution.n_iter + 5


def test_a_point_is_evaluated_once():
    X, y = rows()
    calls = []

    def counted(coef):
        calls.append(coef.copy())
        return MomentObjective(Moments.of(X, y), RankingRisk(), 1e-3)(np.append(coef, 0.0))

    def objective(coef):
        value, gradient = counted(coef)
        return value, gradient[:-1]

    wolfe_lbfgs(objective, np.ones(4))
    assert len({call.tobytes() for call in calls}) == len(calls)
    remembered = Remembered(objective)
    before, point = len(calls), np.ones(4)
    assert remembered.value(point) == remembered(point)[0]
    remembered.gradient(point)
    assert len(calls) == before + 1


@pytest.mark.parametrize("each", [SmoothedPRBEPClassifier, SmoothedROCAreaClassifier])
def test_smoothed_risks_are_minimised_to_epsilon_by_all_solvers(each):
    X, y = rows(share=0.1)
    fits = [
        each(lam=1e-2, epsilon=1e-4, solver=solver, tol=tol).fit(X, y)
        for solver, tol in (("lbfgs", 1e-6), ("nesterov", 1e-5), ("bundle", 1e-6))
    ]
    exact = DataObjective(X, y, np.ones(len(y)), each._loss(0.0), 1e-2)
    values = [exact(np.append(fit.coef_[0], 0.0))[0] for fit in fits]
    assert max(values) - fits[2].solution_.lower_bound <= 1e-4 + 1e-5


def test_at_the_break_even_intercept_as_many_are_predicted_positive_as_are():
    X, y = rows()
    model = SmoothedPRBEPClassifier(fit_intercept=True).fit(X, y)
    assert model.predict(X).sum() == y.sum()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_slope_at_a_margin_is_that_of_the_loss(loss):
    of_all, slope = LOSSES[loss]
    margins = np.array([-600.0, -2.0, 0.0, 0.5, 1.5, 600.0])
    np.testing.assert_allclose(
        [slope(z) for z in margins], of_all.of_margin(margins)[1], rtol=1e-12
    )


@pytest.mark.parametrize("kernel", [None, "rbf", "min"])
@pytest.mark.parametrize("loss", LOSSES)
def test_stochastic_gradients_approach_the_minimum(loss, kernel):
    X, y = rows(80)
    X = np.abs(X)
    model = MarginLossClassifier(
        loss, kernel=kernel, tau=2.0, lam=1e-3, fit_intercept=True, random_state=0, max_iter=200
    )
    exact = clone(model).set_params(solver="exact").fit(X, y)
    model.fit(X, y)
    start, best, reached = (
        exact_value(exact, X, y, 0),
        exact_value(exact, X, y),
        model.solution_.value,
    )
    assert reached == pytest.approx(exact_value(model, X, y), rel=1e-9)
    # The steps of the exponential loss are as short as its steepest slopes ask for.
    gained = 0.1 if loss == "exponential" else 0.5
    assert best - 1e-4 <= reached < start - gained * (start - best)


def exact_value(model, X, y, factor=1.0):
    """Return J of the fitted function times a factor, written down."""
    scores = factor * model.decision_function(X)
    loss = LOSSES[model.loss][0]
    value = loss.of_margin(np.where(y, scores, -scores))[0].mean()
    if model.kernel is None:
        return value + model.lam / 2 * factor**2 * float(model.coef_[0] @ model.coef_[0])
    inside = model.decision_function(model.support_vectors_) - model.intercept_[0]
    return value + model.lam / 2 * factor**2 * float(model.dual_coef_[0] @ inside)


def test_the_hinge_is_a_support_vector_machine():
    X, y = rows(120)
    lam = 0.01
    exact = {"loss": "hinge", "lam": lam, "solver": "exact"}
    line = MarginLossClassifier(**exact).fit(X, y)
    C = 1.0 / (lam * len(y))
    theirs = LinearSVC(C=C, loss="hinge", fit_intercept=False, max_iter=100_000, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(line.coef_, theirs.coef_, atol=0.02)
    kernel = MarginLossClassifier(**exact, kernel="rbf", tau=1.0, fit_intercept=True).fit(X, y)
    svm = SVC(C=C, gamma=0.5, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(kernel.decision_function(X), svm.decision_function(X), atol=0.05)


def test_a_large_penalty_of_kernel_steps_is_warned_of():
    X, y = rows(60)
    model = MarginLossClassifier(kernel="rbf", tau=5.0, lam=10.0)
    with (
        pytest.warns(ConvergenceWarning, match="lam=10 is large"),
        pytest.raises(ValueError, match="diverged"),
    ):
        model.fit(X, y)


def test_plateaus_are_those_of_the_likelihood():
    X, y = rows()
    model = PlateauClassifier((0.1, 0.7), lam=0.5).fit(X, y)

    def cost(point):  # eq. 39
        mu = 0.1 + 0.7 / (1.0 + np.exp(-(X @ point[:-1] + point[-1])))
        return -np.log(np.where(y, mu, 1.0 - mu)).sum() + 0.25 * point[:-1] @ point[:-1]

    point = model._coef
    assert np.abs(approx_fprime(point, cost, 1e-7)).max() < 1e-3
    assert minimize(cost, point).fun == pytest.approx(cost(point), abs=1e-6)
    probability = model.predict_proba(X)[:, 1]
    assert 0.1 <= probability.min() <= probability.max() <= 0.8
    np.testing.assert_array_equal(probability > 0.5, model.decision_function(X) > 0)


@pytest.mark.parametrize(
    "model",
    [
        SLAClassifier(fit_intercept=False),
        BetaBernoulliClassifier("BBLR1", fit_intercept=False),
        KernelBetaBernoulliClassifier("BBLR1", kernel="linear", lam=0.1, fit_intercept=False),
        SparseKernelBetaBernoulliClassifier(
            "BBLR1", kernel="linear", lam=1e-3, fit_intercept=False
        ),
    ],
)
def test_without_an_intercept_the_score_of_a_mirrored_row_has_the_other_sign(model):
    X, y = rows(40, share=0.2)
    model.fit(X, y)
    np.testing.assert_allclose(
        model.decision_function(-X), -model.decision_function(X), rtol=0, atol=1e-12
    )


def test_the_kernel_model_predicts_by_its_probability():
    X, y = rows(40)
    model = KernelBetaBernoulliClassifier("BBLR2", lam=0.1).fit(X, y)
    probability = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(probability > 0.5, model.predict(X))
    np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
    assert model.score(X, y) > 0.9


def test_the_vertex_search_makes_no_more_errors_than_its_start():
    X, y = rows(60)
    model = VertexSearchClassifier(max_steps=100).fit(X, y)
    assert (model.predict(X) != y).sum() == model.solution_.value <= model.solution_.history[0]
