"""What is odd about the columns of a training table: ids, texts that are numbers, leaked labels.

A sample of the rows of each class is looked at closely, the first in the order of their keys. What
it suggests is then counted on all rows, so that nothing depends on the order of rows or columns.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions.columns import listed
from directrix.tables.table import Column

#: The kinds of findings, the most important first.
KINDS = ("label", "numbers as text", "dates as text", "id", "identical columns")


class TableFinding(NamedTuple):
    """What is odd about some columns of a table, by a ``kind`` of `KINDS`.

    ``example`` is a value of the column; None if no single value is odd.
    """

    kind: str
    columns: tuple[str, ...]
    example: Any
    problem: str
    remedy: str

    def __str__(self) -> str:
        noun = "column" if len(self.columns) == 1 else "columns"
        return f"{noun} {listed(self.columns)}: {self.problem}; {self.remedy}"


#: Rows of each class in the sample.
_SAMPLED = 1_000


def check_table(
    columns: Sequence[Column], X: FloatArray, positive: AnyArray, keys: AnyArray | None = None
) -> tuple[TableFinding, ...]:
    """Return what is odd about the columns of a training table, the most important first.

    ``X`` has the values of the rows that count, as in `Table`, and ``positive`` says which are of
    one class. ``keys`` order them at random; by default they are in such an order.
    """
    sampled = [_first(np.flatnonzero(positive == side), keys) for side in (False, True)]
    sizes = list(map(len, sampled))
    sample = np.ascontiguousarray(X[np.concatenate(sampled)].T, dtype=np.float64) + 0.0
    # Every other row of a class is in the other half.
    part = np.concatenate([np.arange(size) % 2 + 2 * side for side, size in enumerate(sizes)])
    rarer = int(2 * np.count_nonzero(positive) <= len(positive))
    steps = [1] if min(sizes) < _SAMPLED else [_STEP, 1]
    findings = [*_identical(columns, X, sample)]
    for k, (column, values) in enumerate(zip(columns, sample, strict=True)):
        if column.kind == "text":
            findings += _of_texts(column, X[:, k])
        elif column.kind == "number" and _distinct_whole(values) is not None:
            findings += _of_numbers(column.name, X[:, k])
        if min(sizes) >= _FEWEST:
            findings += _of_label(column, values, part, rarer, steps)
    return tuple(sorted(findings, key=lambda each: (KINDS.index(each.kind), each.columns)))


def _first(rows: IntArray, keys: AnyArray | None) -> IntArray:
    if keys is None:
        return rows[:_SAMPLED]
    if len(rows) > _SAMPLED:
        rows = rows[np.argpartition(keys[rows], _SAMPLED)[:_SAMPLED]]
    return rows[np.argsort(keys[rows])]


# ── Columns that tell the label by themselves ─────────────────────────────────────────────────────
#
# The limits are far from all columns of 21 business tables: the largest area is 0.87, the largest
# share of the rarer class in pure cells 0.28. Measurements in physics and medicine reach 0.978 and
# 0.69.

#: Area under the ROC curve by which a column tells the label.
_AREA = 0.98
#: Share of the rarer class in cells that have at most a share of the other class.
_PURE, _IMPURE = 0.75, 0.002
#: Most cells of numbers, and fewest rows of a class, and of a cell.
_CELLS, _FEWEST = 64, 20
#: One in so many rows is enough for most columns, which are this far below the limits.
_STEP, _FAR = 5, 0.1


def _of_label(
    column: Column, values: FloatArray, part: IntArray, rarer: int, steps: Sequence[int]
) -> Iterator[TableFinding]:
    for step in steps:
        area, pure = _separation(column, values[::step], part[::step], rarer)
        slack = _FAR * (step > 1)
        if area < _AREA - slack and pure < _PURE - slack:
            return
    n_rarer = int(np.count_nonzero(part // 2 == rarer))
    is_told = _surely(area, n_rarer, 1.0) >= _AREA
    if not (is_told or _surely(pure, n_rarer, 2.0) >= _PURE):
        return
    problem = f"{100 * pure:.0f} % of the rarer class have values that no other row has"
    if is_told:
        problem = f"tells the label almost by itself (AUC {area:.3f})"
    remedy = "is it known only after the outcome? Leave it out then"
    yield TableFinding("label", (column.name,), None, problem, remedy)


def _surely(share: float, n_rows: int, errors: float) -> float:
    """Return a share less some standard errors."""
    return float(share - errors * np.sqrt(share * (1.0 - share) / n_rows))


def _separation(
    column: Column, values: FloatArray, part: IntArray, rarer: int
) -> tuple[float, float]:
    """Return area and share by cells that are ranked on the other half of the rows."""
    missing = np.isnan(values)
    if column.kind == "text":
        n_cells = len(column.levels) + 1
        cells = np.where(missing, n_cells - 1, values).astype(np.intp)
    else:
        ordered = np.sort(values)[: len(values) - np.count_nonzero(missing)]
        most = max(min(_CELLS, len(values) // _FEWEST), 8)
        index = np.linspace(0, max(len(ordered) - 1, 0), most + 1).astype(np.intp)
        cuts = np.unique(ordered[index]) if len(ordered) else ordered
        n_cells = len(cuts) + 1
        cells = np.where(missing, n_cells - 1, np.searchsorted(cuts, values))
    counts = np.bincount(cells + n_cells * part, minlength=4 * n_cells).reshape(2, 2, n_cells)
    area = pure = 0.0
    for half in (0, 1):
        negatives, positives = counts[:, 1 - half]
        share = (positives + 0.25) / (negatives + positives + 0.5)
        rank = np.unique(share, return_inverse=True)[1]
        fpr, tpr = (np.bincount(rank, test) / test.sum() for test in counts[:, half])
        area += float(tpr @ (np.cumsum(fpr) - fpr / 2.0)) / 2.0
        other, rare = (fpr[::-1], tpr[::-1]) if rarer else (tpr, fpr)
        pure += float(rare[np.cumsum(other) <= _IMPURE].sum()) / 2.0
    return area, pure


# ── Texts that are numbers or dates, or different in every row ────────────────────────────────────

#: Texts that stand for a missing value, in lower case.
_ABSENT = frozenset(("", "-", ".", "?", "na", "n/a", "nan", "none", "null", "missing", "unknown"))
_CURRENCY = (
    r"[$€£¥₹]|R\$|Rs\.?|kr|zł"
    r"|(?:EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|CZK|BRL)\b"
)
_NUMBER = re.compile(
    rf"\(?[-+]?(?P<sign>{_CURRENCY})?\s*[-+]?"
    r"(?P<digits>(?:\d{1,3}(?:[., '\u00a0\u202f]\d{3})+|\d+)(?:[.,]\d+)?|[.,]\d+)(?:[eE][-+]?\d+)?"
    rf"\s*(?P<unit>%|[kKM]|{_CURRENCY})?\)?"
)
_MON = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
_MONTH = rf"{_MON}[a-z]*\.?"
_DATE = re.compile(
    r"(?:[12]\d{3}([-/.])[01]?\d\1[0-3]?\d|(?:19|20)\d\d[-/](?:0?[1-9]|1[0-2])"
    r"|(?:0?[1-9]|1[0-2])[-/.](?:19|20)\d\d"
    rf"|[0-3]?\d?{_MON}[12]\d{{3}}|[0-3]?\d{_MON}\d\d"
    r"|[0-3]?\d([-/.])[0-3]?\d\2(?:[12]\d{3}|\d\d)|(?:19|20)\d\d(?:0[1-9]|1[0-2])[0-3]\d"
    rf"|(?:[0-3]?\d[-. ]*)?{_MONTH}[-, ]+(?:[0-3]?\d, *)?(?:[12]\d{{3}}|\d\d))"
    r"(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:Z|[AP]M|[-+]\d{2}:?\d{2})?)?",
    re.IGNORECASE,
)
_PATTERNS = {"dates": _DATE, "numbers": _NUMBER}
#: Share of the texts, and of their levels, that are numbers or dates, or different.
_MOST = 0.9
#: Fewest levels that are numbers with a fraction, and whole ones; fewer may be codes.
_FRACTIONS, _WHOLE = 10, 30
#: Codes are numbered one after another: fewer numbers than this in the range of each.
_SPARSE = 3.0
#: Levels that are read before all of them.
_TRIED = 50


def _of_texts(column: Column, values: FloatArray) -> Iterator[TableFinding]:
    present = values[~np.isnan(values)].astype(np.intp)
    used = np.bincount(present, minlength=len(column.levels)).tolist()
    stripped = [(text.strip(), rows) for text, rows in zip(column.levels, used, strict=True)]
    texts = {text: rows for text, rows in stripped if rows and text.lower() not in _ABSENT}
    n_rows, levels = sum(texts.values()), list(texts)
    for noun, pattern in _PATTERNS.items():
        tried = list(map(pattern.fullmatch, levels[:: len(levels) // _TRIED + 1]))
        if sum(map(bool, tried)) <= (2.0 * _MOST - 1.0) * len(tried):
            continue
        matches = [match for match in map(pattern.fullmatch, levels) if match]
        rows = sum(texts[match[0]] for match in matches)
        most = len(matches) >= _MOST * len(levels) and rows >= _MOST * n_rows
        if most and len(matches) > 1 and (noun == "dates" or _are_amounts(matches)):
            example = max((match[0] for match in matches), key=lambda text: (texts[text], text))
            problem = f"{rows:,} of {n_rows:,} texts are {noun} such as {example!r}"
            remedy = f"convert them to {noun} before the fit"
            yield TableFinding(f"{noun} as text", (column.name,), example, problem, remedy)
            return
    if n_rows >= _FEWEST and len(levels) >= _MOST * n_rows:
        yield _id(column.name, f"{len(levels):,} different texts in {n_rows:,} rows", levels[0])


def _are_amounts(matches: list[re.Match[str]]) -> bool:
    """Return whether numbers are amounts, and not codes: 7, 12.0, 00213."""
    parts = [re.split(r"\D", match["digits"]) for match in matches]
    signed = sum(bool(match["sign"] or match["unit"]) for match in matches)
    if signed > 1 or sum(len(part) > 2 for part in parts) > 1:
        return True
    ends = [part[1] for part in parts if len(part) > 1]
    if any(end.strip("0") or len(end) == 3 for end in ends):
        return len(matches) >= _FRACTIONS
    digits = [part[0] for part in parts]
    if any(each.startswith("0") and len(each) > 1 for each in digits):
        return False
    whole = list(map(int, digits))
    spread = (max(whole) - min(whole)) >= _SPARSE * len(whole)
    return len(whole) >= _WHOLE and spread and len(set(map(len, digits))) > 1


# ── Ids ───────────────────────────────────────────────────────────────────────────────────────────

#: Share of different values among those of an id, and of one whose name says so.
_DISTINCT, _REPEATED = 0.99, 0.3
_NAME = re.compile(r"(?:^|[^a-z])(?:(id|uuid|guid)|key|nr|no|num|number|index|ref)(?:[^a-z]|$)")
#: Rows that would have the value of another one by chance, for each that has.
_BY_CHANCE = 10.0


def _distinct_whole(values: FloatArray) -> tuple[FloatArray, int] | None:
    """Return the distinct values, and how many rows have one; None if they are like no id."""
    present = values[~np.isnan(values)]
    if len(present) < _FEWEST or not (np.isfinite(present) & (present == np.floor(present))).all():
        return None
    distinct = np.unique(present)
    return (distinct, len(present)) if len(distinct) >= _REPEATED * len(present) else None


def _of_numbers(name: str, values: FloatArray) -> Iterator[TableFinding]:
    r"""Yield a finding if whole numbers are an id: their name says so, or they avoid each other.

    Of n numbers drawn at random with a density whose neighbours are g apart, n / 2g have the value
    of another one.
    """
    if (found := _distinct_whole(values)) is None:
        return
    distinct, n_rows = found
    by_chance = n_rows / (2.0 * float(np.median(np.diff(distinct))))
    avoid = by_chance >= _BY_CHANCE * max(n_rows - len(distinct), 1)
    named = _NAME.search(re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower())
    is_id = (avoid or named) and len(distinct) >= _DISTINCT * n_rows
    if is_id or (named and named[1]):
        problem = f"{len(distinct):,} different whole numbers in {n_rows:,} rows"
        yield _id(name, problem, int(distinct[0]))


def _id(name: str, problem: str, example: Any) -> TableFinding:
    remedy = "an id or a name is no feature, leave it out"
    return TableFinding("id", (name,), example, f"{problem}, such as {example!r}", remedy)


# ── Identical columns ─────────────────────────────────────────────────────────────────────────────

#: How many pairs of columns of a table may be identical by chance.
_PAIRS_BY_CHANCE = 1e-6


def _identical(
    columns: Sequence[Column], X: FloatArray, sample: FloatArray
) -> Iterator[TableFinding]:
    alike: defaultdict[Any, list[int]] = defaultdict(list)
    for k, (column, values) in enumerate(zip(columns, sample, strict=True)):
        alike[column.levels, blake2b(values.tobytes()).digest()].append(k)
    for group in alike.values():
        equal: defaultdict[bytes, list[int]] = defaultdict(list)
        for k in group if len(group) > 1 else ():
            equal[blake2b((X[:, k] + 0.0).tobytes()).digest()].append(k)
        for same in equal.values():
            if len(same) > 1 and _is_no_chance(X[:, same[0]], len(columns)):
                names = tuple(sorted(columns[k].name for k in same))
                problem, remedy = "the same value in every row", "leave out all but one"
                yield TableFinding("identical columns", names, None, problem, remedy)


def _is_no_chance(values: FloatArray, n_columns: int) -> bool:
    # Two columns of d with the values p_i are equal by chance with d² (∑ p_i²)^n at most.
    share = np.unique(values, return_counts=True)[1] / len(values)
    log_chance = len(values) * np.log(float(share @ share)) + 2.0 * np.log(n_columns)
    return bool(log_chance < np.log(_PAIRS_BY_CHANCE))
