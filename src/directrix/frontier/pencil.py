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
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, qr

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.linear.signed_quadratic import signed_quadratic
from directrix.moments import ClassMoments, Moments, RowScatter, Standardized
from directrix.moments.class_moments import oas, shrunk
from directrix.rows import labels

#: Denominator at a pole.
_POLE = 1e-30


class LineScores(NamedTuple):
    """Moments of the scores of k lines, shifted so that the mean of the negatives is zero.

    `gap` is the mean score of the positives.
    """

    gap: FloatArray
    var_pos: FloatArray
    var_neg: FloatArray

    @classmethod
    def of(
        cls, coef: FloatArray, delta: FloatArray, cov_pos: FloatArray, cov_neg: FloatArray
    ) -> LineScores:
        """Return the moments of the scores of lines in rows, without intercepts."""
        variances = (
            np.maximum(np.einsum("kp,kp->k", coef @ covariance, coef), 0.0)
            for covariance in (cov_pos, cov_neg)
        )
        return cls(coef @ delta, *variances)

    @property
    def length(self) -> FloatArray:
        """The root of the variance of each line, averaged over both classes; never zero."""
        spread = np.sqrt((self.var_pos + self.var_neg) / 2.0)
        gap = np.where(self.gap == 0.0, 1.0, np.abs(self.gap))
        return np.where(spread > 0.0, spread, gap)


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


class ProjectedPencil(EigenPencil):
    """The quadrant of the family from 0 to π/2, where the error of a subspace is bounded.

    Covariances and means are in the coordinates of the subspace, whose orthonormal basis has shape
    (d, k).
    """

    search = EigenPencil.search._replace(reach=6.0, curve=97, candidates=9)

    def __init__(
        self, positive: FloatArray, negative: FloatArray, delta: FloatArray, basis: FloatArray
    ) -> None:
        super().__init__(positive, negative, delta)
        self.basis = basis

    def directions(self, angles: FloatArray) -> FloatArray:
        """Return the coefficients of the line at each angle, of shape (k, d)."""
        return super().directions(angles) @ self.basis.T

    def arcs(self) -> list[tuple[float, float]]:
        """Return the quadrant, where the error of the subspace is bounded."""
        return Pencil.arcs(self)


class SolvedPencil(Pencil):
    """The quadrant of the family from 0 to π/2, by one linear solve for each angle.

    With very many features an eigendecomposition costs thirty times a Cholesky factorisation, and
    a search needs some twenty of these.
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
        return LineScores.of(self.directions(angles), self.delta, self.positive, self.negative)

    def directions(self, angles: FloatArray) -> FloatArray:
        """Return the coefficients of the line at each angle, of shape (k, d)."""
        return np.stack([self._solve(float(angle)) for angle in angles])

    def _solve(self, angle: float) -> FloatArray:
        if angle not in self._solutions:
            mixed = _mixed(self.positive, self.negative, angle)
            self._solutions[angle] = _by_cholesky(mixed, self.delta)
        return self._solutions[angle]


def _mixed(positive: FloatArray, negative: FloatArray, angle: float) -> FloatArray:
    """Return the pencil at an angle."""
    mixed: FloatArray = np.cos(angle) * positive + np.sin(angle) * negative
    return mixed


def _by_cholesky(matrix: FloatArray, right: FloatArray) -> FloatArray:
    solved: FloatArray = cho_solve(cho_factor(matrix, check_finite=False), right)
    return solved


# ── Lines under a ridge in the units of the features ──────────────────────────────────────────────

#: Smallest eigenvalue of a covariance that counts, as a share of the largest.
_LEAST = 1e-12
#: Ridges that are solved one by one; for more of them one decomposition takes less time.
_RIDGES_ONE_BY_ONE = 6


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
        """Return the solutions for several ridges: from one decomposition if there are many."""
        right, unit = self.delta, np.eye(len(matrix))
        if self.signs is not None:
            return np.array(
                [signed_quadratic(matrix + ridge * unit, right, self.signs) for ridge in ridges]
            )
        if not len(right):  # all columns are constant
            return np.zeros((len(ridges), 0))
        if len(ridges) <= _RIDGES_ONE_BY_ONE:
            # Sums in single precision may leave eigenvalues below minus the ridge.
            with suppress(LinAlgError):
                return np.array([_by_cholesky(matrix + ridge * unit, right) for ridge in ridges])
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


# ── A subspace that holds the family of lines of very many features, without a d × d matrix ───────
#
# The lines are the solutions w(θ) of
#
# .. math:: A(\theta)\, w = \delta, \qquad A(\theta) = \cos\theta\, \Sigma_+ + \sin\theta\, \Sigma_-
#
# with shrunk covariances that are known only by their products with vectors. A Galerkin method
# solves them all in one subspace: V is an orthonormal basis of k vectors, u solves the k
# equations :math:`V^\top A(\theta) V u = V^\top \delta`, and w = V u has the least error in the
# norm of A(θ) of all vectors of the subspace. The subspace grows by residuals :math:`r = \delta -
# A(\theta) V u` of the worst angles. For a single angle this is the method of conjugate
# gradients, whose Krylov space is the same for every multiple of the identity in A, so for every
# shrinkage (Frommer and Glässner 1998); for several angles it is a greedy reduced basis (Binev et
# al. 2011).
#
# Shrinkage bounds the least eigenvalue of A(θ) from below by :math:`a = \cos\theta\, \rho_+
# \ell_+ + \sin\theta\, \rho_- \ell_-`, where ℓ is the mean variance of a class and ρ its share,
# and that bounds the error:
#
# .. math:: \frac{\|w - V u\|_A^2}{\|w\|_A^2} \le \frac{\|r\|^2}{a\, \delta^\top V u}

#: Most directions of a basis. It takes 24 bytes for each feature and direction while it is made.
MOST_DIRECTIONS = 64
#: Relative error of a line, in the norm of its pencil, at which the basis is large enough: the
#: scores of the exact line and of this one are then correlated by 0.98 or more.
TOLERANCE = 0.2
#: Least share for which a basis is made; less shrinkage uses the same one.
LEAST_SHARE = 1e-3
#: Angles whose residuals are looked at, between 0 and π/2, by their logits (see `angle_at`).
_LOGITS = np.array([-6.0, -2.5, 0.0, 2.5, 6.0])
#: Residuals that are added at a time.
_AT_A_TIME = 3
#: Part of a residual that is new to the basis, below which it is rounding error.
_NEW = 1e-10


class WideBasis(NamedTuple):
    """An orthonormal basis of shape (d, k), and covariances and difference of the means in it.

    `error` bounds the relative error of the lines, of the worst of the angles looked at.
    """

    vectors: FloatArray
    positive: FloatArray
    negative: FloatArray
    delta: FloatArray
    error: float


class Shrunk(NamedTuple):
    """A covariance operator, shrunk towards its mean variance, `level`, times the identity.

    `share` is the least one that the basis must serve, above zero.
    """

    covariance: Any
    share: float
    level: float


def wide_basis(positive: Shrunk, negative: Shrunk, delta: FloatArray) -> WideBasis:
    """Return a basis in which the lines of all angles have a small error."""
    angles = angle_at(0.0, np.pi / 2.0, _LOGITS)
    growing = _GrowingBasis((positive, negative), delta, np.array([np.cos(angles), np.sin(angles)]))
    growing.add(delta[:, None] if delta.any() else np.eye(len(delta), 1))
    residuals, errors = growing.residuals()
    while errors.max() > TOLERANCE and growing.size < growing.most:
        worst = np.argsort(-errors, kind="stable")[:_AT_A_TIME]
        if not growing.add(residuals[:, worst[errors[worst] > TOLERANCE]]):
            break  # the subspace holds the exact lines
        residuals, errors = growing.residuals()
    return growing.basis(float(errors.max()))


class _GrowingBasis:
    """An orthonormal basis with the products of both shrunk covariances and its vectors.

    `weights` are the cosine and the sine of each angle, of shape (2, angles).
    """

    def __init__(
        self, sides: tuple[Shrunk, Shrunk], delta: FloatArray, weights: FloatArray
    ) -> None:
        self.sides, self.delta, self.weights = sides, delta, weights
        self.size, self.most = 0, min(MOST_DIRECTIONS, len(delta))
        # In Fortran order, in which the leading columns are contiguous.
        self._vectors = np.empty((len(delta), self.most), order="F")
        self._images = [np.empty_like(self._vectors) for _ in sides]
        self._projected = [np.zeros((self.most, self.most)) for _ in sides]

    def add(self, vectors: FloatArray) -> bool:
        """Add the parts of some vectors that are new; return whether there are any."""
        old = self._vectors[:, : self.size]
        scale = np.linalg.norm(vectors, axis=0).max()
        for _ in range(2):  # once more, because the first time leaves rounding errors
            vectors = vectors - old @ (old.T @ vectors)
        new, triangle, _ = qr(vectors, mode="economic", pivoting=True)
        count = int(np.count_nonzero(np.abs(triangle.diagonal()) > _NEW * scale))
        new = new[:, : min(count, self.most - self.size)]
        first, self.size = self.size, self.size + new.shape[1]
        columns, known = slice(first, self.size), slice(0, self.size)
        self._vectors[:, columns] = new
        for side, images, projected in zip(self.sides, self._images, self._projected, strict=True):
            product = side.covariance @ new
            projected[known, columns] = self._vectors[:, known].T @ product
            projected[columns, known] = projected[known, columns].T
            product *= 1.0 - side.share
            images[:, columns] = product + side.share * side.level * new
        return self.size > first

    def residuals(self) -> tuple[FloatArray, FloatArray]:
        """Return the residual of the line at each angle, and the bound of its relative error."""
        known = slice(0, self.size)
        delta = self._vectors[:, known].T @ self.delta
        c, s = self.weights[:, :, None, None]
        positive, negative = (
            _toward_identity(projected[known, known], side.share, side.level)
            for projected, side in zip(self._projected, self.sides, strict=True)
        )
        mixed = c * positive + s * negative
        solutions = np.linalg.solve(mixed, delta[:, None])[:, :, 0].T
        residuals = np.repeat(self.delta[:, None], len(self.weights.T), axis=1)
        for weight, images in zip(self.weights, self._images, strict=True):
            residuals -= images[:, known] @ (weight * solutions)
        squares = np.sum(residuals**2, axis=0)
        floors = np.array([side.share * side.level for side in self.sides]) @ self.weights
        gain = floors * (delta @ solutions)
        # Without a difference of the means there is no line, and no error.
        errors: FloatArray = np.sqrt(squares / np.where(gain > 0.0, gain, np.inf))
        return residuals, errors

    def basis(self, error: float) -> WideBasis:
        """Return the basis as it is now; `error` is that of its lines."""
        known = slice(0, self.size)
        vectors = self._vectors[:, known]
        positive, negative = (projected[known, known].copy() for projected in self._projected)
        return WideBasis(vectors, positive, negative, vectors.T @ self.delta, error)


def _toward_identity(covariance: FloatArray, share: float, level: float) -> FloatArray:
    """Return a covariance shrunk towards a multiple of the identity."""
    return (1.0 - share) * covariance + share * level * np.eye(len(covariance))


# ── Class moments of standardised features, and the families of lines of every shrinkage ──────────

#: With more features, an eigendecomposition costs more than the linear solves of a search.
_EIGEN_FEATURES = 500
#: Shrinkage of a singular covariance at least.
_LEAST_SHRINKAGE = 1e-10


class StandardSpace:
    """The standardised features of some moments, which frontiers of several shrinkages share.

    With very many features, one subspace serves all shrinkages.
    """

    def __init__(self, moments: Moments, shrinkages: Sequence[str | float]) -> None:
        self.moments = moments
        self.shrinkages = tuple(shrinkages)

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
        """Decompose the covariances, shrunk by `least` at least."""
        shares = [max(share, least) for share in self._shares(shrinkage)]
        if isinstance(self.standardized.moments.positive.scatter, RowScatter):
            levels = [group.variance.mean() for group in self._groups] or [1.0, 1.0]
            basis = self._basis
            positive, negative = map(
                _toward_identity, (basis.positive, basis.negative), shares, levels
            )
            return ProjectedPencil(positive, negative, basis.delta, basis.vectors)
        if not self._groups:
            identity = np.eye(self.moments.n_features)
            return EigenPencil(identity, identity, self.delta)
        positive, negative = (
            shrunk(group, share) for group, share in zip(self._groups, shares, strict=True)
        )
        if self.moments.n_features <= _EIGEN_FEATURES:
            return EigenPencil(positive, negative, self.delta)
        return SolvedPencil(positive, negative, self.delta)

    @cached_property
    def _basis(self) -> WideBasis:
        """The subspace of the lines of very many features."""
        if not self._groups:  # no variance: the line is the difference of the means
            length = float(np.linalg.norm(self.delta))
            vector = self.delta / (length or 1.0)
            zero = np.zeros((1, 1))
            return WideBasis(vector[:, None], zero, zero, np.array([length]), 0.0)
        shares = np.min([self._shares(shrinkage) for shrinkage in self.shrinkages], axis=0)
        positive, negative = (
            Shrunk(group.covariance, max(float(share), LEAST_SHARE), float(group.variance.mean()))
            for group, share in zip(self._groups, shares, strict=True)
        )
        return wide_basis(positive, negative, self.delta)

    def _shares(self, shrinkage: str | float) -> tuple[float, float]:
        """Return the shrinkage of both classes."""
        if shrinkage != "oas":
            share: Any = shrinkage
            if not (isinstance(share, int | float) and 0 <= share <= 1):
                msg = f"shrinkage must be 'oas' or a share from 0 to 1, not {share!r}"
                raise ValueError(msg)
            return (float(share), float(share)) if self._groups else (1.0, 1.0)
        return self._estimated_shares if self._groups else (1.0, 1.0)

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
