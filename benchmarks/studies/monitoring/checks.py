"""Coverage, false alarms, and days until drift is found, on days whose law is known.

``python -m benchmarks.studies.monitoring.checks`` checks days that are drawn as `days.py` says, and
appends to ``days.csv`` (days without drift) and ``drift.csv`` (drift that begins on a day and
stays); ``--quick`` measures the first batch of each setting.

A batch of days has one reference, and the next batch another one. Monitors get the scores and the
columns of the reference rows, with labels; days are summarised without labels. All settings of
`Monitor` are its defaults, except where the setting says that reference days are given.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import product
from math import inf, isnan
from pathlib import Path
from statistics import fmean, median, stdev
from time import process_time
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from benchmarks.harness.markdown import bold_if, table
from benchmarks.harness.record import (
    Record,
    Row,
    commit,
    commits_of,
    grouped_by,
    mean_of,
    numbers,
)
from benchmarks.harness.runner import Part, Study
from benchmarks.studies.monitoring.days import (
    CARD,
    COLUMN,
    COLUMNS,
    DRIFTS,
    MODELS,
    MOMENT,
    SHARE,
    SIZE,
    WANDERING,
    draw,
    fitted,
)
from directrix._typing import FloatArray
from directrix.monitoring import DayCheck, Monitor, summarize_day
from directrix.monitoring.day_check import ALARM_RATE
from directrix.rows.sums import tree_sum

#: Goals: coverage of 95 % intervals, share of false alarms, days until drift is found.
COVERAGE, FALSE_ALARMS, DAYS_UNTIL = 0.92, 0.05, 3
REFERENCE_ROWS, ROWS = 25_000, (500, 2_000, 10_000)
#: Reference days where days differ, and the standard deviation of their latent means.
REFERENCE_DAYS, DIFFERENCE = 28, 0.05
#: Most days of a sequence with drift, and sequences by model: a check of a card takes longer.
MOST_DAYS, SEQUENCES, TOGETHER = 5, {MOMENT: 40, CARD: 12}, 4


class Setting(NamedTuple):
    """How the days of a batch are drawn.

    ``about``: for the report. ``rows``: rows of a day. ``shares``: between which the share of
    positives of a day is uniform. ``heavy``: as for `draw`. ``differ``: how days differ beyond
    chance: "", "by weekday" or "by day". ``given``: whether the monitor gets the reference days one
    by one. ``drift``: one of `DRIFTS`. ``batches``, ``days``: days of a batch.
    """

    about: str
    rows: tuple[int, ...] = (2_000,)
    shares: tuple[float, float] = WANDERING
    reference_rows: int = REFERENCE_ROWS
    reference_share: float = SHARE
    heavy: bool = False
    differ: str = ""
    given: bool = False
    drift: str | None = None
    batches: int = 10
    days: int = 10


PRIOR_SHIFT, UNCHANGED = "prior shift", "unchanged"
MAIN = {
    PRIOR_SHIFT: Setting("share of positives in 2-12 %, reference 5 %", ROWS, batches=20),
    UNCHANGED: Setting("share of positives 5 %", ROWS, (SHARE, SHARE), batches=20),
}
CORNERS = {
    "tiny days": Setting("days of 100 rows", (100,)),
    "few reference positives": Setting(
        "reference of 1,000 rows, about 50 positives", reference_rows=1_000
    ),
    "rare positives": Setting(
        "share 0.1-1 %, reference 0.5 %, about 125 positives",
        shares=(0.001, 0.01),
        reference_share=0.005,
    ),
    "many positives": Setting("share 30-60 %, reference 5 %", shares=(0.3, 0.6)),
    "heavy tails": Setting("two columns with t-distributions of 3 degrees of freedom", heavy=True),
    "large days": Setting("days of 50,000 rows, reference 25,000", (50_000,)),
}
_DAYS = {"reference_rows": 28_000, "batches": 5, "days": 21}
WEEKDAYS = {
    "weekdays, days not given": Setting(
        "latent means differ by weekday", (1_000,), differ="by weekday", **_DAYS
    ),
    "weekdays, days given": Setting(
        "the same, with `days=`", (1_000,), differ="by weekday", given=True, **_DAYS
    ),
    "each day differs, days given": Setting(
        "latent means differ by day, with `days=`", (1_000,), differ="by day", given=True, **_DAYS
    ),
    "weekdays, days given, larger days": Setting(
        "weekdays with `days=`; checked days have four times the rows of reference days",
        (4_000,),
        differ="by weekday",
        given=True,
        **_DAYS,
    ),
    "weekdays, days given, drift": Setting(
        "weekdays with `days=`; alarms are right: the column `count` drifts by 0.3",
        (1_000,),
        differ="by weekday",
        given=True,
        drift=COLUMN,
        **_DAYS,
    ),
}
SETTINGS = MAIN | CORNERS | WEEKDAYS

DAYS = Record(
    Path(__file__).with_name("days.csv"),
    "setting, model, rows, batch, days, failed, shares_covered, alerts_covered, alarms, "
    "alarms_scores, alarms_columns, mean_width, dispersion_scores, dispersion_columns, check_ms, "
    "commit",
    "batch, setting, model, rows",
)
DRIFT = Record(
    Path(__file__).with_name("drift.csv"),
    "drift, model, rows, batch, sequence, first_alarm, commit",
    "batch, drift, model, rows",
)


def generator(*key: object) -> np.random.Generator:
    """Return a generator of random numbers for a task."""
    return np.random.default_rng(crc32("/".join(map(str, key)).encode()))


class World:
    """A reference and days that are drawn alike."""

    def __init__(self, setting: Setting, model: str, rng: np.random.Generator) -> None:
        self.setting, self.rng = setting, rng
        self.model = fitted(model, heavy=setting.heavy)
        self.weekdays = rng.normal(0.0, DIFFERENCE, (7, len(COLUMNS)))
        self.monitor = self._monitor()

    def _shift(self, number: int) -> FloatArray | float:
        if self.setting.differ == "by weekday":
            shift: FloatArray = self.weekdays[number % 7]
            return shift
        if self.setting.differ == "by day":
            return self.rng.normal(0.0, DIFFERENCE, len(COLUMNS))
        return 0.0

    def _monitor(self) -> Monitor:
        setting, n_days = self.setting, REFERENCE_DAYS if self.setting.differ else 1
        days = []
        for number in range(n_days):
            rows = draw(
                self.rng,
                setting.reference_rows // n_days,
                setting.reference_share,
                shift=self._shift(number),
                heavy=setting.heavy,
            )
            days.append(summarize_day(self.model, *rows))
        return Monitor(
            tree_sum([day.scores for day in days]),
            tree_sum([day.columns for day in days]),
            days=days if setting.given else (),
        )

    def check(self, n: int, number: int, drift: str | None = None) -> tuple[DayCheck, float, float]:
        """Return the check of a new day, its realised share of positives, and CPU seconds.

        ``n``: rows. ``number``: of the day, which tells its weekday.
        """
        share = float(self.rng.uniform(*self.setting.shares))
        shift, heavy = self._shift(number), self.setting.heavy
        X, y = draw(self.rng, n, share, drift=drift, shift=shift, heavy=heavy)
        day = summarize_day(self.model, X)
        start = process_time()
        check = self.monitor.check(day)
        return check, float(y.mean()), process_time() - start


def measure_days(batch: int, name: str, model: str, n: int) -> list[tuple[object, ...]]:
    """Check the days of a batch of a setting."""
    setting = SETTINGS[name]
    world = World(setting, model, generator("days", batch, name, n))
    counts = np.zeros(5, dtype=int)
    failed = 0
    widths, seconds = [], []
    for number in range(setting.days):
        try:
            check, share, spent = world.check(n, number, setting.drift)
        except np.linalg.LinAlgError:
            failed += 1
            continue
        alone = {test.rows_of: test.p_value * len(check.tests) for test in check.tests}
        counts += (
            check.prevalence.low <= share <= check.prevalence.high,
            check.alerts.low <= check.alerts.observed <= check.alerts.high,
            check.verdict == "drift",
            alone["scores"] < check.alarm_rate,
            alone.get("columns", 1.0) < check.alarm_rate,
        )
        widths.append(check.prevalence.high - check.prevalence.low)
        seconds.append(spent)
    effects = world.monitor.effects
    dispersion = (f"{1 + n * effects[part].excess:.4g}" for part in ("scores", "columns"))
    width = f"{fmean(widths):.4g}" if widths else ""
    time = f"{1e3 * median(seconds):.3g}" if seconds else ""
    about = (name, model, n, batch, setting.days, failed)
    return [(*about, *counts.tolist(), width, *dispersion, time, commit())]


def measure_drift(batch: int, drift: str, model: str, n: int) -> list[tuple[object, ...]]:
    """Check days of drift until the first alarm, in sequences that share a reference."""
    rng = generator("drift", batch, drift, n)
    world = World(MAIN[PRIOR_SHIFT], model, rng)
    rows = []
    for sequence in range(TOGETHER):
        alarms = (world.check(n, day, drift)[0].verdict == "drift" for day in range(MOST_DAYS))
        first = next((day for day, alarm in enumerate(alarms, 1) if alarm), "")
        rows.append((drift, model, n, batch, sequence, first, commit()))
    return rows


def plan_days(args: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    """Yield the tasks of days without drift, the first batches of all settings first."""
    for batch in range(1 if args.quick else max(s.batches for s in SETTINGS.values())):
        for name, setting in SETTINGS.items():
            if batch < setting.batches:
                yield from product([batch], [name], MODELS, setting.rows)


def plan_drift(args: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    """Yield the tasks of days with drift."""
    for batch in range(1 if args.quick else max(SEQUENCES.values()) // TOGETHER):
        for model in MODELS:
            if batch < SEQUENCES[model] // TOGETHER:
                yield from ((batch, drift, model, n) for drift, n in product(DRIFTS, ROWS))


# ── the report ────────────────────────────────────────────────────────────────────────────────────


class Cell:
    """Days of a setting, a model and a number of rows: figures of all batches."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows
        self.days, self.failed = (int(numbers(rows, name).sum()) for name in ("days", "failed"))
        self.shares, self.alerts, self.alarms = (
            self.per_day(name) for name in ("shares_covered", "alerts_covered", "alarms")
        )

    def per_day(self, name: str) -> list[float]:
        """Return a count of each batch over its days."""
        return list(numbers(self._rows, name) / numbers(self._rows, "days"))

    def mean(self, name: str, digits: int) -> str:
        """Return the mean of a column over the batches, or nothing if none has a value."""
        mean = mean_of(self._rows, name)
        return "" if isnan(mean) else f"{mean:.{digits}f}"


Cells = dict[tuple[str, str, int], Cell]


def cells_of(rows: list[Row]) -> Cells:
    """Return what a record has by setting, model and rows of a day."""
    groups = grouped_by(rows, "setting", "model", "rows")
    return {(name, model, int(n)): Cell(group) for (name, model, n), group in groups.items()}


def lines(drift: list[Row], rows: list[Row] | None = None) -> list[str]:
    """Return the report of both records."""
    rows = DAYS.rows() if rows is None else rows
    title = ["# Checks of monitored days", "", "How: see `checks.py` and `days.py`."]
    if not rows:
        return [*title, "", "Nothing was measured yet."]
    cells = cells_of(rows)
    about = (
        f"Commit {commits_of(rows + drift)}. In brackets: standard errors over batches, which have "
        "a reference each. Bold: the goal is missed. A check that ended with an error counts as "
        "failed, and its intervals as not covering."
    )
    return [
        *(*title, "", about, *_summary(cells)),
        *_without_drift("Prior shift, and no change", cells, MAIN),
        *_without_drift("Corners", cells, CORNERS),
        *_without_drift("Days that differ", cells, WEEKDAYS),
        *_dispersions(cells),
        *_until_alarm(drift),
    ]


def _summary(cells: Cells) -> list[str]:
    main = [cell for (name, _, _), cell in cells.items() if name in MAIN]
    if not main:
        return []
    shares = min(_mean(cell.shares) for cell in main)
    alerts = min(_mean(cell.alerts) for cell in main)
    alarms = max(_mean(cell.alarms) for cell in main)
    met = {True: "met", False: "missed"}
    failed = sum(cell.failed for cell in main)
    checked = [cell for cell in main if cell.failed < cell.days]
    without = [
        min(fmean(getattr(cell, name)) * cell.days / (cell.days - cell.failed) for cell in checked)
        for name in ("shares", "alerts")
    ]
    return [
        "",
        (
            f"Over the {len(main)} cells of the first table ({sum(cell.days for cell in main):,} "
            f"days): the lowest coverage of the share of positives is {shares:.3f} (goal "
            f"{COVERAGE}: {met[shares >= COVERAGE]}), the lowest of the alerts {alerts:.3f} "
            f"(goal {COVERAGE}: {met[alerts >= COVERAGE]}), and the highest share of false alarms "
            f"{alarms:.3f} (goal {FALSE_ALARMS}: {met[alarms <= FALSE_ALARMS]}; "
            f"`alarm_rate` is {ALARM_RATE}). {failed} checks failed; over the days that were "
            f"checked, the lowest coverage is {without[0]:.3f} and {without[1]:.3f}."
        ),
    ]


def _without_drift(title: str, cells: Cells, settings: dict[str, Setting]) -> list[str]:
    rows = []
    for (name, model, n), cell in cells.items():
        if name in settings:
            wrong = settings[name].drift is None and _mean(cell.alarms) > FALSE_ALARMS
            rows.append(
                (
                    *(name, model, f"{n:,}", cell.days, bold_if(str(cell.failed), cell.failed > 0)),
                    *(_low(cell.shares), _low(cell.alerts)),
                    bold_if(_with_error(cell.alarms), wrong),
                    *(f"{fmean(cell.per_day(f'alarms_{p}')):.3f}" for p in ("scores", "columns")),
                    *(cell.mean("mean_width", 3), cell.mean("check_ms", 0)),
                )
            )
    columns = (
        "setting | model | rows of a day | days | failed | share covered | alerts covered | "
        "alarms | by scores | by columns | width of the share | ms a check"
    )
    about = (f"* {name}: {setting.about}." for name, setting in settings.items())
    return ["", f"## {title}", "", *about, *table(columns, rows)]


def _mean(values: list[float]) -> float:
    return round(fmean(values), 9)  # so that a share that equals the goal is not below it


def _low(values: list[float]) -> str:
    return bold_if(_with_error(values), _mean(values) < COVERAGE)


def _with_error(values: list[float]) -> str:
    if len(values) < 2:
        return f"{fmean(values):.3f}"
    return f"{fmean(values):.3f} ({stdev(values) / len(values) ** 0.5:.3f})"


def _dispersions(cells: Cells) -> list[str]:
    parts = ("dispersion_scores", "dispersion_columns")
    rows = (
        (name, model, *(cell.mean(part, 2) for part in parts))
        for (name, model, _), cell in cells.items()
        if name in WEEKDAYS and WEEKDAYS[name].given
    )
    title = "Mean dispersion that the monitors estimated from the reference days:"
    return ["", title, *table("setting | model | scores | columns", rows)]


def _until_alarm(rows: list[Row]) -> list[str]:
    text = [
        "",
        "## Days until drift is found",
        "",
        (
            f"Drift of {SIZE} latent standard deviations begins on the first day of a sequence and "
            f"stays; the share of positives wanders as under prior shift. A sequence ends with the "
            f"first alarm or after {MOST_DAYS} days. Without any drift, "
            f"{1.0 - (1.0 - ALARM_RATE) ** MOST_DAYS:.2f} of the sequences would have an alarm."
        ),
        "",
        (
            "Rows without labels hardly show a drift of the positives alone: at 5 % positives it "
            f"moves the mean of all rows by {SIZE * SHARE:.3f} standard deviations, in a direction "
            "that a lower share of positives explains in part. A changed correlation moves the "
            "mean of no column, and shows in the scores only as far as their spread changes."
        ),
        "",
        *(f"* {drift}: {what}." for drift, what in DRIFTS.items()),
    ]
    groups = grouped_by(rows, "drift", "model", "rows")
    cells = [
        (drift, model, f"{n:,}", *_first_alarms(groups[drift, model, str(n)]))
        for drift, model, n in product(DRIFTS, MODELS, ROWS)
        if (drift, model, str(n)) in groups
    ]
    columns = (
        f"drift | model | rows of a day | sequences | found on day 1 | found by day {DAYS_UNTIL} | "
        f"found by day {MOST_DAYS} | median day"
    )
    return [*text, *table(columns, cells)]


def _first_alarms(rows: list[Row]) -> list[Any]:
    found = [float(row["first_alarm"] or inf) for row in rows]
    shares = (fmean(day <= last for day in found) for last in (1, DAYS_UNTIL, MOST_DAYS))
    middle, cells = median(found), [f"{share:.2f}" for share in shares]
    cells[1] = bold_if(cells[1], middle > DAYS_UNTIL)
    return [len(found), *cells, f"{middle:g}" if np.isfinite(middle) else "not found"]


STUDY = Study(
    [Part(DRIFT, plan_drift, measure_drift), Part(DAYS, plan_days, measure_days)],
    lines,
    quick="the first batch of each setting",
    report_path=Path(__file__).with_suffix(".md"),
)

if __name__ == "__main__":
    STUDY.main(__doc__)
