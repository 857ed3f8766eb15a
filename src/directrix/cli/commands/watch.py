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
    from collections.abc import Mapping

    from directrix.monitoring import DayCheck, DaySummaries, SegmentChecks, SummaryStore

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
    segment: opt.Segment = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Add a day of rows to a summary store.

    With --target, rows of that day that were added without labels get their labels. With
    --segment, each segment has its own store below that folder.
    """
    from directrix.cli.rows import RowFiles, parse_day, read_day
    from directrix.monitoring import SummaryStore

    chosen = parse_day(day) or date.today()  # noqa: DTZ011 - the day of the user
    roles = (target, features, None, weight, positive)
    files = RowFiles.of(rows, *roles, labelled=False, segment=segment)
    store, of_day = SummaryStore(reference), read_day(load_model(model), files)
    labelled = target is not None
    waiting = labelled and _is_waiting(store, chosen)
    for name, summaries in of_day.segments.items():
        _add(_segment_store(reference, segment, name), chosen, summaries, key, labelled=labelled)
    added = _add(store, chosen, of_day.whole, key, labelled=labelled)
    done = "labels added to rows that had none" if waiting else "added"
    text = f"{chosen}: {done if added else 'was added before'}; {store!r}"
    values = {"day": str(chosen), "added": added, "streams": store.streams()}
    if segment is not None:
        text += f"; {len(of_day.segments)} segments of {segment}"
        values["segments"] = list(of_day.segments)
    return Reply(text, values)


def _add(
    store: SummaryStore, day: date, summaries: DaySummaries, key: str | None, *, labelled: bool
) -> bool:
    """Add summaries to a store, in place of those of the same rows without labels."""
    if labelled and _is_waiting(store, day):
        without = [summary.unlabelled() for summary in summaries]
        return store.correct(day, subtract=without, add=list(summaries), key=key)
    return store.add(day, list(summaries), key=key)


def _segment_store(reference: str, column: str | None, name: Any) -> SummaryStore:
    """Return the store of a segment, a folder below that of all rows."""
    from urllib.parse import quote

    from directrix.monitoring import SummaryStore

    parts = (quote(str(part), safe="") for part in (column, name))
    return SummaryStore(f"{reference.rstrip('/')}/{'='.join(parts)}")


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
        float, typer.Option(help="Probability of a false drift alarm on a day.")
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
    segment: opt.Segment = None,
    as_json: opt.Json = False,  # noqa: ARG001 - read where replies are printed
) -> Reply:
    """Check a day of rows: prevalence, alerts, drift, limits.

    With --segment, each segment is checked against its own days, which collect --segment added.
    The exit code is 3 if there is an alarm.
    """
    from directrix.cli.rows import RowFiles, parse_day, read_day
    from directrix.monitoring import Monitor, SegmentMonitor, SummaryStore

    require(0 < alarm_rate < 1, "it must lie between 0 and 1", "--alarm-rate")
    for path in (output, json_output):
        require_output(path, [model, *rows], force=force)
    first, last = parse_day(since, "--since"), parse_day(until, "--until")
    classifier = load_model(model)
    roles = (target, features, None, weight, positive)
    files = RowFiles.of(rows, *roles, labelled=False, segment=segment)
    chosen = parse_day(day) or date.today()  # noqa: DTZ011 - the day of the user
    store, of_day = SummaryStore(reference), read_day(classifier, files)
    last = chosen - timedelta(days=1) if last is None else last
    require(
        any((first or date.min) <= each <= last for each in store.days("scores")),
        f"it has no labelled days until {last}: add some with directrix collect and --target",
        "--reference",
    )
    monitor = Monitor.of_store(classifier, store, since=first, until=last, alarm_rate=alarm_rate)
    check, values = monitor.check(of_day.whole, chosen), {}
    stores = {name: _segment_store(reference, segment, name) for name in of_day.segments}
    checks = None
    if segment is not None:
        days = _segment_days(stores, first, last)
        message = "no segment of these rows has labelled days: add some with collect --segment"
        require(days, message, "--segment")
        by_segment = SegmentMonitor.of_days(classifier, days, alarm_rate=alarm_rate)
        checks = by_segment.check(of_day.segments, chosen)
        values["segments"] = checks.to_dict()
    if keep:
        store.add(chosen, list(of_day.whole))
        for name, summaries in of_day.segments.items():
            stores[name].add(chosen, list(summaries))
    written, values = [], check.to_dict() | values
    if json_output is not None:
        _write(json_output, json.dumps(to_json_value(values), indent=2))
        written.append(json_output)
    if output is not None:
        _write(output, _page(model, monitor, store, check, checks))
        written.append(output)
    shown = [str(check)] if checks is None else [str(check), "", str(checks)]
    text = "\n".join([*shown, *(f"wrote {path}" for path in written)])
    alarm = check.alarm or (checks is not None and checks.alarm)
    return Reply(text, values, exit_code=ALARM if alarm else 0)


def _segment_days(
    stores: Mapping[Any, SummaryStore], since: date | None, until: date
) -> list[dict[Any, DaySummaries]]:
    """Return the labelled days of the stores of segments."""
    from directrix.monitoring import DaySummaries

    days: dict[date, dict[Any, DaySummaries]] = {}
    for name, store in stores.items():
        if not any((since or date.min) <= day <= until for day in store.days("scores")):
            continue
        stream = next((each for each in ("counts", "moments") if each in store.streams()), None)
        columns = {} if stream is None else store.read(stream, since=since, until=until)
        for day, scores in store.read("scores", since=since, until=until).items():
            days.setdefault(day, {})[name] = DaySummaries(scores, columns.get(day))
    return [days[day] for day in sorted(days)]


def _is_waiting(store: SummaryStore, day: date) -> bool:
    """Return whether a day has rows without labels."""
    stream = "unlabelled-scores"
    return day in store.days(stream) and bool(store.get(day, stream).weight.sum() > 0)


def _write(path: str, text: str) -> None:
    with atomic_file(path) as file:
        file.write(text.encode())


def _page(
    model: str, monitor: Any, store: SummaryStore, check: DayCheck, segments: SegmentChecks | None
) -> str:
    from directrix.cli.pages import watch_page
    from directrix.cli.pictures import use_file_backend

    use_file_backend()
    earlier = date.fromisoformat(str(check.day)) - timedelta(days=_SHOWN_DAYS)
    history = [
        each for each in monitor.check_days(store, since=earlier) if str(each.day) < str(check.day)
    ]
    return watch_page(model, history, check, segments)
