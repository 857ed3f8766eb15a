"""Solvers: minimisation of smooth objectives, of convex risks and of the zero-one loss.

A solver sees its objective only as a callable that returns value and gradient, and returns a
`Solution`. L-BFGS is the default; the other solvers are those of the papers that the package
implements, and a search over vertices for the zero-one loss.

Public names
------------
`Objective`, `Solution`, `Callback`
    What solvers take and return.
`lbfgs`, `batched_lbfgs`, `newton_cg`, `wolfe_lbfgs`, `descent`, `nesterov`
    Solvers for smooth objectives.
`bundle`
    Cutting planes for convex risks with corners.
`sla`, `slam`, `Tuned`, `sharpness_levels`
    Continuation from a smooth to a sharp loss, the choice of its constants on held-out rows, and
    the sharpnesses that it goes through.
`vertex_search`
    Search for the least zero-one loss.
`part_of_mean`, `stop_after`
    Starting point from the class means; a callback that limits the iterations.
"""

from directrix.linear.lbfgs import (
    BatchSolution,
    Callback,
    Objective,
    Solution,
    batched_lbfgs,
    lbfgs,
    stop_after,
)
from directrix.solve.papers.bundle import bundle
from directrix.solve.papers.continuation import Tuned, sharpness_levels, sla, slam
from directrix.solve.papers.descent import descent, nesterov, newton_cg, part_of_mean, wolfe_lbfgs
from directrix.solve.papers.vertex import vertex_search

__all__ = [
    "BatchSolution",
    "Callback",
    "Objective",
    "Solution",
    "Tuned",
    "batched_lbfgs",
    "bundle",
    "descent",
    "lbfgs",
    "nesterov",
    "newton_cg",
    "part_of_mean",
    "sharpness_levels",
    "sla",
    "slam",
    "stop_after",
    "vertex_search",
    "wolfe_lbfgs",
]


def __dir__() -> list[str]:
    return __all__
