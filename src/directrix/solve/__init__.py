"""Solvers: minimisation of smooth objectives, of convex risks and of the zero-one loss.

A solver sees its objective only as a callable that returns value and gradient, and returns a
`Solution`. L-BFGS is the default; the other solvers are those of the papers that the package
implements, and an exact search for the zero-one loss with a lower bound.

Public names
------------
`Objective`, `Solution`, `Callback`
    What solvers take and return.
`lbfgs`, `batched_lbfgs`, `newton_cg`, `wolfe_lbfgs`, `descent`, `nesterov`
    Solvers for smooth objectives.
`signed_quadratic`
    The minimum of a quadratic function whose coefficients keep given signs.
`bundle`, `cccp`
    Solvers for convex risks with corners, and for differences of convex functions.
`hinge_newton`
    The hinge with a ridge, to any accuracy and with a lower bound: a support vector machine.
`sla`, `slam`, `Tuned`, `sharpness_levels`
    Continuation from a smooth to a sharp loss, the choice of its constants on held-out rows, and
    the sharpnesses that it goes through.
`vertex_search`, `zero_one_lower_bound`, `Certificate`
    Search for the least zero-one loss, and lower bounds for it.
`part_of_mean`, `stop_after`
    Starting point from the class means; a callback that limits the iterations.
"""

from directrix.solve.hinge_newton import hinge_newton
from directrix.solve.lbfgs import (
    BatchSolution,
    Callback,
    Objective,
    Solution,
    batched_lbfgs,
    lbfgs,
    stop_after,
)
from directrix.solve.papers.bundle import bundle
from directrix.solve.papers.cccp import cccp
from directrix.solve.papers.continuation import Tuned, sharpness_levels, sla, slam
from directrix.solve.papers.descent import descent, nesterov, newton_cg, part_of_mean, wolfe_lbfgs
from directrix.solve.papers.hitting_set import Certificate, zero_one_lower_bound
from directrix.solve.papers.vertex import vertex_search
from directrix.solve.signed_quadratic import signed_quadratic

__all__ = [
    "BatchSolution",
    "Callback",
    "Certificate",
    "Objective",
    "Solution",
    "Tuned",
    "batched_lbfgs",
    "bundle",
    "cccp",
    "descent",
    "hinge_newton",
    "lbfgs",
    "nesterov",
    "newton_cg",
    "part_of_mean",
    "sharpness_levels",
    "signed_quadratic",
    "sla",
    "slam",
    "stop_after",
    "vertex_search",
    "wolfe_lbfgs",
    "zero_one_lower_bound",
]


def __dir__() -> list[str]:
    return __all__
