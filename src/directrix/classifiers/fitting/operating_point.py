"""OperatingPoint: the threshold of a classifier, and the rates there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from directrix._normal import cdf, z_value
from directrix.classifiers.fitting.intervals import Intervals, Rates, Sizes, intervals_of
from directrix.metrics.curve import precision_of

if TYPE_CHECKING:
    from directrix.metrics import Curve, Metric
    from directrix.moments.projection import ScoreMoments


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
    """

    metric: Metric
    threshold: float
    predicted: Rates
    empirical: Rates | None = None
    rows: str | None = None
    expected: Rates | None = field(default=None, repr=False)
    intervals: Intervals | None = field(default=None, repr=False)
    guarantee: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        head = f"{'':10}{'predicted':>10}"
        if self.empirical is not None:
            head += f"{'on ' + str(self.rows):>34}"
        if self.expected is not None:
            head += f"{'expected on new rows':>24}  95 % interval"
        lines = [f"{self.metric}, threshold {self.threshold:.6g}", head]
        for name in Rates._fields:
            line = f"{name:10}{getattr(self.predicted, name):10.4f}"
            if self.empirical is not None:
                line += f"{getattr(self.empirical, name):34.4f}"
            if self.expected is not None:
                line += f"{getattr(self.expected, name):24.4f}"
            if self.expected is not None and self.intervals is not None:
                low, high = getattr(self.intervals, name)
                line += f"  {low:.4f} to {high:.4f}"
            lines.append(line)
        if self.guarantee is not None:
            lines.append(f"kept on new rows: {self.guarantee}")
        return "\n".join(lines)


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
        best = self._rates(metric, metric.best(curve).place)
        of_metric = intervals_of(metric, best, curve, sizes, level).metric
        return intervals._replace(metric=of_metric)

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
