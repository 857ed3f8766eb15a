"""How a summary shows itself, as text and in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from directrix.moments.moments import Moments

_FEATURES_SHOWN = 8


def text(moments: Moments) -> str:
    """Return one line: rows, features, classes, and what else there is."""
    # Counted over the folds, which are not merged for the sake of a line of text.
    counts = ", ".join(
        f"{label!r}: {sum(part[place].count for part in moments.parts):,}"
        for place, label in enumerate(moments.classes.tolist())
    )
    parts = [f"{moments.count:,} rows", f"{moments.n_features:,} features", f"classes {{{counts}}}"]
    if moments.weight != moments.count:
        parts.append(f"weight {moments.weight:,.6g}")
    if moments.stated_prior is not None:
        parts.append(f"stated prior {moments.stated_prior:g}")
    if moments.folded:
        parts.append(f"{len(moments.parts)} folds")
    return f"<Moments: {'; '.join(parts)}>"


def html(moments: Moments) -> str:
    """Return a table with a row for each class, and the mean ± deviation of the first features."""
    shown = min(moments.n_features, _FEATURES_SHOWN)
    names = moments.feature_names or tuple(f"feature {place}" for place in range(shown))
    left_out = moments.n_features - shown
    header = ["class", "rows", "weight", "share", *names[:shown]]
    if left_out:
        header.append(f"… {left_out:,} more")
    lines = []
    for label, group in moments.by_class.items():
        share = group.weight / moments.weight if moments.weight else 0.0
        cells = [str(label), f"{group.count:,}", f"{group.weight:,.6g}", f"{share:.4f}"]
        if group.count:
            deviation = np.sqrt(group.variance[:shown])
            cells += [
                f"{m:.4g} ± {s:.3g}" for m, s in zip(group.mean[:shown], deviation, strict=True)
            ]
        lines.append(_row("td", cells))
    return (
        f"<table><caption>{escape(text(moments)[1:-1])}; mean ± standard deviation</caption>"
        f"<thead>{_row('th', header)}</thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _row(tag: str, cells: list[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
