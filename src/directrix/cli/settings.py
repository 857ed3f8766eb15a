"""Settings of a scorecard in a TOML or JSON file, for ``fit --config``, and of a document."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any

from directrix.cli.reply import UsageError
from directrix.exceptions.columns import suggest_names

#: Keys about the rows, with the types of their values; options of the command line come first.
_ROWS: dict[str, tuple[type, str]] = {
    "target": (str, "a text"),
    "columns": (list, "a list of columns"),
    "drop": (list, "a list of columns"),
    "weight": (str, "a text"),
}
#: TOML has no null.
_NONE = "none"


@dataclass(frozen=True)
class CardSettings:
    """Settings of a scorecard: roles of columns, parameters of the classifier and of its binner."""

    rows: dict[str, Any] = field(default_factory=dict)
    card: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str) -> CardSettings:
        """Read a file; raise an error that names the key which is wrong."""
        from directrix.estimators import ScorecardClassifier
        from directrix.tables import Binner

        content = read_settings(path)
        binner = content.get("binner", {})
        _require_known(path, content, (*_ROWS, *signature(ScorecardClassifier).parameters), "")
        for key, (expected, noun) in {**_ROWS, "binner": (dict, "a table of parameters")}.items():
            if not isinstance(content.get(key, expected()), expected):
                msg = f"{path}: {key} must be {noun}, not {content[key]!r}"
                raise UsageError(msg)
        _require_known(path, binner, signature(Binner).parameters, "binner.")
        roles = {key: content[key] for key in (*_ROWS, "positive") if key in content}
        card = {
            key: None if value == _NONE else value
            for key, value in content.items()
            if key not in roles
        }
        return cls(roles, card)

    def text(self, key: str) -> str | None:
        """Return a setting about the rows as an option of the command line, None without one."""
        return str(self.rows[key]) if key in self.rows else None

    def columns(self, key: str) -> list[str] | None:
        """Return columns as an option, in quotes since names may have commas; None without any."""
        if key not in self.rows:
            return None
        return ['"' + str(name).replace('"', '""') + '"' for name in self.rows[key]]

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of a ScorecardClassifier."""
        from directrix.estimators import IntegerPoints, PointsToDoubleOdds
        from directrix.tables import Binner

        parameters, points = dict(self.card), self.card.get("points")
        if isinstance(points, dict):
            scale = IntegerPoints if "largest" in points else PointsToDoubleOdds
            try:
                parameters["points"] = scale(**points)
            except TypeError:
                known = "or a table with pdo, base_points, base_odds and rounded, or largest"
                msg = f"points must be 'integer', 'pdo', 'log-odds', {known}, not {points!r}"
                raise UsageError(msg) from None
        if "binner" in parameters:
            parameters["binner"] = Binner(**parameters["binner"])
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


def _require_known(path: str, content: dict[str, Any], known: Iterable[str], table: str) -> None:
    names = tuple(known)
    for key in content:
        if key not in names:
            suggestion = suggest_names(key, names) or "."
            listed = ", ".join(names)
            msg = f"{path} has an unknown key {table + key!r}{suggestion} The keys are {listed}."
            raise UsageError(msg)
