"""report: one page about a model and rows."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from directrix._atomic_file import atomic_file
from directrix.classifiers.evaluation.measures import Measured, ScoredRows, measured
from directrix.cli.commands.evaluate import Model
from directrix.cli.io.files import model_of
from directrix.cli.io.fit_record import read_fit_record
from directrix.cli.io.options import (
    Drop,
    Features,
    Force,
    Format,
    Json,
    MetricText,
    Output,
    Positive,
    Rows,
    Target,
    Weight,
    metric_of,
)
from directrix.cli.io.output_file import require_output
from directrix.cli.io.rows import RowFiles
from directrix.cli.io.scoring import scored
from directrix.cli.output.formatting import in_one_line, metric_of_model
from directrix.cli.output.html_page import Page
from directrix.cli.output.pictures import is_positive, quiet_pyplot
from directrix.cli.output.reply import Reply, waiting
from directrix.cli.output.report_sections import Told, write_sections


def report(
    *,
    model: Model,
    rows: Rows,
    output: Output,
    force: Force = False,
    target: Target = None,
    metric: MetricText = None,
    fitted: Annotated[
        str | None,
        typer.Option("--fit", help="What fit --json printed: the candidates are shown, too."),
    ] = None,
    features: Features = None,
    drop: Drop = None,
    weight: Weight = None,
    positive: Positive = None,
    form: Format = None,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Write one HTML page, with all pictures in it, about a model and rows."""
    require_output(output, [model, *rows, fitted], force=force)
    fit = None if fitted is None else read_fit_record(fitted)
    quiet_pyplot()
    classifier = model_of(model)
    wanted = metric_of_model(classifier) if metric is None else metric_of(metric)
    files = RowFiles.of(
        rows, target, features=features, drop=drop, form=form, weight=weight, positive=positive
    )
    found = scored(classifier, files, summarized=True)
    own = is_positive(found, classifier.classes_)
    seen = measured(found, wanted, in_one_line(wanted), classifier.classes_)
    with waiting("drawing"):
        told = Told(classifier, wanted, found, own, seen, fit)
        page = _opened(told, model, rows)
        write_sections(page, told)
    content = page.html().encode()
    with atomic_file(output) as file:
        file.write(content)
    facts = {"output": output, "bytes": len(content), "metric": seen.metric._asdict()}
    return Reply(f"wrote {output} ({len(content):,} bytes)", facts)


def _opened(told: Told, model: str, rows: list[str]) -> Page:
    metric = in_one_line(told.metric)
    what = type(told.model).__name__
    names = ", ".join(Path(path).name for path in rows[:3])
    more = f" and {len(rows) - 3} more" if len(rows) > 3 else ""
    lead = (
        f"{Path(model).name}, a {what} for {metric}, on {names}{more}. directrix "
        f"{version('directrix')}."
    )
    page = Page(f"A classifier for {metric}", lead)
    page.cards(_first_seen(told.seen, told.found, told.model.classes_))
    return page


def _first_seen(seen: Measured, found: ScoredRows, classes: Any) -> list[tuple[str, str]]:
    by_name = {own.name: own for own in seen.at_threshold}
    cards = [(f"{seen.metric.value:.4f}", seen.metric.name)]
    cards += [
        (f"{by_name[name].value:.4f}", f"{name} at the threshold") for name in ("recall", "FPR")
    ]
    cards.append((f"{by_name['AUC'].value:.4f}", "AUC"))
    cards.append((f"{len(found.y):,}", f"rows, {seen.positives / seen.rows:.2%} {classes[1]}"))
    return cards
