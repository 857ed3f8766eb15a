"""A fitted classifier as SQL expressions, so that a database can score its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from directrix.classifiers.scoring import CardFormula
from directrix.engines.sql_dialects import DIALECTS, Dialect
from directrix.export.pipelines.raw_formula import raw_formula
from directrix.export.scoring_formula import Formula
from directrix.export.sql.features import FeatureWriter
from directrix.export.sql.points import used_columns
from directrix.export.sql.writer import FormulaWriter


@dataclass(frozen=True)
class SqlExpressions:
    """Score, probability and prediction as expressions in a dialect of SQL; see `to_sql`.

    Parameters
    ----------
    dialect : str
    values : tuple of str
        An expression for each feature of the formula; most often the quoted name of a column.
    formula : LinearFormula or CardFormula
        What the classifier computes.
    computed : bool
        Whether the features are computed from columns, by the steps of a pipeline before it.
    """

    dialect: str
    values: tuple[str, ...] = field(repr=False)
    formula: Formula = field(repr=False)
    computed: bool = field(default=False, repr=False)

    @cached_property
    def card_points(self) -> tuple[str, ...]:
        """The total points of each card: with two classes one expression, for lines none."""
        return self._writer.points(self.values)

    @cached_property
    def scores(self) -> tuple[str, ...]:
        """With two classes one expression, otherwise one for each class."""
        return self._writer.scores(self.card_points or self.values)

    @cached_property
    def probabilities(self) -> tuple[str, ...]:
        """With two classes the probability of the positive one, otherwise one for each class."""
        return self._writer.probabilities(self.scores)

    @cached_property
    def prediction(self) -> str:
        """The label."""
        return self._writer.prediction(self.scores)

    @property
    def points(self) -> str:
        """The total points of a card of two classes, before its cutoff is subtracted."""
        if not self.card_points:
            msg = "a linear classifier has no points: use .score"
            raise ValueError(msg)
        return self._only(self.card_points, "card_points")

    @property
    def score(self) -> str:
        """The score of a classifier of two classes."""
        return self._only(self.scores, "scores")

    @property
    def probability(self) -> str:
        """The probability of the positive one of two classes."""
        return self._only(self.probabilities, "probabilities")

    @property
    def _writer(self) -> FormulaWriter:
        return FormulaWriter(self.formula, self.dialect)

    def _only(self, expressions: tuple[str, ...], name: str) -> str:
        if len(expressions) > 1:
            msg = f"there is one for each of the {len(expressions)} classes: use .{name}"
            raise ValueError(msg)
        return expressions[0]

    def select(self, table: str | Sequence[str], keep: Sequence[str] = ()) -> str:
        """Return a query that adds score, probability and prediction to columns of a table.

        The probability is called after its class: with two classes it is that of the positive one,
        such as ``probability_bad``. With more than two, there are a score and a probability for
        each class. Those of a card have the points before them. Points and score are computed once,
        in subqueries.

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
        steps = self._steps()
        twice = {name.lower() for name in keep} & {name for step in steps for name in step}
        if twice:
            msg = f"column {twice.pop()!r} would be there twice: keep it under another name"
            raise ValueError(msg)
        kept = [dialect.name(name) for name in keep]
        source = ".".join(dialect.name(part) for part in path)
        combine = _lateral_query if self.dialect == "postgres" else _nested_query
        return combine(source, kept, [_columns(step, dialect) for step in steps])

    def _steps(self) -> list[Mapping[str, str]]:
        """Return columns by name, each step computed from the columns of the one before it."""
        writer, formula, n = self._writer, self.formula, len(self.formula.responses)
        scores, points = [f"dx_score_{k}" for k in range(n)], [f"dx_points_{k}" for k in range(n)]
        steps: list[Mapping[str, str]] = []
        last: dict[str, str] = {}
        values = list(self.values)
        if self.computed:
            features = {f"dx_feature_{k}": values[k] for k in sorted(used_features(formula))}
            steps += [features] if features else []
            values = [f"dx_feature_{k}" for k in range(len(values))]
        if isinstance(formula, CardFormula):
            steps.append(dict(zip(points, writer.points(values), strict=True)))
            last = dict(zip(formula.names_by_score("points"), points, strict=True))
            values = points
        carried = {} if self.dialect == "postgres" else {name: name for name in last.values()}
        steps.append(carried | dict(zip(scores, writer.scores(values), strict=True)))
        last |= dict(zip(formula.names_by_score("score"), scores, strict=True))
        last |= dict(zip(formula.probability_names, writer.probabilities(scores), strict=True))
        return [*steps, last | {"prediction": writer.prediction(scores)}]


def to_sql(
    classifier: Any, *, dialect: str = "duckdb", columns: Sequence[str] | None = None
) -> SqlExpressions:
    """Return score, probability and prediction of a fitted classifier as SQL expressions.

    Those of a linear classifier are NULL for a row with NULL in a column that is used; probability
    and prediction also if the score is NaN or infinite. A `ScorecardClassifier` reads raw columns,
    and gives its points too: NULL, NaN and texts that training rows did not have are bins of the
    card, so that no result is NULL. A column on which no score depends is not used.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel
        Or a fitted Pipeline that ends with one. Its steps may be SimpleImputer, StandardScaler,
        MinMaxScaler, OneHotEncoder, OrdinalEncoder, `Binner`, and ColumnTransformer and Pipeline
        of these.
    dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse"}
    columns : sequence of str, optional
        Columns of the features of the classifier or pipeline, in their order; by default the names
        that it was fitted with.

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
    raw = raw_formula(classifier, columns)
    if raw.columns is None:
        msg = "the classifier was fitted without names of features: give columns=[...]"
        raise ValueError(msg)
    used = raw.used_columns(used_features(raw.formula))
    used_names = [name if k in used else None for k, name in enumerate(raw.columns)]
    remedy = "name the columns of the table with columns=[...], or --features of directrix export"
    DIALECTS[dialect].require_names(used_names, "feature", remedy)
    values = tuple(map(FeatureWriter(raw.columns, dialect).write, raw.features))
    return SqlExpressions(dialect, values, raw.formula, raw.is_computed)


def used_features(formula: Formula) -> set[int]:
    """Return the positions of the features that some score depends on."""
    if isinstance(formula, CardFormula):
        return used_columns(formula.cards)
    by_feature = zip(*formula.coefficients, strict=True)
    return {k for k, coefficients in enumerate(by_feature) if any(coefficients)}


def _columns(step: Mapping[str, str], dialect: Dialect) -> list[str]:
    # Without quotes a name follows the database, which may write all names in capitals.
    return [
        f"{expression} AS {name if name.isascii() else dialect.name(name)}"
        for name, expression in step.items()
    ]


def _nested_query(source: str, kept: Sequence[str], steps: Sequence[Sequence[str]]) -> str:
    query = source
    for k, step in enumerate(steps):
        table = query if k == 0 else f"(\n{query}\n) AS dx_scored"
        query = f"SELECT\n  {_lines([*kept, *step])}\nFROM {table}"
    return query


def _lateral_query(source: str, kept: Sequence[str], steps: Sequence[Sequence[str]]) -> str:
    """Return a query whose steps are computed once for each row in PostgreSQL, too.

    It would copy the expressions of a nested query to wherever they are named. OFFSET 0 forbids
    that; in a lateral join it still lets conditions on kept columns choose rows first.
    """
    *inner, last = steps
    joins = [
        f"\nCROSS JOIN LATERAL (\nSELECT\n  {_lines(step)}\nOFFSET 0\n) AS dx_step_{k}"
        for k, step in enumerate(inner)
    ]
    return f"SELECT\n  {_lines([*kept, *last])}\nFROM {source}{''.join(joins)}"


def _lines(columns: Sequence[str]) -> str:
    return ",\n  ".join(columns)
