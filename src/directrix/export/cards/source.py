"""The points of scorecards as Python source that reads raw values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from directrix.export.cards.content import card_entry, column_entries

if TYPE_CHECKING:
    from directrix.classifiers.scoring import CardFormula

_HEAD = '''"""Scores raw rows as a scorecard of directrix does; it needs no library.

A row is a mapping from names of columns to values, or the values in the order of COLUMNS. Values
are numbers, texts, booleans and dates; None and NaN are missing.
"""

{imports}

CLASSES = {classes!r}
COLUMNS = (
    {columns},
)
CARDS = (
    {cards},
)

_DAY = 86400 * 10**9  # nanoseconds
_NUMPY_TIMES = ("datetime64", "timedelta64")  # they have __float__, but in any unit
_POSITIONS = [{{v: k for k, v in enumerate(column.get("levels", ()))}} for column in COLUMNS]


def _values(row):
    if hasattr(row, "keys"):
        return [row[column["name"]] for column in COLUMNS]
    values = list(row)
    if len(values) != len(COLUMNS):
        raise ValueError(f"a row has {{len(COLUMNS)}} values, not {{len(values)}}")
    return values


def _is_missing(value):
    # The types of pandas are known by name; only NaN and NaT differ from themselves.
    return type(value).__name__ in ("NoneType", "NAType", "NaTType") or bool(value != value)


def _text(value):
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, str) or type(value).__name__ in ("bool", "bool_", *_NUMPY_TIMES):
        return str(value)
    if hasattr(value, "__index__"):
        return str(int(value))
    if not hasattr(value, "__float__"):
        return str(value)
    narrow = type(value).__name__ in ("float32", "float16")  # of NumPy
    number = float(str(value) if narrow else value)
    return str(int(number)) if number.is_integer() else repr(number)


def _days(value):
    """Return a date as days since 1970-01-01, in UTC, or a duration or time of day as days."""
    if hasattr(value, "total_seconds"):
        day, seconds, fine = value.days, value.seconds, value.microseconds * 1000
        fine += getattr(value, "nanoseconds", 0)
    else:
        day = value.toordinal() - 719163 if hasattr(value, "toordinal") else 0
        seconds = fine = 0
        if hasattr(value, "hour"):
            seconds = value.hour * 3600 + value.minute * 60 + value.second
            fine = value.microsecond * 1000 + getattr(value, "nanosecond", 0)
        if hasattr(value, "utcoffset") and hasattr(value, "toordinal"):
            offset = value.utcoffset()
            if offset is not None:
                seconds -= offset.days * 86400 + offset.seconds
                fine -= offset.microseconds * 1000
    whole, rest = divmod(seconds * 10**9 + fine, _DAY)
    return day + whole + rest / _DAY


def _number(value, column):
    kind = column["kind"]
    is_text, is_date = isinstance(value, str), hasattr(value, "toordinal")
    if kind == "boolean" and is_text and value.lower() in ("false", "true"):
        return float(value.lower() == "true")
{text_dates}    is_wrong = is_text or is_date != (kind == "date")
    if is_wrong or type(value).__name__ in _NUMPY_TIMES:
        raise TypeError(f"column {{column['name']!r}} takes a {{kind}}, not {{value!r}}")
    if is_date or hasattr(value, "total_seconds") or hasattr(value, "hour"):
        return _days(value)
    return float(value)


def _bin(value, column, position):
    """Return the name of a list of points, and the index of the value in it."""
    if _is_missing(value):
        return "missing", None
    if column["kind"] == "text":
        index = position.get(_text(value))
        return ("other", None) if index is None else ("levels", index)
    number = _number(value, column)
    if number in column["special_values"]:
        return "special_values", column["special_values"].index(number)
    return "bins", sum(cut < number for cut in column["cuts"])


def _entry(entries, where):
    name, index = where
    return entries[name] if index is None else entries[name][index]


def _card_points(row):
    bins = list(map(_bin, _values(row), COLUMNS, _POSITIONS))
    totals = []
    for card in CARDS:
        total = card["intercept"]
        for entries, where in zip(card["points"], bins):
            total += _entry(entries, where)
        for cross in card["crosses"]:
            i, j = [_entry(g, bins[k]) for k, g in zip(cross["columns"], cross["groups"])]
            total += cross["points"][i][j]
        totals.append(total)
    return totals


def _base_scores(row):
    return [
        total - card["cutoff"] if card["higher_is_last"] else card["cutoff"] - total
        for card, total in zip(CARDS, _card_points(row))
    ]


def points(row):
    """Return the points{of_each}, before the cutoff is subtracted."""
    return _card_points(row){only}
'''

_TEXT_DATES = """    if kind == "date" and is_text:  # ISO 8601; Python 3.10 does not know Z
        value = datetime.fromisoformat(value[:-1] + "+00:00" if value[-1:] == "Z" else value)
        is_text, is_date = False, True
"""


def card_source(formula: CardFormula, imports: str) -> str:
    """Return the first part of a module: the cards, and functions that add up their points.

    Parameters
    ----------
    formula : CardFormula
    imports : str
        Import statements of the second part, which turns ``_base_scores(row)`` into probabilities.
    """
    columns = column_entries(formula)
    has_dates = any(column["kind"] == "date" for column in columns)
    return _HEAD.format(
        imports=f"from datetime import datetime\n{imports}" if has_dates else imports,
        classes=formula.classes,
        columns=_lines(columns),
        cards=_lines([card_entry(card) for card in formula.cards]),
        text_dates=_TEXT_DATES if has_dates else "",
        of_each="" if formula.two_classes else " of each class",
        only="[0]" if formula.two_classes else "",
    )


def _lines(entries: list[Any]) -> str:
    return ",\n    ".join(map(repr, entries))
