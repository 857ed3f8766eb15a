"""Tracked CSV files of measurements, and what is read from them."""

from __future__ import annotations

import csv
import io
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar, get_type_hints

import numpy as np

from directrix._typing import FloatArray

Row = dict[str, str]
T = TypeVar("T")
#: From which row on the rows of a file that has no column ``commit`` were measured on which commit.
COMMITS = Path(__file__).with_name("commits.csv")


def _git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603


@cache
def commit() -> str:
    """Return the commit that is measured."""
    return _git(Path(__file__).parent, "rev-parse", "--short", "HEAD")


@cache
def package_commit() -> str:
    """Return the last commit that changed the package; with "+" if its files have changed since."""
    import directrix  # noqa: PLC0415 - a test puts another folder in its place

    folder = Path(directrix.__file__).parent
    changed = _git(folder, "diff", "--name-only", "HEAD", "--", ".")
    return _git(folder, "log", "-1", "--format=%h", "--", ".") + "+" * bool(changed)


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a CSV file; none if there is no file.

    A last line without an end is what a killed run was writing: it is ignored.
    """
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    return list(csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1], newline="")))


def parse(row: Row, fields: type[T], **given: Any) -> T:
    """Return a named tuple from a row, its columns converted to the types of the fields.

    Fields that are no columns of type int, float or str are ``given``.
    """
    types = get_type_hints(fields)
    columns = {name: types[name](row[name]) for name in types if name not in given}
    return fields(**columns, **given)


def select(rows: Iterable[Row], /, **equal: object) -> list[Row]:
    """Return the rows whose columns have these values."""
    return [row for row in rows if all(row[name] == str(value) for name, value in equal.items())]


def grouped_by(rows: Iterable[Row], *names: str) -> dict[tuple[str, ...], list[Row]]:
    """Return rows by the values of some columns, in the order of the file."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


def distinct(rows: Iterable[Row], name: str) -> list[str]:
    """Return the values of a column, each once, in the order of the file."""
    return list(dict.fromkeys(row[name] for row in rows))


def commits_of(rows: Iterable[Row]) -> str:
    """Return the commits on which rows were measured, with commas between them."""
    return ", ".join(distinct(rows, "commit"))


def numbers(rows: Iterable[Row], name: str) -> FloatArray:
    """Return a column as numbers, without its empty cells."""
    return np.array([float(row[name]) for row in rows if row[name]])


def mean_of(rows: Iterable[Row], name: str) -> float:
    """Return the mean of a column of numbers; NaN where there are none."""
    values = numbers(rows, name)
    return fmean(values) if len(values) else float("nan")


@dataclass(frozen=True)
class Record:
    """A tracked CSV file whose rows belong to tasks.

    ``key`` are the columns that identify a task; its rows are written at once. Columns may be given
    as one text: ``"set, fold"``.
    """

    path: Path
    columns: Sequence[str]
    key: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Split columns that are given as one text."""
        for name in ("columns", "key"):
            value = getattr(self, name)
            if isinstance(value, str):
                object.__setattr__(self, name, tuple(value.split(", ")))

    @classmethod
    def beside(cls, module: str, columns: Sequence[str], key: Sequence[str] = ()) -> Record:
        """Return the record that has the name of a module (its ``__file__``)."""
        return cls(Path(module).with_suffix(".csv"), columns, key)

    def rows(self) -> list[Row]:
        """Return all rows."""
        return read_rows(self.path)

    def done(self) -> set[tuple[str, ...]]:
        """Return the keys of the tasks that the file has."""
        return {self._key_of(row) for row in self.rows()}

    def append(self, rows: Iterable[Sequence[object]]) -> None:
        """Add the rows of a task, in one write that reaches the disk."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        if not self.path.exists():
            writer.writerow(self.columns)
        writer.writerows(rows)
        with self.path.open("ab", buffering=0) as file:
            file.write(text.getvalue().encode())
            os.fsync(file.fileno())

    def write(self, rows: Iterable[Sequence[object]]) -> None:
        """Replace the whole file."""
        under_way = Record(self.path.with_name(f"{os.getpid()}.{self.path.name}"), self.columns)
        under_way.append(rows)
        under_way.path.replace(self.path)

    def repair(self) -> None:
        """Remove a line that a killed run left torn, with all rows of the task before it."""
        if not self.path.exists() or self.path.read_bytes().endswith(b"\n"):
            return
        rows = self.rows()
        last = self._key_of(rows[-1]) if rows else ()
        while rows and self._key_of(rows[-1]) == last:
            rows.pop()
        self.write([list(row.values()) for row in rows])

    def note_commit(self) -> None:
        """Write down the commit of the rows that come next, unless the file has a column for it."""
        if "commit" in self.columns:
            return
        about = self.path.relative_to(COMMITS.parents[1]).as_posix(), len(self.rows()) + 1, commit()
        Record(COMMITS, "file, from_row, commit").append([about])

    def _key_of(self, row: Row) -> tuple[str, ...]:
        return tuple(row[name] for name in self.key)
