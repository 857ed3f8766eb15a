"""What contracts share: requirements with a message, random rows and moments, and classifiers."""

from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from directrix import DirectClassifier, OperatingPointClassifier, ScorecardClassifier
from directrix.moments.projection import ScoreMoments

#: Classifiers whose thresholds keep limits and budgets.
KEEP_LIMITS = {
    "lines": DirectClassifier,
    "cards": lambda metric, **options: ScorecardClassifier(
        metric, max_crosses=0, max_lines=None, **options
    ),
    "any model": lambda metric, **options: OperatingPointClassifier(
        LogisticRegression(), metric, **options
    ),
    "scores": lambda metric, **options: OperatingPointClassifier(None, metric, **options),
}


def require(condition, message):
    """Raise AssertionError unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def require_close(actual, expected, message, *, absolute=0.0, relative=0.0):
    """Raise AssertionError unless numbers agree to the greater of two tolerances."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    require(
        actual.shape == expected.shape,
        f"{message}: shape {actual.shape} instead of {expected.shape}",
    )
    tolerance = np.maximum(absolute, relative * np.abs(expected))
    with np.errstate(invalid="ignore"):  # equal infinities have no difference
        off = np.abs(actual - expected)
    agree = (off <= tolerance) | (actual == expected)
    if not agree.all():
        worst = np.unravel_index(int(np.argmax(np.where(agree, -np.inf, off))), actual.shape)
        require(condition=False, message=f"{message}: {actual[worst]} instead of {expected[worst]}")


class Rows(NamedTuple):
    """Labelled scores with weights, in the order in which losses take them."""

    positive: np.ndarray
    scores: np.ndarray
    weight: np.ndarray

    def take(self, indices):
        """Return some of the rows."""
        return Rows(self.positive[indices], self.scores[indices], self.weight[indices])

    def repeated(self):
        """Return every row as often as its whole weight says, and the original of each copy."""
        original = np.repeat(np.arange(len(self.scores)), self.weight.astype(int))
        return self.take(original)._replace(weight=np.ones(len(original))), original


def draw_rows(seed, n=40, *, ties=False, whole=False, spread=1.5):
    """Return random rows with at least one of each class.

    ``ties`` rounds the scores to halves, so that many are equal. ``whole`` draws whole-number
    weights from 0 to 3 instead of fractions. ``spread`` is the standard deviation of the scores of
    a class; the means of the classes are one apart.
    """
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < rng.uniform(0.2, 0.6)
    positive[:2] = True, False
    scores = rng.normal(positive - 0.5, spread)
    weight = rng.integers(0, 4, n).astype(float) if whole else rng.uniform(0.2, 2.0, n)
    weight[:2] = 1.0, 2.0
    return Rows(positive, np.round(2.0 * scores) / 2.0 if ties else scores, weight)


def draw_score_moments(seed, *, ratio=1.0, reach=4.0, scales=3.0):
    """Return the means and variances of the scores of two classes, and a prior.

    Either class can be wider than the other by a factor of up to ``10**ratio``. A mean is at most
    ``reach`` standard deviations from zero. The scale of all scores is between ``10**-scales`` and
    ``10**scales``.
    """
    rng = np.random.default_rng(seed)
    log_ratio, log_scale = rng.uniform(-ratio, ratio), rng.uniform(-scales, scales)
    z_pos, z_neg = rng.uniform(-reach, reach, 2)
    return score_moments(log_ratio, log_scale, z_pos, z_neg, rng.uniform(0.005, 0.995))


def score_moments(log_ratio, log_scale, z_pos, z_neg, prior):
    """Return score moments from the ratio and scale of the deviations and the means over them."""
    sd_pos, sd_neg = 10.0 ** (log_scale + log_ratio / 2), 10.0 ** (log_scale - log_ratio / 2)
    return ScoreMoments(z_pos * sd_pos, sd_pos**2, z_neg * sd_neg, sd_neg**2, prior)
