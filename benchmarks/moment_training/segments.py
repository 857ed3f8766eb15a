r"""Figures 4.3 and 4.4: how near risk and loss are to the empirical metric on the way.

A hundred lines :math:`w_0 + t (w_\epsilon - w_0)`, equally spaced from where a descent starts to
where it ends. Left, the risk of moments and the empirical metric on the same axis; right, the loss
of rows that is its rival, on an axis of its own, and the empirical metric along the path of that
loss. All rows of a set, features in [-1, 1] beside a column of ones; neither curve has its λ.

How near: the mean of |risk - metric| along the path, and the correlation of either with the metric.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.moment_training.found import PAIRS
from benchmarks.moment_training.margins import Task
from benchmarks.moment_training.methods import LOSSES, RISKS, least_loss, penalty_of_rows
from directrix._typing import FloatArray
from directrix.objectives import DataObjective, MomentObjective

FOLDER = Path(__file__).parent
POINTS = 100
_COLOURS = {"model": "#d55e00", "empirical": "#0072b2"}
_EMPIRICAL = {"accuracy": "training error", "AUC": "1 - training AUC"}


class Segment(NamedTuple):
    """What is minimised, and the empirical metric, at each line of a path."""

    model: FloatArray
    empirical: FloatArray

    @property
    def gap(self) -> float:
        """Mean distance of the two."""
        return float(np.abs(self.model - self.empirical).mean())

    @property
    def correlation(self) -> float:
        """Of the two; zero where one does not change."""
        if np.ptp(self.model) == 0 or np.ptp(self.empirical) == 0:
            return 0.0
        return float(np.corrcoef(self.model, self.empirical)[0, 1])


def segments(name: str, metric: str) -> tuple[Segment, Segment]:
    """Return the path of the risk, and that of its rival."""
    task = Task.of(name)
    risk = MomentObjective(task.moments, RISKS[metric])
    of_risk = _along(task, metric, risk, task.start, task.descent(metric).coef)
    penalty = penalty_of_rows(task.y, metric)
    rng = np.random.default_rng(0)
    start = np.random.default_rng(0).standard_normal(task.X.shape[1])  # as the descent has it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the hinge has corners
        end = least_loss(task.X, task.y, metric, penalty, rng).coef
    loss = DataObjective(task.X, task.y, np.ones(len(task.y)), LOSSES[metric])
    return of_risk, _along(task, metric, loss, start, end)


def _along(task: Task, metric: str, objective: Any, start: FloatArray, end: FloatArray) -> Segment:
    lines = [start + share * (end - start) for share in np.linspace(0.0, 1.0, POINTS)]
    model = [objective(np.append(line, 0.0))[0] for line in lines]
    return Segment(np.array(model), np.array([_metric(task, metric, line) for line in lines]))


def _metric(task: Task, metric: str, coef: FloatArray) -> float:
    scores = task.X @ coef
    if metric == "AUC":
        return 1.0 - float(roc_auc_score(task.y, scores))
    return float(((scores > 0) != task.y).mean())


def draw(found: dict[str, tuple[Segment, Segment]], metric: str, file_name: str) -> None:
    """Draw a row for each set."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(6.0, 1.5 * len(found) + 0.9), layout="constrained")
    axes = figure.subplots(len(found), 2, sharex=True, squeeze=False)
    share = np.linspace(0.0, 1.0, POINTS)
    handles = []
    for (left, right), (name, (risk, loss)) in zip(axes, found.items(), strict=True):
        own = {"color": _COLOURS["empirical"], "linewidth": 1.8, "label": _EMPIRICAL[metric]}
        model = {"color": _COLOURS["model"], "linewidth": 1.8, "linestyle": "--"}
        left.plot(share, risk.empirical, **own)
        left.plot(share, risk.model, **model, label="what is minimised")
        left.set_ylabel(f"{name}\nshare", fontsize=9)
        right.plot(share, loss.empirical, **own)
        right.set_ylabel("share", fontsize=9)
        beside = right.twinx()
        beside.plot(share, loss.model, **model)
        beside.set_ylabel("mean loss", fontsize=9, color=_COLOURS["model"])
        for panel in (left, right, beside):
            panel.tick_params(labelsize=8)
            panel.margins(y=0.12)
        left.set_title(f"r = {risk.correlation:.2f}", fontsize=9, loc="right")
        right.set_title(f"r = {loss.correlation:.2f}", fontsize=9, loc="right")
        handles = left.get_legend_handles_labels()
    names = PAIRS[metric]
    for panel, method, what in zip(axes[0], names, ("risk", "loss"), strict=True):
        panel.set_title(f"{_formula(method)}, {what}", fontsize=10, loc="left")
    for panel in axes[-1]:
        panel.set_xlabel("share of the way from start to end", fontsize=9)
    figure.legend(*handles, loc="outside upper center", ncols=2, fontsize=9)
    figure.savefig(FOLDER / file_name, dpi=200)


def _formula(method: str) -> str:
    stem, _, index = method.partition("_")
    return rf"${stem}_{{\mathrm{{{index}}}}}$"
