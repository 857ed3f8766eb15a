"""How a fitted classifier does on rows: diagnosis, and measures with 95 % intervals."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata

from directrix._typing import AnyArray, FloatArray
from directrix.fit.operating_point import EffectiveCounts, OnRows, interval_method
from directrix.fit.report import Estimate, constant_text
from directrix.fit.segment_rates import SegmentRates
from directrix.fit.shares import effective_rows, wilson
from directrix.linear.pencil import require_rows_of_both
from directrix.metrics import AUC, FBeta, ScoreHistogram
from directrix.metrics.base import Curve, Metric, checked
from directrix.metrics.segments import Segments
from directrix.metrics.table import resolve
from directrix.moments import Moments
from directrix.moments.projection import project
from directrix.moments.risks import risk_of
from directrix.rows import labels
from directrix.rows.classes import positive_of, toward_positive

if TYPE_CHECKING:
    from directrix.estimators.scoring import ScoringFormula
    from directrix.moments.projection import ScoreMoments

# ── Diagnosis: whether the moments can be trusted, and what to do if not ──────────────────────────

#: Quantile of the normal distribution that belongs to the level of all intervals.
_Z = 1.959963984540054
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

    ``distance`` is the Kolmogorov distance, the largest gap between the distribution function of
    the scores and that of the normal distribution with the same mean and variance. ``skewness`` and
    ``excess_kurtosis`` are zero for a normal distribution.
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
    metric = resolve(metric_of(estimator) if metric is None else metric)
    scored = toward_positive(estimator, estimator.decision_function(X))
    is_positive = np.asarray(y) == positive_of(estimator)
    positive, scores, weight = checked(is_positive, scored, sample_weight)
    on_rows = _on_rows(positive, scores, weight)
    moments = _score_moments(estimator, positive, scores, weight)
    predicted = float(metric.of_loss(risk_of(metric, float(weight.sum())).value(moments)))
    if metric.averages_pairs:
        interval = delong(positive, scores, weight)
    else:
        interval = on_rows.intervals(metric).metric
    diagnosis = Diagnosis(
        metric,
        normality(scores[positive], weight[positive]),
        normality(scores[~positive], weight[~positive]),
        predicted,
        metric.value_at(on_rows.curve, on_rows.index),
        interval,
        interval_method(metric),
        (),
        on_rows.at_threshold(metric)[0],
    )
    return replace(diagnosis, advice=_advice(diagnosis, on_rows.sizes, estimator))


def metric_of(estimator: Any, default: str = "auc") -> Any:
    """Return the metric that an estimator was trained for; a default if it has none."""
    return getattr(estimator, "metric_", None) or getattr(estimator, "metric", None) or default


def _on_rows(positive: AnyArray, scores: FloatArray, weight: FloatArray) -> OnRows:
    """Return the rates on rows at the threshold of a model, a score of zero."""
    curve = Curve.of(positive, scores, weight)
    curve.require_both()
    sizes = EffectiveCounts(effective_rows(weight[positive]), effective_rows(weight[~positive]))
    return OnRows(curve, int(np.sum(curve.levels > 0)), sizes)


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


def delong(positive: AnyArray, scores: FloatArray, weight: FloatArray) -> tuple[float, float]:
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
    z = _Z * np.sqrt(variance) / (auc * (1.0 - auc))
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
    moments = Moments.of(scores[:, None] / _power_of_two(scores), positive, weight, sample=0)
    return project(moments, np.array([1.0, 0.0]))


def _advice(diagnosis: Diagnosis, sizes: EffectiveCounts, estimator: Any) -> tuple[str, ...]:
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
            f"the moments predict {metric} within its interval on these rows: a summary without a "
            "sample will do."
        )
    elif hasattr(estimator, "moments_"):
        advice.append(
            f"the moments predict {metric} outside its interval on these rows: train from a "
            "summary with a sample, or take the threshold from rows."
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


# ── Rates and metrics of a classifier on labelled rows, with 95 % intervals ───────────────────────

#: What a value is called that does not belong to the threshold of the model.
BEST_CUTOFF = "best cutoff on these rows"
#: Sums of weights are rounded; a limit is not broken by that.
_LIMIT_ROUNDING = 1e-12


class ScoredRows(NamedTuple):
    """Labelled rows with the scores and probabilities of a model.

    Scores are in favour of the second class, and probabilities are its own. Without
    probabilities there is no Brier score. `segment` is the segment of each row, if they have one.
    """

    y: AnyArray
    scores: FloatArray
    probability: Any
    weight: FloatArray | None = None
    segment: AnyArray | None = None

    def segment_rates(self, label: Any) -> SegmentRates | None:
        """Return the rates by segment at a threshold of zero; None if rows have no segments."""
        if self.segment is None:
            return None
        weight = np.ones(len(self.y)) if self.weight is None else self.weight
        segments = Segments.of(self.segment, len(self.y))
        return SegmentRates.of(self.y == label, self.scores > 0, weight, segments)


class Measure(NamedTuple):
    """A value with its 95 % interval, and the method of the interval."""

    name: str
    value: float
    low: float
    high: float
    how: str


@dataclass(frozen=True)
class BinaryMeasures:
    """Rates and metrics of a classifier of two classes on labelled rows.

    `rows`, `positives` and `flagged` are total weights: of all rows, of the positives, and of those
    predicted positive. `metric` is the metric at the threshold of the model, whether or not that
    keeps the limit of the metric on these rows, and `at_threshold` has the rates there. For a
    metric with a limit or a quota, `best_cutoff` has its value at the best threshold on these rows;
    with a limit and many equal scores, as those of cards of whole points, also the value with ties
    split at random, so that the limit is met exactly. `limit` says in words whether the threshold
    keeps the limit. `chance` is what scores that know nothing of the label reach;
    `better_than_chance`, whether the whole interval of the metric (of `best_cutoff`, if there is
    one) is better.
    """

    rows: float
    positives: float
    flagged: float
    metric: Measure
    at_threshold: tuple[Measure, ...]
    best_cutoff: tuple[Measure, ...] = ()
    limit: str = ""
    chance: float = float("nan")
    better_than_chance: bool = True

    @property
    def at_cutoff(self) -> tuple[Measure, ...]:
        """The metric and the rates at the threshold of the model, each once."""
        others = (measure for measure in self.at_threshold if measure.name != self.metric.name)
        return (self.metric, *others)

    @property
    def verdict(self) -> str:
        """The first line about a model that is no better than a constant; else empty."""
        if self.better_than_chance:
            return ""
        name, *value, _ = (self.best_cutoff or (self.metric,))[0]
        where = "" if self.best_cutoff else "on these rows"
        return constant_text(name, Estimate(*value), where, self.chance)


def measure_binary(scored: ScoredRows, metric: Metric, classes: Any) -> BinaryMeasures:
    """Measure a classifier of two classes, the second of them positive, on labelled rows.

    Raises ValueError if all rows are of one class.
    """
    positive = scored.y == classes[1]
    if positive.all() or not positive.any():
        msg = (
            f"all rows are of class {scored.y[0]}, and rates need rows of both classes: give more "
            "rows, or check that the labels come from the right column"
        )
        raise ValueError(msg)
    weight = np.ones(len(positive)) if scored.weight is None else scored.weight
    on_rows = _on_rows(positive, scored.scores, weight)
    curve, index = on_rows.curve, on_rows.index
    rates, intervals = on_rows.rates(AUC()), on_rows.intervals(AUC())
    flagged = scored.scores > 0
    error = float(weight @ (flagged != positive)) / float(weight.sum())
    auc, auc_interval = AUC().best_value(curve), delong(positive, scored.scores, weight)
    value, metric_interval = on_rows.at_threshold(metric)
    how = interval_method(metric)
    if metric.averages_pairs:
        metric_interval = auc_interval
    elif metric.fixes_threshold and metric_interval in intervals[:3]:
        how = "Wilson"
    delivered = Measure(metric.label, value, *metric_interval, how)
    best_cutoff = _at_best_cutoff(on_rows, metric)
    brier: tuple[Measure, ...] = ()
    if scored.probability is not None:
        brier = (brier_score(scored.probability - positive, weight),)
    f1, judged = FBeta(), (best_cutoff or (delivered,))[0]
    chance = metric.chance(curve.prior, float(weight.sum()))
    return BinaryMeasures(
        float(weight.sum()),
        float(weight @ positive),
        float(weight @ flagged),
        delivered,
        (
            Measure("error rate", error, *wilson(error, effective_rows(weight)), "Wilson"),
            Measure("AUC", auc, *auc_interval, "DeLong"),
            Measure("recall", rates.tpr, *intervals.tpr, "Wilson"),
            Measure("FPR", rates.fpr, *intervals.fpr, "Wilson"),
            Measure("precision", rates.precision, *intervals.precision, "Wilson"),
            Measure(
                "F1", f1.value_at(curve, index), *on_rows.intervals(f1).metric, "posterior draws"
            ),
            *brier,
        ),
        best_cutoff,
        _limit_text(on_rows, metric),
        chance,
        metric.is_better((judged.low, judged.high), chance),
    )


def _at_best_cutoff(on_rows: OnRows, metric: Metric) -> tuple[Measure, ...]:
    """Return a metric with a limit or a quota at its best threshold on the rows; else nothing."""
    if not metric.fixes_threshold:
        return ()
    curve = on_rows.curve
    interval, how = on_rows.intervals(metric).metric, interval_method(metric)
    value = metric.best_value(curve)
    best = Measure(f"{metric.label}, {BEST_CUTOFF}", value, *interval, how)
    tied = 2 * len(curve.levels) <= on_rows.sizes.n_pos + on_rows.sizes.n_neg
    if metric.limit is None or not tied:
        return (best,)
    split, nothing = metric.ties_split(curve), float("nan")
    return best, Measure(
        f"{metric.label}, {BEST_CUTOFF}, ties split at random", split, nothing, nothing, ""
    )


def _limit_text(on_rows: OnRows, metric: Metric) -> str:
    """Return whether the threshold of the model keeps the limit of the metric, in words."""
    limit = metric.limit
    if limit is None:
        return ""
    curve, k = on_rows.curve, on_rows.index
    rates = {"fpr": curve.fpr[k], "tpr": curve.tpr[k], "precision": curve.precision[k]}
    kept = limit.slack(curve.tpr[k], curve.fpr[k], curve.prior) >= -_LIMIT_ROUNDING
    return f"{limit.label} is {'kept' if kept else 'broken'} on these rows: {rates[limit.rate]:.4f}"


def brier_score(residuals: FloatArray, weight: FloatArray) -> Measure:
    """Return the Brier score, the mean square of probability minus outcome."""
    squares = residuals**2
    share = weight / weight.sum()
    mean = float(share @ squares)
    variance = float(share @ (squares - mean) ** 2)
    half_width = _Z * float(np.sqrt(variance / max(effective_rows(weight), 1.0)))
    return Measure("Brier score", mean, max(mean - half_width, 0.0), mean + half_width, "normal")


# ── Score histogram of a fitted classifier, in one pass over rows that live elsewhere ─────────────

_READING = ("engine", "progress")


def score_histogram(
    formula: ScoringFormula, source: Any, *, target: Any, **options: Any
) -> ScoreHistogram:
    """Count the scores of all rows of a source; see `LinearClassifier.score_histogram`."""
    from directrix.engines.base import run
    from directrix.engines.column_roles import ColumnRoles
    from directrix.engines.tasks import FoldModels, NumberFeatures, PassSums, Score

    if formula.card is not None:
        msg = (
            "score_histogram is for linear classifiers: for a card, use "
            "ScoreHistogram.of_scores(y, scores) on the rows of each part"
        )
        raise TypeError(msg)
    reading = {name: options.pop(name) for name in _READING if name in options}
    refused = sorted(set(options) - {"features", "weight", "transform"})
    if refused:
        msg = f"score_histogram() got an unexpected keyword argument {refused[0]!r}"
        raise TypeError(msg)
    if formula.features is not None and "transform" not in options:
        options.setdefault("features", formula.features)
    classes = labels.distinct(labels.as_labels(list(formula.classes)))
    plan = ColumnRoles.of(target=target, classes=classes, **options)
    line = np.array([*formula.coefficients, formula.intercept])
    features = NumberFeatures(len(line) - 1, classes)
    task = Score(features, classes[-1], [FoldModels(0, line[None])])
    scored: PassSums = run(source, plan, task, **reading)
    histogram = scored.histograms[0]
    model = hashlib.sha256(line.astype("<f8").tobytes())
    model.update(repr((formula.features, formula.classes)).encode())
    identity = model.hexdigest()[:16]
    return ScoreHistogram(classes, histogram.counts[0], histogram.weight_sq, model=identity)
