"""Loss: the base class of every loss, a smooth function of all scores and its gradient."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from math import inf
from typing import Any, ClassVar, Self

import numpy as np

from directrix._typing import AnyArray, FloatArray


class Loss(ABC):
    """Base class of losses: a metric of n scores that can be minimised.

    A subclass is a frozen dataclass, hashable and compared by value. The laws that it keeps are in
    ``tests/contracts``.
    """

    #: Names the loss in reports.
    name: ClassVar[str]
    #: Whether it is a mean over rows, which is defined for rows of one class too.
    separable: ClassVar[bool] = False

    @abstractmethod
    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the loss of these scores, and its partial derivative by every score.

        Parameters
        ----------
        positive : array of bool of shape (n,)
        scores : array of shape (n,)
        weight : array of shape (n,)
            A row of weight k counts as k rows.
        """

    def values(self, positive: AnyArray, scores: FloatArray, weight: FloatArray) -> FloatArray:
        """Return the losses of several vectors of scores.

        Parameters
        ----------
        positive : array of bool of shape (n,)
        scores : array of shape (n, m)
        weight : array of shape (n,)

        Returns
        -------
        array of shape (m,)
        """
        columns = np.ascontiguousarray(scores.T)
        return np.array([self.value_and_grad(positive, column, weight)[0] for column in columns])

    def sharpen(self, level: float) -> Loss:  # noqa: ARG002
        """Return the loss ``level`` times as sharp; the loss itself if it has no sharpness."""
        return self

    @property
    def model_label(self) -> str:
        """Name in reports of a linear model that is fitted with the loss."""
        return f"linear model with {self.name.replace('_', ' ')} loss"

    @property
    def sigmoid_mixture(self) -> tuple[float, float] | None:
        r"""Constants (a, γ) of a loss :math:`-\log(a + (1 - 2a)\, \sigma(\gamma z))` of margins z.

        None for any other loss. Losses of this family can be minimised many at a time.
        """
        return None

    def pair_kernel(self, difference: FloatArray) -> FloatArray | None:  # noqa: ARG002
        """Return the loss of pairs, if the loss is the mean of one of every positive and negative.

        None for any other loss. Losses of pairs can be minimised many at a time.

        Parameters
        ----------
        difference : array
            Score of the positive, less that of the negative.
        """
        return None

    @property
    def sharpness(self) -> float | None:
        """Sharpness γ; None for a loss without one."""
        return getattr(self, "gamma", None)

    @property
    def complexity(self) -> float:
        """Rank among losses that do equally well: the simpler is chosen; logistic is 0."""
        return 4.0

    def _with(self, **fields: Any) -> Self:
        return replace(self, **fields)  # type: ignore[type-var]


def require_above_zero(**values: float) -> None:
    """Raise ValueError for a parameter that is not above zero."""
    for name, value in values.items():
        if not value > 0:
            msg = f"{name} must be above zero, not {value!r}"
            raise ValueError(msg)


def require_width(kappa: float) -> None:
    """Raise ValueError unless the width of a rounded corner is a number from zero up."""
    if not 0.0 <= kappa < inf:
        msg = f"kappa must be a number from zero up, not {kappa!r}"
        raise ValueError(msg)


def require_both(positive: AnyArray, weight: FloatArray) -> tuple[float, float]:
    """Return the weight of the positives and of the negatives; raise if one class is missing."""
    n_pos = float(weight @ positive)
    n_neg = float(weight.sum()) - n_pos
    if not (n_pos > 0 and n_neg > 0):
        msg = "the rows are of one class only (by weight), so this loss is not defined"
        raise ValueError(msg)
    return n_pos, n_neg
