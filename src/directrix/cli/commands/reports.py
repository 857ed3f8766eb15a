"""The commands ``plot`` and ``report``: figures and a page about a model and labelled rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli import options as opt
from directrix.cli.options import (
    check_choice,
    file_type,
    load_model,
    load_summary,
    parse_metric,
    require,
    require_output,
)
from directrix.cli.reply import Reply, UsageError, show_status
from directrix.files.atomic import atomic_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix.cli.pages import ReportData
    from directrix.cli.rows import RowFiles
    from directrix.metrics.base import Metric

# ── The command ``plot``: figures of a summary, or of a model and labelled rows ───────────────────


_FIGURES = ("card", "frontier", "margins", "tradeoff", "losses", "path")
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
    output: opt.Output,
    force: opt.Force = False,
    metric: opt.MetricText = None,
    against: Annotated[
        str, typer.Option(help=f"With tradeoff: horizontal axis, {', '.join(_AGAINST)}.")
    ] = "threshold",
    target: opt.Target = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    file_format: opt.Format = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Draw a figure to a PNG, SVG or PDF file."""
    from directrix.cli.pictures import use_file_backend
    from directrix.cli.rows import RowFiles
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
        return RowFiles.of(rows, target, features, drop, weight, positive, file_format)

    if figure == "losses":
        drawn = _loss_figure(first)
    elif figure == "card":
        drawn = _card_figure(load_model(str(first)))
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
    from directrix.cli import pictures
    from directrix.cli.formatting import metric_of_model
    from directrix.cli.rows import labels_of, score_rows

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


def _card_figure(model: Any) -> Any:
    """Draw the points of a scorecard."""
    from directrix.displays import ScorecardDisplay

    if not hasattr(model, "card_"):
        msg = f"{type(model).__name__} is not a card: fit one of two classes, -c scorecard"
        raise UsageError(msg)
    return ScorecardDisplay.from_estimator(model).figure_


def _path_figure(model: Any, files: RowFiles) -> Any:
    """Fit a model again, because its file does not hold the path, and draw the path."""
    from sklearn.base import clone

    from directrix.classifiers import SmoothClassifier
    from directrix.cli.rows import read_rows
    from directrix.displays import PathDisplay

    if not isinstance(model, SmoothClassifier):
        msg = f"only a model fitted with -c smooth has a path, and this is {type(model).__name__}"
        raise UsageError(msg)
    files = files.for_model(model)
    rows = read_rows(files)
    y = files.labels(rows.y, model.classes_)
    with show_status("fitting the model again"):
        refitted = clone(model).fit(rows.X, y, sample_weight=rows.weight)
    levels = {
        candidate.loss for candidate in refitted.candidates_ if candidate.alpha == refitted.alpha_
    }
    if len(levels) < 2:
        return PathDisplay.from_estimator(refitted, against="iteration").figure_
    return PathDisplay.from_estimator(refitted, rows.X, y, sample_weight=rows.weight).figure_


# ── The command ``report``: an HTML page about a model and labelled rows ──────────────────────────


_TEMPLATES = ("committee", "clinical")
#: Files of rows that the page names.
_NAMED_FILES = 3


def report(
    *,
    model: opt.Model,
    rows: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ROWS]", help="Files of labelled rows; optional with --template."),
    ] = None,
    output: opt.Output,
    force: opt.Force = False,
    template: Annotated[
        str | None,
        typer.Option(help=f"Scorecard document to sign: {', '.join(_TEMPLATES)}."),
    ] = None,
    about: Annotated[
        str | None,
        typer.Option(
            help="With --template: TOML or JSON file with title, purpose, author, period, ..."
        ),
    ] = None,
    target: opt.Target = None,
    metric: opt.MetricText = None,
    fit_json: Annotated[
        str | None,
        typer.Option("--fit", help="Output of fit --json, to list the candidates in the report."),
    ] = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    segment: opt.Segment = None,
    file_format: opt.Format = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Write an HTML page about a model and labelled rows.

    With --template, a document about a scorecard that prints well and has a block of signatures.
    """
    require_output(output, [model, *(rows or ()), fit_json, about], force=force)
    require(template or about is None, "texts are those of a document: give --template", "--about")
    require(rows or segment is None, "segments are those of rows: give files", "ROWS")

    def row_files() -> RowFiles:
        from directrix.cli.rows import RowFiles

        roles = (target, features, drop, weight, positive, file_format)
        return RowFiles.of(rows or [], *roles, segment=segment)

    if template is not None:
        check_choice(template, _TEMPLATES, "--template")
        require(metric is None, "a document states the metric of the model", "--metric")
        content, values = _document(model, row_files() if rows else None, template, about, fit_json)
    else:
        require(rows, "give files of rows", "ROWS")
        content, values = _report(model, row_files(), metric, fit_json)
    with atomic_file(output) as file:
        file.write(content)
    values = {"output": output, "bytes": len(content), **values}
    return Reply(f"wrote {output} ({len(content):,} bytes)", values)


def _document(
    model: str, given: RowFiles | None, template: str, about: str | None, fit_json: str | None
) -> tuple[bytes, dict[str, Any]]:
    """Return a document of a scorecard to sign, and what there is to say about it."""
    from directrix.cli.card_settings import read_settings
    from directrix.cli.pages import read_directions
    from directrix.cli.pictures import use_file_backend
    from directrix.cli.rows import read_rows
    from directrix.documents import to_document

    use_file_backend()
    classifier = load_model(model)
    options: dict[str, Any] = {
        "template": template,
        "about": None if about is None else read_settings(about),
        "directions": None if fit_json is None else read_directions(fit_json),
    }
    n_rows = 0
    if given is not None:
        files = given.for_model(classifier)
        read = read_rows(files, raw=True)
        labels = files.labels(read.y, classifier.classes_)
        n_rows = len(labels)
        options |= {"X": read.X, "y": labels, "sample_weight": read.weight}
        options["segment"] = read.segment
    with show_status("writing the document"):
        content = to_document(classifier, **options).encode()
    return content, {"template": template, "rows": n_rows}


def _report(
    model: str, files: RowFiles, metric: str | None, fit_json: str | None
) -> tuple[bytes, dict[str, Any]]:
    """Return the page about a model and labelled rows, and its figures."""
    from directrix.classifiers.evaluation import measure_binary
    from directrix.cli.formatting import metric_of_model
    from directrix.cli.pages import ReportData, read_fit_record, write_sections
    from directrix.cli.pictures import require_positive_rows, use_file_backend
    from directrix.cli.rows import labels_of, score_rows, takes_raw_rows
    from directrix.documents.page import Page

    fit = None if fit_json is None else read_fit_record(fit_json)
    use_file_backend()
    classifier = load_model(model)
    reported_metric = metric_of_model(classifier) if metric is None else parse_metric(metric)
    # A card has raw columns, of which there are no moments.
    scored = score_rows(classifier, files, with_moments=not takes_raw_rows(classifier))
    labels = labels_of(classifier)
    is_positive = require_positive_rows(scored, labels)
    name = reported_metric.label
    measures = measure_binary(scored, reported_metric, name, labels)
    with show_status("drawing"):
        data = ReportData(classifier, labels, reported_metric, scored, is_positive, measures, fit)
        page = Page(f"Classifier report: {name}", _lead(data, model, files.paths))
        if measures.verdict:
            page.alert(measures.verdict)
        page.cards(_key_figures(data))
        write_sections(page, data)
    values = {
        "metric": measures.metric._asdict(),
        "no_better_than_constant": not measures.better_than_chance,
    }
    return page.html().encode(), values


def _lead(data: ReportData, model: str, rows: Sequence[str]) -> str:
    """Return the paragraph below the title: which model, which metric, which rows."""
    from importlib.metadata import version

    names = ", ".join(Path(path).name for path in rows[:_NAMED_FILES])
    more = f" and {len(rows) - _NAMED_FILES} more" if len(rows) > _NAMED_FILES else ""
    return (
        f"Model {Path(model).name} ({type(data.model).__name__}), evaluated by "
        f"{data.metric.label} on {names}{more}. directrix {version('directrix')}."
    )


def _key_figures(data: ReportData) -> list[tuple[str, str]]:
    """Return the values and captions at the top of the page."""
    measures = data.measures
    values = {measure.name: f"{measure.value:.4f}" for measure in measures.at_threshold}
    share = measures.positives / measures.rows
    is_recall = data.metric.fixes_threshold and data.metric.rate_label == "recall"
    recall = [] if is_recall else [(values["recall"], "recall at the cutoff")]
    area = [] if measures.metric.name == "AUC" else [(values["AUC"], "AUC")]
    return [
        (f"{measures.metric.value:.4f}", measures.metric.name),
        *recall,
        (values["FPR"], "FPR at the cutoff"),
        *area,
        (f"{len(data.scored.y):,}", f"rows, {share:.2%} {data.labels[1]}"),
    ]
