"""Dialects of SQL: the name of a float, the quotes around names, what a backslash means."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

#: What cannot stand in text between single quotes as it is, where a backslash has a meaning.
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


class Dialect(NamedTuple):
    """How one kind of database writes names and values."""

    float_type: str  # of 64 bits, and able to be NULL
    number: str  # a float, written with all its digits
    name_quote: str
    name_escape: str  # before a quote within a name
    text_escape: str  # before a quote within text

    def cast(self, expression: str) -> str:
        """Return an expression as a float."""
        return f"CAST({expression} AS {self.float_type})"

    def double(self, value: float) -> str:
        """Return a float with all its digits."""
        return self.number.format(f"{value:.16e}")

    def name(self, name: str) -> str:
        """Return a name in quotes."""
        return _quoted(name, self.name_quote, self.name_escape)

    def label(self, label: Any) -> str:
        """Return a label that a database gave as it is written in SQL."""
        label = label.item() if isinstance(label, np.generic) else label
        if isinstance(label, bool):
            return str(label).upper()
        if isinstance(label, float):
            return self.double(label)
        if isinstance(label, Decimal):
            return f"{label:f}"
        if isinstance(label, int):
            return str(label)
        return _quoted(label, "'", self.text_escape)


DIALECTS = {
    "duckdb": Dialect("DOUBLE", "CAST({} AS DOUBLE)", '"', '"', "'"),
    "postgres": Dialect("DOUBLE PRECISION", "CAST({} AS DOUBLE PRECISION)", '"', '"', "'"),
    "bigquery": Dialect("FLOAT64", "CAST({} AS FLOAT64)", "`", "\\", "\\"),
    # A number without quotes is a decimal of at most 38 digits.
    "snowflake": Dialect("DOUBLE", "CAST('{}' AS DOUBLE)", '"', '"', "\\"),
    "spark": Dialect("DOUBLE", "CAST({} AS DOUBLE)", "`", "`", "\\"),
    # Float64 refuses NULL before it can be counted; a number in quotes may lose its last digit.
    "clickhouse": Dialect("Nullable(Float64)", "CAST({} AS Float64)", "`", "\\", "\\"),
}


def _quoted(text: str, quote: str, escape: str) -> str:
    if escape == "\\":
        text = text.replace("\\", "\\\\")
        for character, escaped in _ESCAPES.items():
            text = text.replace(character, escaped)
    return quote + text.replace(quote, escape + quote) + quote
