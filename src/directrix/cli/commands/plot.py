"""plot: a picture of a summary, or of a model and rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from sklearn.base import clone

from directrix._atomic_file import atomic_file
from directrix.cli.io.files import kind_of, model_of, summary_of
from directrix.cli.io.options import (
    Drop,
    Features,
    Force,
    Format,
    Json,
    MetricText,
    Output,
    Positive,
    Target,
    Weight,
    metric_of,
    one_of,
    require,
)
from directrix.cli.io.output_file import require_output
from directrix.cli.io.rows import Gather, InMemory, RowFiles
from directrix.cli.io.scoring import fitting, scored
from directrix.cli.output.errors import UsageError
from directrix.cli.output.formatting import metric_of_model
from directrix.cli.output.pictures import (
    frontier_picture,
    is_positive,
    margin_picture,
    quiet_pyplot,
    tradeoff_picture,
)
from directrix.cli.output.reply import Reply, waiting
from directrix.displays import FrontierDisplay, LossDisplay, PathDisplay
from directrix.losses import BetaBernoulli, Hinge, Logistic, Sigmoid
from directrix.metrics import Metric

_KINDS = ("frontier", "margins", "tradeoff", "losses", "path")
_AGAINST = ("threshold", "cost", "quota")


def plot(
    *,
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"{', '.join(_KINDS)}.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MODEL|SUMMARY] [ROWS]", help="A model or summary, then rows."),
    ] = None,
    output: Output,
    force: Force = False,
    metric: MetricText = None,
    against: Annotated[
        str, typer.Option(help=f"Of a trade-off: {', '.join(_AGAINST)}.")
    ] = "threshold",
    target: Target = None,
    features: Features = None,
    drop: Drop = None,
    weight: Weight = None,
    positive: Positive = None,
    form: Format = None,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Draw a picture into a PNG, SVG or PDF file."""
    one_of(kind, _KINDS, "KIND")
    one_of(against, _AGAINST, "--against")
    wanted = None if metric is None else metric_of(metric)
    require_output(output, files or [], force=force)
    quiet_pyplot()
    first, rows = (files[0], files[1:]) if files else (None, [])
    require(first or kind == "losses", "give a model or a summary", "MODEL")

    def row_files() -> RowFiles:
        require(rows, f"a picture of {kind} needs rows after the model", "ROWS")
        return RowFiles.of(
            rows, target, features=features, drop=drop, form=form, weight=weight, positive=positive
        )

    if kind == "losses":
        figure = _losses(first)
    elif kind == "frontier" and kind_of(str(first)) == "summary":
        figure = FrontierDisplay.from_moments(summary_of(str(first)), wanted or "auc").figure_
    else:
        model = model_of(str(first))
        if kind == "path":
            figure = _path(model, row_files())
        else:
            figure = _of_rows(kind, model, row_files(), wanted, against)
    try:
        with atomic_file(output) as file:
            figure.savefig(file, format=Path(output).suffix.lstrip(".") or "png", dpi=150)
    except ValueError as error:
        msg = f"{output} cannot be written: {error}"
        raise UsageError(msg) from None
    return Reply(f"wrote {output}", {"kind": kind, "output": output})


def _of_rows(kind: str, model: Any, files: RowFiles, metric: Metric | None, against: str) -> Any:
    found = scored(model, files, summarized=kind == "frontier")
    own = is_positive(found, model.classes_)
    wanted = metric or metric_of_model(model)
    if kind == "frontier":
        return frontier_picture(found, own, wanted, f"{type(model).__name__}, on these rows")
    if kind == "margins":
        return margin_picture(found, own)
    return tradeoff_picture(found, own, wanted, against)


def _losses(path: str | None) -> Any:
    """Draw the loss that a model was trained with beside the usual ones."""
    usual = (Logistic(), Hinge(), Sigmoid(), BetaBernoulli())
    losses: dict[str, Any] = {type(loss).__name__: loss for loss in usual}
    if path is not None:
        own = getattr(model_of(path), "loss_", None)
        if own is None:
            msg = "this model has no loss of its own: plot losses without it, or fit -c smooth"
            raise UsageError(msg)
        losses = {f"{type(own).__name__} of the model": own, **losses}
    return LossDisplay.from_losses(losses).figure_


def _path(model: Any, files: RowFiles) -> Any:
    """Fit the model once more, as a file does not keep its path, and draw that."""
    if type(model).__name__ != "SmoothClassifier":
        msg = f"a path is that of a model fitted with -c smooth, not of {type(model).__name__}"
        raise UsageError(msg)
    own = fitting(files, model)
    rows: InMemory = own.read(Gather())
    y = own.labels(rows.y)
    with waiting("fitting the model once more"):
        again = clone(model).fit(rows.X, y, sample_weight=rows.weight)
    levels = {each.loss for each in again.candidates_ if each.alpha == again.alpha_}
    if len(levels) < 2:
        return PathDisplay.from_estimator(again, against="iteration").figure_
    return PathDisplay.from_estimator(again, rows.X, y, sample_weight=rows.weight).figure_
