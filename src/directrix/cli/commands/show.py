"""The command ``show``: the content of a summary or a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli.commands.summaries import describe_summary, summary_json
from directrix.cli.io.files import file_type, load_model, load_summary
from directrix.cli.io.options import Json
from directrix.cli.output.errors import UsageError
from directrix.cli.output.reply import Reply, format_table

if TYPE_CHECKING:
    from directrix.moments import Moments

#: Features of a summary that are listed.
_LISTED_FEATURES = 20


def show(
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A summary or a model.")],
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Show the content of a summary or a model."""
    content = file_type(file)
    if content == "summary":
        return _show_summary(load_summary(file))
    if content == "model":
        from directrix.cli.output.formatting import describe_model, model_json

        model = load_model(file)
        cards = [f"\n\n{card}" for card in getattr(model, "cards_", ())]
        return Reply(
            "".join([describe_model(model), *cards]), {"kind": "model", **model_json(model)}
        )
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
