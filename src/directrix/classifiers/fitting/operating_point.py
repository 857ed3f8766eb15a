"""OperatingPoint: the threshold of a classifier, and the rates to expect there."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix._normal import cdf, z_value
from directrix.classifiers.fitting.choice import Choice, sizes_of
from directrix.classifiers.fitting.intervals import (
    Intervals,
    Rates,
    Sizes,
    intervals_of,
    on_logit_scale,
    precision_interval,
    ranking_variance,
    rates_of,
)
from directrix.frontier.compare import curve_maker
from directrix.metrics import FromRates
from directrix.metrics.curve import precision_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.classifiers.fitting.refit_change import RefitChange
    from directrix.classifiers.fitting.training_rows import TrainingRows
    from directrix.metrics.base import Metric
    from directrix.metrics.curve import Curve
    from directrix.moments.projection import ScoreMoments

#: What reports call the rates, before the metric itself.
_RATE_NAMES = ("recall", "FPR", "precision")
#: Standard deviation of a claim about the truth, relative to that of the rate of as many rows: the
#: candidate, the threshold and the models of the folds vary with the rows too. Measured on samples
#: of real populations (benchmarks/studies/new_rows). At a limit the curve itself shows how the
#: metric varies with the threshold, so that less is left.
_SPREAD, _SPREAD_AT_LIMIT = 1.7, 1.4
#: Rows of a class, by weight, of which one can be held out; rounding may take a little off.
_FEWEST = 2.0 - 1e-9


@dataclass(frozen=True)
class OperatingPoint:
    """The threshold of a classifier, and the rates there.

    Parameters
    ----------
    metric : Metric
        Metric that the classifier was trained for.
    threshold : float
        Rows with ``coef_ @ x`` above it are predicted positive: minus the intercept.
    predicted : Rates
        From the mean and variance of the scores of each class, as if these were normal.
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
    """

    metric: Metric
    threshold: float
    predicted: Rates
    empirical: Rates | None = None
    rows: str | None = None
    expected: Rates | None = field(default=None, repr=False)
    intervals: Intervals | None = field(default=None, repr=False)
    guarantee: str | None = field(default=None, repr=False)
    weighted_by: str = field(default="", repr=False)

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
        columns.append(("if scores were normal", self.predicted))
        table = [["", *(header for header, _ in columns)]]
        for field_name, name in zip(Rates._fields, (*_RATE_NAMES, self.metric.label), strict=True):
            values = (getattr(rates, field_name) for _, rates in columns)
            table.append([name, *map(_number_or_interval, values)])
        return table

    def __str__(self) -> str:
        lines = [f"{self.metric.label}, threshold {self.threshold:.6g}", *aligned(self.table())]
        return "\n".join([*lines, *self.notes])


def _number_or_interval(value: float | tuple[float, float]) -> str:
    """Return a rate or its interval as text; empty if it is not known."""
    if isinstance(value, tuple):
        low, high = value
        return "" if np.isnan(low) else f"{low:.4f} to {high:.4f}"
    return "" if np.isnan(value) else f"{value:.4f}"


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows of a table as lines, the first column aligned left and all others right."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            text.ljust(width) if k == 0 else text.rjust(width)
            for k, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


class OperatingPoints(tuple[OperatingPoint, ...]):
    """Several operating points of one model, which print as a table."""

    __slots__ = ()
    _HEADER = ("for", "threshold", "recall", "FPR", "precision", "metric", "95 % interval")

    def _texts(self) -> list[tuple[str, ...]]:
        texts = []
        for point in self:
            rates = point.predicted if point.expected is None else point.expected
            interval = ""
            if point.intervals is not None:
                interval = _number_or_interval(point.intervals.metric)
            numbers = (rates.tpr, rates.fpr, rates.precision, rates.metric)
            shown = (f"{number:.4f}" for number in numbers)
            texts.append((point.metric.label, f"{point.threshold:.6g}", *shown, interval))
        return texts

    def __str__(self) -> str:
        return "\n".join(["expected on new rows", *aligned([self._HEADER, *self._texts()])])

    def _repr_html_(self) -> str:
        """Return the table as HTML for notebooks."""
        head = "".join(f"<th>{escape(name)}</th>" for name in self._HEADER)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>"
            for row in self._texts()
        )
        caption = "<caption>expected on new rows</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


class Assessment(NamedTuple):
    """Rates of a line at its threshold.

    Parameters
    ----------
    empirical : Rates
        On the rows that chose the candidate and the threshold.
    expected : Rates
        On new rows.
    intervals : Intervals
        95 % intervals of the expected rates.
    rows : str
        Which rows these were.
    choice : Choice, optional
        The choice among candidates, if there was one.
    guarantee : str, optional
        Limits that are kept on new rows, and with what confidence.
    """

    empirical: Rates
    expected: Rates
    intervals: Intervals
    rows: str
    choice: Choice | None = None
    guarantee: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether rows were held out, so that there is something to expect of new ones.

        A class of one row, by weight, is in every fit: its score says nothing of new rows.
        """
        return self.choice is None or min(self.choice.sizes) >= _FEWEST

    @classmethod
    def of(
        cls,
        choice: Choice,
        curve: Curve,
        index: int,
        rows: str,
        change: RefitChange | None = None,
    ) -> Assessment:
        """Assess the chosen candidate at one threshold of its held-out curve.

        Parameters
        ----------
        choice : Choice
        curve : Curve
            Of the held-out scores.
        index : int
            Index of the threshold on the curve.
        rows : str
            Which rows these are.
        change : RefitChange, optional
            How the line refitted to all rows differs from those of the folds.
        """
        metric = choice.metric
        rates = float(curve.tpr[index]), float(curve.fpr[index])
        value = None if metric.uses_threshold else metric.best_value(curve)
        empirical = rates_of(metric, *rates, curve.prior, value)
        expected = choice.expected(shown=empirical)
        optimism = empirical.metric - expected.metric
        if change is not None:
            expected = change.applied(metric, expected, curve.prior)
        expected = _no_better(metric, expected, empirical, curve.prior)
        sizes = choice.sizes.over(_SPREAD if metric.limit is None else _SPREAD_AT_LIMIT)
        less_sure = sizes.less_sure(empirical, expected)
        intervals = intervals_of(metric, expected, curve, less_sure)._replace(
            precision=precision_interval(metric, expected, curve, less_sure)
        )
        if not metric.uses_threshold:
            # What the choice promised too much is known as badly as it is large.
            variance = ranking_variance(curve, sizes, metric) + optimism**2
            intervals = intervals._replace(metric=on_logit_scale(expected.metric, variance))
        if metric.limit is not None:
            # The threshold itself rests on a count of few rows, whatever rate is expected.
            observed = intervals_of(metric, empirical, curve, sizes)
            rate = metric.limit.rate
            ends = getattr(observed, rate), getattr(intervals, rate)
            hull = min(low for low, _ in ends), max(high for _, high in ends)
            intervals = intervals._replace(**{rate: hull})
        return cls(empirical, expected, intervals, rows, choice)

    @classmethod
    def of_rows(cls, metric: Metric, rows: TrainingRows, scores: FloatArray) -> Assessment:
        """Assess a threshold at zero that the rows did not set: expect what they show."""
        curve = curve_maker(rows.positive, rows.weight)(scores)
        index = int(np.count_nonzero(curve.levels > 0))
        rates = float(curve.tpr[index]), float(curve.fpr[index])
        observed = rates_of(metric, *rates, curve.prior, None)
        intervals = intervals_of(metric, observed, curve, sizes_of(rows).over(_SPREAD))
        return cls(observed, observed, intervals, rows.name)


def _no_better(metric: Metric, expected: Rates, shown: Rates, prior: float) -> Rates:
    """Return what to expect, which is never better than what held-out rows showed."""
    sign = 1.0 if metric.greater_is_better else -1.0
    if sign * expected.metric <= sign * shown.metric:
        return expected
    if not metric.uses_threshold:
        return expected._replace(metric=shown.metric)
    # A limit is kept on average, so that new rows may exceed what these rows show of its rate.
    rate = None if metric.limit is None else metric.limit.rate
    tpr = expected.tpr if rate == "tpr" else shown.tpr
    fpr = expected.fpr if rate == "fpr" else shown.fpr
    return rates_of(metric, tpr, fpr, prior, shown.metric)


@dataclass(frozen=True)
class OnRows:
    """A classifier on rows that had no part in its fit: its curve and its threshold.

    Parameters
    ----------
    curve : Curve
    index : int
        Index of the threshold on the curve.
    sizes : Sizes
        Effective sample size of each class.
    """

    curve: Curve
    index: int
    sizes: Sizes

    def rates(self, metric: Metric) -> Rates:
        """Return the rates at the threshold, and the metric.

        A metric with a limit or a quota sets its own threshold on these rows.
        """
        return self._rates(metric, self.index)

    def intervals(self, metric: Metric, level: float = 0.95) -> Intervals:
        """Return intervals of the rates and of the metric."""
        curve, sizes = self.curve, self.sizes
        intervals = intervals_of(metric, self.rates(metric), curve, sizes, level)
        if not metric.fixes_threshold:
            return intervals
        best = self._rates(metric, metric.best(curve).index)
        of_metric = intervals_of(metric, best, curve, sizes, level).metric
        return intervals._replace(metric=of_metric)

    def at_threshold(
        self, metric: Metric, level: float = 0.95
    ) -> tuple[float, tuple[float, float]]:
        """Return the metric at the threshold of the model, and its interval.

        A metric with a limit or a quota has the threshold of the model here, whether or not the
        limit is kept on these rows; a ranking has none.

        Parameters
        ----------
        metric : Metric
        level : float
        """
        if not metric.fixes_threshold:
            return self.rates(metric).metric, self.intervals(metric, level).metric
        fixed = FromRates(metric.at_rates, metric.greater_is_better)
        rates, intervals = self.rates(fixed), self.intervals(fixed, level)
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


def predicted_rates(scores: ScoreMoments, metric: Metric, n_rows: float) -> Rates:
    """Return the rates of normal scores at threshold zero, and the metric."""
    tpr = cdf(z_value(scores.mean_pos, scores.var_pos))
    fpr = cdf(z_value(scores.mean_neg, scores.var_neg))
    metric_value = float(metric.of_loss(metric.risk(n_rows).value(scores)))
    return Rates(tpr, fpr, float(precision_of(tpr, fpr, scores.prior)), metric_value)
