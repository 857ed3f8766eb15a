"""Moments: the summary of all classes and folds, with addition and subtraction."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix._printing import html_table
from directrix.exceptions import CancellationError, LabelNotFoundError
from directrix.moments import from_sql, storage
from directrix.moments.class_moments import ClassMoments
from directrix.moments.one_pass import class_moments_of_rows
from directrix.moments.summary import Summary, combine
from directrix.rows import labels
from directrix.rows.rows import column_index
from directrix.rows.sums import tree_sum

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    from directrix._typing import AnyArray, FloatArray
    from directrix.moments.class_moments import ClassMoments

# ── Check that the squares of a column's values do not underflow ──────────────────────────────────

#: Scatter below which digits are lost to underflow.
_LEAST_SQUARE = 1e-290


def require_squares(
    groups: Sequence[ClassMoments], pooled: ClassMoments, names: tuple[str, ...] | None
) -> None:
    """Raise ValueError for a column whose squared deviations underflow, and name the column.

    Parameters
    ----------
    groups : sequence of ClassMoments
        The classes that have rows.
    pooled : ClassMoments
        All classes together.
    names : tuple of str or None
        Feature names for the error message; column indices without them.
    """
    scatter = pooled.scatter.diagonal()
    deviation = np.sqrt(scatter / pooled.weight)
    size = np.max([deviation, *(np.abs(group.mean) for group in groups)], axis=0)
    # A constant column has no scatter either; it is recognised by a size of zero, or a large one.
    least = _LEAST_SQUARE * max(1.0, pooled.weight)
    vanished = (scatter < least) & (size > 0) & (size < np.sqrt(least / pooled.weight))
    if vanished.any():
        column = int(vanished.argmax())
        name = column if names is None else repr(names[column])
        msg = (
            f"the squares of column {name} underflow (its values are of size {size[column]:.3g}): "
            "multiply it by a power of ten"
        )
        raise ValueError(msg)


# ── Text and HTML representations of Moments ──────────────────────────────────────────────────────

_FEATURES_SHOWN = 8


def _text(moments: Moments) -> str:
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


def _html(moments: Moments) -> str:
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
    caption = f"{_text(moments)[1:-1]}. Mean ± standard deviation{note}."
    return html_table(header, body, caption, css=lambda _: "white-space: nowrap")


# ── Moments: the summary of all classes and folds, with addition and subtraction ──────────────────


class Standardized(NamedTuple):
    """Moments of standardised features, with the map ``(x − center) / scale`` that was applied."""

    moments: Moments
    center: FloatArray
    scale: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Moments(Summary):
    r"""Weight, mean and scatter of every class, from one pass over the rows.

    .. math:: \omega_c = \sum \omega_i,\quad \mu_c = \frac1{\omega_c} \sum \omega_i x_i,\quad
              S_c = \sum \omega_i (x_i - \mu_c)(x_i - \mu_c)^\top

    over the rows i of class c. Summaries form an algebra: ``a + b`` is the summary of the rows of
    both, ``a - b`` removes rows, ``0.99 * a`` multiplies their weights, and ``Moments.empty(d)`` is
    the identity. Create summaries with `Moments.of`, not with the constructor.

    Parameters
    ----------
    n_features : int
        Number of features d.
    classes : array
        Sorted labels; of two, the last is the positive one unless `with_positive` names the other.
    parts : tuple of tuples of ClassMoments
        One tuple for each fold (a single tuple without folds), which holds one ClassMoments for
        each class.
    feature_names : tuple of str, optional
        Names of the features.
    stated_prior : float, optional
        Prior of the positive class; by default its share of the weight.
    folded : bool
        Whether the parts are folds.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import Moments
    >>> X, y = np.array([[0.0, 1.0], [2.0, 3.0], [5.0, 1.0], [7.0, 3.0]]), [0, 0, 1, 1]
    >>> moments = Moments.of(X, y)
    >>> moments.positive.mean
    array([6., 2.])
    >>> moments.positive.covariance
    array([[1., 1.],
           [1., 1.]])
    >>> moments == Moments.of(X[:1], y[:1]) + Moments.of(X[1:], y[1:])
    True
    """

    n_features: int
    classes: AnyArray
    parts: tuple[tuple[ClassMoments, ...], ...]
    feature_names: tuple[str, ...] | None = None
    stated_prior: float | None = None
    folded: bool = False

    @classmethod
    def empty(cls, n_features: int) -> Moments:
        """Return the summary of no rows and no classes, which is the identity of ``+``."""
        return cls(n_features, np.empty(0, dtype=np.int64), ((),))

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        feature_names: Sequence[str] | None = None,
        fold: Any = None,
        keep_rows: bool = False,
    ) -> Moments:
        """Summarise rows in one pass.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
            Read block by block and never copied whole; float32 is summed in float64.
        y : array of shape (n,) or None
            Labels: numbers, booleans or text. A single class, or no rows at all, is allowed. None
            for rows without labels: they form the class None.
        sample_weight : array of shape (n,), optional
            Sample weights, not negative. Rows of weight zero are ignored.
        classes : array, optional
            All possible labels; by default those that occur.
        feature_names : sequence of str, optional
            By default the column names of a data frame.
        fold : array of int of shape (n,), optional
            Fold of each row, numbered from zero; the summary keeps the folds separate.
        keep_rows : bool
            Keep a copy of the rows, with scatters as operators over them, instead of matrices:
            less memory and work where rows are few and features many. Beyond 5,000 features this
            is always so.

        Returns
        -------
        Moments
        """
        table = class_moments_of_rows(
            X, y, sample_weight, classes, feature_names, fold, keep_rows=keep_rows
        )
        return cls(
            table.n_features, table.classes, table.parts, table.names, folded=fold is not None
        )

    @classmethod
    def from_sql_rows(cls, first: Any, second: Any, feature_names: Sequence[str]) -> Moments:
        """Build a summary from the results of the queries of `directrix.engines.moments_sql`.

        Parameters
        ----------
        first : iterable of rows
            Result of the first query, one row for each class. A row is a mapping by column name,
            or a sequence in the order of the query.
        second : iterable of iterables of rows
            Result of each statement of the second query, in order.
        feature_names : sequence of str
            The features that were queried, in order.
        """
        return cls(**from_sql.read(first, second, feature_names))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Moments:
        """Read a file written by `save`; raise `MomentsFileError` for any other file."""
        return cls(**storage.read(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Write this summary to a safetensors file, replaced atomically."""
        in_order = self
        if len(self.classes) == 2 and self.classes[0] > self.classes[1]:
            in_order = self.with_positive(self.classes[0].item())
        storage.write(in_order, path)

    @property
    def by_class(self) -> Mapping[Any, ClassMoments]:
        """ClassMoments by label, with all folds merged."""
        return MappingProxyType(self._by_class)

    @cached_property
    def _by_class(self) -> dict[Any, ClassMoments]:
        return {
            label: tree_sum([part[index] for part in self.parts])
            for index, label in enumerate(self.classes.tolist())
        }

    @property
    def positive(self) -> ClassMoments:
        """ClassMoments of the positive class, the last of two labels."""
        return self.by_class[labels.negative_and_positive(self.classes)[1]]

    @property
    def negative(self) -> ClassMoments:
        """ClassMoments of the negative class, the first of two labels."""
        return self.by_class[labels.negative_and_positive(self.classes)[0]]

    @property
    def prior(self) -> float:
        """Prior of the positive class: its share of the weight, unless stated by `with_prior`."""
        labels.negative_and_positive(self.classes)
        if self.stated_prior is not None:
            return self.stated_prior
        total = self.positive.weight + self.negative.weight
        if total == 0:
            msg = "there are no rows, so the classes have no shares; state one with `with_prior`"
            raise ValueError(msg)
        return self.positive.weight / total

    @property
    def count(self) -> int:
        """Number of rows with positive weight."""
        return sum(group.count for part in self.parts for group in part)

    @property
    def weight(self) -> float:
        """Total weight of all classes."""
        return float(sum(group.weight for part in self.parts for group in part))

    @property
    def folds(self) -> tuple[Moments, ...]:
        """One summary for each fold; empty if the summary has no folds."""
        if not self.folded:
            return ()
        return tuple(replace(self, parts=(part,), folded=False) for part in self.parts)

    def unfolded(self) -> Moments:
        """Return the summary with all folds merged."""
        return replace(self, parts=(tuple(self.by_class.values()),), folded=False)

    def without_fold(self, fold: int) -> Moments:
        """Return the training summary for a fold, which is the sum of all other folds."""
        if not (self.folded and 0 <= fold < len(self.parts)):
            msg = f"there is no fold {fold}: this summary has {len(self.folds)} folds"
            raise ValueError(msg)
        others = [part for number, part in enumerate(self.parts) if number != fold]
        if not others:
            others = [tuple(ClassMoments.empty(self.n_features) for _ in self.classes)]
        summed = tuple(tree_sum(list(groups)) for groups in zip(*others, strict=True))
        return replace(self, parts=(summed,), folded=False)

    def with_prior(self, prior: float) -> Moments:
        """Return the same moments with this prior of the positive class."""
        labels.negative_and_positive(self.classes)
        if not 0 < prior < 1:
            msg = f"the prior must lie strictly between 0 and 1, not {prior!r}"
            raise ValueError(msg)
        return replace(self, stated_prior=float(prior))

    def with_positive(self, label: Any) -> Moments:
        """Return the moments of two classes with ``label`` as the positive one, last in `classes`.

        A file keeps the classes sorted.
        """
        first, last = labels.negative_and_positive(self.classes)
        if label == last:
            return self
        if label != first:
            raise LabelNotFoundError(label, (first, last))
        prior = None if self.stated_prior is None else 1.0 - self.stated_prior
        parts = tuple(part[::-1] for part in self.parts)
        return replace(self, classes=self.classes[::-1], parts=parts, stated_prior=prior)

    def one_vs_rest(self, label: Any) -> Moments:
        """Return the two-class moments of ``label`` (True) against all other classes (False)."""
        if label not in self.by_class:
            msg = f"no class {label!r}; the classes are {self.classes.tolist()}"
            raise ValueError(msg)
        label_index = self.classes.tolist().index(label)

        def label_and_rest(part: tuple[ClassMoments, ...]) -> tuple[ClassMoments, ClassMoments]:
            rest = [group for index, group in enumerate(part) if index != label_index]
            return tree_sum(rest or [ClassMoments.empty(self.n_features)]), part[label_index]

        return replace(
            self,
            classes=labels.distinct(np.array([False, True])),
            parts=tuple(label_and_rest(part) for part in self.parts),
            stated_prior=None,
        )

    def select(self, columns: Any) -> Moments:
        """Return the summary of some columns, given by name, index, slice or mask."""
        index = column_index(columns, self.n_features, self.feature_names)
        names = self.feature_names and tuple(self.feature_names[k] for k in index)
        return replace(
            self._map_groups(lambda group: group.select(index)),
            n_features=len(index),
            feature_names=names,
        )

    def affine(self, matrix: Any, *, center: Any = 0.0, offset: Any = 0.0) -> Moments:
        """Return the summary of the rows ``A (x − center) + offset``.

        Parameters
        ----------
        matrix : array of shape (k, d), or (d,) for a diagonal matrix
            The matrix A.
        center, offset : array or float
            A ``center`` near the means keeps all digits when the means are large.
        """
        matrix = np.asarray(matrix, dtype=np.float64)
        center = np.broadcast_to(np.asarray(center, dtype=np.float64), (self.n_features,))
        offset = np.asarray(offset, dtype=np.float64)
        if not all(np.isfinite(array).all() for array in (matrix, center, offset)):
            msg = "the map must be finite"
            raise ValueError(msg)
        if matrix.ndim not in (1, 2) or matrix.shape[-1] != self.n_features:
            msg = f"the matrix must have {self.n_features} columns, not shape {matrix.shape}"
            raise ValueError(msg)
        return replace(
            self._map_groups(lambda group: group.affine(matrix, center, offset)),
            n_features=len(matrix),
            feature_names=self.feature_names if matrix.ndim == 1 else None,
        )

    def feature_scales(self) -> FloatArray:
        """Return the standard deviation of each feature over all rows; 1 for a constant one."""
        return self._center_and_scale()[1]

    def standardize(self) -> Standardized:
        """Return the moments of features scaled to mean 0 and variance 1 over all rows.

        A constant feature is only centred (its scale is 1). A feature whose squares underflow
        raises ValueError.
        """
        center, scale = self._center_and_scale()
        return Standardized(self.affine(1.0 / scale, center=center), center, scale)

    def _center_and_scale(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the standard deviation of each feature over all rows."""
        groups = [group for group in self.by_class.values() if group.count]
        if not groups:
            msg = "there are no rows to standardise"
            raise ValueError(msg)
        pooled = tree_sum([group.marginal() for group in groups])
        require_squares(groups, pooled, self.feature_names)
        scale: FloatArray = np.sqrt(pooled.scatter.diagonal() / pooled.weight)
        scale[scale == 0] = 1.0
        return pooled.mean, scale

    def __add__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        return Moments(**combine(self, other, operator.add))

    def __sub__(self, other: Moments) -> Moments:
        if not isinstance(other, Moments):
            return NotImplemented
        try:
            return Moments(**combine(self, other, operator.sub))
        except CancellationError as error:
            if self.feature_names is None:
                raise
            names = (self.feature_names[column] for column in error.columns)
            raise CancellationError(names) from None

    def scaled(self, factor: float) -> Moments:
        """Return the summary of the same rows with their weights multiplied by a factor."""
        return self._map_groups(lambda group: group * factor)

    def unlabelled(self) -> Moments:
        """Return the summary of the same rows without their labels, as one class None."""
        nothing = ClassMoments.empty(self.n_features)
        parts = tuple((tree_sum(list(part) or [nothing]),) for part in self.parts)
        return replace(self, classes=labels.UNLABELLED, parts=parts, stated_prior=None)

    def _of_rows(self, rows: Any, y: Any, sample_weight: Any, fold: Any) -> Moments:
        return Moments.of(rows, y, sample_weight, feature_names=self.feature_names, fold=fold)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moments):
            return NotImplemented
        return (
            self.n_features == other.n_features
            and self.classes.dtype.kind == other.classes.dtype.kind
            and np.array_equal(self.classes, other.classes)
            and self.feature_names == other.feature_names
            and self.stated_prior == other.stated_prior
            and self.folded == other.folded
            and self.parts == other.parts
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return _text(self)

    def _repr_html_(self) -> str:
        return _html(self)

    def _map_groups(self, function: Callable[[ClassMoments], ClassMoments]) -> Moments:
        return replace(
            self, parts=tuple(tuple(function(group) for group in part) for part in self.parts)
        )
