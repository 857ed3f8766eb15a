r"""A subspace that holds the family of lines of very many features, without a d × d matrix.

The lines are the solutions w(θ) of

.. math:: A(\theta)\, w = \delta, \qquad A(\theta) = \cos\theta\, \Sigma_+ + \sin\theta\, \Sigma_-

with shrunk covariances that are known only by their products with vectors. A Galerkin method solves
them all in one subspace: V is an orthonormal basis of k vectors, u solves the k equations
:math:`V^\top A(\theta) V u = V^\top \delta`, and w = V u has the least error in the norm of A(θ)
of all vectors of the subspace. The subspace grows by residuals :math:`r = \delta - A(\theta) V u`
of the worst angles. For a single angle this is the method of conjugate gradients, whose Krylov
space is the same for every multiple of the identity in A, so for every shrinkage (Frommer and
Glässner 1998); for several angles it is a greedy reduced basis (Binev et al. 2011).

Shrinkage bounds the least eigenvalue of A(θ) from below by
:math:`a = \cos\theta\, \rho_+ \ell_+ + \sin\theta\, \rho_- \ell_-`, where ℓ is the mean variance of
a class and ρ its share, and that bounds the error:

.. math:: \frac{\|w - V u\|_A^2}{\|w\|_A^2} \le \frac{\|r\|^2}{a\, \delta^\top V u}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.linalg import qr

from directrix.frontier._pencil import angle_at

if TYPE_CHECKING:
    from directrix._typing import FloatArray

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
