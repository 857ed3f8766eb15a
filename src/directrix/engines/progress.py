"""Progress bar for passes over rows, shown only on a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


class Progress:
    """Counter of rows, with an optional progress bar.

    Parameters
    ----------
    bar : rich.progress.Progress, optional
    task : rich.progress.TaskID, optional
    """

    def __init__(self, bar: Any = None, task: Any = None) -> None:
        self._bar, self._task = bar, task
        self.rows = 0

    def expect(self, count: Callable[[], int] | None) -> None:
        """Set the total number of rows; ``count`` is called only if a bar is shown."""
        if self._bar is not None and count is not None:
            self._bar.update(self._task, total=count())

    def counted(self, tables: Iterable[Any]) -> Iterator[Any]:
        """Yield the tables, and count the rows of each after it was used."""
        for table in tables:
            data = getattr(table, "data", table)
            n_rows = data.num_rows if hasattr(data, "num_rows") else data.shape[0]
            del data
            yield table
            del table
            self.add(n_rows)

    def add(self, rows: int) -> None:
        """Add to the number of rows."""
        self.rows += rows
        if self._bar is not None:
            self._bar.update(self._task, advance=rows, rate=self._speed())

    def _speed(self) -> str:
        task = self._bar.tasks[0]
        elapsed = task.elapsed or 0.0
        return f"{self.rows / elapsed:,.0f} rows/s" if elapsed else ""


@contextmanager
def progress_bar(*, wanted: bool, label: str) -> Iterator[Progress]:
    """Context of a `Progress`, with a bar if it is wanted, on a terminal, and rich is installed.

    The bar shows the number of rows, rows per second and the remaining time.
    """
    if not (wanted and sys.stderr.isatty()):
        yield Progress()
        return
    try:
        from rich import progress as bars
        from rich.console import Console
    except ImportError:  # rich is installed with the command line
        yield Progress()
        return
    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.TextColumn("{task.completed:,.0f} rows"),
        bars.TextColumn("{task.fields[rate]}"),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Progress(bar, bar.add_task(label, total=None, rate=""))
