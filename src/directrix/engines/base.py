"""summarize: select an engine for a source and summarise its rows in one pass."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from directrix.engines.column_roles import ColumnRoles, HashFolds
from directrix.engines.readers import explain_encoding
from directrix.engines.tasks import FirstRows, survey
from directrix.exceptions.columns import ColumnNotFoundError, suggest_names
from directrix.moments import FeatureMap, Moments
from directrix.moments.feature_map import MAPS
from directrix.moments.moments import SAMPLE_ROWS
from directrix.rows.labels import ordered_names
from directrix.rows.sample import require_sample
from directrix.rows.sums import TreeSum

#: Engines in the order in which they are asked to accept a source. Spark data frames can be read as
#: Arrow streams too; memory accepts everything.
_ENGINES = ("spark", "dask", "arrow", "memory")


def summarize(  # noqa: PLR0913 - every role of a column is an argument
    source: Any,
    *,
    target: Any,
    features: Any = None,
    like: Moments | None = None,
    weight: Any = None,
    fold: Any = None,
    by: Any = None,
    segment: Any = None,
    sample: int = SAMPLE_ROWS,
    key: Any = None,
    transform: Any = None,
    classes: Any = None,
    engine: str = "auto",
    progress: bool = True,
) -> Moments | dict[Any, Moments]:
    """Summarise rows in one pass into class-wise weight, mean and scatter.

    Parameters
    ----------
    source : array, sparse matrix, data frame, iterable of chunks, path, or a source of an engine
        Paths: a Parquet, Arrow or CSV file, a list of them, a pattern such as ``part-*.parquet``,
        a folder of partitions, or the folder of a Delta table. Arrow tables, readers and datasets,
        polars lazy frames, duckdb relations, Delta and Iceberg tables, ADBC cursors and every
        object that exports an Arrow stream are read as streams. Spark data frames and Dask
        collections are summarised on their workers. A chunk is a table, or a tuple ``(X, y)``,
        ``(X, y, weight)`` or ``(X, y, weight, fold)``; chunks are read one at a time. A function
        without arguments that returns a source is called once for each pass; what it returns is
        closed after the pass if it is a context manager, as cursors are.
    target : str, int, array or None
        The labels: the name of a column (in arrays its index), or an array of labels if all rows
        are in memory. None if the chunks are tuples that contain their labels.
    features : sequence, str or FeatureMap, optional
        Feature columns; by default all columns that have no other role. A single column may hold
        vectors (lists of numbers). For a raw table with texts, dates or missing values: "auto",
        "linear", "splines" or "cosines" is what a `FeatureMap` makes of all its columns. It is
        learned from the first 20,000 rows, which are read before the pass.
    like : Moments, optional
        A summary to add to, instead of `features`: its features are taken, with the texts and knots
        of its map. Summaries whose features were made by different maps do not add.
    weight : str, int or array, optional
        Sample weights, given like the target.
    fold : str, int, array or HashFolds, optional
        Fold numbers from zero, given like the target, or a rule that computes them from keys. By
        default none, except where splines or cosines stand beside raw numbers and a sample is kept:
        folds choose among such features, so the default is `HashFolds` (5), also for a summary
        ``like=`` one that was made so. If rows belong together, give a key:
        ``HashFolds(5, key="customer")``.
    by : str, int or array, optional
        Column of groups; a separate summary is returned for each of its values.
    segment : str, int or array, optional
        Segment of each row, such as a country, which the sample keeps beside its rows: the
        operating point of a model that is learned from it has the rates in each.
    sample : int
        Largest number of rows of each class that a summary keeps; 0 for none. The rows are drawn by
        a hash, so they do not depend on the order in which rows are read, and samples add. They
        measure the rates of a model trained from the summary.
    key : str, int, or sequence of them, optional
        Columns that identify a row, such as its number in a database; no features by default. The
        sample is then the same on every engine and in any number of partitions, and so are folds
        without a key of their own. By default rows are identified by their label, weight and
        values, and by the number of equal rows before them in their partition.
    transform : fitted scikit-learn transformer, optional
        Applied to the feature columns of each block, on the workers; its output is summarised. A
        fitted `Binner` takes raw columns: texts, dates, missing values.
    classes : array, optional
        All possible labels; by default those that occur.
    engine : str
        "auto" selects by the type of the source; or the name of an engine: "memory", "arrow",
        "spark" or "dask".
    progress : bool
        Show a progress bar on a terminal (needs ``rich``).

    Returns
    -------
    Moments, or dict of Moments by group if ``by`` is given

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import summarize
    >>> rng = np.random.default_rng(0)
    >>> chunks = ((rng.normal(size=(100, 3)), np.arange(100) % 10 == 0) for day in range(30))
    >>> summarize(chunks, target=None)
    <Moments: 3,000 rows; 3 features; classes {False: 2,700, True: 300}; a sample of 3,000 rows>
    """
    require_sample(sample, segment)
    roles = {"target": target, "weight": weight, "fold": fold, "by": by, "key": key}
    roles["segment"] = segment
    if like is not None:
        if features is not None:
            msg = "like= takes the features of a summary: leave features= out"
            raise ValueError(msg)
        features = like.map or like.feature_names
    if isinstance(features, str) and features in MAPS:
        features = _learned_map(source, features, roles, engine=engine, progress=progress)
    made = features if isinstance(features, FeatureMap) else None
    if made is not None:
        if like is None and fold is None and sample and len(made.sets) > 1:
            made = replace(made, n_folds=HashFolds.n_folds)
        if fold is None and made.n_folds:
            roles["fold"] = HashFolds(made.n_folds)
        features, transform = tuple(column.name for column in made.columns), made
    plan = ColumnRoles.of(features=features, classes=classes, transform=transform, **roles)
    try:
        surveyed = survey(partial(run, source, plan, engine=engine, progress=progress), sample)
    except ColumnNotFoundError as error:
        is_asked = isinstance(features, str) and error.name == features
        asked = suggest_names(features, MAPS) if is_asked else ""
        if not asked:
            raise
        msg = f"features={features!r} is neither a column nor a map of a raw table{asked}"
        raise ValueError(msg) from None
    if surveyed.summary is None and by is None:
        msg = "there are no rows to summarise"
        raise ValueError(msg)
    grouped = {} if surveyed.summary is None else surveyed.summary.aligned()
    samples = surveyed.samples.by_group
    moments = {
        name: replace(grouped[name].with_sample(samples.get(name)), map=made)
        for name in ordered_names(grouped)
    }
    return moments if by is not None else moments[None]


#: Rows from which a feature map is learned.
_FIRST_ROWS = 20_000


def _learned_map(
    source: Any, features: str, roles: dict[str, Any], *, engine: str, progress: bool
) -> FeatureMap:
    """Learn a feature map from the first rows of a source."""
    if hasattr(source, "shape") and not hasattr(source, "columns"):
        msg = f"features={features!r} makes features of named columns: give a data frame"
        raise TypeError(msg)
    if isinstance(source, Iterator):
        msg = (
            "an iterator is read only once, so no feature map can be learned from its first rows: "
            "give features= the map of another summary, or a function that opens the rows"
        )
        raise TypeError(msg)
    plan = ColumnRoles.of(raw=True, **roles)
    first = run(source, plan, FirstRows(_FIRST_ROWS), engine=engine, progress=progress)
    table = first.by_group.get(None)
    if table is None:
        msg = "there are no rows to summarise"
        raise ValueError(msg)
    return FeatureMap.learn(table, features)


def run(
    source: Any, plan: ColumnRoles, task: Any, *, engine: str = "auto", progress: bool = True
) -> Any:
    """Run a task on all rows of a source and return the sum of its results.

    Results are numbered by partition and added by a fixed tree over these numbers, so neither the
    order in which workers finish nor a task that runs twice can change a bit. Engines with workers
    add there; at most `directrix.engines.column_roles.MOST_PARTS` sums come back.

    The task takes a plan and a partition; its results support ``+``.
    """
    # Delayed values of Dask are callable too.
    if callable(source) and not type(source).__module__.startswith("dask."):
        rows = source()
        # What a function opens, such as a cursor, is closed at the end of the pass.
        context = rows if isinstance(rows, AbstractContextManager) else nullcontext(rows)
        with context as opened:
            return run(opened, plan, task, engine=engine, progress=progress)
    if engine != "auto" and engine not in _ENGINES:
        msg = f"no engine named {engine!r}: give 'auto' or one of {', '.join(map(repr, _ENGINES))}"
        raise ValueError(msg)
    names = _ENGINES if engine == "auto" else (engine,)
    modules = (import_module(f"directrix.engines.{name}") for name in names)
    engine_module = next((module for module in modules if module.accepts(source)), None)
    if engine_module is None:
        msg = f"the engine {engine!r} cannot read {type(source).__name__}; use engine='auto'"
        raise TypeError(msg)
    with progress_bar(wanted=progress, label=task.name) as counter:
        try:
            parts = dict(engine_module.partials(source, plan, task, counter))
        except (TypeError, ValueError) as error:
            explain_encoding(source, error)
            raise
    total: TreeSum[Any] = TreeSum()
    for number in sorted(parts):
        total.add(number, parts[number])
    return total.total()


# ── Progress bar for passes over rows, shown only on a terminal ───────────────────────────────────


class Progress:
    """Counter of rows, with an optional progress bar of rich and the task that it shows."""

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
            elapsed = self._bar.tasks[0].elapsed
            rate = f"{self.rows / elapsed:,.0f} rows/s" if elapsed else ""
            self._bar.update(self._task, advance=rows, rate=rate)


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
