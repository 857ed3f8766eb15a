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
    target: opt.Target = None,
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
    from directrix.engines.readers import matching_files
    from directrix.monitoring import Monitor

    require(0 < alarm_rate < 1, "it must lie between 0 and 1", "--alarm-rate")
    classifier = load_model(model)
    days = [
        _day_of(classifier, [path], target, weight)
        for given in reference
        for path in matching_files(given)
    ]
    monitor = Monitor.of_days(classifier, days, alarm_rate=alarm_rate)
    check = monitor.check(_day_of(classifier, rows, target, weight, labelled=False))
    return Reply(str(check), check.to_dict(), exit_code=ALARM if check.alarm else 0)


def _day_of(
    model: Any, paths: list[str], target: str | None, weight: str | None, *, labelled: bool = True
) -> DaySummaries:
    """Summarise the rows of a day; without ``labelled``, the column of labels may be missing."""
    from directrix.cli.rows import RowFiles, labels_for_model, read_rows, takes_raw_rows
    from directrix.monitoring import summarize_day

    files = RowFiles.of(paths, target, weight=weight, labelled=labelled).for_model(model)
    if not labelled and target not in files.column_names():
        files = RowFiles.of(paths, None, weight=weight, labelled=False).for_model(model)
    read = read_rows(files, raw=takes_raw_rows(model))
    y = None if files.target is None else labels_for_model(model, files, read.y)
    return summarize_day(model, read.X, y, read.weight)
