"""A reader of the JSON of a scorecard, written from ``docs/export.md`` and nothing else."""

from __future__ import annotations

from bisect import bisect_left
from datetime import date, datetime
from math import exp
from typing import Any


def score_row(model: dict[str, Any], row: list[Any]) -> tuple[Any, Any, Any, Any]:
    """Return points, score, probability and label of the raw values of a row."""
    card, response = model["card"], model["probability"]
    points = card_points(card, model["columns"], row)
    score = (1 if card["higher_is_last"] else -1) * (points - card["cutoff"])
    z = response["offset"] + (response["below"] if score < 0 else response["above"]) * score
    share = 1 / (1 + exp(-z)) if z >= 0 else exp(z) / (1 + exp(z))
    share = 1 - share if response["one_minus"] else share
    return points, score, share, model["classes"][score > 0]


def card_points(card: dict[str, Any], columns: list[dict[str, Any]], row: list[Any]) -> float:
    """Return the points of a row by the card."""
    total = card["intercept"]
    for column, points, value in zip(columns, card["points"], row, strict=True):
        total += by_bin(column, points, value)
    for cross in card["crosses"]:
        pairs = zip(cross["columns"], cross["groups"], strict=True)
        i, j = (by_bin(columns[k], groups, row[k]) for k, groups in pairs)
        total += cross["points"][i][j]
    return total


def by_bin(column: dict[str, Any], entries: dict[str, Any], value: Any) -> Any:
    """Return the entry of the bin of a value."""
    if value is None or value != value:  # noqa: PLR0124 - NaN
        return entries["missing"]
    if column["kind"] == "text":
        if value not in column["levels"]:
            return entries["other"]
        return entries["levels"][column["levels"].index(value)]
    number = days(value) if column["kind"] == "date" else float(value)
    if number in column["special_values"]:
        return entries["special_values"][column["special_values"].index(number)]
    return entries["bins"][bisect_left(column["cuts"], number)]


def days(value: date) -> float:
    """Return the days since 1970-01-01 of a date or of a time in UTC."""
    whole = value.toordinal() - date(1970, 1, 1).toordinal()
    if not isinstance(value, datetime):
        return float(whole)
    seconds = value.hour * 3600 + value.minute * 60 + value.second
    return whole + (seconds * 10**6 + value.microsecond) / (86_400 * 10**6)
