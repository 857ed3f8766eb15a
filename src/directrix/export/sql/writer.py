"""Scores, probabilities and predictions of a scoring formula as text of SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from directrix.classifiers.scoring import CardFormula
from directrix.engines.sql_dialects import DIALECTS, Dialect
from directrix.export.scoring_formula import Formula
from directrix.export.sql.points import has_integer_points, points_sql
from directrix.export.sql.sums import sum_sql
from directrix.models.card import Card

#: Log-odds beyond which a probability is 0 or 1 to 300 digits; PostgreSQL refuses to compute the
#: exponential of twice as much.
_MOST_LOG_ODDS = 700.0
#: Greater scores are treated as missing: NaN is the greatest number in most databases.
_LARGEST_SCORE = 1e100


@dataclass(frozen=True)
class FormulaWriter:
    """Writes the parts of a formula in a dialect; as an `Arithmetic`, its values are SQL text.

    Parameters
    ----------
    formula : LinearFormula or CardFormula
    dialect_name : str
        One of `DIALECTS`.
    """

    formula: Formula
    dialect_name: str

    @property
    def dialect(self) -> Dialect:
        """The syntax."""
        return DIALECTS[self.dialect_name]

    def points(self, values: Sequence[str]) -> tuple[str, ...]:
        """Return the total points of each card, from an expression for each column."""
        if not isinstance(self.formula, CardFormula):
            return ()
        return tuple(points_sql(card, values, self.dialect_name) for card in self.formula.cards)

    def scores(self, values: Sequence[str]) -> tuple[str, ...]:
        """Return the score, or with more than two classes the log-odds of each.

        Parameters
        ----------
        values : sequence of str
            Of cards the points of each, otherwise an expression for each feature.
        """
        formula = self.formula
        if isinstance(formula, CardFormula):
            scores = list(map(self._above_cutoff, formula.cards, values))
        else:
            numbers = [self.dialect.cast(value) for value in values]
            lines = zip(formula.coefficients, formula.intercepts, strict=True)
            scores = [self._line(coefficients, start, numbers) for coefficients, start in lines]
        if formula.two_classes:
            return tuple(scores)
        pairs = zip(formula.one_vs_rest, scores, strict=True)
        return tuple(sigmoid.log_odds(score, self) for sigmoid, score in pairs)

    def _line(self, coefficients: Sequence[float], intercept: float, numbers: Sequence[str]) -> str:
        double = self.dialect.double
        weighted = zip(coefficients, numbers, strict=True)
        terms = [f"{double(weight)} * {number}" for weight, number in weighted if weight]
        return sum_sql([double(intercept), *terms])

    def _above_cutoff(self, card: Card, points: str) -> str:
        number = self.dialect.cast(points) if has_integer_points(card) else points
        cutoff = self.dialect.double(card.cutoff)
        if not card.higher_is_last:
            return f"({cutoff} - {number})"
        return f"({number} - {cutoff})" if card.cutoff else number

    def probabilities(self, scores: Sequence[str]) -> tuple[str, ...]:
        """Return the probability of the positive one of two classes, or of each of more."""
        if self.formula.two_classes:
            probability = self.formula.positive_probability(scores[0], self)
            return (self._if_known(scores, probability),)
        sigmoids = [self.sigmoid(score) for score in scores]
        return tuple(
            self._if_known(scores, f"{sigmoid} / {sum_sql(sigmoids)}") for sigmoid in sigmoids
        )

    def prediction(self, scores: Sequence[str]) -> str:
        """Return the label: the last class above zero, or the class of the greatest score."""
        labels = [self.dialect.label(label) for label in self.formula.classes]
        if self.formula.always is not None:
            return self._if_known(scores, labels[self.formula.always])
        if self.formula.two_classes:
            above = f"{scores[0]} > {self.dialect.double(0.0)}"
            label = f"CASE WHEN {above} THEN {labels[1]} ELSE {labels[0]} END"
            return self._if_known(scores, label)
        # The first of equal scores, like `argmax`; a class is tested only if no earlier one wins.
        cases = []
        for k, (score, label) in enumerate(zip(scores[:-1], labels, strict=False)):
            wins = " AND ".join(f"{score} >= {other}" for other in scores[k + 1 :])
            cases.append(f"WHEN {wins} THEN {label}")
        return self._if_known(scores, f"CASE {' '.join(cases)} ELSE {labels[-1]} END")

    def add(self, value: str, number: float) -> str:
        """Return the value plus a number."""
        return f"({self.dialect.double(number)} + {value})"

    def multiply(self, value: str, number: float) -> str:
        """Return the value times a number."""
        return f"{self.dialect.double(number)} * {value}"

    def slopes(self, value: str, below: float, above: float) -> str:
        """Return the value times one number where it is below zero, and times another elsewhere."""
        double = self.dialect.double
        if below == above:
            return self.multiply(value, above)
        negative = f"{value} < {double(0.0)}"
        return f"CASE WHEN {negative} THEN {double(below)} ELSE {double(above)} END * {value}"

    def at_most(self, value: str, number: float) -> str:
        """Return the lesser of the value and a number."""
        return f"LEAST({self.dialect.double(number)}, {value})"

    def sigmoid(self, value: str) -> str:
        """Return 1 / (1 + exp(-value)), which never overflows.

        LEAST and GREATEST ignore NULL in some dialects: see `_if_known`.
        """
        one, far = self.dialect.double(1.0), self.dialect.double(_MOST_LOG_ODDS)
        near = f"LEAST({far}, GREATEST(-{far}, {value}))"
        return f"({one} / ({one} + EXP(-{near})))"

    def _if_known(self, scores: Sequence[str], expression: str) -> str:
        """Return an expression that is NULL unless all scores are numbers; those of cards are."""
        if isinstance(self.formula, CardFormula):
            return expression
        largest = self.dialect.double(_LARGEST_SCORE)
        known = " AND ".join(f"{score} BETWEEN -{largest} AND {largest}" for score in scores)
        return f"CASE WHEN {known} THEN {expression} END"
