"""The lines worth having."""

from directrix.frontier.compare import Chosen, choose
from directrix.frontier.moment_frontier import Frontier, LinearModel
from directrix.frontier.shrinkage import validated_shrinkage

__all__ = ["Chosen", "Frontier", "LinearModel", "choose", "validated_shrinkage"]
