"""Where the rows live: one function, `summarize`, for every place."""

from directrix.engines.base import summarize
from directrix.engines.plan import HashFolds
from directrix.engines.sql import moments_sql, summarize_sql

__all__ = ["HashFolds", "moments_sql", "summarize", "summarize_sql"]
