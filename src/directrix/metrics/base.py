"""What every metric is: an exact score of rows, and a risk of four numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.metrics import make_scorer

from directrix.metrics.curve import Curve, CurveStack

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.risks import Risk


class Choice(NamedTuple):
    """The best threshold on some rows, the metric there, and its place on their curve."""

    threshold: float
    value: float
    place: int


class Limit(NamedTuple):
    """What a metric at an operating point demands of a threshold.

    Parameters
    ----------
    rate : "fpr", "tpr" or "precision"
        Which rate is limited.
    value : float
    at_most : bool
        Whether the rate may not be above the value; else it may not be below.
    """

    rate: str
    value: float
    at_most: bool


class Metric(ABC):
    """A metric people report. Hashable, comparable by value, and free to clone.

    ``score`` is exact. ``risk`` is the same metric of the four numbers of normal scores, turned
    so that less is better.
    """

    greater_is_better: ClassVar[bool] = True
    #: Whether it depends on a threshold; a ranking does not.
    cuts: ClassVar[bool] = True
    #: Whether it says itself where the threshold is: at a limit, or at a number of rows.
    fixes_threshold: ClassVar[bool] = False
    response: ClassVar[tuple[str, ...]] = ("decision_function",)

    @abstractmethod
    def score(self, y: Any, scores: Any, sample_weight: Any = None) -> float:
        """Return the metric of these rows, exactly.

        Parameters
        ----------
        y : array of shape (n,)
            Labels of two classes; the positive one is True, 1, or the last of the two.
        scores : array of shape (n,)
            The greater, the more positive. Metrics with a threshold of their own count a row as
            predicted positive where its score is above zero.
        sample_weight : array of shape (n,), optional
            A row of weight k counts as k rows.
        """

    @abstractmethod
    def best(self, curve: Curve) -> Choice:
        """Return the threshold at which these rows have the best metric, and the metric there."""

    def best_value(self, curve: Curve) -> float:
        """Return the metric at the best threshold."""
        return self.best(curve).value

    def best_of_each(self, curves: CurveStack) -> tuple[FloatArray, IntArray]:
        """Return the metric at the best threshold of each of many curves, and these thresholds."""
        found = [self.best(curve) for curve in curves.each()]
        shape = curves.true_positives.shape[:-1]
        values = np.array([each.value for each in found]).reshape(shape)
        return values, np.array([each.place for each in found], dtype=np.int64).reshape(shape)

    def at_rates(self, tpr: Any, fpr: Any, prior: Any) -> Any:  # noqa: ARG002
        """Return the metric of a threshold with these rates: numbers, or arrays of them.

        A ranking has no threshold: it is not a function of these.
        """
        msg = f"{self} has no threshold, so it is no function of the rates at one"
        raise TypeError(msg)

    def value_at(self, curve: Curve, place: int) -> float:  # noqa: ARG002
        """Return the metric at one threshold of a curve; metrics that fix their own have theirs."""
        return self.best_value(curve)

    @abstractmethod
    def risk(self, n_rows: float | None = None) -> Risk:
        """Return the metric as a risk; ``n_rows`` where the metric counts rows."""

    @property
    def limit(self) -> Limit | None:
        """What a threshold must keep; None for most metrics."""
        return None

    @property
    def unit(self) -> float:
        """The size of the worst value there is, against which a difference is small or not."""
        return 1.0

    def break_even(self, prior: float) -> float | None:  # noqa: ARG002
        """Return the probability above which to predict positive, where the metric says it."""
        return None

    def of_loss(self, loss: Any) -> Any:
        """Return the metric's own value of a loss that is to be minimised."""
        return 1.0 - loss if self.greater_is_better else loss

    def scorer(self) -> Any:
        """Return a scikit-learn scorer, for ``scoring=`` wherever there is one."""
        return make_scorer(
            self.score, response_method=self.response, greater_is_better=self.greater_is_better
        )


def require_share(name: str, value: float, *, closed: bool = False) -> None:
    """Refuse what is not a share between 0 and 1."""
    if not (0 < value < 1 or (closed and value == 1)):
        msg = f"{name} must be a share between 0 and 1, not {value!r}"
        raise ValueError(msg)
