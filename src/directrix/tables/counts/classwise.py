"""Counts by class and fold: the fields of BinCounts, and what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from directrix.exceptions.columns import ColumnNotFoundError
from directrix.rows.sums import tree_sum
from directrix.tables.binner import Binner
from directrix.tables.bins import Bins
from directrix.tables.counts.pair_counts import PairCounts

if TYPE_CHECKING:
    from directrix._typing import AnyArray, IntArray

    Parts = tuple[tuple[PairCounts, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class ClasswiseCounts:
    """Pair counts of the cells of a binner by class and fold.

    Parameters
    ----------
    bins : tuple of NumberBins and LevelBins
        Bins of each column.
    classes : array
        Sorted labels.
    parts : tuple of tuples of PairCounts
        One tuple for each fold (a single tuple without folds), which holds the counts of each
        class.
    folded : bool
        Whether the parts are folds.
    named : bool
        Whether the columns of the binner have names.
    """

    bins: tuple[Bins, ...]
    classes: AnyArray
    parts: Parts
    folded: bool = False
    named: bool = False

    @property
    def binner(self) -> Binner:
        """A fitted ``Binner`` with these bins, without crosses and otherwise with its defaults."""
        binner = Binner()
        binner.bins_, binner.crosses_ = self.bins, ()
        binner.n_features_in_ = len(self.bins)
        if self.named:
            binner.feature_names_in_ = np.array(self.column_names, dtype=object)
        return binner

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns: x0, x1, … if the binner was fitted on an array."""
        return tuple(bins.name for bins in self.bins)

    @property
    def starts(self) -> IntArray:
        """Number of the first cell of each column among all cells, and the number of all cells."""
        return np.cumsum([0, *(bins.n_cells for bins in self.bins)])

    @property
    def n_cells(self) -> int:
        """Number of cells of all columns."""
        return sum(bins.n_cells for bins in self.bins)

    @property
    def exact(self) -> bool:
        """Whether all counts are whole numbers."""
        return all(counts.exact for counts in chain(*self.parts))

    @property
    def count(self) -> int:
        """Number of rows with positive weight."""
        return sum(counts.count for counts in chain(*self.parts))

    @property
    def weight(self) -> float:
        """Total weight of all classes; a whole number if all weights are."""
        return sum(counts.weight for counts in chain(*self.parts))

    @property
    def n_folds(self) -> int:
        """Number of folds; zero if rows have no folds."""
        return len(self.parts) if self.folded else 0

    @property
    def folds(self) -> tuple[Self, ...]:
        """The counts of each fold; empty if rows have no folds."""
        if not self.folded:
            return ()
        return tuple(replace(self, parts=(part,), folded=False) for part in self.parts)

    def unfolded(self) -> Self:
        """Return the counts with all folds merged."""
        return replace(self, parts=(self.merged(self.parts),), folded=False)

    def without_fold(self, fold: int) -> Self:
        """Return the training counts for a fold, which are the sum of all other folds."""
        if not (self.folded and 0 <= fold < len(self.parts)):
            msg = f"there is no fold {fold}: these counts have {self.n_folds} folds"
            raise ValueError(msg)
        others = (*self.parts[:fold], *self.parts[fold + 1 :])
        return replace(self, parts=(self.merged(others),), folded=False)

    def cells(self, column: str | int) -> AnyArray:
        """Return the weight of each class in each cell of a column, of shape (classes, cells).

        Parameters
        ----------
        column : str or int
            Name or position of the column. ``bins[k].labels`` names the cells.
        """
        start, stop = self.span(column)
        total = np.zeros((len(self.classes), stop - start), dtype=self._dtype)
        for part in self.parts:
            for k, counts in enumerate(part):
                total[k] += counts.cells()[start:stop]
        return total

    def pair(self, column: str | int, other: str | int, label: Any = None) -> AnyArray:
        """Return the weight in each pair of cells of two columns.

        Parameters
        ----------
        column, other : str or int
            Names or positions of the columns: rows and columns of the table.
        label : optional
            A class. By default the tables of all classes, of shape (classes, cells, other cells).
        """
        (row, row_end), (start, stop) = self.span(column), self.span(other)
        if start < row:
            transposed: AnyArray = np.swapaxes(self.pair(other, column, label), -1, -2)
            return transposed
        tables = self.block(slice(row, row_end), slice(start, stop))
        return tables if label is None else tables[self.class_index(label)]

    def block(self, rows: slice, columns: slice) -> AnyArray:
        """Return a part of the upper triangle of pair counts, by class and of all folds.

        Parameters
        ----------
        rows, columns : slice
            Cells, numbered through all columns.
        """
        shape = len(self.classes), rows.stop - rows.start, columns.stop - columns.start
        total = np.zeros(shape, dtype=self._dtype)
        for part in self.parts:
            for k, counts in enumerate(part):
                total[k] += counts.pairs[rows, columns].toarray()
        return total

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClasswiseCounts):
            return NotImplemented
        return (
            self.bins == other.bins
            and self.named == other.named
            and self.classes.dtype.kind == other.classes.dtype.kind
            and np.array_equal(self.classes, other.classes)
            and self.folded == other.folded
            and self.parts == other.parts
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{label!r}: {sum(part[k].count for part in self.parts):,}"
            for k, label in enumerate(self.classes.tolist())
        )
        parts = [
            f"{self.count:,} rows",
            f"{len(self.bins):,} columns",
            f"{self.n_cells:,} cells",
            f"classes {{{counts}}}",
        ]
        if self.weight != self.count:
            parts.append(f"weight {self.weight:,}" if self.exact else f"weight {self.weight:,.6g}")
        if self.folded:
            parts.append(f"{len(self.parts)} folds")
        return f"<{type(self).__name__}: {'; '.join(parts)}>"

    @property
    def _dtype(self) -> Any:
        return np.int64 if self.exact else np.float64

    def merged(self, parts: Parts) -> tuple[PairCounts, ...]:
        """Return the counts of each class, summed over folds."""
        if not parts:
            return (PairCounts.empty(self.n_cells),) * len(self.classes)
        return tuple(tree_sum(groups) for groups in zip(*parts, strict=True))

    def class_index(self, label: Any) -> int:
        """Return the position of a label among the classes."""
        known: list[Any] = self.classes.tolist()
        if label not in known:
            msg = f"no class {label!r}; the classes are {known}"
            raise ValueError(msg)
        return known.index(label)

    def span(self, column: str | int) -> tuple[int, int]:
        """Return the first cell of a column and the one after its last, among all cells."""
        index = column_position(self.bins, column)
        return int(self.starts[index]), int(self.starts[index + 1])


def column_position(bins: Sequence[Bins], column: Any) -> int:
    """Return the position of a column that is given by name or position."""
    names = [each.name for each in bins]
    if column in names:
        return names.index(column)
    if isinstance(column, int | np.integer) and 0 <= column < len(names):
        return int(column)
    raise ColumnNotFoundError(column, names)
