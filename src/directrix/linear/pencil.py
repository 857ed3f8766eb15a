r"""The one-parameter family of lines that holds the optimum of every metric, from class moments.

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
interval of angles between two neighbouring poles. Covariances are regularised in one of two ways:
`StandardSpace` shrinks those of standardised features, and `RidgeMoments` adds a ridge in the units
of the features.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse.linalg import aslinearoperator

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.fit.compare import LineScores
from directrix.linear.signed_quadratic import signed_quadratic
from directrix.moments import ClassMoments, Moments, RowScatter, Standardized
from directrix.moments.class_moments import oas, shrunk
from directrix.rows import labels

#: Denominator at a pole.
_POLE = 1e-30


class Grid(NamedTuple):
    """Angles on which every risk is evaluated first, arc after arc.

    `logits` are the positions along each arc (see `angle_at`), `scores` those of the lines there.
    """

    arcs: list[tuple[float, float]]
    logits: list[FloatArray]
    scores: LineScores


class ArcSearch(NamedTuple):
    """How finely the arcs are searched."""

    #: Largest logit of the first grid: at 30 an angle is within 1e-13 of the end of the arc.
    reach: float
    #: Angles of the first grid on the first arc, and on each of the others.
    first_arc: int
    other_arcs: int
    #: Local minima of the first grid that are refined.
    valleys: int
    #: Ever finer grids around each local minimum, and angles of each grid.
    rounds: int
    points: int
    #: Steps of parabolic interpolation at the end.
    parabolas: int
    #: Angles whose ROC curves make up that of the frontier.
    curve: int
    #: Angles of the lines among which rows choose.
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

    def arcs(self) -> list[tuple[float, float]]:
        """Return the arcs to search, the most promising first.

        By default this is the quadrant in which the pencil is always positive definite.
        """
        return [(0.0, np.pi / 2)]

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

    makes :math:`w(\theta) = V u`, and the moments of its scores sums of d terms. The sum of the
    covariances `positive` and `negative` must be positive definite; `delta` is the difference of
    the class means.
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
    """The quadrant of the family from 0 to π/2, by one linear system for each angle.

    With very many features an eigendecomposition costs thirty times a Cholesky factorisation, and
    a search needs some twenty of these. Covariances may be operators: the systems are then solved
    together by conjugate gradients.
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

    def __init__(self, positive: Any, negative: Any, delta: FloatArray) -> None:
        self.positive, self.negative, self.delta = positive, negative, delta
        self._solutions: dict[float, FloatArray] = {}
        self.directions(np.array([np.pi / 4]))  # a singular pencil is an error now, not later

    def scores(self, angles: FloatArray) -> LineScores:
        """Return the moments of the scores of the line at each angle."""
        return LineScores.of(self.directions(angles), self.delta, self.positive, self.negative)

    def directions(self, angles: FloatArray) -> FloatArray:
        """Return the coefficients of the line at each angle, of shape (k, d)."""
        wanted = angles.tolist()
        new = [angle for angle in dict.fromkeys(wanted) if angle not in self._solutions]
        if new:
            self._solutions |= zip(new, self._solved(np.array(new)), strict=True)
        return np.stack([self._solutions[angle] for angle in wanted])

    def _solved(self, angles: FloatArray) -> FloatArray:
        if not isinstance(self.positive, np.ndarray):
            sides = self.positive, self.negative
            return _by_conjugate_gradients(
                sides, np.stack([np.cos(angles), np.sin(angles)]), self.delta
            )
        mixed = (_mixed(self.positive, self.negative, angle) for angle in angles)
        return np.array([_by_cholesky(matrix, self.delta) for matrix in mixed])


def _mixed(positive: FloatArray, negative: FloatArray, angle: float) -> FloatArray:
    mixed: FloatArray = np.cos(angle) * positive + np.sin(angle) * negative
    return mixed


def _by_cholesky(matrix: FloatArray, right: FloatArray) -> FloatArray:
    solved: FloatArray = cho_solve(cho_factor(matrix, check_finite=False), right)
    return solved


#: Conjugate gradients end at this norm of the residuals, relative to the right side, or after so
#: many products: rounding errors grow on the way, and vanish only at the solution.
_RESIDUAL, _MOST_PRODUCTS = 1e-7, 200


def _by_conjugate_gradients(
    sides: tuple[Any, Any], shares: FloatArray, right: FloatArray
) -> FloatArray:
    """Solve the equations of sums of two operators, of shares (2, k), in common products."""
    solved = np.zeros((len(right), shares.shape[1]))
    residual = np.repeat(right[:, None], shares.shape[1], axis=1)
    direction, square = residual.copy(), np.square(residual).sum(axis=0)
    least = _RESIDUAL**2 * square
    for _ in range(_MOST_PRODUCTS):
        open_ = np.flatnonzero(square > least)
        if not len(open_):
            break
        along = direction[:, open_]
        pairs = zip(shares[:, open_], sides, strict=True)
        image = sum(share * (side @ along) for share, side in pairs)
        length = square[open_] / (along * image).sum(axis=0)
        solved[:, open_] += length * along
        residual[:, open_] -= length * image
        before, square[open_] = square[open_], np.square(residual[:, open_]).sum(axis=0)
        direction[:, open_] = residual[:, open_] + square[open_] / before * along
    return solved.T


# ── Lines under a ridge in the units of the features ──────────────────────────────────────────────

#: Smallest eigenvalue of a covariance that counts, as a share of the largest.
_LEAST = 1e-12


@dataclass(frozen=True)
class RidgeMoments:
    r"""Means and covariances of two classes, and their lines under a ridge.

    .. math:: w(\lambda, \theta) \propto
              (\cos\theta\, \Sigma_+ + \sin\theta\, \Sigma_- + \lambda I)^{-1} (\mu_+ - \mu_-)

    With signs (1 where a coefficient may not be negative, −1 where it may not be positive, 0
    elsewhere), w is the minimum of :math:`\frac12 w^\top (\cdot)\, w - (\mu_+ - \mu_-)^\top w`
    among those that keep them.

    For bins the moments are counts, and the units of their features are a prior that shrinkage
    towards standardised features would undo: a rare bin divided by its deviation escapes every
    ridge.
    """

    delta: FloatArray
    mean_neg: FloatArray
    cov_pos: FloatArray
    cov_neg: FloatArray
    signs: IntArray | None = None

    #: The angle of equal weights of both covariances.
    equal_angle = np.pi / 4

    @classmethod
    def of(
        cls, X: Any, positive: AnyArray, weight: FloatArray, signs: IntArray | None = None
    ) -> RidgeMoments:
        """Summarise rows; those of weight zero do not count."""
        means, covariances = [], []
        for side in (positive, ~positive):
            rows = np.flatnonzero(side & (weight > 0))
            share = weight[rows] / weight[rows].sum()
            mean, second = _moments(X[rows], share)
            means.append(mean)
            covariances.append(second - np.outer(mean, mean))
        return cls(means[0] - means[1], means[1], covariances[0], covariances[1], signs)

    def lines(self, settings: Sequence[tuple[float, float]]) -> FloatArray:
        """Return the lines of pairs of ridge and angle, of shape (k, p + 1), intercept last.

        Their scores have mean 0 for the negatives and variance 1, averaged over both classes.
        """
        by_angle: dict[float, list[int]] = {}
        for index, (_, angle) in enumerate(settings):
            by_angle.setdefault(angle, []).append(index)
        coef = np.empty((len(settings), len(self.delta)))
        for angle, members in by_angle.items():
            ridges = [settings[index][0] for index in members]
            coef[members] = self._solved(self.mixed(angle), ridges)
        scores = LineScores.of(coef, self.delta, self.cov_pos, self.cov_neg)
        coef /= scores.length[:, None]
        return np.column_stack([coef, -(coef @ self.mean_neg)])

    def line_scores(self, lines: FloatArray) -> LineScores:
        """Return the moments of the scores of lines, of shape (k, p + 1), with these means."""
        return LineScores.of(lines[:, :-1], self.delta, self.cov_pos, self.cov_neg)

    def mixed(self, angle: float) -> FloatArray:
        r"""Return :math:`\cos\theta\, \Sigma_+ + \sin\theta\, \Sigma_-`."""
        return _mixed(self.cov_pos, self.cov_neg, angle)

    def _solved(self, matrix: FloatArray, ridges: Sequence[float]) -> FloatArray:
        right, unit = self.delta, np.eye(len(matrix))
        if self.signs is not None:
            return np.array(
                [signed_quadratic(matrix + ridge * unit, right, self.signs) for ridge in ridges]
            )
        if not len(right):  # all columns are constant
            return np.zeros((len(ridges), 0))
        size, vectors = eigh(matrix, check_finite=False)
        least = _LEAST * max(float(size[-1]), 0.0)
        shifted = np.maximum(size, 0.0) + np.array(ridges)[:, None]
        solved: FloatArray = (vectors.T @ right / np.maximum(shifted, least)) @ vectors.T
        return solved


def _moments(X: Any, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the weighted sum of the rows, and of their products with themselves."""
    scaled = X.multiply(share[:, None]) if sparse.issparse(X) else X * share[:, None]
    second = X.T @ scaled
    return np.asarray(X.T @ share), np.asarray(second.toarray() if sparse.issparse(X) else second)


# ── Class moments of standardised features, and the families of lines of every shrinkage ──────────

#: With more features, an eigendecomposition costs more than the linear solves of a search.
_EIGEN_FEATURES = 500
#: Shrinkage of a singular covariance at least, and of an operator, which may well be singular.
_LEAST_SHRINKAGE, _LEAST_OF_OPERATOR = 1e-10, 1e-3


class StandardSpace:
    """The standardised features of some moments, which frontiers of several shrinkages share."""

    def __init__(self, moments: Moments) -> None:
        self.moments = moments

    @cached_property
    def standardized(self) -> Standardized:
        """The moments of the standardised features."""
        require_rows_of_both(self.moments)
        return self.moments.standardize()

    @cached_property
    def delta(self) -> FloatArray:
        """Difference of the class means of the standardised features."""
        moments = self.standardized.moments
        return moments.positive.mean - moments.negative.mean

    def pencil(self, shrinkage: str | float) -> Pencil:
        """Return the family of lines of covariances with this shrinkage."""
        if isinstance(self.standardized.moments.positive.scatter, RowScatter):
            return self._pencil(shrinkage, _LEAST_OF_OPERATOR)
        try:
            return self._pencil(shrinkage, 0.0)
        except np.linalg.LinAlgError:  # singular: a constant column, or fewer rows than features
            return self._pencil(shrinkage, _LEAST_SHRINKAGE)

    @cached_property
    def _groups(self) -> tuple[ClassMoments, ...]:
        """Both classes; one without variance, such as a single row, takes that of the other."""
        moments = self.standardized.moments
        varying = [
            replace(group, scatter=group.scatter.stacked())
            if isinstance(group.scatter, RowScatter)
            else group
            for group in (moments.positive, moments.negative)
            if group.variance.any()
        ]
        return tuple(varying if len(varying) == 2 else varying * 2)

    def _pencil(self, shrinkage: str | float, least: float) -> Pencil:
        """Return the family of covariances that are shrunk by ``least`` at least."""
        if not self._groups:  # no variance: the line is the difference of the means
            identity = aslinearoperator(sparse.eye_array(self.moments.n_features))
            return SolvedPencil(identity, identity, self.delta)
        positive, negative = (
            shrunk(group, max(share, least))
            for group, share in zip(self._groups, self._shares(shrinkage), strict=True)
        )
        narrow = isinstance(positive, np.ndarray) and self.moments.n_features <= _EIGEN_FEATURES
        return (EigenPencil if narrow else SolvedPencil)(positive, negative, self.delta)

    def _shares(self, shrinkage: str | float) -> tuple[float, float]:
        if shrinkage != "oas":
            share: Any = shrinkage
            if not (isinstance(share, int | float) and 0 <= share <= 1):
                msg = f"shrinkage must be 'oas' or a share from 0 to 1, not {share!r}"
                raise ValueError(msg)
            return float(share), float(share)
        return self._estimated_shares

    @cached_property
    def _estimated_shares(self) -> tuple[float, float]:
        positive, negative = self._groups
        share = oas(positive)
        return share, share if negative is positive else oas(negative)


def require_rows_of_both(moments: Moments) -> None:
    """Raise an error that names the class without rows, if there is one."""
    negative, positive = labels.negative_and_positive(moments.classes)
    lacking = [label for label in (negative, positive) if not moments.by_class[label].count]
    if lacking:
        which = "neither has any" if len(lacking) == 2 else f"class {lacking[0]!r} has none"
        msg = (
            f"both classes need rows for a line between them, but {which}: add some (rows of "
            "weight zero do not count)"
        )
        raise ValueError(msg)
