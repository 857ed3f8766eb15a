"""A fitted classifier as the source of a Python module that needs no library."""

from __future__ import annotations

from typing import Any

from directrix.cards.card import Card
from directrix.cards.reasons import bin_names, reference_cells
from directrix.estimators.scoring import ScoringFormula
from directrix.export.plain_json import (
    by_bin,
    card_entry,
    cell_entry,
    column_entries,
    formula_to_read,
)

_LINES = '''"""Scores rows as a classifier of directrix does; it needs no library.

A row is a mapping from names of features to numbers, or the numbers in the order of FEATURES.
"""

from math import exp, fsum

CLASSES = {classes!r}
FEATURES = {features!r}
COEFFICIENTS = {coefficients!r}
INTERCEPT = {intercept!r}


def _values(row):
    if hasattr(row, "keys"):
        if FEATURES is None:
            raise TypeError("the features have no names: give the numbers in their order")
        return [row[name] for name in FEATURES]
    values = list(row)
    if len(values) != len(COEFFICIENTS):
        raise ValueError(f"a row has {{len(COEFFICIENTS)}} numbers, not {{len(values)}}")
    return values


def score(row):
    """Return the score: above zero the last class is predicted."""
    values = _values(row)
    return fsum([INTERCEPT, *(weight * value for weight, value in zip(COEFFICIENTS, values))])
'''

_CARDS = '''"""Scores raw rows as a scorecard of directrix does; it needs no library.

A row is a mapping from names of columns to values, or the values in the order of COLUMNS. Values
are numbers, texts, booleans and dates; None and NaN are missing.
"""

{imports}

CLASSES = {classes!r}
COLUMNS = [
    {columns}
]
CARD = {card!r}

_DAY = 86400 * 10**9  # nanoseconds
_NUMPY_TIMES = ("datetime64", "timedelta64")  # they have __float__, but in any unit
_POSITIONS = [{{v: k for k, v in enumerate(column.get("levels", ()))}} for column in COLUMNS]


def _values(row):
    if hasattr(row, "keys"):
        return [row[column["name"]] for column in COLUMNS]
    values = list(row)
    if len(values) != len(COLUMNS):
        many = len(COLUMNS)
        raise ValueError(f"a row has {{many}} values, those of COLUMNS, not {{len(values)}}")
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


def points(row):
    """Return the points, before the cutoff is subtracted."""
    bins = list(map(_bin, _values(row), COLUMNS, _POSITIONS))
    total = CARD["intercept"]
    for entries, where in zip(CARD["points"], bins):
        total += _entry(entries, where)
    for cross in CARD["crosses"]:
        i, j = [_entry(g, bins[k]) for k, g in zip(cross["columns"], cross["groups"])]
        total += cross["points"][i][j]
    return total


def score(row):
    """Return the score: above zero the last class is predicted."""
    total, cutoff = points(row), CARD["cutoff"]
    return total - cutoff if CARD["higher_is_last"] else cutoff - total
'''

_REASONS = '''

REASONS = {reasons!r}


def _moved(column, bins, where):
    """Return how points change if a column is taken to another bin."""
    here = bins[column]
    total = _entry(CARD["points"][column], where) - _entry(CARD["points"][column], here)
    for cross in CARD["crosses"]:
        for side in (0, 1):
            if cross["columns"][side] == column:
                groups, others = cross["groups"][side], cross["groups"][1 - side]
                other = _entry(others, bins[cross["columns"][1 - side]])
                lines = cross["points"] if side == 0 else list(zip(*cross["points"]))
                total += lines[_entry(groups, where)][other] - lines[_entry(groups, here)][other]
    return total


def reasons(row, k=4):
    """Return the columns that cost a row most points, with its bins and the points lost."""
    bins = list(map(_bin, _values(row), COLUMNS, _POSITIONS))
    found = []
    for column, cells in enumerate(REASONS["cells"]):
        moves = (_moved(column, bins, where) for where in cells)
        lost = max(REASONS["favour"] * move for move in moves)
        if lost > 0:
            found.append((-lost, column))
    return [
        {{
            "column": COLUMNS[column]["name"],
            "bin": _entry(REASONS["bins"][column], bins[column]),
            "points_lost": -lost,
        }}
        for lost, column in sorted(found)[:k]
    ]
'''

_TEXT_DATES = """    if kind == "date" and is_text:  # ISO 8601; Python 3.10 does not know Z
        value = datetime.fromisoformat(value[:-1] + "+00:00" if value[-1:] == "Z" else value)
        is_text, is_date = False, True
"""

_SIGMOID = """

def _sigmoid(log_odds):
    if log_odds < 0:
        share = exp(log_odds)
        return share / (1.0 + share)
    return 1.0 / (1.0 + exp(-log_odds))
"""

_PROBABILITIES = '''

def {name}(row):
    """Return the probability of the class {label}."""
    s = score(row)
    return {probability}


def probabilities(row):
    """Return the probability of each class, by its label."""
    p = {name}(row)
    return {{{each}}}
'''

_ABOVE_ZERO = '''

def predict(row):
    """Return the label."""
    return CLASSES[score(row) > 0]
'''


def to_python(classifier: Any, *, reasons: bool = False) -> str:
    """Return the source of a module with functions ``score``, ``probabilities`` and ``predict``.

    ``probabilities`` returns a dict by label. There is one more function, called after the positive
    class, such as ``probability_bad``. They take a row: a mapping from names to numbers, or a
    sequence of numbers. That of a `ScorecardClassifier` takes raw values
    (numbers, texts, booleans, dates, None), and has a function ``points`` too. Named features
    without coefficients, and named columns without points, are not asked for: a sequence has the
    values of the others, in the order of ``FEATURES`` or ``COLUMNS`` of the module. The module
    needs no library but that of Python 3.7 and later: ``math``, and ``datetime`` if a card has
    dates.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel
    reasons : bool
        For a card: whether the module has a function ``reasons`` too, which gives
        for a row the columns that cost it most points, as `ScorecardClassifier.reasons` does.

    Returns
    -------
    str

    Examples
    --------
    >>> from directrix import MomentClassifier
    >>> from directrix.export import to_python
    >>> classifier = MomentClassifier(sample=0).fit(
    ...     [[1.0], [2.0], [4.0], [5.0]], ["a", "a", "b", "b"]
    ... )
    >>> scope = {}
    >>> exec(to_python(classifier), scope)
    >>> scope["predict"]([6.5])
    'b'
    """
    formula = formula_to_read(classifier)
    if formula.card is None:
        if reasons:
            msg = "only a card has reasons in Python"
            raise ValueError(msg)
        head = _LINES.format(
            classes=formula.classes,
            features=formula.features,
            coefficients=formula.coefficients,
            intercept=formula.intercept,
        )
    else:
        head = _card_source(formula, formula.card)
        head += _reasons_source(formula.card) if reasons else ""
    values = ["1.0 - p", "1.0 - p"]
    values[formula.positive_index] = "p"
    probabilities = _PROBABILITIES.format(
        name=formula.probability_name,
        label=ascii(formula.classes[formula.positive_index]).replace("\\", "\\\\"),
        probability=formula.positive_probability("s", _PythonArithmetic()),
        each=", ".join(f"CLASSES[{k}]: {value}" for k, value in enumerate(values)),
    )
    return head + _SIGMOID + probabilities + _ABOVE_ZERO


def _card_source(formula: ScoringFormula, card: Card) -> str:
    columns = column_entries(card)
    has_dates = any(column["kind"] == "date" for column in columns)
    imports = "from math import exp"
    return _CARDS.format(
        imports=f"from datetime import datetime\n{imports}" if has_dates else imports,
        classes=formula.classes,
        columns=",\n    ".join(map(repr, columns)),
        card=card_entry(card),
        text_dates=_TEXT_DATES if has_dates else "",
    )


def _reasons_source(card: Card) -> str:
    columns = range(len(card.bins))
    found = {
        "favour": -1.0 if card.higher_is_positive else 1.0,
        "cells": [
            [cell_entry(card.bins[k], cell) for cell in reference_cells(card, k).tolist()]
            for k in columns
        ],
        "bins": [by_bin(card.bins[k], bin_names(card, k)) for k in columns],
    }
    return _REASONS.format(reasons=found)


class _PythonArithmetic:
    """Arithmetic whose values are Python expressions."""

    def add(self, value: str, number: float) -> str:
        return f"({number!r} + {value})"

    def multiply(self, value: str, number: float) -> str:
        return f"{number!r} * {value}"

    def slopes(self, value: str, below: float, above: float) -> str:
        if below == above:
            return self.multiply(value, above)
        return f"({below!r} if {value} < 0 else {above!r}) * {value}"

    def sigmoid(self, value: str) -> str:
        return f"_sigmoid({value})"
