"""Releases: what sites may show of their summaries, as parts that are joined and never subtracted.

A release is a set of parts, one for each site and period. Joining two releases is the union of
their parts: it is associative and commutative, and a part that comes twice counts once.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import reduce
from hashlib import sha256
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from directrix._typing import AnyArray
from directrix.exceptions import (
    ConflictingReleaseError,
    LedgerFileError,
    NotReleasableError,
    ReleasedBeforeError,
    TooFewRowsError,
)
from directrix.files.atomic import atomic_file
from directrix.files.layout import (
    Entry,
    check_entries,
    is_count,
    is_list_of,
    is_number,
    is_text,
    parse_json,
    refusing,
    require,
)
from directrix.moments.summary import ClasswiseSummary
from directrix.rows.labels import union

SummaryT = TypeVar("SummaryT", bound=ClasswiseSummary)

#: Kinds of control: none, groups of at least k rows, and noise of differential privacy.
NONE, MIN_CELL, PRIVATE = "none", "min_cell", "private"


def is_control(control: Any) -> bool:
    """Return whether a value says how a part was controlled, as a file has it."""
    if not isinstance(control, dict) or control.get("kind") not in (NONE, MIN_CELL, PRIVATE):
        return False
    settings = {key: value for key, value in control.items() if key != "kind"}
    if control["kind"] == MIN_CELL:
        least = settings.get("min_cell")
        return len(settings) == 1 and type(least) is int and least > 1
    return all(is_text(value) or is_number(value) for value in settings.values())


def is_part(part: Any) -> bool:
    """Return whether an entry of a header names a site, a period, classes and a control."""
    return (
        isinstance(part, dict)
        and sorted(part) == ["classes", "control", "period", "site"]
        and is_text(part["site"])
        and is_text(part["period"])
        and is_list_of(part["classes"], is_count)
        and is_control(part["control"])
    )


#: The entry of a header that lists the parts of a release.
PARTS = Entry(lambda parts: is_list_of(parts, is_part), "its parts do not say what they are")


@dataclass(frozen=True, eq=False)
class Part:
    """Base class of what one site releases for one period: arrays with a row for each class.

    ``control`` says what was done: its ``kind`` and settings. ``rows`` is the number of rows of
    each class after control.
    """

    site: str
    period: str
    control: Mapping[str, Any]
    classes: AnyArray
    rows: AnyArray

    @property
    def key(self) -> tuple[str, str]:
        """The site and the period."""
        return self.site, self.period

    @property
    def id(self) -> str:
        """Digest of the content: equal for two copies of a part, different otherwise."""
        digest = sha256(json.dumps([*self.key, dict(self.control)], sort_keys=True).encode())
        for name, array in self.arrays().items():
            digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).data)
        digest.update(json.dumps(self.classes.tolist()).encode())
        return digest.hexdigest()[:16]

    def arrays(self) -> dict[str, AnyArray]:
        """Return all numbers of the part by name."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value
            for name, value in named.items()
            if isinstance(value, np.ndarray) and name != "classes"
        }


@dataclass(frozen=True, eq=False, repr=False)
class Release(ABC):
    """Base class of released summaries.

    Releases are joined with ``+``. They cannot be subtracted or scaled, and there is no way back
    to the summaries that they are from.
    """

    parts: tuple[Any, ...]

    noun: ClassVar[str] = "columns"

    @abstractmethod
    def save(self, path: str | PathLike[str]) -> None:
        """Write the release to a file."""

    @abstractmethod
    def estimate(self) -> Any:
        """Return the summary that a fit uses in place of that of all rows."""

    @abstractmethod
    def _require_same_kind(self, other: Self) -> None:
        """Raise an error if two releases are of other columns."""

    @abstractmethod
    def _n_columns(self) -> int: ...

    @property
    def sites(self) -> tuple[str, ...]:
        """Names of the sites."""
        return tuple(dict.fromkeys(part.site for part in self.parts))

    @property
    def classes(self) -> AnyArray:
        """All labels, sorted."""
        labels = [part.classes for part in self.parts]
        return reduce(union, labels, np.empty(0, dtype=np.int64))

    @property
    def count(self) -> int:
        """Number of rows, as far as the control shows it."""
        return round(sum(float(part.rows.sum()) for part in self.parts))

    def __add__(self, other: Self) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        self._require_same_kind(other)
        union(self.classes, other.classes)  # refuses texts beside numbers
        return replace(self, parts=joined_parts([*self.parts, *other.parts]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        mine, theirs = ([(p.key, p.id) for p in each.parts] for each in (self, other))
        return mine == theirs

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        rows = ", ".join(
            f"{label!r}: {_rows_of(self.parts, label):,.0f}" for label in self.classes.tolist()
        )
        controls = dict.fromkeys(describe_control(part.control) for part in self.parts)
        n_parts, n_sites = len(self.parts), len(self.sites)
        of_sites = f"{n_parts} part{'s' * (n_parts != 1)} of {n_sites} site{'s' * (n_sites != 1)}"
        parts = [
            of_sites,
            f"about {self.count:,} rows, classes {{{rows}}}",
            f"{self._n_columns():,} {self.noun}",
            *controls,
        ]
        return f"<{type(self).__name__}: {'; '.join(parts)}>"


def _rows_of(parts: Sequence[Part], label: Any) -> float:
    return float(sum(part.rows[part.classes == label].sum() for part in parts))


def describe_control(control: Mapping[str, Any]) -> str:
    """Return what was done to a part, for people."""
    if control["kind"] == NONE:
        return "no disclosure control"
    if control["kind"] == MIN_CELL:
        return f"no group below {control['min_cell']} rows"
    content = "cells and cross sums" if control["content"] == "cross" else "cells"
    return (
        f"differentially private {content}, ε = {control['epsilon']:g}, δ = {control['delta']:g} "
        f"to {control['neighbours']}, noise of a cell {control['scale_cells']:.3g}"
    )


def joined_parts(parts: Sequence[Any]) -> tuple[Any, ...]:
    """Return parts sorted by site and period, each once; refuse two that contradict each other."""
    by_key: dict[tuple[str, str], Any] = {}
    for part in parts:
        known = by_key.setdefault(part.key, part)
        if known is not part and known.id != part.id:
            raise ConflictingReleaseError(*part.key)
    return tuple(by_key[key] for key in sorted(by_key))


# ── What a site may release, and what it has released ─────────────────────────────────────────────


def require_names(site: Any, period: Any) -> None:
    """Refuse a site or a period whose name is not a text, as files have them."""
    for what, name in (("site", site), ("period", period)):
        if not is_text(name):
            msg = f"{what} must be a text, not {name!r}"
            raise TypeError(msg)


def checked_min_cell(min_cell: Any) -> int:
    """Return the least number of rows of a group; raise ValueError for any other value."""
    whole = isinstance(min_cell, int | np.integer) and not isinstance(min_cell, bool)
    if not whole or min_cell < 1:
        msg = f"min_cell must be a whole number, 1 for no control or more, not {min_cell!r}"
        raise ValueError(msg)
    return int(min_cell)


def rows_to_release(summary: SummaryT, min_cell: int) -> SummaryT:
    """Return a summary without its folds, after checking that its rows may be released."""
    if min_cell == 1:
        return summary.unfolded()
    if summary.weight != summary.count:
        problem = (
            "its rows have sample weights, and a release counts rows: leave the weights out, or "
            "release without control (min_cell=1)"
        )
        raise NotReleasableError(problem)
    whole = summary.unfolded()
    for label, group in zip(whole.classes.tolist(), whole.parts[0], strict=True):
        if 0 < group.count < 2 * min_cell:  # a class without rows is left out
            raise TooFewRowsError(label, group.count, 2 * min_cell)
    return whole


class LedgerNumbers(NamedTuple):
    """Exact numbers of rows that a ledger keeps of a release.

    ``by_class`` has the rows of each class, and sums over them that no row changes by more than
    one. ``sums_of`` says what the sums are of, such as the bins: others are not compared.
    """

    sums_of: str = ""
    by_class: Mapping[str, Sequence[float]] = MappingProxyType({})

    @classmethod
    def of(cls, what: Any, classes: AnyArray, sums: Sequence[Sequence[float]]) -> LedgerNumbers:
        """Return the numbers of classes, whose sums are of ``what``, a JSON value."""
        digest = sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:16]
        return cls(digest, dict(zip(map(str, classes.tolist()), sums, strict=True)))

    def distance(self, other: LedgerNumbers) -> float:
        """Return by how many rows two releases differ at least, as far as these numbers tell.

        Classes are compared with whichever is nearest: labels may have got other names, and a
        release may lack classes that the other has. Without numbers nothing is near.
        """
        if not self.by_class or not other.by_class:
            return float("inf")
        compared = None if self.sums_of == other.sums_of else 1  # the number of rows
        theirs = other.by_class.values()
        gaps = np.array(
            [
                [np.abs(np.subtract(one[:compared], two[:compared])).max() for two in theirs]
                for one in self.by_class.values()
            ]
        )
        return float(min(gaps.min(axis=0).sum(), gaps.min(axis=1).sum()))


_NOTED = {
    "site": Entry(is_text, "a release has no site"),
    "period": Entry(is_text, "a release has no period"),
    "id": Entry(is_text, "a release has no id"),
    "control": Entry(is_control, "a release does not say how it was controlled"),
    "numbers": Entry(
        lambda numbers: (
            isinstance(numbers, dict)
            and all(is_list_of(sums, is_number) and sums for sums in numbers.values())
        ),
        "a release has no numbers of rows",
    ),
    "sums_of": Entry(is_text, "a release does not say what its numbers are of"),
}


def note_release(
    part: Part, ledger: str | PathLike[str], numbers: LedgerNumbers, least: float
) -> None:
    """Note a release in a ledger, a JSON file of the site that nobody else sees.

    Refuse another release of the same site and period, and one of nearly the same rows under any
    name: ``numbers`` must differ from those of each release before by ``least`` at least. Of other
    bins only the rows are compared: other bins of the same rows are a second release too.
    """
    path = Path(ledger)
    noted = _noted(path) if path.exists() else []
    for each in noted:
        same = (each["site"], each["period"]) == part.key
        if same and each["id"] == part.id:
            return
        known = LedgerNumbers(each.get("sums_of", ""), each["numbers"])
        if same or known.distance(numbers) < least:
            raise ReleasedBeforeError(each["site"], each["period"], str(ledger))
    entry = {
        "site": part.site,
        "period": part.period,
        "id": part.id,
        "control": dict(part.control),
        "numbers": {label: list(values) for label, values in numbers.by_class.items()},
        "sums_of": numbers.sums_of,
    }
    with atomic_file(path) as file:
        file.write((json.dumps([*noted, entry]) + "\n").encode())


def _noted(path: Path) -> list[dict[str, Any]]:
    """Return the releases that a ledger has noted."""
    with refusing(LedgerFileError, path):
        try:
            content = parse_json(path.read_bytes().decode(), "it")
        except UnicodeDecodeError:
            msg = "it is not UTF-8"
            raise LedgerFileError(msg) from None
        require(isinstance(content, list), "it is not a list of releases")
        for each in content:
            check_entries(each, _NOTED, "a release lacks an entry or has one too many", ["sums_of"])
    noted: list[dict[str, Any]] = content
    return noted
