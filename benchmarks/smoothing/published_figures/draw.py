"""Figures 1–4: J less the least J, or the test metric, against CPU time."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from benchmarks.smoothing.published_figures.record import METHODS, Curves, Task
from benchmarks.smoothing.record import LOSSES

#: Colours of Okabe and Ito, told apart by markers as well.
_STYLES = {
    "lbfgs 1": ("#0072b2", "o"),
    "lbfgs 100": ("#56b4e9", "^"),
    "lbfgs 1000": ("#009e73", "s"),
    "bmrm": ("#d55e00", "D"),
}
_LEAST = 1e-6


class Shown(NamedTuple):
    """What a figure of the paper shows: of which loss, and whether the test metric or J."""

    loss: str
    test: bool

    def path(self, number: int) -> Path:
        """Return where the figure is written."""
        return Path(__file__).with_name(f"figure_{number}.png")


FIGURES = {
    1: Shown("prbep", test=False),
    2: Shown("auc", test=False),
    3: Shown("prbep", test=True),
    4: Shown("auc", test=True),
}


def best_of(curves: Curves) -> float:
    """Return the least J that any run found."""
    return min(point.objective for own in curves.values() for point in own)


def draw(known: dict[Task, Curves], number: int) -> None:
    """Draw one figure of the paper, a panel for each set."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    shown = FIGURES[number]
    tasks = [task for task in known if task.loss == shown.loss]
    figure = Figure(figsize=(8.4, 3.7), layout="constrained")
    panels = figure.subplots(1, len(tasks), squeeze=False, sharey=not shown.test)[0]
    for panel, task in zip(panels, tasks, strict=True):
        best = best_of(known[task])
        for method, points in known[task].items():
            colour, marker = _STYLES[method]
            heights = [
                p.test_metric if shown.test else max(p.objective - best, _LEAST) for p in points
            ]
            times = [point.time for point in points]
            style = {"color": colour, "marker": marker, "markersize": 3.5, "linewidth": 1.5}
            panel.plot(times, heights, label=METHODS[method], **style)
        panel.set_xscale("log")
        if not shown.test:
            panel.set_yscale("log")
            panel.axhline(1e-3, color="black", linewidth=0.9, linestyle=":")
        panel.set_title(task.set, fontsize=11)
        panel.grid(visible=True, color="#e6e6e6", linewidth=0.7)
        panel.tick_params(labelsize=10)
    metric = LOSSES[shown.loss]
    words = f"test {metric}" if shown.test else f"J - J*, {metric} (dotted: ε)"
    panels[0].set_ylabel(words, fontsize=11)
    figure.supxlabel("CPU time (1 = one evaluation of L-BFGS, μ̂)", fontsize=11)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4, fontsize=10, frameon=False)
    figure.savefig(shown.path(number), dpi=110)
