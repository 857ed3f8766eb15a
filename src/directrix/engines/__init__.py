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

Names that are imported here and not listed in ``__all__`` are for other rooms of the library.
"""

from directrix.engines.base import run as run
from directrix.engines.base import summarize
from directrix.engines.block import Block as Block
from directrix.engines.block import Partition as Partition
from directrix.engines.doors import open_source as open_source
from directrix.engines.plan import HashFolds
from directrix.engines.plan import Plan as Plan
from directrix.engines.running_sample import RunningSample as RunningSample
from directrix.engines.sql import moments_sql, summarize_sql
from directrix.engines.sql_dialects import DIALECTS as DIALECTS
from directrix.engines.sql_dialects import Dialect as Dialect
from directrix.engines.tables import as_table as as_table
from directrix.engines.tasks import Counted as Counted
from directrix.engines.tasks import Fingerprint as Fingerprint
from directrix.engines.tasks import Histograms as Histograms
from directrix.engines.tasks import Sampling as Sampling
from directrix.engines.tasks import Survey as Survey
from directrix.engines.tasks import Surveyed as Surveyed

__all__ = ["HashFolds", "moments_sql", "summarize", "summarize_sql"]
