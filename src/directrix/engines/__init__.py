"""Where the rows live: one function, `summarize`, for every place."""

from directrix.engines.base import summarize

__all__ = ["summarize"]
