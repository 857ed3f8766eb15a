"""SQL that scores rows: a fitted classifier, or the cells of a fitted binner, as expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from directrix.engines.sql_dialects import DIALECTS, Dialect
from directrix.estimators.scoring import ScoringFormula
from directrix.exceptions.columns import suggest_names
from directrix.export.expressions import used_features
from directrix.export.scoring_formula import scoring_formula
from directrix.export.sql_writer import SqlWriter
from directrix.rows.rows import checked_names
from directrix.tables import Binner


@dataclass(frozen=True)
class SqlExpressions:
    """Score, probability and prediction as expressions in a dialect of SQL; see `to_sql`.

    Parameters
    ----------
    dialect : str
    values : tuple of str
        An expression for each feature of the formula: the quoted name of a column.
    formula : ScoringFormula
        What the classifier computes.
    """

    dialect: str
    values: tuple[str, ...] = field(repr=False)
    formula: ScoringFormula = field(repr=False)

    @cached_property
    def points(self) -> str:
        """The total points of a card, before its cutoff is subtracted."""
        if self.formula.card is None:
            msg = "a linear classifier has no points: use .score"
            raise ValueError(msg)
        return SqlWriter(self.dialect).points(self.formula.card, self.values)

    @cached_property
    def score(self) -> str:
        """The score."""
        values = self.values if self.formula.card is None else [self.points]
        return SqlWriter(self.dialect).score(self.formula, values)

    @cached_property
    def probability(self) -> str:
        """The probability of the positive class."""
        return SqlWriter(self.dialect).probability(self.formula, self.score)

    @cached_property
    def prediction(self) -> str:
        """The label."""
        return SqlWriter(self.dialect).prediction(self.formula, self.score)

    def __str__(self) -> str:
        """Return all expressions, each below a comment with its name."""
        parts = {} if self.formula.card is None else {"points": self.points}
        parts |= {"score": self.score, self.formula.probability_name: self.probability}
        parts["prediction"] = self.prediction
        return "\n\n".join(f"-- {name}\n{text}" for name, text in parts.items())

    def select(
        self, table: str | Sequence[str], keep: Sequence[str] = (), *, reasons: int = 0
    ) -> str:
        """Return a query that adds score, probability and prediction to columns of a table.

        The probability is called after the positive class, such as ``probability_bad``. That of a
        card has the points before them. Points and score are computed once, in subqueries.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table. Dots in text separate schema and table; give a sequence of parts if
            a name contains a dot.
        keep : sequence of str
            Columns to keep, such as the key of the rows.
        reasons : int
            For a card: how many columns ``reason_1``, ``reason_2``, ... to add, with
            the texts of `ScorecardClassifier.reasons`; NULL where no other column costs points.
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
        steps = self._steps(reasons)
        twice = {name.lower() for name in keep} & {name for step in steps for name in step}
        if twice:
            msg = f"column {twice.pop()!r} would be there twice: keep it under another name"
            raise ValueError(msg)
        kept = [dialect.name(name) for name in keep]
        source = ".".join(dialect.name(part) for part in path)
        combine = _lateral_query if self.dialect == "postgres" else _nested_query
        return combine(source, kept, [_columns(step, dialect) for step in steps])

    def _steps(self, reasons: int) -> list[Mapping[str, str]]:
        """Return columns by name, each step computed from the columns of the one before it."""
        writer, formula = SqlWriter(self.dialect), self.formula
        steps: list[Mapping[str, str]] = []
        last: dict[str, str] = {}
        values = list(self.values)
        given, ranks, texts = self._reasons(writer, values, reasons)
        if formula.card is not None:
            steps.append({"dx_points": writer.points(formula.card, values)} | given)
            last = {"points": "dx_points"}
            values = ["dx_points"]
        kept = [*last.values(), *texts.values()]
        carried = {} if self.dialect == "postgres" else {name: name for name in kept}
        made = {"dx_score": writer.score(formula, values)}
        steps.append(carried | made | {f"dx_rank_{k}": rank for k, rank in ranks.items()})
        last["score"] = "dx_score"
        last[formula.probability_name] = writer.probability(formula, "dx_score")
        last["prediction"] = writer.prediction(formula, "dx_score")
        named = {k: f"dx_rank_{k}" for k in ranks}
        last |= {f"reason_{k}": writer.reason(k, named, texts) for k in range(1, reasons + 1)}
        return [*steps, last]

    def _reasons(
        self, writer: SqlWriter, values: Sequence[str], n_reasons: int
    ) -> tuple[dict[str, str], dict[int, str], dict[int, str]]:
        """Return columns with losses and texts, the ranks of the losses, and names of the texts."""
        if not n_reasons:
            return {}, {}, {}
        card = self.formula.card
        if card is None:
            msg = "only a card has reasons in SQL"
            raise ValueError(msg)
        losses = writer.losses(card, values)
        made = {f"dx_loss_{k}": loss for k, loss in losses.items()}
        made |= {f"dx_text_{k}": writer.bin_texts(card, k, values[k]) for k in losses}
        ranks = writer.ranks({k: f"dx_loss_{k}" for k in losses})
        return made, ranks, {k: f"dx_text_{k}" for k in losses}


def to_sql(
    classifier: Any, *, dialect: str = "duckdb", columns: Sequence[str] | None = None
) -> SqlExpressions:
    """Return score, probability and prediction of a fitted classifier as SQL expressions.

    Those of a linear classifier are NULL for a row with NULL in a column that is used; probability
    and prediction also if the score is NaN or infinite. A `ScorecardClassifier` reads raw columns,
    and gives its points too: NULL, NaN and texts that training rows did not have are bins of the
    card, so that no result is NULL. A model of mapped features, from a summary of a raw table
    (``summarize(..., features="auto")``), reads raw columns too. A column on which the score does
    not depend is not used.

    Parameters
    ----------
    classifier : classifier of directrix, fitted, without a kernel
    dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse", "sqlite"}
    columns : sequence of str, optional
        Columns of the features of the classifier, in their order, or of the raw table; by default
        the names that it was fitted with.

    Returns
    -------
    SqlExpressions

    Examples
    --------
    >>> from directrix import MomentClassifier
    >>> from directrix.export import to_sql
    >>> classifier = MomentClassifier(sample=0).fit([[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> print(to_sql(classifier, dialect="bigquery", columns=["Age"]).score)
    (CAST(... AS FLOAT64) + CAST(... AS FLOAT64) * CAST(`Age` AS FLOAT64))
    """
    _require_dialect(dialect)
    made = getattr(classifier, "_feature_map", None)
    formula = scoring_formula(classifier, columns if made is None else None)
    names = formula.features
    if names is None:
        msg = "the classifier was fitted without names of features: give columns=[...]"
        raise ValueError(msg)
    if made is not None:
        raw = [column.name for column in made.columns]
        names = checked_names(raw if columns is None else columns, len(raw))
    values = tuple(map(DIALECTS[dialect].name, names))
    if made is not None:
        values = SqlWriter(dialect).mapped(made, formula.coefficients, values)
        used_columns = tuple(float(value != "") for value in values)
        formula = replace(formula, features=names, coefficients=used_columns)
    used = used_features(formula)
    key = DIALECTS[dialect].key
    # The database cannot tell a column that is read from one with the same name to it.
    read = {key(name) for k, name in enumerate(names) if k in used}
    used_names = [name if key(name) in read else None for name in names]
    remedy = "name the columns of the table with columns=[...], or --features of directrix export"
    DIALECTS[dialect].require_names(used_names, "feature", remedy)
    return SqlExpressions(dialect, values, formula)


def cells_to_sql(
    binner: Any, *, dialect: str = "duckdb", columns: Sequence[str] | None = None
) -> dict[str, str]:
    """Return a ``CASE`` expression for each column that gives the number of its cell.

    In every row the expressions are equal to `Binner.cells`: NULL and NaN are cell 0, infinite
    values are beyond the ends, and texts that training rows did not have are cell 1. Numbers are
    compared as float64, and dates in whole microseconds; in Spark a date without a time zone is
    taken in the time zone of the session. Durations must be numbers of days in the database.

    Parameters
    ----------
    binner : Binner, fitted
    dialect : {"duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse", "sqlite"}
    columns : sequence of str, optional
        Columns of the database table, in the order of the columns of the binner; by default they
        have the same names.

    Returns
    -------
    dict of str
        Expressions by the name of the column in the binner.

    Examples
    --------
    >>> from directrix import Binner
    >>> from directrix.export import cells_to_sql
    >>> binner = Binner(min_rows=1, min_level_rows=1).fit([[1.0, "no"], [2.0, "yes"]])
    >>> print(cells_to_sql(binner, columns=["age", "smoker"])["x1"])
    CASE
      WHEN "smoker" IS NULL THEN 0
      WHEN CAST("smoker" AS VARCHAR) = 'no' THEN 2
      WHEN CAST("smoker" AS VARCHAR) = 'yes' THEN 3
      ELSE 1 END
    """
    if not isinstance(binner, Binner) or not hasattr(binner, "bins_"):
        msg = f"cells_to_sql takes a fitted Binner, not {type(binner).__name__}"
        raise TypeError(msg)
    _require_dialect(dialect)
    names = [bins.name for bins in binner.bins_] if columns is None else list(columns)
    if len(names) != len(binner.bins_):
        msg = f"columns must be {len(binner.bins_)} names, one for each column, not {len(names)}"
        raise ValueError(msg)
    remedy = "name the columns of the table with columns=[...]"
    DIALECTS[dialect].require_names(names, "column", remedy)
    writer, quoted = SqlWriter(dialect), DIALECTS[dialect].name
    return {
        bins.name: writer.case(bins, list(map(str, range(bins.n_cells))), quoted(name))
        for bins, name in zip(binner.bins_, names, strict=True)
    }


def _require_dialect(dialect: str) -> None:
    if dialect not in DIALECTS:
        asked = suggest_names(dialect, DIALECTS)
        there = " There" if asked else "; there"
        msg = f"no dialect {dialect!r}{asked}{there} are {', '.join(DIALECTS)}"
        raise ValueError(msg)


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
