"""OperatingPoint: where a classifier cuts, what was seen there, and what to expect on new rows."""

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
    """Where a classifier cuts, and the rates there.

    Parameters
    ----------
    metric : Metric
        What the classifier was trained for.
    threshold : float
        Least score ``coef_ @ x`` that is predicted positive: minus the intercept.
    predicted : Rates
        From the four numbers of the scores, as if these were normal.
    empirical : Rates, optional
        On the rows that also chose the candidate and the threshold: too good to be true of others.
    rows : str, optional
        Which rows these were.
    expected : Rates, optional
        To be expected on new rows: of rows that chose neither candidate nor threshold.
    intervals : Intervals, optional
        95 % intervals of what is expected.
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
    """What rows that chose nothing say of a classifier: its curve, and where it cuts.

    Parameters
    ----------
    curve : Curve
    place : int
        Index of the threshold on the curve.
    sizes : Sizes
        Rows of each class; with weights, their effective number.
    """

    curve: Curve
    place: int
    sizes: Sizes

    def rates(self, metric: Metric) -> Rates:
        """Return the rates at the threshold, and the metric.

        A metric that fixes its own threshold has it set on these rows.
        """
        return self._rates(metric, self.place)

    def intervals(self, metric: Metric, level: float = 0.95) -> Intervals:
        """Return intervals of the rates and of the metric."""
        curve, sizes = self.curve, self.sizes
        found = intervals_of(metric, self.rates(metric), curve, sizes, level)
        if not metric.fixes_threshold:
            return found
        there = self._rates(metric, metric.best(curve).index)
        of_metric = intervals_of(metric, there, curve, sizes, level).metric
        return found._replace(metric=of_metric)

    def _rates(self, metric: Metric, place: int) -> Rates:
        curve = self.curve
        tpr, fpr, precision = (
            float(each[place]) for each in (curve.tpr, curve.fpr, curve.precision)
        )
        return Rates(tpr, fpr, precision, metric.value_at(curve, place))


def predicted_rates(scores: ScoreMoments, metric: Metric, n_rows: float) -> Rates:
    """Return the rates of normal scores at threshold zero, and the metric."""
    tpr = cdf(z_value(scores.mean_pos, scores.var_pos))
    fpr = cdf(z_value(scores.mean_neg, scores.var_neg))
    metric_value = float(metric.of_loss(metric.risk(n_rows).value(scores)))
    return Rates(tpr, fpr, float(precision_of(tpr, fpr, scores.prior)), metric_value)
