"""HistogramChoice: a candidate and its threshold, chosen on score histograms as on rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from directrix._typing import FloatArray
from directrix.fitting.choice import Choice, SelectionRule, limit_caution
from directrix.fitting.evidence import CountEvidence, HeldOut
from directrix.fitting.finish import End, FitResult, at_best_threshold, finish, warn_of
from directrix.fitting.guarantee import Guarantee
from directrix.fitting.trials import Trials
from directrix.frontier.compare import (
    Comparison,
    LeastLoss,
    best_values,
    compare,
    compare_values,
)
from directrix.frontier.criterion import ExactMetric
from directrix.frontier.curves import CountCurves, Curves
from directrix.metrics.base import Metric
from directrix.models.operating_point import (
    OF_LINES,
    ClaimVariance,
    EffectiveCounts,
    OperatingPoint,
)
from directrix.moments.score_histogram import ScoreHistogram


@dataclass(frozen=True, eq=False)
class HistogramChoice:
    """The candidate that is best on score histograms of all rows, with its held-out scores."""

    index: int
    choice: Choice
    evidence: CountEvidence

    @cached_property
    def best(self) -> End:
        """The best threshold of the candidate, and what to expect there."""
        return at_best_threshold(self.choice, self.evidence)


def finish_counts(
    choice: Choice,
    evidence: CountEvidence,
    line: FloatArray,
    guarantee: Guarantee | None = None,
    apart: CountEvidence | None = None,
) -> FitResult:
    """Finish the fit of a line of all rows whose scores are counted; see `finish`."""
    end = finish(choice.metric, choice, evidence, guarantee, apart)
    line = line.copy()
    line[-1] -= end.point.threshold
    return end.result(line)


def select_from_histograms(
    metric: Metric,
    folds: tuple[ScoreHistogram, ...],
    factors: tuple[float, float],
    trials: Trials | None = None,
    complexities: Sequence[float] | None = None,
    rule: SelectionRule | None = None,
    variance: ClaimVariance = OF_LINES,
) -> HistogramChoice:
    """Choose a candidate and its threshold on histograms, as on rows.

    ``folds`` are the held-out scores of all candidates, fold by fold. ``factors`` are the class
    weights of the negatives and of the positives. ``trials`` are what was chosen on some of the
    rows before the candidates were made. The best by the metric is chosen, or a size of a candidate
    by a ``rule``; sizes come after the candidates that have ``complexities``. ``variance`` is that
    of claims about new rows.
    """
    curves = Curves.of_counts(folds, factors)
    comparison = compare_histograms(metric, curves, complexities)
    if rule is None:
        rule = LeastLoss()
    else:
        comparison = _with_sizes(comparison, rule)
    index = rule(comparison.deciding)
    curve = curves[index].whole
    choice = Choice(
        metric,
        comparison.criterion,
        curves[0].parts(curves),
        comparison.deciding,
        comparison.pooled,
        comparison.values,
        rule,
        EffectiveCounts(*curves[0].sizes),
        curve.prior,
        trials,
        variance,
    )
    return HistogramChoice(index, choice, CountEvidence(folds, index, factors))


def compare_histograms(
    metric: Metric, curves: Sequence[CountCurves], complexities: Sequence[float] | None = None
) -> Comparison:
    """Compare candidates on all rows and on each fold; see `select_from_histograms`."""
    if complexities is not None:
        return compare(metric, curves, curves[0].criterion(metric), complexities)
    by = ExactMetric(metric)
    return compare_values(by, [best_values(by, each.whole, ()) for each in curves])


def _with_sizes(comparison: Comparison, rule: Any) -> Comparison:
    """Return what decides, for sizes too.

    By what a size is behind the full card in the metric, it is behind in what chose that card.
    """
    losses, deciding = comparison.losses, comparison.deciding.copy()
    sizes = slice(rule.n_candidates, None)
    deciding[sizes] = deciding[rule.chosen] + losses[sizes] - losses[rule.chosen]
    return comparison._replace(deciding=deciding)


def point_at(metric: Metric, held_out: HeldOut) -> OperatingPoint:
    """Return the best threshold for a metric, and the rates to expect there on new rows.

    Its threshold is how far it is above the present one, in units of the decision function. Raises
    ValueError if the metric has no threshold.
    """
    if not metric.uses_threshold:
        msg = f"{metric.label} ranks rows and has no threshold: name a metric that has one"
        raise ValueError(msg)
    chosen = select_from_histograms(metric, held_out.folds, (1.0, 1.0), variance=held_out.variance)
    point = chosen.best.point
    warn_of(limit_caution(metric, chosen.choice.sizes))
    above = held_out.in_decisions(point.threshold)
    return replace(point, threshold=above, rows=held_out.rows)
