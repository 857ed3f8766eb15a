r"""Figures 4.1 and 4.2: how far the margins of a line are from normal.

.. math:: w^\top X_-, \qquad w^\top X_+, \qquad w^\top (X_- - X_+)

at two lines of the descent on :math:`F_{n01}`, after two iterations and at its end, on all rows of
a set. A margin is measured by the Kolmogorov distance to the normal of the same mean and deviation,
:math:`\sup_t |\hat F(t) - \Phi(t)|`; of differences 20,000 random pairs are taken. In the figures
margins beyond four deviations are counted at the edge.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from benchmarks.moment_training.methods import SCALE_PENALTY, least_risk, normalized
from benchmarks.moment_training.sets import rows_of, scaled
from directrix import Moments
from directrix._typing import AnyArray, FloatArray
from directrix.solve import part_of_mean

FOLDER = Path(__file__).parent
EARLY = 2
KINDS = ("negatives", "positives", "differences")
_LABELS = {
    "negatives": r"$w^\top X_-$",
    "positives": r"$w^\top X_+$",
    "differences": r"$w^\top (X_- - X_+)$",
}
_PAIRS = 20_000
_COLOURS = {"rows": "#56b4e9", "normal": "#d55e00"}


class Line(NamedTuple):
    """A line of a descent, and the iteration it is from."""

    iteration: int
    coef: FloatArray


class Task(NamedTuple):
    """All rows of a set, scaled, and their moments."""

    X: FloatArray
    y: AnyArray
    moments: Moments

    @classmethod
    def of(cls, name: str) -> Task:
        """Take all rows of a set."""
        X, y = rows_of(name)
        X = scaled(X)
        return cls(X, y, normalized(Moments.of(X, y)))

    @property
    def start(self) -> FloatArray:
        """Where the paper starts risks."""
        return part_of_mean(self.moments.positive.mean, self.moments.negative.mean)[:-1]

    def descent(self, metric: str, max_iter: int = 500) -> Line:
        """Return where the descent on a risk is after some iterations, or its end."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it is stopped early on purpose
            solution = least_risk(self.moments, metric, SCALE_PENALTY, max_iter)
        return Line(solution.n_iter, solution.coef)


def margins(task: Task, coef: FloatArray) -> dict[str, FloatArray]:
    """Return standardised margins of each kind."""
    scores = task.X @ coef
    low, high = scores[~task.y], scores[task.y]
    rng = np.random.default_rng(0)
    pairs = rng.choice(low, _PAIRS) - rng.choice(high, _PAIRS)
    kinds = zip(KINDS, (low, high, pairs), strict=True)
    return {kind: (own - own.mean()) / (own.std() or 1.0) for kind, own in kinds}


def distance(values: FloatArray) -> float:
    """Return the Kolmogorov distance of standardised values to the standard normal."""
    levels, counts = np.unique(values, return_counts=True)
    upper = counts.cumsum() / len(values)
    lower = upper - counts / len(values)
    normal = norm.cdf(levels)
    return float(max((upper - normal).max(), (normal - lower).max()))


def measured(name: str) -> dict[tuple[str, str], float]:
    """Return the distance by moment of the descent and kind of margin."""
    return {
        (when, kind): distance(values)
        for when, own in both_ends(Task.of(name)).items()
        for kind, values in own[1].items()
    }


def both_ends(task: Task) -> dict[str, tuple[Line, dict[str, FloatArray]]]:
    """Return lines of the descent on the error, early and at its end, with their margins."""
    lines = {"early": task.descent("accuracy", EARLY), "end": task.descent("accuracy")}
    return {when: (line, margins(task, line.coef)) for when, line in lines.items()}


def draw(names: tuple[str, ...], file_name: str) -> None:
    """Draw histograms beside the normal curve: a row for each line, a column for each kind."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    found = [
        (f"{name}\niteration {line.iteration}", own)
        for name in names
        for when, (line, own) in both_ends(Task.of(name)).items()
        if len(names) == 1 or when == "end"
    ]
    figure = Figure(figsize=(6.0, 1.55 * len(found) + 0.9), layout="constrained")
    axes = figure.subplots(len(found), 3, sharex=True, squeeze=False)
    for row, (label, own) in enumerate(found):
        for panel, kind in zip(axes[row], KINDS, strict=True):
            _panel(panel, own[kind])
            if row == 0:
                panel.set_title(_LABELS[kind], fontsize=11)
            if row == len(found) - 1:
                panel.set_xlabel("standard deviations", fontsize=9)
        axes[row, 0].set_ylabel(f"{label}\ndensity", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, fontsize=9)
    figure.savefig(FOLDER / file_name, dpi=200)


def _panel(panel: Any, values: FloatArray) -> None:
    grid = np.linspace(-4.0, 4.0, 200)
    panel.hist(
        np.clip(values, -4.0, 4.0),
        bins=np.linspace(-4.0, 4.0, 41),
        density=True,
        color=_COLOURS["rows"],
        label="rows",
    )
    panel.plot(
        grid,
        norm.pdf(grid),
        color=_COLOURS["normal"],
        linewidth=1.6,
        label="normal of the same mean and deviation",
    )
    panel.set(xlim=(-4.0, 4.0), ylim=(0.0, 1.22 * panel.get_ylim()[1]))
    panel.text(
        *(0.97, 0.95, f"D = {distance(values):.2f}"),
        transform=panel.transAxes,
        horizontalalignment="right",
        verticalalignment="top",
        fontsize=9,
    )
    panel.tick_params(labelsize=8)
