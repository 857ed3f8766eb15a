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
from typing import Any, TypeVar, get_type_hints

Row = dict[str, str]
T = TypeVar("T")
#: From which row on the rows of a file that has no column ``commit`` were measured on which commit.
COMMITS = Path(__file__).with_name("commits.csv")


@cache
def commit() -> str:
    """Return the commit that is measured."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603


@cache
def package_commit() -> str:
    """Return the last commit that changed the package; with "+" if its files have changed since."""
    import directrix  # noqa: PLC0415 - most records need no package

    git = ["git", "-C", str(Path(directrix.__file__).parent)]
    last = [*git, "log", "-1", "--format=%h", "--", "."]
    name = subprocess.run(last, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "."], check=False).returncode  # noqa: S603
    return f"{name}+" if changed else name


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

    Parameters
    ----------
    row : dict of str
    fields : type
        A `NamedTuple` whose other fields are columns of type int, float or str.
    **given
        Fields that are not columns.
    """
    types = get_type_hints(fields)
    columns = {name: types[name](row[name]) for name in types if name not in given}
    return fields(**columns, **given)


@dataclass(frozen=True)
class Record:
    """A tracked CSV file whose rows belong to tasks.

    Parameters
    ----------
    path : Path
    columns : sequence of str
    key : sequence of str
        The columns that identify a task. Its rows are written at once.
    """

    path: Path
    columns: Sequence[str]
    key: Sequence[str] = ()

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
        Record(COMMITS, ("file", "from_row", "commit")).append([about])

    def _key_of(self, row: Row) -> tuple[str, ...]:
        return tuple(row[name] for name in self.key)
