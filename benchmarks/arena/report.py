"""The report ``arena.md`` and the figure ``ranks.png`` of the arena.

``python -m benchmarks.arena.report`` writes both from the tracked files, and measures nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scipy import stats

from benchmarks.arena.protocol import METRICS, SETS
from benchmarks.arena.results import LEVEL, Arena, LargeArena, critical_difference
from benchmarks.harness import figure
from benchmarks.harness.markdown import bold_if, header, line, write_report
from benchmarks.rivals.lines import LINEAR, OURS, REFERENCES, RIVALS, TUNED

REPORT = Path(__file__).with_name("arena.md")
FIGURE = Path(__file__).with_name("ranks.png")
#: Colour and marker; all competitors that are not named are grey dots.
_STYLES = {
    "direct": (figure.VERMILION, "*"),
    "smooth": (figure.ORANGE, "D"),
    "moment": (figure.BLUE, "o"),
    "beta-bernoulli": (figure.GREEN, "^"),
    "logistic, tuned": (figure.BLACK, "s"),
    "balanced logistic, tuned": (figure.PURPLE, "P"),
    "linear SVC, tuned": (figure.GREY, "v"),
    "LDA, shrunk": (figure.SKY_BLUE, "X"),
}


def main() -> None:
    """Write the report and the figure."""
    arena = Arena()
    write_report(REPORT, lines(arena))
    draw(arena)


def _ranked(arena: Arena, names: Sequence[str], metric: str) -> list[str]:
    """Return the linear competitors, ours among them, that have the metric on every set."""
    sets = arena.measured(names, metric, [TUNED])
    return [r for r in (*OURS, *LINEAR) if len(arena.measured(sets, metric, [r])) == len(sets)]


def lines(arena: Arena) -> list[str]:
    """Return the report."""
    columns = ("sets", "metric", "ours", "wins", "ties", "losses", "won on", "lost on")
    lines = [
        "# The arena",
        "",
        "All competitors on the same folds; how: see `run.py`. Values are means over the folds of",
        "whole repeats.",
        f"Wins and losses: the corrected t-test for repeated cross-validation at {LEVEL:.0%}. The",
        "best rival of a set is chosen with the test folds in view, so it has an edge.",
    ]
    for title, rivals in (
        ("Wins, ties and losses against the best linear rival of each set", LINEAR),
        (f"Against {TUNED} alone", (TUNED,)),
    ):
        lines += ["", f"## {title}", "", *header(*columns)]
        for kind, names in SETS.items():
            for metric in METRICS:
                lines += _counts(arena, kind, names, metric, rivals)
    lines += ["", "## Mean ranks of the linear ones, one the best", ""]
    lines += _rank_table(arena)
    lines += ["", "## What a line cannot reach", "", *_beyond(arena)]
    lines += ["", f"## CPU of the whole choice, to that of {TUNED} (median over folds)", ""]
    lines += header("competitor", "ratio")
    lines += [line(rival, f"{arena.cpu_ratio(rival):.2f}") for rival in RIVALS]
    for kind, names in SETS.items():
        for metric in METRICS:
            lines += _values(arena, f"{kind} sets", names, metric)
    large = LargeArena()
    for metric in METRICS:
        lines += _values(large, "large sets, whole", tuple(large.shapes), metric)
    return lines


def _counts(
    arena: Arena, kind: str, names: Sequence[str], metric: str, rivals: Sequence[str]
) -> list[str]:
    available = arena.available(names, metric)
    lines = []
    for ours in arena.ours:
        sets = arena.outcomes(names, metric, ours, [r for r in rivals if r in available])
        counts = (str(len(names_of_word)) for names_of_word in sets.values())
        lists = (", ".join(map(_short, sets[word])) for word in ("win", "loss"))
        lines.append(line(kind, metric, ours, *counts, *lists))
    return lines


def _rank_table(arena: Arena) -> list[str]:
    """Return mean ranks; a critical difference by Nemenyi after Friedman's test."""
    every = [rival for rival in (*OURS, *LINEAR) if rival in arena.rivals]
    lines = header("sets", "metric", "n", *every, "critical difference", "Friedman p")
    for kind, names in SETS.items():
        for metric in METRICS:
            rivals = _ranked(arena, names, metric)
            ranks = arena.ranks(names, metric, rivals)
            if len(ranks) < 2:
                continue
            n = len(ranks)
            critical = critical_difference(*ranks.shape, LEVEL)
            p = stats.friedmanchisquare(*ranks.T).pvalue
            means = dict(zip(rivals, ranks.mean(axis=0), strict=True))
            best = min(means.values())
            cells = (
                bold_if(f"{means[r]:.2f}", means[r] == best) if r in means else "" for r in every
            )
            lines.append(line(kind, metric, str(n), *cells, f"{critical:.2f}", f"{p:.1g}"))
    return lines


def _values(arena: Arena, kind: str, names: Sequence[str], metric: str) -> list[str]:
    rivals = [r for r in arena.rivals if arena.measured(names, metric, [r])]
    measured = [name for name in names if any(arena.measured([name], metric, [r]) for r in rivals)]
    if not measured:
        return []
    direction = "more" if METRICS[metric].greater_is_better else "less"
    lines = ["", f"## {metric.capitalize()}, {kind} ({direction} is better)", ""]
    lines += header("set", "n x d", *rivals)
    for name in measured:
        tables = (arena.folds(name, metric, [rival]) for rival in rivals)
        means = (None if folds is None else float(folds.mean()) for folds in tables)
        cells = ("" if m is None else f"{arena.signed(metric, m):.4f}" for m in means)
        lines.append(line(_short(name), arena.shapes[name], *cells))
    return lines


def _beyond(arena: Arena) -> list[str]:
    """Return on how many sets trees are better than the best line of the set, ours included."""
    lines = header("metric", "sets", "trees or naive Bayes better than every line, significantly")
    for metric in METRICS:
        outcomes = [
            arena.outcomes(SETS["general"], metric, reference, (*arena.ours, *LINEAR))
            for reference in REFERENCES
        ]
        sets = {name for outcome in outcomes for names in outcome.values() for name in names}
        better = {name for outcome in outcomes for name in outcome["win"]}
        if sets:
            lines.append(line(metric, str(len(sets)), str(len(better))))
    table = "[on 18 sets](../studies/beyond_lines.md)"
    return [*lines, "", f"What splines and Nystroem before a line make up of that: {table}."]


def _short(name: str) -> str:
    return name.removeprefix("keel/")


def draw(arena: Arena) -> None:
    """Draw mean ranks: a panel for each kind of sets, a row of dots for each metric."""
    drawn = figure.new_figure(5.2 * len(SETS), 4.6, layout=None)
    panels = drawn.subplots(1, len(SETS), sharey=True, squeeze=False)[0]
    for panel, (kind, names) in zip(panels, SETS.items(), strict=True):
        ranks = {metric: _mean_ranks(arena, names, metric) for metric in METRICS}
        metrics = [metric for metric in METRICS if ranks[metric]]
        for height, metric in enumerate(metrics):
            for rival, rank in ranks[metric].items():
                colour, marker = _STYLES.get(rival, ("0.8", "."))
                label = rival if height == 0 and rival in _STYLES else None
                order = 3 if rival in _STYLES else 1
                size = 130 if marker == "*" else 45  # a star looks smaller than it is
                panel.scatter(
                    rank, height, color=colour, marker=marker, s=size, label=label, zorder=order
                )
        panel.set_yticks(range(len(metrics)), metrics)
        panel.grid(axis="y", color="0.9")
        panel.set_title(f"{len(arena.measured(names, 'error', [TUNED]))} {kind} sets")
        panel.set_xlabel("mean rank of the linear ones (1 is best)")
    panels[0].invert_yaxis()  # of all, as they share it
    handles, labels = panels[0].get_legend_handles_labels()
    drawn.legend(handles, labels, ncols=4, loc="lower center", frameon=False, fontsize=9)
    drawn.tight_layout(rect=(0, 0.1, 1, 1))
    drawn.savefig(FIGURE, dpi=110)


def _mean_ranks(arena: Arena, names: Sequence[str], metric: str) -> dict[str, float]:
    rivals = _ranked(arena, names, metric)
    ranks = arena.ranks(names, metric, rivals)
    return dict(zip(rivals, ranks.mean(axis=0), strict=True)) if len(ranks) else {}


if __name__ == "__main__":
    main()
