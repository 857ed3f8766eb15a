"""Reliability diagram: predicted probabilities against the share of positives, in bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.displays import style
from directrix.fit.shares import effective_rows, wilson

_BINS = 15


class Bin(NamedTuple):
    """Rows of about the same predicted probability.

    ``predicted`` is the mean probability. ``observed`` is the share of positives. ``low`` and
    ``high`` are the ends of the 95 % interval of that share. ``weight`` is the total weight of the
    rows.
    """

    predicted: float
    observed: float
    low: float
    high: float
    weight: float


@dataclass(frozen=True)
class Reliability:
    """Agreement of predicted probabilities with the share of positives, in bins.

    ``error`` is the expected calibration error: mean absolute difference, weighted by rows.
    """

    bins: tuple[Bin, ...]
    error: float

    @classmethod
    def of(cls, probability: FloatArray, positive: AnyArray, weight: FloatArray) -> Reliability:
        """Sort the rows by probability and divide them into bins; ties stay together.

        Each bin has the same share of the positives plus the negatives: if positives are rare,
        bins of equally many rows would all be near zero.
        """
        order = np.argsort(probability, kind="stable")
        p, y, w = probability[order], positive[order], weight[order]
        share = (np.cumsum(w * y) / (w @ y) + np.cumsum(w * ~y) / (w @ ~y)) / 2.0
        edges = p[np.minimum(np.searchsorted(share, np.arange(1, _BINS) / _BINS), len(p) - 1)]
        starts = np.unique(np.append(0, np.searchsorted(p, np.unique(edges), side="left")))
        bins = []
        for start, stop in zip(starts, [*starts[1:], len(p)], strict=True):
            inside = slice(start, stop)
            total = float(w[inside].sum())
            if not total:
                continue
            observed = float(w[inside] @ y[inside]) / total
            interval = wilson(observed, effective_rows(w[inside]))
            bins.append(Bin(float(w[inside] @ p[inside]) / total, observed, *interval, total))
        difference = sum(entry.weight * abs(entry.predicted - entry.observed) for entry in bins)
        return cls(tuple(bins), difference / sum(entry.weight for entry in bins))

    def figure(self) -> Any:
        """Draw the reliability diagram, with the diagonal of perfect calibration."""
        (ax,) = style.panels(None, (1, 1), 4.0)
        predicted = np.array([entry.predicted for entry in self.bins])
        observed = np.array([entry.observed for entry in self.bins])
        bounds = np.array([(entry.low, entry.high) for entry in self.bins]).T
        top = min(1.02 * max(predicted.max(), bounds[1].max()), 1.0)
        ax.plot([0, top], [0, top], color=style.GREY, lw=0.9, ls="--", label="perfect calibration")
        ax.errorbar(
            predicted,
            observed,
            np.abs(bounds - observed),
            color=style.BLUE,
            marker="o",
            markersize=4,
            lw=1.4,
            capsize=2,
            label="these rows, with 95 % intervals",
        )
        ax.set(xlim=(0, top), ylim=(0, top))
        style.finish(ax, "predicted probability", "share of positives")
        return ax.figure
