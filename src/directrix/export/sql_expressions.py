"""A fitted line as SQL expressions, so that a database scores its own rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from directrix.classifiers.scoring import ScoringFormula
from directrix.engines.sql_dialects import DIALECTS, Dialect
from directrix.export.scoring_formula import scoring_formula

#: Terms in one pair of brackets: a database parses a long sum into a tree as deep as the sum is
#: long, and some end at a thousand.
_TERMS = 50
#: Log-odds beyond which a probability is 0 or 1 to 300 digits; PostgreSQL refuses to compute the
#: exponential of twice as much.
_FAR = 700.0
#: Scores beyond are no numbers: NaN counts as the greatest of all in most databases.
_LARGEST = 1e100


@dataclass(frozen=True)
class SqlExpressions:
    """Expressions in one dialect of SQL; see `to_sql`.

    Parameters
    ----------
    dialect : str
    scores : tuple of str
        One expression of two classes, and one for each of more.
    probabilities : tuple of str
        Of two classes that of the last; of more, one for each.
    prediction : str
        The label.
    """

    dialect: str
    scores: tuple[str, ...]
    probabilities: tuple[str, ...] = field(repr=False)
    prediction: str = field(repr=False)
    _formula: ScoringFormula = field(repr=False)

    @property
    def score(self) -> str:
        """The score, of two classes."""
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
        """Return a query for some columns of a table, and score, probability and prediction.

        Each score is written once, in a query within.

        Parameters
        ----------
        table : str or sequence of str
            Dots in text part schema and table; a name that itself has a dot goes in a sequence.
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
        made = dict(zip(self._names("score"), inner, strict=True))
        made |= dict(zip(self._names("probability"), writer.probabilities(inner), strict=True))
        made["prediction"] = writer.prediction(inner)
        twice = {name.lower() for name in keep} & {*made, *inner}
        if twice:
            msg = f"column {twice.pop()!r} would be there twice: keep it under another name"
            raise ValueError(msg)
        outside = [*kept, *(f"{own} AS {name}" for name, own in made.items())]
        scores = zip(self.scores, inner, strict=True)
        inside = [*kept, *(f"{own} AS {name}" for own, name in scores)]
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

    A row with NULL in a column that counts has NULL for all three; so has one with NaN or an
    infinite score for probability and prediction. A column whose coefficients are zero is not
    read.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel
    dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse"}
    columns : sequence of str, optional
        Columns of the features, in their order. By default the names that the classifier was
        fitted with.

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
    formula = scoring_formula(classifier, columns)
    if formula.features is None:
        msg = "the classifier was fitted without names of features: give columns=[...]"
        raise ValueError(msg)
    read = [any(column) for column in zip(*formula.coefficients, strict=True)]
    mentioned = [name if used else None for name, used in zip(formula.features, read, strict=True)]
    remedy = "name the columns of the table with columns=[...], or --features of directrix export"
    DIALECTS[dialect].require_names(mentioned, "feature", remedy)
    writer = _Writer(formula, DIALECTS[dialect])
    scores = writer.scores(formula.features)
    return SqlExpressions(
        dialect, scores, writer.probabilities(scores), writer.prediction(scores), formula
    )


@dataclass(frozen=True)
class _Writer:
    """Writes the parts of a formula in one dialect."""

    formula: ScoringFormula
    dialect: Dialect

    def scores(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the score of each line; of more than two classes, its log-odds."""
        formula, double = self.formula, self.dialect.double
        values = [self.dialect.cast(self.dialect.name(column)) for column in columns]
        lines = []
        for coefficients, intercept in zip(formula.coefficients, formula.intercepts, strict=True):
            terms = [double(intercept)]
            weighted = zip(coefficients, values, strict=True)
            terms += [f"{double(weight)} * {value}" for weight, value in weighted if weight]
            lines.append(_sum(terms))
        if formula.two_classes:
            return tuple(lines)
        pairs = zip(formula.one_vs_rest, lines, strict=True)
        return tuple(sigmoid.log_odds(line, self) for sigmoid, line in pairs)

    def probabilities(self, scores: Sequence[str]) -> tuple[str, ...]:
        """Return the probability of the last class, or of each of several."""
        known = " AND ".join(map(self._is_number, scores))
        if self.formula.response is not None:
            probability = self.formula.response.probability(scores[0], self)
            return (f"CASE WHEN {known} THEN {probability} END",)
        sigmoids = [self.sigmoid(score) for score in scores]
        return tuple(f"CASE WHEN {known} THEN {part} / {_sum(sigmoids)} END" for part in sigmoids)

    def prediction(self, scores: Sequence[str]) -> str:
        """Return the label: the last class above zero, or of several that of the greatest score."""
        labels = [self.dialect.label(label) for label in self.formula.classes]
        known = " AND ".join(map(self._is_number, scores))
        if self.formula.always is not None:
            return f"CASE WHEN {known} THEN {labels[self.formula.always]} END"
        if self.formula.two_classes:
            above = f"{scores[0]} > {self.dialect.double(0.0)}"
            label = f"CASE WHEN {above} THEN {labels[1]} ELSE {labels[0]} END"
            return f"CASE WHEN {known} THEN {label} END"
        # Of equal scores the first, as `argmax` has it; no class before one that is asked can win.
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

        LEAST and GREATEST leave NULL out in some dialects: `_is_number` is asked before.
        """
        one, far = self.dialect.double(1.0), self.dialect.double(_FAR)
        near = f"LEAST({far}, GREATEST(-{far}, {value}))"
        return f"({one} / ({one} + EXP(-{near})))"

    def _is_number(self, score: str) -> str:
        largest = self.dialect.double(_LARGEST)
        return f"{score} BETWEEN -{largest} AND {largest}"


def _sum(terms: list[str]) -> str:
    """Return a sum with brackets so that it is nowhere nested deeply."""
    while len(terms) > _TERMS:
        groups = [terms[start : start + _TERMS] for start in range(0, len(terms), _TERMS)]
        terms = [f"({' + '.join(group)})" for group in groups]
    return f"({' + '.join(terms)})"


def _lines(columns: Sequence[str]) -> str:
    return ",\n  ".join(columns)
