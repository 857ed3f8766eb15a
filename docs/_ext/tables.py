"""Tables of metrics, generated from THE TABLE while the site is built.

A page says where a table goes by a comment, ``<!-- table: metrics -->``, which is replaced by the
table when Sphinx reads the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import MISSING, fields
from inspect import getdoc
from typing import TYPE_CHECKING, Any

from directrix.metrics import TABLE

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_MARKER = re.compile(r"<!-- table: (\w+) -->")

Cells = tuple[str, ...]


def metric_cells() -> list[Cells]:
    """Return the table of metrics: a header, then one row for every row of THE TABLE."""
    header = ("name", "class", "what it means", "better", "scikit-learn", "from moments")
    return [
        header,
        *(
            (
                f"`{row.name}`",
                f"`{constructor_call(row.example)}`",
                first_line(row.example),
                "higher" if row.example.greater_is_better else "lower",
                f"`{row.scikit_learn}`" if row.scikit_learn else "",
                row.from_moments,
            )
            for row in TABLE
        ),
    ]


TABLES = {"metrics": metric_cells}


def markdown(cells: Iterable[Cells]) -> str:
    """Return a table in Markdown; the first row is the header."""
    header, *rows = cells
    lines = [header, ("---",) * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def constructor_call(shown: Any) -> str:
    """Return the call that creates a dataclass, with the parameters that are not defaults."""
    given = [
        field.name if callable(value) else f"{field.name}={value!r}"
        for field in fields(shown)
        if (value := getattr(shown, field.name)) != field.default or field.default is MISSING
    ]
    return f"{type(shown).__name__}({', '.join(given)})"


def first_line(described: Any) -> str:
    """Return the first line of the docstring of an object's class."""
    return (getdoc(type(described)) or "").splitlines()[0]


def with_tables(text: str) -> str:
    """Return a page with its tables in place of the comments."""
    return _MARKER.sub(lambda match: markdown(TABLES[match[1]]()), text)


def _insert(_: Sphinx, __: str, source: list[str]) -> None:
    source[0] = with_tables(source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Insert the tables into every page as it is read."""
    app.connect("source-read", _insert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
