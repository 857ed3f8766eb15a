"""summarize: one pass over rows, wherever they are."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from directrix.engines import csv_encoding
from directrix.engines.plan import Grouped, Plan
from directrix.engines.progress import progress_bar
from directrix.engines.tasks import Summaries
from directrix.moments.tree import tree_sum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.moments import Moments

#: Asked in this order whether they read a source; memory takes the rest.
_ENGINES = ("arrow", "spark", "dask", "memory")


def summarize(  # noqa: PLR0913 - what a pass over rows has to know
    source: Any,
    *,
    target: Any,
    features: Sequence[Any] | None = None,
    weight: Any = None,
    fold: Any = None,
    by: Any = None,
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
        or a folder of partitions. Arrow tables, readers and datasets, polars lazy frames and
        duckdb relations are read as streams, Spark data frames and Dask collections summarised
        where they are. A chunk is a table, or a tuple ``(X, y)``,
        ``(X, y, weight)`` or ``(X, y, weight, fold)``; chunks are read one at a time.
    target : str, int, array or None
        The labels: a column's name (in arrays, its index), or the labels themselves where all
        rows are in memory. None where the chunks bring their own.
    features : sequence, optional
        Columns to keep; by default all that have no other role. One column may hold vectors
        (lists of numbers).
    weight : str, int or array, optional
        Weights, given as the target is.
    fold : str, int, array or HashFolds, optional
        Fold numbers from zero, given as the target is; or how to make them from key columns.
    by : str, int or array, optional
        A summary for each value of this column, from the same pass.
    transform : fitted scikit-learn transformer, optional
        Applied to the feature columns of each block where the rows are: the summary is that of
        what it returns.
    classes : array, optional
        All labels there may be; by default those that occur.
    engine : str
        "auto" looks at the source; else the name of an engine: "memory", "arrow", "spark" or
        "dask".
    progress : bool
        Show a progress bar if this is a terminal (needs ``rich``).

    Returns
    -------
    Moments, or dict of Moments where ``by`` is given

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
    )
    grouped: Grouped = run(source, plan, Summaries(), engine=engine, progress=progress)
    if by is not None:
        return dict(sorted(grouped.alike().items(), key=lambda item: _order(item[0])))
    if None not in grouped.by_group:
        msg = "there are no rows to summarise"
        raise ValueError(msg)
    return grouped.by_group[None]


def run(source: Any, plan: Plan, task: Any, *, engine: str = "auto", progress: bool = True) -> Any:
    """Return what a task makes of all rows.

    Each partition's part carries its number, and parts are added in that order by a fixed tree:
    neither which worker finishes first nor a task that runs twice can change a bit.
    """
    if engine != "auto" and engine not in _ENGINES:
        msg = f"no engine named {engine!r}: give 'auto' or one of {', '.join(map(repr, _ENGINES))}"
        raise ValueError(msg)
    names = _ENGINES if engine == "auto" else (engine,)
    modules = (import_module(f"directrix.engines.{name}") for name in names)
    chosen = next((module for module in modules if module.accepts(source)), None)
    if chosen is None:
        msg = f"the engine {engine!r} cannot read {type(source).__name__}; engine='auto' looks"
        raise TypeError(msg)
    with progress_bar(wanted=progress, label=task.name) as counter:
        try:
            parts = dict(chosen.partials(source, plan, task, counter))
        except (TypeError, ValueError) as error:
            csv_encoding.explain(source, error)
            raise
    return tree_sum(parts[number] for number in sorted(parts))


def _order(group: Any) -> tuple[str, Any]:
    """Return what groups are sorted by; values of different type are not compared."""
    return (type(group).__name__, group)
