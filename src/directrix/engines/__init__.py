"""Engines: one pass over rows in memory, files, tables, Arrow streams, Spark and Dask.

`summarize` selects the engine by the type of its source, reads the rows block by block where they
are, and returns `directrix.moments.Moments`. All engines run the same tasks on partitions of the
rows and add the results in a fixed order, so that retries and scheduling change no bit.

Public names
------------
`summarize`
    Summarise any source of rows in one pass.
`HashFolds`
    Reproducible folds by a hash of row keys.
`moments_sql`, `summarize_sql`
    SQL that summarises a table inside its database, and a function that runs it.
"""

from directrix.engines.base import summarize
from directrix.engines.column_roles import HashFolds
from directrix.engines.sql import moments_sql, summarize_sql

__all__ = ["HashFolds", "moments_sql", "summarize", "summarize_sql"]


def __dir__() -> list[str]:
    return __all__
