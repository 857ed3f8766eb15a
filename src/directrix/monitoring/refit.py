"""Another fit of a model, from a summary of recent rows, and what it changes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from directrix.classifiers import MomentClassifier, ScorecardClassifier
from directrix.classifiers.evaluation import BEST_CUTOFF
from directrix.classifiers.labels import positive_of
from directrix.metrics.curve import Curve
from directrix.metrics.table import resolve
from directrix.models.intervals import Rates, Sizes
from directrix.models.operating_point import OnRows, aligned, predicted_rates
from directrix.models.report import Gap
from directrix.moments import Moments
from directrix.moments.projection import ScoreMoments, project
from directrix.monitoring.retune import RATE_NAMES
from directrix.monitoring.vectors import labelled_pair
from directrix.tables import BinCounts, DifferentBinsError

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.moments import ScoreHistogram

# ── Champion against challenger: two models on the same rows, from their score histograms ─────────


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
        curve = Curve.of_histogram(scores)
        n_neg, n_pos = (scores.weight**2 / scores.weight_sq).tolist()
        index = int((curve.levels > threshold).sum())
        on_rows = OnRows(curve, index, Sizes(n_pos, n_neg))
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


# ── Another fit of a model, from a summary of recent rows, and what it changes ────────────────────

#: Changes of a model that are printed before the rest is only counted.
_PRINTED = 8


class Change(NamedTuple):
    """A coefficient, or the points of a column, before and after.

    Parameters
    ----------
    name : str
    before, after : float
        Coefficients times the standard deviation of the feature, in units of the standard
        deviation of the scores; for a card, the range of the points of the column in such units.
    """

    name: str
    before: float
    after: float


@dataclass(frozen=True)
class Refit:
    """A model that was fitted again to a summary, and what it changes.

    Parameters
    ----------
    model : fitted classifier
    before, after : Rates
        Of the old and of the new model on the new summary, if scores are normal in each class.
    changes : tuple of Change
        Largest first.
    """

    model: Any
    before: Rates
    after: Rates
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        metric = self.model.operating_point_.metric.label
        table = [["if scores are normal", "old model", "new model"]]
        for name, old, new in zip((*RATE_NAMES, metric), self.before, self.after, strict=True):
            table.append([name, f"{old:.4f}", f"{new:.4f}"])
        table += [["weight of", "", ""]]
        for change in self.changes[:_PRINTED]:
            table.append([change.name, f"{change.before:+.3f}", f"{change.after:+.3f}"])
        lines = aligned(table)
        if len(self.changes) > _PRINTED:
            lines.append(f"and {len(self.changes) - _PRINTED} more in .changes")
        return "\n".join(lines)


def refit(model: Any, summary: Moments | BinCounts) -> Refit:
    """Fit a model again to a summary, such as that of a window or of decayed days.

    A linear model becomes a `MomentClassifier` for the same metric, a card a card of the same bins
    in closed form: no row is read.

    Parameters
    ----------
    model : fitted classifier of two classes
    summary : Moments or BinCounts
        Labelled; from a `SummaryStore`: ``store.decayed("moments", half_life=30)``.
    """
    labelled = labelled_pair(summary, positive_of(model))
    if isinstance(model, ScorecardClassifier):
        if not isinstance(summary, BinCounts):
            msg = "a card is fitted again to BinCounts, the stream 'counts' of a store"
            raise TypeError(msg)
        _require_bins_of(model, summary)
        new = clone(model).fit_moments(summary)
    else:
        if not isinstance(summary, Moments):
            msg = "a linear model is fitted again to Moments, the stream 'moments' of a store"
            raise TypeError(msg)
        _require_features_of(model, summary)
        new = MomentClassifier(model.metric, positive=positive_of(model)).fit_moments(summary)
    metric = new.operating_point_.metric
    before, after = (
        predicted_rates(_moments_of_scores(each, labelled), metric, float(labelled.weight))
        for each in (model, new)
    )
    return Refit(new, before, after, _changes(model, new, labelled))


def _require_bins_of(model: Any, summary: BinCounts) -> None:
    """Raise DifferentBinsError for counts of other bins: the old points are not for them."""
    for bins, other in zip_longest(model.binner_.bins_, summary.bins):
        if bins != other:
            raise DifferentBinsError((bins or other).name)


def _require_features_of(model: Any, summary: Moments) -> None:
    """Raise ValueError for moments of other features than those of the model."""
    n_features = model.coef_.shape[1]
    if summary.n_features != n_features:
        msg = f"the moments have {summary.n_features} features and the model {n_features}"
        raise ValueError(msg)
    known = [str(name) for name in getattr(model, "feature_names_in_", ())]
    for name, other in zip(known, summary.feature_names or (), strict=False):
        if name != other:
            msg = f"the moments have feature {other!r} where the model has {name!r}"
            raise ValueError(msg)


def _moments_of_scores(model: Any, labelled: Any) -> ScoreMoments:
    """Return the moments of a model's scores on the rows of a summary, the positive class last."""
    sign = 1.0 if positive_of(model) == model.classes_.tolist()[-1] else -1.0
    if isinstance(labelled, Moments):
        return project(labelled, sign * np.append(model.coef_[0], model.intercept_[0]))
    card = model.card_
    sign = 1.0 if card.higher_is_positive else -1.0
    points = sign * np.concatenate(card.columns)
    means, variances, weights = [], [], []
    for label in labelled.classes.tolist():
        weight, mean, second = labelled.class_moments(label)
        value = float(mean @ points)
        means.append(value + sign * (card.intercept - card.cutoff))
        variances.append(max(float(points @ (second @ points)) - value**2, 0.0))
        weights.append(float(weight))
    prior = weights[1] / sum(weights)
    return ScoreMoments(means[1], variances[1], means[0], variances[0], prior)


def _changes(old: Any, new: Any, labelled: Any) -> tuple[Change, ...]:
    """Return the weight of each feature or column in both models, the largest change first."""
    weights = [_weights(model, labelled) for model in (old, new)]
    names = list(weights[0])
    changes = [Change(name, weights[0][name], weights[1].get(name, 0.0)) for name in names]
    return tuple(sorted(changes, key=lambda change: -abs(change.after - change.before)))


def _weights(model: Any, labelled: Any) -> dict[str, float]:
    scores = _moments_of_scores(model, labelled)
    pooled = scores.prior * scores.var_pos + (1.0 - scores.prior) * scores.var_neg
    deviation = float(np.sqrt(pooled)) or 1.0
    if isinstance(labelled, Moments):
        names = labelled.feature_names or tuple(f"x{k}" for k in range(labelled.n_features))
        sign = 1.0 if positive_of(model) == model.classes_.tolist()[-1] else -1.0
        sizes: FloatArray = sign * model.coef_[0] * labelled.feature_scales()
        return dict(zip(names, (sizes / deviation).tolist(), strict=True))
    card = model.card_
    return {
        bins.name: float(np.ptp(points)) / deviation
        for bins, points in zip(card.bins, card.columns, strict=True)
    }
