"""Class labels and fold numbers: validation, and encoding as small integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple, TypeVar

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions.columns import all_or_few

T = TypeVar("T")

# ── Missing values of any library ─────────────────────────────────────────────────────────────────

#: Names of the types of missing values: every library has its own, and none is imported for it.
MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType"})


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or the NA of pandas."""
    if type(value) is str:
        return False
    if type(value).__name__ in MISSING_TYPES:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()  # a signalling NaN cannot be compared
    is_number = isinstance(value, float | np.floating | np.datetime64 | np.timedelta64)
    return is_number and bool(value != value)  # noqa: PLR0124 - NaN and NaT


# ── Sample weights and their sums: validation, and multiplication by a factor ─────────────────────

#: Least total weight of a class, and the reciprocal of the greatest: the square of such a weight,
#: divided among 1e20 rows, is still a normal float.
_LEAST_WEIGHT = 1e-140
#: Steps of the grid of weights below which a weight is not rounded to it.
_FINE = 2.0**20


def refuse_texts(weight: Any) -> None:
    """Raise TypeError for sample weights that are texts."""
    given = np.asarray(weight)
    for each in given.flat if given.dtype.kind in "OU" else ():
        if isinstance(each, str):
            msg = f"sample_weight holds texts, such as {str(each)!r}: give each row a number"
            raise TypeError(msg)


def checked_weight(weight: Any, n_rows: int, *, positive: bool = False) -> FloatArray:
    """Return one finite, non-negative weight for each row, or raise ValueError.

    Where the sum must be ``positive``, it must also have a square.
    """
    refuse_texts(weight)
    checked: FloatArray = np.asarray(weight, dtype=np.float64)
    if checked.shape != (n_rows,):
        msg = f"sample_weight must be one number for each of {n_rows} rows, not {checked.shape}"
        raise ValueError(msg)
    if not (np.isfinite(checked).all() and checked.min(initial=0.0) >= 0):
        msg = "sample_weight must be finite and not negative"
        raise ValueError(msg)
    if positive:
        if not checked.any():
            msg = "sample_weight is zero in every row: at least one weight must be positive"
            raise ValueError(msg)
        with np.errstate(over="ignore"):
            require_moderate_weight(float(checked.sum()), "all rows")
    return checked


def require_moderate_weight(weight: float, noun: str = "a class") -> None:
    """Raise ValueError for a total weight whose square overflows or underflows.

    ``noun`` names the rows that were summed, for the error message.
    """
    if not _LEAST_WEIGHT <= weight <= 1.0 / _LEAST_WEIGHT:
        msg = (
            f"the weights of {noun} add up to {weight:.3g}, beyond the range from "
            f"{_LEAST_WEIGHT:g} to {1.0 / _LEAST_WEIGHT:g}: multiply all weights by one factor"
        )
        raise ValueError(msg)


class WeightUnit(NamedTuple):
    """The mean weight of the rows of a fit: what is a number of rows there is no sum of weights.

    So a factor of all weights changes nothing. ``n_rows`` is the number of rows of weight above
    zero.
    """

    mean: float = 1.0
    n_rows: int = 1

    @classmethod
    def of(cls, total: float, n_rows: int) -> WeightUnit:
        """Return the unit of weights with this sum."""
        return cls(total / n_rows, n_rows) if n_rows else cls()

    def relative(self, weight: Any) -> FloatArray:
        """Return weights divided by their mean, on a grid on which their sums are exact.

        Rows of equal weight then tie as if the weight were one, whatever the unit. Weights that are
        so small that the grid would change them stay off it.
        """
        step = 2.0 ** (self.n_rows.bit_length() - 53)
        relative = np.asarray(weight, dtype=np.float64) / self.mean
        return np.where(relative < _FINE * step, relative, np.rint(relative / step) * step)


def are_squares(weight: float, weight_sq: float, count: float, rounding: float) -> bool:
    """Return whether sums of positive weights and of their squares can be those of some rows.

    (Σω)² / n ≤ Σω² ≤ (Σω)², up to rounding, divided by Σω so that nothing overflows.
    """
    share = weight_sq / weight
    return bool(weight / count * (1 - rounding) <= share <= weight * (1 + rounding))


def checked_factor(factor: Any) -> float:
    """Return a factor of weights as a finite float that is not negative, or raise ValueError."""
    number = float(factor)
    if not (np.isfinite(number) and number >= 0):
        msg = f"weights are multiplied by a finite number that is not negative, not {factor!r}"
        raise ValueError(msg)
    return number


def scaled_weights(weight: float, weight_sq: float, factor: float) -> tuple[float, float]:
    """Return a sum of weights and of their squares after multiplication of each weight.

    The factor is positive.
    """
    scaled = factor * weight
    require_moderate_weight(scaled)
    # Dividing by the weight first keeps the squares in range: the share is at most the weight.
    return scaled, scaled * (factor * (weight_sq / weight))


# ── Class labels and fold numbers: validation, and encoding as small integers ─────────────────────

_SMALL_RANGE = 127  # a range of labels that fits int8, which NumPy sorts fastest
#: Classes of a summary of rows without labels: the single class None.
UNLABELLED: AnyArray = np.array([None], dtype=object)
UNLABELLED.flags.writeable = False

_MOST_FOLDS = 10_000  # larger numbers are probably row numbers or keys, and would fill the memory


def as_labels(labels: Any) -> AnyArray:
    """Return labels as a one-dimensional array of bool, int, float or str, or raise."""
    array = np.asarray(labels)
    if array.dtype.kind == "U" and isinstance(labels, list | tuple):
        array = np.asarray(labels, dtype=object)  # NumPy turns numbers into text in mixed lists
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        msg = f"the labels must be a list, one per row, not an array of shape {array.shape}"
        raise ValueError(msg)
    if array.dtype.kind in "OT":
        array = _from_objects(array)
    if array.dtype.kind in "iu":
        return array if array.dtype.kind == "i" else _signed(array)
    if array.dtype.kind == "f":
        if not np.isfinite(array).all():
            msg = "a label is NaN or infinite; drop those rows or give them a class of their own"
            raise ValueError(msg)
        return array
    if array.dtype.kind in "bU":
        return array
    msg = f"labels must be numbers, booleans or text, not {array.dtype}: convert them"
    raise TypeError(msg)


def distinct(labels: AnyArray) -> AnyArray:
    """Return the sorted distinct labels, with the dtype that summaries store."""
    return _canonical(np.unique(labels))


def encode(labels: AnyArray, classes: AnyArray | None) -> tuple[AnyArray, AnyArray]:
    """Return the index of each label among the sorted classes, and the classes.

    Labels are from `as_labels`; without ``classes`` those that occur are taken.
    """
    small_integers = close_integers(labels)
    if small_integers is not None:
        offsets, lowest = small_integers
        offsets_seen = _distinct_offsets(offsets)
        occurring = _canonical((offsets_seen + lowest).astype(labels.dtype))
        classes = occurring if classes is None else classes
        table = np.zeros(_SMALL_RANGE + 1, dtype=code_dtype(len(classes)))
        table[offsets_seen] = _class_indices(occurring, classes)
        identity = np.array_equal(table[offsets_seen], offsets_seen)
        return (offsets if identity else table[offsets]), classes
    occurring, inverse = np.unique(labels, return_inverse=True)
    occurring = _canonical(occurring)
    classes = occurring if classes is None else classes
    indices = _class_indices(occurring, classes)
    return indices.astype(code_dtype(len(classes)))[inverse], classes


def encode_rows(y: Any, n_rows: int, present: Any, classes: Any) -> tuple[AnyArray, AnyArray]:
    """Return the class index of the rows that are present, and the classes.

    Rows without labels (y is None) are of one class, None. Without ``classes`` those that occur are
    taken.
    """
    if y is None:
        if classes is not None:
            msg = "rows without labels have no classes: leave out classes="
            raise ValueError(msg)
        return np.zeros(n_rows, dtype=np.int8)[present], UNLABELLED
    labels = as_labels(y)
    if len(labels) != n_rows:
        msg = f"there are {n_rows} rows but {len(labels)} labels"
        raise ValueError(msg)
    allowed = None if classes is None else distinct(as_labels(classes))
    return encode(labels[present], allowed)


class RowGroups(NamedTuple):
    """Rows of positive weight by fold and class.

    ``group`` of each row that is ``present`` is its fold times the number of classes, plus its
    class. The weights are those of all rows.
    """

    classes: AnyArray
    n_folds: int
    group: AnyArray
    present: Any  # all rows as a slice, or an array of int
    weight: FloatArray | None

    @property
    def n_groups(self) -> int:
        """Number of folds times the number of classes."""
        return self.n_folds * len(self.classes)

    def parts(self, groups: Sequence[T]) -> tuple[tuple[T, ...], ...]:
        """Return one tuple for each fold, which holds what belongs to each class."""
        width = len(self.classes)
        return tuple(tuple(groups[k * width : (k + 1) * width]) for k in range(self.n_folds))


def group_rows(y: Any, n_rows: int, weight: Any, fold: Any, classes: Any) -> RowGroups:
    """Check labels, weights and folds, and return the group of each row."""
    weight = None if weight is None else checked_weight(weight, n_rows)
    present = slice(None) if weight is None or weight.all() else np.flatnonzero(weight)
    codes, class_labels = encode_rows(y, n_rows, present, classes)
    if fold is None:
        return RowGroups(class_labels, 1, codes, present, weight)
    folds = fold_numbers(fold, n_rows)[present]
    n_folds = int(folds.max(initial=0)) + 1
    dtype = code_dtype(n_folds * len(class_labels))
    group = codes.astype(dtype) + folds.astype(dtype) * dtype(len(class_labels))
    return RowGroups(class_labels, n_folds, group, present, weight)


def union(a: AnyArray, b: AnyArray) -> AnyArray:
    """Return the sorted union of two arrays of classes."""
    if not a.size or not b.size or (a.dtype == b.dtype and np.array_equal(a, b)):
        return a if a.size else b
    if "O" in (a.dtype.kind, b.dtype.kind):
        msg = (
            "one summary has labels and the other has rows without: keep them apart, or drop the "
            "labels with `unlabelled()`"
        )
        raise TypeError(msg)
    if (a.dtype.kind == "U") != (b.dtype.kind == "U"):
        first, second = a[0].item(), b[0].item()
        msg = f"one summary has text labels and the other has numbers: {first!r} and {second!r}"
        raise TypeError(msg)
    return distinct(np.concatenate([a, b]))


def negative_and_positive(classes: AnyArray) -> tuple[Any, Any]:
    """Return the negative and the positive label; raise ValueError unless there are two classes."""
    labels = classes.tolist()
    if len(labels) != 2:
        if not labels:
            msg = "this needs two classes, and the summary is empty: add summaries of rows to it"
            raise ValueError(msg)
        if labels == [None]:
            msg = "this needs two classes, and the rows of this summary have no labels"
            raise ValueError(msg)
        msg = f"this needs two classes, and there are {len(labels)}: {all_or_few(labels)}. " + (
            "Choose one against the others with `one_vs_rest(label)`"
            if len(labels) > 2
            else "Name both with `classes=[...]`, or add a summary that has the other"
        )
        raise ValueError(msg)
    return labels[0], labels[1]


def code_dtype(n_codes: int) -> type[np.signedinteger[Any]]:
    """Return the smallest signed integer type that holds 0 to ``n_codes``."""
    return next(t for t in (np.int8, np.int16, np.int32, np.int64) if n_codes <= np.iinfo(t).max)


def fold_numbers(fold: Any, n_rows: int) -> AnyArray:
    """Return fold numbers as an array of non-negative integers, or raise ValueError."""
    array = as_labels(fold)
    if not array.size:  # an empty list has no type
        array = array.astype(np.int64)
    if array.dtype.kind != "i" or array.size != n_rows or array.min(initial=0) < 0:
        msg = f"fold must hold one whole number from zero for each of the {n_rows} rows"
        raise ValueError(msg)
    if array.max(initial=0) >= _MOST_FOLDS:
        msg = (
            f"fold {array.max()} is beyond {_MOST_FOLDS - 1}: number the folds from zero, because "
            "a summary is kept for every number up to the highest"
        )
        raise ValueError(msg)
    return array


def _class_indices(occurring: AnyArray, classes: AnyArray) -> AnyArray:
    """Return the index among the classes of each label that occurs."""
    is_mixed = (occurring.dtype.kind == "U") != (classes.dtype.kind == "U")
    if is_mixed and occurring.size and classes.size:
        stray = occurring
    else:
        stray = np.setdiff1d(occurring, classes)
    if stray.size:
        known = all_or_few(classes.tolist())
        msg = f"label {stray.tolist()[0]!r} is not among the classes {known}"
        raise ValueError(msg)
    return np.searchsorted(classes, occurring)


def close_integers(labels: AnyArray) -> tuple[AnyArray, int] | None:
    """Return whole-number labels in a small range as int8 offsets from the lowest, else None."""
    if not labels.size or labels.dtype.kind not in "bif":
        return None
    if labels.dtype.kind == "b":
        return labels.view(np.int8), 0
    lowest, highest = labels.min(), labels.max()
    # Compared as Python numbers: an int64 range may not fit an int64.
    if not (float(highest) - float(lowest) <= _SMALL_RANGE and abs(float(lowest)) < 2.0**52):
        return None
    offsets = (labels - lowest).astype(np.int8)
    if labels.dtype.kind == "f" and not (
        float(lowest).is_integer() and np.array_equal(offsets + lowest, labels)
    ):
        return None
    return offsets, int(lowest)


def _distinct_offsets(offsets: AnyArray) -> AnyArray:
    """Return the distinct offsets, sorted."""
    highest = int(offsets.max())
    if highest > 8:
        return np.flatnonzero(np.bincount(offsets))
    # A few comparisons of int8 cost less than np.bincount, which works in 64 bits.
    return np.array([value for value in range(highest + 1) if (offsets == value).any()])


def _from_objects(array: AnyArray) -> AnyArray:
    flat = [label.item() if isinstance(label, np.generic) else label for label in array.tolist()]
    types = {type(label) for label in flat}
    if types <= {str}:
        return np.array(flat, dtype=str)
    if types <= {bool, int, float}:
        return np.asarray(flat)
    if missing := sum(map(is_missing, flat)):
        msg = f"a label is missing in {missing} of {len(flat)} rows: drop those rows"
        raise TypeError(msg)
    names = ", ".join(sorted(label_type.__name__ for label_type in types))
    msg = f"labels must be all numbers or all text; these are of type {names}: convert them"
    raise TypeError(msg)


def _signed(array: AnyArray) -> AnyArray:
    if array.max(initial=0) > np.iinfo(np.int64).max:
        msg = "a label is beyond the range of 64-bit integers"
        raise ValueError(msg)
    return array.astype(np.int64)


def _canonical(classes: AnyArray) -> AnyArray:
    """Return classes as a read-only array of bool, int64, float64 or str."""
    dtype = {"b": np.bool_, "i": np.int64, "f": np.float64}.get(classes.dtype.kind)
    if not classes.size:  # no labels have no dtype; a fixed one makes all empty summaries equal
        dtype = np.int64
    result = classes if dtype is None else classes.astype(dtype)
    result.flags.writeable = False
    return result


# ── Names of rows, such as the segment that each belongs to ───────────────────────────────────────


def numbered_names(values: Any, n_rows: int | None = None) -> tuple[tuple[Any, ...], IntArray]:
    """Return the names that occur in rows, in order, and the position of each row's among them.

    Raises ValueError if some are missing, or if there is not one for each of ``n_rows``.
    """
    given = np.asarray(values)
    if n_rows is not None and given.shape != (n_rows,):
        msg = f"segment must be the segment of each of {n_rows} rows, not {shape_text(given)}"
        raise ValueError(msg)
    plain = given.tolist()
    found: dict[Any, int] = {}
    by_row = (found.setdefault(name, len(found)) for name in plain)
    first_seen = np.fromiter(by_row, dtype=np.int64, count=len(plain))
    if any(map(is_missing, found)):
        missing = [row for row, name in enumerate(plain) if is_missing(name)]
        msg = (
            f"segment is missing in {len(missing)} rows, the first of them row {missing[0]}: "
            'give these rows a name too, such as "unknown"'
        )
        raise ValueError(msg)
    names = ordered_names(found)
    position = np.empty(len(names), dtype=np.int64)
    position[[found[name] for name in names]] = np.arange(len(names))
    return names, position[first_seen]


def ordered_names(names: Iterable[Any]) -> tuple[Any, ...]:
    """Return distinct names, sorted by their types and then by themselves."""
    return tuple(sorted(set(names), key=lambda name: (type(name).__name__, name)))


def pooled_names(names: Sequence[Any], pool: Mapping[Any, Any]) -> tuple[tuple[Any, ...], IntArray]:
    """Return the names after some have got new ones, and the position of each old one's new name.

    Raises ValueError for a name that does not occur.
    """
    strangers = [name for name in pool if name not in set(names)]
    if strangers:
        msg = f"pool= names the segment {strangers[0]!r}, and no row is in it"
        raise ValueError(msg)
    changed = [pool.get(name, name) for name in names]
    made = ordered_names(changed)
    return made, np.array([made.index(name) for name in changed], dtype=np.int64)


def shape_text(values: AnyArray) -> str:
    """Return the shape of an array for a message; of the name of a column, where its values are."""
    if values.ndim:
        return f"shape {values.shape}"
    return f"{values.item()!r}: give the column itself, such as X[{values.item()!r}]"


def missing_in(values: AnyArray) -> AnyArray:
    """Return which labels or names of groups are None, NaN, NaT or NA."""
    if values.dtype.kind == "O":
        return np.array([is_missing(value) for value in values.tolist()], dtype=bool)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, dtype=bool)
