"""Moments: the summary of all classes and folds, with addition and subtraction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from directrix._printing import html_table
from directrix._typing import AnyArray, FloatArray
from directrix.exceptions import CancellationError, LabelNotFoundError
from directrix.files.layout import (
    ANY,
    FLAG,
    Array,
    Entry,
    Layout,
    classes_of,
    fold_sizes,
    is_count,
    is_list_of,
    is_text,
    optional,
    require,
)
from directrix.moments import from_sql
from directrix.moments.class_moments import DENSE_FEATURES, ClassMoments
from directrix.moments.one_pass import class_moments_of_rows
from directrix.moments.summary import ClasswiseSummary, agreed
from directrix.rows import labels
from directrix.rows.rows import column_index
from directrix.rows.sums import exact_sum, tree_sum

# ── Check that the squares of a column's values do not underflow ──────────────────────────────────

#: Scatter below which digits are lost to underflow.
_LEAST_SQUARE = 1e-290


def require_squares(
    groups: Sequence[ClassMoments], pooled: ClassMoments, names: tuple[str, ...] | None
) -> None:
    """Raise ValueError for a column whose squared deviations underflow, and name the column.

    ``groups`` are the classes that have rows, and ``pooled`` all together.
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
    caption = f"{repr(moments)[1:-1]}. Mean ± standard deviation{note}."
    return html_table(header, body, caption, css=lambda _: "white-space: nowrap")


# ── The file of Moments: safetensors with a JSON header (``docs/moments.md``) ─────────────────

#: Largest count: above it, not every whole number is a float.
_MOST_ROWS = 1 << 53

#: Relative amount by which rounding may break the inequalities of weights and scatters: one
#: subtraction may leave only seven digits, and repeated ones fewer.
_ROUNDING_TOLERANCE = 1e-4

#: Largest error of a square that underflows.
_UNDERFLOW = 2.0**-1074


def _sizes(header: dict[str, Any], arrays: dict[str, AnyArray]) -> dict[str, Any]:
    d, names = header["n_features"], header["feature_names"]
    named = names is None or (is_list_of(names, is_text) and len(names) == len(set(names)) == d)
    require(named, f"its feature names are not {d} different names")
    return {**fold_sizes(header, arrays), "features": d, "triangle": d * (d + 1) // 2}


def _check_groups(_header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """Check the conditions that the moments of any rows satisfy, class by class."""
    for index in np.ndindex(arrays["count"].shape):
        _check_group({name: array[index] for name, array in arrays.items()})


def _check_group(group: dict[str, Any]) -> None:
    count, weight, weight_sq = (group[name].item() for name in ("count", "weight", "weight_sq"))
    mean, tail, packed = group["mean"], group["mean_tail"], group["scatter"]
    if count == 0:
        moments = weight or weight_sq or mean.any() or tail.any() or packed.any()
        require(not moments, "a class without rows has moments")
        return
    fits = 0 < count <= _MOST_ROWS and weight > 0
    require(fits, "its counts and weights are not those of rows")
    possible = labels.are_squares(weight, weight_sq, count, _ROUNDING_TOLERANCE)
    require(possible, "its counts and weights contradict each other")
    with np.errstate(over="ignore", invalid="ignore"):
        canonical = all(map(np.array_equal, exact_sum(mean, tail), (mean, tail)))
    require(canonical, "a mean overlaps with its tail")
    starts = _row_starts(len(mean))
    require((packed[starts] >= 0).all(), "a scatter has a negative diagonal")
    require(count > 1 or not packed.any(), "a single row has a scatter")
    deviation = np.sqrt(packed[starts] + count * _UNDERFLOW)
    for i, start in enumerate(starts):
        bound = deviation[i] * deviation[i:] * (1 + _ROUNDING_TOLERANCE)
        fits = np.abs(packed[start : start + len(bound)]) <= bound
        require(fits.all(), "a scatter breaks the Cauchy-Schwarz inequality")


_BY_CLASS = ("folds", "classes")
_LAYOUT = Layout(
    format="directrix.moments",
    noun="summary",
    entries={
        "n_features": Entry(
            lambda d: is_count(d) and d < 1 << 31, "its number of features is not a valid number"
        ),
        "feature_names": ANY,
        "folded": FLAG,
        "prior": Entry(
            optional(lambda prior: type(prior) is float and 0 < prior < 1),
            "its prior is not in (0, 1)",
        ),
    },
    arrays={
        "count": Array("int64", _BY_CLASS),
        "weight": Array("float64", _BY_CLASS),
        "weight_sq": Array("float64", _BY_CLASS),
        "mean": Array("float64", (*_BY_CLASS, "features")),
        "mean_tail": Array("float64", (*_BY_CLASS, "features")),
        "scatter": Array("float64", (*_BY_CLASS, "triangle")),  # rows of the upper triangle
    },
    sizes=_sizes,
    laws=_check_groups,
)


def _write(moments: Moments, path: str | PathLike[str]) -> None:
    if moments.n_features > DENSE_FEATURES:
        msg = (
            f"a summary of {moments.n_features} features keeps its rows and cannot be saved; "
            "`select` fewer columns first"
        )
        raise TypeError(msg)
    groups = [group.with_matrix() for part in moments.parts for group in part]
    d = moments.n_features
    columns = {
        # A count too large for the format is refused by the laws of the layout.
        "count": [min(group.count, _MOST_ROWS + 1) for group in groups],
        "weight": [group.weight for group in groups],
        "weight_sq": [group.weight_sq for group in groups],
        "mean": [group.mean for group in groups],
        "mean_tail": [group.mean_tail for group in groups],
        "scatter": [_packed(np.asarray(group.scatter)) for group in groups],
    }
    sizes = {"folds": len(moments.parts), "classes": len(moments.classes)}
    sizes |= {"features": d, "triangle": d * (d + 1) // 2}
    arrays = {
        name: np.array(columns[name], dtype=array.dtype).reshape([sizes[k] for k in array.shape])
        for name, array in (_LAYOUT.arrays or {}).items()
    }
    entries = {
        "n_features": d,
        "feature_names": moments.feature_names,
        "folded": moments.folded,
        "prior": moments.stated_prior,
    }
    _LAYOUT.write(path, moments.classes, entries, arrays)


def _read(path: str | PathLike[str]) -> dict[str, Any]:
    """Return the constructor arguments of the `Moments` stored in a file."""
    header, arrays, _ = _LAYOUT.read(path)
    d, names = header["n_features"], header["feature_names"]

    def group(index: tuple[int, ...]) -> ClassMoments:
        count, weight, square = (arrays[k][index].item() for k in ("count", "weight", "weight_sq"))
        mean, tail = arrays["mean"][index].copy(), arrays["mean_tail"][index].copy()
        scatter = _unpacked(arrays["scatter"][index], d)
        return ClassMoments(count, weight, square, mean, scatter, tail)

    folds, n_classes = arrays["count"].shape
    return {
        "n_features": d,
        "classes": classes_of(header),
        "parts": tuple(tuple(group((k, c)) for c in range(n_classes)) for k in range(folds)),
        "feature_names": None if names is None else tuple(names),
        "stated_prior": header["prior"],
        "folded": header["folded"],
    }


def _packed(scatter: FloatArray) -> FloatArray:
    return np.concatenate([scatter[i, i:] for i in range(len(scatter))] or [np.empty(0)])


def _unpacked(packed: FloatArray, d: int) -> FloatArray:
    scatter = np.empty((d, d))
    for i, start in enumerate(_row_starts(d)):
        scatter[i, i:] = scatter[i:, i] = packed[start : start + d - i]
    return scatter


def _row_starts(d: int) -> AnyArray:
    """Return the offset of each row in a packed upper triangle of a d × d matrix."""
    i = np.arange(d)
    return i * d - i * (i - 1) // 2


# ── Moments: the summary of all classes and folds, with addition and subtraction ──────────────────


class Standardized(NamedTuple):
    """Moments of standardised features, with the map ``(x − center) / scale`` that was applied."""

    moments: Moments
    center: FloatArray
    scale: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Moments(ClasswiseSummary):
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
        return cls(
            **class_moments_of_rows(
                X, y, sample_weight, classes, feature_names, fold, keep_rows=keep_rows
            )
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
        return cls(**_read(path))

    def save(self, path: str | PathLike[str]) -> None:
        """Write this summary to a safetensors file, replaced atomically."""
        in_order = self
        if len(self.classes) == 2 and self.classes[0] > self.classes[1]:
            in_order = self.with_positive(self.classes[0].item())
        _write(in_order, path)

    @property
    def by_class(self) -> Mapping[Any, ClassMoments]:
        """ClassMoments by label, with all folds merged."""
        return MappingProxyType(self._by_class)

    @cached_property
    def _by_class(self) -> dict[Any, ClassMoments]:
        return dict(zip(self.classes.tolist(), self._merged(self.parts), strict=True))

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

    def __sub__(self, other: Moments) -> Moments:
        try:
            return super().__sub__(other)
        except CancellationError as error:
            if self.feature_names is None:
                raise
            names = tuple(self.feature_names[column] for column in error.columns)
            raise CancellationError(names) from None

    def _of_rows(self, rows: Any, y: Any, sample_weight: Any, fold: Any) -> Moments:
        return Moments.of(rows, y, sample_weight, feature_names=self.feature_names, fold=fold)

    def _repr_html_(self) -> str:
        return _html(self)

    def _empty_group(self) -> ClassMoments:
        return ClassMoments.empty(self.n_features)

    def _kind(self) -> tuple[Any, ...]:
        return self.n_features, self.feature_names, self.stated_prior

    def _dimensions(self) -> list[str]:
        return [f"{self.n_features:,} features"]

    def _notes(self) -> list[str]:
        return [] if self.stated_prior is None else [f"stated prior {self.stated_prior:g}"]

    def _with_classes(self, classes: AnyArray, parts: Any) -> Moments:
        return replace(self, classes=classes, parts=parts, stated_prior=None)

    def _joint_fields(self, other: Moments) -> dict[str, Any]:
        if self.n_features != other.n_features:
            msg = (
                f"the summaries have {self.n_features} and {other.n_features} features; they must "
                "agree (`select` the common ones)"
            )
            raise ValueError(msg)
        return {
            "feature_names": agreed("feature names", self.feature_names, other.feature_names),
            "stated_prior": agreed("stated priors", self.stated_prior, other.stated_prior),
        }
