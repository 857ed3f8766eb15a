"""BinCounts: pair counts of the cells of a binner by class and fold, with exact addition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from os import PathLike
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions import DifferentBinsError, NegativeCountError
from directrix.exceptions.columns import ColumnNotFoundError
from directrix.moments.class_moments import DENSE_FEATURES
from directrix.moments.counts import storage
from directrix.moments.counts.pair_counts import PairCounts, count_rows
from directrix.moments.counts.storage import (
    CellMoments,
    cell_moments,
    feature_matrix,
    feature_moments,
)
from directrix.moments.moments import Moments
from directrix.rows import labels
from directrix.rows.summary import ClasswiseSummary
from directrix.rows.sums import tree_sum
from directrix.tables.binner import Binner, onehot, thermometer
from directrix.tables.bins import Bins
from directrix.tables.evidence import information_value, weights_of_evidence
from directrix.tables.rebinning import coarser

# ── BinCounts: pair counts of the cells of a binner by class and fold, with exact addition ────────


@dataclass(frozen=True, eq=False, repr=False)
class BinCounts(ClasswiseSummary):
    r"""Number of rows in each cell and in each pair of cells of a binner, by class and fold.

    A row z of cell indicators has a one for the cell of each column. Its class moments are counts,

    .. math:: c = \sum_i \omega_i z_i, \qquad P = \sum_i \omega_i z_i z_i^\top

    and they are sufficient for every additive scorecard: any coding of bins is a linear map of z.
    Whole-number weights give whole numbers, which add and subtract exactly: ``a + b`` are the
    counts of the rows of both, ``a - b`` removes rows, ``0.99 * a`` multiplies their weights, and
    ``BinCounts.empty(binner)`` is the identity. Real weights give float64, and the laws hold up to
    rounding. Create counts with `BinCounts.of`, not with the constructor.

    Memory is proportional to the number of pairs of cells that occur, about 8 bytes each, and time
    to rows times pairs of columns.

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

    Examples
    --------
    >>> from directrix import Binner
    >>> from directrix.moments import BinCounts
    >>> rows = [[18, "no"], [30, "yes"], [None, "yes"], [70, "no"], [40, "no"]]
    >>> y = [0, 0, 0, 1, 1]
    >>> binner = Binner(max_bins=2, min_rows=1, min_level_rows=2).fit(rows)
    >>> counts = BinCounts.of(binner, rows, y)
    >>> counts
    <BinCounts: 5 rows; 2 columns; 7 cells; classes {0: 3, 1: 2}>
    >>> counts.cells("x0")
    array([[1, 2, 0],
           [0, 0, 2]])
    >>> counts == BinCounts.of(binner, rows[:2], y[:2]) + BinCounts.of(binner, rows[2:], y[2:])
    True
    """

    bins: tuple[Bins, ...]
    classes: AnyArray
    parts: tuple[tuple[PairCounts, ...], ...]
    folded: bool = False
    named: bool = False

    @classmethod
    def empty(cls, binner: Binner) -> BinCounts:
        """Return the counts of no rows and no classes, which are the identity of ``+``."""
        check_is_fitted(binner)
        named = hasattr(binner, "feature_names_in_")
        return cls(binner.bins_, np.empty(0, dtype=np.int64), ((),), named=named)

    @classmethod
    def of(
        cls,
        binner: Binner,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        fold: Any = None,
        classes: Any = None,
    ) -> BinCounts:
        """Count rows in one pass.

        Parameters
        ----------
        binner : Binner, fitted
            Its crosses are left out: the counts of every pair of columns are kept anyway.
        X : data frame, Arrow table, array, sparse matrix, list of rows, or Table
            Read in blocks of rows.
        y : array of shape (n,) or None
            Labels: numbers, booleans or text. A single class, or no rows at all, is allowed. None
            for rows without labels: they form the class None.
        sample_weight : array of shape (n,), optional
            Sample weights, not negative. Rows of weight zero are ignored; a row of weight k counts
            as k rows.
        fold : array of int of shape (n,), optional
            Fold of each row, numbered from zero; the counts of folds are kept separate.
        classes : array, optional
            All possible labels; by default those that occur.
        """
        nothing = cls.empty(binner)
        found, parts = count_rows(binner, X, y, sample_weight, fold, classes)
        return replace(nothing, classes=found, parts=parts, folded=fold is not None)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> BinCounts:
        """Read a file written by `save`; raise `MomentsFileError` for any other file."""
        return cls(**storage.LAYOUT.read(path)[2])

    def save(self, path: str | PathLike[str]) -> None:
        """Write counts and bins to a safetensors file, replaced atomically."""
        kinds = {"folded": self.folded, "exact": self.exact}
        storage.write(path, self.parts, self.classes, self.binner, **kinds)

    @property
    def binner(self) -> Binner:
        """A fitted ``Binner`` with these bins, without crosses and otherwise with its defaults."""
        return Binner.of_bins(self.bins, named=self.named)

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

    @property
    def _dtype(self) -> Any:
        return np.int64 if self.exact else np.float64

    def span(self, column: str | int) -> tuple[int, int]:
        """Return the first cell of a column and the one after its last, among all cells."""
        index = column_position(self.bins, column)
        return int(self.starts[index]), int(self.starts[index + 1])

    def class_moments(self, label: Any = None) -> CellMoments:
        """Return the weight, mean and second moment of the cell indicators of a class.

        Parameters
        ----------
        label : optional
            A class; by default all classes together.

        Returns
        -------
        CellMoments
            ``weight``; ``mean``, the share of the weight in each cell; ``second``, the share in
            each pair of cells, as a symmetric sparse matrix. Cells of all columns follow each
            other, from ``starts``.
        """
        (groups,) = self.unfolded().parts
        if label is not None:
            groups = (groups[self.class_index(label)],)
        return cell_moments(tree_sum(groups or (self._empty_group(),)))

    def moments(self, encoding: str = "thermometer") -> Moments:
        """Return the moments of the features of the binner, by class and fold.

        Equal counts have equal moments, to the last bit. They are those of
        ``Moments.of(counts.binner.transform(X), y)`` up to the rounding of the latter.

        Parameters
        ----------
        encoding : {"thermometer", "onehot"}
            Features, as in ``Binner``.
        """
        if encoding not in ("thermometer", "onehot"):
            msg = f"encoding must be thermometer or onehot, not {encoding!r}"
            raise ValueError(msg)
        runs = list(map(thermometer if encoding == "thermometer" else onehot, self.bins))
        n_features = sum(run.n_features for run in runs)
        if n_features > DENSE_FEATURES:
            msg = (
                f"the moments of {n_features:,} features would be a matrix beyond "
                f"{DENSE_FEATURES:,} rows: merge bins or drop columns with `rebin`, or use the "
                "sparse matrix of `class_moments`"
            )
            raise ValueError(msg)
        matrix = feature_matrix(runs)
        names = self.binner.set_params(encoding=encoding).get_feature_names_out()
        return Moments(
            n_features,
            self.classes,
            tuple(tuple(feature_moments(c, matrix) for c in part) for part in self.parts),
            tuple(names.tolist()),
            folded=self.folded,
        )

    def rebin(
        self,
        *,
        cuts: Mapping[str, Any] | None = None,
        merge: Mapping[str, Any] | None = None,
        other: Mapping[str, Any] | None = None,
        missing_with: Mapping[str, Any] | None = None,
        drop: Iterable[str] = (),
    ) -> BinCounts:
        """Merge bins and drop columns, without the rows.

        The counts are those that the rows would give with the new bins, to the last bit, and so
        are their moments; ``rebin(...).binner`` is the binner of the new bins. Special values keep
        their cells, and so do missing values unless they are joined with a bin.

        Parameters
        ----------
        cuts : dict, optional
            Cuts that a column of numbers or dates keeps, as numbers, dates or as they are printed.
        merge : dict, optional
            Cells that become one. Of a column of numbers pairs of the first and last cell of a
            range, as numbered by ``Binner.cells``; of a column of texts groups of levels.
        other : dict, optional
            Levels of a column of texts that are moved to "other".
        missing_with : dict, optional
            The bin that missing values of a column are joined with, as in ``Binner``; it is looked
            for among the new bins.
        drop : sequence of str
            Columns to leave out.
        """
        bins, number = coarser(
            self.bins,
            cuts=cuts or {},
            merge=merge or {},
            other=other or {},
            missing_with=missing_with or {},
            drop=drop,
            named=self.named,
        )
        n_cells = sum(column.n_cells for column in bins)
        return replace(self._map_groups(lambda c: c.regrouped(number, n_cells)), bins=bins)

    def weights_of_evidence(self, column: str | int, smoothing: float = 0.5) -> FloatArray:
        """Return the logarithm of the positives' share of each cell over the negatives'.

        It is positive where the positive class is more frequent than overall. Banks mostly use the
        opposite sign.

        Parameters
        ----------
        column : str or int
        smoothing : float
            Number that is added to every count of a cell with rows.
        """
        labels.negative_and_positive(self.classes)
        return weights_of_evidence(self.cells(column), smoothing)

    def information_values(self, smoothing: float = 0.5) -> dict[str, float]:
        """Return the information value of each column, largest first.

        Parameters
        ----------
        smoothing : float
            As in `weights_of_evidence`.
        """
        labels.negative_and_positive(self.classes)
        values = {
            name: information_value(self.cells(name), smoothing) for name in self.column_names
        }
        return dict(sorted(values.items(), key=lambda item: -item[1]))

    def __sub__(self, other: BinCounts) -> BinCounts:
        try:
            return super().__sub__(other)
        except NegativeCountError as error:
            if error.cell is None:
                raise
            index = int(np.searchsorted(self.starts, error.cell, side="right")) - 1
            bins = self.bins[index]
            cell = bins.labels[error.cell - int(self.starts[index])]
            raise NegativeCountError(bins.name, cell) from None

    def _empty_group(self) -> PairCounts:
        return PairCounts.empty(self.n_cells)

    def _kind(self) -> tuple[Any, ...]:
        return self.bins, self.named

    def _dimensions(self) -> list[str]:
        return [f"{len(self.bins):,} columns", f"{self.n_cells:,} cells"]

    def _joint_fields(self, other: BinCounts) -> dict[str, Any]:
        require_same_bins(self.bins, other.bins)
        if self.named != other.named:  # columns called x0, x1, … in one, and numbered in the other
            raise DifferentBinsError(self.bins[0].name)
        return {}


def require_same_bins(left: Sequence[Bins], right: Sequence[Bins]) -> None:
    """Raise DifferentBinsError for the first column that is not the same in both."""
    for first, second in zip_longest(left, right):
        if first != second:
            raise DifferentBinsError((first or second).name)


def column_position(bins: Sequence[Bins], column: Any) -> int:
    """Return the position of a column that is given by name or position."""
    names = [each.name for each in bins]
    if column in names:
        return names.index(column)
    if isinstance(column, int | np.integer) and 0 <= column < len(names):
        return int(column)
    raise ColumnNotFoundError(column, names)
