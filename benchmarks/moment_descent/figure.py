"""Figures 1 and 2 of the paper: the test metric over the iterations of Algorithm 1."""

from __future__ import annotations

from pathlib import Path

from benchmarks.moment_descent.compare import Results, listed
from benchmarks.moment_descent.methods import CHECKPOINTS
from benchmarks.moment_descent.published_sets import NOT_HERE

FIGURES = {
    "accuracy": Path(__file__).with_name("accuracy.png"),
    "AUC": Path(__file__).with_name("auc.png"),
}
#: The sets of each figure: those where the paper finds a difference, and which.
SHOWN = {
    "accuracy": {
        "svmguide1": "better",
        "svmguide3": "better",
        "sonar": "better",
        "colon cancer": "better",
        "shuttle": "worse",
        "segment": "worse",
    },
    "AUC": {
        "svmguide3": "better",
        "landsat satellite": "better",
        "colon cancer": "better",
        "vowel": "worse",
        "sonar": "worse",
    },
}
_SURROGATE = {"accuracy": "logistic loss", "AUC": "pairwise hinge"}
_OBJECTIVE = {"accuracy": "error of normal scores", "AUC": "1 - AUC of normal scores"}
#: Colours of Okabe and Ito, told apart by dashes and markers as well.
_STYLES = {
    "moments": ("#0072b2", "-", "o"),
    "surrogate": ("#d55e00", "-", "s"),
    "moments, intercept": ("#0072b2", "--", "^"),
    "surrogate, intercept": ("#d55e00", "--", "v"),
}


def draw(results: Results, metric: str) -> None:
    """Draw the mean test metric over the folds, one panel for each set."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    measured = set(results.sets(metric))
    names = [name for name in SHOWN[metric] if name in measured]
    figure = Figure(figsize=(8.4, 6.2), layout="constrained")
    panels = figure.subplots(2, 3, squeeze=False).ravel()
    steps = [max(step, 0.6) for step in CHECKPOINTS]  # room for the start on a log axis
    methods = [m for m in _STYLES if metric == "accuracy" or "intercept" not in m]
    for panel, name in zip(panels, names, strict=False):
        for method in methods:
            colour, dashes, marker = _STYLES[method]
            curve = results.curve(metric, name, method)
            label = _label(method, metric)
            style = {"color": colour, "linestyle": dashes, "marker": marker, "markersize": 4}
            panel.plot(steps, curve, label=label, linewidth=1.6, **style)
        ours = results.mean(metric, name, "ours")
        panel.axhline(ours, color="#009e73", linewidth=1.8, linestyle=":", label="ours (no steps)")
        panel.set_xscale("log")
        panel.set_xticks([0.6, 3, 13, 55, 250], ["0", "3", "13", "55", "250"])
        panel.minorticks_off()
        panel.set_title(f"{name}\n(paper: moments {SHOWN[metric][name]})", fontsize=10)
        panel.grid(visible=True, color="#e6e6e6", linewidth=0.7)
        panel.tick_params(labelsize=10)
    for panel in panels[len(names) :]:
        panel.set_axis_off()
        panel.text(0.5, 0.5, f"{listed([*NOT_HERE])}:\nnot run here", ha="center", fontsize=11)
    figure.supxlabel("iterations of Algorithm 1 (log scale)", fontsize=11)
    figure.supylabel(f"mean test {metric}", fontsize=11)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, fontsize=10, frameon=False)
    figure.savefig(FIGURES[metric], dpi=110)


def _label(method: str, metric: str) -> str:
    """Name a curve for a reader."""
    name, _, intercept = method.partition(", ")
    words = _OBJECTIVE[metric] if name == "moments" else _SURROGATE[metric]
    return f"{words}, with intercept" if intercept else words
