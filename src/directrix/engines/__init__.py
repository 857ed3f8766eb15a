"""Engines: one pass over rows in memory, files, Arrow streams, Spark, Dask and databases.

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

from directrix.engines.base import run, summarize
from directrix.engines.plan import HashFolds, Plan
from directrix.engines.sql import moments_sql, summarize_sql
from directrix.engines.sql_dialects import DIALECTS, Dialect
from directrix.engines.tables import as_table
from directrix.engines.tasks import Counted, Histograms, Survey, Surveyed

__all__ = [
    "DIALECTS",
    "Counted",
    "Dialect",
    "HashFolds",
    "Histograms",
    "Plan",
    "Survey",
    "Surveyed",
    "as_table",
    "moments_sql",
    "run",
    "summarize",
    "summarize_sql",
]
