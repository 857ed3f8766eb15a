"""How we descend."""

from directrix.solve.descent import descent
from directrix.solve.lbfgs import lbfgs
from directrix.solve.newton_cg import newton_cg
from directrix.solve.solution import Solution
from directrix.solve.starts import part_of_mean

__all__ = ["Solution", "descent", "lbfgs", "newton_cg", "part_of_mean"]
