"""fit: a model from rows, or from a summary."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Annotated, Any

import numpy as np
import typer

from directrix.classifiers import (
    BetaBernoulliClassifier,
    DirectClassifier,
    MomentClassifier,
    SmoothClassifier,
)
from directrix.cli.commands.summaries import one_against_all
from directrix.cli.io.files import kind_of, summary_of
from directrix.cli.io.options import (
    Drop,
    Features,
    Force,
    Format,
    Json,
    MetricText,
    Output,
    Positive,
    Spark,
    Target,
    Weight,
    Width,
    metric_of,
    one_of,
    require,
)
from directrix.cli.io.output_file import require_output
from directrix.cli.io.rows import Gather, InMemory, RowFiles
from directrix.cli.output.errors import UsageError
from directrix.cli.output.formatting import in_one_line, metric_of_model, model_facts, model_words
from directrix.cli.output.reply import Reply, waiting
from directrix.export import save
from directrix.metrics import Metric
from directrix.moments import Moments

_CLASSIFIERS = ("direct", "moment", "smooth", "beta-bernoulli")
_TWO_PASSES = ("direct", "moment")


def fit(
    *,
    data: Annotated[
        list[str], typer.Argument(metavar="ROWS|SUMMARY", help="Files of rows, or summaries.")
    ],
    output: Output,
    force: Force = False,
    metric: MetricText = None,
    classifier: Annotated[
        str | None,
        typer.Option(
            "--classifier",
            "-c",
            help=f"{', '.join(_CLASSIFIERS)}; by default direct of rows, moment of a summary.",
        ),
    ] = None,
    guarantee: Annotated[
        float | None,
        typer.Option(help="Confidence that the metric's limit is kept on new rows, as 0.95."),
    ] = None,
    time_budget: Annotated[
        float | None, typer.Option(help="Seconds; fewer candidates are tried in less time.")
    ] = None,
    two_passes: Annotated[
        bool, typer.Option("--two-passes", help="Read the rows twice and never keep them.")
    ] = False,
    prior: Annotated[
        float | None, typer.Option(help="Of a summary: true share of the positive class.")
    ] = None,
    target: Target = None,
    features: Features = None,
    drop: Drop = None,
    weight: Weight = None,
    positive: Positive = None,
    spark: Spark = None,
    form: Format = None,
    n_features: Width = None,
    as_json: Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Train a classifier for a metric, from rows or from a summary of them."""
    require_output(output, data, force=force)
    wanted = metric_of(metric or "error")
    summaries = [path for path in data if kind_of(path) == "summary"]
    of_summary = len(summaries) == len(data)
    mixed = summaries and not of_summary
    require(not mixed, f"{', '.join(summaries)} is a summary, and other files are rows", "ROWS")
    kind = one_of(classifier or ("moment" if of_summary else "direct"), _CLASSIFIERS, "-c")
    for_all = guarantee is None and time_budget is None
    require(kind == "direct" or for_all, "this and --time-budget need -c direct", "--guarantee")
    require(prior is None or of_summary, "rows have their own shares of classes", "--prior")
    if kind == "beta-bernoulli":
        require(metric is None, "this classifier fits probabilities, and no metric", "--metric")
    if of_summary:
        require(kind == "moment", f"from a summary there is -c moment, not {kind}", "-c")
        model, what = _of_summary(data, wanted, positive, prior)
    else:
        files = RowFiles.of(
            data,
            target,
            features=features,
            drop=drop,
            form=form,
            weight=weight,
            positive=positive,
            n_features=n_features,
            spark=spark,
        )
        empty = _classifier(kind, wanted, guarantee, time_budget)
        if two_passes or spark:
            require(kind in _TWO_PASSES, f"not for -c {kind}, which needs all rows", "--two-passes")
            model, what = _in_two_passes(empty, files)
        else:
            model, what = _of_rows(empty, files)
    save(model, output)
    tried = _tried(model)
    told = _told(model)
    words = "\n".join([what, model_words(model), *told, "", f"wrote {output}"])
    return Reply(words, {"output": output, "from": what, **model_facts(model), **tried})


def _classifier(
    kind: str, metric: Metric, guarantee: float | None, time_budget: float | None
) -> Any:
    if kind == "direct":
        return DirectClassifier(metric, guarantee=guarantee, time_budget=time_budget)
    if kind == "moment":
        return MomentClassifier(metric)
    return SmoothClassifier(metric) if kind == "smooth" else BetaBernoulliClassifier()


def _of_summary(
    paths: list[str], metric: Metric, positive: str | None, prior: float | None
) -> tuple[Any, str]:
    moments: Moments = reduce(add, map(summary_of, paths))
    if positive is not None:
        moments = one_against_all(moments, positive)
    if prior is not None:
        moments = moments.with_prior(prior)
    _require_two(moments.classes.tolist())
    model = MomentClassifier(metric).fit_moments(moments)
    return model, f"from a summary of {moments.count:,} rows"


def _of_rows(model: Any, files: RowFiles) -> tuple[Any, str]:
    rows: InMemory = files.read(Gather())
    y = files.labels(rows.y)
    classes = np.unique(y).tolist()
    if len(classes) < 2 or not isinstance(model, DirectClassifier):
        _require_two(classes)
    with waiting(f"fitting {type(model).__name__} to {len(y):,} rows"):
        model.fit(rows.X, y, sample_weight=rows.weight)
    if rows.names is not None:
        # An array has no names; the model is to take its columns by them.
        model.feature_names_in_ = np.array(rows.names, dtype=object)
    return model, f"from {len(y):,} rows"


def _require_two(classes: list[Any]) -> None:
    """Refuse any other number of classes, in words of the command line."""
    if len(classes) < 2:
        msg = f"there is one class only ({classes}), and a line needs rows of two: add the other's"
        raise UsageError(msg)
    if len(classes) > 2:
        shown = ", ".join(map(str, classes[:5]))
        msg = (
            f"there are {len(classes)} classes ({shown}): choose one against the others with "
            "--positive, or fit -c direct to rows"
        )
        raise UsageError(msg)


def _in_two_passes(model: Any, files: RowFiles) -> tuple[Any, str]:
    possible = files.positive is None or files.libsvm
    require(possible, "two passes take labels as they are: make a column of it", "--positive")
    source, options = files.source()
    model.fit_source(source, **options)
    return model, "from two passes over the rows"


def _tried(model: Any) -> dict[str, Any]:
    """Return what a DirectClassifier tried; no other tells as much."""
    reports: Sequence[Any] = getattr(model, "reports_", ())
    if len(reports) != 1:
        return {}
    (report,) = reports
    return {
        "candidates": [own._asdict() for own in report.tried],
        "compared_on": report.rows,
        "chosen": report.chosen,
        "why": report.why,
        "expected_on_new_rows": report.expected._asdict(),
        "better_than_logistic": report.gap._asdict(),
    }


def _told(model: Any) -> list[str]:
    reports: Sequence[Any] = getattr(model, "reports_", ())
    if len(reports) != 1:
        return []
    (report,) = reports
    gap = report.gap
    ends = "" if np.isnan(gap.low) else f" ({gap.low:+.4f} to {gap.high:+.4f})"
    metric = in_one_line(metric_of_model(model))
    return [
        "",
        f"chosen of {len(report.tried)} candidates on {report.rows}: {report.chosen}",
        f"because {report.why}",
        (
            f"on new rows expect {report.expected.value:.4f} ({report.expected.low:.4f} to "
            f"{report.expected.high:.4f}) in {metric}"
        ),
        f"better than logistic regression by {gap.mean:+.4f}{ends} in {metric}",
    ]
