"""show: what is in a file."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from directrix.cli.commands.summaries import facts_of
from directrix.cli.io.files import kind_of, model_of, summary_of
from directrix.cli.io.options import Json
from directrix.cli.output.errors import UsageError
from directrix.cli.output.formatting import model_facts, model_words
from directrix.cli.output.reply import Reply, aligned
from directrix.moments import Moments

_SHOWN = 20


def show(
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A summary or a model.")],
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Tell what is in a summary or in a model."""
    kind = kind_of(file)
    if kind == "summary":
        return _of_summary(summary_of(file))
    if kind == "model":
        model = model_of(file)
        return Reply(model_words(model), {"kind": "model", **model_facts(model)})
    summary_of(file)  # says what is wrong with it, where it is a file that was damaged
    msg = f"{file} is neither a summary nor a model"
    raise UsageError(msg)


def _of_summary(moments: Moments) -> Reply:
    names = moments.feature_names or tuple(f"x{k}" for k in range(moments.n_features))
    groups = {str(label): own for label, own in moments.by_class.items()}
    table = [["rows", *(f"{own.count:,}" for own in groups.values())]]
    total = moments.weight or 1.0
    table.append(["share", *(f"{own.weight / total:.4f}" for own in groups.values())])
    if moments.weight != moments.count:
        table.append(["weight", *(f"{own.weight:,.6g}" for own in groups.values())])
    spreads = {label: np.sqrt(own.variance) if own.count else None for label, own in groups.items()}
    for k, name in enumerate(names[:_SHOWN]):
        cells = []
        for label, own in groups.items():
            spread = spreads[label]
            cells.append("" if spread is None else f"{own.mean[k]:.5g} ± {spread[k]:.3g}")
        table.append([name, *cells])
    text = aligned(["class", *groups], table)
    if len(names) > _SHOWN:
        text += f"\nand {len(names) - _SHOWN} more features"
    words = f"{repr(moments)[10:-1]}\n\n{text}\n\nmean ± standard deviation of each feature"
    facts: dict[str, Any] = {"kind": "summary", **facts_of(moments), "feature_names": names}
    facts["moments"] = {
        label: {"rows": own.count, "weight": own.weight, "mean": own.mean, "deviation": spread}
        for (label, own), spread in zip(groups.items(), spreads.values(), strict=True)
    }
    return Reply(words, facts)
