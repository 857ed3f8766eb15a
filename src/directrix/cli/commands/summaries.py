"""summarize, merge and subtract: summaries as files."""

from __future__ import annotations

from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated, Any

import typer

from directrix.cli.io.files import summary_of
from directrix.cli.io.options import (
    Drop,
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
    Width,
    require,
)
from directrix.cli.io.output_file import require_output
from directrix.cli.io.rows import RowFiles
from directrix.cli.output.reply import Reply
from directrix.engines import summarize as summarize_rows
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
        int | None, typer.Option(help="Keep so many folds apart; each row is drawn on its own.")
    ] = None,
    positive: Positive = None,
    spark: Spark = None,
    form: Format = None,
    n_features: Width = None,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Summarise rows in one pass: counts, means and covariances of each class."""
    require_output(output, rows, force=force)
    require(folds is None or folds > 1, "there must be two folds at least", "--folds")
    files = RowFiles.of(
        rows,
        target,
        features=features,
        drop=drop,
        form=form,
        weight=weight,
        positive=positive,
        n_features=n_features,
        spark=spark,
    )
    source, options = files.source(folds)
    moments: Any = summarize_rows(source, **options)
    if positive is not None and not files.libsvm:
        moments = one_against_all(moments, positive)
    return saved(moments, output)


def merge(
    *,
    summaries: Annotated[
        list[str], typer.Argument(metavar="SUMMARIES", help="Files that summarize wrote.")
    ],
    output: Output,
    force: Force = False,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Add summaries up: the summary of the rows of all of them."""
    require_output(output, summaries, force=force)
    return saved(reduce(add, map(summary_of, summaries)), output)


def subtract(
    *,
    whole: Annotated[str, typer.Argument(metavar="WHOLE", help="A summary.")],
    parts: Annotated[
        list[str], typer.Argument(metavar="PARTS", help="Summaries of rows to take out.")
    ],
    output: Output,
    force: Force = False,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Take rows out of a summary again."""
    require_output(output, [whole, *parts], force=force)
    taken = reduce(add, map(summary_of, parts))
    return saved(summary_of(whole) - taken, output)


def one_against_all(moments: Moments, positive: str) -> Moments:
    """Return the summary of one label, given as text, against all others."""
    by_text = {str(label): label for label in moments.classes.tolist()}
    return moments.one_vs_rest(by_text.get(positive, positive))


def facts_of(moments: Moments) -> dict[str, Any]:
    """Return what a summary holds, in numbers."""
    return {
        "rows": moments.count,
        "weight": moments.weight,
        "features": moments.n_features,
        "classes": {str(label): own.count for label, own in moments.by_class.items()},
        "folds": len(moments.folds),
    }


def saved(moments: Moments, output: str) -> Reply:
    """Write a summary and say what it holds."""
    moments.save(output)
    size = Path(output).stat().st_size
    words = f"{repr(moments)[10:-1]}\nwrote {output} ({size:,} bytes)"
    return Reply(words, {"output": output, "bytes": size, **facts_of(moments)})
