"""Cutting planes for a convex risk with corners: BMRM, with a certificate."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from directrix.solve._simplex_qp import solve_qp
from directrix.solve.solution import Callback, Objective, Path, Solution, warn_unless_there

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

_IDLE = 40  # iterations without use after which a plane is dropped


def bundle(
    risk: Objective,
    start: FloatArray,
    *,
    ridge: float,
    penalised: AnyArray | None = None,
    max_iter: int = 1000,
    tol: float = 1e-3,
    callback: Callback | None = None,
) -> Solution:
    r"""Minimise a convex risk and a ridge, from below by tangent planes.

    .. math:: J(w) = R(w) + \tfrac\lambda2 \|w\|^2, \qquad
              w_{k+1} = \arg\min_w\ \max_{i \le k}\, [g_i \cdot w + b_i] + \tfrac\lambda2 \|w\|^2

    The bundle method of Teo and others (2010), which Zhang, Saha and Vishwanathan 2012 compare
    with. The planes lie below R, so the least value of the model is a lower bound of J, returned
    as ``lower_bound``; the gap to the best J found is at most that to the optimum. The program is
    solved in its dual, :math:`\max_\alpha b \cdot \alpha - \frac{1}{2\lambda} \|G^\top
    \alpha\|^2` with :math:`\alpha` in the simplex. A coefficient without penalty adds the equality
    :math:`\sum_i \alpha_i g_{ij} = 0`. Until planes bound it on both sides, a box does; the box
    grows where the risk falls beyond it, and bounds count only where it does not touch.

    Parameters
    ----------
    risk : callable
        Returns R and one subgradient.
    start : array
    ridge : float
        λ.
    penalised : array of bool, optional
        Which coefficients the ridge applies to; by default all but the last, the intercept. One
        that the risk does not depend on must be among them: else the rounding of its slope makes
        it run away, and bounds with it.
    max_iter : int
        Planes.
    tol : float
        Gap at which to stop, relative to J.
    callback : callable, optional
        Is given the best coefficients and value after each plane; True stops.
    """
    coef = np.array(start, dtype=np.float64)
    if not 0.0 < ridge < inf:
        msg = f"ridge must be above zero, not {ridge!r}: it keeps the model bounded"
        raise ValueError(msg)
    held = np.arange(len(coef)) < len(coef) - 1 if penalised is None else np.asarray(penalised)
    if held.shape != coef.shape or held.dtype != bool:
        msg = f"penalised must be {len(coef)} truth values, one for each coefficient"
        raise ValueError(msg)
    model = _Model(ridge, held, 10.0 * max(1.0, float(np.abs(coef).max(initial=0.0))))
    best, value, bound, norm = coef, inf, -inf, inf
    path: Path | None = None
    while True:
        at, slope = risk(coef)
        here = at + 0.5 * ridge * float(coef[held] @ coef[held])
        if here < value:
            best, value = coef, here
            norm = float(np.linalg.norm(slope + ridge * np.where(held, coef, 0.0)))
        if path is None:
            path = Path(value, callback)
        elif not path.goes_on(best, value):
            break
        enough = tol * abs(value)
        if value - bound <= enough or path.n_iter >= max_iter:
            break
        model.add(slope, at - float(slope @ coef), coef)
        coef, below = model.least()
        bound = max(bound, below)
    converged = value - bound <= enough
    solution = Solution(best, value, norm, path.n_iter, converged, tuple(path.values), bound)
    left = f"a gap of {value - bound:.1e} where {enough:.1e} was asked for"
    return solution if path.stopped else warn_unless_there(solution, "BMRM", left)


class _Model:
    """The greatest of some planes, plus the ridge.

    Its dual has a variable for each side of the box of each coefficient without penalty, then one
    for each plane.
    """

    def __init__(self, ridge: float, held: AnyArray, box: float) -> None:
        self._ridge, self._held, self._box = ridge, held, box
        self._loose = np.flatnonzero(~held)
        self._sides = 2 * len(self._loose)
        self._planes = np.zeros((0, len(held)))
        self._offset = np.zeros(0)
        self._gram = np.zeros((0, 0))
        self._idle = np.zeros(0, dtype=np.int64)
        self._dual = np.zeros(self._sides)

    def add(self, slope: FloatArray, offset: float, coef: FloatArray) -> None:
        """Add the tangent plane at some coefficients; widen the box if R falls beyond it."""
        loose = self._loose
        if ((np.abs(coef[loose]) >= self._box * (1.0 - 1e-9)) & (slope * coef < 0)[loose]).any():
            self._box *= 10.0
        kept = self._idle <= _IDLE
        self._planes = np.vstack([self._planes[kept], slope])
        self._offset = np.append(self._offset[kept], offset)
        self._idle = np.append(self._idle[kept], 0)
        products = self._planes[:, self._held] @ slope[self._held]
        gram = np.empty((len(products), len(products)))
        gram[:-1, :-1] = self._gram[np.ix_(kept, kept)]
        gram[-1] = gram[:, -1] = products
        self._gram = gram
        sides, planes = np.split(self._dual, [self._sides])
        self._dual = np.concatenate([sides, planes[kept], [0.0]])
        if len(products) == 1:  # the only plane, and the sides it leans on
            up, down = np.maximum(-slope[loose], 0.0), np.maximum(slope[loose], 0.0)
            self._dual = np.concatenate([up, down, [1.0]])

    def least(self) -> tuple[FloatArray, float]:
        """Return where the model is least, and a lower bound of J: −∞ where the box touches."""
        sides, loose = self._sides, self._loose
        k = sides + len(self._offset)
        gram = np.zeros((k, k))
        gram[sides:, sides:] = self._gram / self._ridge
        gain = np.concatenate([np.full(sides, -self._box), self._offset])
        # Σα = 1, and for each loose coefficient Σ α g + (upper side) − (lower side) = 0.
        equal = np.zeros((1 + len(loose), k))
        equal[0, sides:] = 1.0
        equal[1:, sides:] = self._planes[:, loose].T
        equal[1:, :sides] = np.hstack([np.eye(len(loose)), -np.eye(len(loose))])
        self._dual, price = solve_qp(gram, gain, equal, self._dual)
        alpha = np.maximum(self._dual[sides:], 0.0)
        alpha /= alpha.sum()
        self._idle = np.where(alpha > 0, 0, self._idle + 1)
        together = alpha @ self._planes
        coef = -together / self._ridge
        coef[loose] = np.clip(-price[1:], -self._box, self._box)
        weighed = together[self._held]
        bound = float(alpha @ self._offset) - float(weighed @ weighed) / (2.0 * self._ridge)
        # What rounding leaves of the equalities costs at most this much within the box.
        bound -= self._box * float(np.abs(together[loose]).sum())
        touches = self._dual[:sides].max(initial=0.0) > 1e-12
        return coef, -inf if touches else bound
