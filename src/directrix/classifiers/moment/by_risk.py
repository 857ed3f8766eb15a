"""The line of least risk, from a summary alone."""

from __future__ import annotations

from typing import TYPE_CHECKING
from warnings import warn

from directrix.classifiers.fitting.finalize import FittedLine, finalize_on_moments
from directrix.exceptions import FewRowsWarning, find_stacklevel
from directrix.frontier import Frontier, validated_shrinkage
from directrix.frontier.shrinkage import usable_folds

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.classifiers.fitting.progress import Progress
    from directrix.frontier.moment_candidates import MomentLines
    from directrix.metrics.base import Metric
    from directrix.moments import Moments


def best_by_risk(
    moments: Moments, metric: Metric, shrinkage: str | float, progress: Progress
) -> tuple[Frontier, FittedLine]:
    """Return the line of least risk, and its frontier.

    Parameters
    ----------
    moments : Moments
        With the weights of the classes; the last class is the positive one.
    metric : Metric
    shrinkage : "oas", "cv" or float
    progress : Progress
    """
    if shrinkage == "cv" and moments.folded and len(usable_folds(moments)) < 2:
        shrinkage = "oas"
        warn(
            "too few rows of both classes so far for shrinkage='cv': 'oas' is used",
            FewRowsWarning,
            stacklevel=find_stacklevel(),
        )
    if shrinkage == "cv":
        shrinkage = validated_shrinkage(moments, metric).share
    frontier = Frontier(moments, shrinkage)
    model = frontier.best(metric)
    fitted = finalize_on_moments(metric, model.line, model.scores, moments.weight)
    progress.stage(
        f"{moments.count:,} rows, {moments.n_features:,} features in the summary; chosen by "
        f"the predicted {metric.label}, {fitted.operating_point.predicted.metric:.4f}"
    )
    return frontier, fitted


def report_choice(
    progress: Progress, lines: MomentLines, metric: Metric, values: FloatArray, index: int
) -> None:
    """Print the metric of each candidate on rows, and which was chosen."""
    for number, value in enumerate(values):
        progress.detail(f"{lines.name(number)}: {metric.label} {value:.4f}")
    progress.stage(
        f"chosen from {len(values)} candidates: {lines.name(index)}; {metric.label} "
        f"{values[index]:.4f} on rows"
    )
