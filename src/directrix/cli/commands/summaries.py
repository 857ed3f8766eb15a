"""The commands ``summarize``, ``merge`` and ``subtract``, which write summaries."""

from __future__ import annotations

from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli.io.files import load_summary
from directrix.cli.io.options import (
    Drop,
    FeatureCount,
    Features,
    Force,
    Format,
    Json,
    Output,
    Positive,
    Rows,
    Spark,
    Target,
    Weight,
    require,
)
from directrix.cli.io.output_file import require_output
from directrix.cli.output.reply import Reply

if TYPE_CHECKING:
    from directrix.moments import Moments


def summarize(
    *,
    rows: Rows,
    output: Output,
    force: Force = False,
    target: Target = None,
    features: Features = None,
    drop: Drop = None,
    weight: Weight = None,
    folds: Annotated[
        int | None, typer.Option(help="Number of folds to keep apart, drawn at random by row.")
    ] = None,
    positive: Positive = None,
    spark: Spark = None,
    file_format: Format = None,
    n_features: FeatureCount = None,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Summarise rows in one pass: count, mean and covariance of each class."""
    from directrix.cli.io.rows import RowFiles
    from directrix.engines import summarize as summarize_rows

    require_output(output, rows, force=force)
    require(folds is None or folds > 1, "there must be at least two folds", "--folds")
    files = RowFiles.of(
        rows,
        target,
        features=features,
        drop=drop,
        file_format=file_format,
        weight=weight,
        positive=positive,
        n_features=n_features,
        spark=spark,
    )
    source, options = files.source(folds)
    moments: Any = summarize_rows(source, **options)
    if positive is not None and not files.libsvm:
        moments = one_vs_rest(moments, positive)
    return save_summary(moments, output)


def merge(
    *,
    summaries: Annotated[
        list[str], typer.Argument(metavar="SUMMARIES", help="Files written by summarize.")
    ],
    output: Output,
    force: Force = False,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Merge summaries into the summary of all their rows."""
    require_output(output, summaries, force=force)
    return save_summary(reduce(add, map(load_summary, summaries)), output)


def subtract(
    *,
    whole: Annotated[str, typer.Argument(metavar="WHOLE", help="Summary to subtract from.")],
    parts: Annotated[
        list[str], typer.Argument(metavar="PARTS", help="Summaries of the rows to remove.")
    ],
    output: Output,
    force: Force = False,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Remove rows from a summary, given summaries of these rows."""
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
