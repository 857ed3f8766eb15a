r"""The one-parameter family of lines that holds the optimum of every metric.

.. math:: w(\theta) = (\cos\theta\, \Sigma_+ + \sin\theta\, \Sigma_-)^{-1} \delta,
          \qquad \delta = \mu_+ - \mu_-

Any differentiable risk of the four numbers whose threshold is optimised or integrated out has all
its stationary points here: :math:`\partial R/\partial b = 0` gives :math:`\partial R/\partial m_+ =
-\partial R/\partial m_- =: -\kappa`, and then :math:`\partial R/\partial w = 0` reads :math:`\kappa
\delta = 2 (\partial R/\partial v_+) \Sigma_+ w + 2 (\partial R/\partial v_-) \Sigma_- w`. The same
holds for every Pareto-optimal pair of rates, so any metric increasing in TPR and decreasing in FPR
has its optimum here, differentiable or not. (Anderson and Bahadur 1962 for the error, Su and Liu
1993 for AUC.)

The matrix in the inverse is a *matrix pencil*, singular at some angles, its *poles*. An *arc* is an
interval of angles between two neighbouring poles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

if TYPE_CHECKING:
    from directrix._typing import FloatArray

#: Denominator at a pole.
_POLE = 1e-30


class LineScores(NamedTuple):
    """Moments of the scores of many lines, shifted so that the mean of the negatives is zero.

    Parameters
    ----------
    gap : array of shape (k,)
        Mean score of the positives.
    var_pos, var_neg : array of shape (k,)
        Variance of the scores of each class.
    """

    gap: FloatArray
    var_pos: FloatArray
    var_neg: FloatArray


class Grid(NamedTuple):
    """Angles on which every risk is evaluated first.

    Parameters
    ----------
    arcs : list of tuples of float
        First and last angle of each arc.
    logits : list of arrays
        Positions along each arc; see `angle_at`.
    scores : LineScores
        Scores of the lines there, arc after arc.
    """

    arcs: list[tuple[float, float]]
    logits: list[FloatArray]
    scores: LineScores


class ArcSearch(NamedTuple):
    """How finely the arcs are searched.

    Parameters
    ----------
    reach : float
        Largest logit of the first grid: at 30 an angle is within 1e-13 of the end of the arc.
    first_arc, other_arcs : int
        Angles of the first grid on the first arc, and on each of the others.
    valleys : int
        Local minima of the first grid that are refined.
    rounds, points : int
        Ever finer grids around each local minimum, and angles of each grid.
    parabolas : int
        Steps of parabolic interpolation at the end.
    curve : int
        Angles whose ROC curves make up that of the frontier.
    candidates : int
        Angles of the lines among which rows choose.
    """

    reach: float
    first_arc: int
    other_arcs: int
    valleys: int
    rounds: int
    points: int
    parabolas: int
    curve: int
    candidates: int


def angle_at(low: Any, high: Any, logits: Any) -> Any:
    """Return angles by their positions on an arc: the logit of the share of the way to its end.

    Equal steps in the logit are ever smaller steps in the angle towards both ends, where lines
    change fastest.
    """
    return low + (high - low) / (1.0 + np.exp(-logits))


class Pencil(ABC):
    """The family of lines, by any method of solving its equations."""

    search: ClassVar[ArcSearch]

    @abstractmethod
    def scores(self, angles: FloatArray) -> LineScores:
        """Return the moments of the scores of the line at each angle."""

    @abstractmethod
    def directions(self, angles: FloatArray) -> FloatArray:
        """Return the coefficients of the line at each angle, of shape (k, d)."""

    @abstractmethod
    def arcs(self) -> list[tuple[float, float]]:
        """Return the arcs to search, the most promising first."""

    @cached_property
    def grid(self) -> Grid:
        """The first grid along all arcs; it serves every risk."""
        reach, arcs = self.search.reach, self.arcs()
        counts = [self.search.first_arc] + [self.search.other_arcs] * (len(arcs) - 1)
        grids = [np.linspace(-reach, reach, count) for count in counts]
        angles = [angle_at(*arc, logits) for arc, logits in zip(arcs, grids, strict=True)]
        return Grid(arcs, grids, self.scores(np.concatenate(angles)))


class EigenPencil(Pencil):
    r"""The whole family from one generalised eigendecomposition.

    .. math:: \Sigma_+ V = (\Sigma_+ + \Sigma_-) V \Lambda, \quad
              V^\top (\Sigma_+ + \Sigma_-) V = I, \quad g = V^\top \delta, \quad
              u_i = \frac{g_i}{\cos\theta\, \lambda_i + \sin\theta\, (1 - \lambda_i)}

    makes :math:`w(\theta) = V u`, and the moments of its scores sums of d terms.

    Parameters
    ----------
    positive, negative : array of shape (d, d)
        Covariances of the classes; their sum must be positive definite.
    delta : array of shape (d,)
        Difference of the class means.
    """

    search = ArcSearch(
        reach=30.0,
        first_arc=97,
        other_arcs=49,
        valleys=3,
        rounds=3,
        points=33,
        parabolas=3,
        curve=385,
        candidates=23,
    )

    def __init__(self, positive: FloatArray, negative: FloatArray, delta: FloatArray) -> None:
        eigenvalues, self.vectors = eigh(positive, positive + negative)
        self.eigenvalues = np.clip(eigenvalues, 0.0, 1.0)
        self.delta = self.vectors.T @ delta

    def scores(self, angles: FloatArray) -> LineScores:
        """Return the moments of the scores of the line at each angle."""
        u = self._coordinates(np.asarray(angles, dtype=np.float64))
        return LineScores(u @ self.delta, u**2 @ self.eigenvalues, u**2 @ (1.0 - self.eigenvalues))

    def directions(self, angles: FloatArray) -> FloatArray:
        """Return the coefficients of the line at each angle, of shape (k, d)."""
        directions: FloatArray = self._coordinates(angles) @ self.vectors.T
        return directions

    def arcs(self) -> list[tuple[float, float]]:
        """Return the arc where the pencil is positive definite, then two past each of its ends."""
        poles = np.unique(np.arctan2(self.eigenvalues, self.eigenvalues - 1.0))
        # These poles lie in [π/2, π]; the same minus π are on the other side of the first arc.
        around = np.unique(np.concatenate([poles - np.pi, poles]))
        ends = np.append(around, around[0] + 2.0 * np.pi)
        # The first arc holds π/4, between the last pole below zero and the first above.
        first = int(np.searchsorted(ends, np.pi / 4)) - 1
        wanted = [first, first + 1, first - 1, first + 2, first - 2]
        existing = [k for k in wanted if 0 <= k < len(ends) - 1]
        return [(float(ends[k]), float(ends[k + 1])) for k in existing]

    def _coordinates(self, angles: FloatArray) -> FloatArray:
        """Return u for each angle, scaled so that its largest component is one.

        The length of a line does not matter, and next to a pole u is huge.
        """
        ratio = np.cos(angles)[:, None] * self.eigenvalues
        ratio += np.sin(angles)[:, None] * (1.0 - self.eigenvalues)
        # An angle may round to a pole, where the line is that of a single eigenvector.
        u: FloatArray = self.delta / np.where(ratio == 0.0, _POLE, ratio)
        largest = np.abs(u).max(axis=1, keepdims=True)
        # If the classes have the same mean, u is zero.
        return u / np.where(largest == 0.0, 1.0, largest)


class SolvedPencil(Pencil):
    """The quadrant of the family from 0 to π/2, by one linear solve for each angle.

    With very many features an eigendecomposition costs thirty times a Cholesky factorisation, and
    a search needs some twenty of these.

    Parameters
    ----------
    positive, negative : array of shape (d, d)
        Covariances of the classes.
    delta : array of shape (d,)
        Difference of the class means.
    """

    search = ArcSearch(
        reach=6.0,
        first_arc=9,
        other_arcs=9,
        valleys=1,
        rounds=4,
        points=5,
        parabolas=0,
        curve=17,
        candidates=7,
    )

    def __init__(self, positive: FloatArray, negative: FloatArray, delta: FloatArray) -> None:
        self.positive, self.negative, self.delta = positive, negative, delta
        self._solutions: dict[float, FloatArray] = {}
        self._solve(np.pi / 4)  # for AUC; and a singular pencil is an error now, not later

    def scores(self, angles: FloatArray) -> LineScores:
        """Return the moments of the scores of the line at each angle."""
        directions = self.directions(angles).T
        return LineScores(
            self.delta @ directions,
            np.sum(directions * (self.positive @ directions), axis=0),
            np.sum(directions * (self.negative @ directions), axis=0),
        )

    def directions(self, angles: FloatArray) -> FloatArray:
        """Return the coefficients of the line at each angle, of shape (k, d)."""
        return np.stack([self._solve(float(angle)) for angle in angles])

    def _solve(self, angle: float) -> FloatArray:
        if angle not in self._solutions:
            mixed = np.cos(angle) * self.positive + np.sin(angle) * self.negative
            solution = cho_solve(cho_factor(mixed, overwrite_a=True), self.delta)
            self._solutions[angle] = solution
        return self._solutions[angle]

    def arcs(self) -> list[tuple[float, float]]:
        """Return the quadrant, in which the pencil is always positive definite."""
        return [(0.0, np.pi / 2)]


class ProjectedPencil(Pencil):
    """The quadrant of the family from 0 to π/2, in a subspace of the features.

    Parameters
    ----------
    within : EigenPencil
        The family in the coordinates of the subspace.
    basis : array of shape (d, k)
        Orthonormal basis of the subspace.
    """

    search = ArcSearch(
        reach=6.0,
        first_arc=97,
        other_arcs=49,
        valleys=3,
        rounds=3,
        points=33,
        parabolas=3,
        curve=97,
        candidates=9,
    )

    def __init__(self, within: EigenPencil, basis: FloatArray) -> None:
        self.within, self.basis = within, basis

    def scores(self, angles: FloatArray) -> LineScores:
        """Return the moments of the scores of the line at each angle."""
        return self.within.scores(angles)

    def directions(self, angles: FloatArray) -> FloatArray:
        """Return the coefficients of the line at each angle, of shape (k, d)."""
        directions: FloatArray = self.within.directions(angles) @ self.basis.T
        return directions

    def arcs(self) -> list[tuple[float, float]]:
        """Return the quadrant, where the error of the subspace is bounded."""
        return [(0.0, np.pi / 2)]
