"""Moments: the summary of all classes and folds, with addition and subtraction."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from directrix._printing import html_table
from directrix._typing import AnyArray, FloatArray
from directrix.exceptions import CancellationError, LabelNotFoundError
from directrix.moments import from_sql, storage
from directrix.moments.class_moments import ClassMoments
from directrix.moments.feature_map import FeatureMap
from directrix.moments.one_pass import class_moments_of_rows
from directrix.rows import labels
from directrix.rows.frames import is_frame
from directrix.rows.keys import (
    CopyCounter,
    content_identity,
    copy_keys,
    first_copies,
    hash_with_label,
    key_hash,
    row_hash,
)
from directrix.rows.rows import FrameRows, Matrix, as_rows, column_index
from directrix.rows.sample import RowSample, RunningSample, named_segments, require_sample
from directrix.rows.summary import ClasswiseSummary, agreed
from directrix.rows.sums import tree_sum

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
    columns = [["class", "rows", "in the sample", "weight", "share", *names[:shown]]]
    for label, group in moments.by_class.items():
        share = group.weight / moments.weight if moments.weight else 0.0
        sampled = 0 if moments.sample is None else moments.sample.count(label)
        cells = [str(label), f"{group.count:,}", f"{sampled:,}"]
        cells += [f"{group.weight:,.6g}", f"{share:.4f}"]
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


# ── The sample of rows that a summary keeps ───────────────────────────────────────────────────────

#: Number of rows of each class that a summary keeps by default.
SAMPLE_ROWS = 10_000
#: Largest error of rounding in single precision, in standard deviations of a column.
_SINGLE_ERROR = 2.0**-10


def _sample_of_rows(
    rows: Matrix, y: Any, weight: Any, fold: Any, most: int, key: Any, segment: Any
) -> RowSample | None:
    y, n_rows = labels.as_labels(y), rows.shape[0]
    if segment is not None:
        segment = named_segments(*labels.numbered_names(segment, n_rows))
    if key is None:
        identity = content_identity(hash_with_label(row_hash(rows), y), weight, segment)
        keys = copy_keys(identity, CopyCounter().numbers(identity))
    else:
        identity = key_hash(key if isinstance(key, tuple) else (key,))
        keys = first_copies(identity)
    row_weight = np.ones(n_rows) if weight is None else np.asarray(weight, dtype=np.float64)
    row_fold = np.zeros(n_rows) if fold is None else labels.fold_numbers(fold, n_rows)
    running = RunningSample(most)
    folds: Any = row_fold.astype(np.int32)
    running.add(rows, y, row_weight, folds, keys, identity, segment=segment)
    return running.sample()


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
    sample : RowSample, optional
        Rows of each class, drawn by hash, with labels, weights and folds. Values are in single
        precision, unless that would change a column by a thousandth of its standard deviation.
    map : FeatureMap, optional
        What made the features of a raw table.

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
    sample: RowSample | None = None
    map: FeatureMap | None = None

    @classmethod
    def empty(cls, n_features: int) -> Moments:
        """Return the summary of no rows and no classes, which is the identity of ``+``."""
        return cls(n_features, np.empty(0, dtype=np.int64), ((),))

    @classmethod
    def of(  # noqa: PLR0913 - all that stands beside rows is an argument
        cls,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        feature_names: Sequence[str] | None = None,
        fold: Any = None,
        segment: Any = None,
        sample: int = SAMPLE_ROWS,
        key: Any = None,
        like: Moments | None = None,
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
        segment : array of shape (n,), optional
            Segment of each row, such as a country, which the sample keeps beside its rows.
        sample : int
            Largest number of rows of each class to keep as a sample; 0 for none. The sample
            measures the rates of a model trained from the summary.
        key : array of shape (n,), or tuple of them, optional
            What identifies a row, such as its number in a database: the same rows are then sampled
            however they are divided into parts. By default rows are identified by their label,
            weight and values.
        like : Moments, optional
            A summary to add to: its features are taken, from a data frame by their names. One that
            has a map of a raw table takes rows by ``summarize(..., like=)``.
        keep_rows : bool
            Keep a copy of the rows, with scatters as operators over them, instead of matrices:
            less memory and work where rows are few and features many. Beyond 5,000 features this
            is always so.

        Returns
        -------
        Moments
        """
        if like is not None:
            if like.map is not None:
                msg = "like= has a map of raw tables: use summarize(X, target=y, like=...)"
                raise TypeError(msg)
            names = feature_names = like.feature_names
            X = FrameRows(X, names) if names is not None and is_frame(X) else X
        require_sample(sample, segment)
        rows = as_rows(X)
        summary = cls(
            **class_moments_of_rows(
                rows, y, sample_weight, classes, feature_names, fold, keep_rows=keep_rows
            )
        )
        if not sample or y is None:
            return summary
        return summary.with_sample(
            _sample_of_rows(rows, y, sample_weight, fold, sample, key, segment)
        )

    @classmethod
    def from_sql_rows(
        cls,
        first: Any,
        second: Any,
        feature_names: Sequence[str],
        sample: Any = None,
        *,
        folded: bool = False,
        most: int = SAMPLE_ROWS,
    ) -> Moments:
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
        sample : iterable of rows, optional
            Result of the query of sampled rows.
        folded : bool
            Whether the queries have folds.
        most : int
            Number of sampled rows of each class that was asked for.
        """
        first = list(first)
        moments = cls(**from_sql.read(first, second, feature_names, folded=folded))
        if sample is None:
            return moments
        drawn = from_sql.read_sample(sample, first, feature_names, most, folded=folded)
        return moments.with_sample(drawn)

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

    def with_sample(self, sample: RowSample | None) -> Moments:
        """Return the same moments with a sample of their rows, whose values are float64."""
        if sample is None or not len(sample):
            return replace(self, sample=sample)
        pooled = tree_sum([group.marginal() for group in self.by_class.values()])
        deviation = np.sqrt(np.maximum(pooled.variance, 0.0))
        with np.errstate(over="ignore"):
            single = sample.X.astype(np.float32)
        error = np.abs(single - sample.X).max(axis=0)
        fits = (error <= _SINGLE_ERROR * np.where(deviation > 0, deviation, 1.0)).all()
        return replace(self, sample=replace(sample, X=single) if fits else sample)

    def without_sample(self) -> Moments:
        """Return the same moments without the sample of rows."""
        return replace(self, sample=None)

    def map_sample(self, change: Callable[[RowSample], RowSample]) -> Moments:
        """Return the same moments with a change of their sample, if they have one and rows."""
        if self.sample is None:
            return self
        return replace(self, sample=change(self.sample) if self.count else None)

    @property
    def folds(self) -> tuple[Moments, ...]:  # noqa: D102 - inherited
        return tuple(
            part.map_sample(lambda rows, number=number: rows.of_fold(number))  # type: ignore[misc]
            for number, part in enumerate(super().folds)
        )

    def unfolded(self) -> Moments:  # noqa: D102 - inherited
        return super().unfolded().map_sample(RowSample.unfolded)

    def without_fold(self, fold: int) -> Moments:  # noqa: D102 - inherited
        rest = super().without_fold(fold)
        return rest.map_sample(lambda rows: rows.without_fold(fold).unfolded())

    def one_vs_rest(self, label: Any) -> Moments:  # noqa: D102 - inherited
        return super().one_vs_rest(label).map_sample(lambda rows: rows.one_vs_rest(label))

    def scaled(self, factor: float) -> Moments:  # noqa: D102 - inherited
        scaled = super().scaled(factor)
        return scaled.map_sample(lambda rows: replace(rows, weight=rows.weight * float(factor)))

    def unlabelled(self) -> Moments:  # noqa: D102 - inherited
        return super().unlabelled().without_sample()

    def select(self, columns: Any) -> Moments:
        """Return the summary of some columns, given by name, index, slice or mask."""
        index = column_index(columns, self.n_features, self.feature_names)
        names = self.feature_names and tuple(self.feature_names[k] for k in index)
        selected = replace(
            self._map_groups(lambda group: group.select(index)),
            n_features=len(index),
            feature_names=names,
            map=None,
        )
        return selected.map_sample(lambda rows: replace(rows, X=rows.X[:, index]))

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
        moved = replace(
            self._map_groups(lambda group: group.affine(matrix, center, offset)),
            n_features=len(matrix),
            feature_names=self.feature_names if matrix.ndim == 1 else None,
            map=None,
        )
        if self.sample is None:
            return moved
        X = self.sample.X - center
        X = (X * matrix if matrix.ndim == 1 else X @ matrix.T) + offset
        return moved.with_sample(replace(self.sample, X=X))

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

    def _repr_html_(self) -> str:
        return _html(self)

    def _empty_group(self) -> ClassMoments:
        return ClassMoments.empty(self.n_features)

    def _kind(self) -> tuple[Any, ...]:
        return self.n_features, self.feature_names, self.stated_prior, self.sample, self.map

    def _dimensions(self) -> list[str]:
        return [f"{self.n_features:,} features"]

    def _notes(self) -> list[str]:
        notes = [] if self.sample is None else [f"a sample of {len(self.sample):,} rows"]
        if self.sample is not None and self.sample.segment is not None:
            notes[0] += f" in {len(set(self.sample.segment.tolist())):,} segments"
        stated = [] if self.stated_prior is None else [f"stated prior {self.stated_prior:g}"]
        learned = self.map and f"a map learned from {self.map.n_rows:,} rows"
        return [*notes, *([learned] if learned else []), *stated]

    def _combined(self, other: Moments, operation: Callable[[Any, Any], Any]) -> Moments:
        combined = super()._combined(other, operation)
        sampled = {side.sample is not None for side in (self, other) if side.count}
        if len(sampled) > 1 and not (operation is operator.sub and self.sample is None):
            msg = (
                "one summary keeps a sample of its rows and the other has rows and none: give both "
                "`sample=`, or leave it out (`without_sample`)"
            )
            raise ValueError(msg)
        if self.sample is not None and other.sample is not None:
            sample = operation(self.sample, other.sample)
        else:
            sample = other.sample if not self.count else self.sample
        return replace(combined, sample=sample if combined.count else None)

    def _with_classes(self, classes: AnyArray, parts: Any) -> Moments:
        return replace(self, classes=classes, parts=parts, stated_prior=None)

    def _joint_fields(self, other: Moments) -> dict[str, Any]:
        if self.map != other.map and self.count and other.count:
            msg = (
                "the features of the summaries were made by different maps: make the second with "
                "`like=first`"
            )
            raise ValueError(msg)
        if self.n_features != other.n_features:
            msg = (
                f"the summaries have {self.n_features} and {other.n_features} features; they must "
                "agree (make the second with `like=first`, or `select` the common ones)"
            )
            raise ValueError(msg)
        return {
            "map": self.map if self.count else other.map or self.map,
            "feature_names": agreed("feature names", self.feature_names, other.feature_names),
            "stated_prior": agreed("stated priors", self.stated_prior, other.stated_prior),
        }
