"""Champion against challenger: two models on the same rows, from their score histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.classifiers.direct.gap import Gap
from directrix.classifiers.evaluation.measures import BEST_CUTOFF
from directrix.classifiers.fitting.intervals import Sizes
from directrix.classifiers.fitting.operating_point import OnRows
from directrix.metrics.curve import Curve
from directrix.metrics.table import resolve

if TYPE_CHECKING:
    from directrix.moments import ScoreHistogram


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
