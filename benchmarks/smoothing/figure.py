"""The runs as a figure."""

from __future__ import annotations

from math import log10
from pathlib import Path

from benchmarks.smoothing.record import LOSSES, METHODS, Problem, Trajectory

FIGURE = Path(__file__).with_name("trajectories.png")
_COLOURS = {
    "lbfgs 1": "#0072b2",
    "lbfgs 100": "#56b4e9",
    "lbfgs 1000": "#009e73",
    "bmrm": "#d55e00",
    "nesterov 100": "#cc79a7",
    "nesterov 100 constant": "#999999",
}
_LEAST = 1e-6
_TIMES = (1.0, 2e4)
_CAPTION = (
    "J without smoothing, above the least that any method found; a circle is the end of a run. "
    "Dotted: ε = 1e-3. Less than 1e-6 is drawn there.\nRuns were stopped after 15 s of "
    "CPU. The unit of time is one evaluation of L-BFGS with μ̂ on the same problem."
)


def draw(problems: dict[Problem, tuple[dict[str, Trajectory], float]]) -> None:
    """Draw the gap of J against CPU time: a row for each set, a column for each loss and λ."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    sets = list(dict.fromkeys(problem.set for problem in problems))
    penalties = sorted({problem.penalty for problem in problems}, reverse=True)
    columns = [(loss, penalty) for loss in LOSSES for penalty in penalties]
    figure = Figure(figsize=(11.0, 2.1 * len(sets) + 1.4), layout="constrained")
    figure.get_layout_engine().set(rect=(0.0, 0.045, 1.0, 0.915))
    axes = figure.subplots(len(sets), len(columns), sharex=True, sharey=True, squeeze=False)
    for (row, name), (column, (loss, penalty)) in (
        (r, c) for r in enumerate(sets) for c in enumerate(columns)
    ):
        panel = axes[row, column]
        if row == 0:
            panel.set_title(f"{LOSSES[loss]}, λ = $10^{{{log10(penalty):.0f}}}$", fontsize=10)
        if row == len(sets) - 1:
            panel.set_xlabel("CPU time", fontsize=9)
        if column == 0:
            panel.set_ylabel(f"{name}\nJ - J*", fontsize=9)
        panel.set(xscale="log", yscale="log", xlim=_TIMES, ylim=(_LEAST, 1.5))
        panel.axhline(1e-3, color="black", linewidth=0.8, linestyle=":")
        panel.grid(visible=True, color="#eeeeee", linewidth=0.6)
        panel.tick_params(labelsize=8)
        runs, best = problems.get(Problem(name, loss, penalty), ({}, 0.0))
        for method, own in runs.items():
            times = [max(point.time, _TIMES[0]) for point in own.points]
            gaps = [max(point.objective - best, _LEAST) for point in own.points]
            panel.plot(times, gaps, color=_COLOURS[method], linewidth=1.4)
            panel.plot(
                times[-1], gaps[-1], "o", color=_COLOURS[method], markersize=4, clip_on=False
            )
    handles = [
        axes[0, 0].plot([], [], color=_COLOURS[method], linewidth=2)[0] for method in METHODS
    ]
    figure.legend(handles, METHODS.values(), loc="upper center", ncols=len(METHODS), fontsize=9)
    figure.text(0.01, 0.01, _CAPTION, fontsize=8.5, va="bottom")
    figure.savefig(FIGURE, dpi=95)
