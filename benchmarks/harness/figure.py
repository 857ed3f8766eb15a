"""One style for all figures: colours, grid, and how a figure is made without a window."""

from __future__ import annotations

from typing import Any

#: Okabe and Ito's colours, which colour-blind readers can tell apart. Lines differ in their markers
#: or dashes as well.
BLACK, GREY = "#000000", "#999999"
ORANGE, SKY_BLUE, GREEN, BLUE = "#e69f00", "#56b4e9", "#009e73", "#0072b2"
VERMILION, PURPLE = "#d55e00", "#cc79a7"
#: Arguments of ``Axes.grid``.
GRID = {"visible": True, "color": "#e6e6e6", "linewidth": 0.7}


def new_figure(width: float, height: float, layout: str | None = "constrained") -> Any:
    """Return an empty figure of so many inches; ``savefig`` writes it."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - reports without figures need none

    return Figure(figsize=(width, height), layout=layout)
