"""Classifiers trained directly for the metric people report.

A linear classifier meets a metric only through its scores. This release holds the first room of
the library: exact, mergeable class moments of the data.
"""

from directrix.engines import summarize
from directrix.moments import ClassMoments, Moments

__version__ = "0.1.0"

__all__ = ["ClassMoments", "Moments", "__version__", "summarize"]
