"""The command ``threshold``: a threshold of the scores of any model, as a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli import options as opt
from directrix.cli.options import parse_metric, require, require_output
from directrix.cli.reply import Reply

if TYPE_CHECKING:
    from collections.abc import Sequence


def threshold(
    *,
    rows: opt.Rows,
    score: Annotated[
        str, typer.Option("--score", "-s", help="Column with the scores; higher means positive.")
    ],
    target: opt.Target = None,
    metric: opt.MetricText = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="Limit to keep on new rows: fpr=0.01, alerts=0.02, recall=0.9 or precision=0.6; "
            "may be repeated."
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(help="Largest number of alerts in each period of --per, such as 200 a day."),
    ] = None,
    per: Annotated[
        str, typer.Option(help="With --budget: column with the period of each row.")
    ] = "day",
    guarantee: Annotated[
        float | None,
        typer.Option(
            help="Confidence that new rows stay within the limits, or new periods within the "
            "budget, such as 0.95."
        ),
    ] = None,
    segment: opt.Segment = None,
    in_every_segment: opt.InEverySegment = False,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", help="Model file to write, for other commands."),
    ] = None,
    force: opt.Force = False,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Find the best threshold for the scores of any model.

    The reply says what to expect on new rows. The rows must not be those that the model was fitted
    to.
    """
    import numpy as np

    from directrix.classifiers import OperatingPointClassifier
    from directrix.cli.formatting import describe_model, model_json
    from directrix.cli.rows import RowFiles, labels_to_fit, read_rows
    from directrix.export import save
    from directrix.metrics import Budget, InEverySegment

    require_output(output, rows, force=force)
    limits: Any = _parse_limits(limit)
    if budget is not None:
        require(not limits, "a budget is a limit by itself: leave --limit out", "--budget")
        require(segment is None, "a budget is over all rows: leave --segment out", "--budget")
        limits = Budget(budget, per=per)
    require(limits is None or guarantee is not None, "a limit needs a confidence", "--guarantee")
    require(not in_every_segment or segment, "give the column of segments", "--segment")
    require(not in_every_segment or limits, "give the limits to keep in each", "--limit")
    if in_every_segment:
        limits = InEverySegment(limits)
    asked = None if metric is None else parse_metric(metric)
    # The period of a row is read as its segment would be.
    by, role = (segment, "segment") if budget is None else (per, per)
    given = RowFiles.of(rows, target, None, None, weight, positive, segment=by)
    require(not given.libsvm, "scores are read from files with named columns", "ROWS")
    files = given.of_columns(score)
    read = read_rows(files)
    y, label = labels_to_fit(files, read.y)
    model = OperatingPointClassifier(
        None, asked, positive=label, limits=limits, guarantee=guarantee
    ).fit(read.X, y, sample_weight=read.weight, **{role: read.segment})
    model.n_features_in_ = 1
    model.feature_names_in_ = np.array([score], dtype=object)  # for the model file
    lines = [f"from {len(y):,} rows with scores", describe_model(model)]
    verdict = model.report_.verdict
    if verdict:
        lines.insert(0, verdict)
    if output is not None:
        save(model, output)
        lines += ["", f"wrote {output}"]
    return Reply("\n".join(lines), {"output": output, **model_json(model)})


def _parse_limits(given: Sequence[str] | None) -> dict[str, float] | None:
    """Return limits that are written as rate=share; None without any."""
    limits: dict[str, Any] = {}
    for text in given or ():
        rate, _, share = text.partition("=")
        try:
            limits[rate.strip()] = float(share)
        except ValueError:
            msg = f"{text!r} is not a limit such as fpr=0.01"
            raise typer.BadParameter(msg, param_hint="--limit") from None
        many = rate.strip() == "alerts" and limits["alerts"] > 1
        hint = f"a number of alerts a day is --budget {share.strip()} --per day"
        require(not many, f"alerts is a share of rows; {hint}", "--limit")
    return limits or None
