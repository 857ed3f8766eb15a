"""The commands on summaries: ``summarize``, ``merge``, ``subtract``, ``show`` and ``sql``."""

from __future__ import annotations

import csv
import json
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli import options as opt
from directrix.cli.options import (
    DIALECTS,
    check_choice,
    file_type,
    load_bins,
    load_model,
    load_release,
    load_sketch,
    load_summary,
    parse_columns,
    require,
    require_output,
)
from directrix.cli.reply import Reply, UsageError, format_table
from directrix.files.atomic import atomic_file

if TYPE_CHECKING:
    from directrix.moments import Moments

# ── The command ``sql``: queries that summarise a table in a database, and their results ──────────


#: Spellings of Boolean labels in CSV.
_BOOLEANS = {"true": True, "false": False, "t": True, "f": False}


def sql(
    *,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[FEATURES]", help="Feature columns.")
    ] = None,
    table: Annotated[
        str, typer.Option(help="Table, with its schema if it has one, such as shop.orders.")
    ],
    target: Annotated[str, typer.Option("--target", "-t", help="Column with the labels.")],
    features: opt.Features = None,
    dialect: Annotated[str, typer.Option(help=f"SQL dialect: {', '.join(DIALECTS)}.")] = "duckdb",
    weight: opt.Weight = None,
    first: Annotated[
        str | None, typer.Option(help="Result of the first query, as CSV or JSON.")
    ] = None,
    second: Annotated[
        list[str] | None,
        typer.Option(help="Result of each statement of the second query, in order."),
    ] = None,
    output: opt.OptionalOutput = None,
    force: opt.Force = False,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Print SQL that summarises a table, or read its results.

    Without results it prints the first query. With --first it prints the second query, which may be
    several statements. With --first, --second and -o it writes the summary.
    """
    from directrix.engines import moments_sql
    from directrix.moments import Moments

    check_choice(dialect, DIALECTS, "--dialect")
    columns = [*(parse_columns(features) or []), *(names or [])]
    require(columns, "give the feature columns", "--features")
    require(first or not second, "the second result needs the first", "--first")
    require_output(output, [first, *(second or [])], force=force)
    queries = moments_sql(table, target, columns, dialect=dialect, weight=weight)
    if first is None:
        return _print_statements([queries.first], output, "first")
    first_result = _read_result(first)
    if not second:
        return _print_statements(list(queries.second(first_result)), output, "second")
    require(output, "a summary is a binary file: give its name", "--output")
    second_results = [_read_result(path) for path in second]
    moments = Moments.from_sql_rows(first_result, second_results, queries.features)
    return save_summary(moments, str(output))


def _print_statements(statements: list[str], output: str | None, query: str) -> Reply:
    """Return a reply with some statements, or write them to a file."""
    text = "\n\n".join(f"{statement};" for statement in statements)
    values = {"query": query, "statements": statements, "output": output}
    if output is None:
        return Reply(text, values)
    with atomic_file(output) as file:
        file.write(f"{text}\n".encode())
    return Reply(f"wrote {output}: {len(statements)} statements", values)


def _read_result(path: str) -> list[dict[str, Any]]:
    """Read the rows of a result; in CSV the type of a label is inferred from its text."""
    if not Path(path).is_file():
        msg = f"no file at {path!r}: give the result of the query as CSV or JSON"
        raise UsageError(msg)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        from directrix.engines.readers import require_utf8

        require_utf8(path)
        raise
    if text.lstrip().startswith("["):
        rows: list[dict[str, Any]] = json.loads(text)
        return rows
    records = list(csv.DictReader(text.splitlines()))
    for record in records:
        for name in record:
            if str(name).lower() == "dx_label":
                record[name] = _parse_label(record[name])
    return records


def _parse_label(text: Any) -> Any:
    """Return a label as a bool, an int, a float or a text; None if it is empty."""
    if str(text).lower() in _BOOLEANS:
        return _BOOLEANS[str(text).lower()]
    for label_type in (int, float):
        try:
            return label_type(text)
        except (TypeError, ValueError):
            continue
    return text or None


# ── The command ``show``: the content of a summary or a model ─────────────────────────────────────


#: Features of a summary that are listed.
_LISTED_FEATURES = 20


def show(
    *,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A summary, a model, a release, a sketch or bins."),
    ],
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Show the content of a summary, a model, or a file of an exchange."""
    content = file_type(file)
    if content == "summary":
        return _show_summary(load_summary(file))
    if content == "release":
        from directrix.cli.commands.exchange import describe_release

        return describe_release(load_release(file))
    if content == "model":
        from directrix.cli.formatting import describe_model, model_json

        model = load_model(file)
        cards = [f"\n\n{card}" for card in getattr(model, "cards_", ())]
        return Reply(
            "".join([describe_model(model, with_columns=False), *cards]),
            {"kind": "model", **model_json(model)},
        )
    if content == "sketch":
        from directrix.cli.commands.exchange import describe_sketch

        return describe_sketch(load_sketch(file))
    if content == "file of bins":
        binner = load_bins(file)
        names = [each.name for each in binner.bins_]
        return Reply(binner.table(), {"kind": "bins", "columns": names})
    load_summary(file)  # raises an error that says what is wrong with a damaged file
    msg = f"{file} is neither a summary nor a model"
    raise UsageError(msg)


def _show_summary(moments: Moments) -> Reply:
    import numpy as np

    names = moments.feature_names or tuple(f"x{index}" for index in range(moments.n_features))
    groups = {str(label): group for label, group in moments.by_class.items()}
    deviations = {
        label: np.sqrt(group.variance) if group.count else None for label, group in groups.items()
    }
    total = moments.weight or 1.0
    table = [
        ["rows", *(f"{group.count:,}" for group in groups.values())],
        ["share", *(f"{group.weight / total:.4f}" for group in groups.values())],
    ]
    if moments.weight != moments.count:
        table.append(["weight", *(f"{group.weight:,.6g}" for group in groups.values())])
    for index, name in enumerate(names[:_LISTED_FEATURES]):
        cells = []
        for label, group in groups.items():
            deviation = deviations[label]
            cells.append(
                "" if deviation is None else f"{group.mean[index]:.5g} ± {deviation[index]:.3g}"
            )
        table.append([name, *cells])
    text = f"{describe_summary(moments)}\n\n{format_table(['class', *groups], table)}"
    if len(names) > _LISTED_FEATURES:
        text += f"\nand {len(names) - _LISTED_FEATURES} more features"
    text += "\n\nmean ± standard deviation of each feature"
    values: dict[str, Any] = {"kind": "summary", **summary_json(moments), "feature_names": names}
    values["moments"] = {
        label: {
            "rows": group.count,
            "weight": group.weight,
            "mean": group.mean,
            "deviation": deviations[label],
        }
        for label, group in groups.items()
    }
    return Reply(text, values)


# ── The commands ``summarize``, ``merge`` and ``subtract``, which write summaries ─────────────────


def summarize(
    *,
    rows: opt.Rows,
    output: opt.Output,
    force: opt.Force = False,
    target: opt.Target = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    weight: opt.Weight = None,
    folds: Annotated[
        int | None, typer.Option(help="Number of folds to keep apart, drawn at random by row.")
    ] = None,
    positive: opt.Positive = None,
    spark: opt.Spark = None,
    file_format: opt.Format = None,
    n_features: opt.FeatureCount = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Summarise rows: count, mean and covariance of each class."""
    from directrix.cli.rows import RowFiles
    from directrix.engines import summarize as summarize_rows

    require_output(output, rows, force=force)
    require(folds is None or folds > 1, "there must be at least two folds", "--folds")
    files = RowFiles.of(
        rows, target, features, drop, weight, positive, file_format, n_features, spark
    )
    source, options = files.source(folds)
    moments: Any = summarize_rows(source, **options)
    if positive is not None and not files.libsvm:
        moments = one_vs_rest(moments, positive)
    return save_summary(moments, output)


def merge(
    *,
    summaries: Annotated[
        list[str],
        typer.Argument(metavar="SUMMARIES", help="Files written by summarize, or by release."),
    ],
    output: opt.Output,
    force: opt.Force = False,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Add summaries, or join releases of several sites.

    A release that comes twice counts once.
    """
    require_output(output, summaries, force=force)
    kinds = {file_type(path) for path in summaries}
    if "release" in kinds:
        whole = reduce(add, map(load_release, summaries))
        whole.save(output)
        from directrix.cli.commands.exchange import describe_release

        return describe_release(whole, output)
    return save_summary(reduce(add, map(load_summary, summaries)), output)


def subtract(
    *,
    whole: Annotated[str, typer.Argument(metavar="WHOLE", help="Summary to subtract from.")],
    parts: Annotated[
        list[str], typer.Argument(metavar="PARTS", help="Summaries of the rows to remove.")
    ],
    output: opt.Output,
    force: opt.Force = False,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Remove rows from a summary, given their own summaries."""
    require_output(output, [whole, *parts], force=force)
    removed = reduce(add, map(load_summary, parts))
    return save_summary(load_summary(whole) - removed, output)


def one_vs_rest(moments: Moments, positive: str) -> Moments:
    """Return the summary of one class, given as text, against all others."""
    by_text = {str(label): label for label in moments.classes.tolist()}
    return moments.one_vs_rest(by_text.get(positive, positive))


def summary_json(moments: Moments) -> dict[str, Any]:
    """Return the counts of a summary for JSON."""
    return {
        "rows": moments.count,
        "weight": moments.weight,
        "features": moments.n_features,
        "classes": {str(label): group.count for label, group in moments.by_class.items()},
        "folds": len(moments.folds),
    }


def describe_summary(moments: Moments) -> str:
    """Return the counts of a summary as text: its repr without the brackets and the class name."""
    return repr(moments).removeprefix("<Moments: ").removesuffix(">")


def save_summary(moments: Moments, output: str) -> Reply:
    """Write a summary to a file, and return a reply with its counts."""
    moments.save(output)
    size = Path(output).stat().st_size
    text = f"{describe_summary(moments)}\nwrote {output} ({size:,} bytes)"
    return Reply(text, {"output": output, "bytes": size, **summary_json(moments)})
