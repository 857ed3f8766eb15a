"""Figures of scored rows for the command line."""

from __future__ import annotations

from typing import Any

import numpy as np

from directrix._typing import AnyArray
from directrix.classifiers.evaluation import ScoredRows
from directrix.cli.reply import UsageError
from directrix.displays import FrontierDisplay, MarginDisplay, TradeoffDisplay, style
from directrix.displays.frontier import Roc, boundary_of
from directrix.frontier import Frontier
from directrix.metrics.base import Curve, Metric

#: Limits on the false-positive rate up to this are drawn on a logarithmic scale.
_SMALL_LIMIT = 0.05


def use_file_backend() -> None:
    """Make matplotlib draw into files, without a window; raise an error if it is not installed."""
    try:
        import matplotlib as mpl
    except ImportError:
        style.pyplot()  # raises the error that names the extra
    else:
        mpl.use("Agg")


def require_positive_rows(scored: ScoredRows, classes: AnyArray) -> AnyArray:
    """Return which rows are of the second class; raise an error unless there are two classes."""
    if len(classes) != 2:
        msg = f"figures need a model with two classes, and this one has {len(classes)}"
        raise UsageError(msg)
    positive: AnyArray = scored.y == classes[1]
    if positive.all() or not positive.any():
        msg = (
            f"all rows are of class {scored.y[0]}, and figures compare two classes: give rows of "
            "both"
        )
        raise UsageError(msg)
    return positive


def frontier_figure(scored: ScoredRows, positive: AnyArray, metric: Metric, name: str) -> Any:
    """Draw the ROC curve of the rows below the frontier of their moments."""
    if scored.moments is None:
        msg = "the frontier needs the moments of the rows"
        raise ValueError(msg)
    curve = Curve.of(positive, scored.scores, scored.weight)
    frontier = Frontier(scored.moments).curve()
    index = int(np.sum(curve.levels > 0))
    display = FrontierDisplay(
        Roc(frontier.fpr, frontier.tpr),
        Roc(curve.fpr, curve.tpr),
        (float(curve.fpr[index]), float(curve.tpr[index])),
        metric,
        boundary_of(metric, curve.prior, curve.positives + curve.negatives),
        name,
    )
    return display.plot().figure_


def roc_figure(scored: ScoredRows, positive: AnyArray, metric: Metric, name: str) -> Any:
    """Draw the ROC curve of the rows, with the threshold of the model and the limit of its metric.

    The rate of false positives is on a logarithmic scale where the limit is a small one.
    """
    curve = Curve.of(positive, scored.scores, scored.weight)
    index = int(np.sum(curve.levels > 0))
    limit = metric.constraint(curve.prior, curve.positives + curve.negatives)
    small = limit is not None and limit.rate == "fpr" and limit.value <= _SMALL_LIMIT
    (ax,) = style.panels(None, (1, 1), 4.2)
    fpr, tpr = curve.fpr, curve.tpr
    if small:
        shown = fpr > 0
        fpr, tpr = fpr[shown], tpr[shown]
        ax.set_xscale("log")
    # Straight lines: the area below is the AUC also where rows tie, as on a card of whole points.
    ax.plot(fpr, tpr, color=style.BLUE, label=name)
    at_random = np.geomspace(fpr[0], 1.0, 200) if small else np.array([0.0, 1.0])
    ax.plot(at_random, at_random, color=style.GREY, linestyle=":", label="at random")
    if limit is not None and limit.rate == "fpr":
        ax.axvline(
            limit.value, color=style.VERMILION, linestyle="--", label=f"limit: FPR {limit.value:g}"
        )
    style.mark(ax, float(curve.fpr[index]), float(curve.tpr[index]), label="threshold of the model")
    style.finish(ax, "false-positive rate (FPR)", "recall")
    return ax.figure


def margin_figure(scored: ScoredRows, label: Any) -> Any:
    """Draw the scores of both classes beside normal distributions; `label` is the positive one."""
    return MarginDisplay.from_predictions(
        scored.y, scored.scores, sample_weight=scored.weight, pos_label=label
    ).figure_


def tradeoff_figure(scored: ScoredRows, positive: AnyArray, metric: Metric, against: str) -> Any:
    """Draw the metric at other thresholds."""
    if not metric.uses_threshold:
        msg = f"{metric} measures a ranking and uses no threshold: give another with --metric"
        raise UsageError(msg)
    return TradeoffDisplay.from_predictions(
        positive, scored.scores, metric=metric, against=against, sample_weight=scored.weight
    ).figure_
