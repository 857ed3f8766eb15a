"""Text and HTML representations of Moments."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from directrix.moments.moments import Moments

_FEATURES_SHOWN = 8


def text(moments: Moments) -> str:
    """Return a line of text: rows, features, classes, and weight, prior and folds if present."""
    # Counts are summed over the folds, because merging the folds would cost far more.
    counts = ", ".join(
        f"{label!r}: {sum(part[index].count for part in moments.parts):,}"
        for index, label in enumerate(moments.classes.tolist())
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
    """Return an HTML table with a column for each class: size, and mean ± deviation by feature."""
    shown = min(moments.n_features, _FEATURES_SHOWN)
    names = moments.feature_names or tuple(f"feature {index}" for index in range(shown))
    columns = [["class", "rows", "weight", "share", *names[:shown]]]
    for label, group in moments.by_class.items():
        share = group.weight / moments.weight if moments.weight else 0.0
        cells = [str(label), f"{group.count:,}", f"{group.weight:,.6g}", f"{share:.4f}"]
        deviation = np.sqrt(group.variance[:shown]) if group.count else np.zeros(shown)
        cells += [
            f"{m:.6g} ± {s:.3g}" if group.count else ""
            for m, s in zip(group.mean[:shown], deviation, strict=True)
        ]
        columns.append(cells)
    header, *body = zip(*columns, strict=True)
    left_out = moments.n_features - shown
    note = f"; {left_out:,} more features" if left_out else ""
    return (
        f"<table><caption>{escape(text(moments)[1:-1])}. Mean ± standard deviation{note}.</caption>"
        f"<thead>{_row('th', header)}</thead>"
        f"<tbody>{''.join(_row('td', row) for row in body)}</tbody></table>"
    )


def _row(tag: str, cells: tuple[str, ...]) -> str:
    style = ' style="white-space: nowrap"'
    return "<tr>" + "".join(f"<{tag}{style}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"
