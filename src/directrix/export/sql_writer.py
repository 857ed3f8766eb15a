"""The writer of SQL: bins, points, scores and probabilities as text in a dialect."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite, prod
from typing import NamedTuple

import numpy as np

from directrix._printing import is_unicode, printable
from directrix.cards.card import Card
from directrix.cards.reasons import bin_names, loss_columns, loss_table
from directrix.engines.sql_dialects import DIALECTS, Dialect
from directrix.estimators.scoring import ScoringFormula
from directrix.export.expressions import (
    MICROSECONDS,
    Between,
    Condition,
    Interval,
    OneOf,
    Term,
    cases,
    reduced,
    terms,
)
from directrix.moments.feature_map import FeatureMap, MappedColumn
from directrix.tables import LevelBins, NumberBins
from directrix.tables.bins import Bins
from directrix.tables.table import text_of

_BOOLEANS = ("False", "True")
#: Integers are added in 32 bits by some databases.
_LARGEST_SUM = 2**31 - 1
#: Log-odds beyond which a probability is 0 or 1 to 300 digits; PostgreSQL refuses to compute the
#: exponential of twice as much.
_MOST_LOG_ODDS = 700.0
#: Greater scores are treated as missing: NaN is the greatest number in most databases.
_LARGEST_SCORE = 1e100
#: Terms in a pair of brackets: databases parse a long sum into a tree as deep as the sum is long,
#: and some have a limit of a thousand.
_MOST_TERMS = 50
#: Combinations of bins that the loss of a column may depend on.
_MOST_LOSSES = 10_000


class _Reading(NamedTuple):
    """How one dialect reads a column."""

    is_nan: str | None  # template for a condition on a float; None if it is never NaN
    text_type: str
    microseconds: str  # template for the microseconds since 1970-01-01 of a date or timestamp
    text_number: str  # template for the number that a text {0} of a value {1} is
    is_number: str  # template for the condition that a value has a type with decimals
    is_boolean: str | None  # template; None if booleans are numbers
    text_suffix: str = ""  # makes equal texts those of equal characters


_READING = {
    "duckdb": _Reading(
        "isnan({})",
        "VARCHAR",
        "epoch_us({})",
        "TRY_CAST({} AS DOUBLE)",
        "typeof({0}) IN ('DOUBLE', 'FLOAT') OR typeof({0}) LIKE 'DECIMAL%'",
        "typeof({0}) = 'BOOLEAN'",
    ),
    "postgres": _Reading(
        "{} = CAST('NaN' AS DOUBLE PRECISION)",
        "TEXT",
        "EXTRACT(EPOCH FROM {}) * 1000000",
        "CAST({} AS DOUBLE PRECISION)",
        "CAST(pg_typeof({0}) AS TEXT) IN ('double precision', 'real', 'numeric')",
        "CAST(pg_typeof({0}) AS TEXT) = 'boolean'",
    ),
    "bigquery": _Reading(
        "IS_NAN({})",
        "STRING",
        "UNIX_MICROS(CAST({} AS TIMESTAMP))",
        "SAFE_CAST({} AS FLOAT64)",
        # There is no function for the type; the JSON of a text has quotes.
        "REGEXP_CONTAINS(TO_JSON_STRING({0}), '^-?[0-9]')",
        "TO_JSON_STRING({0}) IN ('true', 'false')",
    ),
    "snowflake": _Reading(
        "{} = CAST('NaN' AS DOUBLE)",
        "VARCHAR",
        "DATE_PART(EPOCH_MICROSECOND, {})",
        "TRY_CAST({} AS DOUBLE)",
        "SYSTEM$TYPEOF({0}) LIKE 'FLOAT%' OR (SYSTEM$TYPEOF({0}) LIKE 'NUMBER(%' "
        "AND SYSTEM$TYPEOF({0}) NOT LIKE 'NUMBER(%,0)%')",
        "SYSTEM$TYPEOF({0}) LIKE 'BOOLEAN%'",
    ),
    "spark": _Reading(
        "isnan({})",
        "STRING",
        "unix_micros(CAST({} AS TIMESTAMP))",
        "CAST({} AS DOUBLE)",
        "typeof({0}) IN ('double', 'float') OR typeof({0}) LIKE 'decimal%'",
        "typeof({0}) = 'boolean'",
    ),
    "clickhouse": _Reading(
        "isNaN({})",
        "Nullable(String)",
        "toUnixTimestamp64Micro(CAST({} AS Nullable(DateTime64(6, 'UTC'))))",
        "toFloat64OrNull({})",
        "toTypeName({0}) LIKE '%Float%' OR toTypeName({0}) LIKE '%Decimal%'",
        "toTypeName({0}) LIKE '%Bool%'",
    ),
    "sqlite": _Reading(
        None,
        "TEXT",
        # Dates are texts: date, time and a fraction, which SQLite would round to milliseconds.
        "(CAST(strftime('%s', substr({0}, 1, 19) || CASE WHEN length({0}) > 19 AND "
        "substr({0}, -6, 1) IN ('+', '-') THEN substr({0}, -6) ELSE '' END) AS INTEGER) * 1000000 "
        "+ CASE WHEN substr({0}, 20, 1) = '.' THEN "
        "CAST(substr(substr({0}, 21) || '000000', 1, 6) AS INTEGER) ELSE 0 END)",
        "{1}",  # the text of a number has 15 digits
        "typeof({0}) = 'real'",
        None,
        " COLLATE BINARY",  # a column may ignore case
    ),
}


@dataclass(frozen=True)
class SqlWriter:
    """Writes formulas in a dialect; as an `Arithmetic`, its values are SQL text.

    Missing values are NULL or NaN. A column is given as a value, an SQL expression such as its
    quoted name.
    """

    dialect: str

    @property
    def _syntax(self) -> Dialect:
        return DIALECTS[self.dialect]

    @property
    def _reading(self) -> _Reading:
        return _READING[self.dialect]

    # ── Bins ──────────────────────────────────────────────────────────────────────────────────────

    def case(self, bins: Bins, results: Sequence[str], value: str) -> str:
        """Return a ``CASE`` expression that is one of several results, by the cell of a value.

        Neighbouring bins with the same result share a condition, and so do levels.
        """
        (_, missing), *some, (_, otherwise) = cases(bins, results, self._can_hold)
        if bins.kind == "boolean":
            ((_, yes),) = some
            null = f"WHEN {value} IS NULL THEN {missing}"
            return f"CASE {null} WHEN {value} THEN {yes} ELSE {otherwise} END"
        if isinstance(bins, LevelBins):
            number = self._number_of_level(value)
            can_be_nan = any(_level_number(level) is not None for level in bins.levels)
        else:
            is_date = bins.kind == "date"
            read = self._reading.microseconds.format if is_date else self._syntax.cast
            number, can_be_nan = read(value), not is_date
        is_null = f"{number if bins.kind == 'date' else value} IS NULL"
        lines = [f"WHEN {is_null} THEN {missing}"]
        if can_be_nan and self._reading.is_nan is not None:
            lines.append(f"WHEN {self._reading.is_nan.format(number)} THEN {missing}")
        lines += [
            f"WHEN {self._condition(condition, bins, value, number)} THEN {result}"
            for condition, result in some
        ]
        return "\n  ".join(["CASE", *lines, f"ELSE {otherwise} END"])

    def _condition(self, condition: Condition, bins: Bins, value: str, number: str) -> str:
        """Return that a value is in a set, given also as a number; earlier ones do not hold."""
        match condition:
            case OneOf(levels) if bins.kind == "text":
                return self._is_level(list(map(str, levels)), value, number)
            case OneOf((special,)):
                return f"{number} = {self._syntax.double(float(special))}"
            case Between(first, last):
                return f"{number} BETWEEN {first} AND {last}"
            case Interval(_, float(bound)):
                return f"{number} <= {self._syntax.double(bound)}"
            case Interval(_, bound):
                return f"{number} <= {bound}"  # microseconds
        raise AssertionError(condition)

    def _is_level(self, levels: Sequence[str], value: str, number: str) -> str:
        """Return that a value is one of the levels; it may be a number or boolean instead of text.

        Databases write these in several ways (2 as ``2.0``, true as ``true``), and Python as ``2``
        and ``True``: levels that are numbers are also compared as numbers where the type of the
        column has decimals, and levels that are booleans as booleans.
        """
        label, text = self._syntax.label, self._text(value)
        conditions = [f"{text} {_is_one_of(list(map(label, levels)))}"]
        numbers = [x for x in map(_level_number, levels) if x is not None]
        if numbers:
            conditions.append(f"{number} {_is_one_of(list(map(self._syntax.double, numbers)))}")
        flags = [label(level.lower()) for level in levels if level in _BOOLEANS]
        if flags and self._reading.is_boolean is not None:
            is_boolean = self._reading.is_boolean.format(value)
            conditions.append(f"({is_boolean} AND {text} {_is_one_of(flags)})")
        return " OR ".join(conditions)

    def _number_of_level(self, value: str) -> str:
        """Return a value as a float if its type has decimals, otherwise NULL.

        It is read from its text: of float32 that is the shortest, as in Python. A cast that is not
        asked for a number is not evaluated in a CASE.
        """
        number = self._reading.text_number.format(self._text(value), value)
        return f"CASE WHEN {self._reading.is_number.format(value)} THEN {number} END"

    def _text(self, value: str) -> str:
        return f"CAST({value} AS {self._reading.text_type}){self._reading.text_suffix}"

    def _can_hold(self, text: str) -> bool:
        """Return whether the database can hold a text at all: if not, no row needs a condition."""
        return is_unicode(text) and not ("\0" in text and self.dialect == "postgres")

    # ── Sums ──────────────────────────────────────────────────────────────────────────────────────

    def points(self, card: Card, values: Sequence[str]) -> str:
        """Return the total points of a row, of integers if all points are.

        Numbers are added in the order of `Card.points`, up to fifty terms: sums are then equal to
        those of Python in every digit.
        """
        is_whole, double = has_integer_points(card), self._syntax.double
        literal = (lambda number: str(int(number))) if is_whole else double
        constant, written = 0.0, []
        for term in terms(card):
            if term.columns:
                written.append(self._term(term, card.bins, values, literal))
            elif not written:
                constant += float(term.points)
            elif term.points:  # added to the constant before it, the sum would be rounded otherwise
                written.append(literal(float(term.points)))
        return sum_sql([literal(constant), *written])

    def _term(
        self,
        term: Term,
        bins: Sequence[Bins],
        values: Sequence[str],
        literal: Callable[[float], str],
    ) -> str:
        """Return nested ``CASE`` expressions, the longest list of texts outside, written once."""
        columns, points = term
        order = sorted(range(len(columns)), key=lambda axis: -_n_levels(bins[columns[axis]]))
        outside, *inside = (columns[axis] for axis in order)
        points = points.transpose(order)
        results = [
            self._term(Term(tuple(inside), part), bins, values, literal)
            if inside
            else literal(float(part))
            for part in points
        ]
        return self.case(bins[outside], results, values[outside])

    def losses(self, card: Card, values: Sequence[str]) -> dict[int, str]:
        """Return what columns cost a row against their best bins, by their positions.

        Columns that never cost anything are left out.
        """
        written = {}
        for column, bins in enumerate(card.bins):
            columns = loss_columns(card, column)
            n_cells = prod(len(card.columns[k]) for k in columns)
            if n_cells > _MOST_LOSSES:
                msg = (
                    f"the reasons of column {bins.name!r} depend on {n_cells:,} combinations of "
                    f"bins, and SQL takes {_MOST_LOSSES:,}: fit with max_crosses=0, or use "
                    "classifier.reasons"
                )
                raise ValueError(msg)
            losses = loss_table(card, column)
            if losses.any():
                term = reduced(columns, losses)
                written[column] = self._term(term, card.bins, values, self._syntax.double)
        return written

    def bin_texts(self, card: Card, column: int, value: str) -> str:
        """Return the column and the bin of a value, as a text."""
        names = [printable(f"{card.bins[column].name}: {name}") for name in bin_names(card, column)]
        return self.case(card.bins[column], list(map(self._syntax.label, names)), value)

    def ranks(self, losses: Mapping[int, str]) -> dict[int, str]:
        """Return the rank of each loss, the greatest first, and zero for one that is zero.

        Of equal losses, that of the first column comes first. Losses are given by column.
        """
        ranks = {}
        for column, loss in losses.items():
            before = [
                f"CASE WHEN {other} {'>=' if position < column else '>'} {loss} THEN 1 ELSE 0 END"
                for position, other in losses.items()
                if position != column
            ]
            ranks[column] = f"CASE WHEN {loss} > 0 THEN {sum_sql(['1', *before])} ELSE 0 END"
        return ranks

    def reason(self, rank: int, ranks: Mapping[int, str], texts: Mapping[int, str]) -> str:
        """Return the text of the column of a rank; NULL if no column has it."""
        null = f"CAST(NULL AS {self._reading.text_type})"
        whens = "".join(f" WHEN {ranks[k]} = {rank} THEN {texts[k]}" for k in ranks)
        return f"CASE{whens} ELSE {null} END" if whens else null

    def score(self, formula: ScoringFormula, values: Sequence[str]) -> str:
        """Return the score; values are the points of a card, or the features of a linear score."""
        if formula.card is not None:
            (points,) = values
            return self._above_cutoff(formula.card, points)
        numbers = [self._syntax.cast(value) for value in values]
        return self._line(formula.coefficients, formula.intercept, numbers)

    def _line(self, coefficients: Sequence[float], intercept: float, numbers: Sequence[str]) -> str:
        weighted = zip(numbers, coefficients, strict=True)
        products = [self.multiply(number, weight) for number, weight in weighted if weight]
        return sum_sql([self._syntax.double(intercept), *products])

    def mapped(
        self, made: FeatureMap, coefficients: Sequence[float], values: Sequence[str]
    ) -> tuple[str, ...]:
        """Return what each column of a map adds to a score of its features; "" if nothing."""
        blocks = {name: [coefficients[k] for k in index] for name, index in made.blocks.items()}
        if any(blocks.get("cosines", ())):
            msg = "cosines are not written in SQL: learn from a summary with features='auto'"
            raise ValueError(msg)
        raw, levels, missing, hats = (
            iter(blocks.get(name, ())) for name in ("raw", "levels", "missing", "splines")
        )
        written = []
        for column, value in zip(made.columns, values, strict=True):
            slope = next(raw) if made.raw and column.kind != "text" else 0.0
            steps = [next(levels) for _ in column.levels]
            absent = next(missing) if column.missing else 0.0
            heights = [next(hats) for _ in column.knots]
            used = slope or absent or any(steps) or any(heights)
            weights = slope, steps, absent, heights
            written.append(self._mapped_column(column, value, *weights) if used else "")
        return tuple(written)

    def _mapped_column(
        self,
        column: MappedColumn,
        value: str,
        slope: float,
        steps: Sequence[float],
        absent: float,
        heights: Sequence[float],
    ) -> str:
        """Return steps by level, or a line and a spline with these heights at its knots."""
        double = self._syntax.double
        if column.kind == "text":
            results = [double(number) for number in (absent, 0.0, *steps)]
            return self.case(LevelBins(column.name, column.levels), results, value)
        results = [double(absent + slope * column.median)]
        if column.kind == "boolean":
            results += [double(0.0), double(slope)]
            return self.case(NumberBins(column.name, "boolean", (0.5,), ()), results, value)
        number = self._syntax.cast(value)
        if column.kind == "date":
            microseconds = self._syntax.cast(self._reading.microseconds.format(value))
            number = f"({microseconds} / {double(MICROSECONDS)})"
        line = [self.multiply(number, slope)] if slope else []
        pieces = [sum_sql([double(heights[0] if heights else 0.0), *line])]
        spans = zip(pairwise(column.knots), pairwise(heights), strict=True)
        for (left, right), (low, high) in spans:
            rise = self.multiply(f"({number} - {double(left)})", (high - low) / (right - left))
            pieces.append(sum_sql([double(low), *line, rise]))
        if heights:
            pieces.append(sum_sql([double(heights[-1]), *line]))
        bins = NumberBins(column.name, column.kind, column.knots, ())
        return self.case(bins, [*results, *pieces], value)

    def _above_cutoff(self, card: Card, points: str) -> str:
        number = self._syntax.cast(points) if has_integer_points(card) else points
        cutoff = self._syntax.double(card.cutoff)
        if not card.higher_is_last:
            return f"({cutoff} - {number})"
        return f"({number} - {cutoff})" if card.cutoff else number

    # ── Probabilities and labels ──────────────────────────────────────────────────────────────────

    def probability(self, formula: ScoringFormula, score: str) -> str:
        """Return the probability of the positive class."""
        return self._if_known(formula, score, formula.positive_probability(score, self))

    def prediction(self, formula: ScoringFormula, score: str) -> str:
        """Return the label: the last class above zero."""
        first, last = (self._syntax.label(label) for label in formula.classes)
        positive = f"{score} > {self._syntax.double(0.0)}"
        return self._if_known(formula, score, f"CASE WHEN {positive} THEN {last} ELSE {first} END")

    def add(self, value: str, number: float) -> str:
        """Return the value plus a number."""
        return f"({self._syntax.double(number)} + {value})"

    def multiply(self, value: str, number: float) -> str:
        """Return the value times a number."""
        return f"{self._syntax.double(number)} * {value}"

    def slopes(self, value: str, below: float, above: float) -> str:
        """Return the value times one number where it is below zero, and times another elsewhere."""
        double = self._syntax.double
        if below == above:
            return self.multiply(value, above)
        negative = f"{value} < {double(0.0)}"
        return f"CASE WHEN {negative} THEN {double(below)} ELSE {double(above)} END * {value}"

    def sigmoid(self, value: str) -> str:
        """Return 1 / (1 + exp(-value)), which never overflows.

        LEAST and GREATEST ignore NULL in some dialects: see `_if_known`.
        """
        one, far = self._syntax.double(1.0), self._syntax.double(_MOST_LOG_ODDS)
        near = f"{self._syntax.least}({far}, {self._syntax.greatest}(-{far}, {value}))"
        return f"({one} / ({one} + EXP(-{near})))"

    def _if_known(self, formula: ScoringFormula, score: str, expression: str) -> str:
        """Return an expression that is NULL unless the score is a number; that of a card is."""
        if formula.card is not None:
            return expression
        largest = self._syntax.double(_LARGEST_SCORE)
        return f"CASE WHEN {score} BETWEEN -{largest} AND {largest} THEN {expression} END"


def has_integer_points(card: Card) -> bool:
    """Return whether all points are integers whose sums a database keeps in 32 bits."""
    largest = sum(float(np.abs(points).max(initial=0.0)) for points in card.blocks)
    return card.is_whole and abs(card.intercept) + largest <= _LARGEST_SUM


def sum_sql(summands: list[str]) -> str:
    """Return a sum with brackets that keep its parse tree shallow.

    Examples
    --------
    >>> sum_sql(["1", "x", "y"])
    '(1 + x + y)'
    """
    while len(summands) > _MOST_TERMS:
        starts = range(0, len(summands), _MOST_TERMS)
        groups = [summands[start : start + _MOST_TERMS] for start in starts]
        summands = [f"({' + '.join(group)})" for group in groups]
    return f"({' + '.join(summands)})"


def _is_one_of(literals: Sequence[str]) -> str:
    """Return the end of a condition that a value is one of some literals."""
    return f"= {literals[0]}" if len(literals) == 1 else f"IN ({', '.join(literals)})"


def _level_number(level: str) -> float | None:
    """Return the number that has this text in a column of texts, None if there is none."""
    try:
        number = float(level)
    except ValueError:
        return None
    return number if isfinite(number) and text_of(number, "") == level else None


def _n_levels(bins: Bins) -> int:
    return len(bins.levels) if isinstance(bins, LevelBins) else 0
