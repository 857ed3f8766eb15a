"""The command ``watch``: a day of a model in use, checked against reference days."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli import options as opt
from directrix.cli.options import load_model, require
from directrix.cli.reply import Reply

if TYPE_CHECKING:
    from directrix.monitoring import DaySummaries

#: Exit code of a check that raises an alarm, for schedulers; errors have 1 and 2.
ALARM = 3


def watch(
    *,
    model: opt.Model,
    rows: opt.Rows,
    target: opt.Target,
    reference: Annotated[
        list[str],
        typer.Option(
            "--reference",
            "-r",
            help="File or pattern of labelled rows; each file is a day. May be repeated.",
        ),
    ],
    alarm_rate: Annotated[
        float, typer.Option(help="Probability of a false drift alarm on a day.")
    ] = 0.01,
    weight: opt.Weight = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Check a day of rows: prevalence, alerts, drift, limits.

    If the rows have the column of labels, the promises of the model are checked too. The exit code
    is 3 if there is an alarm.
    """
    from directrix.cli.rows import open_files
    from directrix.engines.readers import matching_files
    from directrix.monitoring import Monitor

    require(0 < alarm_rate < 1, "it must lie between 0 and 1", "--alarm-rate")
    classifier = load_model(model)
    paths = [path for given in reference for path in matching_files(given)]
    days = [_day_of(classifier, [path], target, weight) for path in paths]
    monitor = Monitor.of_days(classifier, days, alarm_rate=alarm_rate)
    labelled = target in open_files(rows).columns
    check = monitor.check(_day_of(classifier, rows, target if labelled else None, weight))
    return Reply(str(check), check.to_dict(), exit_code=ALARM if check.alarm else 0)


def _day_of(model: Any, paths: list[str], target: str | None, weight: str | None) -> DaySummaries:
    """Summarise the rows of a day, which have labels if ``target`` is given."""
    from directrix.cli.rows import RowFiles, require_labels_of
    from directrix.monitoring import summarize_day

    read = RowFiles.for_model(model, paths, target=target, weight=weight).read()
    if read.y is not None:
        require_labels_of(model, read.y)
    return summarize_day(model, read.X, read.y, read.weight)
