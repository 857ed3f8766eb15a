"""OperatingPoint: the threshold of a classifier, and the rates to expect there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from directrix._normal import cdf, z_value
from directrix._printing import html_table, text_table
from directrix.metrics import FromRates
from directrix.metrics.curve import precision_of
from directrix.models.intervals import (
    Intervals,
    Rates,
    Sizes,
    intervals_of,
)

if TYPE_CHECKING:
    from directrix.metrics.base import Metric
    from directrix.metrics.budget import KeptBudget
    from directrix.metrics.curve import Curve
    from directrix.models.money import Money
    from directrix.moments.projection import ScoreMoments

#: What reports call the rates, before the metric itself.
_RATE_NAMES = ("recall", "FPR", "precision")


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
    money : Money, optional
        What decisions cost and save, where the metric is a cost with columns. The rates are those
        of rows, whatever they cost.
    budget : KeptBudget, optional
        Thresholds that keep a budget of alerts, of scores less the threshold; of the expected
        saving of rows, where each is decided about by its own costs.
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
    money: Money | None = field(default=None, repr=False)
    budget: KeptBudget | None = field(default=None, repr=False)

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
        by = f"threshold {self.threshold:.6g}"
        if getattr(self.metric, "by_row", False):
            by = "decided row by row"
        lines = [f"{self.metric.label}, {by}", *text_table(self.table())]
        if self.money is not None:
            lines.append(str(self.money))
        return "\n".join([*lines, *self.notes])


def _number_or_interval(value: float | tuple[float, float]) -> str:
    """Return a rate or its interval as text; empty if it is not known."""
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
            rates = point.predicted if point.expected is None else point.expected
            interval = ""
            if point.intervals is not None:
                interval = _number_or_interval(point.intervals.metric)
            numbers = (rates.tpr, rates.fpr, rates.precision, rates.metric)
            shown = (f"{number:.4f}" for number in numbers)
            texts.append((point.metric.label, f"{point.threshold:.6g}", *shown, interval))
        return texts

    def __str__(self) -> str:
        return "\n".join(["expected on new rows", *text_table([self._HEADER, *self._texts()])])

    def _repr_html_(self) -> str:
        """Return the table as HTML for notebooks."""
        return html_table(self._HEADER, self._texts(), "expected on new rows")


@dataclass(frozen=True)
class OnRows:
    """A classifier on rows that had no part in its fit: its curve, and its threshold by index."""

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
