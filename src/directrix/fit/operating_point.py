"""OperatingPoint: threshold, rates to expect, their intervals, and calibrated probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit

from directrix._printing import html_table, text_table
from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.fit.money import Money, stated_metric
from directrix.fit.report import UNKNOWN, Estimate
from directrix.fit.segment_rates import SegmentRates
from directrix.fit.shares import LEVEL, on_logit_scale, wilson
from directrix.metrics import AUC, FromRates
from directrix.metrics.base import Curve, Metric, precision_of
from directrix.metrics.budget import KeptBudget

# ── Calibration: probabilities from scores by a sigmoid that increases with the score ─────────────


LEAST_SLOPE = 1e-6  # for scores of standard deviation one; keeps the sigmoid increasing
_STEEPEST = 20.0  # logarithm of the steepest slope


@dataclass(frozen=True)
class Calibration:
    r"""Probability of the positive class at score s, increasing in s.

    .. math:: p(s) = \frac{1}{1 + e^{-(c + a \min(s, 0) + b \max(s, 0))}}, \qquad a, b > 0

    a sigmoid with one slope for the rows predicted negative and one for those predicted positive.

    Parameters
    ----------
    offset : float
        c, the log-odds at the threshold.
    below, above : float
        a and b, the slopes on either side of it.
    how : str
        How the parameters were obtained.
    """

    offset: float
    below: float
    above: float
    how: str

    def log_odds(self, scores: Any) -> FloatArray:
        """Return the log-odds of the positive class at each score."""
        scores = np.asarray(scores, dtype=np.float64)
        odds: FloatArray = self.offset + np.where(scores < 0, self.below, self.above) * scores
        return odds

    def sign_flipped(self) -> Calibration:
        """Return the probability of the other class, at scores of the other sign."""
        return replace(self, offset=-self.offset, below=self.above, above=self.below)

    def __call__(self, scores: Any) -> FloatArray:
        """Return the probability of the positive class at each score."""
        probability: FloatArray = expit(self.log_odds(scores))
        return probability


def calibration_from_scores(
    positive: AnyArray,
    scores: FloatArray,
    weight: FloatArray,
    which_rows: str,
    at_threshold: float | None = None,
) -> Calibration:
    r"""Fit the sigmoid to rows by maximum likelihood (Platt 1999), with a slope on either side.

    Labels are replaced by :math:`(n_+ + 1) / (n_+ + 2)` and :math:`1 / (n_- + 2)`, so that slopes
    stay finite if the scores separate the classes. scikit-learn's logistic regression does not
    accept such targets. If the metric fixes the probability at score zero, such as one half for the
    error, it is given as `at_threshold`.
    """
    n_pos = float(weight @ positive)
    n_neg = float(weight.sum()) - n_pos
    target = np.where(positive, (n_pos + 1.0) / (n_pos + 2.0), 1.0 / (n_neg + 2.0))
    share = weight / weight.sum()
    spread = float(np.sqrt(share @ scores**2)) or 1.0
    sides = np.stack([np.minimum(scores, 0.0), np.maximum(scores, 0.0)]) / spread
    free = at_threshold is None
    offset = float(logit(share @ target)) if at_threshold is None else float(logit(at_threshold))

    # In the logarithms of the slopes, which keeps them positive.
    def parts(parameters: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        slopes = np.exp(np.minimum(parameters[:2], _STEEPEST))
        eta = slopes @ sides + (parameters[2] if free else offset)
        by = np.vstack([slopes[:, None] * sides, np.ones_like(scores)])
        return eta, share * (expit(eta) - target), by if free else by[:2]

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        eta, residual, by = parts(parameters)
        likelihood = share @ (target * log_expit(eta) + (1.0 - target) * log_expit(-eta))
        return -float(likelihood), by @ residual

    def hessian(parameters: FloatArray) -> FloatArray:
        eta, residual, by = parts(parameters)
        curvature = (by * (share * expit(eta) * expit(-eta))) @ by.T
        curvature[[0, 1], [0, 1]] += by[:2] @ residual
        # A side without rows has no curvature.
        return curvature + LEAST_SLOPE**2 * np.eye(len(by))  # type: ignore[no-any-return]

    start = np.array([0.0, 0.0, offset] if free else [0.0, 0.0])
    fit = minimize(
        loss, start, jac=True, hess=hessian, method="trust-exact", options={"gtol": 1e-11}
    )
    slopes = np.maximum(np.exp(np.minimum(fit.x[:2], _STEEPEST)), LEAST_SLOPE) / spread
    filled = sides.any(axis=1)
    # Beyond the rows, where one side has none, the line goes on.
    below, above = slopes if filled.all() or not filled.any() else slopes[filled].repeat(2)
    offset = float(fit.x[2]) if free else offset
    return Calibration(offset, float(below), float(above), f"sigmoid fitted to {which_rows}")


# ── Confidence intervals of rates and metrics from effective sample sizes ─────────────────────────


_DRAWS = 2000


class Rates(NamedTuple):
    """Rates at a threshold, and the value of the metric."""

    tpr: float
    fpr: float
    precision: float
    metric: float


class Intervals(NamedTuple):
    """Lower and upper end of the interval of each rate and of the metric."""

    tpr: tuple[float, float]
    fpr: tuple[float, float]
    precision: tuple[float, float]
    metric: tuple[float, float]

    def hull(self, other: Intervals) -> Intervals:
        """Return the least intervals that contain both of each rate."""
        pairs = zip(self, other, strict=True)
        return Intervals(*((min(a[0], b[0]), max(a[1], b[1])) for a, b in pairs))


class EffectiveCounts(NamedTuple):
    """Effective sample size of each class."""

    n_pos: float
    n_neg: float

    @property
    def variance_by_chance(self) -> float:
        """Variance of the area under the ROC curve of random scores (Mann and Whitney 1947)."""
        return (self.n_pos + self.n_neg + 1.0) / (12.0 * self.n_pos * self.n_neg)

    def over(self, factor: float) -> EffectiveCounts:
        """Return the sizes divided by a factor."""
        return EffectiveCounts(self.n_pos / factor, self.n_neg / factor)

    def less_sure(self, shown: Rates, expected: Rates) -> EffectiveCounts:
        """Return smaller sizes: what rates promised too much is known as badly as it is large.

        The variance of a rate, :math:`p (1 - p) / n`, grows by the square of its correction.
        """
        squares = (
            (before - after) ** 2 for before, after in zip(shown[:2], expected[:2], strict=True)
        )
        return self.with_variance(expected, tuple(squares))

    def with_variance(self, rates: Rates, added: Sequence[float]) -> EffectiveCounts:
        """Return smaller sizes, by what is added to the variances of both rates."""
        sizes = []
        for n_rows, rate, more in zip(self, rates[:2], added, strict=True):
            variance = max(rate * (1.0 - rate), 1.0 / max(n_rows, 1.0)) / n_rows
            sizes.append(n_rows / (1.0 + more / variance))
        return EffectiveCounts(*sizes)


class ClaimVariance(NamedTuple):
    """Variance of a claim about new rows, relative to that of a rate of as many rows.

    ``best`` is for thresholds at which a metric is best, ``at_limit`` for those that a limit on a
    rate sets. If the other rate is then ``along_curve``, it varies with the threshold too: the
    claim is about another model than the one whose scores set the threshold. The scores of one
    model have a threshold that depends on the rows of one class only, so that the rate of the other
    class is the share of independent rows above it.
    """

    best: float
    at_limit: float
    along_curve: bool = True

    def of(self, metric: Metric) -> float:
        """Return the factor for the threshold of a metric."""
        return self.best if metric.limit is None else self.at_limit


#: Lines and cards: the candidate, the threshold and the models of the folds vary with the rows too.
#: Measured on samples of real populations (benchmarks/studies/new_rows). At a limit the curve
#: itself shows how the metric varies with the threshold, so that less is left.
OF_LINES = ClaimVariance(1.7, 1.4)
#: Scores of one model, which was fitted to other rows: nothing varies but the rows.
OF_GIVEN_SCORES = ClaimVariance(1.0, 1.0, along_curve=False)
#: Cross-fitted scores of one estimator: the final one differs from those of the folds. Measured on
#: samples of real populations.
OF_CROSS_FITTED = ClaimVariance(1.1, 1.2, along_curve=False)


def intervals_of(
    metric: Metric,
    rates: Rates,
    curve: Curve,
    sizes: EffectiveCounts,
    *,
    along_curve: bool = True,
) -> Intervals:
    r"""Return the intervals of rates (Wilson) and of a metric, on the curve of the scores.

    A metric with a threshold is a function of both rates and of the share of positives. Each is
    drawn from its posterior, :math:`\mathrm{Beta}(k + \frac12, n - k + \frac12)`, so that nothing
    is held fixed that would differ in another sample, and an interval has positive width even if
    no row was wrong. A ranking has DeLong's interval. ``along_curve`` is that of `ClaimVariance`.
    """
    predicted = rates.tpr * sizes.n_pos + rates.fpr * sizes.n_neg
    intervals = Intervals(
        wilson(rates.tpr, sizes.n_pos),
        wilson(rates.fpr, sizes.n_neg),
        wilson(rates.precision, predicted),
        (rates.metric, rates.metric),
    )
    if not metric.uses_threshold:
        variance = ranking_variance(curve, sizes, metric)
        return intervals._replace(metric=on_logit_scale(rates.metric, variance))
    tpr, fpr, share = draws = _posterior_draws(metric, rates, curve, sizes, along_curve=along_curve)
    ends = {"metric": _quantile_interval(metric.at_rates(tpr, fpr, share), rates.metric)}
    if metric.limit is not None:
        if metric.limit.rate != "tpr":
            ends["tpr"] = _quantile_interval(tpr, rates.tpr)
        if metric.limit.rate != "fpr":
            ends["fpr"] = _quantile_interval(fpr, rates.fpr)
        ends["precision"] = _quantile_interval(precision_of(*draws), rates.precision)
    return intervals._replace(**ends)


def square_and_add(
    metric: Metric, rates: Rates, curve: Curve, sizes: EffectiveCounts
) -> tuple[float, float]:
    r"""Return the interval of a metric in closed form, from Wilson's intervals of the rates.

    .. math:: m - \sqrt{\sum_j \min(0, m_j)^2}, \quad m + \sqrt{\sum_j \max(0, m_j)^2}

    where :math:`m_j` is the change of the metric if the true- or false-positive rate or the share
    of positives alone is at the end of its interval (Newcombe 1998, Zou and Donner 2008). A rate
    that sets the threshold moves the other along the curve, as in `intervals_of`, which draws.
    """
    points = np.array([rates.tpr, rates.fpr, curve.prior])
    n_rows = (sizes.n_pos, sizes.n_neg, sizes.n_pos + sizes.n_neg)
    limited = None if metric.limit is None else metric.limit.rate
    down = up = 0.0
    for k, (point, n) in enumerate(zip(points.tolist(), n_rows, strict=True)):
        changes = [0.0]
        for end in wilson(point, n):
            moved = points.copy()
            moved[k] = end
            if k == 1 and limited == "fpr":
                low, high = np.interp([point, end], curve.fpr, curve.tpr)
                moved[0] = np.clip(moved[0] + high - low, 0.0, 1.0)
            elif k == 0 and limited == "tpr":
                low, high = np.interp([point, end], curve.tpr, curve.fpr)
                moved[1] = np.clip(moved[1] + high - low, 0.0, 1.0)
            changes.append(float(metric.at_rates(*moved.tolist())) - rates.metric)
        down, up = down + min(changes) ** 2, up + max(changes) ** 2
    return float(rates.metric - np.sqrt(down)), float(rates.metric + np.sqrt(up))


def precision_interval(
    metric: Metric, rates: Rates, curve: Curve, sizes: EffectiveCounts
) -> tuple[float, float]:
    """Return the interval of the precision if the threshold itself is uncertain.

    Both rates and the share of positives vary; Wilson's interval takes the rows that are predicted
    positive as given.
    """
    draws = _posterior_draws(metric, rates, curve, sizes, along_curve=True)
    return _quantile_interval(precision_of(*draws), rates.precision)


def _posterior_draws(
    metric: Metric, rates: Rates, curve: Curve, sizes: EffectiveCounts, *, along_curve: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return posterior draws of both rates and of the share of positives.

    If a limit on one rate sets the threshold, the other rate moves with it along the curve: the
    steeper the curve there, the less certain the other rate is.
    """
    rng = np.random.default_rng(0)
    n = sizes.n_pos + sizes.n_neg
    tpr, fpr, share = (
        rng.beta(value * size + 0.5, (1.0 - value) * size + 0.5, _DRAWS)
        for value, size in ((rates.tpr, sizes.n_pos), (rates.fpr, sizes.n_neg), (curve.prior, n))
    )
    limited = None if metric.limit is None or not along_curve else metric.limit.rate
    if limited == "fpr":
        along = np.interp([*fpr, rates.fpr], curve.fpr, curve.tpr)
        tpr = np.clip(tpr + along[:-1] - along[-1], 0.0, 1.0)
    elif limited == "tpr":
        along = np.interp([*tpr, rates.tpr], curve.tpr, curve.fpr)
        fpr = np.clip(fpr + along[:-1] - along[-1], 0.0, 1.0)
    return tpr, fpr, share


def _quantile_interval(draws: FloatArray, value: float) -> tuple[float, float]:
    tail = (1.0 - LEVEL) / 2.0
    low, high = np.quantile(draws, [tail, 1.0 - tail])
    return float(min(low, value)), float(max(high, value))


def ranking_variance(curve: Curve, sizes: EffectiveCounts, metric: Any) -> float:
    r"""Return the variance of a ranking metric.

    .. math:: \mathrm{Var}(V_+) / n_+ + \mathrm{Var}(V_-) / n_-

    with what rows contribute, V (`RankingMetric.row_values`). Where classes are separated all V
    are equal: the variance is at least that of an area half a row below one (Hanley and McNeil
    1982).
    """
    variance = _covariance(metric.row_values(curve), metric.row_values(curve), curve, sizes)
    fewest = max(min(sizes), 1.0)
    area = 1.0 - 0.5 / (fewest + 1.0)
    return max(variance, area * (1.0 - area) / fewest / 3.0)


def slope_on_area(metric: Any, curve: Curve, sizes: EffectiveCounts) -> float:
    """Return by how much a ranking metric rises with the AUC, if rows make both larger by chance.

    This is the slope of the regression of the one on the other over samples of rows, from what
    rows contribute to each (`RankingMetric.row_values`).
    """
    values, areas = metric.row_values(curve), AUC().row_values(curve)
    variance = _covariance(areas, areas, curve, sizes)
    return _covariance(values, areas, curve, sizes) / variance if variance else 0.0


def _covariance(
    first: Sequence[FloatArray], second: Sequence[FloatArray], curve: Curve, sizes: EffectiveCounts
) -> float:
    """Return the covariance of two ranking metrics, from what rows of each class contribute."""
    covariance = 0.0
    rows = curve.true_positives, curve.false_positives
    for one, other, above, size in zip(first, second, rows, sizes, strict=True):
        share = np.diff(above) / above[-1]
        centred = (one - share @ one) * (other - share @ other)
        covariance += float(share @ centred) / max(size, 1.0)
    return covariance


def interval_method(metric: Metric) -> str:
    """Return the method of the interval of a metric in words."""
    return getattr(metric, "variance_method", "posterior draws")


def rates_of(metric: Metric, tpr: float, fpr: float, prior: float, value: float | None) -> Rates:
    """Return rates with the precision and the metric; `value` is given for a ranking."""
    if value is None:
        value = float(metric.at_rates(tpr, fpr, prior))
    return Rates(tpr, fpr, float(precision_of(tpr, fpr, prior)), value)


# ── OperatingPoint: the threshold of a classifier, and the rates to expect there ──────────────────


#: What reports call the rates, before the metric itself.
_RATE_NAMES = ("recall", "FPR", "precision")


@dataclass(frozen=True)
class Rule:
    """Which rows a classifier flags, as data: it follows from an operating point, which is saved.

    Parameters
    ----------
    by_saving : bool
        Whether rows are compared by what flagging them saves in expectation, not by their score.
    threshold : float
        Rows above it are flagged; scores are less that of the operating point.
    budget : KeptBudget, optional
        Thresholds in its place, one for each team.
    """

    by_saving: bool = False
    threshold: float = 0.0
    budget: KeptBudget | None = None

    @property
    def team(self) -> str | None:
        """The column of teams that have thresholds of their own."""
        return None if self.budget is None else self.budget.budget.by

    def flags(self, values: FloatArray, team: IntArray | None = None) -> AnyArray:
        """Return whether rows are flagged, by their scores or savings; ``team`` as in `Periods`."""
        if self.budget is None:
            return values > self.threshold
        return values > self.budget.of_rows(team, len(values))


@dataclass(frozen=True)
class OperatingPoint:
    """The threshold of a classifier, and the rates there.

    Parameters
    ----------
    metric : Metric
        Metric that the classifier was trained for.
    threshold : float
        Minus the intercept, set by `fit.finish`: positive are rows with ``coef_ @ x`` above it.
    predicted : Rates, optional
        Without rows: the rates that the moments of each class imply if scores are normal.
    empirical : Rates, optional
        On the rows that also chose the candidate and the threshold, and therefore too good.
    rows : str, optional
        Name of these rows.
    expected : Rates, optional
        Expected on new rows, which chose neither the candidate nor the threshold.
    intervals : Intervals, optional
        95 % intervals of the expected rates.
    guarantee : str, optional
        Limits that are kept on new rows, and with what confidence.
    weighted_by : str, optional
        What the rates are weighted by, such as "sample_weight"; empty if every row counts the same.
    money : Money, optional
        What decisions cost and save, where the metric is a cost with columns. The rates are those
        of rows, whatever they cost.
    budget : KeptBudget, optional
        Thresholds that keep a budget of alerts, of scores less the threshold; of the expected
        saving of rows, where each is decided about by its own costs.
    segments : SegmentRates, optional
        The rates in each segment of the rows, where `fit` was given ``segment=``: on the rows that
        ``rows`` names, at this threshold. Files do not keep them.
    """

    metric: Metric
    threshold: float
    predicted: Rates | None = None
    empirical: Rates | None = None
    rows: str | None = None
    expected: Rates | None = field(default=None, repr=False)
    intervals: Intervals | None = field(default=None, repr=False)
    guarantee: str | None = field(default=None, repr=False)
    weighted_by: str = field(default="", repr=False)
    money: Money | None = field(default=None, repr=False)
    budget: KeptBudget | None = field(default=None, repr=False)
    segments: SegmentRates | None = field(default=None, repr=False)

    @property
    def rule(self) -> Rule:
        """Which rows are flagged."""
        by_saving, kept = bool(getattr(stated_metric(self.metric), "by_row", False)), self.budget
        if kept is not None and not by_saving and kept.budget.by is None:
            kept = None  # one threshold of the score, which is at zero
        return Rule(by_saving, budget=kept)

    @property
    def estimate(self) -> Estimate:
        """The metric to expect on new rows, with its interval; NaN if that is not known."""
        if self.expected is None or self.intervals is None:
            return UNKNOWN
        return Estimate(self.expected.metric, *self.intervals.metric)

    @property
    def origin(self) -> str | None:
        """Where the rates to expect come from: named rows, or "normal scores" of a summary."""
        if self.expected is None and self.predicted is not None:
            return "normal scores"
        return self.rows

    @property
    def predicts_one_class(self) -> bool:
        """Whether all rows that set the threshold are on one side of it."""
        rates = self.empirical
        return rates is not None and rates.tpr == rates.fpr and rates.tpr in (0.0, 1.0)

    @property
    def notes(self) -> list[str]:
        """What the rates are weighted by, and what is kept on new rows; one line each."""
        notes = [f"rates are weighted by {self.weighted_by}"] if self.weighted_by else []
        if self.guarantee is not None:
            notes.append(f"kept on new rows: {self.guarantee}")
        return notes

    def table(self) -> list[list[str]]:
        """Return the rates as rows of texts, with a header; what to expect on new rows is first."""
        columns: list[tuple[str, Rates | Intervals]] = []
        if self.expected is not None:
            columns.append(("expected on new rows", self.expected))
        if self.intervals is not None:
            columns.append(("95 % interval", self.intervals))
        if self.empirical is not None:
            columns.append((f"on {self.rows or 'rows'}", self.empirical))
        if self.predicted is not None:
            columns.append(("if scores were normal", self.predicted))
        table = [["", *(header for header, _ in columns)]]
        for field_name, name in zip(Rates._fields, (*_RATE_NAMES, self.metric.label), strict=True):
            values = (getattr(rates, field_name) for _, rates in columns)
            table.append([name, *map(_number_or_interval, values)])
        return table

    @property
    def _title(self) -> str:
        by_row = getattr(self.metric, "by_row", False)
        by = "decided row by row" if by_row else f"threshold {self.threshold:.6g}"
        normal = ", if scores were normal" if self.origin == "normal scores" else ""
        return f"{self.metric.label}, {by}{normal}"

    @property
    def _remarks(self) -> list[str]:
        return [*([] if self.money is None else [str(self.money)]), *self.notes]

    def __str__(self) -> str:
        lines = [self._title, *text_table(self.table()), *self._remarks]
        if self.segments is not None:
            lines += ["", self.segments_title, str(self.segments)]
        return "\n".join(lines)

    __repr__ = __str__

    @property
    def segments_title(self) -> str:
        """What the rates by segment are of."""
        return f"by segment, on {self.rows or 'rows'}"

    def to_html(self) -> str:
        """Return the rates as HTML, with the numbers of ``str``."""
        header, *rows = self.table()
        table = html_table(header, rows, self._title)
        notes = (f'<p style="white-space: pre-wrap">{escape(note)}</p>' for note in self._remarks)
        segments = ""
        if self.segments is not None:
            segments = f"<p>{escape(self.segments_title)}</p>{self.segments.to_html()}"
        return f"<div>{table}{''.join(notes)}{segments}</div>"

    _repr_html_ = to_html


def _number_or_interval(value: float | tuple[float, float]) -> str:
    if isinstance(value, tuple):
        low, high = value
        return "" if np.isnan(low) else f"{low:.4f} to {high:.4f}"
    return "" if np.isnan(value) else f"{value:.4f}"


class OperatingPoints(tuple[OperatingPoint, ...]):
    """Several operating points of one model, which print as a table."""

    __slots__ = ()
    _HEADER = ("for", "threshold", "recall", "FPR", "precision", "metric", "95 % interval")

    def _texts(self) -> list[tuple[str, ...]]:
        texts = []
        for point in self:
            rates: Any = point.expected or point.empirical or point.predicted
            interval = ""
            if point.intervals is not None:
                interval = _number_or_interval(point.intervals.metric)
            numbers = (rates.tpr, rates.fpr, rates.precision, rates.metric)
            shown = (f"{number:.4f}" for number in numbers)
            texts.append((point.metric.label, f"{point.threshold:.6g}", *shown, interval))
        return texts

    def __str__(self) -> str:
        return "\n".join(["expected on new rows", *text_table([self._HEADER, *self._texts()])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._HEADER, self._texts(), "expected on new rows")


@dataclass(frozen=True)
class OnRows:
    """A classifier on rows that had no part in its fit: its curve, and its threshold by index."""

    curve: Curve
    index: int
    sizes: EffectiveCounts

    def rates(self, metric: Metric) -> Rates:
        """Return the rates at the threshold, and the metric.

        A metric with a limit or a quota sets its own threshold on these rows.
        """
        return self._rates(metric, self.index)

    def intervals(self, metric: Metric) -> Intervals:
        """Return intervals of the rates and of the metric."""
        curve, sizes = self.curve, self.sizes
        intervals = intervals_of(metric, self.rates(metric), curve, sizes)
        if not metric.fixes_threshold:
            return intervals
        best = self._rates(metric, metric.best(curve).index)
        of_metric = intervals_of(metric, best, curve, sizes).metric
        return intervals._replace(metric=of_metric)

    def at_threshold(self, metric: Metric) -> tuple[float, tuple[float, float]]:
        """Return the metric at the threshold of the model, and its interval.

        A metric with a limit or a quota has the threshold of the model here, whether or not the
        limit is kept on these rows; a ranking has none.
        """
        if not metric.fixes_threshold:
            return self.rates(metric).metric, self.intervals(metric).metric
        fixed = FromRates(metric.at_rates, metric.greater_is_better)
        rates, intervals = self.rates(fixed), self.intervals(fixed)
        for name in ("tpr", "fpr", "precision"):  # most of these metrics are one of the rates
            if rates.metric == getattr(rates, name):
                return rates.metric, getattr(intervals, name)
        return rates.metric, intervals.metric

    def _rates(self, metric: Metric, index: int) -> Rates:
        curve = self.curve
        tpr, fpr, precision = (
            float(rate[index]) for rate in (curve.tpr, curve.fpr, curve.precision)
        )
        return Rates(tpr, fpr, precision, metric.value_at(curve, index))
