"""ScoringFormula: what a fitted classifier computes for a row, as numbers.

Probabilities are written down once, as a few steps of `Arithmetic`. Each export (SQL, ONNX, Python)
says what these steps are in its language.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from directrix.cards.card import Card
from directrix.rows.classes import positive_index, probability_name

Value = TypeVar("Value")


class Arithmetic(Protocol[Value]):
    """Steps from a score to a probability, in the language of an export.

    A value is whatever stands for a number there: a float, text of SQL, the name of a node.
    """

    def add(self, value: Value, number: float) -> Value:
        """Return the value plus a number."""

    def multiply(self, value: Value, number: float) -> Value:
        """Return the value times a number."""

    def slopes(self, value: Value, below: float, above: float) -> Value:
        """Return the value times one number where it is below zero, and times another elsewhere."""

    def sigmoid(self, value: Value) -> Value:
        """Return 1 / (1 + exp(-value)), which never overflows."""


class Response(ABC):
    """The probability of the last of two classes as an increasing function of the score.

    Subclasses are frozen dataclasses of numbers.
    """

    name: ClassVar[str]

    @abstractmethod
    def probability(self, score: Value, arithmetic: Arithmetic[Value]) -> Value:
        """Return the probability at a score."""

    @property
    @abstractmethod
    def greatest_slope(self) -> float:
        """The greatest change of the log-odds with the score."""


@dataclass(frozen=True)
class Sigmoid(Response):
    r"""Probability at score s: :math:`\sigma(c + a \min(s, 0) + b \max(s, 0))`.

    Parameters
    ----------
    offset, below, above : float
        c, a and b.
    """

    name: ClassVar[str] = "sigmoid"
    offset: float
    below: float
    above: float

    def log_odds(self, score: Value, arithmetic: Arithmetic[Value]) -> Value:
        """Return ``c + a min(s, 0) + b max(s, 0)``."""
        return arithmetic.add(arithmetic.slopes(score, self.below, self.above), self.offset)

    def probability(self, score: Value, arithmetic: Arithmetic[Value]) -> Value:
        """Return the probability at a score."""
        return arithmetic.sigmoid(self.log_odds(score, arithmetic))

    @property
    def greatest_slope(self) -> float:
        """The greatest change of the log-odds with the score."""
        return max(abs(self.below), abs(self.above))


@dataclass(frozen=True, kw_only=True)
class ScoringFormula:
    """A score, the function that turns it into a probability, and the labels.

    The score is linear in the features, ``coefficients @ x + intercept``, or the points of a card
    less its cutoff. The last class is predicted where it is above zero.

    Parameters
    ----------
    classes : tuple
        Both labels.
    features : tuple of str or None
        Names of the columns.
    coefficients : tuple of float
        Of a linear score, one number for each feature.
    intercept : float
        Of a linear score.
    card : Card, optional
        Of a score that is made of points.
    response : Response, optional
        Probability of the last class.
    positive : label, optional
        The class whose probability is written; by default the last.
    """

    classes: tuple[Any, ...]
    features: tuple[str, ...] | None
    coefficients: tuple[float, ...] = ()
    intercept: float = 0.0
    card: Card | None = None
    response: Response
    positive: Any = None

    @property
    def n_features(self) -> int:
        """The number of features, or of columns of the table that a card reads."""
        return len(self.coefficients if self.card is None else self.card.bins)

    @property
    def positive_index(self) -> int:
        """The index of the positive class."""
        return positive_index(self.classes, self.positive)

    @property
    def probability_name(self) -> str:
        """Name of the probability of the positive class."""
        return probability_name(self.classes, self.positive)

    def positive_probability(self, score: Value, arithmetic: Arithmetic[Value]) -> Value:
        """Return the probability of the positive class at a score."""
        probability = self.response.probability(score, arithmetic)
        if self.positive_index == 1:
            return probability
        return arithmetic.add(arithmetic.multiply(probability, -1.0), 1.0)
