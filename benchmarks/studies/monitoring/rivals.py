"""NannyML and Evidently on the same days as ours: alarms, and estimates of recall and precision.

``python -m benchmarks.studies.monitoring.rivals`` runs them; ``--quick`` measures one reference
without Evidently.

Rows are drawn as `days.py` says. The 30,000 reference rows are 20 days, once of a steady share of
positives and once of a share that wanders as under prior shift: the thresholds of NannyML are three
standard deviations of the reference days, and Evidently compares with all reference rows.

The rivals need other releases of libraries than ours and run in environments of their own:
``python -m venv ENV && ENV/bin/pip install nannyml==0.13.1 statsmodels "pandas<3"``, and the
environment variable ``DIRECTRIX_NANNYML`` names ``ENV/bin/python``; in another one
``evidently==0.7.23 "pandas<3"``, and ``DIRECTRIX_EVIDENTLY``. All settings of the rivals are
their defaults.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

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
    select,
)
from benchmarks.harness.runner import Part, Study
from benchmarks.studies.monitoring.days import (
    CARD,
    COLUMNS,
    DRIFTS,
    MOMENT,
    SHARE,
    SIZE,
    Day,
    draw,
    fitted,
    wandering_share,
)
from directrix.monitoring import Monitor, summarize_day
from directrix.rows.sums import tree_sum

ROWS, REFERENCE_DAYS = 1_500, 20
STEADY, WANDERS = "steady", "wandering"
REFERENCES = (STEADY, WANDERS)
UNCHANGED, PRIOR_SHIFT = "unchanged", "prior shift"
#: Days of each group in a world; those of drift have the share of the reference.
GROUPS = {UNCHANGED: 20, PRIOR_SHIFT: 20, **dict.fromkeys(DRIFTS, 5)}
#: Worlds by method: Evidently takes seconds a day.
WORLDS = {"ours": 3, "NannyML": 3, "Evidently": 1}
VARIABLES = {"NannyML": "DIRECTRIX_NANNYML", "Evidently": "DIRECTRIX_EVIDENTLY"}
SCRIPTS = {
    "NannyML": Path(__file__).with_name("nannyml_days.py"),
    "Evidently": Path(__file__).with_name("evidently_days.py"),
}
OURS = (f"Monitor, {MOMENT}", f"Monitor, {CARD}")
CONSTANT, CBPE = "rates of the reference", "NannyML CBPE"
ALARMS = (
    *(*OURS, "NannyML univariate", "NannyML reconstruction", CBPE),
    *("Evidently, any column", "Evidently, half the columns"),
)
ESTIMATES = (OURS[0], CBPE, CONSTANT)


class Answer(NamedTuple):
    """What a method says of a day."""

    alarm: bool
    precision: float = float("nan")
    recall: float = float("nan")


class World(NamedTuple):
    """Reference days, and days to check with their groups."""

    reference: list[Day]
    groups: list[str]
    days: list[Day]


def world_of(number: int, reference: str, rows: int = ROWS) -> World:
    """Draw a world.

    ``reference``: one of `REFERENCES`. ``rows``: of a day.
    """
    rng = np.random.default_rng([number, REFERENCES.index(reference)])
    shares = [wandering_share(rng) for _ in range(REFERENCE_DAYS)]
    if reference == STEADY:
        shares = [SHARE] * REFERENCE_DAYS
    before = [draw(rng, rows, share) for share in shares]
    groups = [group for group, n in GROUPS.items() for _ in range(n)]
    # With a wandering reference the days that are not of prior shift have its mean share.
    usual = fmean(float(day.y.mean()) for day in before)
    days = [
        draw(
            rng,
            rows,
            wandering_share(rng) if group == PRIOR_SHIFT else usual,
            drift=group if group in DRIFTS else None,
        )
        for group in groups
    ]
    return World(before, groups, days)


def rates(day: Day) -> tuple[float, float]:
    """Return the precision and the recall that the linear model has on a day."""
    predicted = np.asarray(fitted(MOMENT).predict(day.X), dtype=bool)
    hits = float((predicted & day.y).sum())
    return hits / max(float(predicted.sum()), 1.0), hits / max(float(day.y.sum()), 1.0)


def our_answers(world: World) -> Iterator[tuple[str, str, list[Answer]]]:
    """Yield method, version and answers of our monitors, and of the rates of the reference."""
    for method, name in zip(OURS, (MOMENT, CARD), strict=True):
        model = fitted(name)
        days = [summarize_day(model, *day) for day in world.reference]
        scores, columns = (
            tree_sum([getattr(day, part) for day in days]) for part in ("scores", "columns")
        )
        monitor = Monitor(scores, columns)
        checks = [monitor.check(summarize_day(model, day.X)) for day in world.days]
        answers = [
            Answer(check.verdict == "drift", check.precision()[0], check.rates[0])
            for check in checks
        ]
        yield method, "", answers
    all_rows = Day(*(np.concatenate(part) for part in zip(*world.reference, strict=True)))
    yield CONSTANT, "", [Answer(False, *rates(all_rows))] * len(world.days)  # noqa: FBT003


def rival_answers(of: str, world: World) -> Iterator[tuple[str, str, list[Answer]]]:
    """Yield method, version and answers of a rival, which another interpreter runs."""
    import pandas as pd  # noqa: PLC0415 - the report needs none

    with TemporaryDirectory() as folder:
        for name, days in (("reference", world.reference), ("days", world.days)):
            frame = pd.concat([_frame(day) for day in days], ignore_index=True)
            frame.to_parquet(Path(folder, f"{name}.parquet"))
        rows = len(world.days[0].y)
        command = [os.environ[VARIABLES[of]], str(SCRIPTS[of]), folder, ",".join(COLUMNS)]
        # Our modules are not for its interpreter, and nothing of the run is to be reported.
        outside = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        outside |= {"NML_DISABLE_USAGE_LOGGING": "1", "DO_NOT_TRACK": "1"}
        subprocess.run([*command, str(rows)], check=True, env=outside)  # noqa: S603
        found = pd.read_csv(Path(folder, "found.csv"))
    for method, part in found.groupby("method"):
        if len(part) != len(world.days):
            msg = f"{method} answered for {len(part)} days of {len(world.days)}"
            raise RuntimeError(msg)
        columns = [part[name] if name in part else [np.nan] * len(part) for name in Answer._fields]
        answers = [Answer(bool(row[0]), *row[1:]) for row in zip(*columns, strict=True)]
        yield str(method), str(part["version"].iloc[0]), answers


def _frame(day: Day) -> Any:
    import pandas as pd  # noqa: PLC0415 - the report needs none

    model = fitted(MOMENT)
    frame = pd.DataFrame(day.X, columns=list(COLUMNS))
    frame["probability"] = model.predict_proba(day.X)[:, 1]
    frame["predicted"] = np.asarray(model.predict(day.X)).astype(int)
    return frame.assign(y=day.y.astype(int))


def measure(number: int, reference: str, of: str) -> list[tuple[object, ...]]:
    """Return the rows of a world and a library: alarms and mean absolute errors by group."""
    world = world_of(number, reference)
    realised = [rates(day) for day in world.days]
    rows: list[tuple[object, ...]] = []
    answered = our_answers(world) if of == "ours" else rival_answers(of, world)
    for method, version, answers in answered:
        for group, n in GROUPS.items():
            chosen = [k for k, name in enumerate(world.groups) if name == group]
            alarms = sum(answers[k].alarm for k in chosen)
            errors = [
                fmean(abs(answers[k][1 + which] - realised[k][which]) for k in chosen)
                for which in range(2)
            ]
            cells = ["" if method not in ESTIMATES else f"{error:.5f}" for error in errors]
            rows.append(
                (reference, number, of, method, group, n, alarms, *cells, version, commit())
            )
    return rows


def plan(args: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    """Yield the tasks for which there is an interpreter."""
    for of, worlds in WORLDS.items():
        if of in VARIABLES and VARIABLES[of] not in os.environ:
            print(f"not run: {of}; {VARIABLES[of]} does not name its Python")
        elif not (args.quick and of == "Evidently"):
            references = REFERENCES[:1] if args.quick else REFERENCES
            yield from product(range(1 if args.quick else worlds), references, [of])


# ── the report ────────────────────────────────────────────────────────────────────────────────────


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    title = ["# Alarms and estimates beside NannyML and Evidently", "", "How: see `rivals.py`."]
    if not rows:
        return [*title, "", "Nothing was measured yet."]
    versions = dict.fromkeys(f"{row['of']} {row['version']}" for row in rows if row["version"])
    return [
        *title,
        "",
        f"Commit {commits_of(rows)}; {', '.join(versions) or 'no rival'}. Days of {ROWS:,} rows.",
        "",
        (
            "The rivals do not claim to tell prior shift from drift of the classes: NannyML and "
            "Evidently report that the columns have changed, and on a day of prior shift they "
            "have. An alarm on such a day is wrong only if the question is whether the classes "
            "themselves have changed, which is what decides whether the recall still holds. "
            "NannyML and Evidently judge each column; an alarm is here one of any column, and for "
            "Evidently also one of half of the columns, its default for the whole table. An alarm "
            "of CBPE is an estimated precision or recall outside of its thresholds."
        ),
        *_alarms("All methods, on the days that all of them have", rows, ALARMS),
        *_alarms("Without Evidently, on more days", rows, ALARMS[:5]),
        *_estimates(rows),
    ]


def _shared(rows: list[Row], methods: Iterable[str]) -> list[Row]:
    """Return the rows of methods in worlds that all measured methods of them have."""
    by_method = {m: grouped_by(select(rows, method=m), "reference", "world") for m in methods}
    having = [set(worlds) for worlds in by_method.values() if worlds]
    shared = set.intersection(*having) if having else set()
    return [row for w in by_method.values() for key in w if key in shared for row in w[key]]


def _alarms(title: str, rows: list[Row], methods: tuple[str, ...]) -> list[str]:
    text = ["", f"## {title}"]
    for reference in REFERENCES:
        groups = grouped_by(select(_shared(rows, methods), reference=reference), "method", "group")
        present = [method for method in methods if (method, UNCHANGED) in groups]
        if not present:
            continue
        about = (
            f"Reference days of a {reference} share of positives; days with an alarm, of all days."
        )
        cells = []
        for group in GROUPS:
            name = group if group not in DRIFTS else f"drift of {SIZE}: {group}"
            found = (groups.get((method, group), []) for method in present)
            counts = ((numbers(of, "alarms").sum(), numbers(of, "days").sum()) for of in found)
            cells.append((name, *(f"{alarms:.0f} / {days:.0f}" for alarms, days in counts)))
        text += ["", about, *table(" | ".join(("days", *present)), cells)]
    return text


def _estimates(rows: list[Row]) -> list[str]:
    text = [
        "",
        "## Estimated precision and recall of the linear model",
        "",
        (
            "Mean absolute difference to what was realised on the day, which a day's chance is "
            "part of. Ours is the precision at the estimated prevalence; our recall is that of "
            "the reference, which is right under prior shift only. The rates of the reference are "
            "what to expect if nothing is estimated."
        ),
    ]
    chosen = [row for row in _shared(rows, ESTIMATES) if row["precision_error"]]
    present = [name for name in ESTIMATES if any(row["method"] == name for row in chosen)]
    groups = grouped_by(chosen, "reference", "group", "method")
    cells = []
    for reference, group in product(REFERENCES, GROUPS):
        found = [groups.get((reference, group, method), []) for method in present]
        if found and all(found):
            cells.append((reference, group))
            for which in ("precision_error", "recall_error"):
                means = [mean_of(of, which) for of in found]
                cells[-1] += tuple(bold_if(f"{m:.3f}", m == min(means)) for m in means)
    names = (f"{rate}, {name}" for rate in ("precision", "recall") for name in present)
    return [*text, *table(" | ".join(("reference", "days", *names)), cells)]


RECORD = Record.beside(
    __file__,
    "reference, world, of, method, group, days, alarms, precision_error, recall_error, version, "
    "commit",
    "world, reference, of",
)
STUDY = Study([Part(RECORD, plan, measure)], lines, quick="one reference without Evidently")

if __name__ == "__main__":
    STUDY.main(__doc__)
