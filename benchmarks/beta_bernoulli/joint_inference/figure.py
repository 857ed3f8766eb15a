"""The outcomes as a figure."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.beta_bernoulli.joint_inference.documents import CONDITIONS
from benchmarks.beta_bernoulli.joint_inference.record import Outcome
from benchmarks.beta_bernoulli.joint_inference.report import ERROR, LOG_LOSS, values

FIGURE = Path(__file__).with_name("joint_inference.png")
#: Colours of Okabe and Ito; the order from the top is the same in all panels.
_COLOURS = {
    "logistic, C=1": "#999999",
    "logistic, tuned": "#000000",
    "weak": "#56b4e9",
    "learned": "#0072b2",
    "robust": "#d55e00",
}
_CAPTION = (
    "Hollow: face by face. Filled: after joint inference.\n"
    "Means over seeds, and two standard errors. Less is better."
)


def draw(known: list[Outcome]) -> None:
    """Draw means and two standard errors: a row for each condition, local hollow, joint filled."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(6.0, 6.4), layout="constrained")
    axes = figure.subplots(len(CONDITIONS), 2, sharex="col", sharey=True)
    for row, condition in zip(axes, CONDITIONS, strict=True):
        for panel, measure in zip(row, (ERROR, LOG_LOSS), strict=True):
            panel.set_title(f"{condition}: {measure.title.split(',')[0].lower()}", fontsize=9)
            panel.margins(y=0.12)
            panel.grid(visible=True, axis="x", color="#dddddd", linewidth=0.6)
            panel.set_yticks(range(len(_COLOURS)), list(_COLOURS), fontsize=9)
            panel.tick_params(labelsize=9, length=0)
            for place, (method, colour) in enumerate(_COLOURS.items()):
                for stage, face in (("local", "white"), ("joint", colour)):
                    each = values(known, measure, condition, method, stage)
                    panel.errorbar(
                        each.mean(),
                        place,
                        xerr=2.0 * each.std(ddof=1) / np.sqrt(len(each)),
                        fmt="o",
                        color=colour,
                        markerfacecolor=face,
                        markersize=6,
                        elinewidth=1.2,
                    )
    axes[0, 0].invert_yaxis()
    axes[-1, 0].set_xlabel(ERROR.title, fontsize=9)
    axes[-1, 1].set_xlabel(LOG_LOSS.title, fontsize=9)
    figure.suptitle(_CAPTION, fontsize=9)
    figure.savefig(FIGURE, dpi=200)
