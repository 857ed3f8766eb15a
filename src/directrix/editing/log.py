"""Edits of a card as they are shown and stored: lines, prices, and a log that replays."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from directrix._printing import html_table, text_table
from directrix.editing.edited import EditPrice
from directrix.exceptions import EditError
from directrix.files.atomic import atomic_file

#: Version of saved editors and of logs of edits.
LAYOUT = 1


class EditLine(NamedTuple):
    """A line of a column that can be edited: its number, bins, training rows and points.

    ``rate`` is the share of positives; it and ``rows`` are NaN for a cross. ``is_fixed`` says
    whether the points were given.
    """

    index: int  # type: ignore[assignment]  # a field, not the method of tuples
    label: str
    rows: float
    rate: float
    points: float
    is_fixed: bool


class EditPrices(tuple[EditPrice, ...]):
    """The card before all edits, then the price of each edit; for ``print`` and notebooks."""

    __slots__ = ()

    @property
    def _texts(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for number, price in enumerate(self):
            value, gap = price.expected, price.gap
            shown = (f"{price.metric:.4f}", f"{value.value:.4f}")
            ends = f"{value.low:.4f} to {value.high:.4f}"
            gaps = (price.step.numbers, gap.numbers) if number else ("", "")
            rows.append((str(number), price.edit, str(price.lines), *shown, ends, *gaps))
        return rows

    _HEADER = (
        "",
        "edit",
        "lines",
        "held out",
        "expected",
        "95 % interval",
        "gap of this edit",
        "gap to the card before all edits",
    )

    def __str__(self) -> str:
        return "\n".join(text_table([self._HEADER, *self._texts], left=(1, 5, 6, 7)))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self._HEADER, self._texts)

    def to_frame(self) -> Any:
        """Return the prices as a pandas data frame, one row for each edit."""
        import pandas as pd

        names = ("edit", "lines", "metric", "expected", "low", "high")
        gaps = ("gap", "gap_low", "gap_high", "step", "step_low", "step_high")
        rows = [(*price[:3], *price.expected, *price.gap, *price.step) for price in self]
        return pd.DataFrame(rows, columns=[*names, *gaps])


class EditLog(tuple[dict[str, Any], ...]):
    """Edits in their order, as dicts; they print as code, and are applied by `CardEditor.apply`."""

    __slots__ = ()

    def __str__(self) -> str:
        return "\n".join(f"edit = edit.{edit_text(each)}" for each in self)

    def to_json(self) -> str:
        """Return the edits as JSON."""
        return json.dumps({"layout": LAYOUT, "edits": list(self)}, indent=1)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write `to_json` to a file, completely or not at all.

        Parameters
        ----------
        path : str or path
        """
        with atomic_file(path) as file:
            file.write(self.to_json().encode())

    @classmethod
    def read(cls, edits: Any) -> EditLog:
        """Return edits given as a log, dicts, JSON text or the path of a JSON file.

        Parameters
        ----------
        edits : EditLog, sequence of dicts, str or path
        """
        if isinstance(edits, str | os.PathLike):
            text = str(edits)
            is_text = isinstance(edits, str) and text.lstrip()[:1] in ("{", "[")
            given = json.loads(text if is_text else Path(edits).read_text(encoding="utf-8"))
            if isinstance(given, dict) and "edits" in given:
                require_version(given.get("layout", LAYOUT), "these are edits")
                given = given["edits"]
            edits = given
        if not isinstance(edits, Sequence) or not all(isinstance(each, dict) for each in edits):
            msg = "edits must be a list of dicts such as {'edit': 'drop', 'column': 'age'}"
            raise EditError(msg)
        return cls(dict(each) for each in edits)


def require_version(layout: Any, noun: str) -> None:
    """Raise EditError for a file of another version than this program writes."""
    if layout != LAYOUT:
        msg = f"{noun} of another version: {layout}, and this program reads {LAYOUT}"
        raise EditError(msg)


def edit_text(edit: Mapping[str, Any]) -> str:
    """Return an edit as the call of a method."""
    kind, column = edit["edit"], edit["column"]
    given: tuple[Any, ...] = ()
    if kind == "merge":
        given = edit["from"], edit["to"]
    elif kind == "points":
        given = (dict(map(tuple, edit["points"])),)
    elif kind in ("cuts", "join_missing", "monotone"):
        given = (edit[{"cuts": "cuts", "join_missing": "to", "monotone": "direction"}[kind]],)
    return f"{kind}({', '.join(map(repr, (column, *given)))})"
