"""The command ``fit``: train a model on rows, or on a summary of them."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Annotated, Any, Literal

import typer

from directrix.cli import options as opt
from directrix.cli.options import file_type, load_summary, parse_metric, require, require_output
from directrix.cli.reply import Reply, show_status


def fit(
    *,
    data: Annotated[
        list[str],
        typer.Argument(metavar="ROWS|SUMMARY", help="Files of rows, or summaries."),
    ],
    output: opt.Output,
    force: opt.Force = False,
    metric: opt.MetricText = None,
    classifier: Annotated[
        Literal["scorecard", "direct", "moment"] | None,
        typer.Option(
            "--classifier",
            "-c",
            help="Kind of model. Default: scorecard for rows, moment for a summary.",
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            help="TOML or JSON file with the settings of a scorecard: columns, points, directions, "
            "bins, cuts. Options on the command line take precedence."
        ),
    ] = None,
    guarantee: opt.Guarantee = None,
    max_lines: Annotated[
        str | None,
        typer.Option(
            "--max-lines",
            help="Most lines that a scorecard may print, such as 40; 'auto' (default) takes the "
            "smallest card that is as good as the full one, 'full' the full one.",
        ),
    ] = None,
    points: Annotated[
        str | None,
        typer.Option(
            help="Points of a scorecard: 'integer' (default) for whole points up to 100, a number "
            "such as 5 for fewer, 'pdo' for points to double the odds, or 'log-odds'."
        ),
    ] = None,
    two_passes: Annotated[
        bool,
        typer.Option(
            "--two-passes",
            help="Do not keep the rows in memory: read the files twice.",
        ),
    ] = False,
    target: opt.OptionalTarget = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Fit a scorecard or a linear classifier, to rows or summaries."""
    from directrix.cli.formatting import describe_model, model_values
    from directrix.cli.settings import CardSettings
    from directrix.estimators import DirectClassifier, MomentClassifier, ScorecardClassifier
    from directrix.export import save

    require_output(output, [*data, config], force=force)
    settings = CardSettings() if config is None else CardSettings.read(config)
    parameters: dict[str, Any] = settings.parameters()
    given = parse_metric(metric)
    parameters |= {} if given is None else {"metric": given}
    parameters |= {} if guarantee is None else {"guarantee": guarantee}
    of_card = _card_parameters(max_lines, points)
    positive = positive or settings.text("positive")
    if _are_summaries(data):
        message = "a summary is fitted with -c moment or -c direct"
        require(classifier != "scorecard", message, "-c")
        options: dict[str, Any] = {"--max-lines": max_lines, "--points": points, "--config": config}
        options |= {"--two-passes": two_passes or None}
        options |= {"--target": target, "--features": features, "--drop": drop, "--weight": weight}
        refused = ", ".join(name for name, value in options.items() if value is not None)
        require(not refused, f"a summary has no columns to choose: leave out {refused}", "ROWS")
        kind: Any = DirectClassifier if classifier == "direct" else MomentClassifier
        model = _fit_summaries(kind, data, parameters, positive)
    else:
        is_card = classifier in (None, "scorecard")
        require(is_card or not config, "settings are those of a scorecard", "--config")
        require(is_card or not of_card, "only cards have lines and points", "-c")
        roles = {
            "target": target or settings.text("target"),
            "weight": weight or settings.text("weight"),
            "features": features or settings.columns("columns"),
            "drop": drop or settings.columns("drop"),
        }
        require(roles["target"], "give the column that has the labels", "--target")
        kinds: dict[Any, Any] = {"moment": MomentClassifier, "direct": DirectClassifier}
        model = kinds.get(classifier, ScorecardClassifier)(**parameters | of_card)
        _fit_rows(model, data, roles, positive, two_passes=two_passes)
    save(model, output)
    report = getattr(model, "report_", None)
    parts = [] if report is None else [report.summary()]
    parts += [describe_model(model), f"wrote {output}; directrix show {output} prints the model"]
    return Reply("\n\n".join(parts), {"output": output, **model_values(model)})


def _are_summaries(paths: list[str]) -> bool:
    """Return whether the files are summaries; refuse some summaries among other files."""
    summaries = [path for path in paths if file_type(path) == "summary"]
    mixed = summaries and len(summaries) != len(paths)
    require(not mixed, f"{', '.join(summaries)} is a summary, and other files are rows", "ROWS")
    return bool(summaries)


def _card_parameters(max_lines: str | None, points: str | None) -> dict[str, Any]:
    """Return the parameters of a scorecard that options of the command line give."""
    from directrix.estimators import IntegerPoints

    parameters: dict[str, Any] = {}
    if max_lines is not None:
        known = max_lines in ("auto", "full") or max_lines.isdecimal()
        require(known, f"{max_lines!r} is not a number, 'auto' or 'full'", "--max-lines")
        whole = int(max_lines) if max_lines.isdecimal() else max_lines
        parameters["max_lines"] = None if whole == "full" else whole
    if points is not None:
        parameters["points"] = IntegerPoints(int(points)) if points.isdecimal() else points
    return parameters


def _fit_summaries(
    kind: Any, paths: list[str], parameters: dict[str, Any], positive: str | None
) -> Any:
    """Return a model of the sum of some summaries."""
    from directrix.cli.rows import label_of, require_two

    moments = reduce(add, map(load_summary, paths))
    labels = moments.classes.tolist()
    require_two(labels)
    model = kind(**parameters | {"positive": label_of(positive, labels)})
    return model.fit_summary(moments)


def _fit_rows(
    model: Any, paths: list[str], roles: dict[str, Any], positive: str | None, *, two_passes: bool
) -> None:
    """Fit a model to rows, in memory or in passes over the files."""
    import numpy as np

    from directrix.cli.rows import RowFiles, label_of, require_two

    files = RowFiles.of(paths, **roles)
    if two_passes:
        if positive is not None:
            model.set_params(positive=label_of(positive, files.labels()))
        options = {"target": files.target, "features": files.features, "weight": files.weight}
        model.fit_source(list(files.paths), **options)
        return
    rows = files.read()
    labels = np.unique(rows.y).tolist()
    require_two(labels)
    model.set_params(positive=label_of(positive, labels))
    with show_status(f"fitting {type(model).__name__} to {len(rows.y):,} rows"):
        model.fit(rows.X, rows.y, sample_weight=rows.weight)
