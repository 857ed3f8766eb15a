"""Summaries from query results of a database: column names, checks and arithmetic.

The first query returns one row for each class: its number of rows and its weight, and for every
feature the mean, the extremes and the number of known and of finite values. The second query also
returns one row for each class: sums and products of the features minus a centre, which is the mean
from the first query. With many features the second query is split into several statements. Rows
with folds give one row for each class and fold. A last query returns sampled rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import chain, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.moments.class_moments import ClassMoments
from directrix.rows import labels
from directrix.rows.labels import require_moderate_weight
from directrix.rows.rows import checked_names
from directrix.rows.sample import LARGEST_HASH, RowSample
from directrix.rows.sums import exact_sum

#: Largest number of sums in one statement of the second query.
_SUMS_AT_A_TIME = 1_000

#: Largest number of features. With more, the first query would have more columns than PostgreSQL
#: allows (1,664), and the second would be more than 46 statements.
MOST_FEATURES = 300

#: Largest magnitude of features and weights: the sums of larger squares could overflow.
LARGEST = 1e140

_CLASS_COLUMNS = ("dx_label", "dx_count", "dx_weight", "dx_weight_sq", "dx_good_weight")
_FEATURE_COLUMNS = ("dx_mean", "dx_min", "dx_max", "dx_known", "dx_finite")


def first_columns(n_features: int, *, folded: bool = False) -> list[str]:
    """Return the column names of the first query, in order."""
    feature_columns = (f"{name}_{i}" for i in range(n_features) for name in _FEATURE_COLUMNS)
    label, *sizes = _CLASS_COLUMNS
    return [label, *(["dx_fold"] if folded else []), *sizes, *feature_columns]


def sample_columns(n_features: int, *, weighted: bool) -> list[str]:
    """Return the column names of the query of sampled rows, in order."""
    weight = ["dx_w"] if weighted else []
    return ["dx_class", "dx_rank", *weight, *(f"dx_x_{i}" for i in range(n_features))]


def second_sums(n_features: int) -> list[list[tuple[int, ...]]]:
    """Return the sums that each statement of the second query computes.

    ``(i,)`` stands for the sum of the centred feature i, ``(i, j)`` for that of the product of i
    and j.
    """
    features = range(n_features)
    sums = list(chain(((i,) for i in features), combinations_with_replacement(features, 2)))
    return [sums[k : k + _SUMS_AT_A_TIME] for k in range(0, len(sums), _SUMS_AT_A_TIME)]


def sum_name(factors: tuple[int, ...]) -> str:
    """Return the column name of a sum of the second query."""
    return "_".join(("dx_sum", *map(str, factors)))


class FirstResult(NamedTuple):
    """The result of the first query, sorted by fold and class."""

    classes: AnyArray  # label of each row
    folds: list[int]
    raw_labels: list[Any]  # as the database returned them
    counts: list[int]
    weights: list[float]
    weights_sq: list[float]
    center: FloatArray  # (n_rows, d): the mean, or the value of a constant feature
    constant: AnyArray  # (n_rows, d): whether the feature is constant


def read(
    first: Any, second: Any, feature_names: Sequence[str], *, folded: bool = False
) -> dict[str, Any]:
    """Return the constructor arguments of the Moments that both query results describe.

    ``second`` holds the result of each statement of the second query, in order.
    """
    names = checked_names(feature_names, len(feature_names))
    first_result = read_first(first, names, folded=folded)
    sums = _read_second(second, first_result, len(names))
    with np.errstate(over="ignore", invalid="ignore"):
        groups = [_centred(first_result, sums[k], k) for k in range(len(first_result.counts))]
    for group in groups:
        if group.count:
            require_moderate_weight(group.weight)
    classes, index = np.unique(first_result.classes, return_inverse=True)
    parts = [
        [ClassMoments.empty(len(names))] * len(classes) for _ in range(max(first_result.folds) + 1)
    ]
    for fold, k, group in zip(first_result.folds, index.tolist(), groups, strict=True):
        parts[fold][k] = group
    return {
        "n_features": len(names),
        "classes": labels.distinct(classes),
        "parts": tuple(map(tuple, parts)),
        "feature_names": names,
        "folded": folded,
    }


def read_sample(
    rows: Any, first: Any, names: Sequence[str], most: int, *, folded: bool
) -> RowSample:
    """Return the sample that the query of sampled rows has drawn.

    ``first`` is the result of the first query.
    """
    first_result, rows = read_first(first, names, folded=folded), list(rows)
    weighted = bool(rows) and len(rows[0]) == len(names) + 3
    columns = _by_column(rows, sample_columns(len(names), weighted=weighted), "the sample")
    X = np.array([columns[f"dx_x_{i}"] for i in range(len(names))], dtype=np.float64).T
    group = np.array(columns["dx_class"], dtype=np.int64)
    weight = np.array(columns["dx_w"], dtype=np.float64) if weighted else np.ones(len(rows))
    y, fold = first_result.classes[group], np.array(first_result.folds, dtype=np.int64)[group]
    hashes, thresholds = np.zeros(len(rows), dtype=np.uint64), {}
    for label in np.unique(first_result.classes).tolist():
        of_class = np.flatnonzero(first_result.classes == label)
        n_rows = sum(first_result.counts[k] for k in of_class.tolist())
        # Of n random numbers, that of rank k is about (k - 1/2) / n.
        rank = np.array(columns["dx_rank"], dtype=np.float64)[y == label]
        hashes[y == label] = ((rank - 0.5) / n_rows * 2.0**64).astype(np.uint64)
        share = min(most / n_rows, 1.0)
        thresholds[label] = min(int(share * 2.0**64), LARGEST_HASH)
    unknown = np.zeros_like(hashes)
    drawn = RowSample(X, y, weight, fold, hashes, unknown, thresholds, most)
    return drawn.take(np.argsort(hashes, kind="stable"))


def read_first(rows: Any, names: Sequence[str], *, folded: bool = False) -> FirstResult:
    """Check the result of the first query and sort it by fold and class."""
    names_of_columns = first_columns(len(names), folded=folded)
    columns = _by_column(rows, names_of_columns, "the first query result")
    if not columns["dx_label"]:
        msg = (
            "the first query result has no rows: the table is empty, or `where` excludes every row"
        )
        raise ValueError(msg)
    counts = [int(value) for value in columns["dx_count"]]
    _require_complete(columns, counts, names)
    classes = labels.as_labels(_without_decimals(columns["dx_label"]))
    given = np.array([_number(value) for value in columns.get("dx_fold", [0.0] * len(classes))])
    whole = np.array_equal(np.floor(given), given)  # a database may have floats
    folds = labels.fold_numbers(given.astype(np.int64) if whole else given, len(classes))
    order = np.lexsort((classes, folds))
    groups = list(zip(folds[order].tolist(), classes[order].tolist(), strict=True))
    if len(set(groups)) < len(groups):
        msg = f"the first query result has two rows for one class: {classes[order].tolist()}"
        raise ValueError(msg)

    def by_feature(name: str) -> FloatArray:
        values = [[float(value) for value in columns[f"{name}_{i}"]] for i in range(len(names))]
        return np.array(values).T[order]

    lowest, highest = by_feature("dx_min"), by_feature("dx_max")
    center = np.where(lowest == highest, lowest, by_feature("dx_mean"))
    if not np.isfinite(center).all():
        overflowing = names[int(np.argwhere(~np.isfinite(center))[0, 1])]
        msg = f"the mean of column {overflowing!r} overflowed: rescale it, or the weights"
        raise ValueError(msg)
    return FirstResult(
        classes[order],
        folds[order].tolist(),
        [columns["dx_label"][k] for k in order],
        [counts[k] for k in order],
        [float(columns["dx_weight"][k]) for k in order],
        [float(columns["dx_weight_sq"][k]) for k in order],
        center,
        lowest == highest,
    )


def _require_complete(
    columns: dict[str, list[Any]], counts: list[int], names: Sequence[str]
) -> None:
    """Raise ValueError for NULL, NaN and infinity, with their columns and numbers of rows."""
    problems = []
    by_label = zip(columns["dx_label"], counts, strict=True)
    unlabelled = sum(count for label, count in by_label if label is None)
    if unlabelled:
        problems.append(f"NULL in {_rows(unlabelled)} of the target")
    total = sum(counts)
    unweighted = total - _whole(columns["dx_good_weight"])
    if unweighted:
        bad = f"NULL, NaN, infinity, less than zero or beyond {LARGEST:g}"
        problems.append(f"{bad} in {_rows(unweighted)} of the weight")
    for i, name in enumerate(names):
        known, finite = _whole(columns[f"dx_known_{i}"]), _whole(columns[f"dx_finite_{i}"])
        if known < total:
            problems.append(f"NULL in {_rows(total - known)} of column {name!r}")
        if finite < known:
            bad = f"NaN, infinity or beyond {LARGEST:g}"
            problems.append(f"{bad} in {_rows(known - finite)} of column {name!r}")
    if problems:
        more = f"; and {len(problems) - 5} more such columns" if len(problems) > 5 else ""
        msg = (
            f"the table holds {'; '.join(problems[:5])}{more}: fill those values in, or leave "
            "those rows out with `where`"
        )
        raise ValueError(msg)


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"


def _whole(values: Iterable[Any]) -> int:
    return sum(int(value) for value in values)


def _without_decimals(raw_labels: list[Any]) -> list[Any]:
    """Return labels with `Decimal`, which NumPy lacks, converted to int or float."""
    if not any(isinstance(label, Decimal) for label in raw_labels):
        return raw_labels
    whole = all(label == int(label) for label in raw_labels)
    return [int(label) if whole else float(label) for label in raw_labels]


def _read_second(results: Any, first_result: FirstResult, d: int) -> FloatArray:
    """Return the sums of each class, after checking that both queries saw the same rows."""
    statements = second_sums(d)
    results = list(results)
    if len(results) != len(statements):
        msg = (
            f"the second query of {d} features is {len(statements)} statements, and there are "
            f"{len(results)} results: give a list that has the rows of each, in order"
        )
        raise ValueError(msg)
    blocks = []
    for number, (rows, sums) in enumerate(zip(results, statements, strict=True), start=1):
        noun = f"result {number} of the second query"
        names = [sum_name(factors) for factors in sums]
        columns = _by_column(rows, ["dx_class", "dx_count", *names], noun)
        class_index = [int(k) for k in columns["dx_class"]]
        counts = dict(zip(class_index, columns["dx_count"], strict=True))
        _require_same_rows(first_result, counts, noun)
        sums_by_column = [[_number(value) for value in columns[name]] for name in names]
        block = np.array(sums_by_column).T[np.argsort(class_index)]
        if not np.isfinite(block).all():
            msg = f"{noun} holds sums that are not finite: rescale the features or the weights"
            raise ValueError(msg)
        blocks.append(block)
    return np.concatenate(blocks, axis=1)


def _require_same_rows(first_result: FirstResult, counts: dict[int, Any], noun: str) -> None:
    if not counts.keys() <= set(range(len(first_result.counts))):
        msg = f"{noun} has more classes than that of the first; has it come from another query?"
        raise ValueError(msg)
    known = zip(first_result.classes.tolist(), first_result.counts, strict=True)
    for k, (label, count) in enumerate(known):
        second_count = int(counts.get(k, 0))
        if second_count != count:
            msg = (
                f"class {label!r} has {_rows(count)} in the first query result and "
                f"{_rows(second_count)} in {noun}: the table has changed in between, so run all "
                "the queries in one transaction or on one snapshot"
            )
            raise ValueError(msg)


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _centred(first_result: FirstResult, sums: FloatArray, k: int) -> ClassMoments:
    """Return the moments of class k about its mean, which the centre only approximates."""
    d = first_result.center.shape[1]
    weight = first_result.weights[k]
    offset = sums[:d] / weight
    mean, tail = exact_sum(first_result.center[k], offset)
    scatter = np.empty((d, d))
    rows, columns = np.triu_indices(d)
    scatter[rows, columns] = scatter[columns, rows] = sums[d:]
    scatter -= weight * np.multiply.outer(offset, offset)
    flat = first_result.constant[k] | (scatter.diagonal() <= 0)
    scatter[flat] = 0.0
    scatter[:, flat] = 0.0
    return ClassMoments(
        first_result.counts[k], weight, first_result.weights_sq[k], mean, scatter, tail
    )


def _by_column(rows: Any, names: list[str], noun: str) -> dict[str, list[Any]]:
    """Return the columns of a query result by name.

    Rows are mappings, whose keys match in any case, or sequences in the order of ``names``.
    """
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for row in rows:
        if hasattr(row, "keys"):
            named = {str(name).lower(): row[name] for name in row.keys()}  # noqa: SIM118
        elif isinstance(row, str | bytes) or not hasattr(row, "__len__"):
            msg = f"a row of {noun} must have columns, and one is of type {type(row).__name__}"
            raise TypeError(msg)
        elif len(row) != len(names):
            msg = f"a row of {noun} has {len(row)} columns, not the {len(names)} of the query"
            raise ValueError(msg)
        else:
            named = dict(zip(names, row, strict=True))
        missing = [name for name in names if name not in named]
        if missing:
            msg = f"{noun} lacks the column {missing[0]!r}; has it come from another query?"
            raise ValueError(msg)
        for name, values in columns.items():
            values.append(named[name])
    return columns
