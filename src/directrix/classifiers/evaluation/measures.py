"""Rates and metrics of a classifier on labelled rows, with 95 % intervals."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.classifiers.evaluation.diagnose import delong
from directrix.frontier import Frontier
from directrix.metrics import AUC, FBeta
from directrix.metrics.base import Metric
from directrix.metrics.curve import Curve
from directrix.models.intervals import Sizes, effective_rows, interval_method, wilson
from directrix.models.operating_point import OnRows
from directrix.models.report import Estimate, constant_text
from directrix.moments import Moments

# ── Importance of each feature: the metric that the moments predict without it ────────────────────

#: Features that are reported: those of the largest effect.
MAX_FEATURES = 50
#: Above this many features they are not left out in turn: each takes a decomposition.
_MAX_DECOMPOSED = 300


class FeatureImportance(NamedTuple):
    """Importance of one feature of a linear model.

    Parameters
    ----------
    name : str
    coefficient : float
    effect : float
        Change of the score for one standard deviation of the feature.
    negative, positive : float
        Mean of the feature in each class.
    without : float
        Best metric of any linear model without the feature, from the moments; NaN if there are
        too many features to compute it.
    """

    name: str
    coefficient: float
    effect: float
    negative: float
    positive: float
    without: float


class FeatureImportances(NamedTuple):
    """Importance of the features of a linear model.

    Parameters
    ----------
    features : tuple of FeatureImportance
        The features of the largest effect, largest first; at most `MAX_FEATURES`.
    with_all : float
        Best metric of any linear model with all features, from the moments.
    """

    features: tuple[FeatureImportance, ...]
    with_all: float


def feature_importances(
    model: Any, names: list[str], moments: Moments, metric: Metric
) -> FeatureImportances:
    """Return the importance of each feature, leaving them out of the moments one at a time.

    Parameters
    ----------
    model : fitted linear classifier of two classes
    names : list of str
        Names of its features.
    moments : Moments
        Summary of the rows to judge by.
    metric : Metric
    """
    coef = model.coef_[0]
    effect = coef * moments.standardize().scale
    order = np.argsort(-np.abs(effect), kind="stable")[:MAX_FEATURES]
    decomposed = 1 < moments.n_features <= _MAX_DECOMPOSED
    features = []
    for index in order:
        others = np.delete(np.arange(moments.n_features), index)
        without = _best_metric(moments.select(others), metric) if decomposed else float("nan")
        features.append(
            FeatureImportance(
                names[index],
                float(coef[index]),
                float(effect[index]),
                float(moments.negative.mean[index]),
                float(moments.positive.mean[index]),
                without,
            )
        )
    return FeatureImportances(tuple(features), _best_metric(moments, metric))


def _best_metric(moments: Moments, metric: Metric) -> float:
    with warnings.catch_warnings():  # without a feature, predicting one class may be the best
        warnings.simplefilter("ignore")
        best = Frontier(moments).best(metric)
    return float(metric.of_loss(best.risk))


# ── Rates and metrics of a classifier on labelled rows, with 95 % intervals ───────────────────────

_LEVEL = 0.95
#: What a value is called that does not belong to the threshold of the model.
BEST_CUTOFF = "best cutoff on these rows"
#: Sums of weights are rounded; a limit is not broken by that.
_ROUNDING = 1e-12
_Z = 1.959963984540054


class ScoredRows(NamedTuple):
    """Labelled rows with the scores and probabilities of a model.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, in the type of the model's classes.
    scores : array of shape (n,), or (n, k) for more than two classes
    probability : array of the same shape
        Probability of the second of two classes, or of each of several.
    weight : array of shape (n,), optional
    moments : Moments, optional
        Summary of the same rows.
    """

    y: AnyArray
    scores: FloatArray
    probability: FloatArray
    weight: FloatArray | None = None
    moments: Moments | None = None


class Measure(NamedTuple):
    """A value with its 95 % interval.

    Parameters
    ----------
    name : str
    value, low, high : float
    how : str
        Method of the interval.
    """

    name: str
    value: float
    low: float
    high: float
    how: str


@dataclass(frozen=True)
class BinaryMeasures:
    """Rates and metrics of a classifier of two classes on labelled rows.

    Parameters
    ----------
    rows, positives, flagged : float
        Total weight of all rows, of the positives, and of the rows predicted positive.
    metric : Measure
        The metric at the threshold of the model, whether or not it keeps the limit of the metric
        on these rows.
    at_threshold : tuple of Measure
        Rates at the threshold of the model.
    best_cutoff : tuple of Measure
        For a metric with a limit or a quota: its value at the best threshold on these rows. For a
        metric with a limit and scores of which many are equal, as those of cards of whole points:
        also the value with ties split at random, so that the limit is met exactly.
    limit : str
        Whether the threshold of the model keeps the limit of the metric on these rows, in words;
        empty without a limit.
    chance : float
        What scores that know nothing of the label reach on these rows.
    better_than_chance : bool
        Whether the whole interval of the metric (at the best threshold, if it has a limit or a
        quota) is better than that.
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


def measure_binary(scored: ScoredRows, metric: Metric, name: str, classes: Any) -> BinaryMeasures:
    """Measure a classifier of two classes on labelled rows.

    Parameters
    ----------
    scored : ScoredRows
    metric : Metric
    name : str
        Name of the metric in the result.
    classes : array of shape (2,)
        The second is the positive class.

    Raises
    ------
    ValueError
        If all rows are of one class.
    """
    positive = scored.y == classes[1]
    if positive.all() or not positive.any():
        msg = (
            f"all rows are of class {scored.y[0]}, and rates need rows of both classes: give more "
            "rows, or check that the labels come from the right column"
        )
        raise ValueError(msg)
    weight = np.ones(len(positive)) if scored.weight is None else scored.weight
    curve = Curve.of(positive, scored.scores, scored.weight)
    index = int(np.sum(curve.levels > 0))
    sizes = Sizes(effective_rows(weight[positive]), effective_rows(weight[~positive]))
    on_rows = OnRows(curve, index, sizes)
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
    delivered = Measure(name, value, *metric_interval, how)
    best_cutoff = _at_best_cutoff(on_rows, metric, name)
    f1, judged = FBeta(), (best_cutoff or (delivered,))[0]
    chance = metric.chance(curve.prior, float(weight.sum()))
    return BinaryMeasures(
        float(weight.sum()),
        float(weight @ positive),
        float(weight @ flagged),
        delivered,
        (
            _error_rate(error, weight),
            Measure("AUC", auc, *auc_interval, "DeLong"),
            Measure("recall", rates.tpr, *intervals.tpr, "Wilson"),
            Measure("FPR", rates.fpr, *intervals.fpr, "Wilson"),
            Measure("precision", rates.precision, *intervals.precision, "Wilson"),
            Measure(
                "F1", f1.value_at(curve, index), *on_rows.intervals(f1).metric, "posterior draws"
            ),
            brier_score(scored.probability - positive, weight),
        ),
        best_cutoff,
        _limit_text(on_rows, metric),
        chance,
        metric.is_better((judged.low, judged.high), chance),
    )


def _at_best_cutoff(on_rows: OnRows, metric: Metric, name: str) -> tuple[Measure, ...]:
    """Return a metric with a limit or a quota at its best threshold on the rows; else nothing."""
    if not metric.fixes_threshold:
        return ()
    curve = on_rows.curve
    interval, how = on_rows.intervals(metric).metric, interval_method(metric)
    value = metric.best_value(curve)
    best = Measure(f"{name}, {BEST_CUTOFF}", value, *interval, how)
    tied = 2 * len(curve.levels) <= on_rows.sizes.n_pos + on_rows.sizes.n_neg
    if metric.limit is None or not tied:
        return (best,)
    split, nothing = metric.ties_split(curve), float("nan")
    return best, Measure(
        f"{name}, {BEST_CUTOFF}, ties split at random", split, nothing, nothing, ""
    )


def _limit_text(on_rows: OnRows, metric: Metric) -> str:
    """Return whether the threshold of the model keeps the limit of the metric, in words."""
    limit = metric.limit
    if limit is None:
        return ""
    curve, k = on_rows.curve, on_rows.index
    rates = {"fpr": curve.fpr[k], "tpr": curve.tpr[k], "precision": curve.precision[k]}
    kept = limit.slack(curve.tpr[k], curve.fpr[k], curve.prior) >= -_ROUNDING
    return f"{limit.label} is {'kept' if kept else 'broken'} on these rows: {rates[limit.rate]:.4f}"


def measure_multiclass(scored: ScoredRows, classes: Any) -> tuple[Measure, ...]:
    """Measure a classifier of more than two classes: error, recall of each class, Brier score."""
    weight = np.ones(len(scored.y)) if scored.weight is None else scored.weight
    predicted = scored.scores.argmax(axis=1)
    truth = np.searchsorted(classes, scored.y)
    error = float(weight @ (predicted != truth)) / float(weight.sum())
    measures = [_error_rate(error, weight)]
    for index, label in enumerate(classes.tolist()):
        in_class = truth == index
        if in_class.any():
            class_weight = weight[in_class]
            recall = float(class_weight @ (predicted[in_class] == index)) / float(
                class_weight.sum()
            )
            interval = wilson(recall, effective_rows(class_weight), _LEVEL)
            measures.append(Measure(f"recall of {label}", recall, *interval, "Wilson"))
    indicator = truth[:, None] == np.arange(len(classes))
    return (*measures, brier_score(scored.probability - indicator, weight))


def brier_score(residuals: FloatArray, weight: FloatArray) -> Measure:
    """Return the Brier score, the mean square of probability minus outcome.

    Parameters
    ----------
    residuals : array of shape (n,), or (n, k) for more than two classes
    weight : array of shape (n,)
    """
    squares = residuals**2 if residuals.ndim == 1 else (residuals**2).sum(axis=1)
    share = weight / weight.sum()
    mean = float(share @ squares)
    variance = float(share @ (squares - mean) ** 2)
    half_width = _Z * float(np.sqrt(variance / max(effective_rows(weight), 1.0)))
    return Measure("Brier score", mean, max(mean - half_width, 0.0), mean + half_width, "normal")


def _error_rate(error: float, weight: FloatArray) -> Measure:
    return Measure("error rate", error, *wilson(error, effective_rows(weight), _LEVEL), "Wilson")
