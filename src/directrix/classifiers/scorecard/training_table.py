"""TrainingTable: the table that a card is fitted to, read, checked and divided into entries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from directrix.classifiers.base import two_classes
from directrix.classifiers.labels import dates_in_microseconds, plain_labels
from directrix.classifiers.scorecard.column_order import content_order
from directrix.fitting.class_weights import checked_weight
from directrix.fitting.folds import folds_given
from directrix.fitting.training_rows import KeyedRows, copies_of
from directrix.tables import Binner, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray


@dataclass(frozen=True)
class TrainingTable:
    """A table, and its rows of weight above zero with keys.

    Parameters
    ----------
    table : Table
    keyed : KeyedRows
        Without class weights; its columns are in another order, on which keys of rows depend.
    classes : array
    order : list of int
        For each column of ``keyed`` its position in the table; see `content_order`.
    """

    table: Table
    keyed: KeyedRows
    classes: AnyArray
    order: list[int]

    @classmethod
    def of(cls, classifier: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> TrainingTable:
        """Read and validate a table; the classifier gets the names of its columns.

        Parameters
        ----------
        classifier : ScorecardClassifier
        X, y, sample_weight, groups : as in `ScorecardClassifier.fit`
        """
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
        check_classification_targets(labels)
        if len(labels) != len(table):
            msg = f"X has {len(table)} rows and y {len(labels)}: they must have as many"
            raise ValueError(msg)
        weight = checked_weight(sample_weight, table.values)
        if (weight == 0).any():
            table = table.with_levels_of(weight > 0)
        kept = weight > 0
        copies = copies_of(weight[kept], labels[kept])
        order = content_order(table.values[kept], copies, table.names)
        folds = folds_given(classifier.cv, table.values, labels, groups)
        keyed = KeyedRows.of(table.values[:, order], labels, weight, folds, groups)
        classes = np.unique(keyed.y)
        classes = classes if len(classes) > 2 else two_classes(keyed.y)
        return cls(table, keyed, classes, order)

    def fitted_binner(self, binner: Any) -> Any:
        """Return a binner fitted to these rows; one that is frozen stays as it is.

        Parameters
        ----------
        binner : "auto" or Binner
        """
        binner = Binner() if isinstance(binner, str) else clone(binner)
        if hasattr(binner, "bins_"):  # frozen
            return binner
        # A bin needs rows, not weight: bins do not depend on the unit of weights that are no
        # frequencies, such as those that sum to one.
        copies = np.bincount(self.keyed.index, minlength=len(self.keyed.y))
        return binner.fit_table(self._restored(self.keyed.X), copies.astype(np.float64))

    def to_cells(self, binner: Any, values: FloatArray) -> IntArray:
        """Return the cells in the columns of a binner; rows have the columns of ``keyed``."""
        cells: IntArray = binner.cells(self._restored(values))
        return cells

    @property
    def ordered_names(self) -> list[str]:
        """The names of the columns, in the order of ``keyed``."""
        return [self.table.columns[k].name for k in self.order]

    def _restored(self, values: FloatArray) -> Table:
        """Return values of rows as a table, with the columns in their given order."""
        restored = np.empty(values.shape, order="F")
        restored[:, self.order] = values
        return Table(self.table.columns, restored, self.table.named)

    def cell_counts(self, binner: Any) -> list[FloatArray]:
        """Return for each column the weight of each class in its cells, of shape (classes, cells).

        Class weights do not count: an auditor compares the counts with the table.
        """
        keyed = self.keyed
        of_class = [keyed.weight * (keyed.y == label) for label in self.classes]
        return [
            np.stack([np.bincount(column, weight, bins.n_cells) for weight in of_class])
            for bins, column in zip(binner.bins_, self.to_cells(binner, keyed.X).T, strict=True)
        ]


def two_sides(by_class: Sequence[FloatArray], positive: AnyArray) -> tuple[FloatArray, ...]:
    """Return sums over the negative and over the positive classes, of shape (2, cells) each.

    Parameters
    ----------
    by_class : sequence of arrays of shape (classes, cells)
        For each column.
    positive : array of bool of shape (classes,)
    """
    return tuple(
        np.stack([counts[~positive].sum(axis=0), counts[positive].sum(axis=0)])
        for counts in by_class
    )
