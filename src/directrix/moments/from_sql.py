"""From the answers of a database to a summary: their columns, their checks, their arithmetic.

The first answer has one row a class: how many rows and how much weight, and of every feature the
mean, the extremes and how many values are known and finite. The second has one row a class too: the
sums and the products of the features less a centre, which is the mean of the first answer. It comes
in several statements where it is wide.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import chain, combinations_with_replacement
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.moments import labels
from directrix.moments._double_double import exact_sum
from directrix.moments._one_pass import require_moderate
from directrix.moments.class_moments import ClassMoments
from directrix.moments.columns import checked_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from directrix._typing import AnyArray, FloatArray

#: Most sums in one statement of the second query.
_SUMS_AT_A_TIME = 1_000

#: With more, the first query would have more columns than PostgreSQL allows (1,664), and the
#: second would be more than 46 statements.
MOST_FEATURES = 300

#: Features and weights beyond are refused: the sums of their squares could overflow.
LARGEST = 1e140

_OF_A_CLASS = ("dx_label", "dx_count", "dx_weight", "dx_weight_sq", "dx_good_weight")
_OF_A_FEATURE = ("dx_mean", "dx_min", "dx_max", "dx_known", "dx_finite")


def first_columns(n_features: int) -> list[str]:
    """Return the names of the columns of the first answer, in order."""
    each = (f"{name}_{i}" for i in range(n_features) for name in _OF_A_FEATURE)
    return [*_OF_A_CLASS, *each]


def second_sums(n_features: int) -> list[list[tuple[int, ...]]]:
    """Return for each statement of the second query what it sums.

    ``(i,)`` stands for the centred feature i, ``(i, j)`` for the product of two.
    """
    features = range(n_features)
    sums = list(chain(((i,) for i in features), combinations_with_replacement(features, 2)))
    return [sums[k : k + _SUMS_AT_A_TIME] for k in range(0, len(sums), _SUMS_AT_A_TIME)]


def sum_name(factors: tuple[int, ...]) -> str:
    """Return the name of the column that holds a sum."""
    return "_".join(("dx_sum", *map(str, factors)))


class FirstAnswer(NamedTuple):
    """The first answer, sorted by class."""

    classes: AnyArray
    raw_labels: list[Any]  # as the database gave them
    counts: list[int]
    weights: list[float]
    weights_sq: list[float]
    center: FloatArray  # (number of classes, d): the mean, or the only value where there is one
    constant: AnyArray  # (number of classes, d): whether there is only one value


def read(first: Any, second: Any, feature_names: Sequence[str]) -> dict[str, Any]:
    """Return the arguments of the summary that the answers to both queries give."""
    names = checked_names(feature_names, len(feature_names))
    told = read_first(first, names)
    sums = _read_second(second, told, len(names))
    with np.errstate(over="ignore", invalid="ignore"):
        groups = [_centred(told, sums[k], k) for k in range(len(told.counts))]
    require_moderate(groups)
    return {
        "n_features": len(names),
        "classes": told.classes,
        "parts": (tuple(groups),),
        "feature_names": names,
    }


def read_first(rows: Any, names: Sequence[str]) -> FirstAnswer:
    """Check the first answer and sort it by class."""
    columns = _by_column(rows, first_columns(len(names)), "the first answer")
    if not columns["dx_label"]:
        msg = "the first answer has no rows: the table is empty, or `where` leaves nothing of it"
        raise ValueError(msg)
    counts = [int(value) for value in columns["dx_count"]]
    _refuse_missing(columns, counts, names)
    classes = labels.tidy(_plain(columns["dx_label"]))
    order = np.argsort(classes)
    if len(np.unique(classes)) < len(classes):
        msg = f"the first answer has two rows for one class: {classes[order].tolist()}"
        raise ValueError(msg)

    def of_each_feature(name: str) -> FloatArray:
        given = [[float(value) for value in columns[f"{name}_{i}"]] for i in range(len(names))]
        return np.array(given).T[order]

    lowest, highest = of_each_feature("dx_min"), of_each_feature("dx_max")
    center = np.where(lowest == highest, lowest, of_each_feature("dx_mean"))
    if not np.isfinite(center).all():
        overflowing = names[int(np.argwhere(~np.isfinite(center))[0, 1])]
        msg = f"the mean of column {overflowing!r} overflowed: rescale it, or the weights"
        raise ValueError(msg)
    return FirstAnswer(
        labels.distinct(classes),
        [columns["dx_label"][k] for k in order],
        [counts[k] for k in order],
        [float(columns["dx_weight"][k]) for k in order],
        [float(columns["dx_weight_sq"][k]) for k in order],
        center,
        lowest == highest,
    )


def _refuse_missing(columns: dict[str, list[Any]], counts: list[int], names: Sequence[str]) -> None:
    """Refuse NULL, NaN and infinity, and say how many rows of which column hold them."""
    found = []
    unlabelled = sum(
        count for label, count in zip(columns["dx_label"], counts, strict=True) if label is None
    )
    if unlabelled:
        found.append(f"NULL in {_rows(unlabelled)} of the target")
    total = sum(counts)
    unweighted = total - _whole(columns["dx_good_weight"])
    if unweighted:
        bad = f"NULL, NaN, infinity, less than zero or beyond {LARGEST:g}"
        found.append(f"{bad} in {_rows(unweighted)} of the weight")
    for i, name in enumerate(names):
        known, finite = _whole(columns[f"dx_known_{i}"]), _whole(columns[f"dx_finite_{i}"])
        if known < total:
            found.append(f"NULL in {_rows(total - known)} of column {name!r}")
        if finite < known:
            bad = f"NaN, infinity or beyond {LARGEST:g}"
            found.append(f"{bad} in {_rows(known - finite)} of column {name!r}")
    if found:
        more = f"; and {len(found) - 5} more such columns" if len(found) > 5 else ""
        msg = (
            f"the table holds {'; '.join(found[:5])}{more}: fill those values in, or leave those "
            "rows out with `where`"
        )
        raise ValueError(msg)


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"


def _whole(values: Iterable[Any]) -> int:
    return sum(int(value) for value in values)


def _plain(given: list[Any]) -> list[Any]:
    """Return labels with decimals, which NumPy lacks, as whole numbers or floats."""
    if not any(isinstance(label, Decimal) for label in given):
        return given
    whole = all(label == int(label) for label in given)
    return [int(label) if whole else float(label) for label in given]


def _read_second(answers: Any, told: FirstAnswer, d: int) -> FloatArray:
    """Return the sums of each class, after checking that they are of the same rows."""
    statements = second_sums(d)
    answers = list(answers)
    if len(answers) != len(statements):
        msg = (
            f"the second query of {d} features is {len(statements)} statements, and there are "
            f"{len(answers)} answers: give a list that has the rows of each, in order"
        )
        raise ValueError(msg)
    blocks = []
    for number, (rows, sums) in enumerate(zip(answers, statements, strict=True), start=1):
        what = f"answer {number} of the second query"
        names = [sum_name(factors) for factors in sums]
        columns = _by_column(rows, ["dx_class", "dx_count", *names], what)
        places = [int(k) for k in columns["dx_class"]]
        _require_same_rows(told, dict(zip(places, columns["dx_count"], strict=True)), what)
        given = [[_number(value) for value in columns[name]] for name in names]
        block = np.array(given).T[np.argsort(places)]
        if not np.isfinite(block).all():
            msg = f"{what} holds sums that are not finite: rescale the features or the weights"
            raise ValueError(msg)
        blocks.append(block)
    return np.concatenate(blocks, axis=1)


def _require_same_rows(told: FirstAnswer, counts: dict[int, Any], what: str) -> None:
    if not counts.keys() <= set(range(len(told.counts))):
        msg = f"{what} has more classes than the first answer; has it come from another query?"
        raise ValueError(msg)
    for k, (label, count) in enumerate(zip(told.classes.tolist(), told.counts, strict=True)):
        found = int(counts.get(k, 0))
        if found != count:
            msg = (
                f"class {label!r} has {_rows(count)} in the first answer and {_rows(found)} in "
                f"{what}: the table has changed in between, so run all the queries in one "
                "transaction or on one snapshot"
            )
            raise ValueError(msg)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _centred(told: FirstAnswer, sums: FloatArray, k: int) -> ClassMoments:
    """Return the moments of one class about its mean; the centre was only near it."""
    d = told.center.shape[1]
    weight = told.weights[k]
    offset = sums[:d] / weight
    mean, tail = exact_sum(told.center[k], offset)
    scatter = np.empty((d, d))
    rows, columns = np.triu_indices(d)
    scatter[rows, columns] = scatter[columns, rows] = sums[d:]
    scatter -= weight * np.multiply.outer(offset, offset)
    flat = told.constant[k] | (scatter.diagonal() <= 0)
    scatter[flat] = 0.0
    scatter[:, flat] = 0.0
    return ClassMoments(told.counts[k], weight, told.weights_sq[k], mean, scatter, tail)


def _by_column(rows: Any, names: list[str], what: str) -> dict[str, list[Any]]:
    """Return the columns of an answer whose rows have names (in any case), or are in order."""
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for row in rows:
        if hasattr(row, "keys"):
            named = {str(name).lower(): row[name] for name in row.keys()}  # noqa: SIM118
        elif isinstance(row, str | bytes) or not hasattr(row, "__len__"):
            msg = f"a row of {what} must have columns, and one is of type {type(row).__name__}"
            raise TypeError(msg)
        elif len(row) != len(names):
            msg = f"a row of {what} has {len(row)} columns, not the {len(names)} of the query"
            raise ValueError(msg)
        else:
            named = dict(zip(names, row, strict=True))
        lacking = [name for name in names if name not in named]
        if lacking:
            msg = f"{what} lacks the column {lacking[0]!r}; has it come from another query?"
            raise ValueError(msg)
        for name, values in columns.items():
            values.append(named[name])
    return columns
