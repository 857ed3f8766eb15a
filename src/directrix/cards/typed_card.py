"""Bins of a card that is typed in: read from their printed form, and checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from directrix._typing import FloatArray
from directrix.exceptions import TypedCardError
from directrix.tables.bins import Bins, LevelBins, NumberBins

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_BELOW = re.compile(rf"\s*<=\s*({_NUMBER})\s*")
_ABOVE = re.compile(rf"\s*>\s*({_NUMBER})\s*")
_BETWEEN = re.compile(rf"\s*({_NUMBER})\s+to\s+({_NUMBER})\s*")
_MISSING, _OTHER = "missing", "other"


def typed_bins(name: str, given: Any) -> tuple[Bins, FloatArray]:
    """Return the bins of a column, and the points of their cells, from bins as they are printed.

    A column is one of numbers if a bin is a range, of booleans if bins are True and False, else of
    texts. ``given`` is a dict from bins to points.
    """
    if not isinstance(given, Mapping) or not given:
        raise TypedCardError(name, given, "give a dict from bins to points")
    for key, value in given.items():
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not number or not np.isfinite(value):
            raise TypedCardError(name, key, f"its points must be a finite number, not {value!r}")
    rest = {key: float(value) for key, value in given.items() if key != _MISSING}
    missing = float(given.get(_MISSING, 0.0))
    if {*rest} <= {True, False} and all(isinstance(key, bool) for key in rest):
        values = [missing, rest.get(False, 0.0), rest.get(True, 0.0)]
        return NumberBins(name, "boolean", (0.5,), (0.0, 1.0)), np.array(values)
    if any(isinstance(key, str) and _range(key) is not None for key in rest):
        return _numbers(name, rest, missing)
    return _levels(name, rest, missing)


def _range(text: str) -> tuple[float, float] | None:
    """Return the ends of a printed range; None if the text is none."""
    if text.strip() == "any value":
        return -np.inf, np.inf
    below, above, between = (each.fullmatch(text) for each in (_BELOW, _ABOVE, _BETWEEN))
    if below:
        return -np.inf, float(below[1])
    if above:
        return float(above[1]), np.inf
    return (float(between[1]), float(between[2])) if between else None


def _numbers(name: str, given: Mapping[Any, float], missing: float) -> tuple[Bins, FloatArray]:
    ranges, special = {}, {}
    for key, value in given.items():
        ends = _range(key) if isinstance(key, str) else None
        if ends is not None:
            ranges[ends] = value
            continue
        try:
            special[float(key)] = value
        except (TypeError, ValueError):
            problem = "bins of numbers are '<= 5', '5 to 9', '> 9', special numbers and 'missing'"
            raise TypedCardError(name, key, problem) from None
    ordered = sorted(ranges)
    if ordered[-1][1] != np.inf or ordered[0][0] != -np.inf:
        problem = "the lowest bin must be '<= ...' and the highest '> ...'"
        raise TypedCardError(name, list(given), problem)
    for (_, end), (low, high) in pairwise([(0.0, -np.inf), *ordered]):
        if low != end or not low < high:
            problem = f"bins must meet, and one ends at {end:g} where the next begins at {low:g}"
            raise TypedCardError(name, list(given), problem)
    cuts = tuple(high for _, high in ordered[:-1])
    inner = [(low + high) / 2.0 for low, high in pairwise(cuts)]
    means = (cuts[0] - 1.0, *inner, cuts[-1] + 1.0) if cuts else (0.0,)
    bins = NumberBins(name, "number", cuts, means, tuple(sorted(special)), is_stated=True)
    points = [missing, *(ranges[each] for each in ordered), *(special[k] for k in sorted(special))]
    return bins, np.array(points)


def _levels(name: str, given: Mapping[Any, float], missing: float) -> tuple[Bins, FloatArray]:
    groups: list[tuple[list[str], float]] = []
    other = 0.0
    for key, value in given.items():
        if key == _OTHER:
            other = value
            continue
        members = list(key) if isinstance(key, tuple) else [key]
        for level in members:
            if not isinstance(level, str):
                problem = "levels are texts, or tuples of texts that share points"
                raise TypedCardError(name, key, problem)
            if any(level in known for known, _ in groups):
                raise TypedCardError(name, level, "a level has points twice")
        groups.append((members, value))
    if not groups:
        raise TypedCardError(name, list(given), "give points of one level at least")
    levels = sorted(level for members, _ in groups for level in members)
    by_first = sorted(groups, key=lambda group: min(group[0]))
    number = {level: k for k, (members, _) in enumerate(by_first) for level in members}
    grouped = len(by_first) < len(levels)
    of_level = tuple(number[level] for level in levels) if grouped else ()
    points = [missing, other, *(value for _, value in by_first)]
    return LevelBins(name, tuple(levels), (), of_level), np.array(points)
