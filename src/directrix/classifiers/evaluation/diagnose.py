"""diagnose: whether the moments can be trusted, and what to do where not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from directrix.classifiers.fitting.intervals import Sizes, effective_rows
from directrix.classifiers.fitting.operating_point import OnRows
from directrix.frontier.moment_frontier import require_rows_of_both
from directrix.metrics import AUC, Curve, resolve
from directrix.metrics.curve import checked
from directrix.moments import Moments
from directrix.moments.projection import project

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.metrics import Metric
    from directrix.moments.projection import ScoreMoments

#: Largest gap between the distribution of the scores and a normal one, above which they are
#: called close to, and far from, normal.
_CLOSE, _FAR = 0.03, 0.08
_SKEWED, _HEAVY = 0.5, 1.0
#: Range of scores, relative to the greatest, that the rounding of a sum of products may leave.
_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)


class Normality(NamedTuple):
    """How far the scores of a class are from normal.

    Parameters
    ----------
    distance : float
        Largest gap between their distribution function and that of the normal distribution of
        the same mean and variance (Kolmogorov's).
    skewness, excess_kurtosis : float
        Zero for a normal distribution.
    """

    distance: float
    skewness: float
    excess_kurtosis: float

    @property
    def verdict(self) -> str:
        """One word."""
        if self.distance < _CLOSE:
            return "close to normal"
        return "roughly normal" if self.distance < _FAR else "far from normal"


@dataclass(frozen=True)
class Diagnosis:
    """What rows say of an estimator's moments. Print it.

    Parameters
    ----------
    metric : Metric
    positive, negative : Normality
        Of the scores of each class.
    predicted : float
        The metric as the four numbers of the scores have it: those of the training summary where
        the estimator keeps one, else those of these rows.
    empirical : float
        The metric on these rows, at the estimator's own threshold where the metric has none.
    interval : tuple of float
        95 % interval of the empirical metric.
    method : str
        How the interval was made.
    advice : tuple of str
    """

    metric: Metric
    positive: Normality
    negative: Normality
    predicted: float
    empirical: float
    interval: tuple[float, float]
    method: str
    advice: tuple[str, ...]

    @property
    def trusted(self) -> bool:
        """Whether the predicted metric lies in the interval of the empirical one."""
        return self.interval[0] <= self.predicted <= self.interval[1]

    def __str__(self) -> str:
        lines = [f"scores of the {name} class: {self._normality(name)}" for name in _SIDES]
        low, high = self.interval
        lines.append(
            f"{self.metric}: predicted {self.predicted:.4f}, on these rows {self.empirical:.4f} "
            f"({low:.4f} to {high:.4f}, {self.method})"
        )
        return "\n".join([*lines, *(f"- {advice}" for advice in self.advice)])

    def _normality(self, name: str) -> str:
        found: Normality = getattr(self, name)
        return (
            f"{found.verdict} (distance {found.distance:.3f}, skewness {found.skewness:+.2f}, "
            f"excess kurtosis {found.excess_kurtosis:+.2f})"
        )


_SIDES = ("positive", "negative")


def diagnose(
    estimator: Any, X: Any, y: Any, *, metric: str | Metric | None = None, sample_weight: Any = None
) -> Diagnosis:
    """Compare what the moments promise with what rows show.

    Rows that the estimator has not seen are the ones to ask.

    Parameters
    ----------
    estimator : fitted classifier of two classes
        With a ``decision_function``; ours, or any other.
    X : array, sparse matrix or data frame of shape (n, d)
    y : array of shape (n,)
    metric : str or Metric, optional
        By default the estimator's own, or AUC.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    Diagnosis

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from directrix import MomentClassifier, diagnose
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = MomentClassifier("auc").fit(X[::2], y[::2])
    >>> diagnosis = diagnose(classifier, X[1::2], y[1::2])
    >>> diagnosis.method
    'DeLong'
    >>> bool(diagnosis.interval[0] < diagnosis.empirical < diagnosis.interval[1])
    True
    """
    wanted = resolve(getattr(estimator, "metric", "auc") if metric is None else metric)
    labels = np.asarray(y) == np.asarray(estimator.classes_)[-1]
    positive, scores, weight = checked(labels, estimator.decision_function(X), sample_weight)
    curve = Curve.of(positive, scores, weight)
    curve.require_both()
    sides = [normality(scores[own], weight[own]) for own in (positive, ~positive)]
    numbers = _four_numbers(estimator, positive, scores, weight)
    predicted = float(wanted.of_loss(wanted.risk(float(weight.sum())).value(numbers)))
    # Above the threshold of zero are as many groups of equal scores as are positive numbers.
    place = len(np.unique(scores[scores > 0]))
    counts = [effective_rows(weight[own]) for own in (positive, ~positive)]
    on_rows = OnRows(curve, place, Sizes(*counts))
    empirical = wanted.value_at(curve, place)
    if isinstance(wanted, AUC):
        interval, method = delong(positive, scores, weight), "DeLong"
    else:
        interval = on_rows.intervals(wanted).metric
        method = "posterior draws" if wanted.uses_threshold else "DeLong"
    trusted = interval[0] <= predicted <= interval[1]
    advice = _advice(sides, counts, wanted, trusted=trusted, ours=hasattr(estimator, "moments_"))
    return Diagnosis(wanted, sides[0], sides[1], predicted, empirical, interval, method, advice)


def normality(scores: FloatArray, weight: FloatArray) -> Normality:
    """Return how far weighted scores are from normal."""
    scores = scores / _power_of_two(scores)
    share = weight / weight.sum()
    # Of scores that are all alike nothing is left but rounding.
    if np.ptp(scores) <= _ROUNDING * np.abs(scores).max():
        return Normality(0.5, 0.0, 0.0)
    mean = float(share @ scores)
    deviation = float(np.sqrt(share @ (scores - mean) ** 2))
    order = np.argsort(scores)
    z, below = (scores[order] - mean) / deviation, np.cumsum(share[order])
    expected = ndtr(z)
    before = np.append(0.0, below[:-1])
    distance = float(max(np.abs(below - expected).max(), np.abs(before - expected).max()))
    shares = share[order]
    return Normality(distance, float(shares @ z**3), float(shares @ z**4 - 3.0))


def _power_of_two(scores: FloatArray) -> float:
    """Return the size of scores; divided by it, none has a square that overflows or vanishes."""
    greatest = float(np.abs(scores).max(initial=0.0))
    return float(2.0 ** np.clip(np.frexp(greatest)[1], -1021, 1023)) if greatest else 1.0


def delong(
    positive: AnyArray, scores: FloatArray, weight: FloatArray, level: float = 0.95
) -> tuple[float, float]:
    r"""Return DeLong's interval of AUC (DeLong, DeLong and Clarke-Pearson 1988).

    .. math:: \mathrm{Var}\, \hat A = \mathrm{Var}(V_+) / n_+ + \mathrm{Var}(V_-) / n_-

    where V is the share of the other class that a row is on the right side of, ties half; on the
    scale of log-odds, so that the interval stays inside (0, 1). Weighted rows count as their
    effective number.
    """
    order = np.argsort(scores)
    ranked, own, w = scores[order], positive[order], weight[order]
    group = rankdata(ranked, method="dense").astype(np.intp) - 1
    variance, auc = 0.0, 0.5
    for side in (True, False):
        other = np.bincount(group, np.where(own == side, 0.0, w))
        below = np.cumsum(other) - other / 2.0
        right = below / other.sum() if side else 1.0 - below / other.sum()
        mine = own == side
        share = w[mine] / w[mine].sum()
        values = right[group[mine]]
        auc = float(share @ values)
        n = effective_rows(w[mine])
        variance += float(share @ (values - auc) ** 2) / max(n - 1.0, 1.0)
    if not 0 < auc < 1:
        return (auc, auc)
    z = float(ndtri(0.5 + level / 2.0)) * np.sqrt(variance) / (auc * (1.0 - auc))
    odds = auc / (1.0 - auc) * np.exp([-z, z])
    low, high = odds / (1.0 + odds)
    return float(low), float(high)


def _four_numbers(
    estimator: Any, positive: AnyArray, scores: FloatArray, weight: FloatArray
) -> ScoreMoments:
    """Return the score moments: of the training summary where there is one, else of these rows."""
    if hasattr(estimator, "moments_"):
        require_rows_of_both(estimator.moments_)
        line = np.append(np.ravel(estimator.coef_), np.ravel(estimator.intercept_))
        return project(estimator.moments_, line)
    own = Moments.of(scores[:, None] / _power_of_two(scores), positive, weight)
    return project(own, np.array([1.0, 0.0]))


def _advice(
    sides: list[Normality], counts: list[float], metric: Metric, *, trusted: bool, ours: bool
) -> tuple[str, ...]:
    """Say in words what to do."""
    advice = []
    for name, side in zip(_SIDES, sides, strict=True):
        if abs(side.skewness) > _SKEWED or abs(side.excess_kurtosis) > _HEAVY:
            what = "skewed" if abs(side.skewness) > _SKEWED else "heavy- or light-tailed"
            advice.append(
                f"the scores of the {name} class are {what}: rates in the tails are not those of "
                "a normal distribution. Transform skewed features (PowerTransformer, "
                "SplineTransformer)."
            )
    if trusted:
        advice.append(
            f"the moments predict {metric} within its interval on these rows: choose='moments' "
            "and summaries without rows will do."
        )
    else:
        advice.append(
            f"the moments predict {metric} outside its interval on these rows: train with "
            "choose='rows', or take the threshold from rows."
            if ours
            else f"normal scores would not have the {metric} seen here: for this model, take "
            "thresholds and rates from rows."
        )
    if min(counts) < 100:
        advice.append(
            f"one class has {min(counts):.0f} rows here: the interval is wide because of that, "
            "not because of the model."
        )
    return tuple(advice)
