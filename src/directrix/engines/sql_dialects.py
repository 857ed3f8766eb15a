"""SQL dialects: float types, quoting of names and text, and limits of names."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import frexp, ldexp
from typing import Any, NamedTuple

import numpy as np

from directrix._printing import is_unicode
from directrix.exceptions import SqlNameError

#: Characters that must be escaped in quoted text if the backslash is an escape character.
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Dialect(NamedTuple):
    """Syntax of names and values in one SQL dialect; `export.sql_writer` has that of columns."""

    float_type: str  # 64-bit, nullable
    number: str  # template for a float literal
    name_quote: str
    name_escape: str  # put before a quote within a name
    text_escape: str  # put before a quote within text
    ignores_case: bool = False  # whether names ignore case even in quotes
    name_bytes: int | None = None  # longer names are silently truncated to this length
    least: str = "LEAST"
    greatest: str = "GREATEST"
    nul: str | None = None  # the NUL character, if a quoted text cannot have it
    tiny: float = 0.0  # literals of numbers nearer to zero lose their last digit
    random: str = "RANDOM()"  # another number in each row

    def cast(self, expression: str) -> str:
        """Return an expression cast to float."""
        return f"CAST({expression} AS {self.float_type})"

    def double(self, value: float) -> str:
        """Return a float literal with all digits."""
        if 0 < abs(value) < self.tiny:
            return self._quotient(value)
        return self.number.format(f"{value:.16e}")

    def _quotient(self, value: float) -> str:
        """Return a tiny number as an integer divided by powers of two, which is exact."""
        mantissa, exponent = frexp(value)
        whole, shift = int(ldexp(mantissa, 53)), 53 - exponent
        powers = [*([62] * (shift // 62)), shift % 62]
        return f"({' / '.join(f'{number}.0' for number in (whole, *(2**k for k in powers)))})"

    def name(self, name: str) -> str:
        """Return a quoted name."""
        return _quoted(name, self.name_quote, self.name_escape)

    def key(self, name: str) -> bytes:
        """Return the form by which the database compares names; equal keys are the same name."""
        compared = name.lower() if self.ignores_case else name
        return compared.encode(errors="surrogatepass")[: self.name_bytes]

    def require_names(self, names: Sequence[str | None], noun: str, remedy: str) -> None:
        """Raise SqlNameError for names that are invalid in SQL or the same to the database.

        In ``names``, None stands for a name that the SQL does not mention. ``noun`` is the singular
        noun for the things named, such as "feature". ``remedy`` is what the user should do; the end
        of the message.
        """
        seen: dict[bytes, int] = {}
        for position, name in enumerate(names, start=1):
            if name is None:
                continue
            which = noun if len(names) == 1 else f"{noun} {position} of {len(names)}"
            if not name:
                msg = f"{which} has an empty name, which cannot be written in SQL: {remedy}"
                raise SqlNameError(msg, name, (position,))
            if "\0" in name:
                msg = f"{which} has a NUL character in its name {name!r}: {remedy}"
                raise SqlNameError(msg, name, (position,))
            if not is_unicode(name):
                msg = f"{which} has half of a surrogate pair in its name {name!r}: {remedy}"
                raise SqlNameError(msg, name, (position,))
            first = seen.setdefault(self.key(name), position)
            if first != position:
                reason = "upper and lower case are the same to this database"
                if not self.ignores_case:
                    reason = f"this database cuts names to {self.name_bytes} bytes"
                if names[first - 1] == name:
                    reason = "they are equal"
                msg = (
                    f"{noun} {first} and {noun} {position} would be one column, {name!r}, as "
                    f"{reason}: {remedy}"
                )
                raise SqlNameError(msg, name, (first, position))

    def label(self, label: Any) -> str:
        """Return the SQL literal of a label that the database returned."""
        label = label.item() if isinstance(label, np.generic) else label
        if isinstance(label, bool):
            return str(label).upper()
        if isinstance(label, float):
            return self.double(label)
        if isinstance(label, Decimal):
            return f"{label:f}"
        if isinstance(label, int):
            return str(label)
        if not is_unicode(label):
            msg = (
                f"SQL cannot hold the text {label!r}, which has half of a surrogate pair: replace "
                "it in the table before the fit"
            )
            raise ValueError(msg)
        parts = [label] if self.nul is None else label.split("\0")
        literals = [_quoted(part, "'", self.text_escape) for part in parts]
        return literals[0] if len(parts) == 1 else f"({f' || {self.nul} || '.join(literals)})"


DIALECTS = {
    "duckdb": Dialect("DOUBLE", "CAST({} AS DOUBLE)", '"', '"', "'", ignores_case=True),
    "postgres": Dialect(
        "DOUBLE PRECISION", "CAST({} AS DOUBLE PRECISION)", '"', '"', "'", name_bytes=63
    ),
    "bigquery": Dialect(
        *("FLOAT64", "CAST({} AS FLOAT64)", "`", "\\", "\\"), ignores_case=True, random="RAND()"
    ),
    # A number without quotes would be a decimal of at most 38 digits.
    "snowflake": Dialect("DOUBLE", "CAST('{}' AS DOUBLE)", '"', '"', "\\"),
    "spark": Dialect("DOUBLE", "CAST({} AS DOUBLE)", "`", "`", "\\", random="RAND()"),
    # Float64 would refuse NULL before it is counted; a number in quotes may lose its last digit.
    "clickhouse": Dialect(
        *("Nullable(Float64)", "CAST({} AS Float64)", "`", "\\", "\\"), random="rand64()"
    ),
    # A name in double quotes that is no column would be a text. MIN of several values is their
    # least; of texts with NUL, a literal ends there.
    "sqlite": Dialect(
        *("REAL", "{}", "`", "`", "'"),
        ignores_case=True,
        least="MIN",
        greatest="MAX",
        nul="char(0)",
        tiny=1e-250,
    ),
}


def _quoted(text: str, quote: str, escape: str) -> str:
    if escape == "\\":
        text = text.replace("\\", "\\\\")
        for character, escaped in _ESCAPES.items():
            text = text.replace(character, escaped)
    return quote + text.replace(quote, escape + quote) + quote
