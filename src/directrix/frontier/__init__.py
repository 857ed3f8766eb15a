"""The lines worth having, and the choice among them.

`Frontier` holds the lines of class moments, `RowFrontier` those of the rows. Both make candidates,
`Search` decides which to try for a metric, and the rules of `select` choose one by its loss on
held-out rows.
"""

from directrix.frontier.compare import Chosen, choose
from directrix.frontier.moment_frontier import Frontier, LinearModel
from directrix.frontier.shrinkage import validated_shrinkage

__all__ = ["Chosen", "Frontier", "LinearModel", "choose", "validated_shrinkage"]
