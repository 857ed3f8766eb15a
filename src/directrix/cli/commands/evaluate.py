"""The command ``evaluate``: rates and metrics of a model on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from directrix.cli.io.files import load_model
from directrix.cli.io.options import (
    Drop,
    Features,
    Format,
    Json,
    MetricText,
    Model,
    Positive,
    Rows,
    Target,
    Weight,
    parse_metric,
)
from directrix.cli.output.reply import Reply, format_table

if TYPE_CHECKING:
    from directrix.classifiers.evaluation import BinaryMeasures, Measure


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
    file_format: Format = None,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Measure a model on labelled rows, with 95 % intervals."""
    import numpy as np

    from directrix.classifiers.evaluation import (
        BEST_CUTOFF,
        measure_binary,
        measure_multiclass,
    )
    from directrix.cli.io.rows import RowFiles
    from directrix.cli.io.scoring import labels_of, score_rows
    from directrix.cli.output.formatting import in_one_line, metric_of_model

    classifier = load_model(model)
    measured_metric = metric_of_model(classifier) if metric is None else parse_metric(metric)
    files = RowFiles.of(
        rows,
        target,
        features=features,
        drop=drop,
        file_format=file_format,
        weight=weight,
        positive=positive,
    )
    scored = score_rows(classifier, files)
    classes = labels_of(classifier)
    n_rows = len(scored.y)
    if len(classes) > 2:
        several = measure_multiclass(scored, classes)
        text = f"{n_rows:,} rows, {len(classes)} classes\n\n{_table(several)}"
        return Reply(text, {"model": model, "rows": n_rows, **_at_threshold_json(several)})
    measures = measure_binary(scored, measured_metric, in_one_line(measured_metric), classes)
    weighted = scored.weight is not None and bool(np.ptp(scored.weight) > 0)
    best = ["", f"{BEST_CUTOFF}, not that of the model", _table(measures.best_cutoff)]
    text = "\n".join(
        [
            *([measures.verdict] if measures.verdict else []),
            _describe_counts(measures, classes[1], len(scored.y)),
            *([f"rates are weighted by the column {weight}"] if weighted else []),
            "",
            "at the cutoff of the model",
            _table(measures.at_cutoff),
            *([measures.limit] if measures.limit else []),
            *(best if measures.best_cutoff else []),
        ]
    )
    values = {
        "model": model,
        "metric_name": str(measured_metric),
        "rows": measures.rows,
        "positives": measures.positives,
        "flagged": measures.flagged,
        "metric": measures.metric._asdict(),
        **_at_threshold_json(measures.at_threshold),
        "best_cutoff_on_these_rows": {
            measure.name: measure._asdict() for measure in measures.best_cutoff
        },
        "limit": measures.limit or None,
        "chance": measures.chance,
        "no_better_than_constant": not measures.better_than_chance,
        "weighted": weighted,
    }
    return Reply(text, values)


def _describe_counts(measures: BinaryMeasures, label: Any, n_rows: int) -> str:
    weight, positives, flagged = map(
        _format_count, (measures.rows, measures.positives, measures.flagged)
    )
    share = measures.positives / measures.rows
    rows = f"{weight} rows"
    if measures.rows != n_rows:
        rows = f"{n_rows:,} rows of weight {weight}"
    return f"{rows}, {positives} of class {label} ({share:.2%}); {flagged} predicted {label}"


def _format_count(weight: float) -> str:
    """Return a number of rows, which need not be whole if they have weights."""
    return f"{weight:,.0f}" if weight == round(weight) else f"{weight:,.2f}"


def _table(measures: Sequence[Measure]) -> str:
    from directrix.cli.output.formatting import format_interval, format_rate

    table = [
        [
            measure.name,
            format_rate(measure.value),
            format_interval((measure.low, measure.high)),
            measure.how,
        ]
        for measure in measures
    ]
    return format_table(["", "value", "95 % interval", "method"], table, left_aligned=(0, 3))


def _at_threshold_json(measures: Sequence[Measure]) -> dict[str, object]:
    return {"at_threshold": {measure.name: measure._asdict() for measure in measures}}
