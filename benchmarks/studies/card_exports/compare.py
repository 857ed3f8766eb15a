"""Scores of exported scorecards by every route, compared with the classifier on raw rows.

Points of whole numbers must be identical and labels equal; other numbers may differ by 1e-9.
``python -m benchmarks.studies.card_exports.compare`` prints the greatest differences on 100,000
rows, and writes them to ``card_exports.md``; ``--rows 2000`` takes fewer, ``--routes`` some of the
routes, and both only print.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from copy import copy
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.harness.markdown import header, line, write_report
from benchmarks.harness.record import commit
from benchmarks.harness.runner import quiet
from benchmarks.studies.card_exports.json_reader import score_row
from directrix import Binner, ScorecardClassifier
from directrix.estimators import PointsToDoubleOdds
from directrix.export import to_json, to_onnx, to_pmml, to_python, to_sql

TRAINING_ROWS = 1_200
#: Texts of training rows, and those that only new rows have.
TEXTS = ("rent", "it's own", 'a "house"', "back\\slash", "two\nlines", "日本", "", "NULL")
NEW_TEXTS = ("never seen", "Rent", "rent ")
#: Means "no record".
SPECIAL = -999.0
_DAY = 86_400 * 10**6
_START = int(datetime(2015, 1, 1, tzinfo=UTC).timestamp()) * 10**6


def raw_rows(n: int, seed: int, *, new: bool) -> pa.Table:
    """Return an Arrow table of numbers, texts, booleans and dates, with missing values.

    ``new``: whether there are also values that training rows do not have.
    """
    rng = np.random.default_rng(seed)
    wide = 3.0 if new else 1.0
    amount = np.round(wide * rng.normal(size=n), 3)
    amount[rng.random(n) < 0.1] = SPECIAL
    amount[rng.random(n) < 0.02] = np.nan
    if new:
        ends = [np.inf, -np.inf, np.finfo(float).max, 5e-324, -0.0]
        amount[rng.random(n) < 0.05] = rng.choice(ends)
    texts = (*TEXTS, *NEW_TEXTS) if new else TEXTS
    micro = _START + rng.integers(0, int(wide * 2_000 * _DAY), size=n)
    whole = micro // _DAY
    columns = {
        'amount "€"': pa.array(amount),
        "select": pa.array(rng.integers(-20, 100, size=n)),
        "it's\nhome": pa.array(np.array(texts, dtype=object)[rng.integers(len(texts), size=n)]),
        "flag": pa.array(rng.random(n) < 0.4),
        "opened": pa.array(whole.astype(np.int32), pa.date32()),
        "at": pa.array(micro, pa.timestamp("us")),
        "constant": pa.array(np.full(n, 7.0)),
    }
    masks = {name: rng.random(n) < 0.08 for name in columns}
    present = {
        name: pa.array(values.to_pylist(), values.type, mask=masks[name])
        for name, values in columns.items()
    }
    return pa.table(present)


def labels(rows: pa.Table, seed: int = 1) -> np.ndarray:
    """Return which rows are positive: they depend on columns alone and on one cross."""
    rng = np.random.default_rng(seed)
    amount = np.nan_to_num(rows.column(0).to_numpy(), nan=0.5)
    home = np.array([text in {"rent", "it's own"} for text in rows.column(2).to_pylist()])
    age = np.nan_to_num(rows.column(1).to_numpy().astype(float), nan=30.0)
    clipped = np.clip(amount, -2.0, 2.0)
    risk = clipped * (age - 40.0) / 25.0 + home + 0.01 * age
    return risk + rng.normal(size=len(rows)) > 1.0


#: Bins that a user gives: cuts of numbers and dates, groups of levels, and where missing values go.
OWN_BINS: dict[str, Any] = {
    "cuts": {
        'amount "€"': [-1.0, -0.25, 0.1, 0.5],
        "select": [0, 18, 30, 45.5, 70],
        "opened": [date(2016, 1, 1), "2018-06-30", date(2040, 1, 1)],
        "at": [datetime(2016, 2, 29, 12, tzinfo=UTC), "2018-06-30 23:59:59.5"],
    },
    "groups": {"it's\nhome": [["rent", "it's own"], ["", "NULL", "日本"]]},
    "missing_with": {
        'amount "€"': SPECIAL,
        "select": "18 to 30",
        "it's\nhome": "rent",
        "flag": True,
        "opened": "2017-01-01",
    },
}


def _fit(own: dict[str, Any] | None = None, **options: Any) -> ScorecardClassifier:
    rows = raw_rows(TRAINING_ROWS, 0, new=False)
    binner = Binner(max_bins=12, special_values={'amount "€"': [SPECIAL]}, **(own or {}))
    fixed = {"cv": 2, "max_lines": None}  # so that all columns have points
    classifier = ScorecardClassifier("auc", binner=binner, **fixed, **options)
    with quiet():
        return classifier.fit(rows, labels(rows))


def with_card(
    classifier: ScorecardClassifier,
    change: Callable[[np.ndarray], np.ndarray],
    intercept: float,
    cutoff: float,
    *,
    higher: bool = False,
) -> ScorecardClassifier:
    """Return a classifier whose card has other points, another intercept and cutoff."""
    changed, card = copy(classifier), classifier.card_
    changed.card_ = replace(
        card,
        intercept=float(intercept),
        columns=tuple(change(points) for points in card.columns),
        crosses=tuple(replace(cross, points=change(cross.points)) for cross in card.crosses),
        cutoff=float(cutoff),
        higher_is_positive=higher,
    )
    return changed


def _rounded(card: str, factor: float, *cut: float, higher: bool = False) -> ScorecardClassifier:
    """Return a card of whole points, whose cutoff may be between two of them."""
    return with_card(CARDS[card](), lambda points: np.rint(factor * points), *cut, higher=higher)


#: Cards by name: without crosses, with them, in which more points are better and not those of the
#: positives, of whole points, and with bins of the user; some as they are trained.
CARDS: dict[str, Callable[[], ScorecardClassifier]] = {
    name: lru_cache(make)
    for name, make in {
        "additive": lambda: _fit(max_crosses=0),
        "crossed": _fit,
        "rescaled": lambda: with_card(
            CARDS["crossed"](), lambda points: -28.8 * points, intercept=600.3, cutoff=583.7
        ),
        "integer": lambda: _rounded("crossed", -90.0, 600, 587),
        "searched": lambda: _fit(points="integer", max_crosses=0),
        "doubling": lambda: _fit(points=PointsToDoubleOdds(rounded=False)),
        "own_bins": lambda: _fit(own=OWN_BINS, points=PointsToDoubleOdds()),
        "rising": lambda: _rounded("additive", 40.0, 3, 2.5, higher=True),
    }.items()
}
INTEGER = ("integer", "searched", "own_bins", "rising")


# ── routes by which an exported scorecard scores raw rows ─────────────────────────────────────────


KEY = "row id"
_POSTGRES_TYPES = {
    "double": "FLOAT8",
    "int64": "BIGINT",
    "string": "TEXT",
    "bool": "BOOLEAN",
    "date32[day]": "DATE",
    "timestamp[us]": "TIMESTAMP",
}


class Answer(NamedTuple):
    """What a route gives for each row.

    ``probability``: with two classes that of the last.
    """

    points: np.ndarray
    score: np.ndarray
    probability: np.ndarray
    label: np.ndarray


def by_classifier(classifier: ScorecardClassifier, rows: pa.Table) -> Answer:
    """Return what every other route must give."""
    probability = classifier.predict_proba(rows)
    return Answer(
        classifier.predict_points(rows),
        classifier.decision_function(rows),
        probability[:, 1],
        classifier.predict(rows),
    )


def by_duckdb(classifier: ScorecardClassifier, rows: pa.Table) -> Answer:
    """Score rows in DuckDB."""
    import duckdb  # noqa: PLC0415 - each route needs only its library

    with duckdb.connect() as connection:
        connection.register("rows", _with_key(rows))
        return _of_query(connection.execute(_query(classifier, "duckdb")).fetchall(), classifier)


def by_postgres(classifier: ScorecardClassifier, rows: pa.Table) -> Answer:
    """Score rows in a PostgreSQL server that is started for this."""
    import psycopg  # noqa: PLC0415

    from tests import postgres_server  # noqa: PLC0415

    programs = postgres_server.programs()
    if programs is None:
        msg = "PostgreSQL is not installed: there is no initdb to start a server with"
        raise RuntimeError(msg)
    keyed = _with_key(rows)
    columns = [
        '"{}" {}'.format(field.name.replace('"', '""'), _POSTGRES_TYPES[str(field.type)])
        for field in keyed.schema
    ]
    with (
        postgres_server.server(programs) as address,
        psycopg.connect(**address, autocommit=True) as connection,
    ):
        connection.execute(f"CREATE TABLE rows ({', '.join(columns)})")
        with connection.cursor().copy("COPY rows FROM STDIN") as copy:
            for row in _python_rows(keyed):
                copy.write_row(row)
        return _of_query(connection.execute(_query(classifier, "postgres")).fetchall(), classifier)


def by_sqlite(classifier: ScorecardClassifier, rows: pa.Table) -> Answer:
    """Score rows in SQLite, which holds dates as text and no NaN."""
    keyed = _with_key(rows)
    names = ", ".join("`{}`".format(name.replace("`", "``")) for name in keyed.column_names)
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE rows ({names})")
        blanks = ", ".join("?" * len(keyed.column_names))
        values = ([_plain(value) for value in row] for row in _python_rows(keyed))
        connection.executemany(f"INSERT INTO rows VALUES ({blanks})", values)  # noqa: S608
        return _of_query(connection.execute(_query(classifier, "sqlite")).fetchall(), classifier)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, date) else value


def by_spark(classifier: ScorecardClassifier, rows: pa.Table) -> Answer:
    """Score rows in Spark SQL, on threads."""
    from pyarrow import parquet  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    session = SparkSession.builder.master("local[2]").getOrCreate()
    zone = session.conf.get("spark.sql.session.timeZone")
    session.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "rows.parquet")
            parquet.write_table(_with_key(rows), path)
            session.read.parquet(path).createOrReplaceTempView("rows")
            return _of_query(session.sql(_query(classifier, "spark")).collect(), classifier)
    finally:
        session.conf.set("spark.sql.session.timeZone", zone)


def by_json(classifier: ScorecardClassifier, rows: pa.Table) -> Answer:
    """Score rows by a reader of the JSON."""
    model = json.loads(to_json(classifier))
    read = rows.select([column["name"] for column in model["columns"]])
    return _of_rows(score_row(model, list(row)) for row in _python_rows(read))


def by_python(classifier: ScorecardClassifier, rows: pa.Table) -> Answer:
    """Score rows by the functions of the Python source."""
    scope: dict[str, Any] = {}
    exec(to_python(classifier), scope)  # noqa: S102 - it is our own
    functions = [scope[name] for name in ("points", "score", "probabilities", "predict")]
    read = rows.select([column["name"] for column in scope["COLUMNS"]])
    answers = (tuple(call(row) for call in functions) for row in _python_rows(read))
    return _of_rows(
        (points, score, list(p.values())[1], label) for points, score, p, label in answers
    )


def by_pmml(classifier: ScorecardClassifier, rows: pa.Table) -> Answer:
    """Score rows by JPMML, in a process of Java."""
    import jpmml_evaluator  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    evaluator = jpmml_evaluator.make_evaluator(to_pmml(classifier), backend="py4j")
    frame = pd.DataFrame()
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        is_date = pa.types.is_temporal(column.type)  # with its time, as the document asks for
        values = (column.cast(pa.timestamp("us")) if is_date else column).to_pylist()
        times = [value if value is None else value.isoformat() for value in values if is_date]
        frame[name] = pd.Series(times if is_date else values, dtype=object)
    found = evaluator.evaluateAll(frame, nan_as_missing=True)
    probability = classifier.scoring_formula().probability_name
    numbers = [found[name].to_numpy(float) for name in ("points", "score", probability)]
    labels = found["prediction"].to_numpy().astype(classifier.classes_.dtype)
    return Answer(*numbers, label=labels)


def by_onnx(classifier: ScorecardClassifier, rows: pa.Table) -> Answer:
    """Score rows by onnxruntime."""
    import onnxruntime  # noqa: PLC0415

    missing = "\x07 missing"  # no row has it
    inputs = {}
    for bins, column in zip(classifier.card_.bins, rows.columns, strict=True):
        if bins.kind == "text":
            texts = [missing if text is None else text for text in column.to_pylist()]
            values = np.array(texts, dtype=object)
        elif bins.kind == "date":
            days = column.cast(pa.timestamp("us"))
            values = days.to_numpy().astype("M8[us]").astype(np.int64)
        else:
            values = np.array([np.nan if x is None else x for x in column.to_pylist()], float)
        inputs[bins.name] = values.reshape(-1, 1)
    model = to_onnx(classifier, missing_text=missing).SerializeToString()
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    used = {entry.name for entry in session.get_inputs()}
    names = [output.name for output in session.get_outputs()]
    given = {name: values for name, values in inputs.items() if name in used}
    found = dict(zip(names, session.run(None, given), strict=True))
    probability = found["probabilities"]
    return Answer(
        found["points"],
        found["score"],
        probability[:, 1],
        found["label"].astype(classifier.classes_.dtype),
    )


ROUTES: dict[str, Callable[[ScorecardClassifier, pa.Table], Answer]] = {
    "SQL in DuckDB": by_duckdb,
    "SQL in PostgreSQL": by_postgres,
    "SQL in SQLite": by_sqlite,
    "SQL in Spark": by_spark,
    "PMML": by_pmml,
    "ONNX": by_onnx,
    "JSON": by_json,
    "Python source": by_python,
}


def _python_rows(rows: pa.Table) -> Iterable[tuple[Any, ...]]:
    return zip(*(column.to_pylist() for column in rows.columns), strict=True)


def _of_rows(scored: Iterable[tuple[Any, ...]]) -> Answer:
    return Answer(*(np.array(values) for values in zip(*scored, strict=True)))


def _with_key(rows: pa.Table) -> pa.Table:
    return rows.append_column(KEY, pa.array(range(len(rows)), pa.int64()))


def _query(classifier: ScorecardClassifier, dialect: str) -> str:
    return to_sql(classifier, dialect=dialect).select("rows", keep=[KEY])


def _of_query(result: Iterable[Sequence[Any]], classifier: ScorecardClassifier) -> Answer:
    """Return the answer of a query that has the key of the rows first."""
    ordered = sorted(map(tuple, result), key=lambda row: row[0])
    numbers = np.array([row[1:-1] for row in ordered], dtype=float)
    return Answer(
        *numbers.T,
        label=np.array([row[-1] for row in ordered], dtype=classifier.classes_.dtype),
    )


# ── the comparison ────────────────────────────────────────────────────────────────────────────────


ROWS = 100_000
_REPORT = Path(__file__).with_name("card_exports.md")
CLOSE = 1e-9


class Difference(NamedTuple):
    """Greatest differences of a route from the classifier.

    ``labels``: rows with another label.
    """

    card: str
    route: str
    points: float
    score: float
    probability: float
    labels: int

    @property
    def is_close(self) -> bool:
        """Whether labels are equal, whole points identical and all numbers close."""
        points = 0.0 if self.card in INTEGER else CLOSE
        close = self.points <= points and max(self.score, self.probability) <= CLOSE
        return close and self.labels == 0


def difference(card: str, route: str, rows: pa.Table) -> Difference:
    """Return the greatest differences of a route on these rows."""
    classifier = CARDS[card]()
    expected, answer = by_classifier(classifier, rows), ROUTES[route](classifier, rows)
    numbers = [_farthest(answer[k], expected[k]) for k in range(3)]
    return Difference(card, route, *numbers, int((answer.label != expected.label).sum()))


def _farthest(numbers: np.ndarray, expected: np.ndarray) -> float:
    if numbers.shape != expected.shape or np.isnan(numbers).any():
        return float("inf")
    return float(np.abs(numbers - expected).max())


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the differences; return 1 if one is too great."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--routes", nargs="*", choices=list(ROUTES), default=list(ROUTES))
    parser.add_argument("--cards", nargs="*", choices=list(CARDS), default=list(CARDS))
    options = parser.parse_args(arguments)
    rows = raw_rows(options.rows, 2, new=True)
    print(f"{options.rows:,} rows; the greatest differences of points, score and probability")
    found = []
    for route in options.routes:
        for card in options.cards:
            apart = difference(card, route, rows)
            print(
                f"{route}, {card}: {apart.points:.1e}, {apart.score:.1e}, {apart.probability:.1e}, "
                f"{apart.labels} other labels{'' if apart.is_close else ': TOO FAR'}",
                flush=True,
            )
            found.append(apart)
    whole = options.rows == ROWS and [*options.routes, *options.cards] == [*ROUTES, *CARDS]
    if whole:
        write_report(_REPORT, report(found, commit()))
    return int(not all(apart.is_close for apart in found))


def report(found: Sequence[Difference], measured: str) -> list[str]:
    """Return the lines of a report: the greatest difference of any card, for each route."""
    how = (
        f"How: see `compare.py`. Measured on commit {measured}: {ROWS:,} rows with missing values, "
        f"unseen texts, special and infinite values; {len(CARDS)} cards, {len(INTEGER)} of them of "
        "whole points."
    )
    lines = [
        "# Exported scorecards, compared with the classifier on raw rows",
        "",
        how,
        "",
        *header("route | cards | whole points | other points | score | probability | other labels"),
    ]
    for route in dict.fromkeys(apart.route for apart in found):
        some = [apart for apart in found if apart.route == route]
        points = [
            max((apart.points for apart in some if (apart.card in INTEGER) == whole), default=0.0)
            for whole in (True, False)
        ]
        rest = [max(apart[k] for apart in some) for k in (3, 4)]
        numbers = [f"{number:.1e}" for number in (*points, *rest)]
        labels = sum(apart.labels for apart in some)
        lines.append(line(route, str(len(some)), *numbers, str(labels)))
    return lines


if __name__ == "__main__":
    sys.exit(main())
