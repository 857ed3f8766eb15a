"""What every loss is: a smooth function of all scores, with one partial for each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray


class Loss(ABC):
    """A metric of n scores that can be descended. A frozen dataclass: hashable, free to clone.

    Either it is **convex** and never below the metric it stands for (divided by `worst`), or it
    is **tight**: as it sharpens it tends to that metric itself. A convex loss that is built on a
    margin has a tight companion, the `Ramp` of it.
    """

    #: Stands for the loss wherever one is asked for.
    name: ClassVar[str]
    convex: ClassVar[bool] = False
    tight: ClassVar[bool] = False
    #: Whether the value is that of the formula; a binned loss is near it.
    exact: ClassVar[bool] = True
    #: Whether adding a number to all scores changes nothing: the line then needs no intercept.
    shift_invariant: ClassVar[bool] = False

    @property
    def label(self) -> str:
        return {"logistic": "logistic regression"}.get(self.name, self.name.replace("_", " "))

    @property
    def sharpness(self) -> float | None:
        return None

    @property
    def complexity(self) -> float:
        return {"logistic": 0.0, "pairwise_hinge": 2.0}.get(self.name, 4.0)

    @abstractmethod
    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the loss of these scores, and its partial by each score.

        Parameters
        ----------
        positive : array of bool of shape (n,)
        scores : array of shape (n,)
        weight : array of shape (n,)
            A row of weight k counts as k rows.
        """

    def curvature(  # noqa: B027
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> FloatArray | None:
        """Return the second partial by each score, where the loss is a sum over rows."""

    @abstractmethod
    def sharpen(self, level: float) -> Loss:
        """Return the loss so many times as sharp; at infinity, what it smooths."""

    def gap(self, positive: AnyArray, weight: FloatArray) -> float:  # noqa: ARG002
        """Return how far the loss may be from what it smooths, at any scores."""
        return 0.0

    @property
    def best(self) -> float:
        """Value where every row is on its right side, far away."""
        return 0.0

    @property
    def worst(self) -> float:
        """What the loss makes of the worst metric: a tight loss tends to it, others exceed it."""
        return 1.0

    def _with(self, **fields: Any) -> Self:
        return replace(self, **fields)  # type: ignore[type-var]


def require_above_zero(**values: float) -> None:
    """Refuse what is not a positive number."""
    for name, value in values.items():
        if not value > 0:
            msg = f"{name} must be above zero, not {value!r}"
            raise ValueError(msg)


def require_width(kappa: float) -> None:
    """Refuse a corner whose width is not a number from zero up."""
    if not 0.0 <= kappa < inf:
        msg = f"kappa must be a number from zero up, not {kappa!r}"
        raise ValueError(msg)


def require_both(positive: AnyArray, weight: FloatArray) -> tuple[float, float]:
    """Return the weight of the positives and of the negatives, or say that one is missing."""
    n_pos = float(weight @ positive)
    n_neg = float(weight.sum()) - n_pos
    if not (n_pos > 0 and n_neg > 0):
        msg = "the rows are of one class only (by weight), so this loss is not defined"
        raise ValueError(msg)
    return n_pos, n_neg
