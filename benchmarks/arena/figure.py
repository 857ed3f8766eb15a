"""Mean ranks as a picture: one row of dots for each metric."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt

FIGURE = Path(__file__).with_name("ranks.png")
#: Of Okabe and Ito; all that is not named is grey.
_SHOWN = {
    "direct": ("#D55E00", "*"),
    "smooth": ("#E69F00", "D"),
    "moment": ("#0072B2", "o"),
    "beta-bernoulli": ("#009E73", "^"),
    "logistic, tuned": ("#000000", "s"),
    "balanced logistic, tuned": ("#CC79A7", "P"),
    "linear SVC, tuned": ("#999999", "v"),
    "LDA, shrunk": ("#56B4E9", "X"),
}


def draw(ranks: dict[tuple[str, str], dict[str, float]], sets: dict[str, int]) -> None:
    """Draw mean ranks by kind of sets and metric, then competitor; ``sets`` counts the sets."""
    kinds = list(dict.fromkeys(kind for kind, _ in ranks))
    figure, panels = plt.subplots(
        1, len(kinds), figsize=(5.2 * len(kinds), 4.6), sharey=True, squeeze=False
    )
    for panel, kind in zip(panels[0], kinds, strict=True):
        metrics = [metric for own, metric in ranks if own == kind]
        for height, metric in enumerate(metrics):
            for rival, rank in ranks[kind, metric].items():
                colour, marker = _SHOWN.get(rival, ("0.8", "."))
                label = rival if height == 0 and rival in _SHOWN else None
                order = 3 if rival in _SHOWN else 1
                size = 130 if marker == "*" else 45  # a star looks smaller than it is
                panel.scatter(
                    rank, height, color=colour, marker=marker, s=size, label=label, zorder=order
                )
        panel.set_yticks(range(len(metrics)), metrics)
        panel.grid(axis="y", color="0.9")
        panel.set_title(f"{sets[kind]} {kind} sets")
        panel.set_xlabel("mean rank of the linear ones (1 is best)")
    panels[0][0].invert_yaxis()  # of all, as they share it
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=4, loc="lower center", frameon=False, fontsize=9)
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    figure.savefig(FIGURE, dpi=110)
    plt.close(figure)
