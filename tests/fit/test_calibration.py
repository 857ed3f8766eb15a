import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from directrix.fit.compare import FIRST_ROWS
from directrix.fit.evidence import calibration_of
from directrix.fit.normal_scores import calibration_from_moments
from directrix.fit.operating_point import Calibration, calibration_from_scores
from directrix.fit.training_rows import Rows
from directrix.moments.projection import ScoreMoments

GRID = np.linspace(-8.0, 8.0, 401)


def scored(n=500, gap=1.5, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    scores = rng.normal(size=n) * np.where(positive, 1.5, 1.0) + gap * positive - 0.5
    return positive, scores, rng.integers(1, 4, n).astype(float)


def test_the_probability_is_a_sigmoid_with_one_slope_on_either_side():
    calibration = Calibration(offset=0.4, below=2.0, above=0.5, how="by hand")
    assert calibration([-3.0, 0.0, 3.0]) == pytest.approx(expit([0.4 - 6.0, 0.4, 0.4 + 1.5]))
    assert (np.diff(calibration(GRID)) > 0).all()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_fit_is_the_logistic_regression_of_platts_targets(weighted):
    positive, scores, weight = scored()
    if not weighted:
        weight = np.ones(len(scores))
    fit = calibration_from_scores(positive, scores, weight, "rows")
    # A row of target t is a positive of weight t and a negative of weight 1 − t.
    n_pos, n_neg = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))
    sides = np.stack([np.minimum(scores, 0.0), np.maximum(scores, 0.0)], axis=1)
    reference = LogisticRegression(C=1e12, tol=1e-10, solver="newton-cholesky").fit(
        np.concatenate([sides, sides]),
        np.repeat([1, 0], len(scores)),
        np.concatenate([weight * target, weight * (1.0 - target)]),
    )
    expected = [*reference.coef_[0], reference.intercept_[0]]
    # Where it stops, the gradient is below 1e-11 and the curvature above 1e-3.
    assert [fit.below, fit.above, fit.offset] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("at", [0.5, 1 / 21, 0.9])
def test_the_probability_at_the_threshold_is_as_stated(at):
    positive, scores, weight = scored()
    fit = calibration_from_scores(positive, scores, weight, "rows", at)
    assert fit(0.0) == pytest.approx(at, rel=1e-12)
    n_pos, n_neg = weight[positive].sum(), weight[~positive].sum()
    target = np.where(positive, (n_pos + 1) / (n_pos + 2), 1 / (n_neg + 2))

    def loss(calibration):
        p = calibration(scores)
        return -weight @ (target * np.log(p) + (1 - target) * np.log1p(-p)) / weight.sum()

    # No other slopes are likelier.
    for below, above in np.random.default_rng(0).lognormal(0.0, 0.1, (50, 2)):
        other = Calibration(fit.offset, fit.below * below, fit.above * above, "")
        assert loss(other) >= loss(fit)


def test_weight_is_repetition():
    positive, scores, weight = scored()
    index = np.repeat(np.arange(len(weight)), weight.astype(int))
    fit = calibration_from_scores(positive, scores, weight, "rows")
    repeated = calibration_from_scores(positive[index], scores[index], np.ones(len(index)), "rows")
    assert fit(GRID) == pytest.approx(repeated(GRID), abs=1e-7)


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e3, 1e9])
def test_units_of_the_scores_do_not_matter(unit):
    positive, scores, weight = scored()
    fit = calibration_from_scores(positive, scores, weight, "rows")
    other = calibration_from_scores(positive, unit * scores, weight, "rows")
    assert other(unit * GRID) == pytest.approx(fit(GRID), abs=1e-7)


HARD = {
    "separated": lambda positive: np.where(positive, 2.0, -1.0),
    "the wrong way round": lambda positive: np.where(positive, -2.0, 1.0),
    "all alike": np.zeros_like,
    "all above the threshold": lambda positive: 3.0 + positive + np.arange(len(positive)) % 3,
    "all below the threshold": lambda positive: -3.0 + positive - np.arange(len(positive)) % 3,
    "far out": lambda positive: np.where(positive, 1e4, -1e-4),
}


@pytest.mark.parametrize("at", [None, 0.5, 0.01])
@pytest.mark.parametrize("make", HARD.values(), ids=HARD)
def test_probabilities_increase_and_stay_inside_whatever_the_scores(make, at):
    positive = np.arange(40) % 4 == 0
    scores = np.asarray(make(positive), dtype=float)
    fit = calibration_from_scores(positive, scores, np.ones(40), "rows", at)
    levels = np.unique(np.append(scores, 0.0))
    probability = fit(levels)
    assert fit.below > 0
    assert fit.above > 0
    assert (np.diff(probability) > 0).all()
    assert (probability > 0).all()
    assert (probability < 1).all()


def test_rows_that_are_separated_get_platts_targets():
    positive = np.arange(40) % 4 == 0
    fit = calibration_from_scores(positive, np.where(positive, 1.0, -1.0), np.ones(40), "rows")
    # Two levels and three parameters: the likeliest probability of each is its target.
    assert fit([1.0, -1.0]) == pytest.approx([11 / 12, 1 / 32], abs=1e-6)


def test_what_ranks_nothing_gets_the_share_of_the_positives():
    positive = np.arange(4000) % 4 == 0
    scores = np.where(positive, -1.0, 1.0)  # worse than nothing, but a slope may not be negative
    fit = calibration_from_scores(positive, scores, np.ones(4000), "rows")
    assert fit([-1.0, 1.0]) == pytest.approx([0.25, 0.25], abs=1e-3)


def test_probabilities_are_those_of_the_rows():
    rng = np.random.default_rng(0)
    positive = rng.random(100_000) < 0.3
    scores = rng.normal(size=100_000) + 1.5 * positive - 0.5
    fit = calibration_from_scores(positive, scores, np.ones(100_000), "rows")
    place = np.digitize(scores, np.quantile(scores, np.linspace(0, 1, 11)[1:-1]))
    for part in range(10):
        # Five deviations of the share of 10,000 rows.
        seen = positive[place == part].mean()
        assert fit(scores[place == part]).mean() == pytest.approx(seen, abs=0.025)


def test_it_says_which_rows_it_was_fitted_to():
    positive, scores, weight = scored(50)
    assert calibration_from_scores(positive, scores, weight, "held-out rows").how == (
        "sigmoid fitted to held-out rows"
    )
    assert "moments" in calibration_from_moments(ScoreMoments(1.0, 1.0, -1.0, 1.0, 0.5)).how


def test_of_very_many_rows_a_sample_is_fitted():
    n = 3 * FIRST_ROWS + 1
    positive, scores, _ = scored(2 * n)
    weight = np.ones(2 * n)
    fit = calibration_of(Rows(None, positive, weight, None), scores, None, "the training rows")
    whole = calibration_from_scores(positive, scores, weight, "the training rows")
    assert fit.how == whole.how
    assert fit(GRID) != pytest.approx(whole(GRID), abs=1e-7)
    # Of 5,000 rows a class: slopes vary by some hundredths.
    assert fit(GRID) == pytest.approx(whole(GRID), abs=0.03)


@pytest.mark.parametrize("prior", [0.02, 0.5, 0.8])
def test_of_normal_scores_of_one_variance_it_is_the_posterior(prior):
    fit = calibration_from_moments(ScoreMoments(1.2, 2.5, -0.7, 2.5, prior))
    likely = [
        share * norm.pdf(GRID, mean, np.sqrt(2.5))
        for share, mean in ((prior, 1.2), (1 - prior, -0.7))
    ]
    assert fit(GRID) == pytest.approx(likely[0] / (likely[0] + likely[1]), abs=1e-12)


def test_of_normal_scores_of_two_variances_it_is_that_of_their_mean_by_prior():
    fit = calibration_from_moments(ScoreMoments(1.0, 4.0, -1.0, 1.0, 0.25))
    pooled = 0.25 * 4.0 + 0.75 * 1.0
    assert fit.below == fit.above == pytest.approx(2.0 / pooled)
    assert fit(0.0) == pytest.approx(0.25)  # half-way between the means the prior is left


def test_from_moments_the_probability_at_the_threshold_is_as_stated():
    numbers = ScoreMoments(1.0, 4.0, -1.0, 1.0, 0.25)
    fit = calibration_from_moments(numbers, 1 / 21)
    assert fit.offset == pytest.approx(logit(1 / 21))
    assert fit.below == calibration_from_moments(numbers).below


@pytest.mark.parametrize(
    "numbers",
    [
        ScoreMoments(1.0, 0.0, -1.0, 0.0, 0.5),
        ScoreMoments(0.0, 0.0, 0.0, 0.0, 0.5),
        ScoreMoments(0.0, 1.0, 0.0, 1.0, 0.5),
        ScoreMoments(-1.0, 1.0, 1.0, 2.0, 0.1),
    ],
    ids=["no spread", "nothing at all", "no gap", "the wrong way round"],
)
def test_from_moments_the_slope_is_positive_and_finite(numbers):
    fit = calibration_from_moments(numbers)
    assert 0 < fit.below < np.inf
    assert np.isfinite(fit.offset)
    assert (np.diff(fit(GRID)) > 0).all()
