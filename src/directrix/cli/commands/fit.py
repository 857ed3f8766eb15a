"""The command ``fit``: train a model on rows, or on a summary of them."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli import options as opt
from directrix.cli.commands.summaries import one_vs_rest
from directrix.cli.options import (
    check_choice,
    file_type,
    load_summary,
    parse_metric,
    require,
    require_output,
)
from directrix.cli.reply import Reply, UsageError, show_status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from directrix.cli.rows import RowFiles
    from directrix.metrics.base import Metric
    from directrix.moments import Moments

_CLASSIFIERS = ("direct", "scorecard", "moment", "smooth", "beta-bernoulli")
#: Classifiers that can be fitted in passes over the rows.
_IN_PASSES = ("direct", "scorecard", "moment")
#: Classifiers that search, and can keep a limit.
_SEARCHING = ("direct", "scorecard")
#: Labels that a message lists.
_LISTED_LABELS = 5


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
        str | None,
        typer.Option(
            "--classifier",
            "-c",
            help=(
                f"Classifier: {', '.join(_CLASSIFIERS)}. Default: direct for rows, moment for a "
                "summary."
            ),
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            help=(
                "TOML or JSON file with the settings of a scorecard: columns, points, directions, "
                "bins, cuts. Options on the command line take precedence."
            )
        ),
    ] = None,
    guarantee: Annotated[
        float | None,
        typer.Option(
            help="Confidence that new rows stay within the limit of the metric, such as 0.95."
        ),
    ] = None,
    max_lines: Annotated[
        str | None,
        typer.Option(
            "--max-lines",
            help=(
                "With -c scorecard: most lines that the card may print, such as 40; 'auto' "
                "(default) takes the smallest card that is as good as the full one, 'full' the "
                "full one."
            ),
        ),
    ] = None,
    points: Annotated[
        str | None,
        typer.Option(
            help=(
                "With -c scorecard: scale of its points: 'integer' for whole points up to 100, a "
                "number such as 5 for whole points up to that, 'pdo' for points to double the odds."
            ),
        ),
    ] = None,
    two_passes: Annotated[
        bool,
        typer.Option(
            "--two-passes",
            help=(
                "Do not keep the rows in memory: read the files twice, for a compact scorecard "
                "three times."
            ),
        ),
    ] = False,
    prior: Annotated[
        float | None,
        typer.Option(help="With a summary: share of the positive class among new rows."),
    ] = None,
    target: opt.Target = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    segment: opt.Segment = None,
    in_every_segment: opt.InEverySegment = False,
    spark: opt.Spark = None,
    file_format: opt.Format = None,
    n_features: opt.FeatureCount = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Fit a scorecard or a linear classifier, to rows or summaries."""
    from directrix.cli.card_settings import CardSettings
    from directrix.cli.formatting import describe_model, model_json
    from directrix.cli.rows import RowFiles
    from directrix.export import save

    require_output(output, [*data, config], force=force)
    settings = CardSettings() if config is None else CardSettings.read(config)
    trained_metric = parse_metric(metric or settings.card.get("metric") or "error")
    from_summary = _are_summaries(data)
    default = "scorecard" if config else "moment" if from_summary else "direct"
    name = check_choice(classifier or default, _CLASSIFIERS, "--classifier")
    require(not config or name == "scorecard", "settings are those of a scorecard", "--config")
    require(
        name in _SEARCHING or guarantee is None,
        "--guarantee needs -c direct or -c scorecard",
        "--classifier",
    )
    require(
        not (from_summary and guarantee is not None),
        "--guarantee needs rows, and these files have none",
        "ROWS|SUMMARY",
    )
    is_card = name == "scorecard" and not from_summary
    of_card = _card_parameters(max_lines, points, is_card=is_card)
    require(prior is None or from_summary, "rows have their own shares of classes", "--prior")
    of_segments = segment is None or (name in _SEARCHING and not from_summary)
    require(of_segments, "it needs rows, and -c direct or -c scorecard", "--segment")
    if name == "beta-bernoulli":
        require(metric is None, "this classifier fits probabilities, not a metric", "--metric")
    if from_summary:
        require(
            name == "moment",
            f"a summary can be fitted with -c moment only, not -c {name}",
            "--classifier",
        )
        model, origin = _fit_summaries(data, trained_metric, positive, prior)
    else:
        files = RowFiles.of(
            data,
            target or settings.text("target"),
            features or settings.columns("columns"),
            drop or settings.columns("drop"),
            weight or settings.text("weight"),
            positive or settings.text("positive"),
            file_format,
            n_features,
            spark,
            segment=segment,
        )
        parameters = settings.parameters()
        if guarantee is not None:
            parameters["guarantee"] = guarantee
        if in_every_segment:
            parameters["limits"] = _in_every_segment(trained_metric, segment, guarantee)
        unfitted = _make_classifier(name, trained_metric, parameters | of_card)
        if two_passes or spark:
            supported = name in _IN_PASSES
            require(supported, f"-c {name} needs all rows in memory", "--two-passes")
            model, origin = _fit_in_passes(unfitted, files)
        else:
            model, origin = _fit_rows(unfitted, files)
    save(model, output)
    lines, values = [origin, describe_model(model)], {"output": output, "from": origin}
    values |= model_json(model)
    found = getattr(model, "report_", None)
    if found is not None:
        lines = [*filter(None, [found.verdict]), *lines, *_describe_report(found)]
        values |= _report_json(found)
    text = "\n".join(lines)
    more = f"; directrix show {output} prints the card" if name == "scorecard" else ""
    return Reply(f"{text}\n\nwrote {output}{more}", values)


def _are_summaries(paths: list[str]) -> bool:
    """Return whether the files are summaries; refuse some summaries among other files."""
    summaries = [path for path in paths if file_type(path) == "summary"]
    mixed = summaries and len(summaries) != len(paths)
    require(not mixed, f"{', '.join(summaries)} is a summary, and other files are rows", "ROWS")
    return bool(summaries)


def _make_classifier(name: str, metric: Metric, parameters: Mapping[str, Any]) -> Any:
    from directrix import classifiers

    searching = {
        "direct": classifiers.DirectClassifier,
        "scorecard": classifiers.ScorecardClassifier,
    }
    if name in searching:
        return searching[name](metric, **parameters)
    if name == "beta-bernoulli":
        return classifiers.BetaBernoulliClassifier()
    plain = {"moment": classifiers.MomentClassifier, "smooth": classifiers.SmoothClassifier}
    return plain[name](metric)


def _in_every_segment(metric: Metric, segment: str | None, guarantee: float | None) -> Any:
    """Return the limit of a metric as one that is kept in every segment."""
    from directrix.fitting.guarantee import limit_of, limit_text
    from directrix.metrics import InEverySegment

    require(segment, "give the column of segments", "--segment")
    require(guarantee is not None, "a limit needs a confidence", "--guarantee")
    limit = limit_of(metric)
    return InEverySegment({limit_text(limit).split()[0]: limit.value})


def _card_parameters(max_lines: str | None, points: str | None, *, is_card: bool) -> dict[str, Any]:
    """Return the parameters of a scorecard that options of the command line give."""
    require(is_card or max_lines is None, "only cards have lines: use -c scorecard", "--max-lines")
    require(is_card or points is None, "only cards have points: use -c scorecard", "--points")
    given = {} if max_lines is None else {"max_lines": _number_of_lines(max_lines)}
    return given if points is None else given | {"points": _scale_of_points(points)}


def _scale_of_points(text: str) -> Any:
    """Return the parameter ``points`` of a scorecard."""
    from directrix.classifiers import IntegerPoints

    if text in ("integer", "pdo"):
        return text
    whole = text.isdecimal() and int(text) >= 1
    require(whole, f"{text!r} is not 'integer', 'pdo', or a whole number such as 5", "--points")
    return IntegerPoints(int(text))


def _number_of_lines(text: str) -> int | str | None:
    """Return the parameter ``max_lines`` of a scorecard."""
    if text in ("auto", "full"):
        return "auto" if text == "auto" else None
    whole = text.isdecimal() and int(text) >= 2
    require(whole, f"{text!r} is not a whole number, 2 or more, 'auto' or 'full'", "--max-lines")
    return int(text)


def _fit_summaries(
    paths: list[str], metric: Metric, positive: str | None, prior: float | None
) -> tuple[Any, str]:
    """Return a model of the sum of some summaries, and a description of its origin."""
    from directrix.classifiers import MomentClassifier
    from directrix.cli.rows import matching_label

    moments: Moments = reduce(add, map(load_summary, paths))
    label = None
    if positive is not None and len(moments.classes) == 2:
        label = matching_label(positive, moments.classes)
    if label is not None:
        moments = moments.with_positive(label)
    elif positive is not None:
        moments = one_vs_rest(moments, positive)
    if prior is not None:
        moments = moments.with_prior(prior)
    _require_two_classes(moments.classes.tolist())
    model = MomentClassifier(metric, positive=label).fit_summary(moments)
    return model, f"from a summary of {moments.count:,} rows"


def _fit_rows(model: Any, files: RowFiles) -> tuple[Any, str]:
    """Return a model of rows that are read into memory, and a description of its origin."""
    import numpy as np

    from directrix.classifiers import ScorecardClassifier
    from directrix.cli.rows import labels_to_fit, read_rows

    raw = isinstance(model, ScorecardClassifier) and not files.libsvm
    rows = read_rows(files, raw=raw)
    y, label = labels_to_fit(files, rows.y)
    if label is not None:
        model.set_params(positive=label)
    _require_two_classes(np.unique(y).tolist())
    columns = {} if rows.segment is None else {"segment": rows.segment}
    with show_status(f"fitting {type(model).__name__} to {len(y):,} rows"):
        model.fit(rows.X, y, sample_weight=rows.weight, **columns)
    if rows.names is not None:
        # The array that was fitted has no names; the model file needs them to select columns.
        model.feature_names_in_ = np.array(rows.names, dtype=object)
    return model, f"from {len(y):,} rows"


def _fit_in_passes(model: Any, files: RowFiles) -> tuple[Any, str]:
    """Return a model of rows that are read several times, and a description of its origin."""
    from directrix.classifiers import ScorecardClassifier

    possible = files.positive is None or files.libsvm
    require(
        possible,
        "passes use the labels as they are: make a column that is true for this label",
        "--positive",
    )
    source, options = files.source()
    model.fit_source(source, **options)
    # One more pass scores the rows by compact cards.
    is_compact = isinstance(model, ScorecardClassifier) and (
        model.report_.size is not None or len(model.sizes()) > 1
    )
    number = "three" if is_compact else "two"
    return model, f"from {number} passes over the rows"


def _require_two_classes(classes: list[Any]) -> None:
    """Raise an error with a remedy for any other number of classes."""
    if len(classes) < 2:
        msg = (
            f"there is one class only ({classes}), and a classifier needs two: add rows of the "
            "other class"
        )
        raise UsageError(msg)
    if len(classes) > 2:
        listed = ", ".join(map(str, classes[:_LISTED_LABELS]))
        msg = (
            f"there are {len(classes)} classes ({listed}): choose one against the others with "
            "--positive"
        )
        raise UsageError(msg)


def _report_json(report: Any) -> dict[str, Any]:
    return {
        "candidates": [
            {"name": tried.name, "metric": tried.metric, "error": tried.error}
            for tried in report.tried
        ],
        "compared_on": report.rows,
        "chosen": report.chosen,
        "why": report.why,
        "expected_on_new_rows": report.expected._asdict(),
        "chance": report.chance,
        "no_better_than_constant": report.no_better_than_constant,
        "better_than": {"baseline": report.baseline, **report.gap._asdict()},
        "weighted_by": report.weighted_by or None,
        "directions": [
            {
                "column": direction.column,
                "direction": direction.wish,
                "effect": None if direction.effect is None else direction.effect._asdict(),
                "flat": direction.flat,
            }
            for direction in report.directions
        ],
    }


def _describe_report(report: Any) -> list[str]:
    """Return the choice among the candidates as lines of text."""
    from directrix.models.report import sentence

    return ["", *report.choice, sentence(report.expected_text), *report.comparisons]
