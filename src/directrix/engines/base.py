"""summarize: select an engine for a source and summarise its rows in one pass."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any

from directrix.engines import csv_encoding
from directrix.engines.plan import Grouped, Plan
from directrix.engines.progress import progress_bar
from directrix.engines.tasks import Summaries
from directrix.rows.sums import TreeSum

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from directrix.moments import Moments

#: Engines in the order in which they are asked to accept a source. Spark data frames can be read as
#: Arrow streams too; memory accepts everything.
_ENGINES = ("spark", "dask", "arrow", "memory")


def summarize(  # noqa: PLR0913 - all roles of columns
    source: Any,
    *,
    target: Any,
    features: Sequence[Any] | None = None,
    weight: Any = None,
    fold: Any = None,
    by: Any = None,
    transform: Any = None,
    classes: Any = None,
    where: Any = None,
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
    features : sequence, optional
        Feature columns; by default all columns that have no other role. A single column may hold
        vectors (lists of numbers).
    weight : str, int or array, optional
        Sample weights, given like the target.
    fold : str, int, array or HashFolds, optional
        Fold numbers from zero, given like the target, or a rule that computes them from keys.
    by : str, int or array, optional
        Column of groups; a separate summary is returned for each of its values.
    transform : fitted scikit-learn transformer, optional
        Applied to the feature columns of each block, on the workers; its output is summarised. A
        fitted `Binner` takes raw columns: texts, dates, missing values.
    classes : array, optional
        All possible labels; by default those that occur.
    where : list of tuples, optional
        Conditions that rows must meet, all of them: ``[("year", ">=", 2024), ("country", "in",
        ["DE", "FR"])]``, by ``==``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, ``in`` and ``not in``.
        Missing values meet none. Sources that can skip rows before they are read do so. A column
        that is compared is a feature only if ``features`` names it.
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
    <Moments: 3,000 rows; 3 features; classes {False: 2,700, True: 300}>
    """
    plan = Plan.of(
        target=target,
        features=features,
        weight=weight,
        fold=fold,
        by=by,
        classes=classes,
        transform=transform,
        where=where,
    )
    grouped: Grouped = run(source, plan, Summaries(), engine=engine, progress=progress)
    if by is not None:
        return dict(sorted(grouped.aligned().items(), key=lambda item: _order(item[0])))
    if None not in grouped.by_group:
        msg = "there are no rows to summarise"
        raise ValueError(msg)
    return grouped.by_group[None]


def run(source: Any, plan: Plan, task: Any, *, engine: str = "auto", progress: bool = True) -> Any:
    """Run a task on all rows of a source and return the sum of its results.

    Results are numbered by partition and added by a fixed tree over these numbers, so neither the
    order in which workers finish nor a task that runs twice can change a bit. Engines with workers
    add there; at most `directrix.engines.tree.MOST_PARTS` sums come back.

    Parameters
    ----------
    source : source of rows
    plan : Plan
    task : callable
        Takes a plan and a partition; its results support ``+``.
    engine, progress
        As in `summarize`.
    """
    # Delayed values of Dask are callable too.
    if callable(source) and not type(source).__module__.startswith("dask."):
        with _opened(source) as rows:
            return run(rows, plan, task, engine=engine, progress=progress)
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
            csv_encoding.explain(source, error)
            raise
    total: TreeSum[Any] = TreeSum()
    for number in sorted(parts):
        total.add(number, parts[number])
    return total.total()


def _opened(source: Callable[[], Any]) -> AbstractContextManager[Any]:
    """Return the context of what a function opens, such as a cursor, which is closed at its end."""
    rows = source()
    return rows if isinstance(rows, AbstractContextManager) else nullcontext(rows)


def _order(group: Any) -> tuple[str, Any]:
    """Return the sort key of a group, which orders by type first."""
    return (type(group).__name__, group)
