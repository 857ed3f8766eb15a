"""Diagnosis of a classifier on rows: whether the moments can be trusted, and what to do if not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from directrix.classifiers.labels import positive_of, toward_positive
from directrix.frontier.standard_space import require_rows_of_both
from directrix.metrics.curve import Curve, checked
from directrix.metrics.table import resolve
from directrix.models.intervals import Sizes, effective_rows, interval_method
from directrix.models.operating_point import OnRows
from directrix.moments import Moments
from directrix.moments.projection import project

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.metrics.base import Metric
    from directrix.moments.projection import ScoreMoments

#: Largest gap between the distribution function of the scores and a normal one, below which they
#: are called close to normal, and above which far from normal.
_CLOSE, _FAR = 0.03, 0.08
#: Absolute skewness and excess kurtosis above which there is advice about them.
_SKEWED, _HEAVY = 0.5, 1.0
#: Effective rows of a class below which the interval is wide for lack of rows.
_FEW_ROWS = 100
#: Range of equal scores, relative to the largest, that the rounding of a sum of products may leave.
_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)


class Normality(NamedTuple):
    """Distance of the scores of a class from a normal distribution.

    Parameters
    ----------
    distance : float
        Kolmogorov distance: largest gap between their distribution function and that of the normal
        distribution with the same mean and variance.
    skewness, excess_kurtosis : float
        Zero for a normal distribution.
    """

    distance: float
    skewness: float
    excess_kurtosis: float

    @property
    def verdict(self) -> str:
        """Verdict: close to normal, roughly normal or far from normal."""
        if self.distance < _CLOSE:
            return "close to normal"
        return "roughly normal" if self.distance < _FAR else "far from normal"


@dataclass(frozen=True)
class Diagnosis:
    """Comparison of what the moments of an estimator predict with what rows show; print it.

    Parameters
    ----------
    metric : Metric
    positive, negative : Normality
        Normality of the scores of each class.
    predicted : float
        The metric if scores were normal, from the mean and variance of each class: those of the
        training summary if the estimator keeps one, else those of these rows.
    empirical : float
        The metric on these rows; at the threshold of the estimator unless the metric has a limit
        or a quota: then at the best threshold on these rows, with which the prediction compares.
    interval : tuple of float
        95 % interval of the empirical metric.
    method : str
        Method of the interval.
    advice : tuple of str
        What to do.
    at_threshold : float
        The metric on these rows at the threshold of the estimator.
    """

    metric: Metric
    positive: Normality
    negative: Normality
    predicted: float
    empirical: float
    interval: tuple[float, float]
    method: str
    advice: tuple[str, ...]
    at_threshold: float = float("nan")

    @property
    def trusted(self) -> bool:
        """Whether the predicted metric lies in the interval of the empirical one."""
        return self.interval[0] <= self.predicted <= self.interval[1]

    def __str__(self) -> str:
        lines = [
            f"scores of the {name} class: {normality.verdict} (distance {normality.distance:.3f}, "
            f"skewness {normality.skewness:+.2f}, excess kurtosis {normality.excess_kurtosis:+.2f})"
            for name, normality in (("positive", self.positive), ("negative", self.negative))
        ]
        (low, high), name = self.interval, self.metric.label
        measured = f"{self.empirical:.4f} ({low:.4f} to {high:.4f}, {self.method})"
        if self.metric.fixes_threshold:
            lines.append(f"{name}: {self.at_threshold:.4f} on these rows, at the model's cutoff")
            best = f"{name}, best cutoff on these rows"
            lines.append(f"{best}: {measured}; predicted {self.predicted:.4f}")
        else:
            lines.append(f"{name}: predicted {self.predicted:.4f}, on these rows {measured}")
        return "\n".join([*lines, *(f"- {advice}" for advice in self.advice)])


def diagnose(
    estimator: Any, X: Any, y: Any, *, metric: str | Metric | None = None, sample_weight: Any = None
) -> Diagnosis:
    """Compare the metric that the moments predict with the metric on rows.

    Give rows that the estimator was not fitted to.

    Parameters
    ----------
    estimator : fitted classifier of two classes
        Any classifier with a ``decision_function``.
    X : array, sparse matrix or data frame of shape (n, d)
    y : array of shape (n,)
    metric : str or Metric, optional
        By default the metric of the estimator, or AUC if it has none.
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
    metric = resolve(getattr(estimator, "metric", "auc") if metric is None else metric)
    labels = np.asarray(y) == positive_of(estimator)
    scored = toward_positive(estimator, estimator.decision_function(X))
    positive, scores, weight = checked(labels, scored, sample_weight)
    curve = Curve.of(positive, scores, weight)
    curve.require_both()
    moments = _score_moments(estimator, positive, scores, weight)
    predicted = float(metric.of_loss(metric.risk(float(weight.sum())).value(moments)))
    # The curve has one point for each distinct score: those above zero are predicted positive.
    index = len(np.unique(scores[scores > 0]))
    sizes = Sizes(effective_rows(weight[positive]), effective_rows(weight[~positive]))
    if metric.averages_pairs:
        interval = delong(positive, scores, weight)
    else:
        interval = OnRows(curve, index, sizes).intervals(metric).metric
    diagnosis = Diagnosis(
        metric,
        normality(scores[positive], weight[positive]),
        normality(scores[~positive], weight[~positive]),
        predicted,
        metric.value_at(curve, index),
        interval,
        interval_method(metric),
        (),
        OnRows(curve, index, sizes).at_threshold(metric)[0],
    )
    return replace(diagnosis, advice=_advice(diagnosis, sizes, estimator))


def normality(scores: FloatArray, weight: FloatArray) -> Normality:
    """Return the distance of weighted scores from a normal distribution."""
    scores = scores / _power_of_two(scores)
    share = weight / weight.sum()
    # If all scores are equal, their differences are rounding errors only.
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
    """Return the power of two by which to divide scores so that no square over- or underflows."""
    largest = float(np.abs(scores).max(initial=0.0))
    return float(2.0 ** np.clip(np.frexp(largest)[1], -1021, 1023)) if largest else 1.0


def delong(
    positive: AnyArray, scores: FloatArray, weight: FloatArray, level: float = 0.95
) -> tuple[float, float]:
    r"""Return DeLong's confidence interval of AUC (DeLong, DeLong and Clarke-Pearson 1988).

    .. math:: \mathrm{Var}\, \hat A = \mathrm{Var}(V_+) / n_+ + \mathrm{Var}(V_-) / n_-

    where V is the share of the other class that a row is ranked correctly against, ties counting
    half. The interval is computed for the log-odds of the AUC, so that it stays inside (0, 1).
    With weights, n is the effective sample size.
    """
    order = np.argsort(scores)
    ranked, y, w = scores[order], positive[order], weight[order]
    group = rankdata(ranked, method="dense").astype(np.intp) - 1
    variance, auc = 0.0, 0.5
    for side in (True, False):
        in_class = y == side
        other = np.bincount(group, np.where(in_class, 0.0, w))
        below = np.cumsum(other) - other / 2.0
        correct = below / other.sum() if side else 1.0 - below / other.sum()
        share = w[in_class] / w[in_class].sum()
        values = correct[group[in_class]]
        auc = float(share @ values)
        n = effective_rows(w[in_class])
        variance += float(share @ (values - auc) ** 2) / max(n - 1.0, 1.0)
    if not 0 < auc < 1:
        return (auc, auc)
    z = float(ndtri(0.5 + level / 2.0)) * np.sqrt(variance) / (auc * (1.0 - auc))
    odds = auc / (1.0 - auc) * np.exp([-z, z])
    low, high = odds / (1.0 + odds)
    return float(low), float(high)


def _score_moments(
    estimator: Any, positive: AnyArray, scores: FloatArray, weight: FloatArray
) -> ScoreMoments:
    """Return the score moments of the training summary if there is one, else of these rows."""
    if hasattr(estimator, "moments_"):
        require_rows_of_both(estimator.moments_)
        coef = np.append(np.ravel(estimator.coef_), np.ravel(estimator.intercept_))
        moments = estimator.moments_.with_positive(positive_of(estimator))
        return project(moments, toward_positive(estimator, coef))
    moments = Moments.of(scores[:, None] / _power_of_two(scores), positive, weight)
    return project(moments, np.array([1.0, 0.0]))


def _advice(diagnosis: Diagnosis, sizes: Sizes, estimator: Any) -> tuple[str, ...]:
    """Return what to do about a diagnosis."""
    metric = diagnosis.metric.label
    advice = []
    for name, side in (("positive", diagnosis.positive), ("negative", diagnosis.negative)):
        skewed = abs(side.skewness) > _SKEWED
        if skewed or abs(side.excess_kurtosis) > _HEAVY:
            shape = "skewed" if skewed else "heavy- or light-tailed"
            advice.append(
                f"the scores of the {name} class are {shape}: rates in the tails are not those of "
                "a normal distribution. Transform skewed features (PowerTransformer, "
                "SplineTransformer)."
            )
    if diagnosis.trusted:
        advice.append(
            f"the moments predict {metric} within its interval on these rows: choose='moments' "
            "and summaries without rows will do."
        )
    elif hasattr(estimator, "moments_"):
        advice.append(
            f"the moments predict {metric} outside its interval on these rows: train with "
            "choose='rows', or take the threshold from rows."
        )
    else:
        advice.append(
            f"if scores were normal, {metric} would be outside its interval on these rows: for "
            "this model, take thresholds and rates from rows."
        )
    fewest = min(sizes)
    if fewest < _FEW_ROWS:
        advice.append(
            f"one class has {fewest:.0f} rows here: the interval is wide for lack of rows, not "
            "because of the model."
        )
    return tuple(advice)
