"""Settings of a scorecard in a TOML or JSON file, for ``fit --config``."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from directrix.cli.reply import UsageError
from directrix.exceptions.columns import suggest_names

#: Keys about the rows, with the types of their values; options of the command line come first.
_ROWS: dict[str, tuple[type, ...]] = {
    "target": (str,),
    "columns": (list,),
    "drop": (list,),
    "weight": (str,),
    "positive": (str, int, float, bool),
}
#: Keys that are parameters of ScorecardClassifier.
_CARD = (
    *("metric", "guarantee", "limits", "points", "monotone", "learn_from", "cv"),
    *("max_lines", "max_columns", "max_crosses", "class_weight"),
)
#: Keys of the table ``binner``, which are parameters of Binner.
_BINNER = (
    *("max_bins", "min_rows", "min_level_rows"),
    *("special_values", "cuts", "groups", "missing_with"),
)
#: TOML has no null.
_NONE = "none"


@dataclass(frozen=True)
class CardSettings:
    """Settings of a scorecard: roles of columns, parameters of the classifier and of its binner."""

    rows: dict[str, Any] = field(default_factory=dict)
    card: dict[str, Any] = field(default_factory=dict)
    binner: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str) -> CardSettings:
        """Read a file; raise an error that names the key which is wrong."""
        content = read_settings(path)
        allowed = (*_ROWS, *_CARD, "binner")
        _require_known(path, content, allowed, "")
        for key, types in _ROWS.items():
            if key in content and not isinstance(content[key], types):
                expected = "a list of columns" if list in types else "a text"
                msg = f"{path}: {key} must be {expected}, not {content[key]!r}"
                raise UsageError(msg)
        binner = content.get("binner", {})
        if not isinstance(binner, dict):
            msg = f"{path}: binner must be a table of parameters, not {binner!r}"
            raise UsageError(msg)
        _require_known(path, binner, _BINNER, "binner.")
        card = {key: content[key] for key in _CARD if key in content}
        card = {key: None if value == _NONE else value for key, value in card.items()}
        return cls({key: content[key] for key in _ROWS if key in content}, card, binner)

    def text(self, key: str) -> str | None:
        """Return a setting about the rows as an option of the command line, None without one."""
        return str(self.rows[key]) if key in self.rows else None

    def columns(self, key: str) -> list[str] | None:
        """Return columns as an option, in quotes since names may have commas; None without any."""
        if key not in self.rows:
            return None
        quoted = (str(name).replace('"', '""') for name in self.rows[key])
        return [f'"{name}"' for name in quoted]

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a ScorecardClassifier, without the metric."""
        from directrix.models.card import IntegerPoints, PointsToDoubleOdds
        from directrix.tables import Binner

        parameters = {key: value for key, value in self.card.items() if key != "metric"}
        points = parameters.get("points")
        if isinstance(points, dict):
            scale = IntegerPoints if "largest" in points else PointsToDoubleOdds
            try:
                parameters["points"] = scale(**points)
            except TypeError:
                known = "pdo, base_points, base_odds and rounded, or largest"
                msg = f"points must be 'pdo', 'integer', or a table with {known}, not {points!r}"
                raise UsageError(msg) from None
        if self.binner:
            parameters["binner"] = Binner(**self.binner)
        return parameters


def read_settings(path: str) -> dict[str, Any]:
    """Return the keys of a file: JSON by its name, else TOML."""
    text = Path(path).read_text(encoding="utf-8-sig")
    is_json = path.lower().endswith(".json")
    try:
        content = json.loads(text) if is_json else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        msg = f"{path} is not {'JSON' if is_json else 'TOML'}: {error}"
        raise UsageError(msg) from None
    if not isinstance(content, dict):
        msg = f"{path} must be a table of settings, not {content!r}"
        raise UsageError(msg)
    return content


def _require_known(path: str, content: dict[str, Any], known: tuple[str, ...], table: str) -> None:
    for key in content:
        if key not in known:
            listed = ", ".join(known)
            suggestion = suggest_names(key, known) or "."
            msg = f"{path} has an unknown key {table + key!r}{suggestion} The keys are {listed}."
            raise UsageError(msg)
