"""Candidate linear classifiers, and the choice among them.

A *line* is a linear classifier: coefficients, and an intercept last. A *frontier* is a set of lines
among which every metric has its optimum, or nearly: `Frontier` makes them from class moments,
`RowFrontier` from rows. `Search` decides which candidates to try for a metric, the rules of
`compare` choose one by its loss on held-out rows, and `choice_validation` estimates how it does on
new rows.
"""

from directrix.frontier.compare import Comparison
from directrix.frontier.moment_frontier import Frontier, LinearModel

__all__ = ["Comparison", "Frontier", "LinearModel"]


def __dir__() -> list[str]:
    return __all__
