"""Binner: a scikit-learn transformer that cuts the columns of a raw table into bins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from directrix.exceptions import ColumnNotFoundError
from directrix.moments import require_moderate_weight
from directrix.tables._days import days_of
from directrix.tables.bins import Bins, LevelBins, NumberBins
from directrix.tables.encoding import (
    ENCODINGS,
    Runs,
    cross,
    cross_cells,
    cross_names,
    dense_features,
    distinct_names,
    onehot,
    onehot_names,
    sparse_features,
    thermometer,
    thermometer_names,
)
from directrix.tables.table import Column, Table

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray


class Binner(TransformerMixin, BaseEstimator):
    """Cut the columns of a raw table into bins, and return indicator features.

    Numbers, booleans and dates are cut at quantiles of the training values; texts keep their
    frequent levels. Missing values have a bin of their own and are never imputed. Values beyond the
    ends, infinite values and texts never seen in training are legal. No labels are used.

    Parameters
    ----------
    max_bins : int
        Largest number of bins of a number or date. A repeated value counts for at most two bins.
    min_rows : float
        Least number of training rows (their weight) in a bin of a number; smaller ones are merged
        with a neighbour.
    min_level_rows : float
        Least number of training rows of a text to have a bin; rarer ones are "other".
    special_values : sequence of numbers, or dict, optional
        Values that mean something else than a quantity (−999 for "no record"). Each has a bin of
        its own in every column of numbers; a dict gives them by column name.
    encoding : {"thermometer", "onehot", "ordinal"}
        Features of `transform`. "thermometer": for each cut whether the value is above it, and an
        indicator for missing, each special value, each level and "other"; indicators exist also
        where no training row has them, because new rows may. "onehot": an indicator for each
        cell. "ordinal": the cell number, as in `cells`.
    crosses : sequence of pairs of column names
        Pairs whose combinations of cells are added as indicators, or as cell numbers.
    sparse_output : bool
        Whether features are a SciPy CSR array; cell numbers are always dense. `set_output` needs
        False.

    Attributes
    ----------
    bins_ : tuple of NumberBins and LevelBins
        Bins of each column.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of str
        Names of the columns; only if they have names.
    crosses_ : tuple of pairs of int
        Positions of the columns of each cross.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import Binner
    >>> rows = [[18, "no"], [30, "yes"], [None, "yes"], [70, "no"]]
    >>> binner = Binner(min_rows=1, min_level_rows=2, sparse_output=False).fit(rows)
    >>> binner.get_feature_names_out().tolist()
    ['x0: missing', 'x0 > 24', 'x0 > 50', 'x1: missing', 'x1: other', 'x1: no', 'x1: yes']
    >>> binner.transform([[40, "yes"], [None, "never seen"]])
    array([[0., 1., 0., 0., 0., 0., 1.],
           [1., 0., 0., 0., 1., 0., 0.]])
    """

    bins_: tuple[Bins, ...]
    crosses_: tuple[tuple[int, int], ...]
    n_features_in_: int
    feature_names_in_: AnyArray

    def __init__(
        self,
        *,
        max_bins: int = 64,
        min_rows: float = 5,
        min_level_rows: float = 10,
        special_values: Any = None,
        encoding: str = "thermometer",
        crosses: Any = (),
        sparse_output: bool = True,
    ) -> None:
        self.max_bins = max_bins
        self.min_rows = min_rows
        self.min_level_rows = min_level_rows
        self.special_values = special_values
        self.encoding = encoding
        self.crosses = crosses
        self.sparse_output = sparse_output

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the bins of each column.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix or list of rows, of shape (n, d)
        y : ignored
        sample_weight : array of shape (n,), optional
            A row of weight k counts as k rows.
        """
        del y
        return self.fit_table(Table.of(X), sample_weight)

    def fit_table(self, table: Table, sample_weight: Any = None) -> Self:
        """Find the bins of each column of a `Table`, as `fit` does.

        Parameters
        ----------
        table : Table
        sample_weight : array of shape (n,), optional
        """
        self._check_params()
        _check_size(table)
        weight = _checked_weight(sample_weight, len(table))
        special = _special_values(self.special_values, table.columns)
        bins: list[Bins] = []
        for k, column in enumerate(table.columns):
            values = table.values[:, k]
            if column.kind == "text":
                bins.append(LevelBins.of(column, values, weight, min_rows=self.min_level_rows))
                continue
            bins.append(
                NumberBins.of(
                    column,
                    values,
                    weight,
                    max_bins=self.max_bins,
                    min_rows=self.min_rows,
                    special_values=special[k],
                )
            )
        crosses = _cross_index(self.crosses, table.names)
        self.bins_ = tuple(bins)
        self.crosses_ = crosses
        self.n_features_in_ = len(bins)
        if table.named:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def table_of(self, X: Any) -> Table:
        """Read rows as a `Table` with the columns of the training rows, in their order.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix, list of rows, or Table
            Columns with names are matched by name; others are ignored.
        """
        check_is_fitted(self)
        columns = [Column(bins.name, bins.kind) for bins in self.bins_]
        return Table.of(X, columns, by_name=hasattr(self, "feature_names_in_"))

    def cells(self, X: Any) -> AnyArray:
        """Return the cell of each row in each column.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix, list of rows, or Table

        Returns
        -------
        int32 array of shape (n, d)
            Stored column by column. ``bins_[k].labels`` names the cells of column k.
        """
        table = self.table_of(X)
        cells = np.empty(table.values.shape, dtype=np.int32, order="F")
        for k, (column, bins) in enumerate(zip(table.columns, self.bins_, strict=True)):
            cells[:, k] = bins.cells(table.values[:, k], column.levels)
        return cells

    def transform(self, X: Any) -> Any:
        """Return the features of the cells of each row.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix, list of rows, or Table
        """
        cells = self.cells(X)
        pairs = cross_cells(self.bins_, cells, self.crosses_)
        blocks = np.hstack([cells, pairs]) if pairs.shape[1] else cells
        if self.encoding == "ordinal":
            return blocks
        runs = self._runs()
        return sparse_features(runs, blocks) if self.sparse_output else dense_features(runs, blocks)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of the features.

        Parameters
        ----------
        input_features : sequence of str, optional
            Must be the names of the columns.
        """
        check_is_fitted(self)
        known = [bins.name for bins in self.bins_]
        if input_features is not None and list(input_features) != known:
            msg = f"input_features must be the columns of fit, {known}, not {list(input_features)}"
            raise ValueError(msg)
        if self.encoding == "ordinal":
            names = [*known, *(f"{known[i]} x {known[j]}" for i, j in self.crosses_)]
        else:
            of_column = thermometer_names if self.encoding == "thermometer" else onehot_names
            names = [name for bins in self.bins_ for name in of_column(bins)]
            for i, j in self.crosses_:
                names += cross_names(self.bins_[i], self.bins_[j])
        return np.array(distinct_names(names), dtype=object)

    def _runs(self) -> list[Runs]:
        of_column = thermometer if self.encoding == "thermometer" else onehot
        pairs = [cross(self.bins_[i], self.bins_[j]) for i, j in self.crosses_]
        return [*map(of_column, self.bins_), *pairs]

    def _check_params(self) -> None:
        max_bins: Any = self.max_bins
        if not isinstance(max_bins, int | np.integer) or max_bins < 2:
            msg = f"max_bins must be a whole number of at least 2, not {max_bins!r}"
            raise ValueError(msg)
        for name in ("min_rows", "min_level_rows"):
            rows = getattr(self, name)
            if not isinstance(rows, int | float | np.number) or not rows >= 0:
                msg = f"{name} must be a number of rows, not {rows!r}"
                raise ValueError(msg)
        if self.encoding not in ENCODINGS:
            msg = f"encoding must be one of {', '.join(ENCODINGS)}, not {self.encoding!r}"
            raise ValueError(msg)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []  # features are float64, cell numbers int32
        return tags


def _check_size(table: Table) -> None:
    for size, noun, least in zip(table.values.shape, ("sample", "feature"), (1, 1), strict=True):
        if size < least:
            msg = (
                f"Found array with {size} {noun}(s) (shape={table.values.shape}) while a minimum "
                f"of {least} is required."
            )
            raise ValueError(msg)


def _checked_weight(sample_weight: Any, n_rows: int) -> FloatArray | None:
    """Return one weight per row, or None if all are one."""
    if sample_weight is None:
        return None
    weight: FloatArray = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_rows,):
        msg = f"sample_weight must be one number for each of {n_rows} rows, not {weight.shape}"
        raise ValueError(msg)
    if not (np.isfinite(weight).all() and weight.min() >= 0):
        msg = "sample_weight must be finite and not negative"
        raise ValueError(msg)
    if not weight.any():
        msg = "sample_weight is zero in every row: at least one weight must be positive"
        raise ValueError(msg)
    with np.errstate(over="ignore"):
        require_moderate_weight(float(weight.sum()), "all rows")
    return weight


def _special_values(given: Any, columns: Sequence[Column]) -> list[tuple[float, ...]]:
    """Return the special values of each column."""
    if given is None:
        return [()] * len(columns)
    if not isinstance(given, Mapping):
        numbers = _specials(given, "special_values")
        return [numbers if column.kind == "number" else () for column in columns]
    known = {column.name: column.kind for column in columns}
    for name in given:
        if name not in known:
            raise ColumnNotFoundError(name, known)
        if known[name] == "text":
            msg = f"special_values names the column of texts {name!r}: each level has a bin anyway"
            raise ValueError(msg)
    return [_specials(given.get(c.name, ()), f"special_values of {c.name!r}") for c in columns]


def _specials(given: Any, noun: str) -> tuple[float, ...]:
    values = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    try:
        numbers = tuple(
            days_of(value) if isinstance(value, date | datetime | np.datetime64) else float(value)
            for value in values
        )
    except (TypeError, ValueError):
        msg = f"{noun} must be numbers, not {given!r}"
        raise ValueError(msg) from None
    if not np.isfinite(numbers).all() or len(set(numbers)) < len(numbers):
        msg = f"{noun} must be different finite numbers, not {given!r}; missing has a bin anyway"
        raise ValueError(msg)
    return tuple(number + 0.0 for number in numbers)


def _cross_index(crosses: Any, names: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Return pairs of column names or positions as pairs of positions."""
    index = {name: k for k, name in enumerate(names)}
    found = []
    for pair in crosses:
        if isinstance(pair, str) or len(pair) != 2:
            msg = f"crosses must be pairs of columns, not {pair!r}"
            raise ValueError(msg)
        for name in pair:
            is_position = isinstance(name, int | np.integer) and 0 <= name < len(names)
            if name not in index and not is_position:
                raise ColumnNotFoundError(name, names)
        first, second = (index.get(name, name) for name in pair)
        if first == second:
            msg = f"a column cannot be crossed with itself: {pair!r}"
            raise ValueError(msg)
        found.append((int(first), int(second)))
    if len(set(found)) < len(found):
        msg = f"crosses names a pair twice: {crosses!r}"
        raise ValueError(msg)
    return tuple(found)
