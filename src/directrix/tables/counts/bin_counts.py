"""BinCounts: pair counts of the cells of a binner by class and fold, with exact addition."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from directrix.exceptions import DifferentBinsError, NegativeCountError
from directrix.moments import Moments, Summary
from directrix.moments.row_scatter import DENSE_FEATURES
from directrix.moments.summary import count_rows as count_of
from directrix.rows import labels
from directrix.rows.labels import checked_weight, require_moderate_weight
from directrix.rows.sums import tree_sum
from directrix.tables.counts import evidence, storage
from directrix.tables.counts.classwise import ClasswiseCounts, column_position
from directrix.tables.counts.feature_moments import (
    CellMoments,
    cell_moments,
    feature_matrix,
    feature_moments,
)
from directrix.tables.counts.pair_counts import (
    MOST_WEIGHT,
    PairCounts,
    PairGain,
    additive_residuals,
    count_pairs,
    rank_pair_gains,
)
from directrix.tables.counts.rebinning import coarser
from directrix.tables.counts.storage import parts_of_moments
from directrix.tables.encoding import onehot, thermometer
from directrix.tables.table import Table

if TYPE_CHECKING:
    from os import PathLike

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.tables.binner import Binner

# ── Align counts of two sets of rows to the same classes and folds, and combine them ──────────────


def combine(
    left: BinCounts,
    right: BinCounts,
    operation: Callable[[PairCounts, PairCounts], PairCounts],
) -> dict[str, Any]:
    """Apply ``operation`` to two sets of counts, class by class and fold by fold.

    Parameters
    ----------
    left, right : BinCounts
    operation : callable
        Takes the two PairCounts of a class and fold, and returns their combination.

    Returns
    -------
    dict
        The fields of the combined BinCounts that may differ from those of ``left``.
    """
    _require_same_bins(left, right)
    folded = left.folded or right.folded
    for side in (left, right):
        if folded and not side.folded and side.count:
            msg = "some counts have folds and others rows without a fold; give both `fold=`"
            raise ValueError(msg)
    classes = labels.union(left.classes, right.classes)
    n_parts = max(len(left.parts), len(right.parts))
    aligned = (_aligned_parts(side, classes, n_parts) for side in (left, right))
    return {
        "classes": classes,
        "parts": tuple(tuple(map(operation, a, b)) for a, b in zip(*aligned, strict=True)),
        "folded": folded,
    }


def _aligned_parts(
    counts: BinCounts, classes: AnyArray, n_parts: int
) -> tuple[tuple[PairCounts, ...], ...]:
    """Return the parts of some counts, padded with empty ones to these classes and folds."""
    nothing, known = PairCounts.empty(counts.n_cells), counts.classes.tolist()
    parts = counts.parts + ((nothing,) * len(known),) * (n_parts - len(counts.parts))
    return tuple(
        tuple(part[known.index(c)] if c in known else nothing for c in classes.tolist())
        for part in parts
    )


def _require_same_bins(left: BinCounts, right: BinCounts) -> None:
    """Raise DifferentBinsError for the first column that is not the same in both."""
    shared = min(len(left.bins), len(right.bins))
    for a, b in zip(left.bins[:shared], right.bins[:shared], strict=True):
        if a != b:
            raise DifferentBinsError(a.name)
    rest = left.bins[shared:] + right.bins[shared:]
    if rest:
        raise DifferentBinsError(rest[0].name)
    if left.named != right.named:  # columns called x0, x1, … in one, and numbered in the other
        raise DifferentBinsError(left.bins[0].name)


# ── Count labelled rows of a table by class, fold and pairs of cells, in blocks of rows ───────────

#: Cells of rows that are held at a time.
_CELLS_AT_A_TIME = 1 << 26


def count_rows(
    binner: Binner, X: Any, y: Any, sample_weight: Any, fold: Any, classes: Any
) -> tuple[AnyArray, tuple[tuple[PairCounts, ...], ...]]:
    """Return the classes, and the counts of each fold and class.

    The parameters are those of `BinCounts.of`.
    """
    n = count_of(X)
    weight = None if sample_weight is None else checked_weight(sample_weight, n)
    present = None if weight is None or weight.all() else np.flatnonzero(weight)
    kept = slice(None) if present is None else present
    codes, class_labels = labels.encode_rows(y, n, kept, classes)
    folds = None if fold is None else labels.fold_numbers(fold, n)[kept]
    n_folds = 1 if folds is None else int(folds.max(initial=0)) + 1
    group = codes.astype(np.int64)
    if folds is not None:
        group += folds.astype(np.int64) * len(class_labels)
    weight = None if weight is None else _as_whole(weight[kept])
    n_groups = n_folds * len(class_labels)
    sizes = [bins.n_cells for bins in binner.bins_]
    groups: list[PairCounts] = []
    for rows, cells in _cell_blocks(binner, X, n, present):
        of_rows = None if weight is None else weight[rows]
        block = count_pairs(cells, sizes, group[rows], n_groups, of_rows)
        groups = [a + b for a, b in zip(groups, block, strict=True)] if groups else block
    for counts in groups:
        if counts.count:
            require_moderate_weight(float(counts.weight))
    width = len(class_labels)
    return class_labels, tuple(tuple(groups[k * width : (k + 1) * width]) for k in range(n_folds))


def sum_pairs(binner: Binner, X: Any, values: Any) -> Any:
    """Return sums of a number of each row by pairs of cells, as a sparse upper triangle.

    Parameters
    ----------
    binner : Binner, fitted
    X : data frame, Arrow table, array, sparse matrix, list of rows, or Table
    values : array of shape (n,)
        Finite numbers of any sign.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        msg = f"the values must be one finite number for each row, not {numbers.shape}"
        raise ValueError(msg)
    sizes = [bins.n_cells for bins in binner.bins_]
    group = np.zeros(len(numbers), dtype=np.int64)
    sums = sparse.csr_array((sum(sizes), sum(sizes)))
    for rows, cells in _cell_blocks(binner, X, len(numbers), None):
        sums = sums + count_pairs(cells, sizes, group[rows], 1, numbers[rows])[0].pairs
    return sums


def _as_whole(weight: AnyArray) -> AnyArray:
    """Return weights as int64 if all are whole numbers, otherwise unchanged."""
    whole = np.array_equal(weight, np.floor(weight)) and weight.sum() <= MOST_WEIGHT
    return weight.astype(np.int64) if whole else weight


def _cell_blocks(
    binner: Binner, X: Any, n_rows: int, present: IntArray | None
) -> Iterator[tuple[slice, AnyArray]]:
    """Yield the cells of blocks of rows, with the slice of the rows that are present."""
    found = count_of(X)
    if found != n_rows:
        msg = f"there are {found} rows but {n_rows} labels"
        raise ValueError(msg)
    most = max(bins.n_cells for bins in binner.bins_)
    dtype = np.uint8 if most <= 1 << 8 else np.uint16 if most <= 1 << 16 else np.int32
    size = max(_CELLS_AT_A_TIME // len(binner.bins_), 1)
    done = 0
    for start in range(0, max(n_rows, 1), size):
        stop = min(start + size, n_rows)
        block = X if stop - start == n_rows else _row_slice(X, start, stop)
        cells = binner.cells(block).astype(dtype)
        if present is not None:
            inside = present[(present >= start) & (present < stop)]
            cells = np.asfortranarray(cells[inside - start])
        yield slice(done, done + len(cells)), cells
        done += len(cells)


def _row_slice(X: Any, start: int, stop: int) -> Any:
    if isinstance(X, Table):
        return X.take(np.arange(start, stop))
    if hasattr(X, "iloc"):
        return X.iloc[start:stop]
    if hasattr(X, "num_rows") or hasattr(X, "get_column"):  # Arrow and polars
        return X.slice(start, stop - start)
    return sparse.csr_array(X)[start:stop] if sparse.issparse(X) else X[start:stop]


# ── BinCounts: pair counts of the cells of a binner by class and fold, with exact addition ────────


@dataclass(frozen=True, eq=False, repr=False)
class BinCounts(ClasswiseCounts, Summary):
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
    >>> from directrix.tables import BinCounts
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
    def from_moments(cls, moments: Moments, binner: Binner) -> BinCounts:
        """Recover counts from moments of the features of a binner.

        The moments may come from any engine: ``summarize(..., transform=binner)``. Counts are
        rounded to whole numbers; moments of other features, or of weights that are not whole
        numbers, raise ValueError.

        Parameters
        ----------
        moments : Moments
        binner : Binner
            The transformer of the moments.
        """
        return replace(
            cls.empty(binner),
            classes=moments.classes,
            parts=parts_of_moments(moments, binner),
            folded=moments.folded,
        )

    @classmethod
    def load(cls, path: str | PathLike[str]) -> BinCounts:
        """Read a file written by `save`; raise `MomentsFileError` for any other file."""
        return cls(**storage.LAYOUT.read(path)[2])

    def save(self, path: str | PathLike[str]) -> None:
        """Write counts and bins to a safetensors file, replaced atomically."""
        storage.write(self, path)

    def class_moments(self, label: Any = None, *, without_fold: int | None = None) -> CellMoments:
        """Return the weight, mean and second moment of the cell indicators of a class.

        Parameters
        ----------
        label : optional
            A class; by default all classes together.
        without_fold : int, optional
            A fold whose rows are left out.

        Returns
        -------
        CellMoments
            ``weight``; ``mean``, the share of the weight in each cell; ``second``, the share in
            each pair of cells, as a symmetric sparse matrix. Cells of all columns follow each
            other, from ``starts``.
        """
        counts = self if without_fold is None else self.without_fold(without_fold)
        merged = self.merged(counts.parts)
        if label is not None:
            merged = (merged[self.class_index(label)],)
        return cell_moments(tree_sum(merged) if merged else PairCounts.empty(self.n_cells))

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

    def one_vs_rest(self, label: Any) -> BinCounts:
        """Return the counts of ``label`` (True) against all other classes (False)."""
        index = self.class_index(label)
        nothing = PairCounts.empty(self.n_cells)
        parts = tuple(
            (tree_sum([*part[:index], *part[index + 1 :]] or [nothing]), part[index])
            for part in self.parts
        )
        return replace(self, classes=labels.distinct(np.array([False, True])), parts=parts)

    def rebin(
        self,
        *,
        cuts: Mapping[str, Any] | None = None,
        merge: Mapping[str, Any] | None = None,
        other: Mapping[str, Any] | None = None,
        drop: Iterable[str] = (),
    ) -> BinCounts:
        """Merge bins and drop columns, without the rows.

        The counts are those that the rows would give with the new bins, to the last bit, and so
        are their moments; ``rebin(...).binner`` is the binner of the new bins. Missing and special
        values keep their cells.

        Parameters
        ----------
        cuts : dict, optional
            Cuts that a column of numbers or dates keeps, as numbers, dates or as they are printed.
        merge : dict, optional
            Cells that become one. Of a column of numbers pairs of the first and last cell of a
            range, as numbered by ``Binner.cells``; of a column of texts groups of levels.
        other : dict, optional
            Levels of a column of texts that are moved to "other".
        drop : sequence of str
            Columns to leave out.
        """
        bins, number = coarser(
            self.bins,
            cuts=cuts or {},
            merge=merge or {},
            other=other or {},
            drop=drop,
            named=self.named,
        )
        n_cells = sum(column.n_cells for column in bins)
        parts = tuple(tuple(c.regrouped(number, n_cells) for c in part) for part in self.parts)
        return replace(self, bins=bins, parts=parts)

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
        return evidence.weights_of_evidence(self.cells(column), smoothing)

    def information_values(self, smoothing: float = 0.5) -> dict[str, float]:
        """Return the information value of each column, largest first.

        Parameters
        ----------
        smoothing : float
            As in `weights_of_evidence`.
        """
        labels.negative_and_positive(self.classes)
        values = {
            name: evidence.information_value(self.cells(name), smoothing)
            for name in self.column_names
        }
        return dict(sorted(values.items(), key=lambda item: -item[1]))

    def pair_sums(self, X: Any, values: Any) -> Any:
        """Return sums of a number of each row by pairs of cells, as a sparse upper triangle.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix, list of rows, or Table
        values : array of shape (n,)
            For instance residuals of a card, or their curvatures.
        """
        return sum_pairs(self.binner, X, values)

    def pair_gains(
        self,
        residual: Any = None,
        curvature: Any = None,
        *,
        columns: Sequence[str | int] | None = None,
    ) -> list[PairGain]:
        """Test every pair of columns for an interaction, and return the largest gains first.

        Parameters
        ----------
        residual, curvature : sparse arrays of shape (cells, cells), optional
            `pair_sums` of label less probability by a card, and of p (1 − p), both times the row's
            weight. By default of the additive model of both columns, fitted to their counts.
        columns : sequence of str or int, optional
            Columns whose pairs are tested; by default all. A pair takes some milliseconds.
        """
        labels.negative_and_positive(self.classes)
        chosen = self.column_names if columns is None else columns
        index = [column_position(self.bins, column) for column in chosen]
        given = None if residual is None else [sparse.csr_array(m) for m in (residual, curvature)]

        def sums(k: int) -> Callable[[int], tuple[FloatArray, FloatArray]]:
            start, stop = self.span(k)
            rows = slice(start, stop)
            if given is None:
                tables = self.block(rows, slice(0, self.n_cells))
                return lambda j: additive_residuals(tables[:, :, slice(*self.span(j))])
            first, second = (matrix[rows].toarray() for matrix in given)
            return lambda j: (first[:, slice(*self.span(j))], second[:, slice(*self.span(j))])

        return rank_pair_gains(self.bins, sorted(set(index)), self.cells, sums)

    def scaled(self, factor: float) -> BinCounts:
        """Return the counts of the same rows with their weights multiplied by a factor."""
        parts = tuple(tuple(c.scaled(float(factor)) for c in part) for part in self.parts)
        return replace(self, parts=parts)

    def unlabelled(self) -> BinCounts:
        """Return the counts of the same rows without their labels, as one class None."""
        nothing = PairCounts.empty(self.n_cells)
        parts = tuple((tree_sum(list(part) or [nothing]),) for part in self.parts)
        return replace(self, classes=labels.UNLABELLED, parts=parts)

    def _of_rows(self, rows: Any, y: Any, sample_weight: Any, fold: Any) -> BinCounts:
        return BinCounts.of(self.binner, rows, y, sample_weight, fold=fold)

    def __add__(self, other: BinCounts) -> BinCounts:
        if not isinstance(other, BinCounts):
            return NotImplemented
        return replace(self, **combine(self, other, operator.add))

    def __sub__(self, other: BinCounts) -> BinCounts:
        if not isinstance(other, BinCounts):
            return NotImplemented
        try:
            return replace(self, **combine(self, other, operator.sub))
        except NegativeCountError as error:
            if error.cell is None:
                raise
            index = int(np.searchsorted(self.starts, error.cell, side="right")) - 1
            bins = self.bins[index]
            cell = bins.labels[error.cell - int(self.starts[index])]
            raise NegativeCountError(bins.name, cell) from None
