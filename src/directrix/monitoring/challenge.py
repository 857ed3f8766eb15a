"""Champion against challenger: two models on the same rows, or on histograms of their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix._printing import html_table, text_table
from directrix.estimators.evaluation import BEST_CUTOFF, metric_of
from directrix.fit.gap import Gap
from directrix.fit.held_out_scores import known_columns
from directrix.fit.training_rows import Rows
from directrix.fit.trials import HeldOutArea
from directrix.metrics import FromRates, ScoreHistogram
from directrix.metrics.base import Curve
from directrix.metrics.table import resolve
from directrix.monitoring.day_check import on_rows_above
from directrix.monitoring.day_summaries import positive_scores, threshold_of
from directrix.rows.classes import positive_of

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

#: Normal quantile of a 95 % interval, and the step of numeric derivatives of a metric by a rate.
_QUANTILE, _STEP = 1.959963984540054, 1e-6


class Challenge(NamedTuple):
    """A metric of two models on the same rows.

    Parameters
    ----------
    metric : str
        In words. A metric with a limit or a quota has its best cutoff on these rows, for both.
    champion, challenger : float
    gain : float
        How much better the challenger is; negative if it is worse. It is clear only if the
        interval excludes zero.
    low, high : float
        95 % interval of the gain. Histograms do not tell how the two models agree row by row, so
        they are taken as independent: for models that mostly agree the interval is too wide.
    """

    metric: str
    champion: float
    challenger: float
    gain: float
    low: float
    high: float

    def __str__(self) -> str:
        gap = Gap(self.gain, self.low, self.high).text("the champion")
        values = f"challenger {self.challenger:.4f}, champion {self.champion:.4f}"
        return f"{self.metric}: {values}; {gap}"


def compare_models(
    champion: ScoreHistogram, challenger: ScoreHistogram, metric: Any, threshold: float = 0.0
) -> Challenge:
    """Compare two models on the same labelled rows, from their score histograms.

    Parameters
    ----------
    champion, challenger : ScoreHistogram
        Scores in favour of the positive label, of the same rows.
    metric : str or Metric
    threshold : float
        Rows with scores above it are predicted positive.
    """
    models: tuple[Any, ...] = champion, challenger
    for given in models:
        if not isinstance(given, ScoreHistogram):
            msg = (
                f"compare_models takes histograms of scores, not {type(given).__name__}: "
                "challenge(champion, challenger, X, y) compares models on rows"
            )
            raise TypeError(msg)
    if not len(champion.weight) == len(challenger.weight) == 2:
        msg = "models are compared on labelled rows, and these scores have no labels"
        raise ValueError(msg)
    if not (champion.weight.all() and challenger.weight.all()):
        msg = "models are compared on rows of both classes, and one class has none"
        raise ValueError(msg)
    if not np.allclose(champion.weight, challenger.weight, rtol=1e-9):
        msg = (
            f"the histograms are not of the same rows: they have {champion.weight.tolist()} and "
            f"{challenger.weight.tolist()} rows of the classes"
        )
        raise ValueError(msg)
    chosen = resolve(metric)
    values, ends = [], []
    for scores in (champion, challenger):
        on_rows = on_rows_above(scores, threshold)
        interval = on_rows.intervals(chosen).metric
        values.append(chosen.as_score(on_rows.rates(chosen).metric))
        ends.append(sorted(chosen.as_score(end) for end in interval))
    gain = values[1] - values[0]
    # The method of variance estimates recovery (Zou and Donner 2008)
    low = gain - float(np.hypot(values[1] - ends[1][0], ends[0][1] - values[0]))
    high = gain + float(np.hypot(ends[1][1] - values[1], values[0] - ends[0][0]))
    first, second = (chosen.as_score(value) for value in values)
    label = f"{chosen.label}, {BEST_CUTOFF}" if chosen.fixes_threshold else chosen.label
    return Challenge(label, first, second, gain, low, high)


class Challenges(tuple[Challenge, ...]):
    """Several metrics of two models on the same rows; for ``print`` and notebooks."""

    __slots__ = ()
    _HEADER = ("", "champion", "challenger", "challenger is better by", "95 % interval")

    @property
    def _texts(self) -> list[tuple[str, ...]]:
        return [
            (
                each.metric,
                f"{each.champion:.4f}",
                f"{each.challenger:.4f}",
                f"{each.gain:+.4f}",
                f"{each.low:+.4f} to {each.high:+.4f}",
            )
            for each in self
        ]

    def __str__(self) -> str:
        return "\n".join(text_table([self._HEADER, *self._texts], left=(0, 4)))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._HEADER, self._texts)


def challenge(
    champion: Any,
    challenger: Any,
    X: Any,
    y: Any,
    metric: Any = None,
    *,
    sample_weight: Any = None,
) -> Challenges:
    """Compare two classifiers on the same labelled rows, paired row by row.

    Both models mostly agree about a row, so that the interval of their difference is far narrower
    than that of either. It is that of DeLong (1988) for the AUC and the Gini coefficient; for KS
    (the largest difference of both rates) and for metrics at the models' cutoffs it is normal, with
    the variance of what each row contributes.

    Parameters
    ----------
    champion, challenger : fitted classifiers of two classes
        Neither may have been fitted to these rows. One of another library has its threshold at a
        probability of 0.5, or at 0 of its ``decision_function``.
    X, y : as in ``predict`` and ``fit``
        Of a data frame, each model takes the columns that it was fitted to.
    metric : str or Metric, optional
        One more metric, at the cutoff of each model; by default that of the champion.
    sample_weight : array of shape (n,), optional

    Returns
    -------
    Challenges
        AUC, Gini, KS and the metric; above zero the challenger is better.
    """
    labels = np.asarray(y)
    positive = labels == positive_of(champion)
    if positive_of(challenger) != positive_of(champion):
        msg = (
            f"the champion catches {positive_of(champion)!r} and the challenger "
            f"{positive_of(challenger)!r}: both must catch the same label"
        )
        raise ValueError(msg)
    if positive.all() or not positive.any():
        msg = "models are compared on rows of both classes, and one class has none"
        raise ValueError(msg)
    weight = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, float)
    models = champion, challenger
    scores = [
        positive_scores(model, known_columns(model, X)) - threshold_of(model) for model in models
    ]
    areas = [_by_area(positive, each, weight) for each in scores]
    pairs = {
        "AUC": areas,
        "Gini": [_Contributions(2.0 * each.value - 1.0, 2.0 * each.influence) for each in areas],
        "KS": [_by_ks(positive, each, weight) for each in scores],
    }
    made = [_paired(name, one, other) for name, (one, other) in pairs.items()]
    chosen = resolve(metric_of(champion) if metric is None else metric)
    if chosen.uses_threshold:
        one, other = (_at_cutoff(chosen, positive, each > 0, weight) for each in scores)
        sign = 1.0 if chosen.greater_is_better else -1.0
        made.append(_paired(f"{chosen.label}, at the cutoffs", one, other, sign))
    return Challenges(made)


class _Contributions(NamedTuple):
    """A metric, and by how much each row moves it."""

    value: float
    influence: FloatArray


def _paired(
    name: str, champion: _Contributions, challenger: _Contributions, sign: float = 1.0
) -> Challenge:
    gain = sign * (challenger.value - champion.value)
    error = float(np.sqrt(np.square(challenger.influence - champion.influence).sum()))
    reach = _QUANTILE * error
    return Challenge(name, champion.value, challenger.value, gain, gain - reach, gain + reach)


def _by_area(positive: AnyArray, scores: FloatArray, weight: FloatArray) -> _Contributions:
    rows = Rows(None, positive, weight, np.zeros(len(positive), dtype=np.int64))
    found = HeldOutArea.of(scores, rows, [0])
    return _Contributions(found.area, found.influence)


def _by_ks(positive: AnyArray, scores: FloatArray, weight: FloatArray) -> _Contributions:
    """Return KS; at its best threshold, moving that changes nothing to first order."""
    curve = Curve.of(positive, scores, weight)
    index = int(np.argmax(curve.tpr - curve.fpr))
    flagged = scores > curve.threshold(index)
    return _at_cutoff(FromRates(_youden), positive, flagged, weight)


def _youden(tpr: Any, fpr: Any, prior: Any) -> Any:  # noqa: ARG001 - a function of the rates
    return tpr - fpr


def _at_cutoff(
    metric: Any, positive: AnyArray, flagged: AnyArray, weight: FloatArray
) -> _Contributions:
    """Return a metric of both rates and the share of positives, by the delta method."""
    rates, parts = [], []
    for inside in (positive, ~positive):
        share = np.where(inside, weight, 0.0) / float(weight[inside].sum())
        rates.append(float(share @ flagged))
        parts.append(share * (flagged - rates[-1]))
    prior = float(weight @ positive) / float(weight.sum())
    parts.append(weight / weight.sum() * (positive - prior))
    point = np.array([*rates, prior])
    influence: FloatArray = np.zeros(len(positive))
    for k, part in enumerate(parts):
        low, high = point.copy(), point.copy()
        low[k], high[k] = max(point[k] - _STEP, 0.0), min(point[k] + _STEP, 1.0)
        slope = (metric.at_rates(*high.tolist()) - metric.at_rates(*low.tolist())) / (
            high[k] - low[k]
        )
        influence += float(slope) * part
    return _Contributions(float(metric.at_rates(*point.tolist())), influence)
