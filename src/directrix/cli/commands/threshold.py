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
    target: opt.Target,
    metric: opt.MetricText = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            help="Limit to keep on new rows: fpr=0.01, alerts=0.02, recall=0.9 or precision=0.6; "
            "may be repeated. Needs --guarantee."
        ),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(help="Largest number of alerts in each period of --per, such as 200 a day."),
    ] = None,
    per: Annotated[
        str, typer.Option(help="With --budget: column with the period of each row.")
    ] = "day",
    guarantee: opt.Guarantee = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    output: opt.OptionalOutput = None,
    force: opt.Force = False,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Find the best threshold for the scores of any model.

    The reply says what to expect on new rows. The rows must not be those that the model was fitted
    to.
    """
    import numpy as np

    from directrix.cli.formatting import describe_model, model_values
    from directrix.cli.rows import RowFiles, label_of, require_two
    from directrix.estimators import OperatingPointClassifier
    from directrix.export import save
    from directrix.metrics import Budget

    require_output(output, rows, force=force)
    limits: Any = _parse_limits(limit)
    if budget is not None:
        require(not limits, "a budget is a limit by itself: leave --limit out", "--budget")
        limits = Budget(budget, per=per)
    require(limits is None or guarantee is not None, "a limit needs a confidence", "--guarantee")
    # The period of a row is read as a segment would be.
    by = None if budget is None else per
    read = RowFiles.of(rows, target, [f'"{score}"'], weight=weight, segment=by).read()
    labels = np.unique(read.y).tolist()
    require_two(labels)
    model = OperatingPointClassifier(
        None,
        parse_metric(metric),
        positive=label_of(positive, labels),
        limits=limits,
        guarantee=guarantee,
    )
    model.fit(read.X, read.y, sample_weight=read.weight, **({} if by is None else {by: read[-1]}))
    model.n_features_in_ = 1
    model.feature_names_in_ = np.array([score], dtype=object)  # for the model file
    lines = [*filter(None, [model.report_.verdict]), describe_model(model)]
    if output is not None:
        save(model, output)
        lines += ["", f"wrote {output}"]
    return Reply("\n".join(lines), {"output": output, **model_values(model)})


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
