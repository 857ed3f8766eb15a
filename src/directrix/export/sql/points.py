"""The points of a card as one SQL expression of raw columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.engines.sql_dialects import DIALECTS
from directrix.export.sql.cells import case_of_value
from directrix.export.sql.sums import sum_sql
from directrix.tables import LevelBins
from directrix.tables.bins import Bins

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.models.card import Card

#: Integers are added in 32 bits by some databases.
_LARGEST_SUM = 2**31 - 1


class Term(NamedTuple):
    """Points that depend on the cells of no column, of one, or of two.

    Parameters
    ----------
    columns : tuple of int
        Positions of the columns.
    points : array
        With an axis for the cells of each column.
    """

    columns: tuple[int, ...]
    points: FloatArray


def terms(card: Card) -> Iterator[Term]:
    """Yield what a card adds up, in the order of `Card.points`.

    A column on which the points of a term do not depend is left out of it.
    """
    yield Term((), np.array(card.intercept))
    for k, points in enumerate(card.columns):
        yield _reduced((k,), points)
    for cross in card.crosses:
        yield _reduced(cross.columns, cross.points[np.ix_(*cross.merged)])


def used_columns(cards: Sequence[Card]) -> set[int]:
    """Return the positions of the columns that the points of some card depend on."""
    return {column for card in cards for term in terms(card) for column in term.columns}


def has_integer_points(card: Card) -> bool:
    """Return whether all points are integers whose sums a database keeps in 32 bits."""
    largest = sum(float(np.abs(points).max(initial=0.0)) for points in card.blocks)
    return card.is_whole and abs(card.intercept) + largest <= _LARGEST_SUM


def points_sql(card: Card, values: Sequence[str], dialect: str) -> str:
    """Return the total points of a row as an SQL expression, of integers if all points are.

    Numbers are added in the order of `Card.points`, up to fifty terms: sums are then equal to those
    of Python in every digit.

    Parameters
    ----------
    card : Card
    values : sequence of str
        An SQL expression for each column; most often its quoted name.
    dialect : str
        One of `DIALECTS`.
    """
    literal = _integer if has_integer_points(card) else DIALECTS[dialect].double
    constant, written = 0.0, []
    for term in terms(card):
        if term.columns:
            written.append(_term_sql(term, card.bins, values, dialect, literal))
        elif not written:
            constant += float(term.points)
        elif term.points:  # added to the constant before it, the sum would be rounded otherwise
            written.append(literal(float(term.points)))
    return sum_sql([literal(constant), *written])


def _reduced(columns: tuple[int, ...], points: FloatArray) -> Term:
    """Return a term without the columns on which its points do not depend."""
    kept = []
    for axis, column in enumerate(columns):
        first = points.take([0], axis)
        if bool((points == first).all()):
            points = first
        else:
            kept.append(column)
    return Term(tuple(kept), points.squeeze())


def _term_sql(
    term: Term,
    bins: Sequence[Bins],
    values: Sequence[str],
    dialect: str,
    literal: Callable[[float], str],
) -> str:
    """Return nested ``CASE`` expressions, the longest list of texts outside, where it is once."""
    columns, points = term
    if len(columns) == 2 and _n_levels(bins[columns[0]]) < _n_levels(bins[columns[1]]):
        columns, points = (columns[1], columns[0]), points.T
    last = columns[-1]
    rows = np.atleast_2d(points).tolist()
    cases = [
        case_of_value(bins[last], list(map(literal, row)), values[last], dialect) for row in rows
    ]
    if len(columns) == 1:
        return cases[0]
    return case_of_value(bins[columns[0]], cases, values[columns[0]], dialect)


def _n_levels(bins: Bins) -> int:
    return len(bins.levels) if isinstance(bins, LevelBins) else 0


def _integer(number: float) -> str:
    return str(int(number))
