"""The tree that every export is written from: columns, sums, probabilities.

- *Sums* of columns times coefficients, or of the points of a card, are the scores of a
  `ScoringFormula`; what a card adds up are the `terms` of its columns and crosses.
- *Links* turn scores into probabilities: a `Response`, in the `Arithmetic` of a language.

Each language (SQL, ONNX, PMML, JSON, Python) has one writer. What a bin is, is said here once: as
conditions on values (`cases`), or as intervals between bounds (`Segments`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from directrix.tables import LevelBins

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.cards.card import Card
    from directrix.estimators.scoring import ScoringFormula
    from directrix.tables.bins import Bins

Category: TypeAlias = float | str | bool


def free_name(name: str, taken: set[str]) -> str:
    """Return a name that nothing has yet, by underscores at its end, and note it as taken."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


# ── Sums: what a card adds up ─────────────────────────────────────────────────────────────────────


class Term(NamedTuple):
    """Points that depend on the cells of no column, of one, or of two: an axis for each."""

    columns: tuple[int, ...]
    points: FloatArray


def terms(card: Card) -> Iterator[Term]:
    """Yield what a card adds up, in the order of `Card.points`.

    A column on which the points of a term do not depend is left out of it.
    """
    yield Term((), np.array(card.intercept))
    for k, points in enumerate(card.columns):
        yield reduced((k,), points)
    for cross in card.crosses:
        yield reduced(cross.columns, cross.points[np.ix_(*cross.merged)])


def reduced(columns: tuple[int, ...], points: FloatArray) -> Term:
    """Return points by the cells of columns, without the columns on which they do not depend."""
    kept = []
    for axis, column in enumerate(columns):
        first = points.take([0], axis)
        if bool((points == first).all()):
            points = first
        else:
            kept.append(column)
    return Term(tuple(kept), points.squeeze())


def used_features(formula: ScoringFormula) -> set[int]:
    """Return the positions of the features that the score depends on."""
    if formula.card is not None:
        return {k for term in terms(formula.card) for k in term.columns}
    return {k for k, coefficient in enumerate(formula.coefficients) if coefficient}


def features_to_read(formula: ScoringFormula) -> list[int]:
    """Return the positions of features that have a coefficient, points or a part in a cross.

    A card with the others left out adds up the same numbers in the same order, so that its points
    are equal in every digit.
    """
    card = formula.card
    if card is None:
        read = {k for k, coefficient in enumerate(formula.coefficients) if coefficient}
    else:
        read = {k for k, points in enumerate(card.columns) if points.any()}
        read |= {k for cross in card.crosses for k in cross.columns}
    return sorted(read)


def with_features(formula: ScoringFormula, positions: Sequence[int]) -> ScoringFormula:
    """Return a formula of some features, in this order; see `features_to_read`."""
    names, card, coefficients = formula.features, formula.card, formula.coefficients
    return replace(
        formula,
        features=None if names is None else tuple(names[k] for k in positions),
        coefficients=tuple(coefficients[k] for k in positions) if card is None else (),
        card=None if card is None else with_columns(card, positions),
    )


def with_columns(card: Card, positions: Sequence[int]) -> Card:
    """Return a card of some of its columns, in this order; see `features_to_read`."""
    index = {column: k for k, column in enumerate(positions)}
    return replace(
        card,
        columns=tuple(card.columns[k] for k in positions),
        bins=tuple(card.bins[k] for k in positions),
        counts=tuple(card.counts[k] for k in positions) if card.counts else (),
        crosses=tuple(
            replace(cross, columns=(index[cross.columns[0]], index[cross.columns[1]]))
            for cross in card.crosses
        ),
    )


# ── Bins: which values belong to a cell ───────────────────────────────────────────────────────────

MICROSECONDS = 86_400 * 10**6  # of a day


@dataclass(frozen=True)
class IsMissing:
    """The missing value."""


@dataclass(frozen=True)
class OneOf:
    """Some values: texts, one number, or one boolean."""

    values: tuple[Category, ...]


@dataclass(frozen=True)
class Between:
    """Dates from the first to the last microsecond since 1970-01-01."""

    first: int
    last: int


@dataclass(frozen=True)
class Interval:
    """Numbers, or microseconds of dates, above a bound and up to another; None is no bound."""

    above: float | None
    up_to: float | None


@dataclass(frozen=True)
class AnyValue:
    """Every value that no condition before it holds for."""


Condition: TypeAlias = IsMissing | OneOf | Between | Interval | AnyValue
Cases: TypeAlias = list[tuple[Condition, Any]]


def cases(
    bins: Bins, results: Sequence[Any], can_hold: Callable[[str], bool] = lambda _: True
) -> Cases:
    """Return conditions on a column with results, of which the first that holds counts.

    The first is that of a missing value, and the last holds for every value that is left.
    Neighbouring bins, and levels, with equal results share a condition. `can_hold` says whether a
    text can be stored at all: if not, no row has it.
    """
    missing = IsMissing(), results[bins.missing_cell]
    if isinstance(bins, LevelBins):
        by_result: dict[Any, list[str]] = {}
        for level, cell in zip(bins.levels, bins.level_cells, strict=True):
            if results[cell] != results[1] and can_hold(level):
                by_result.setdefault(results[cell], []).append(level)
        sets: Cases = [(OneOf(tuple(levels)), result) for result, levels in by_result.items()]
        return [missing, *sets, (AnyValue(), results[1])]
    if bins.kind == "boolean":
        no, yes = (results[int(cell)] for cell in bins.cells(np.array([0.0, 1.0])))
        return [missing, (OneOf((True,)), yes), (OneOf((False,)), no)]
    is_date = bins.kind == "date"
    made: Cases = [missing]
    for value, cell in bins.special_forms:
        made.append((_days(value) if is_date else OneOf((value,)), results[cell]))
    above: float | None = None
    for k, cut in enumerate(bins.cuts):
        if results[1 + k] != results[2 + k]:
            bound = last_microsecond(cut) if is_date else cut
            made.append((Interval(above, bound), results[1 + k]))
            above = bound
    last: Condition = AnyValue() if above is None else Interval(above, None)
    return [*made, (last, results[bins.n_ordered])]


def _days(days: float) -> Between:
    """Return the times that are read as this many days: several microseconds, if far from 1970."""
    first = last_microsecond(float(np.nextafter(days, -np.inf))) + 1
    return Between(first, last_microsecond(days))


@dataclass(frozen=True)
class Segments:
    """The values of a column as segments: 0 is missing, and each other one is part of one cell.

    The segments of numbers and dates are intervals, where a special value is an interval of its
    own: a value above k of the `bounds` (numbers, or microseconds since 1970-01-01) is in segment
    1 + k. Those of texts are the cells, with missing apart.
    """

    bins: Bins
    bounds: AnyArray
    cells: IntArray

    @classmethod
    def of(cls, bins: Bins) -> Segments:
        """Return the segments of a column."""
        if isinstance(bins, LevelBins):
            cells = np.arange(bins.n_cells)
            cells[0] = bins.missing_cell
            return cls(bins, np.empty(0), cells)
        special = np.array([value for value, _ in bins.special_forms])
        ends = np.unique([*bins.cuts, *np.nextafter(special, -np.inf), *special])
        # The upper end of a segment is part of it; the last segment has none.
        cells = bins.cells(np.array([np.nan, *ends, np.inf])).astype(np.int64)
        if bins.kind == "date":
            microseconds = [last_microsecond(end) for end in ends.tolist()]
            return cls(bins, np.array(microseconds, dtype=np.int64), cells)
        return cls(bins, ends, cells)


def last_microsecond(days: float) -> int:
    """Return the last microsecond since 1970-01-01 that is read as at most this many days.

    `Table` reads a time as whole days plus a rounded fraction; the comparison of microseconds must
    agree with that of days in every row.

    Examples
    --------
    >>> last_microsecond(1.5)
    129600000000
    """
    whole, rest = divmod(days, 1.0)
    low = int(whole) * MICROSECONDS + int(rest * MICROSECONDS)
    # Rounding is monotone, and moves a time by less than the spacing of floats at this number.
    width = 2 + int(np.spacing(abs(days)) * MICROSECONDS)
    low, high = low - 2 * width, low + 2 * width
    while high - low > 1:
        middle = (low + high) // 2
        days_read, rest_read = divmod(middle, MICROSECONDS)
        if days_read + rest_read / MICROSECONDS <= days:
            low = middle
        else:
            high = middle
    return low
