"""The lines worth having."""

from directrix.frontier.choose import Chosen, choose
from directrix.frontier.of_moments import Frontier, LinearModel
from directrix.frontier.shrinkage import validated_shrinkage

__all__ = ["Chosen", "Frontier", "LinearModel", "choose", "validated_shrinkage"]
