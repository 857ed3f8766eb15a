"""The command ``plot``: figures of a summary, or of a model and labelled rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli.io.files import file_type, load_model, load_summary
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
    check_choice,
    parse_metric,
    require,
)
from directrix.cli.io.output_file import require_output
from directrix.cli.output.errors import UsageError
from directrix.cli.output.reply import Reply, show_status
from directrix.files.atomic import atomic_file

if TYPE_CHECKING:
    from directrix.cli.io.rows import RowFiles
    from directrix.metrics.base import Metric

_FIGURES = ("frontier", "margins", "tradeoff", "losses", "path")
_AGAINST = ("threshold", "cost", "quota")


def plot(
    *,
    figure: Annotated[
        str, typer.Argument(metavar="KIND", help=f"Figure to draw: {', '.join(_FIGURES)}.")
    ],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[MODEL|SUMMARY] [ROWS]", help="A model or summary, then rows."),
    ] = None,
    output: Output,
    force: Force = False,
    metric: MetricText = None,
    against: Annotated[
        str, typer.Option(help=f"Horizontal axis of tradeoff: {', '.join(_AGAINST)}.")
    ] = "threshold",
    target: Target = None,
    features: Features = None,
    drop: Drop = None,
    weight: Weight = None,
    positive: Positive = None,
    file_format: Format = None,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Draw a figure to a PNG, SVG or PDF file."""
    from directrix.cli.io.rows import RowFiles
    from directrix.cli.output.pictures import use_file_backend
    from directrix.displays import FrontierDisplay

    check_choice(figure, _FIGURES, "KIND")
    check_choice(against, _AGAINST, "--against")
    given_metric = None if metric is None else parse_metric(metric)
    require_output(output, files or [], force=force)
    use_file_backend()
    first, rows = (files[0], files[1:]) if files else (None, [])
    require(first or figure == "losses", "give a model or a summary", "MODEL")

    def row_files() -> RowFiles:
        require(rows, f"the figure {figure} needs rows after the model", "ROWS")
        return RowFiles.of(
            rows,
            target,
            features=features,
            drop=drop,
            file_format=file_format,
            weight=weight,
            positive=positive,
        )

    if figure == "losses":
        drawn = _loss_figure(first)
    elif figure == "frontier" and file_type(str(first)) == "summary":
        drawn = FrontierDisplay.from_moments(
            load_summary(str(first)), given_metric or "auc"
        ).figure_
    elif figure == "path":
        drawn = _path_figure(load_model(str(first)), row_files())
    else:
        model = load_model(str(first))
        drawn = _figure_of_rows(figure, model, row_files(), given_metric, against)
    try:
        with atomic_file(output) as file:
            drawn.savefig(file, format=Path(output).suffix.lstrip(".") or "png", dpi=150)
    except ValueError as error:
        msg = f"{output} cannot be written: {error}"
        raise UsageError(msg) from None
    return Reply(f"wrote {output}", {"kind": figure, "output": output})


def _figure_of_rows(
    figure: str, model: Any, files: RowFiles, metric: Metric | None, against: str
) -> Any:
    """Draw the frontier, the margins or the trade-off of a model on rows."""
    from directrix.cli.io.scoring import labels_of, score_rows
    from directrix.cli.output import pictures
    from directrix.cli.output.formatting import metric_of_model

    scored = score_rows(model, files, with_moments=figure == "frontier")
    positive = pictures.require_positive_rows(scored, labels_of(model))
    metric = metric or metric_of_model(model)
    if figure == "frontier":
        name = f"{type(model).__name__}, on these rows"
        return pictures.frontier_figure(scored, positive, metric, name)
    if figure == "margins":
        return pictures.margin_figure(scored, labels_of(model).tolist()[1])
    return pictures.tradeoff_figure(scored, positive, metric, against)


def _loss_figure(path: str | None) -> Any:
    """Draw common losses, and the loss of a model if one is given."""
    from directrix.displays import LossDisplay
    from directrix.losses import BetaBernoulli, Hinge, Logistic, Sigmoid

    common = (Logistic(), Hinge(), Sigmoid(), BetaBernoulli())
    losses: dict[str, Any] = {type(loss).__name__: loss for loss in common}
    if path is not None:
        loss = getattr(load_model(path), "loss_", None)
        if loss is None:
            msg = "this model has no loss: plot losses without a model, or fit with -c smooth"
            raise UsageError(msg)
        losses = {f"{type(loss).__name__} of the model": loss, **losses}
    return LossDisplay.from_losses(losses).figure_


def _path_figure(model: Any, files: RowFiles) -> Any:
    """Fit a model again, because its file does not hold the path, and draw the path."""
    from sklearn.base import clone

    from directrix.classifiers import SmoothClassifier
    from directrix.cli.io.rows import ReadRows, RowsInMemory
    from directrix.cli.io.scoring import select_features
    from directrix.displays import PathDisplay

    if not isinstance(model, SmoothClassifier):
        msg = f"only a model fitted with -c smooth has a path, and this is {type(model).__name__}"
        raise UsageError(msg)
    files = select_features(files, model)
    rows: RowsInMemory = files.read(ReadRows())
    y = files.labels(rows.y, model.classes_)
    with show_status("fitting the model again"):
        refitted = clone(model).fit(rows.X, y, sample_weight=rows.weight)
    levels = {
        candidate.loss for candidate in refitted.candidates_ if candidate.alpha == refitted.alpha_
    }
    if len(levels) < 2:
        return PathDisplay.from_estimator(refitted, against="iteration").figure_
    return PathDisplay.from_estimator(refitted, rows.X, y, sample_weight=rows.weight).figure_
