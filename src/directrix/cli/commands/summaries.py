"""The commands on summaries: ``summarize`` and ``show``."""

from __future__ import annotations

from functools import reduce
from operator import add, sub
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli import options as opt
from directrix.cli.options import (
    file_type,
    load_model,
    load_summary,
    require,
    require_output,
)
from directrix.cli.reply import Reply, format_table

if TYPE_CHECKING:
    from directrix.moments import Moments

# ── The command ``show``: the content of a summary or a model ─────────────────────────────────────


#: Features of a summary that are listed.
_LISTED_FEATURES = 20


def show(
    *,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="A summary or a model."),
    ],
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Show the content of a summary or a model."""
    from directrix.cli.formatting import describe_model, model_json

    if file_type(file) == "summary":
        return _show_summary(load_summary(file))
    model = load_model(file)
    text = describe_model(model, with_columns=False)
    if hasattr(model, "card_"):
        text += f"\n\n{model.card_}"
    return Reply(text, {"kind": "model", **model_json(model)})


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


# ── The command ``summarize`` ────────────────────────────────────────────────────────────────────


def summarize(
    *,
    rows: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ROWS]", help="Files of rows; none to add summaries."),
    ] = None,
    output: opt.Output,
    force: opt.Force = False,
    target: opt.Target = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    weight: opt.Weight = None,
    plus: Annotated[
        list[str] | None,
        typer.Option("--add", help="Summary of other rows to add; may be repeated."),
    ] = None,
    minus: Annotated[
        list[str] | None,
        typer.Option("--subtract", help="Summary of rows to take out; may be repeated."),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Number of folds to keep apart, drawn at random by row.")
    ] = None,
    positive: opt.Positive = None,
    spark: opt.Spark = None,
    file_format: opt.Format = None,
    n_features: opt.FeatureCount = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Summarise rows: count, mean and covariance of each class.

    Without rows it adds summaries, or subtracts some from others.
    """
    from directrix.cli.rows import RowFiles
    from directrix.engines import summarize as summarize_rows

    given = [*(rows or ()), *(plus or ()), *(minus or ())]
    require_output(output, given, force=force)
    require(folds is None or folds > 1, "there must be at least two folds", "--folds")
    require(rows or plus, "give files of rows, or summaries with --add", "ROWS")
    parts = [load_summary(path) for path in plus or ()]
    if rows:
        files = RowFiles.of(
            rows, target, features, drop, weight, positive, file_format, n_features, spark
        )
        source, options = files.source(folds)
        moments: Any = summarize_rows(source, **options)
        if positive is not None and not files.libsvm:
            moments = one_vs_rest(moments, positive)
        parts.insert(0, moments)
    whole = reduce(sub, map(load_summary, minus or ()), reduce(add, parts))
    return save_summary(whole, output)


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
