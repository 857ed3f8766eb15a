"""The bins of a table as text."""

from __future__ import annotations

from collections.abc import Sequence

from directrix.tables.bins import Bins, LevelBins

_SHOWN = 6  # cuts or levels of a column before they are only counted
_LONGEST = 24  # characters of a name or level before it is cut off


def describe_bins(columns: Sequence[Bins]) -> str:
    """Return one line for each column: name, kind, share of missing rows, cells, cuts or levels.

    Parameters
    ----------
    columns : sequence of NumberBins and LevelBins
    """
    lines = [("column", "kind", "missing", "cells", "cuts or levels")]
    lines += [
        (_short(bins.name), bins.kind, _share(bins), str(bins.n_cells), _content(bins))
        for bins in columns
    ]
    widths = [max(len(line[k]) for line in lines) for k in range(4)]
    return "\n".join(
        f"{name:<{widths[0]}}  {kind:<{widths[1]}}  {missing:>{widths[2]}}  {cells:>{widths[3]}}"
        f"  {content}".rstrip()
        for name, kind, missing, cells, content in lines
    )


def _share(bins: Bins) -> str:
    return f"{100 * bins.weights[0] / (sum(bins.weights) or 1.0):.1f} %"


def _content(bins: Bins) -> str:
    if isinstance(bins, LevelBins):
        return _listed([_short(label) for label in bins.labels[2:]])
    if bins.kind == "boolean":
        return ", ".join(bins.labels[1:])
    special = [f"special: {label}" for label in bins.labels[1 + bins.n_ordered :]]
    return "; ".join(part for part in (_listed(bins.cut_labels), *special) if part)


def _listed(texts: Sequence[str]) -> str:
    if len(texts) <= _SHOWN:
        return ", ".join(texts)
    return f"{', '.join(texts[: _SHOWN - 1])}, … ({len(texts)} in all)"


def _short(text: str) -> str:
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
