r"""The figures of the paper, drawn again, and the numbers and sentences that describe them.

Figures 4.1 and 4.2: how far the margins of a line are from normal.

.. math:: w^\top X_-, \qquad w^\top X_+, \qquad w^\top (X_- - X_+)

at two lines of the descent on :math:`F_{n01}`, after two iterations and at its end, on all rows of
a set. A margin is measured by the Kolmogorov distance to the normal of the same mean and deviation,
:math:`\sup_t |\hat F(t) - \Phi(t)|`; of differences 20,000 random pairs are taken. In the figures
margins beyond four deviations are counted at the edge.

Figures 4.3 and 4.4: how near risk and loss are to the empirical metric on the way. A hundred lines
:math:`w_0 + t (w_\epsilon - w_0)`, equally spaced from where a descent starts to where it ends.
Left, the risk of moments and the empirical metric on the same axis; right, the loss of rows that is
its rival, on an axis of its own, and the empirical metric along the path of that loss. All rows of
a set, features in [-1, 1] beside a column of ones; neither curve has its λ. How near: the mean of
|risk - metric| along the path, and the correlation of either with the metric.

The paper names the sets of Figures 4.1 and 4.2; of 4.3 it names svm3 and colon.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from benchmarks.harness.figure import BLUE, SKY_BLUE, VERMILION, new_figure
from benchmarks.harness.markdown import verdict
from benchmarks.harness.record import Record, parse
from benchmarks.harness.runner import quiet
from benchmarks.papers.ghanbari_2019.config import PAIRS, rows_of, scaled
from benchmarks.papers.ghanbari_2019.methods import (
    LOSSES,
    RISKS,
    SCALE_PENALTY,
    least_loss,
    least_risk,
    penalty_of_rows,
)
from directrix import Moments
from directrix._typing import AnyArray, FloatArray
from directrix.linear.objectives import DataObjective
from directrix.papers.moment_risk import MomentObjective, part_of_mean

FOLDER = Path(__file__).parent
SETS_OF_MARGINS = {"4.1": ("a9a",), "4.2": ("diabetes", "poker", "svm3", "segment")}
SETS_OF_PATHS = ("diabetes", "svm3", "segment", "colon")
PATHS = {"4.3": "accuracy", "4.4": "AUC"}
#: Kolmogorov distances up to this are called nearly normal.
NEARLY = 0.05
_RIVALS = {"4.3": ("F_n01", "F_log", "training error"), "4.4": ("F_nrank", "F_hinge", "1 - AUC")}
EARLY = 2
MARGINS = {
    "negatives": r"$w^\top X_-$",
    "positives": r"$w^\top X_+$",
    "differences": r"$w^\top (X_- - X_+)$",
}
_PAIRS = 20_000
POINTS = 100
_EMPIRICAL = {"accuracy": "training error", "AUC": "1 - training AUC"}


class Shown(NamedTuple):
    """A number of a figure."""

    figure: str
    set: str
    what: str
    value: float


RECORD = Record(FOLDER / "figures.csv", Shown._fields)


def draw() -> None:
    """Draw all figures, and write the numbers that they show."""
    shown: list[Shown] = []
    for figure, names in SETS_OF_MARGINS.items():
        _draw_margins(names, _path(figure))
        shown += [
            Shown(figure, name, f"{when}, {kind}", distance(values))
            for name in names
            for when, (_, by_kind) in both_ends(Task.of(name)).items()
            for kind, values in by_kind.items()
        ]
    for figure, metric in PATHS.items():
        paths = {name: segments(name, metric) for name in SETS_OF_PATHS}
        _draw_paths(paths, metric, _path(figure))
        shown += [
            Shown(figure, name, f"{model}, {what}", getattr(segment, what))
            for name, both in paths.items()
            for model, segment in zip(("risk", "loss"), both, strict=True)
            for what in ("gap", "correlation")
        ]
    RECORD.write((*number[:3], f"{number.value:.6f}") for number in shown)


def _path(figure: str) -> Path:
    return FOLDER / f"figure_{figure.replace('.', '_')}.png"


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
        return cls(X, y, Moments.of(X, y, sample=0))

    @property
    def start(self) -> FloatArray:
        """The paper's start of the descent on risks."""
        return part_of_mean(self.moments.positive.mean, self.moments.negative.mean)

    def descent(self, metric: str, max_iter: int = 500) -> Line:
        """Return where the descent on a risk is after some iterations, or its end."""
        with quiet():
            solution = least_risk(self.moments, metric, SCALE_PENALTY, max_iter)
        return Line(solution.n_iter, solution.coef)


def margins(task: Task, coef: FloatArray) -> dict[str, FloatArray]:
    """Return standardised margins of each kind."""
    scores = task.X @ coef
    low, high = scores[~task.y], scores[task.y]
    rng = np.random.default_rng(0)
    pairs = rng.choice(low, _PAIRS) - rng.choice(high, _PAIRS)
    kinds = zip(MARGINS, (low, high, pairs), strict=True)
    return {kind: (values - values.mean()) / (values.std() or 1.0) for kind, values in kinds}


def distance(values: FloatArray) -> float:
    """Return the Kolmogorov distance of standardised values to the standard normal."""
    levels, counts = np.unique(values, return_counts=True)
    upper = counts.cumsum() / len(values)
    lower = upper - counts / len(values)
    normal = norm.cdf(levels)
    return float(max((upper - normal).max(), (normal - lower).max()))


def both_ends(task: Task) -> dict[str, tuple[Line, dict[str, FloatArray]]]:
    """Return lines of the descent on the error, early and at its end, with their margins."""
    lines = {"early": task.descent("accuracy", EARLY), "end": task.descent("accuracy")}
    return {when: (line, margins(task, line.coef)) for when, line in lines.items()}


def _draw_margins(names: tuple[str, ...], path: Path) -> None:
    """Draw histograms beside the normal curve: a row for each line, a column for each kind."""
    rows = [
        (f"{name}\niteration {line.iteration}", by_kind)
        for name in names
        for when, (line, by_kind) in both_ends(Task.of(name)).items()
        if len(names) == 1 or when == "end"
    ]
    figure = new_figure(6.0, 1.55 * len(rows) + 0.9)
    axes = figure.subplots(len(rows), 3, sharex=True, squeeze=False)
    for row, (label, by_kind) in enumerate(rows):
        for panel, kind in zip(axes[row], MARGINS, strict=True):
            _draw_histogram(panel, by_kind[kind])
            if row == 0:
                panel.set_title(MARGINS[kind], fontsize=11)
            if row == len(rows) - 1:
                panel.set_xlabel("standard deviations", fontsize=9)
        axes[row, 0].set_ylabel(f"{label}\ndensity", fontsize=9)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, fontsize=9)
    figure.savefig(path, dpi=200)


def _draw_histogram(panel: Any, values: FloatArray) -> None:
    grid = np.linspace(-4.0, 4.0, 200)
    panel.hist(
        np.clip(values, -4.0, 4.0),
        bins=np.linspace(-4.0, 4.0, 41),
        density=True,
        color=SKY_BLUE,
        label="rows",
    )
    panel.plot(
        grid,
        norm.pdf(grid),
        color=VERMILION,
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
    with quiet():
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


def _draw_paths(paths: dict[str, tuple[Segment, Segment]], metric: str, path: Path) -> None:
    """Draw risk, loss and metric along the paths of the descents, a row for each set."""
    figure = new_figure(6.0, 1.5 * len(paths) + 0.9)
    axes = figure.subplots(len(paths), 2, sharex=True, squeeze=False)
    share = np.linspace(0.0, 1.0, POINTS)
    handles = []
    for (left, right), (name, (risk, loss)) in zip(axes, paths.items(), strict=True):
        empirical = {"color": BLUE, "linewidth": 1.8, "label": _EMPIRICAL[metric]}
        model = {"color": VERMILION, "linewidth": 1.8, "linestyle": "--"}
        left.plot(share, risk.empirical, **empirical)
        left.plot(share, risk.model, **model, label="what is minimised")
        left.set_ylabel(f"{name}\nshare", fontsize=9)
        right.plot(share, loss.empirical, **empirical)
        right.set_ylabel("share", fontsize=9)
        beside = right.twinx()
        beside.plot(share, loss.model, **model)
        beside.set_ylabel("mean loss", fontsize=9, color=VERMILION)
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
    figure.savefig(path, dpi=200)


def _formula(method: str) -> str:
    stem, _, index = method.partition("_")
    return rf"${stem}_{{\mathrm{{{index}}}}}$"


def lines() -> list[str]:
    """Return the part of ``tables.md`` on figures."""
    shown = [parse(row, Shown) for row in RECORD.rows()]
    if not shown:
        return []
    return [
        "",
        "## Figures 4.1 and 4.2: are margins normal?",
        "",
        "![Margins of a9a](figure_4_1.png)",
        "",
        _normal(shown, "4.1", ("early", "end")),
        "",
        "![Margins of four other sets](figure_4_2.png)",
        "",
        _normal(shown, "4.2", ("end",)),
        "",
        "## Figures 4.3 and 4.4: are risks nearer to the metric than losses?",
        "",
        "![Error, its risk and the logistic loss](figure_4_3.png)",
        "",
        _nearer(shown, "4.3"),
        "",
        "![Ranking loss, its risk and the pairwise hinge](figure_4_4.png)",
        "",
        _nearer(shown, "4.4"),
    ]


def _normal(shown: list[Shown], figure: str, whens: tuple[str, ...]) -> str:
    numbers = [s for s in shown if s.figure == figure and s.what.split(", ")[0] in whens]
    near = [s for s in numbers if s.value <= NEARLY]
    differences = [s for s in numbers if s.what.endswith("differences")]
    of_differences = sum(s.value <= NEARLY for s in differences)
    worst = max(numbers, key=lambda s: s.value)
    claim = {
        "4.1": "all margins of a9a are almost perfectly normal",
        "4.2": "not all margins are normal, but differences are more often",
    }[figure]
    others = len(near) - of_differences
    rate = of_differences / len(differences), others / (len(numbers) - len(differences))
    cases = (len(near), len(numbers)) if figure == "4.1" else (int(rate[0] > rate[1]), 1)
    return (
        f"Figure {figure}: {claim}. {verdict(*cases)}: D, the Kolmogorov distance to the normal, "
        f"is at most {NEARLY} for {len(near)} of {len(numbers)} histograms ({of_differences} of "
        f"{len(differences)} of differences); the greatest is {worst.value:.2f} ({worst.set}, "
        f"{worst.what})."
    )


def _nearer(shown: list[Shown], figure: str) -> str:
    risk, loss, metric = _RIVALS[figure]
    values = {(s.set, s.what): s.value for s in shown if s.figure == figure}
    names = list(dict.fromkeys(name for name, _ in values))
    gaps = {name: values[name, "risk, gap"] for name in names}
    far = [values[name, "loss, correlation"] for name in names]
    near = [values[name, "risk, correlation"] for name in names]
    follows = sum(of_risk > of_loss for of_risk, of_loss in zip(near, far, strict=True))
    worst = max(gaps, key=gaps.__getitem__)
    return (
        f"Figure {figure}: {risk} follows {metric} along the path better than {loss}. "
        f"{verdict(follows, len(names))}: its correlation r is greater on {follows} of "
        f"{len(names)} sets ({min(near):.2f} to {max(near):.2f}, and {min(far):.2f} to "
        f"{max(far):.2f} of {loss}). "
        f"As a number it is {np.median(list(gaps.values())):.3f} away in the middle, "
        f"{gaps[worst]:.3f} on {worst}."
    )
