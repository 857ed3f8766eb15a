"""The picture and the table of README about scorecards on real tables.

``python -m benchmarks.arena.tables.pages`` makes both from the tracked file, and measures nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arena.tables.protocol import SETS
from benchmarks.arena.tables.results import TableArena
from benchmarks.harness.figure import BLUE, GREY, GRID, VERMILION, new_figure
from benchmarks.harness.markdown import header, line
from benchmarks.rivals.on_tables import LINE

ROOT = Path(__file__).parents[3]
README = ROOT / "README.md"
PICTURE = ROOT / "docs" / "_static" / "tables.png"
OURS, TREES = "scorecard, rows", "LightGBM, tuned"
#: The operating point of the picture.
SHOWN = "recall at FPR 5 %"
METRICS = ("AUC", "recall at FPR 1 %", SHOWN, "precision at top 2 %", "cost 1:20")
_BEGIN = "<!-- tables: made by benchmarks.arena.tables.pages -->\n"
_END = "<!-- tables: end -->"
_TABLES = SETS["tables"]


def rows(arena: TableArena) -> list[str]:
    """Return how scorecards do against the best of all competitors on each table."""
    lines = header(
        "metric",
        "wins / ties / losses against the best of all",
        "median gain over logistic regression",
        "median gain over LightGBM",
        "LightGBM ahead on",
    )
    for metric in METRICS:
        outcomes = [_outcome(arena, name, metric) for name in _TABLES]
        to_line, to_trees = (
            np.subtract(*arena.means(_TABLES, metric, [OURS, rival]).T) for rival in (LINE, TREES)
        )
        lines.append(
            line(
                metric,
                " / ".join(str(outcomes.count(word)) for word in ("win", "tie", "loss")),
                f"{np.median(to_line):+.3f}",
                f"{np.median(to_trees):+.3f}",
                f"{np.count_nonzero(to_trees < 0)} of {len(to_trees)}",
            )
        )
    return lines


def _outcome(arena: TableArena, name: str, metric: str) -> str:
    """Return win, tie or loss against the best competitor that has a whole repeat on a table."""
    rivals = [
        rival
        for rival in arena.available([name], metric)
        if rival not in arena.ours and arena.measured([name], metric, [OURS, rival])
    ]
    _, verdict = arena.verdicts([name], metric, OURS, rivals)[name]
    return verdict.word


def embedded(arena: TableArena) -> str:
    """Return README with its table made anew."""
    before, rest = README.read_text(encoding="utf-8").split(_BEGIN)
    block = "\n".join(rows(arena))
    return f"{before}{_BEGIN}\n{block}\n\n{_END}{rest.split(_END)[1]}"


def picture(arena: TableArena) -> Any:
    """Draw the recall of three models on each table, the best table first."""
    models = {
        LINE: ("logistic regression, one-hot", GREY, "s"),
        TREES: ("gradient boosting (LightGBM, tuned)", VERMILION, "^"),
        OURS: ("ScorecardClassifier", BLUE, "o"),
    }
    names = arena.measured(_TABLES, SHOWN, list(models))
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
    ax.set_xlabel("recall at 5 % false positives, mean of five folds (more is better)")
    ax.set_title("Twelve public tables, one operating point", loc="left", fontsize=12)
    ax.grid(axis="x", **GRID)
    ax.set_axisbelow(True)
    ax.legend(loc="lower right", fontsize=9, frameon=False)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.tick_params(axis="y", length=0)
    return figure


def main() -> None:
    """Write the table and the picture."""
    arena = TableArena()
    README.write_text(embedded(arena), encoding="utf-8")
    picture(arena).savefig(PICTURE, dpi=120)


if __name__ == "__main__":
    main()
