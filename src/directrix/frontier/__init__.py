"""The lines worth having."""

from directrix.frontier.of_moments import Frontier, LinearModel

__all__ = ["Frontier", "LinearModel"]
