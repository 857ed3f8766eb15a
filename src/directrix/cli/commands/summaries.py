"""The commands on summaries: ``summarize`` and ``show``."""

from __future__ import annotations

from functools import reduce
from operator import add, sub
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix._printing import text_table
from directrix.cli import options as opt
from directrix.cli.options import file_type, load_model, load_summary, require, require_output
from directrix.cli.reply import Reply

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
    from directrix.cli.formatting import describe_model, describe_terms, model_values

    if file_type(file) == "summary":
        return _show_summary(load_summary(file))
    model = load_model(file)
    text = "\n\n".join(filter(None, [describe_model(model), describe_terms(model)]))
    return Reply(text, {"kind": "model", **model_values(model)})


def _show_summary(moments: Moments) -> Reply:
    import numpy as np

    names = moments.feature_names or tuple(f"x{index}" for index in range(moments.n_features))
    total = moments.weight or 1.0
    groups: dict[str, dict[str, Any]] = {
        str(label): {
            "rows": group.count,
            "weight": group.weight,
            "mean": group.mean,
            "deviation": np.sqrt(group.variance) if group.count else np.full(len(names), np.nan),
        }
        for label, group in moments.by_class.items()
    }
    table = [
        ["class", *groups],
        ["rows", *(f"{group['rows']:,}" for group in groups.values())],
        ["share", *(f"{group['weight'] / total:.4f}" for group in groups.values())],
    ]
    for index, name in enumerate(names[:_LISTED_FEATURES]):
        cells = (f"{g['mean'][index]:.5g} ± {g['deviation'][index]:.3g}" for g in groups.values())
        table.append([name, *cells])
    lines = [_described(moments), "", *text_table(table)]
    if len(names) > _LISTED_FEATURES:
        lines.append(f"and {len(names) - _LISTED_FEATURES} more features")
    text = "\n".join([*lines, "", "mean ± standard deviation of each feature"])
    values = {"kind": "summary", **_counts(moments), "feature_names": names, "moments": groups}
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
    target: opt.OptionalTarget = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    weight: opt.Weight = None,
    key: Annotated[
        str | None, typer.Option("--key", help="Column that identifies a row, such as its number.")
    ] = None,
    sample: Annotated[
        int, typer.Option("--sample", help="Rows of each class to keep in the file; 0 for none.")
    ] = 10_000,
    plus: Annotated[
        list[str] | None,
        typer.Option("--add", help="Summary of other rows to add; may be repeated."),
    ] = None,
    minus: Annotated[
        list[str] | None,
        typer.Option("--subtract", help="Summary of rows to take out; may be repeated."),
    ] = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Summarise rows: count, mean and covariance of each class.

    Without rows it adds summaries, or subtracts some from others.
    """
    from directrix.cli.rows import RowFiles
    from directrix.engines import summarize as summarize_rows

    require_output(output, [*(rows or ()), *(plus or ()), *(minus or ())], force=force)
    require(rows or plus, "give files of rows, or summaries with --add", "ROWS")
    require(bool(rows) == bool(target), "give files of rows, and the column of labels", "--target")
    parts = [load_summary(path) for path in plus or ()]
    if rows:
        files = RowFiles.of(rows, target, features, drop, weight)
        known = [name for name in files.features if name != key]
        roles: Any = {"target": target, "features": known, "weight": weight}
        roles |= {"key": key, "sample": sample}
        whole: Any = summarize_rows(list(files.paths), **roles)
        parts.insert(0, whole)
    moments: Moments = reduce(sub, map(load_summary, minus or ()), reduce(add, parts))
    moments.save(output)
    size = Path(output).stat().st_size
    text = f"{_described(moments)}\nwrote {output} ({size:,} bytes)"
    return Reply(text, {"output": output, "bytes": size, **_counts(moments)})


def _counts(moments: Moments) -> dict[str, Any]:
    """Return the counts of a summary for JSON."""
    return {
        "rows": moments.count,
        "weight": moments.weight,
        "features": moments.n_features,
        "sampled": 0 if moments.sample is None else len(moments.sample),
        "classes": {str(label): group.count for label, group in moments.by_class.items()},
    }


def _described(moments: Moments) -> str:
    """Return the counts of a summary as text: its repr without the brackets and the class name."""
    return repr(moments).removeprefix("<Moments: ").removesuffix(">")
