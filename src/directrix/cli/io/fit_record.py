"""What ``fit --json`` printed, read back and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from directrix.cli.output.errors import UsageError


class Estimate(NamedTuple):
    """A number and its interval; None stands for what is not known."""

    value: float | None
    low: float | None
    high: float | None


class Candidate(NamedTuple):
    """A candidate of the fit, its metric, and the standard error of it over folds."""

    name: str
    metric: float | None
    error: float | None


class FitRecord(NamedTuple):
    """The candidates of a fit, and the choice among them.

    Parameters
    ----------
    candidates : tuple of Candidate
    compared_on : str
        The rows on which they were compared.
    chosen, why : str
        Name of the chosen candidate, and the reason.
    expected : Estimate
        Its metric on new rows.
    gap : Estimate
        By how much it is better than logistic regression.
    """

    candidates: tuple[Candidate, ...]
    compared_on: str
    chosen: str
    why: str
    expected: Estimate
    gap: Estimate


def read_fit_record(path: str) -> FitRecord | None:
    """Read a file that ``fit --json`` printed; None if that fit had no candidates.

    Raises
    ------
    UsageError
        If the file is something else; it names the field that is wrong.
    """
    try:
        read = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        msg = f"{path} is not JSON ({error}): give what directrix fit --json printed"
        raise UsageError(msg) from None
    fields = _Fields(path, "", read)
    fields.text("classifier")
    if "candidates" not in fields.values:
        return None
    candidates = tuple(
        Candidate(own.text("name"), own.number("metric"), own.number("error"))
        for own in fields.objects("candidates")
    )
    if not candidates:
        return None
    (expected,) = fields.objects("expected_on_new_rows", several=False)
    (gap,) = fields.objects("better_than_logistic", several=False)
    return FitRecord(
        candidates,
        fields.text("compared_on"),
        fields.text("chosen"),
        fields.text("why"),
        expected.estimate("value"),
        gap.estimate("mean"),
    )


class _Fields:
    """The fields of a JSON object, each checked when it is asked for.

    Parameters
    ----------
    path : str
        The file, for messages.
    where : str
        The place of the object in the file, followed by a dot; nothing for the whole of it.
    values : object
    """

    def __init__(self, path: str, where: str, values: Any) -> None:
        self.path, self.where = path, where
        if not isinstance(values, Mapping):
            self.refuse(where.rstrip("."), "an object", values)
        self.values: Mapping[str, Any] = values

    def text(self, name: str) -> str:
        value = self._get(name)
        if not isinstance(value, str):
            self.refuse(self.where + name, "text", value)
        return value

    def estimate(self, name: str) -> Estimate:
        return Estimate(*(self.number(each) for each in (name, "low", "high")))

    def objects(self, name: str, *, several: bool = True) -> list[_Fields]:
        value = self._get(name)
        if not several:
            return [_Fields(self.path, f"{self.where}{name}.", value)]
        if not isinstance(value, list):
            self.refuse(self.where + name, "a list", value)
        return [
            _Fields(self.path, f"{self.where}{name}[{k}].", each) for k, each in enumerate(value)
        ]

    def refuse(self, name: str, wanted: str, value: Any) -> NoReturn:
        shown = json.dumps(value)
        shown = shown if len(shown) < 60 else f"{shown[:57]}..."
        what = f"its field {name!r}" if name else "it"
        self._fail(f"{what} must be {wanted}, not {shown}")

    def number(self, name: str) -> float | None:
        """Return a number; NaN and infinity, which are no JSON, are not known either."""
        value = self._get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.refuse(self.where + name, "a number or null", value)
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if isfinite(number) else None

    def _get(self, name: str) -> Any:
        if name not in self.values:
            self._fail(f"it lacks the field {self.where + name!r}")
        return self.values[name]

    def _fail(self, reason: str) -> NoReturn:
        msg = f"{self.path} is not what directrix fit --json prints: {reason}"
        raise UsageError(msg)
