"""The command ``report``: an HTML page about a model and labelled rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from directrix.cli.io.files import load_model
from directrix.cli.io.fit_record import read_fit_record
from directrix.cli.io.options import (
    Drop,
    Features,
    Force,
    Format,
    Json,
    MetricText,
    Model,
    Output,
    Positive,
    Rows,
    Target,
    Weight,
    parse_metric,
)
from directrix.cli.io.output_file import require_output
from directrix.cli.output.html_page import Page
from directrix.cli.output.reply import Reply, show_status
from directrix.files.atomic import atomic_file

if TYPE_CHECKING:
    from directrix.cli.output.report_sections import ReportData

#: Files of rows that the page names.
_NAMED_FILES = 3


def report(
    *,
    model: Model,
    rows: Rows,
    output: Output,
    force: Force = False,
    target: Target = None,
    metric: MetricText = None,
    fit_json: Annotated[
        str | None,
        typer.Option("--fit", help="Output of fit --json, to list the candidates in the report."),
    ] = None,
    features: Features = None,
    drop: Drop = None,
    weight: Weight = None,
    positive: Positive = None,
    file_format: Format = None,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Write an HTML page about a model and labelled rows, with all figures in one file."""
    from directrix.classifiers.evaluation import measure_binary
    from directrix.cli.io.rows import RowFiles
    from directrix.cli.io.scoring import labels_of, score_rows, takes_raw_rows
    from directrix.cli.output.formatting import in_one_line, metric_of_model
    from directrix.cli.output.pictures import require_positive_rows, use_file_backend
    from directrix.cli.output.report_sections import ReportData, write_sections

    require_output(output, [model, *rows, fit_json], force=force)
    fit = None if fit_json is None else read_fit_record(fit_json)
    use_file_backend()
    classifier = load_model(model)
    reported_metric = metric_of_model(classifier) if metric is None else parse_metric(metric)
    files = RowFiles.of(
        rows,
        target,
        features=features,
        drop=drop,
        file_format=file_format,
        weight=weight,
        positive=positive,
    )
    # A card has raw columns, of which there are no moments.
    scored = score_rows(classifier, files, with_moments=not takes_raw_rows(classifier))
    labels = labels_of(classifier)
    is_positive = require_positive_rows(scored, labels)
    name = in_one_line(reported_metric)
    measures = measure_binary(scored, reported_metric, name, labels)
    with show_status("drawing"):
        data = ReportData(classifier, labels, reported_metric, scored, is_positive, measures, fit)
        page = Page(f"Classifier report: {name}", _lead(data, model, rows))
        if measures.verdict:
            page.alert(measures.verdict)
        page.cards(_key_figures(data))
        write_sections(page, data)
    content = page.html().encode()
    with atomic_file(output) as file:
        file.write(content)
    values = {
        "output": output,
        "bytes": len(content),
        "metric": measures.metric._asdict(),
        "no_better_than_constant": not measures.better_than_chance,
    }
    return Reply(f"wrote {output} ({len(content):,} bytes)", values)


def _lead(data: ReportData, model: str, rows: list[str]) -> str:
    """Return the paragraph below the title: which model, which metric, which rows."""
    from importlib.metadata import version

    from directrix.cli.output.formatting import in_one_line

    names = ", ".join(Path(path).name for path in rows[:_NAMED_FILES])
    more = f" and {len(rows) - _NAMED_FILES} more" if len(rows) > _NAMED_FILES else ""
    return (
        f"Model {Path(model).name}, a {type(data.model).__name__}, evaluated by "
        f"{in_one_line(data.metric)} on {names}{more}. directrix {version('directrix')}."
    )


def _key_figures(data: ReportData) -> list[tuple[str, str]]:
    """Return the values and captions at the top of the page."""
    measures = data.measures
    values = {measure.name: f"{measure.value:.4f}" for measure in measures.at_threshold}
    share = measures.positives / measures.rows
    is_recall = data.metric.fixes_threshold and data.metric.rate_label == "recall"
    recall = [] if is_recall else [(values["recall"], "recall at the cutoff")]
    return [
        (f"{measures.metric.value:.4f}", measures.metric.name),
        *recall,
        (values["FPR"], "FPR at the cutoff"),
        (values["AUC"], "AUC"),
        (f"{len(data.scored.y):,}", f"rows, {share:.2%} {data.labels[1]}"),
    ]
