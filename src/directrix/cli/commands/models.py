"""The commands ``evaluate``, ``predict`` and ``export``: a model on rows, and in other formats."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli import options as opt
from directrix.cli.options import (
    DIALECTS,
    check_choice,
    load_model,
    parse_columns,
    parse_metric,
    require,
    require_output,
)
from directrix.cli.reply import Reply, format_table
from directrix.files.atomic import atomic_file

if TYPE_CHECKING:
    from directrix._typing import AnyArray
    from directrix.classifiers.evaluation import BinaryMeasures, Measure
    from directrix.cli.rows import RowBlock

_STDOUT = "-"
_FORMATS = ("sql", "onnx", "pmml", "json", "python")
_DTYPES = ("float64", "float32")

# ── The command ``evaluate``: rates and metrics of a model on labelled rows ───────────────────────


def evaluate(
    *,
    model: opt.Model,
    rows: opt.Rows,
    target: opt.Target = None,
    metric: opt.MetricText = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    segment: opt.Segment = None,
    file_format: opt.Format = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Measure a model on labelled rows, with 95 % intervals."""
    import numpy as np

    from directrix.classifiers.evaluation import BEST_CUTOFF, measure_binary
    from directrix.cli.formatting import metric_of_model
    from directrix.cli.rows import RowFiles, labels_of, score_rows

    classifier = load_model(model)
    measured_metric = metric_of_model(classifier) if metric is None else parse_metric(metric)
    classes = labels_of(classifier)
    given = (rows, target, features, drop, weight, positive, file_format)
    scored = score_rows(classifier, RowFiles.of(*given, segment=segment))
    measures = measure_binary(scored, measured_metric, measured_metric.label, classes)
    weighted = scored.weight is not None and bool(np.ptp(scored.weight) > 0)
    best = ["", f"{BEST_CUTOFF}, not that of the model", _table(measures.best_cutoff)]
    rates = scored.segment_rates(classes[1])
    text = "\n".join(
        [
            *([measures.verdict] if measures.verdict else []),
            _describe_counts(measures, classes[1], len(scored.y)),
            *([f"rates are weighted by the column {weight}"] if weighted else []),
            "",
            "at the cutoff of the model",
            _table(measures.at_cutoff),
            *([measures.limit] if measures.limit else []),
            *(best if measures.best_cutoff else []),
            *(["", f"by {segment}, at the cutoff of the model", str(rates)] if rates else []),
        ]
    )
    values = {
        "model": model,
        "metric_name": str(measured_metric),
        "rows": measures.rows,
        "positives": measures.positives,
        "flagged": measures.flagged,
        "metric": measures.metric._asdict(),
        **_at_threshold_json(measures.at_threshold),
        "best_cutoff_on_these_rows": {
            measure.name: measure._asdict() for measure in measures.best_cutoff
        },
        "limit": measures.limit or None,
        "chance": measures.chance,
        "no_better_than_constant": not measures.better_than_chance,
        "weighted": weighted,
    }
    if rates is not None:
        values["segments"] = rates.to_dict()
    return Reply(text, values)


def _describe_counts(measures: BinaryMeasures, label: Any, n_rows: int) -> str:
    weight, positives, flagged = map(
        _format_count, (measures.rows, measures.positives, measures.flagged)
    )
    share = measures.positives / measures.rows
    rows = f"{weight} rows"
    if measures.rows != n_rows:
        rows = f"{n_rows:,} rows of weight {weight}"
    return f"{rows}, {positives} of class {label} ({share:.2%}); {flagged} predicted {label}"


def _format_count(weight: float) -> str:
    """Return a number of rows, which need not be whole if they have weights."""
    return f"{weight:,.0f}" if weight == round(weight) else f"{weight:,.2f}"


def _table(measures: Sequence[Measure]) -> str:
    from directrix.cli.formatting import format_interval, format_rate

    table = [
        [
            measure.name,
            format_rate(measure.value),
            format_interval((measure.low, measure.high)),
            measure.how,
        ]
        for measure in measures
    ]
    return format_table(["", "value", "95 % interval", "method"], table, left_aligned=(0, 3))


def _at_threshold_json(measures: Sequence[Measure]) -> dict[str, object]:
    return {"at_threshold": {measure.name: measure._asdict() for measure in measures}}


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
    features: opt.Features = None,
    file_format: opt.Format = None,
    as_json: opt.Json = False,
) -> Reply:
    """Write score, probability and prediction of every row.

    The probability column is named after the positive class, such as probability_bad. A card writes
    its points too.
    """
    from directrix.cli.rows import RowFiles, labels_of, model_columns, takes_raw_rows

    require(not (as_json and output == _STDOUT), "the rows are written to stdout", "--json")
    supported = output == _STDOUT or Path(output).suffix.lower() in (".parquet", ".csv")
    require(supported, "the name must end in .parquet or .csv, or be -", "--output")
    require_output(None if output == _STDOUT else output, [model, *rows], force=force)
    classifier = load_model(model)
    kept = parse_columns(keep) or []
    made = output_columns(classifier)
    twice = next((name for name in kept if name in made), None)
    require(twice is None, f"the column {twice!r} is also written by predict", "--keep")
    files = RowFiles.of(rows, None, features=features, file_format=file_format, labelled=False)
    files = files.for_model(classifier)
    if files.libsvm:
        require(not kept, "LIBSVM files have no other columns", "--keep")
    else:
        message = "the model has no feature names: give the columns in its order"
        require(files.features, message, "--features")
    raw = takes_raw_rows(classifier) and not files.libsvm
    with model_columns(files), _writer(output) as write:
        use = partial(_predict_block, classifier, kept, write)
        counts = files.read(use, raw=raw, keep=kept, finite=False, label="predict")
    n_rows, flagged, incomplete = map(sum, zip(*counts, strict=True))
    text = f"{n_rows:,} rows, {flagged:,} predicted {labels_of(classifier)[-1]}"
    if incomplete:
        text += (
            f"\n{incomplete:,} rows lack a value: their score, probability and prediction are empty"
        )
    values = {"output": output, "rows": n_rows, "flagged": flagged, "incomplete": incomplete}
    return Reply(f"{text}\nwrote {output}", values, on_stderr=output == _STDOUT)


def _predict_block(
    model: Any, kept: list[str], write: Callable[[dict[str, Any]], None], block: RowBlock
) -> tuple[int, int, int]:
    """Write the predictions of some rows, after the columns that are kept.

    Return the number of rows, of those predicted positive, and of those that lack a value.
    """
    import numpy as np
    import pyarrow as pa

    from directrix.cli.rows import labels_of, scores_and_probabilities

    X, classes = block.X, model.classes_
    n_rows = X.shape[0]
    dense = isinstance(X, np.ndarray)  # a scorecard takes any value, a sparse matrix has no gaps
    complete: AnyArray = np.isfinite(X).all(axis=1) if dense else np.ones(n_rows, dtype=bool)
    scores, probability = np.zeros(n_rows), np.zeros(n_rows)
    points: list[Any] = []
    if complete.all():
        scores, probability = scores_and_probabilities(model, X)
        points = [model.predict_points(X)] if hasattr(model, "card_") else []
    elif complete.any():
        scores[complete], probability[complete] = scores_and_probabilities(model, X[complete])
    index = (scores > 0).astype(np.intp)
    if labels_of(model).tolist() != classes.tolist():
        probability = 1.0 - probability  # of the positive class, which is the first
    labels = pa.array(classes[index].tolist(), pa.array(classes.tolist()).type, mask=~complete)
    *names, last = output_columns(model)
    values = [*points, scores, probability]
    columns = {name: block.table.column(name) for name in kept}
    for name, column in zip(names, values, strict=True):
        columns[name] = pa.array(column, mask=~complete)
    write({**columns, last: labels})
    caught = classes.tolist().index(labels_of(model).tolist()[-1])
    return n_rows, int((complete & (index == caught)).sum()), int((~complete).sum())


def output_columns(model: Any) -> list[str]:
    """Return the names of the columns that are written, as `to_sql` names them."""
    from directrix.classifiers.labels import positive_of, probability_name

    numbers = ["points", "score"] if hasattr(model, "card_") else ["score"]
    return [*numbers, probability_name(model.classes_.tolist(), positive_of(model)), "prediction"]


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
            if not writers:
                writer_type = csv.CSVWriter if is_csv else parquet.ParquetWriter
                writers.append(stack.enter_context(writer_type(file, table.schema)))
            writers[0].write_table(table)

        yield write


# ── The command ``export``: a model as SQL, ONNX, PMML, JSON or Python ────────────────────────────


def export(
    *,
    model: opt.Model,
    to: Annotated[str, typer.Option(help=f"Format to write: {', '.join(_FORMATS)}.")],
    dialect: Annotated[str, typer.Option(help=f"SQL dialect: {', '.join(DIALECTS)}.")] = "duckdb",
    table: Annotated[
        str | None, typer.Option(help="With SQL: write a complete query of this table.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(help="With --table: columns to copy to the result, separated by commas."),
    ] = None,
    reasons: Annotated[
        int,
        typer.Option(
            help=(
                "With a scorecard: number of reasons for each row, as columns of the query "
                "(--table) or a function of the Python module."
            )
        ),
    ] = 0,
    dtype: Annotated[
        str | None,
        typer.Option(help="With ONNX: float64 (default), or float32, which has fewer digits."),
    ] = None,
    features: opt.Features = None,
    output: opt.OptionalOutput = None,
    force: opt.Force = False,
    as_json: opt.Json = False,
) -> Reply:
    """Write a model as SQL, PMML, ONNX, JSON or Python."""
    from directrix.export import to_json, to_onnx, to_pmml, to_python, to_sql

    check_choice(to, _FORMATS, "--to")
    check_choice(dialect, DIALECTS, "--dialect")
    require(output or to != "onnx", "ONNX is a binary format: give a file", "--output")
    require(not (keep and table is None), "columns are copied by a query: give --table", "--keep")
    has_reasons = to == "python" or (to == "sql" and table is not None)
    require(reasons >= 0, "give a number of reasons", "--reasons")
    require(not reasons or has_reasons, "for --to python, or --to sql with --table", "--reasons")
    require(to == "onnx" or dtype is None, "only ONNX has another type than float64", "--dtype")
    check_choice(dtype or "float64", _DTYPES, "--dtype")
    require_output(output, [model], force=force)
    classifier = load_model(model)
    content: str | bytes
    if to == "onnx":
        content = to_onnx(classifier, dtype=dtype or "float64").SerializeToString()
    elif to == "sql":
        sql = to_sql(classifier, dialect=dialect, columns=parse_columns(features))
        kept = parse_columns(keep) or ()
        content = str(sql) if table is None else sql.select(table, kept, reasons=reasons)
    elif to == "pmml":
        content = to_pmml(classifier, columns=parse_columns(features))
    elif to == "json":
        content = to_json(classifier)
    else:
        content = to_python(classifier, reasons=reasons > 0)
    values = {"model": model, "to": to, "output": output}
    if output is None:
        return Reply(str(content).rstrip("\n"), {**values, "text": content})
    data = content if isinstance(content, bytes) else f"{content.rstrip()}\n".encode()
    with atomic_file(output) as file:
        file.write(data)
    return Reply(f"wrote {output} ({len(data):,} bytes)", values, on_stderr=not as_json)
