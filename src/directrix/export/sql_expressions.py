"""A fitted classifier as SQL expressions, so that a database can score its rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from directrix.classifiers import LinearFormula
from directrix.engines import DIALECTS, Dialect
from directrix.export.scoring_formula import linear_formula

#: Terms in a pair of brackets: databases parse a long sum into a tree as deep as the sum is long,
#: and some have a limit of a thousand.
_MOST_TERMS = 50
#: Log-odds beyond which a probability is 0 or 1 to 300 digits; PostgreSQL refuses to compute the
#: exponential of twice as much.
_MOST_LOG_ODDS = 700.0
#: Greater scores are treated as missing: NaN is the greatest number in most databases.
_LARGEST_SCORE = 1e100


@dataclass(frozen=True)
class SqlExpressions:
    """Score, probability and prediction as expressions in a dialect of SQL; see `to_sql`.

    Parameters
    ----------
    dialect : str
    scores : tuple of str
        With two classes one expression, otherwise one for each class.
    probabilities : tuple of str
        With two classes the probability of the last, otherwise one for each class.
    prediction : str
        The label.
    """

    dialect: str
    scores: tuple[str, ...]
    probabilities: tuple[str, ...] = field(repr=False)
    prediction: str = field(repr=False)
    _formula: LinearFormula = field(repr=False)

    @property
    def score(self) -> str:
        """The score of a classifier of two classes."""
        return self._only(self.scores, "scores")

    @property
    def probability(self) -> str:
        """The probability of the last of two classes."""
        return self._only(self.probabilities, "probabilities")

    def _only(self, expressions: tuple[str, ...], name: str) -> str:
        if len(expressions) > 1:
            msg = f"there is one for each of the {len(expressions)} classes: use .{name}"
            raise ValueError(msg)
        return expressions[0]

    def select(self, table: str | Sequence[str], keep: Sequence[str] = ()) -> str:
        """Return a query that adds score, probability and prediction to columns of a table.

        The score is computed once, in a subquery.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table. Dots in text separate schema and table; give a sequence of parts if
            a name contains a dot.
        keep : sequence of str
            Columns to keep, such as the key of the rows.
        """
        path = tuple(table.split(".")) if isinstance(table, str) else tuple(table)
        if not path or not all(path):
            msg = f"the name of a table has an empty part: {table!r}"
            raise ValueError(msg)
        if isinstance(keep, str):
            msg = f"keep must be a list of columns, not the text {keep!r}"
            raise TypeError(msg)
        dialect = DIALECTS[self.dialect]
        dialect.require_names(list(keep), "kept column", "keep others, or one of them only")
        kept = [dialect.name(name) for name in keep]
        inner = [f"dx_score_{k}" for k in range(len(self.scores))]
        writer = _Writer(self._formula, dialect)
        added = dict(zip(self._names("score"), inner, strict=True))
        added |= dict(zip(self._names("probability"), writer.probabilities(inner), strict=True))
        added["prediction"] = writer.prediction(inner)
        twice = {name.lower() for name in keep} & {*added, *inner}
        if twice:
            msg = f"column {twice.pop()!r} would be there twice: keep it under another name"
            raise ValueError(msg)
        outside = [*kept, *(f"{expression} AS {name}" for name, expression in added.items())]
        scores = zip(self.scores, inner, strict=True)
        inside = [*kept, *(f"{expression} AS {name}" for expression, name in scores)]
        source = ".".join(dialect.name(part) for part in path)
        return (
            f"SELECT\n  {_lines(outside)}\nFROM (\nSELECT\n  {_lines(inside)}\nFROM {source}\n"
            ") AS dx_scored"
        )

    def _names(self, name: str) -> list[str]:
        n = len(self.scores)
        return [name] if n == 1 else [f"{name}_{k}" for k in range(n)]


def to_sql(
    classifier: Any, *, dialect: str = "duckdb", columns: Sequence[str] | None = None
) -> SqlExpressions:
    """Return score, probability and prediction of a fitted classifier as SQL expressions.

    All three are NULL for a row with NULL in a column that is used; probability and prediction also
    if the score is NaN or infinite. A column whose coefficients are all zero is not used.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel
    dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse"}
    columns : sequence of str, optional
        Columns of the features, in their order; by default the feature names of the classifier.

    Returns
    -------
    SqlExpressions

    Examples
    --------
    >>> from directrix import MomentClassifier
    >>> from directrix.export import to_sql
    >>> classifier = MomentClassifier(choose="moments").fit(
    ...     [[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1]
    ... )
    >>> print(to_sql(classifier, dialect="bigquery", columns=["Age"]).score)
    (CAST(... AS FLOAT64) + CAST(... AS FLOAT64) * CAST(`Age` AS FLOAT64))
    """
    if dialect not in DIALECTS:
        msg = f"no dialect {dialect!r}; there are {', '.join(DIALECTS)}"
        raise ValueError(msg)
    formula = linear_formula(classifier, columns)
    if formula.features is None:
        msg = "the classifier was fitted without names of features: give columns=[...]"
        raise ValueError(msg)
    used = [any(column) for column in zip(*formula.coefficients, strict=True)]
    pairs = zip(formula.features, used, strict=True)
    used_names = [name if is_used else None for name, is_used in pairs]
    remedy = "name the columns of the table with columns=[...], or --features of directrix export"
    DIALECTS[dialect].require_names(used_names, "feature", remedy)
    writer = _Writer(formula, DIALECTS[dialect])
    scores = writer.scores(formula.features)
    return SqlExpressions(
        dialect, scores, writer.probabilities(scores), writer.prediction(scores), formula
    )


@dataclass(frozen=True)
class _Writer:
    """Writes the parts of a formula in a dialect; as an `Arithmetic`, its values are SQL text.

    Parameters
    ----------
    formula : LinearFormula
    dialect : Dialect
    """

    formula: LinearFormula
    dialect: Dialect

    def scores(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the linear score, or with more than two classes the log-odds of each."""
        formula, double = self.formula, self.dialect.double
        values = [self.dialect.cast(self.dialect.name(column)) for column in columns]
        linear_scores = []
        for coefficients, intercept in zip(formula.coefficients, formula.intercepts, strict=True):
            terms = [double(intercept)]
            weighted = zip(coefficients, values, strict=True)
            terms += [f"{double(weight)} * {value}" for weight, value in weighted if weight]
            linear_scores.append(_sum(terms))
        if formula.two_classes:
            return tuple(linear_scores)
        pairs = zip(formula.one_vs_rest, linear_scores, strict=True)
        return tuple(sigmoid.log_odds(score, self) for sigmoid, score in pairs)

    def probabilities(self, scores: Sequence[str]) -> tuple[str, ...]:
        """Return the probability of the last of two classes, or of each of more."""
        known = " AND ".join(map(self._is_number, scores))
        if self.formula.response is not None:
            probability = self.formula.response.probability(scores[0], self)
            return (f"CASE WHEN {known} THEN {probability} END",)
        sigmoids = [self.sigmoid(score) for score in scores]
        return tuple(f"CASE WHEN {known} THEN {part} / {_sum(sigmoids)} END" for part in sigmoids)

    def prediction(self, scores: Sequence[str]) -> str:
        """Return the label: the last class above zero, or the class of the greatest score."""
        labels = [self.dialect.label(label) for label in self.formula.classes]
        known = " AND ".join(map(self._is_number, scores))
        if self.formula.always is not None:
            return f"CASE WHEN {known} THEN {labels[self.formula.always]} END"
        if self.formula.two_classes:
            above = f"{scores[0]} > {self.dialect.double(0.0)}"
            label = f"CASE WHEN {above} THEN {labels[1]} ELSE {labels[0]} END"
            return f"CASE WHEN {known} THEN {label} END"
        # The first of equal scores, like `argmax`; a class is tested only if no earlier one wins.
        cases = []
        for k, (score, label) in enumerate(zip(scores[:-1], labels, strict=False)):
            wins = " AND ".join(f"{score} >= {other}" for other in scores[k + 1 :])
            cases.append(f"WHEN {wins} THEN {label}")
        return f"CASE WHEN {known} THEN CASE {' '.join(cases)} ELSE {labels[-1]} END END"

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

        LEAST and GREATEST ignore NULL in some dialects: `_is_number` is checked before.
        """
        one, far = self.dialect.double(1.0), self.dialect.double(_MOST_LOG_ODDS)
        near = f"LEAST({far}, GREATEST(-{far}, {value}))"
        return f"({one} / ({one} + EXP(-{near})))"

    def _is_number(self, score: str) -> str:
        largest = self.dialect.double(_LARGEST_SCORE)
        return f"{score} BETWEEN -{largest} AND {largest}"


def _sum(terms: list[str]) -> str:
    """Return a sum with brackets that keep its parse tree shallow."""
    while len(terms) > _MOST_TERMS:
        starts = range(0, len(terms), _MOST_TERMS)
        groups = [terms[start : start + _MOST_TERMS] for start in starts]
        terms = [f"({' + '.join(group)})" for group in groups]
    return f"({' + '.join(terms)})"


def _lines(columns: Sequence[str]) -> str:
    return ",\n  ".join(columns)
