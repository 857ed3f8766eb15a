"""TrainingTable: the table that a card is fitted to, read and checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import column_or_1d, validate_data

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.card import Card, Cross
from directrix.cards.judged import CardSettings, EditStart, FittedCard
from directrix.cards.prior import CellKinds
from directrix.estimators.base import two_classes
from directrix.fit.training_rows import Rows, folds_given, relative_weight
from directrix.rows.classes import dates_in_microseconds, plain_labels, positive_label
from directrix.rows.frames import require_same_index
from directrix.rows.keys import mix_bits
from directrix.tables import Binner, Table

# ── The order of columns in a fit: by their values, whatever the order in the table ───────────────


Item = TypeVar("Item")

#: Stands for a missing value.
_MISSING = np.uint64(0xA0761D6478BD642F)


def content_order(values: FloatArray, names: Sequence[str]) -> list[int]:
    """Return the positions of the columns in an order that follows from the rows alone.

    It depends neither on the order of the columns nor on that of the rows. Each column has a hash:
    the sum over the rows of its value mixed with a hash of the whole row, which is a sum over the
    columns. Columns with the same hash, as equal ones have, are ordered by name.

    ``values`` of shape (n, d) have NaN where they are missing. ``names`` are those of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[1.0, 5.0, 0.0], [2.0, 3.0, 0.5]])
    >>> for given in (rows, rows[:, [2, 0, 1]]):
    ...     print(given[:, content_order(given, "abc")].tolist())
    [[5.0, 0.0, 1.0], [3.0, 0.5, 2.0]]
    [[5.0, 0.0, 1.0], [3.0, 0.5, 2.0]]
    """
    bits = np.ascontiguousarray(values.T + 0.0).view(np.uint64)  # minus zero plus zero is zero
    bits[np.isnan(values.T)] = _MISSING
    mixed = mix_bits(bits)
    of_rows = mix_bits(mixed.sum(axis=0, dtype=np.uint64))
    sums = mix_bits(mixed ^ of_rows).sum(axis=1, dtype=np.uint64).tolist()
    return sorted(range(len(sums)), key=lambda k: (sums[k], names[k]))


@dataclass(frozen=True)
class ColumnOrder:
    """A fit adds, ranks and breaks ties in one order, whatever the order of the columns.

    ``index`` has, for each column of the fit, its position in the binner, whose order is that of
    the table.
    """

    index: tuple[int, ...]

    @classmethod
    def of(cls, binner: Any, names: Sequence[str]) -> ColumnOrder:
        """Return the order of the columns of a fitted binner, given by their names."""
        position = {bins.name: k for k, bins in enumerate(binner.bins_)}
        return cls(tuple(position[name] for name in names if name in position))

    def sorted(self, items: Sequence[Item]) -> list[Item]:
        """Return something of each column of the binner in the order of the fit."""
        return [items[k] for k in self.index]

    def restored(self, card: Card) -> Card:
        """Return a card of the fit with the columns in the order of the binner."""
        columns = [card.columns[self.index.index(k)] for k in range(len(self.index))]
        crosses = tuple(self._restored_cross(cross) for cross in card.crosses)
        return replace(card, columns=tuple(columns), crosses=crosses)

    def _restored_cross(self, cross: Cross) -> Cross:
        left, right = (self.index[k] for k in cross.columns)
        if left < right:
            return replace(cross, columns=(left, right))
        # The columns of a pair are in the order of the table.
        return Cross((right, left), cross.merged[::-1], cross.points.T.copy())


# ── TrainingTable: the table that a card is fitted to, read and checked ───────────────────────────


@dataclass(frozen=True)
class TrainingTable:
    """A table, and its rows of weight above zero with keys.

    ``rows`` have no class weights; their columns are in another order, on which keys of rows
    depend. ``order`` has, for each column of ``rows``, its position in the table; see
    `content_order`.
    """

    table: Table
    rows: Rows
    classes: AnyArray
    order: list[int]

    @classmethod
    def of(cls, classifier: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> TrainingTable:
        """Read and validate a table; the classifier gets the names of its columns."""
        require_same_index(X=X, y=y, sample_weight=sample_weight, groups=groups)
        table = Table.of(X)  # first: it names the column that is wrong
        validate_data(classifier, X, y, skip_check_array=True)
        for size, noun in zip(table.values.shape, ("sample", "feature"), strict=True):
            if not size:
                found = f"0 {noun}(s) (shape={table.values.shape})"
                msg = f"Found array with {found} while a minimum of 1 is required."
                raise ValueError(msg)
        if y is None:
            msg = f"{type(classifier).__name__} requires y to be passed, but the target y is None"
            raise ValueError(msg)
        labels = dates_in_microseconds(column_or_1d(plain_labels(y), warn=True))
        assert_all_finite(labels, input_name="y")
        if len(labels) != len(table):
            msg = f"X has {len(table)} rows and y {len(labels)}: they must have as many"
            raise ValueError(msg)
        weight = relative_weight(sample_weight, table.values)
        if (weight == 0).any():
            table = table.with_levels_of(weight > 0)
        kept = weight > 0
        order = content_order(table.values[kept], table.names)
        folds = folds_given(classifier.cv, table.values, labels, groups)
        classes = two_classes(labels[kept])
        label = positive_label(classifier.positive, classes)
        rows = Rows.of(table.values[:, order], labels, label, weight, folds, groups)
        return cls(table, rows, classes, order)

    def fitted_binner(self, binner: Any) -> Any:
        """Return a binner fitted to these rows; one that is frozen stays as it is."""
        binner = Binner() if isinstance(binner, str) else clone(binner)
        if hasattr(binner, "bins_"):  # frozen
            return binner
        # A bin needs rows, not weight: bins do not depend on the unit of weights.
        return binner.fit_table(self.restored(self.rows.X))

    def to_cells(self, binner: Any, values: FloatArray) -> IntArray:
        """Return the cells in the columns of a binner; rows have the columns of ``rows``."""
        cells: IntArray = binner.cells(self.restored(values))
        return cells

    @property
    def ordered_names(self) -> list[str]:
        """The names of the columns, in the order of ``rows``."""
        return [self.table.columns[k].name for k in self.order]

    def restored(self, values: FloatArray) -> Table:
        """Return values of rows as a table, with the columns in their given order."""
        restored = np.empty(values.shape, order="F")
        restored[:, self.order] = values
        return Table(self.table.columns, restored, self.table.named)

    def cell_counts(self, binner: Any) -> tuple[FloatArray, ...]:
        """Return for each column the weight of the negatives and of the positives in its cells.

        Class weights do not count: an auditor compares the counts with the table.
        """
        rows = self.rows
        of_class = [rows.weight * side for side in (~rows.positive, rows.positive)]
        return tuple(
            np.stack([np.bincount(column, weight, bins.n_cells) for weight in of_class])
            for bins, column in zip(binner.bins_, self.to_cells(binner, rows.X).T, strict=True)
        )


@dataclass(frozen=True)
class BinnedTable:
    """A training table with bins, and the order of its columns in a fit."""

    table: TrainingTable
    binner: Any
    order: ColumnOrder

    @classmethod
    def of(cls, table: TrainingTable, binner: Any) -> BinnedTable:
        """Cut the columns of a table into bins; ``binner`` is "auto" or a Binner."""
        fitted = table.fitted_binner(binner)
        return cls(table, fitted, ColumnOrder.of(fitted, table.ordered_names))

    @property
    def kinds(self) -> list[CellKinds]:
        """What the cells of each column are, in the order of the fit."""
        return [CellKinds.of(bins) for bins in self.order.sorted(self.binner.bins_)]

    def cells(self, values: FloatArray) -> IntArray:
        """Return the cells of rows, with the columns in the order of the fit."""
        cells: IntArray = self.table.to_cells(self.binner, values)[:, self.order.index]
        return cells

    def in_order(self, settings: CardSettings) -> CardSettings:
        """Return settings with directions of the columns in the order of the fit."""
        place = self.order.index.index
        moved = [each._replace(column=place(each.column)) for each in settings.directions]
        return replace(settings, directions=sorted(moved, key=lambda each: each.column))

    def completed(self, fit: FittedCard) -> FittedCard:
        """Return a fit with a card in the order of the binner, with bins and counts of its rows."""
        bins = tuple(self.binner.bins_)
        place = {each.name: k for k, each in enumerate(bins)}
        counts = self.table.cell_counts(self.binner)

        def complete(fit: FittedCard) -> FittedCard:
            card = self.order.restored(fit.card).with_rows(bins, counts)
            start = fit.start and self._restored_start(fit.start)
            effects = sorted(
                fit.report.directions, key=lambda each: place.get(each.column, len(bins))
            )
            report = replace(fit.report, directions=tuple(effects))
            sizes = tuple(map(complete, fit.sizes))
            return replace(fit, report=report, card=card, sizes=sizes, start=start)

        return complete(fit)

    def _restored_start(self, start: EditStart) -> EditStart:
        """Return what an editor begins with, with columns in the order of the binner."""
        cells = np.empty_like(start.rows.X)
        cells[:, list(self.order.index)] = start.rows.X
        values = self.binner.table_of(self.table.restored(start.values)).values
        cards = {fold: self.order.restored(card) for fold, card in start.cards.items()}
        return replace(start, cards=cards, rows=start.rows._replace(X=cells), values=values)
