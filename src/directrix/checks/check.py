"""What checks share: requirements that name the law they test, and random cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.moments.projection import ScoreMoments

# ── Check: one law applied to one loss or metric, and the comparisons that laws are made of ───────


class Check(NamedTuple):
    """A law applied to one loss or metric.

    Parameters
    ----------
    name : str
    run : callable
        Takes no arguments; raises AssertionError if the law is broken.
    """

    name: str
    run: Callable[[], None]


def run_all(checks: Iterable[Check], subject: Any) -> None:
    """Run checks one after the other; the first that fails is named in the error."""
    for check in checks:
        try:
            check.run()
        except AssertionError as error:
            msg = f"{subject!r} breaks the law {check.name!r}: {error}"
            raise AssertionError(msg) from None


def require(condition: Any, message: str) -> None:
    """Raise AssertionError unless a condition holds."""
    if not condition:
        raise AssertionError(message)


def require_close(
    actual: Any, expected: Any, message: str, *, absolute: float = 0.0, relative: float = 0.0
) -> None:
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


# ── Random rows and random score moments that the laws are tried on ───────────────────────────────


class Rows(NamedTuple):
    """Labelled scores with weights, in the order in which losses take them."""

    positive: AnyArray
    scores: FloatArray
    weight: FloatArray

    def take(self, indices: AnyArray | IntArray) -> Rows:
        """Return some of the rows."""
        return Rows(self.positive[indices], self.scores[indices], self.weight[indices])

    def repeated(self) -> tuple[Rows, IntArray]:
        """Return every row as often as its whole weight says, and the original of each copy."""
        original = np.repeat(np.arange(len(self.scores)), self.weight.astype(int))
        return self.take(original)._replace(weight=np.ones(len(original))), original


def draw_rows(
    seed: int, n: int = 40, *, ties: bool = False, whole: bool = False, spread: float = 1.5
) -> Rows:
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


def draw_score_moments(
    seed: int, *, ratio: float = 1.0, reach: float = 4.0, scales: float = 3.0
) -> ScoreMoments:
    """Return the means and variances of the scores of two classes, and a prior.

    Either class can be wider than the other by a factor of up to ``10**ratio``. A mean is at most
    ``reach`` standard deviations from zero. The scale of all scores is between ``10**-scales`` and
    ``10**scales``.
    """
    rng = np.random.default_rng(seed)
    log_ratio, log_scale = rng.uniform(-ratio, ratio), rng.uniform(-scales, scales)
    z_pos, z_neg = rng.uniform(-reach, reach, 2)
    return score_moments(log_ratio, log_scale, z_pos, z_neg, rng.uniform(0.005, 0.995))


def score_moments(
    log_ratio: float, log_scale: float, z_pos: float, z_neg: float, prior: float
) -> ScoreMoments:
    """Return score moments from the ratio and scale of the deviations and the means over them."""
    sd_pos, sd_neg = 10.0 ** (log_scale + log_ratio / 2), 10.0 ** (log_scale - log_ratio / 2)
    return ScoreMoments(z_pos * sd_pos, sd_pos**2, z_neg * sd_neg, sd_neg**2, prior)
