"""Style of the displays; the only file that imports matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.exceptions import MissingLibraryError

if TYPE_CHECKING:
    from directrix._typing import AnyArray

#: Colours of Okabe and Ito (2008), which colour-blind readers can distinguish; without the
#: yellow, which is too pale for a line on white.
BLUE, VERMILION, GREEN = "#0072b2", "#d55e00", "#009e73"
ORANGE, SKY, PURPLE, BLACK = "#e69f00", "#56b4e9", "#cc79a7", "#000000"
CYCLE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, BLACK)
#: When the colours are used up, they repeat with other dashes.
DASHES = ("-", "--", ":", "-.")
GREY = "#808080"
PALE = "#e6e6e6"
#: Colours of the positive and the negative class.
POSITIVE, NEGATIVE = VERMILION, BLUE

#: Width of a figure in inches: a column of text at 100 dots an inch.
WIDTH = 6.0
_SMALL = 9
#: Longest label of an axis, in characters, that is not broken into two lines.
_LONGEST = 40


def pyplot() -> Any:
    """Return ``matplotlib.pyplot``; raise ImportError that says how to install it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        purpose = "displays are drawn with matplotlib"
        raise MissingLibraryError(purpose, "matplotlib") from error
    return plt


def panels(ax: Any, shape: tuple[int, int], height: float, **how: Any) -> AnyArray:
    """Return the axes to draw into: the given ones, or those of a new figure.

    Parameters
    ----------
    ax : None, axes, or sequence of axes
    shape : tuple of int
        Rows and columns of axes.
    height : float
        Height of a new figure, in inches.
    **how
        Passed to ``matplotlib.pyplot.subplots``.
    """
    plt = pyplot()
    if ax is None:
        size = (WIDTH, height)
        _, made = plt.subplots(*shape, figsize=size, layout="constrained", squeeze=False, **how)
        return np.ravel(made)
    given = np.ravel(np.array(ax, dtype=object))
    wanted = shape[0] * shape[1]
    if len(given) != wanted:
        msg = f"this display draws into {wanted} axes, and ax has {len(given)}: give {wanted}"
        raise ValueError(msg)
    return given


def plain_text(text: str) -> str:
    """Return a text that is drawn as it is: a dollar sign would begin a formula."""
    return text.replace("$", r"\$")


def finish(ax: Any, xlabel: str, ylabel: str, *, columns: int = 2) -> None:
    """Label the axes, and put the legend above them, where it covers no data."""
    ax.set_xlabel(xlabel)
    # A remark in parentheses goes to a second line.
    ax.set_ylabel(ylabel.replace(" (", "\n(", 1) if len(ylabel) > _LONGEST else ylabel)
    ax.grid(visible=True, color=PALE, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=_SMALL)
    if columns and ax.get_legend_handles_labels()[0]:
        ax.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=columns,
            fontsize=_SMALL,
            frameon=False,
            borderaxespad=0.2,
            columnspacing=1.4,
            handlelength=1.8,
        )


def mark(ax: Any, x: float, y: float, **how: Any) -> Any:
    """Draw an operating point, and return its artist."""
    style = {
        "color": BLACK,
        "marker": "o",
        "markersize": 7,
        "markeredgecolor": "white",
        "linestyle": "none",
        "zorder": 5,
        "label": "operating point",
    }
    return ax.plot([x], [y], **{**style, **how})[0]
