r"""Reasons: the columns that cost a row most points against a reference.

The loss of a column is how much the points of the row move in its favour, away from the positive
class, when this column alone is taken to its reference bin, its crosses included:

.. math:: \ell_j(x) = s \,[\,P(x_1, \dots, r_j, \dots, x_d) - P(x)\,]

with s = −1 if higher points mean the positive class, and s = 1 otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from directrix._printing import printable
from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.card import Card
from directrix.cards.card_printing import named_lines, points_text
from directrix.exceptions.columns import ColumnNotFoundError
from directrix.tables import LevelBins

#: Rows that are taken at a time: a column needs a number for each of them and of its cells.
_BLOCK = 1 << 14
#: Rows that are printed before the rest is only counted.
_PRINTED = 10
_REFERENCES = "best, average, or a dict from columns to bins"


@dataclass(frozen=True, eq=False)
class Reasons:
    """For each row the columns that cost it most points, the costliest first.

    All are arrays of shape (n, k): names of columns, points lost against the reference (always
    positive), the bin of the row in that column as in `Card.table`, and the text for this column
    and bin, by default "column: bin". Where a row has fewer than k columns that cost it points, the
    rest is empty: "" and 0.
    """

    columns: AnyArray
    losses: FloatArray
    bins: AnyArray
    texts: AnyArray

    def __len__(self) -> int:
        return len(self.columns)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a line for each reason of each row."""
        import pandas as pd

        row, rank = np.nonzero(self.losses > 0)
        return pd.DataFrame(
            {
                "row": row,
                "rank": rank + 1,
                "column": self.columns[row, rank],
                "bin": self.bins[row, rank],
                "points_lost": self.losses[row, rank],
                "text": self.texts[row, rank],
            }
        )

    def __str__(self) -> str:
        lines, decimals = [], 0 if np.array_equal(self.losses, np.round(self.losses)) else 1
        for row in range(min(len(self), _PRINTED)):
            found = np.flatnonzero(self.losses[row] > 0).tolist()
            lines.append(f"row {row}" if found else f"row {row}: no column costs points")
            lost = [(points_text(self.losses[row, k], decimals), self.texts[row, k]) for k in found]
            lines += named_lines(lost) if lost else []
        if len(self) > _PRINTED:
            lines.append(f"and {len(self) - _PRINTED:,} more rows")
        return "\n".join(lines)


def find_reasons(
    card: Card,
    binner: Any,
    cells: IntArray,
    k: Any,
    reference: Any,
    texts: Mapping[Any, str] | None = None,
    *,
    toward: bool = True,
) -> Reasons:
    """Return the reasons of rows, from their cells in all columns.

    The binner reads reference values; `k`, `reference` and `texts` are those of
    `ScorecardClassifier.reasons`. Reasons speak for the positive class (`toward`) or against it.
    """
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        msg = f"k must be a whole number, 1 or more, not {k!r}"
        raise ValueError(msg)
    columns = _reference_columns(card, binner, reference)
    favour = -1.0 if card.higher_is_positive == toward else 1.0
    labels = _Labels(card, texts or {})
    shape = len(cells), int(k)
    found = np.full(shape, -1, dtype=np.int64)
    losses = np.zeros(shape)
    for rows in _blocks(len(cells)):
        block = cells[rows]
        lost = np.zeros((len(block), len(card.columns)))
        for column, to_reference in columns.items():
            gains = favour * _moves(card, block, column)
            lost[:, column] = to_reference(gains)
        # Stable, so that of equal losses the first column comes first.
        order = np.argsort(-lost, axis=1, kind="stable")[:, : shape[1]]
        taken = np.take_along_axis(lost, order, axis=1)
        width = order.shape[1]
        found[rows, :width] = np.where(taken > 0, order, -1)
        losses[rows, :width] = np.maximum(taken, 0.0)
    return labels.reasons(found, losses, cells)


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, n, _BLOCK))


def _moves(card: Card, cells: IntArray, column: int) -> FloatArray:
    """Return how points change if a column is taken to each of its cells, of shape (n, cells).

    Taking it to the cell it is in changes nothing, exactly.
    """
    current = cells[:, column]
    moves = card.columns[column][None, :] - card.columns[column][current][:, None]
    for cross in card.crosses:
        for side, other in ((0, 1), (1, 0)):
            if cross.columns[side] == column:
                points = cross.points if side == 0 else cross.points.T
                given = cross.merged[other][cells[:, cross.columns[other]]]
                of_rows = points[:, given][cross.merged[side]].T
                moves = moves + (of_rows - of_rows[np.arange(len(current)), current][:, None])
    return moves


def _reference_columns(
    card: Card, binner: Any, reference: Any
) -> dict[int, Callable[[FloatArray], FloatArray]]:
    """Return for each column that may be a reason what its loss is, from the gains of its moves."""
    everything = range(len(card.columns))
    if isinstance(reference, Mapping):
        return {
            column: _to_best(np.array([_reference_cell(card, binner, column, value)]))
            for column, value in _by_position(card, reference).items()
        }
    if reference == "best":
        return {column: _to_best(reference_cells(card, column)) for column in everything}
    if reference == "average":
        if not card.counts:
            msg = "reference='average' needs the counts of training rows, which this card lacks"
            raise ValueError(msg)
        return {column: _to_average(card.counts[column].sum(axis=0)) for column in everything}
    msg = f"reference must be {_REFERENCES}, not {reference!r}"
    raise ValueError(msg)


def reference_cells(card: Card, column: int) -> IntArray:
    """Return the cells that training rows are in: nobody can be asked to be in another."""
    if not card.counts or not card.counts[column].any():
        return np.arange(len(card.columns[column]))
    return np.flatnonzero(card.counts[column].sum(axis=0))


def loss_columns(card: Card, column: int) -> tuple[int, ...]:
    """Return the columns whose bins say what a column costs: itself, and those it is crossed with.

    Columns are given by their positions.
    """
    crossed = [cross.columns for cross in card.crosses if column in cross.columns]
    return (column, *sorted({k for pair in crossed for k in pair} - {column}))


def loss_table(card: Card, column: int) -> FloatArray:
    """Return what a column costs against its best cell, with an axis for each of `loss_columns`."""
    columns = list(loss_columns(card, column))
    shape = tuple(len(card.columns[k]) for k in columns)
    cells = np.zeros((int(np.prod(shape)), len(card.columns)), dtype=np.int64)
    cells[:, columns] = np.indices(shape).reshape(len(shape), -1).T
    favour = -1.0 if card.higher_is_positive else 1.0
    best = _to_best(reference_cells(card, column))
    losses = [best(favour * _moves(card, cells[rows], column)) for rows in _blocks(len(cells))]
    return np.maximum(np.concatenate(losses), 0.0).reshape(shape)


def bin_names(card: Card, column: int) -> list[str]:
    """Return for each cell of a column the printed bin that it is part of."""
    names = list(card.bins[column].labels)
    for row in card.column_table(column):
        for cell in row.cells:
            names[cell] = row.bin
    return names


def _to_best(cells: IntArray) -> Callable[[FloatArray], FloatArray]:
    return lambda gains: gains[:, cells].max(axis=1)


def _to_average(weight: FloatArray) -> Callable[[FloatArray], FloatArray]:
    return lambda gains: gains @ (weight / (weight.sum() or 1.0))


def _by_position(card: Card, named: Mapping[Any, Any]) -> dict[int, Any]:
    names = [bins.name for bins in card.bins]
    for name in named:
        if name not in names:
            raise ColumnNotFoundError(name, names)
    return {names.index(name): value for name, value in named.items()}


def _reference_cell(card: Card, binner: Any, column: int, value: Any) -> int:
    """Return the cell of a reference that is given as a label of a bin, or as a raw value."""
    bins, rows = card.bins[column], card.column_table(column)
    named = {row.bin: row.cells[0] for row in rows}
    named |= {label: cell for cell, label in enumerate(bins.labels)}
    if isinstance(value, str) and value in named:
        return named[value]
    row: list[Any] = [None] * len(card.bins)
    row[column] = value
    try:
        cell = int(binner.cells([row])[0, column])
    except (TypeError, ValueError):
        cell = None
    # A text that is no level is rather a typing error than a wish for the bin of unseen ones.
    if cell is None or (isinstance(bins, LevelBins) and cell == 1):
        known = ", ".join(repr(row.bin) for row in rows)
        msg = f"{value!r} is not a bin or value of {bins.name!r} to refer to: its bins are {known}"
        raise ValueError(msg)
    return cell


class _Labels:
    """Names and texts of the bins of a card; texts are given by column, or by column and bin."""

    def __init__(self, card: Card, texts: Mapping[Any, str]) -> None:
        self._card, self._wording = card, texts
        names = [bins.name for bins in card.bins]
        self._names = np.array([*names, ""], dtype=object)
        for key in texts:
            self._check(names, key)

    def _check(self, names: list[str], key: Any) -> None:
        """Raise an error for a text of a column or bin that the card lacks."""
        name = key[0] if isinstance(key, tuple) and len(key) == 2 else key
        if name not in names:
            raise ColumnNotFoundError(name, names)
        rows = self._card.column_table(names.index(name))
        labels = self._card.bins[names.index(name)].labels
        fine = set(labels)
        if key != name and key[1] not in fine.union(row.bin for row in rows):
            shown = [row.bin for row in rows]
            msg = f"texts has {key!r}, which is not a bin of {name!r}: its bins are {shown}"
            raise ValueError(msg)

    def _text(self, column: int, cell: int, label: str) -> str:
        """Return the text for a cell of a column, whose printed bin is given."""
        bins, texts = self._card.bins[column], self._wording
        default = texts.get(bins.name, printable(f"{bins.name}: {label}"))
        fine = texts.get((bins.name, bins.labels[cell]), default)
        return texts.get((bins.name, label), fine)

    def reasons(self, found: IntArray, losses: FloatArray, cells: IntArray) -> Reasons:
        """Return reasons in words; column −1 stands for none."""
        bins, texts = (np.full(found.shape, "", dtype=object) for _ in range(2))
        for column in np.unique(found[found >= 0]).tolist():
            where = np.nonzero(found == column)
            used, index = np.unique(cells[where[0], column], return_inverse=True)
            names = bin_names(self._card, column)
            labels = [names[cell] for cell in used.tolist()]
            words = list(map(partial(self._text, column), used.tolist(), labels))
            bins[where] = np.array(labels, dtype=object)[index]
            texts[where] = np.array(words, dtype=object)[index]
        return Reasons(self._names[found], losses, bins, texts)
