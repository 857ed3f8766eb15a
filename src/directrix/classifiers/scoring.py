"""ScoringFormula: what a fitted classifier computes for a row, as numbers.

Probabilities are written down once, as a few steps of `Arithmetic`. Each export (SQL, ONNX, Python)
says what these steps are in its language.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeVar

from directrix.classifiers.labels import output_names, positive_index, probability_names
from directrix.models.card import Card

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

    def at_most(self, value: Value, number: float) -> Value:
        """Return the lesser of the value and a number."""

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
    """Scores, the functions that turn them into probabilities, and the labels.

    A score is linear in the features, ``coefficients @ x + intercept``, or the points of a card
    less its cutoff. With two classes there is one score; the last class is predicted where it is
    above zero. With more there is one for each class (one-vs-rest): the log-odds that its sigmoid
    gives are the score of the class, the class with the greatest is predicted, and probabilities
    are the sigmoids of all scores divided by their sum.

    Parameters
    ----------
    classes : tuple
        Labels.
    features : tuple of str or None
        Names of the columns.
    coefficients : tuple of tuple of float
        For each linear score, one number for each feature.
    intercepts : tuple of float
        One for each linear score.
    cards : tuple of Card
        One for each score that is made of points; empty for linear scores.
    response : Response, optional
        Probability of the last of two classes.
    one_vs_rest : tuple of Sigmoid
        With more than two classes, one for each.
    always : int, optional
        Index of the class that is predicted whatever the score: that of a model whose probability
        never crosses one half.
    positive : label, optional
        Of two classes, the one whose probability is written; by default the last.
    """

    classes: tuple[Any, ...]
    features: tuple[str, ...] | None
    coefficients: tuple[tuple[float, ...], ...] = ()
    intercepts: tuple[float, ...] = ()
    cards: tuple[Card, ...] = ()
    response: Response | None = None
    one_vs_rest: tuple[Sigmoid, ...] = ()
    always: int | None = None
    positive: Any = None

    @property
    def two_classes(self) -> bool:
        """Whether there is one score, and a threshold."""
        return len(self.classes) == 2

    @property
    def n_features(self) -> int:
        """The number of features, or of columns of the table that a card reads."""
        return len(self.cards[0].bins if self.cards else self.coefficients[0])

    @property
    def responses(self) -> tuple[Response, ...]:
        """The function of each score."""
        return self.one_vs_rest if self.response is None else (self.response,)

    @property
    def positive_index(self) -> int:
        """The index of the positive one of two classes."""
        return positive_index(self.classes, self.positive)

    @property
    def probability_names(self) -> tuple[str, ...]:
        """Names of the probabilities: of the positive one of two classes, or of every class."""
        return probability_names(self.classes, self.positive)

    def names_by_score(self, output: str) -> tuple[str, ...]:
        """Return names of an output that there is for each score: with two classes its name."""
        return (output,) if self.two_classes else output_names(output, self.classes)

    def positive_probability(self, score: Value, arithmetic: Arithmetic[Value]) -> Value:
        """Return the probability of the positive one of two classes at a score."""
        if self.response is None:
            msg = "with more than two classes no class is the positive one"
            raise ValueError(msg)
        probability = self.response.probability(score, arithmetic)
        if self.positive_index == 1:
            return probability
        return arithmetic.add(arithmetic.multiply(probability, -1.0), 1.0)
