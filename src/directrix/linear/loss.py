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

    A subclass is a frozen dataclass, hashable and compared by value. Either it is **convex** and
    never below the metric it stands for (divided by `worst`), or it is **tight**: as it sharpens
    it tends to that metric itself. A convex loss that is built on a margin has a tight companion,
    its `Ramp`. The laws that it keeps are in ``tests/contracts``.
    """

    #: Stands for the loss wherever one is expected.
    name: ClassVar[str]
    convex: ClassVar[bool] = False
    tight: ClassVar[bool] = False
    #: Whether it is a mean over rows, which is defined for rows of one class too.
    separable: ClassVar[bool] = False
    #: Whether a margin costs the same in both classes, so that `best` and `worst` hold for both.
    symmetric: ClassVar[bool] = True
    #: Whether adding a constant to all scores changes nothing: no intercept is needed then.
    shift_invariant: ClassVar[bool] = False
    #: Whether it is its metric itself, so that its minimum determines the intercept.
    fixes_intercept: ClassVar[bool] = False
    #: Whether a ridge is added to it when it is minimised.
    penalized: ClassVar[bool] = True
    #: Time of one evaluation for n rows, as the documentation shows it.
    runtime: ClassVar[str] = "O(n)"

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

    @abstractmethod
    def sharpen(self, level: float) -> Loss:
        """Return the loss ``level`` times as sharp; at infinity, the function that it smooths.

        Raises ValueError at infinity if that function has no gradient to follow.
        """

    @property
    def base(self) -> Loss:
        """The loss that determines the metric: the loss itself, or what it is made of."""
        return self

    @property
    def label(self) -> str:
        """The loss in words, as a report shows it."""
        return self.name.replace("_", " ")

    @property
    def model_label(self) -> str:
        """What a report calls a linear model that is fitted with the loss."""
        return f"linear model with {self.label} loss"

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

    @property
    def solvers(self) -> tuple[str, ...]:
        """Names of the solvers that can minimise it."""
        names = ["lbfgs", "descent"]
        if self.convex:
            names += ["nesterov", "bundle"]
        if self.tight and self.sharpness is not None:
            names += ["sla", "slam"]
        if self.separable:
            names.append("sgd")
        return tuple(names)

    def gap(self, positive: AnyArray, weight: FloatArray) -> float:  # noqa: ARG002
        """Return the greatest distance from the function that it smooths, at any scores."""
        return 0.0

    @property
    def best(self) -> float:
        """Value where every row is far on its right side."""
        return 0.0

    @property
    def worst(self) -> float:
        """Value for the worst metric: a tight loss tends to it, a convex one is not below it."""
        return 1.0

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
