"""Files of measurements that go on where an interrupted run stopped."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

Row = dict[str, str]


def read(path: Path) -> list[Row]:
    """Return the rows of a file, none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def measure_missing(
    path: Path,
    keys: tuple[str, ...],
    values: tuple[str, ...],
    planned: Iterable[tuple[object, ...]],
    measured: Callable[..., Iterable[object]],
) -> None:
    """Append what is planned and not in the file yet, one row at a time.

    Parameters
    ----------
    path : Path
    keys, values : tuple of str
        Columns that say what is measured, and what was found.
    planned : iterable of tuple
        Keys of each measurement.
    measured : callable
        Of the keys, returns the values.
    """
    done = {tuple(row[key] for key in keys) for row in read(path)}
    new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(keys + values)
        for key in _missing(planned, done):
            writer.writerow((*key, *measured(*key)))
            file.flush()


def _missing(
    planned: Iterable[tuple[object, ...]], done: set[tuple[str, ...]]
) -> Iterator[tuple[object, ...]]:
    return (key for key in planned if tuple(map(str, key)) not in done)
