"""Binner: a scikit-learn transformer that cuts the columns of a raw table into bins."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from directrix._printing import LinkedEstimator, text_table
from directrix._typing import AnyArray, FloatArray
from directrix.exceptions.files import BinnerFileError
from directrix.files.atomic import atomic_file
from directrix.files.layout import refusing
from directrix.rows.labels import checked_weight
from directrix.tables.binner_file import (
    BinnerState,
    check_own_bins,
    check_parameters,
    cross_index,
    own_cuts,
    own_groups,
    read_state,
    values_by_column,
    write_state,
)
from directrix.tables.bins import MISSING, Bins, LevelBins, NumberBins, join_missing
from directrix.tables.rebinning import merge_levels
from directrix.tables.table import Column, Table

# ── Encodings: the features that stand for the cells of binned columns ────────────────────────────
# An encoding maps each cell of a column to a run of neighbouring features that are one, all others
# being zero. That is enough for indicators (a run of one) and for thermometers (a run that starts
# at the first cut and grows with the bin).


class Runs(NamedTuple):
    """Features of one column or cross: the first one and the number that are one, for each cell."""

    n_features: int
    start: AnyArray
    length: AnyArray


def thermometer(bins: Bins) -> Runs:
    """Return features "x > cut" for each cut, and an indicator for each cell without an order."""
    if not isinstance(bins, NumberBins):
        return onehot(bins)
    n_cuts, n_special = len(bins.cuts), len(bins.special_values)
    start = np.array([0, *[1] * bins.n_ordered, *(1 + n_cuts + k for k in range(n_special))])
    length = np.array([1, *range(bins.n_ordered), *[1] * n_special])
    return Runs(1 + n_cuts + n_special, start, length)


def thermometer_names(bins: Bins) -> list[str]:
    """Return the names of the features of `thermometer`."""
    if not isinstance(bins, NumberBins):
        return onehot_names(bins)
    special = bins.labels[1 + bins.n_ordered :]
    return [
        f"{bins.name}: {MISSING}",
        *(f"{bins.name} > {cut}" for cut in bins.cut_labels),
        *(f"{bins.name}: {label}" for label in special),
    ]


def onehot(bins: Bins) -> Runs:
    """Return an indicator for each cell."""
    return _indicators(bins.n_cells)


def onehot_names(bins: Bins) -> list[str]:
    """Return the names of the features of `onehot`."""
    return [f"{bins.name}: {label}" for label in bins.labels]


def cross(first: Bins, second: Bins) -> Runs:
    """Return an indicator for each pair of cells of two columns."""
    return _indicators(first.n_cells * second.n_cells)


def cross_names(first: Bins, second: Bins) -> list[str]:
    """Return the names of the features of `cross`."""
    name = f"{first.name} x {second.name}"
    return [f"{name}: {a}, {b}" for a in first.labels for b in second.labels]


def _indicators(n_cells: int) -> Runs:
    return Runs(n_cells, np.arange(n_cells), np.ones(n_cells, dtype=np.int64))


def cross_cells(bins: Sequence[Bins], cells: AnyArray, crosses: Sequence[tuple[int, int]]) -> Any:
    """Return the number of the pair of cells of each row, one column for each cross."""
    pairs = [cells[:, i] * bins[j].n_cells + cells[:, j] for i, j in crosses]
    return np.column_stack(pairs) if pairs else np.empty((len(cells), 0), dtype=cells.dtype)


def sparse_features(runs: Sequence[Runs], cells: AnyArray) -> Any:
    """Return features as a CSR array."""
    offsets = np.cumsum([0, *(run.n_features for run in runs)])
    start = np.empty(cells.shape, dtype=np.int64)
    length = np.empty(cells.shape, dtype=np.int64)
    for k, run in enumerate(runs):
        start[:, k] = offsets[k] + run.start[cells[:, k]]
        length[:, k] = run.length[cells[:, k]]
    pointers = np.concatenate([[0], np.cumsum(length.sum(axis=1))])
    flat = length.ravel()
    # Within a run the features are counted up from its start.
    base = start.ravel() - np.concatenate([[0], np.cumsum(flat)[:-1]]) if flat.size else flat
    indices = np.repeat(base, flat) + np.arange(pointers[-1])
    narrow = max(int(pointers[-1]), int(offsets[-1])) < np.iinfo(np.int32).max
    dtype = np.int32 if narrow else np.int64
    parts = np.ones(len(indices)), indices.astype(dtype), pointers.astype(dtype)
    return sparse.csr_array(parts, shape=(len(cells), int(offsets[-1])))


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return names of features, numbered where two columns would give the same.

    Examples
    --------
    >>> distinct_names(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    counts, taken, distinct = Counter(names), set(names), []
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        number, chosen = seen[name], name
        while number > 1 and counts[name] > 1:
            chosen = f"{name} ({number})"
            if chosen not in taken:
                taken.add(chosen)
                break
            number += 1
        distinct.append(chosen)
    return distinct


# ── The bins of a table as text ───────────────────────────────────────────────────────────────────

_SHOWN = 6  # cuts or levels of a column before they are only counted
_LONGEST = 24  # characters of a name or level before it is cut off


def describe_bins(columns: Sequence[Bins]) -> str:
    """Return one line for each column: name, kind, share of missing rows, cells, cuts or levels."""
    lines = [("column", "kind", "missing", "cells", "cuts or levels")]
    lines += [
        (_short(bins.name), bins.kind, _share(bins), str(bins.n_cells), _content(bins))
        for bins in columns
    ]
    return "\n".join(text_table(lines, (0, 1, 4)))


def _share(bins: Bins) -> str:
    if bins.missing_cell:
        return "joined"
    return f"{100 * bins.weights[0] / (sum(bins.weights) or 1.0):.1f} %"


def _content(bins: Bins) -> str:
    if bins.missing_cell:
        apart = replace(bins, missing_cell=0)
        return f"{_content(apart)}; missing with {_short(apart.labels[bins.missing_cell])}"
    if isinstance(bins, LevelBins):
        sizes = Counter(bins.level_cells)
        shown = [(_short(label), sizes[k]) for k, label in enumerate(bins.labels[2:], start=2)]
        return _listed([f"({label})" if size > 1 else label for label, size in shown])
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


# ── Binner: a scikit-learn transformer that cuts the columns of a raw table into bins ─────────────


class Binner(LinkedEstimator, TransformerMixin, BaseEstimator):
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
    cuts : dict, optional
        Cuts of your own, by column name: increasing numbers, or dates. They are kept as they are,
        whatever `max_bins` and `min_rows` say; a value equal to a cut is in the bin below it.
    groups : dict, optional
        Groups of levels of columns of texts, by column name: lists of levels that share a bin,
        whatever `min_level_rows` says. Levels in no group have bins as without groups.
    missing_with : dict, optional
        The bin that missing values join, by column name: a value in that bin, a level, or the bin
        as it is printed (``"<= 2450"``, ``"other"``). By default they have a bin of their own.
    encoding : {"thermometer", "onehot", "ordinal"}
        Features of `transform`. "thermometer": for each cut whether the value is above it, and an
        indicator for missing, each special value, each level and "other"; indicators exist also
        where no training row has them, because new rows may (that of missing values that have
        joined a bin is always zero). "onehot": an indicator for each
        cell. "ordinal": the cell number, as in `cells`.
    crosses : sequence of pairs of column names
        Pairs whose combinations of cells are added as indicators, or as cell numbers.
    sparse_output : bool
        Whether features are a SciPy CSR array; cell numbers are always dense. ``set_output`` needs
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
    ['x0: missing', 'x0 > 20', 'x0 > 50', 'x1: missing', 'x1: other', 'x1: no', 'x1: yes']
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
        special_values: Sequence[float] | Mapping[str, Sequence[float]] | None = None,
        cuts: Mapping[str, Sequence[Any]] | None = None,
        groups: Mapping[str, Sequence[Sequence[str]]] | None = None,
        missing_with: Mapping[str, Any] | None = None,
        encoding: str = "thermometer",
        crosses: Any = (),
        sparse_output: bool = True,
    ) -> None:
        self.max_bins = max_bins
        self.min_rows = min_rows
        self.min_level_rows = min_level_rows
        self.special_values = special_values
        self.cuts = cuts
        self.groups = groups
        self.missing_with = missing_with
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

    def fit_table(self, table: Table, sample_weight: Any = None, *, complete: bool = True) -> Self:
        """Find the bins of each column of a `Table`, as `fit` does.

        Parameters
        ----------
        table : Table
        sample_weight : array of shape (n,), optional
        complete : bool
            Whether these are all rows. If not, `groups` may have levels that none of them has.
        """
        check_parameters(self.get_params())
        check_own_bins(self.get_params(), table.columns)
        for size, noun in zip(table.values.shape, ("sample", "feature"), strict=True):
            if size < 1:  # in the words of scikit-learn
                msg = (
                    f"Found array with 0 {noun}(s) (shape={table.values.shape}) while a minimum of "
                    "1 is required."
                )
                raise ValueError(msg)
        weight = None
        if sample_weight is not None:
            weight = checked_weight(sample_weight, len(table), positive=True)
        special = values_by_column(self.special_values, table.columns)
        bins = [
            self._column_bins(column, values, weight, codes, complete=complete)
            for column, values, codes in zip(table.columns, table.values.T, special, strict=True)
        ]
        self._set_bins(tuple(bins), cross_index(self.crosses, table.names), named=table.named)
        return self

    def _column_bins(
        self,
        column: Column,
        values: FloatArray,
        weight: FloatArray | None,
        special_values: Sequence[float],
        *,
        complete: bool,
    ) -> Bins:
        bins: Bins
        cuts = own_cuts(self.cuts, column)
        if column.kind == "text":
            groups = own_groups(self.groups, column, complete=complete)
            kept = {level for group in groups for level in group}
            made = LevelBins.of(column, values, weight, min_rows=self.min_level_rows, kept=kept)
            bins, _ = merge_levels(made, groups)
        else:
            bins = NumberBins.of(
                column,
                values,
                weight,
                max_bins=self.max_bins,
                min_rows=self.min_rows,
                special_values=special_values,
                cuts=cuts,
            )
        joined = self.missing_with or {}
        return join_missing(bins, joined[bins.name])[0] if bins.name in joined else bins

    def table_of(self, X: Any) -> Table:
        """Read rows as a `Table` with the columns of the training rows, in their order.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix, list of rows, or Table
            Columns with names are matched by name; others are ignored.
        """
        check_is_fitted(self)
        columns = [Column(bins.name, bins.kind) for bins in self.bins_]
        if isinstance(X, Table) and [Column(c.name, c.kind) for c in X.columns] == columns:
            return X
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
        return self.cells_of_table(self.table_of(X))

    def cells_of_table(self, table: Table) -> AnyArray:
        """Return the cells of the rows of a table from `table_of`, as `cells` does."""
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
        features = sparse_features(runs, blocks)
        return features if self.sparse_output else features.toarray()

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

    def to_json(self) -> str:
        """Return the fitted binner as JSON, which `from_json` reads.

        The fields are listed in ``docs/your-table.md``. Equal binners give equal texts. The text
        holds names, numbers and levels of the training rows, and nothing that could be executed.
        """
        check_is_fitted(self)
        named = hasattr(self, "feature_names_in_")
        return write_state(BinnerState(self.get_params(), self.bins_, self.crosses_, named))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the fitted binner of a text from `to_json`.

        Parameters
        ----------
        text : str

        Raises
        ------
        BinnerFileError
            If the text is damaged, or is no binner of this version.
        """
        state = read_state(text)
        binner = cls(**state.params)
        binner._set_bins(state.bins, state.crosses, named=state.named)
        return binner

    @classmethod
    def of_bins(cls, bins: Sequence[Bins], *, named: bool = True) -> Self:
        """Return a fitted binner with given bins.

        Parameters
        ----------
        bins : sequence of NumberBins and LevelBins
        named : bool
            Whether the columns have names.
        """
        binner = cls()
        binner._set_bins(tuple(bins), (), named=named)
        return binner

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json` to a file, completely or not at all.

        Parameters
        ----------
        path : str or path
        """
        content = self.to_json().encode()
        with atomic_file(path) as file:
            file.write(content)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the fitted binner of a file from `save`.

        Parameters
        ----------
        path : str or path

        Raises
        ------
        BinnerFileError
            If it is another file, or damaged.
        """
        with refusing(BinnerFileError, path):
            try:
                text = Path(path).read_bytes().decode()
            except UnicodeDecodeError:
                msg = "it is not UTF-8"
                raise BinnerFileError(msg) from None
            return cls.from_json(text)

    def table(self) -> str:
        """Return the columns, their kinds and their bins as text."""
        check_is_fitted(self)
        return describe_bins(self.bins_)

    def _set_bins(
        self, bins: tuple[Bins, ...], crosses: tuple[tuple[int, int], ...], *, named: bool
    ) -> None:
        self.bins_ = bins
        self.crosses_ = crosses
        self.n_features_in_ = len(bins)
        if named:
            self.feature_names_in_ = np.array([column.name for column in bins], dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _runs(self) -> list[Runs]:
        of_column = thermometer if self.encoding == "thermometer" else onehot
        pairs = [cross(self.bins_[i], self.bins_[j]) for i, j in self.crosses_]
        return [*map(of_column, self.bins_), *pairs]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []  # features are float64, cell numbers int32
        return tags
