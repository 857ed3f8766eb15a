"""Expressions: what a pipeline computes from raw columns, one feature at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from directrix.tables.bins import Bins

Category: TypeAlias = float | str | bool


@dataclass(frozen=True)
class RawColumn:
    """A column of the table.

    Parameters
    ----------
    position : int
    """

    position: int


@dataclass(frozen=True)
class Filled:
    """A value, or another where it is missing.

    Parameters
    ----------
    value : Expression
    fill : float or str
        If it is a text, so is the value.
    """

    value: Expression
    fill: float | str


@dataclass(frozen=True)
class Calculated:
    """The result of an operation on a number and a constant.

    Parameters
    ----------
    value : Expression
    operator : {"+", "-", "*", "/"}
    number : float
    """

    value: Expression
    operator: str
    number: float


@dataclass(frozen=True)
class Clipped:
    """A number, or the end of an interval that it is beyond.

    Parameters
    ----------
    value : Expression
    low, high : float
    """

    value: Expression
    low: float
    high: float


@dataclass(frozen=True)
class Lookup:
    """A number for each category.

    Parameters
    ----------
    value : Expression
    categories : tuple of float, str or bool
        All of one type.
    numbers : tuple of float
        One for each category.
    missing, unknown : float or None
        That of a missing value, and of any other; None is missing.
    """

    value: Expression
    categories: tuple[Category, ...]
    numbers: tuple[float, ...]
    missing: float | None
    unknown: float | None


@dataclass(frozen=True)
class Binned:
    """A number for each cell of a column.

    Parameters
    ----------
    value : Expression
    bins : NumberBins or LevelBins
    numbers : tuple of float
        One for each cell.
    """

    value: Expression
    bins: Bins
    numbers: tuple[float, ...]


Expression: TypeAlias = RawColumn | Filled | Calculated | Clipped | Lookup | Binned


def raw_position(expression: Expression) -> int:
    """Return the position of the raw column that an expression depends on."""
    while not isinstance(expression, RawColumn):
        expression = expression.value
    return expression.position
