"""The commands ``evaluate``, ``predict`` and ``export``: a model on rows, and in other formats."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from directrix.cli import options as opt
from directrix.cli.options import load_model, parse_columns, parse_metric, require, require_output
from directrix.cli.reply import Reply
from directrix.files.atomic import atomic_file

_STDOUT = "-"
#: Formats of ``export`` by the suffix of a file.
_BY_SUFFIX: dict[str, Any] = {
    ".sql": "sql",
    ".py": "python",
    ".json": "json",
    ".onnx": "onnx",
    ".pmml": "pmml",
    ".xml": "pmml",
    ".dx": "model",
}

# ── The command ``evaluate``: rates and metrics of a model on labelled rows ───────────────────────


def evaluate(
    *,
    model: opt.Model,
    rows: opt.Rows,
    target: opt.Target,
    metric: opt.MetricText = None,
    features: opt.ModelFeatures = None,
    weight: opt.Weight = None,
    segment: opt.Segment = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Measure a model on labelled rows, with 95 % intervals."""
    from directrix.cli.rows import RowFiles, score_rows
    from directrix.estimators import evaluate as evaluate_scores
    from directrix.estimators.evaluation import metric_of
    from directrix.rows.classes import positive_of, toward_positive

    classifier = load_model(model)
    roles = {"target": target, "weight": weight, "segment": segment}
    scores, read = score_rows(classifier, RowFiles.for_model(classifier, rows, features, **roles))
    evaluation = evaluate_scores(
        read.y,
        toward_positive(classifier, scores),
        parse_metric(metric) or metric_of(classifier, "error"),
        threshold=0.0,
        positive=positive_of(classifier),
        sample_weight=read.weight,
        segment=read.segment,
    )
    measures = {measure.name: measure for measure in evaluation.measures}
    values: dict[str, Any] = {"rows": evaluation.rows, "positives": evaluation.positives}
    values |= {"flagged": evaluation.flagged, "measures": measures, "notes": evaluation.notes}
    values |= {} if evaluation.rates is None else {"segments": evaluation.rates.to_dict()}
    return Reply(str(evaluation), {"model": model, **values})


# ── The command ``predict``: scores, probabilities and labels of rows, in batches ─────────────────


def predict(
    *,
    model: opt.Model,
    rows: opt.Rows,
    output: Annotated[
        str, typer.Option("--output", "-o", help="A .parquet or .csv file; - for CSV on stdout.")
    ],
    force: opt.Force = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Columns to copy to the output, such as an id, separated by commas."),
    ] = None,
    features: opt.ModelFeatures = None,
    as_json: opt.Json = False,
) -> Reply:
    """Write score, probability and prediction of every row.

    The probability column is named after the positive class, such as probability_bad. A card writes
    its points too. In CSV, texts that a spreadsheet would run as formulas begin with an apostrophe.
    """
    from directrix.cli.rows import RowFiles
    from directrix.rows.classes import positive_of

    require(not (as_json and output == _STDOUT), "the rows are written to stdout", "--json")
    supported = output == _STDOUT or Path(output).suffix.lower() in (".parquet", ".csv")
    require(supported, "the name must end in .parquet or .csv, or be -", "--output")
    require_output(None if output == _STDOUT else output, [model, *rows], force=force)
    classifier = load_model(model)
    kept = parse_columns(keep) or []
    files = RowFiles.for_model(classifier, rows, features)
    positive = positive_of(classifier)
    n_rows = n_positive = n_incomplete = 0
    with _writer(output) as write:
        for batch in files.batches(kept):
            columns, incomplete = _predictions(classifier, batch.select(list(files.features)))
            twice = next((name for name in kept if name in columns), None)
            require(twice is None, f"the column {twice!r} is also written by predict", "--keep")
            write({**{name: batch[name] for name in kept}, **columns})
            n_rows, n_incomplete = n_rows + batch.num_rows, n_incomplete + incomplete
            n_positive += columns["prediction"].to_pylist().count(positive)
    text = f"{n_rows:,} rows, {n_positive:,} predicted {positive}"
    if n_incomplete:
        text += f"\n{n_incomplete:,} rows lack a value: their scores and predictions are empty"
    values = {"output": output, "rows": n_rows, "flagged": n_positive, "incomplete": n_incomplete}
    if output == _STDOUT:
        return Reply(text, values, on_stderr=True)
    return Reply(f"{text}\nwrote {output}", values)


def _predictions(model: Any, X: Any) -> tuple[dict[str, Any], int]:
    """Return the columns that are written for some rows, named as `to_sql` names them.

    Rows that lack a value have none, unless the model is a card; their number comes second.
    """
    import numpy as np
    import pyarrow as pa
    from pyarrow import compute

    from directrix.exceptions import ChangedColumnsWarning, silenced
    from directrix.rows.classes import positive_of, probability_name

    is_card, classes = hasattr(model, "card_"), model.classes_.tolist()
    complete = np.ones(X.num_rows, dtype=bool)
    for column in () if is_card else X.columns:
        known = compute.is_finite if pa.types.is_floating(column.type) else compute.is_valid
        complete &= np.asarray(compute.fill_null(known(column), False))  # noqa: FBT003
    score, mask = np.zeros(X.num_rows), pa.array(complete)
    if complete.any():
        score[complete] = model.decision_function(X.filter(mask))
    if not complete.all():  # any number will do for a row that gets no score
        filled = (compute.if_else(mask, c, pa.scalar(0).cast(c.type)) for c in X.columns)
        X = pa.table(dict(zip(X.column_names, filled, strict=True)))
    index = classes.index(positive_of(model))
    name = probability_name(classes, positive_of(model))
    with silenced(ChangedColumnsWarning):  # which the scores have given
        probability = model.predict_proba(X)[:, index]
        columns = {"points": pa.array(model.predict_points(X))} if is_card else {}
        labels, kind = model.predict(X).tolist(), pa.array(classes).type
    columns["score"] = pa.array(score, mask=~complete)
    columns[name] = pa.array(probability, mask=~complete)
    columns["prediction"] = pa.array(labels, kind, mask=~complete)
    return columns, int((~complete).sum())


@contextmanager
def _writer(output: str) -> Iterator[Any]:
    """Give a function that writes columns; the file appears complete or not at all."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    is_csv = output == _STDOUT or output.lower().endswith(".csv")
    with ExitStack() as stack:
        file = sys.stdout.buffer if output == _STDOUT else stack.enter_context(atomic_file(output))
        writers: list[Any] = []

        def write(columns: dict[str, Any]) -> None:
            table = pa.table(columns)
            if is_csv:
                table = pa.table({name: _no_formula(table[name]) for name in table.column_names})
            if not writers:
                writer_type = csv.CSVWriter if is_csv else parquet.ParquetWriter
                writers.append(stack.enter_context(writer_type(file, table.schema)))
            writers[0].write_table(table)

        yield write


def _no_formula(column: Any) -> Any:
    """Return a column whose texts no spreadsheet runs: those that would be begin with a quote."""
    import pyarrow as pa
    from pyarrow import compute

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    quote, nothing = (pa.scalar(text, column.type) for text in ("'", ""))
    runs = compute.match_substring_regex(column, r"^[=+\-@\t\r]")
    quoted = compute.binary_join_element_wise(quote, column, nothing)
    return compute.if_else(runs, quoted, column)


# ── The command ``export``: a model as SQL, ONNX, PMML, JSON or Python ────────────────────────────


def export(
    *,
    model: opt.Model,
    to: Annotated[
        Literal["sql", "python", "json", "onnx", "pmml", "model"] | None,
        typer.Option(help="Format to write. Default: by the suffix of the output file."),
    ] = None,
    dialect: Annotated[
        Literal["duckdb", "postgres", "bigquery", "snowflake", "spark", "clickhouse", "sqlite"],
        typer.Option(help="SQL dialect."),
    ] = "duckdb",
    table: Annotated[
        str | None, typer.Option(help="With SQL: write a complete query of this table.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="With --table: columns to copy to the result, separated by commas."),
    ] = None,
    features: opt.ModelFeatures = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="File to write: .sql, .py, .json, .onnx, .pmml, .dx."),
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Write a model as SQL, PMML, ONNX, JSON or Python."""
    from directrix.export import save, to_json, to_onnx, to_pmml, to_python, to_sql

    kind = to or _BY_SUFFIX.get(Path(output or "").suffix.lower())
    require(kind, f"give the format: {', '.join(dict.fromkeys(_BY_SUFFIX.values()))}", "--to")
    require(output or kind not in ("onnx", "model"), "the format is binary: give a file", "-o")
    require(not keep or table, "columns are copied by a query: give --table", "--keep")
    require_output(output, [model], force=force)
    classifier, columns = load_model(model), parse_columns(features)

    def sql() -> str:
        made = to_sql(classifier, dialect=dialect, columns=columns)
        return str(made) if table is None else made.select(table, parse_columns(keep) or ())

    if kind == "model" and output is not None:
        save(classifier, output)
        return Reply(f"wrote {output}", {"model": model, "to": kind, "output": output})
    writers: dict[Any, Any] = {
        "sql": sql,
        "python": lambda: to_python(classifier),
        "json": lambda: to_json(classifier),
        "onnx": lambda: to_onnx(classifier).SerializeToString(),
        "pmml": lambda: to_pmml(classifier, columns=columns),
    }
    content: str | bytes = writers[kind]()
    values = {"model": model, "to": kind, "output": output}
    if output is None:
        return Reply(str(content).rstrip("\n"), {**values, "text": content})
    data = content if isinstance(content, bytes) else f"{content.rstrip()}\n".encode()
    with atomic_file(output) as file:
        file.write(data)
    return Reply(f"wrote {output} ({len(data):,} bytes)", values)
