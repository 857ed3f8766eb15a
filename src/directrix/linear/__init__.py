"""Candidates of linear models, from class moments and from rows.

A *line* is a linear model: coefficients, and an intercept last. A *frontier* is a set of lines
among which every metric has its optimum, or nearly: `Frontier` makes them from class moments,
`RowFrontier` from rows, by losses of all n scores and their minimisation. `Search` decides which
candidates to try for a metric.
"""

from directrix.linear.moment_frontier import Frontier, LinearModel

__all__ = ["Frontier", "LinearModel"]


def __dir__() -> list[str]:
    return __all__
