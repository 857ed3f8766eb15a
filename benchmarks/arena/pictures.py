"""Pictures of the arenas: critical-difference diagrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.harness.figure import BLACK, BLUE, GREY

_ROW = 0.9


def groups_within(ranks: Sequence[float], critical: float) -> list[tuple[float, float]]:
    """Return the longest stretches of mean ranks that differ by less than a critical difference."""
    ordered = sorted(ranks)
    stretches = [
        (low, max(rank for rank in ordered if rank - low < critical))
        for low in dict.fromkeys(ordered)
    ]
    return [
        (low, high)
        for low, high in stretches
        if high > low
        and not any((a, b) != (low, high) and a <= low and high <= b for a, b in stretches)
    ]


def draw_ranks(
    ax: Any, ranks: Mapping[str, float], critical: float, title: str, ours: Sequence[str] = ()
) -> None:
    """Draw the mean rank of each competitor, 1 the best; ``ours`` are drawn in colour."""
    names = sorted(ranks, key=lambda name: ranks[name])
    half = (len(names) + 1) // 2
    low, high = 1.0, float(len(names))
    margin = 0.35 * (high - low)
    bars = groups_within(list(ranks.values()), critical)
    top = _ROW * (1.5 + 0.4 * len(bars))
    ax.hlines(0.0, low, high, color=BLACK, linewidth=1)
    for rank in range(1, len(names) + 1):
        ax.vlines(rank, 0.0, 0.15, color=BLACK, linewidth=1)
        ax.text(rank, 0.25, str(rank), ha="center", va="bottom", fontsize=8)
    for place, name in enumerate(names):
        left = place < half
        row = place if left else len(names) - 1 - place
        depth = -(top + _ROW * row)
        end = low - 0.02 * (high - low) if left else high + 0.02 * (high - low)
        colour = BLUE if name in ours else BLACK
        ax.plot([ranks[name], ranks[name], end], [0.0, depth, depth], color=colour, linewidth=1)
        ax.text(
            end,
            depth,
            f" {name} {ranks[name]:.2f} ",
            ha="right" if left else "left",
            va="center",
            fontsize=8,
            color=colour,
        )
    for number, (begin, end) in enumerate(bars):
        depth = -_ROW * (0.6 + 0.4 * number)
        ax.hlines(depth, begin - 0.03, end + 0.03, color=GREY, linewidth=4)
    ax.hlines(1.4, low, low + critical, color=BLACK, linewidth=2)
    ax.text(low + critical, 1.4, f"  critical difference {critical:.2f}", va="center", fontsize=8)
    ax.set_xlim(low - margin, high + margin)
    ax.set_ylim(-(top + _ROW * half), 2.2)
    ax.set_title(title, loc="left", fontsize=10)
    ax.axis("off")
