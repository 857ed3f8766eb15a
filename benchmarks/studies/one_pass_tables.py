"""Models of one pass over tables as they are, against models that read the rows many times.

``python -m benchmarks.studies.one_pass_tables`` measures, in three folds of each of 21 tables (of
at most 10,000 rows), of which nine had no part in the design of the features,

* ``one pass``: a summary of linear features and splines, and a `MomentClassifier` for each metric,
  which chooses whether it needs the splines;
* ``linear features`` and ``with splines``: the same without that choice;
* LightGBM by default and with 7 leaves, logistic regression over one-hot texts with a tuned C, and
  in the first fold the default card and EBM.

Models of probabilities cut at the threshold of the metric. ``--quick`` measures the summaries only.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import partial
from statistics import fmean, median
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.arena.tables.protocol import frame_of
from benchmarks.harness.data import LATER, TABLES, UNSEEN, Rows
from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, commits_of, numbers, package_commit, select
from benchmarks.harness.runner import Part, Study, timed
from benchmarks.rivals.base import with_categories
from benchmarks.rivals.tables import LINE, TABLE_RIVALS
from directrix import MomentClassifier, ScorecardClassifier, summarize
from directrix._typing import FloatArray
from directrix.metrics import AUC, Cost, Error, RecallAtFPR

METRICS: dict[str, Any] = {
    "AUC": AUC(),
    "error": Error(),
    "recall at FPR 5 %": RecallAtFPR(0.05),
    "cost 1:20": Cost(fp=1, fn=20),
}
FOLDS, SEVEN = 3, "LightGBM, 7 leaves"
SETS = {"tables": tuple(TABLES), "new tables": (*LATER, *UNSEEN)}
Scores = dict[str, FloatArray]


def one_pass(train: Rows, test: Rows, features: str | None = None) -> Scores:
    """Summarise the rows once; learn every metric, with features of the choice of the model."""
    summary: Any = summarize(train.X, target=train.y, features="auto", progress=False)
    made, columns = summary.map, np.arange(summary.n_features)
    if features is not None:
        columns = made.sets[features]
        summary = summary.select(columns)
    fitted = MomentClassifier().fit_summary_each(list(METRICS.values()), summary)
    X = made.transform(_table(test.X, made))[:, columns]
    return {
        name: X @ model.coef_[0] + model.intercept_[0]
        for name, model in zip(METRICS, fitted, strict=True)
    }


def _table(frame: Any, made: Any) -> Any:
    from directrix.tables.table import Column, Table  # noqa: PLC0415 - of the rows to score only

    return Table.of(frame, [Column(column.name, column.kind) for column in made.columns])


def trees(train: Rows, test: Rows, **options: Any) -> Scores:
    """Boost with texts as categories."""
    from lightgbm import LGBMClassifier  # noqa: PLC0415 - optional

    first, second = with_categories(train.X, test.X, None)
    model = LGBMClassifier(n_jobs=1, verbose=-1, random_state=0, **options).fit(first, train.y)
    return _at_thresholds(np.asarray(model.predict(second, raw_score=True)))


def additive(train: Rows, test: Rows) -> Scores:
    """Fit an EBM."""
    from interpret.glassbox import ExplainableBoostingClassifier  # noqa: PLC0415 - optional

    first, second = with_categories(train.X, test.X, None)
    model = ExplainableBoostingClassifier(n_jobs=1, random_state=0).fit(first, train.y)
    return _at_thresholds(np.asarray(model.decision_function(second)))


def one_hot(train: Rows, test: Rows) -> Scores:
    """Fit logistic regression over one-hot texts, with a tuned C."""
    rival: Any = TABLE_RIVALS[LINE]
    return _at_thresholds(rival.log_odds(train, test).test)


def card(train: Rows, test: Rows) -> Scores:
    """Fit the default card, for each metric, in points of log-odds."""
    return {
        name: ScorecardClassifier(metric, points="log-odds")
        .fit(train.X, train.y)
        .decision_function(test.X)
        for name, metric in METRICS.items()
    }


def _at_thresholds(log_odds: FloatArray) -> Scores:
    return dict.fromkeys(METRICS, log_odds) | {"cost 1:20": log_odds + np.log(20.0)}


METHODS: dict[str, Callable[[Rows, Rows], Scores]] = {
    "one pass": one_pass,
    "linear features": partial(one_pass, features=""),
    "with splines": partial(one_pass, features="splines"),
    SEVEN: partial(trees, num_leaves=7),
    "LightGBM": trees,
    "logistic, one-hot": one_hot,
    "default card": card,
    "EBM": additive,
}
OURS, FAST, SLOW = tuple(METHODS)[:3], tuple(METHODS)[:6], tuple(METHODS)[6:]


def measure(name: str, fold: int, method: str) -> list[tuple[Any, ...]]:
    """Return a row for each metric."""
    X, y = frame_of(name)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    train, test = list(folds.split(np.zeros(len(y)), y))[fold]
    rows = Rows(X.iloc[train].reset_index(drop=True), y[train])
    others = Rows(X.iloc[test].reset_index(drop=True), y[test])
    scores, spent = timed(METHODS[method], rows, others)
    values = {key: metric.score(others.y, scores[key]) for key, metric in METRICS.items()}
    return [
        (name, fold, method, key, f"{value:.6g}", f"{spent:.3g}", package_commit())
        for key, value in values.items()
    ]


def planned(args: Namespace) -> Iterator[tuple[str, int, str]]:
    """Yield tables, folds and methods, the fast methods first."""
    names = [name for some in SETS.values() for name in some]
    for methods in (OURS,) if args.quick else (FAST, *((method,) for method in SLOW)):
        for fold in range(1 if methods[0] in SLOW else FOLDS):
            yield from ((name, fold, method) for name in names for method in methods)


def losses(rows: list[Row], method: str, metric: str, rival: str = SEVEN) -> dict[str, float]:
    """Return by table how much worse a method is than a rival, over common folds."""
    sign = -1.0 if METRICS[metric].greater_is_better else 1.0
    values = {
        (row["table"], row["fold"], row["method"]): float(row["value"])
        for row in select(rows, metric=metric)
    }
    found: dict[str, list[float]] = {}
    for (name, fold, other), value in values.items():
        if other == method and (name, fold, rival) in values:
            found.setdefault(name, []).append(sign * (value - values[name, fold, rival]))
    return {name: fmean(some) for name, some in found.items()}


def compared(rows: list[Row], kind: str, metric: str) -> list[str]:
    """Return a table of the methods."""
    cells = []
    for method in METHODS:
        found = losses(rows, method, metric)
        some = [found[name] for name in SETS[kind] if name in found]
        if not some:
            continue
        spent = numbers(select(rows, method=method, metric=metric), "CPU")
        better = f"{sum(loss < 0 for loss in some)} of {len(some)}"
        shown = f"{fmean(some):+.4f}", f"{median(some):+.4f}", f"{max(some):+.4f}"
        cells.append((method, *shown, better, f"{np.median(spent):.2f}"))
    columns = "method | mean | median | worst | tables on which it is better | CPU, median"
    return table(columns, cells, f"{metric}, {len(SETS[kind])} {kind}")


def every_loss(rows: list[Row]) -> list[str]:
    """Return the tables on which one pass loses to each rival, the largest loss first."""
    cells = []
    for metric in METRICS:
        for rival in (*FAST[len(OURS) :], *SLOW):
            found = losses(rows, "one pass", metric, rival)
            worse = sorted(((x, name) for name, x in found.items() if x > 0), reverse=True)
            listed = ", ".join(f"{name} {loss:.4f}" for loss, name in worse) or "none"
            cells.append((metric, rival, f"{len(worse)} of {len(found)}", listed))
    return table("metric | rival | worse on | tables and losses of one pass", cells, "Every loss")


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    commits = "; ".join(
        f"{method}: {commits_of(select(rows, method=method))}" for method in METHODS
    )
    return [
        "# One pass over tables",
        "",
        "Made by `python -m benchmarks.studies.one_pass_tables`. By how much a method is worse",
        f"than {SEVEN}, on the same held-out rows of {FOLDS} folds: below zero is better. CPU",
        f"seconds are of {len(METRICS)} metrics and the summary. Commits: {commits}.",
        f"{' and '.join(SLOW)} are measured on the first fold, and compared with others",
        "there. A method with fewer tables is not measured on the others, and not to be compared.",
        *(line for kind in SETS for metric in METRICS for line in compared(rows, kind, metric)),
        *every_loss(rows),
    ]


RECORD = Record.beside(
    __file__, "table, fold, method, metric, value, CPU, commit", "table, fold, method"
)
STUDY = Study(
    [Part(RECORD, planned, measure)],
    lines,
    quick="the summaries only",
    options={"--minutes": None},
)

if __name__ == "__main__":
    STUDY.main(__doc__)
