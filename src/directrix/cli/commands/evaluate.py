"""evaluate: what rows say of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from directrix.classifiers.evaluation.measures import Measure, measured, measured_of_several
from directrix.cli.io.files import model_of
from directrix.cli.io.options import (
    Drop,
    Features,
    Format,
    Json,
    MetricText,
    Positive,
    Rows,
    Target,
    Weight,
    metric_of,
)
from directrix.cli.io.rows import RowFiles
from directrix.cli.io.scoring import scored
from directrix.cli.output.formatting import between, in_one_line, metric_of_model, number
from directrix.cli.output.reply import Reply, aligned

Model = Annotated[str, typer.Argument(metavar="MODEL", help="A file that fit wrote.")]


def evaluate(
    *,
    model: Model,
    rows: Rows,
    target: Target = None,
    metric: MetricText = None,
    features: Features = None,
    drop: Drop = None,
    weight: Weight = None,
    positive: Positive = None,
    form: Format = None,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Measure a model on rows, exactly, with 95 % intervals."""
    classifier = model_of(model)
    wanted = metric_of_model(classifier) if metric is None else metric_of(metric)
    files = RowFiles.of(
        rows, target, features=features, drop=drop, form=form, weight=weight, positive=positive
    )
    found = scored(classifier, files)
    classes = classifier.classes_
    if len(classes) > 2:
        measures = measured_of_several(found, classes)
        words = f"{len(found.y):,} rows, {len(classes)} classes\n\n{_table(measures)}"
        return Reply(words, {"model": model, "rows": len(found.y), **_facts(measures)})
    seen = measured(found, wanted, in_one_line(wanted), classes)
    first = (
        f"{_count(seen.rows)} rows, {_count(seen.positives)} of class {classes[1]} "
        f"({seen.positives / seen.rows:.2%}); {_count(seen.flagged)} flagged"
    )
    words = "\n".join(
        [
            first,
            "",
            "what it was trained for, exactly" if metric is None else "exactly",
            _table([seen.metric]),
            "",
            "at the threshold of the model",
            _table(seen.at_threshold),
        ]
    )
    facts = {
        "model": model,
        "metric_name": str(wanted),
        "rows": seen.rows,
        "positives": seen.positives,
        "flagged": seen.flagged,
        "metric": seen.metric._asdict(),
        **_facts(seen.at_threshold),
    }
    return Reply(words, facts)


def _count(weight: float) -> str:
    """Return how many rows there are; weights need not be whole."""
    return f"{weight:,.0f}" if weight == round(weight) else f"{weight:,.2f}"


def _table(measures: Sequence[Measure]) -> str:
    head = ["", "value", "95 % interval", ""]
    lines = [
        [own.name, number(own.value), between((own.low, own.high)), own.how] for own in measures
    ]
    return aligned(head, lines, left=(0, 3))


def _facts(measures: Sequence[Measure]) -> dict[str, object]:
    return {"at_threshold": {own.name: own._asdict() for own in measures}}
