"""Record of a fit: the output of ``fit --json``, read back and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from directrix.cli.output.errors import UsageError


class Estimate(NamedTuple):
    """A value and its interval; None for what is unknown."""

    value: float | None
    low: float | None
    high: float | None


class Candidate(NamedTuple):
    """A candidate of the fit, its metric, and the standard error of the metric over folds."""

    name: str
    metric: float | None
    error: float | None


class FitRecord(NamedTuple):
    """The candidates of a fit, and the choice among them.

    Parameters
    ----------
    candidates : tuple of Candidate
    compared_on : str
        Rows that they were compared on.
    chosen, why : str
        Name of the chosen candidate, and the reason for the choice.
    expected : Estimate
        Expected metric of the chosen candidate on new rows.
    gap : Estimate
        How much better it is than the baseline.
    baseline : str
        What it is compared with, such as logistic regression.
    no_better_than_constant : bool
        Whether the interval of the expected metric reaches what a constant prediction gets.
    """

    candidates: tuple[Candidate, ...]
    compared_on: str
    chosen: str
    why: str
    expected: Estimate
    gap: Estimate
    baseline: str
    no_better_than_constant: bool = False


def read_fit_record(path: str) -> FitRecord | None:
    """Read the output of ``fit --json`` from a file; return None if it lists no candidates.

    Raises
    ------
    UsageError
        If the file is something else; the message names the wrong field.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        msg = f"{path} is not JSON ({error}): give the output of directrix fit --json"
        raise UsageError(msg) from None
    fields = _Fields(path, "", content)
    fields.text("classifier")
    if "candidates" not in fields.values:
        return None
    candidates = tuple(
        Candidate(entry.text("name"), entry.number("metric"), entry.number("error"))
        for entry in fields.objects("candidates")
    )
    if not candidates:
        return None
    expected = fields.nested("expected_on_new_rows")
    gap = fields.nested("better_than")
    return FitRecord(
        candidates,
        fields.text("compared_on"),
        fields.text("chosen"),
        fields.text("why"),
        expected.estimate("value"),
        gap.estimate("mean"),
        gap.text("baseline"),
        fields.flag("no_better_than_constant"),
    )


class _Fields:
    """Fields of a JSON object, checked when they are read.

    Parameters
    ----------
    path : str
        The file, for messages.
    prefix : str
        Names of the fields that lead to the object, followed by a dot; "" for the whole file.
    values : object
        The parsed JSON.
    """

    def __init__(self, path: str, prefix: str, values: Any) -> None:
        self.path, self.prefix = path, prefix
        if not isinstance(values, Mapping):
            self._refuse(prefix.rstrip("."), "an object", values)
        self.values: Mapping[str, Any] = values

    def text(self, name: str) -> str:
        value = self._get(name)
        if not isinstance(value, str):
            self._refuse(self.prefix + name, "text", value)
        return value

    def flag(self, name: str) -> bool:
        value = self._get(name)
        if not isinstance(value, bool):
            self._refuse(self.prefix + name, "true or false", value)
        return value

    def estimate(self, name: str) -> Estimate:
        return Estimate(self.number(name), self.number("low"), self.number("high"))

    def nested(self, name: str) -> _Fields:
        return _Fields(self.path, f"{self.prefix}{name}.", self._get(name))

    def objects(self, name: str) -> list[_Fields]:
        value = self._get(name)
        if not isinstance(value, list):
            self._refuse(self.prefix + name, "a list", value)
        return [
            _Fields(self.path, f"{self.prefix}{name}[{index}].", entry)
            for index, entry in enumerate(value)
        ]

    def number(self, name: str) -> float | None:
        """Return a number; None for null, and for NaN and infinity, which JSON does not have."""
        value = self._get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._refuse(self.prefix + name, "a number or null", value)
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if isfinite(number) else None

    def _get(self, name: str) -> Any:
        if name not in self.values:
            self._fail(f"it lacks the field {self.prefix + name!r}")
        return self.values[name]

    def _refuse(self, name: str, wanted: str, value: Any) -> NoReturn:
        text = json.dumps(value)
        text = text if len(text) < 60 else f"{text[:57]}..."
        subject = f"its field {name!r}" if name else "it"
        self._fail(f"{subject} must be {wanted}, not {text}")

    def _fail(self, reason: str) -> NoReturn:
        msg = f"{self.path} is not what directrix fit --json prints: {reason}"
        raise UsageError(msg)
