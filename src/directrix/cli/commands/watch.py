"""The commands ``collect`` and ``watch``: days of a model in use."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from directrix.cli import options as opt
from directrix.cli.options import load_model, require, require_output
from directrix.cli.reply import Reply, to_json_value
from directrix.files.atomic import atomic_file

if TYPE_CHECKING:
    from directrix.monitoring import DayCheck, SummaryStore

#: Exit code of a check that raises an alarm, for schedulers; errors have 1 and 2.
ALARM = 3
#: Days that a page shows before the one that is checked.
_SHOWN_DAYS = 60

Reference = Annotated[
    str, typer.Option("--reference", "-r", help="Folder or fsspec address of the summary store.")
]
Labels = Annotated[
    str | None,
    typer.Option("--target", "-t", help="Column with the labels, if they are known already."),
]
Day = Annotated[str | None, typer.Option(help="Date of the rows. Default: today.")]


def collect(
    *,
    model: opt.Model,
    rows: opt.Rows,
    reference: Reference,
    day: Day = None,
    target: Labels = None,
    key: Annotated[
        str | None, typer.Option(help="Name of this part of the day, if a day is added in parts.")
    ] = None,
    features: opt.Features = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Add the rows of a day to a summary store, as a model sees them.

    Rows that the store has without labels get those of --target.
    """
    from directrix.cli.rows import RowFiles, parse_day, read_day
    from directrix.monitoring import SummaryStore

    chosen = parse_day(day) or date.today()  # noqa: DTZ011 - the day of the user
    files = RowFiles.of(rows, target, features, None, weight, positive, labelled=False)
    store, summaries = SummaryStore(reference), read_day(load_model(model), files)
    waiting = target is not None and _is_waiting(store, chosen)
    if waiting:
        rows_without = [summary.unlabelled() for summary in summaries]
        added = store.correct(chosen, subtract=rows_without, add=list(summaries), key=key)
    else:
        added = store.add(chosen, list(summaries), key=key)
    done = "labels added to rows that had none" if waiting else "added"
    text = f"{chosen}: {done if added else 'was added before'}; {store!r}"
    return Reply(text, {"day": str(chosen), "added": added, "streams": store.streams()})


def watch(
    *,
    model: opt.Model,
    rows: opt.Rows,
    reference: Reference,
    day: Day = None,
    target: Labels = None,
    since: Annotated[str | None, typer.Option(help="First reference day.")] = None,
    until: Annotated[
        str | None, typer.Option(help="Last reference day. Default: the day before the rows.")
    ] = None,
    alarm_rate: Annotated[
        float, typer.Option(help="Probability of a false alarm of drift on a day.")
    ] = 0.01,
    keep: Annotated[bool, typer.Option("--keep", help="Add the rows to the store.")] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="HTML page to write, with charts.")
    ] = None,
    json_output: Annotated[str | None, typer.Option(help="JSON file to write.")] = None,
    force: opt.Force = False,
    features: opt.Features = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Check the rows of a day against a store: prevalence, alerts, drift and promises.

    The exit code is 3 if there is an alarm.
    """
    from directrix.cli.rows import RowFiles, parse_day, read_day
    from directrix.monitoring import Monitor, SummaryStore

    require(0 < alarm_rate < 1, "it must lie between 0 and 1", "--alarm-rate")
    for path in (output, json_output):
        require_output(path, [model, *rows], force=force)
    first, last = parse_day(since, "--since"), parse_day(until, "--until")
    classifier = load_model(model)
    files = RowFiles.of(rows, target, features, None, weight, positive, labelled=False)
    chosen = parse_day(day) or date.today()  # noqa: DTZ011 - the day of the user
    store, summaries = SummaryStore(reference), read_day(classifier, files)
    last = chosen - timedelta(days=1) if last is None else last
    require(
        any((first or date.min) <= each <= last for each in store.days("scores")),
        f"it has no labelled days until {last}: add some with directrix collect and --target",
        "--reference",
    )
    monitor = Monitor.of_store(classifier, store, since=first, until=last, alarm_rate=alarm_rate)
    check = monitor.check(summaries, chosen)
    if keep:
        store.add(chosen, list(summaries))
    written = []
    if json_output is not None:
        _write(json_output, json.dumps(to_json_value(check.to_dict()), indent=2))
        written.append(json_output)
    if output is not None:
        _write(output, _page(model, monitor, store, check))
        written.append(output)
    text = "\n".join([str(check), *(f"wrote {path}" for path in written)])
    return Reply(text, check.to_dict(), exit_code=ALARM if check.alarm else 0)


def _is_waiting(store: SummaryStore, day: date) -> bool:
    """Return whether a day has rows without labels."""
    stream = "unlabelled-scores"
    return day in store.days(stream) and bool(store.get(day, stream).weight.sum() > 0)


def _write(path: str, text: str) -> None:
    with atomic_file(path) as file:
        file.write(text.encode())


def _page(model: str, monitor: Any, store: SummaryStore, check: DayCheck) -> str:
    from directrix.cli.pages import watch_page
    from directrix.cli.pictures import use_file_backend

    use_file_backend()
    earlier = date.fromisoformat(str(check.day)) - timedelta(days=_SHOWN_DAYS)
    history = [
        each for each in monitor.check_days(store, since=earlier) if str(each.day) < str(check.day)
    ]
    return watch_page(model, history, check)
