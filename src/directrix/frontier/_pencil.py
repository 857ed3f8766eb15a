r"""The one-parameter family of lines that holds every optimum.

.. math:: w(\theta) = (\cos\theta\, \Sigma_+ + \sin\theta\, \Sigma_-)^{-1} \delta,
          \qquad \delta = \mu_+ - \mu_-

Any differentiable risk of the four numbers whose threshold is optimised or integrated out has all
its stationary points here: :math:`\partial R/\partial b = 0` gives :math:`\partial R/\partial m_+ =
-\partial R/\partial m_- =: -\kappa`, and then :math:`\partial R/\partial w = 0` reads :math:`\kappa
\delta = 2 (\partial R/\partial v_+) \Sigma_+ w + 2 (\partial R/\partial v_-) \Sigma_- w`. The same
holds for every Pareto-optimal pair of rates, so any metric increasing in TPR and decreasing in FPR
has its optimum here, differentiable or not. (Anderson and Bahadur 1962 for the error, Su and Liu
1993 for AUC.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse.linalg import LinearOperator, cg

if TYPE_CHECKING:
    from directrix._typing import FloatArray


_POLE = 1e-30


class Lines(NamedTuple):
    """Three numbers of the scores of each line: the negatives' mean is zero."""

    gap: FloatArray
    var_pos: FloatArray
    var_neg: FloatArray


class Grid(NamedTuple):
    """Arcs, logits along each, and the lines there, all arcs one after the other."""

    arcs: list[tuple[float, float]]
    logits: list[FloatArray]
    lines: Lines


class Search(NamedTuple):
    """How finely arcs are searched, in logits of the way from one end to the other.

    Parameters
    ----------
    reach : float
        Logits from the middle: 30 is within 1e-13 of an end.
    first, other : int
        Angles on the first arc and on each other one.
    places, rounds, points : int
        Local minima that are looked at closely, ever finer grids around each, and angles on each.
    settle : int
        Parabolas by which the angle found is made independent of rounding.
    curve : int
        Angles of the ROC curve.
    candidates : int
        Angles among which rows choose.
    """

    reach: float
    first: int
    other: int
    places: int
    rounds: int
    points: int
    settle: int
    curve: int
    candidates: int


def angle_of(low: Any, high: Any, logits: Any) -> Any:
    """Return the angles that are some logits on the way from one end of an arc to the other."""
    return low + (high - low) / (1.0 + np.exp(-logits))


class Pencil(ABC):
    """The family, however its equations are solved."""

    search: ClassVar[Search]

    @abstractmethod
    def lines(self, angles: FloatArray) -> Lines:
        """Return the three numbers of the line at each angle."""

    @abstractmethod
    def direction(self, angle: float) -> FloatArray:
        """Return the coefficients of the line at an angle."""

    @abstractmethod
    def arcs(self) -> list[tuple[float, float]]:
        """Return the intervals of angles to search, the most promising first."""

    @cached_property
    def grid(self) -> Grid:
        """Places along all arcs to search any risk on."""
        reach, arcs = self.search.reach, self.arcs()
        counts = [self.search.other if number else self.search.first for number in range(len(arcs))]
        logits = [np.linspace(-reach, reach, count) for count in counts]
        angles = [angle_of(*arc, each) for arc, each in zip(arcs, logits, strict=True)]
        return Grid(arcs, logits, self.lines(np.concatenate(angles)))


class EigenPencil(Pencil):
    r"""The whole family from one generalised eigendecomposition.

    .. math:: \Sigma_+ V = (\Sigma_+ + \Sigma_-) V \Lambda, \quad
              V^\top (\Sigma_+ + \Sigma_-) V = I, \quad g = V^\top \delta, \quad
              u_i = \frac{g_i}{\cos\theta\, \lambda_i + \sin\theta\, (1 - \lambda_i)}

    makes :math:`w(\theta) = V u`, and the three numbers sums of d terms.
    """

    search = Search(
        reach=30.0,
        first=97,
        other=49,
        places=3,
        rounds=3,
        points=33,
        settle=3,
        curve=385,
        candidates=23,
    )

    def __init__(self, positive: FloatArray, negative: FloatArray, delta: FloatArray) -> None:
        eigenvalues, self.vectors = eigh(positive, positive + negative)
        self.eigenvalues = np.clip(eigenvalues, 0.0, 1.0)
        self.delta = self.vectors.T @ delta

    def _inverse(self, angles: FloatArray) -> FloatArray:
        ratio = np.cos(angles)[:, None] * self.eigenvalues
        ratio += np.sin(angles)[:, None] * (1.0 - self.eigenvalues)
        # An angle may round to a pole itself, where the line is that of the one eigenvector.
        inverse: FloatArray = self.delta / np.where(ratio == 0.0, _POLE, ratio)
        return inverse

    def lines(self, angles: FloatArray) -> Lines:
        """Return the three numbers of the line at each angle."""
        u = self._inverse(np.asarray(angles, dtype=np.float64))
        # Next to a pole u is huge; a line has no length, so its largest part may be one.
        u = u / _largest(u)
        return Lines(u @ self.delta, u**2 @ self.eigenvalues, u**2 @ (1.0 - self.eigenvalues))

    def direction(self, angle: float) -> FloatArray:
        """Return the coefficients of the line at an angle."""
        u = self._inverse(np.array([angle]))
        direction: FloatArray = self.vectors @ (u / _largest(u))[0]
        return direction

    def arcs(self) -> list[tuple[float, float]]:
        """Return the arc where the pencil is positive definite, then the next past each pole.

        The poles are the angles at which a denominator is zero.
        """
        poles = np.unique(np.arctan2(self.eigenvalues, self.eigenvalues - 1.0))
        # poles lie in [π/2, π]; the same minus π are those on the other side of the first arc
        around = np.unique(np.concatenate([poles - np.pi, poles]))
        edges = np.append(around, around[0] + 2.0 * np.pi)
        # The first arc holds π/4, between the last pole below zero and the first above.
        first = int(np.searchsorted(edges, np.pi / 4)) - 1
        wanted = [first, first + 1, first - 1, first + 2, first - 2]
        known = [k for k in wanted if 0 <= k < len(edges) - 1]
        return [(float(edges[k]), float(edges[k + 1])) for k in dict.fromkeys(known)]


def _largest(u: FloatArray) -> FloatArray:
    """Return the largest part of each row; one where the classes have one mean, and all are 0."""
    largest: FloatArray = np.abs(u).max(axis=1, keepdims=True)
    return np.where(largest == 0.0, 1.0, largest)


class SolvedPencil(Pencil):
    """The quadrant of the family, by one linear solve for each angle asked for.

    For very many features an eigendecomposition costs thirty times a Cholesky factorisation, and
    a search needs some twenty of these; where the covariances are operators, conjugate gradients
    take their place.
    """

    search = Search(
        reach=6.0, first=9, other=9, places=1, rounds=4, points=5, settle=0, curve=17, candidates=7
    )

    def __init__(self, positive: Any, negative: Any, delta: FloatArray) -> None:
        self.positive, self.negative, self.delta = positive, negative, delta
        self._solved: dict[float, FloatArray] = {}
        self.direction(np.pi / 4)  # a singular pencil shows now, and AUC has its line

    def direction(self, angle: float) -> FloatArray:
        """Return the coefficients of the line at an angle."""
        if angle not in self._solved:
            c, s = np.cos(angle), np.sin(angle)
            if isinstance(self.positive, np.ndarray):
                mixed = c * self.positive + s * self.negative
                solution = cho_solve(cho_factor(mixed, overwrite_a=True), self.delta)
            else:
                solution = _conjugate_gradients(c, self.positive, s, self.negative, self.delta)
            self._solved[angle] = solution
        return self._solved[angle]

    def lines(self, angles: FloatArray) -> Lines:
        """Return the three numbers of the line at each angle."""
        solved = np.stack([self.direction(float(angle)) for angle in angles], axis=1)
        return Lines(
            self.delta @ solved,
            np.sum(solved * (self.positive @ solved), axis=0),
            np.sum(solved * (self.negative @ solved), axis=0),
        )

    def arcs(self) -> list[tuple[float, float]]:
        """Return the quadrant, in which the pencil is sure to be positive definite."""
        return [(0.0, np.pi / 2)]


def _conjugate_gradients(
    c: float, positive: Any, s: float, negative: Any, delta: FloatArray
) -> FloatArray:
    diagonal = c * positive.diagonal() + s * negative.diagonal()
    mixed = LinearOperator(
        positive.shape, matvec=lambda v: c * (positive @ v) + s * (negative @ v), dtype=np.float64
    )
    scale = LinearOperator(positive.shape, matvec=lambda v: v / diagonal, dtype=np.float64)
    solution, _ = cg(mixed, delta, rtol=1e-10, maxiter=2000, M=scale)
    result: FloatArray = solution
    return result
