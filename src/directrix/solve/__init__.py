"""How we descend."""

from directrix.solve._starts import part_of_mean
from directrix.solve.accelerated import nesterov
from directrix.solve.bundle import bundle
from directrix.solve.cccp import cccp
from directrix.solve.continuation import sla
from directrix.solve.descent import descent
from directrix.solve.hitting_set import Certificate, zero_one_lower_bound
from directrix.solve.lbfgs import lbfgs
from directrix.solve.newton_cg import newton_cg
from directrix.solve.papers_lbfgs import papers_lbfgs
from directrix.solve.slam import Tuned, slam
from directrix.solve.solution import Callback, Objective, Solution
from directrix.solve.vertex import vertex_search

__all__ = [
    "Callback",
    "Certificate",
    "Objective",
    "Solution",
    "Tuned",
    "bundle",
    "cccp",
    "descent",
    "lbfgs",
    "nesterov",
    "newton_cg",
    "papers_lbfgs",
    "part_of_mean",
    "sla",
    "slam",
    "vertex_search",
    "zero_one_lower_bound",
]
