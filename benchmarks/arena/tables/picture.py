"""The picture of README: three models at one operating point on every table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arena.results import Arena
from benchmarks.arena.tables.protocol import SETS
from benchmarks.harness.figure import BLUE, GREY, GRID, VERMILION, new_figure
from benchmarks.rivals.on_tables import LINE

PICTURE = Path(__file__).parents[3] / "docs" / "_static" / "tables.png"
OURS, TREES = "scorecard, rows", "LightGBM, tuned"
SHOWN = "recall at FPR 5 %"


def picture(arena: Arena) -> Any:
    """Draw the recall of three models on each table, the best table first."""
    models = {
        LINE: ("logistic regression, one-hot", GREY, "s"),
        TREES: ("gradient boosting (LightGBM, tuned)", VERMILION, "^"),
        OURS: ("ScorecardClassifier", BLUE, "o"),
    }
    names = arena.measured(SETS["tables"], SHOWN, list(models))
    means = arena.means(names, SHOWN, list(models))
    order = np.argsort(means[:, -1])
    figure = new_figure(7.6, 4.6)
    ax = figure.add_subplot()
    ax.hlines(
        range(len(names)), means[order].min(axis=1), means[order].max(axis=1), color="#cccccc"
    )
    for column, (label, colour, marker) in enumerate(models.values()):
        y = np.arange(len(names))
        ax.plot(means[order, column], y, marker, color=colour, label=label, markersize=7)
    ax.set_yticks(range(len(names)), [names[k] for k in order])
    ax.set_xlabel("recall at 5 % false positives, mean over folds (more is better)")
    ax.set_title("Twelve public tables, one operating point", loc="left", fontsize=12)
    ax.grid(axis="x", **GRID)
    ax.set_axisbelow(True)
    ax.legend(loc="lower right", fontsize=9, frameon=False)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return figure
