"""Routes by which an exported scorecard scores raw rows.

A route is a function of a fitted `ScorecardClassifier` and an Arrow table that returns an `Answer`,
or None if it cannot score such a card.
To add one, write such a function and give it a name in `ROUTES`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.studies.card_exports.json_reader import score_row
from directrix import ScorecardClassifier
from directrix.export import to_json, to_onnx, to_pmml, to_python, to_sql

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
        probability[:, 1] if len(classifier.classes_) == 2 else probability,
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
    return _of_rows(score_row(model, list(row)) for row in _python_rows(rows))


def by_python(classifier: ScorecardClassifier, rows: pa.Table) -> Answer:
    """Score rows by the functions of the Python source."""
    scope: dict[str, Any] = {}
    exec(to_python(classifier), scope)  # noqa: S102 - it is our own
    functions = [scope[name] for name in ("points", "score", "probabilities", "predict")]
    answers = (tuple(call(row) for call in functions) for row in _python_rows(rows))
    two = len(classifier.classes_) == 2
    return _of_rows(
        (points, score, list(p.values())[1] if two else list(p.values()), label)
        for points, score, p, label in answers
    )


def by_pmml(classifier: ScorecardClassifier, rows: pa.Table) -> Answer | None:
    """Score rows by JPMML, in a process of Java; PMML has cards of two classes only."""
    import jpmml_evaluator  # noqa: PLC0415
    import pandas as pd  # noqa: PLC0415

    if len(classifier.cards_) > 1:
        return None
    evaluator = jpmml_evaluator.make_evaluator(to_pmml(classifier), backend="py4j")
    frame = pd.DataFrame()
    for name, column in zip(rows.column_names, rows.columns, strict=True):
        is_date = pa.types.is_temporal(column.type)  # with its time, as the document asks for
        values = (column.cast(pa.timestamp("us")) if is_date else column).to_pylist()
        times = [value if value is None else value.isoformat() for value in values if is_date]
        frame[name] = pd.Series(times if is_date else values, dtype=object)
    found = evaluator.evaluateAll(frame, nan_as_missing=True)
    (probability,) = classifier.scoring_formula().probability_names
    numbers = [found[name].to_numpy(float) for name in ("points", "score", probability)]
    labels = found["prediction"].to_numpy().astype(classifier.classes_.dtype)
    return Answer(*numbers, label=labels)


def by_onnx(classifier: ScorecardClassifier, rows: pa.Table) -> Answer:
    """Score rows by onnxruntime."""
    import onnxruntime  # noqa: PLC0415

    missing = "\x07 missing"  # no row has it
    inputs = {}
    for bins, column in zip(classifier.cards_[0].bins, rows.columns, strict=True):
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
        probability[:, 1] if len(classifier.classes_) == 2 else probability,
        found["label"].astype(classifier.classes_.dtype),
    )


ROUTES: dict[str, Callable[[ScorecardClassifier, pa.Table], Answer | None]] = {
    "SQL in DuckDB": by_duckdb,
    "SQL in PostgreSQL": by_postgres,
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
    k = len(classifier.cards_)
    numbers = np.array([row[1:-1] for row in ordered], dtype=float)
    return Answer(
        *(
            np.squeeze(numbers[:, start : start + k], 1)
            if k == 1
            else numbers[:, start : start + k]
            for start in (0, k, 2 * k)
        ),
        label=np.array([row[-1] for row in ordered], dtype=classifier.classes_.dtype),
    )
