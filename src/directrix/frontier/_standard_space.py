"""Class moments of standardised features, and the families of lines of every shrinkage."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.frontier._pencil import EigenPencil, Pencil, ProjectedPencil, SolvedPencil
from directrix.frontier._wide_basis import LEAST_SHARE, Shrunk, WideBasis, wide_basis
from directrix.moments import RowScatter, labels
from directrix.moments.shrinkage import oas, shrunk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.moments import ClassMoments, Moments, Standardized

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
