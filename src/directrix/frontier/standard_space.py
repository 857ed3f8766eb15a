"""Class moments of standardised features, and the families of lines of every shrinkage."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import qr

from directrix.frontier._pencil import EigenPencil, Pencil, ProjectedPencil, SolvedPencil, angle_at
from directrix.moments import RowScatter
from directrix.moments.class_moments import oas, shrunk
from directrix.rows import labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.moments import ClassMoments, Moments, Standardized

# ── A subspace that holds the family of lines of very many features, without a d × d matrix ───────

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
    """An orthonormal basis, and both covariances and the difference of the means in it.

    Parameters
    ----------
    vectors : array of shape (d, k)
    positive, negative : array of shape (k, k)
        Covariances of the classes, not shrunk.
    delta : array of shape (k,)
        Difference of the class means.
    error : float
        Bound of the relative error of the lines, of the worst of the angles looked at.
    """

    vectors: FloatArray
    positive: FloatArray
    negative: FloatArray
    delta: FloatArray
    error: float


class Shrunk(NamedTuple):
    """A covariance operator and its shrinkage.

    Parameters
    ----------
    covariance : LinearOperator of shape (d, d)
    share : float
        The least share that the basis must serve, above zero.
    level : float
        Mean variance, which is the multiple of the identity.
    """

    covariance: Any
    share: float
    level: float


def wide_basis(positive: Shrunk, negative: Shrunk, delta: FloatArray) -> WideBasis:
    """Return a basis in which the lines of all angles have a small error.

    Parameters
    ----------
    positive, negative : Shrunk
        Covariances of the classes.
    delta : array of shape (d,)
        Difference of the class means.
    """
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

    Parameters
    ----------
    sides : tuple of Shrunk
        Covariances of the positives and of the negatives.
    delta : array of shape (d,)
    weights : array of shape (2, angles)
        Cosine and sine of each angle.
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
        """Add the parts of some vectors that are new; return whether there are any.

        Parameters
        ----------
        vectors : array of shape (d, m)
        """
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
        mixed = c * self._shrunk(0) + s * self._shrunk(1)
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

    def _shrunk(self, index: int) -> FloatArray:
        """Return the shrunk covariance of a class in the basis."""
        _, share, level = self.sides[index]
        projected = self._projected[index][: self.size, : self.size]
        return (1.0 - share) * projected + share * level * np.eye(self.size)

    def basis(self, error: float) -> WideBasis:
        """Return the basis as it is now; `error` is that of its lines."""
        known = slice(0, self.size)
        vectors = self._vectors[:, known]
        positive, negative = (projected[known, known].copy() for projected in self._projected)
        return WideBasis(vectors, positive, negative, vectors.T @ self.delta, error)


# ── Class moments of standardised features, and the families of lines of every shrinkage ──────────

#: With more features, an eigendecomposition costs more than the linear solves of a search.
_EIGEN_FEATURES = 500
#: Shrinkage of a singular covariance at least.
_LEAST_SHRINKAGE = 1e-10


class StandardSpace:
    """The standardised features of some moments, which frontiers of several shrinkages share.

    Parameters
    ----------
    moments : Moments
        Of two classes.
    shrinkages : sequence of "oas" or float
        Shrinkages of the frontiers: with very many features, one subspace serves them all.
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
        delta: FloatArray = moments.positive.mean - moments.negative.mean
        return delta

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

    @property
    def _wide(self) -> bool:
        """Whether the scatters are operators over rows."""
        return isinstance(self.standardized.moments.positive.scatter, RowScatter)

    def _pencil(self, shrinkage: str | float, least: float) -> Pencil:
        """Decompose the covariances, shrunk by `least` at least."""
        shares = [max(share, least) for share in self._shares(shrinkage)]
        if self._wide:
            levels = [group.variance.mean() for group in self._groups] or [1.0, 1.0]
            covariances = [
                (1.0 - share) * covariance + share * level * np.eye(len(covariance))
                for share, level, covariance in zip(
                    shares, levels, (self._basis.positive, self._basis.negative), strict=True
                )
            ]
            within = EigenPencil(covariances[0], covariances[1], self._basis.delta)
            return ProjectedPencil(within, self._basis.vectors)
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
