"""Features of a pipeline as SQL expressions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from directrix.engines.sql_dialects import DIALECTS, Dialect
from directrix.export.pipelines.expressions import (
    Binned,
    Calculated,
    Clipped,
    Expression,
    Filled,
    Lookup,
    RawColumn,
)
from directrix.export.sql.cells import (
    can_be_stored,
    case_of_value,
    is_nan_sql,
    is_one_of,
    text_sql,
)


@dataclass(frozen=True)
class FeatureWriter:
    """Writes expressions of raw columns in a dialect of SQL.

    Missing values are NULL or NaN.

    Parameters
    ----------
    columns : sequence of str
        Names of the raw columns.
    dialect : str
        One of `DIALECTS`.
    """

    columns: Sequence[str]
    dialect: str

    def write(self, expression: Expression) -> str:
        """Return an expression as SQL."""
        text: str = getattr(self, _METHODS[type(expression)])(expression)
        return text

    def _column(self, column: RawColumn) -> str:
        return self._syntax.name(self.columns[column.position])

    def _filled(self, filled: Filled) -> str:
        if isinstance(filled.fill, str):
            text = text_sql(self.write(filled.value), self.dialect)
            return f"COALESCE({text}, {self._syntax.label(filled.fill)})"
        number, missing = self._number(filled.value)
        return f"CASE WHEN {missing} THEN {self._syntax.double(filled.fill)} ELSE {number} END"

    def _calculated(self, calculated: Calculated) -> str:
        number, _ = self._number(calculated.value)
        return f"({number} {calculated.operator} {self._syntax.double(calculated.number)})"

    def _clipped(self, clipped: Clipped) -> str:
        number, missing = self._number(clipped.value)
        low, high = self._syntax.double(clipped.low), self._syntax.double(clipped.high)
        # LEAST and GREATEST would take a bound for NULL in some databases.
        return (
            f"CASE WHEN {missing} THEN {self._result(None)} WHEN {number} < {low} THEN {low} "
            f"WHEN {number} > {high} THEN {high} ELSE {number} END"
        )

    def _binned(self, binned: Binned) -> str:
        results = list(map(self._syntax.double, binned.numbers))
        return case_of_value(binned.bins, results, self.write(binned.value), self.dialect)

    def _lookup(self, lookup: Lookup) -> str:
        kind = type(next(iter(lookup.categories), ""))
        if kind is float:
            value, missing = self._number(lookup.value)
        else:
            raw = self.write(lookup.value)
            value = raw if kind is bool else text_sql(raw, self.dialect)
            missing = f"{raw} IS NULL"
        unknown = self._result(lookup.unknown)
        by_result: dict[str, list[str]] = {}
        for category, number in zip(lookup.categories, lookup.numbers, strict=True):
            if isinstance(category, str) and not can_be_stored(category, self.dialect):
                continue
            literals = by_result.setdefault(self._result(number), [])
            literals.append(self._syntax.label(category))
        by_result.pop(unknown, None)
        cases = [
            f"WHEN {value} {is_one_of(literals)} THEN {result}"
            for result, literals in by_result.items()
        ]
        first = f"CASE WHEN {missing} THEN {self._result(lookup.missing)}"
        return " ".join([first, *cases, f"ELSE {unknown} END"])

    def _number(self, value: Expression) -> tuple[str, str]:
        """Return a value as a float, and the condition that it is missing."""
        text = self.write(value)
        number = text if _is_float(value) else self._syntax.cast(text)
        return number, f"{text} IS NULL OR {is_nan_sql(number, self.dialect)}"

    def _result(self, number: float | None) -> str:
        null = f"CAST(NULL AS {self._syntax.float_type})"
        return null if number is None else self._syntax.double(number)

    @property
    def _syntax(self) -> Dialect:
        return DIALECTS[self.dialect]


def _is_float(value: Expression) -> bool:
    """Return whether an expression is written as a float."""
    if isinstance(value, Filled):
        return not isinstance(value.fill, str)
    return not isinstance(value, RawColumn)


#: The method that writes each kind of expression.
_METHODS = {
    RawColumn: "_column",
    Filled: "_filled",
    Calculated: "_calculated",
    Clipped: "_clipped",
    Binned: "_binned",
    Lookup: "_lookup",
}
