"""Whether naming a metric hurts: models trained for it against the same trained for the AUC.

``python -m benchmarks.studies.cards.named_metrics`` fits a scorecard to 16 tables for the AUC and
for five metrics at an operating point, and compares, on new rows, each with the AUC card. Lines of
four sets of numbers whose boundaries bend do the same at one metric: there, training for it pays.
``--label`` names the commit; the report shows the first one as before, the last as after.
``--quick`` measures one repeat of the smallest table.

* 3,000 training rows at most, drawn at random, and at most three fifths of a table; all the rest,
  20,000 rows at most, are the test rows. Lines have 8,000 training rows at most. The draws are
  those of no other study: the rule of choice was set on other ones.
* Full cards, with all the lines that they have. All metrics of a draw share the structure of the
  card and its candidates (`fit_each`).
* A metric that sets its own threshold (a limit, a quota) is that of the best threshold on the test
  rows. For cost and F1 both cards predict at the threshold that is best for the metric on their own
  held-out rows.
* The standard error of a difference is that of a jackknife which leaves out each twentieth of the
  test rows in turn, the same rows for both cards.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import product
from math import sqrt
from statistics import fmean, median, stdev
from typing import Any

import numpy as np

from benchmarks.harness.data import LATER, TABLES, Rows, load, load_table
from benchmarks.harness.markdown import signed_error, table
from benchmarks.harness.record import Record, Row, distinct, grouped_by
from benchmarks.harness.runner import Part, Study, timed
from directrix import DirectClassifier, ScorecardClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import AUC, Cost, FBeta, PrecisionAtK, RecallAtFPR
from directrix.metrics.base import Metric

#: Sets of numbers on which lines trained for the recall gain most.
BENT = ("magic04", "ijcnn1", "mammography", "spambase")
RECALL = "recall at FPR 1 %"
METRICS: dict[str, Metric] = {
    RECALL: RecallAtFPR(0.01),
    "recall at FPR 5 %": RecallAtFPR(0.05),
    "cost 1:5": Cost(fp=1, fn=5),
    "precision of the top 5 %": PrecisionAtK(0.05),
    "F1": FBeta(),
}
CARD, LINE = "card", "line"
SETS = {CARD: (*TABLES, *LATER), LINE: BENT}
OF_KIND = {CARD: tuple(METRICS), LINE: (RECALL,)}
REPEATS = {CARD: 2, LINE: 3}
TRAIN = {CARD: 3_000, LINE: 8_000}
MOST_TEST, MOST_SHARE = 20_000, 0.6
PARTS = 20
#: A difference of so many standard errors is significant.
SIGNIFICANT = 2.0


def rows_of(name: str) -> Rows:
    """Return a table, or a set of numbers."""
    return Rows(*load(name)) if name in BENT else load_table(name)


def split(name: str, kind: str, repeat: int) -> tuple[Rows, Rows]:
    """Return training and test rows of a repeat."""
    X, y = rows_of(name)
    order = np.random.default_rng([repeat, len(y)]).permutation(len(y))
    n_train = min(TRAIN[kind], int(MOST_SHARE * len(y)))
    parts = np.split(order, [n_train, n_train + MOST_TEST])[:2]
    train, test = ((X.iloc[k] if hasattr(X, "iloc") else X[k], y[k]) for k in parts)
    return Rows(*train), Rows(*test)


def difference(
    metric: Metric, y: AnyArray, scores: Sequence[FloatArray]
) -> tuple[float, float, float]:
    """Return the metric of two models on test rows, and the standard error of its difference.

    Values have the sign of a score: more is better.
    """

    def values(rows: Any) -> FloatArray:
        return np.array([metric.as_score(metric.score(y[rows], each[rows])) for each in scores])

    part = np.random.default_rng(0).permutation(len(y)) % PARTS
    left_out = np.array([np.subtract(*values(part != k)) for k in range(PARTS)])
    spread = (PARTS - 1) / PARTS * np.square(left_out - left_out.mean()).sum()
    plain, named = values(slice(None))
    return float(plain), float(named), sqrt(float(spread))


def scores_for(metric: Metric, model: Any, X: Any) -> FloatArray:
    """Return scores whose threshold, where the metric needs one, is the model's best for it."""
    if metric.fixes_threshold:
        return np.asarray(model.decision_function(X))
    return np.where(model.predict(X, at=metric) == model.classes_[1], 1.0, -1.0)


def measure(
    label: str, kind: str, name: str, repeat: int, metrics: Sequence[tuple[str]]
) -> list[tuple[object, ...]]:
    """Return the results of all metrics of a draw."""
    train, test = split(name, kind, repeat)
    model: Any = DirectClassifier()
    if kind == CARD:
        model = ScorecardClassifier()
        if "max_lines" in model.get_params():
            model.set_params(max_lines=None)
    named = [METRICS[metric] for (metric,) in metrics]
    models, spent = timed(model.fit_each, [AUC(), *named], train.X, train.y)
    rows = []
    for (metric_name,), metric, fitted in zip(metrics, named, models[1:], strict=True):
        scores = [scores_for(metric, each, test.X) for each in (models[0], fitted)]
        measured = difference(metric, test.y, scores)
        sizes = len(train.y), int(train.y.sum()), len(test.y)
        figures = (f"{value:.6g}" for value in (*measured, spent / len(models)))
        chosen = fitted.report_.chosen
        rows.append((label, kind, name, repeat, metric_name, *sizes, *figures, chosen))
    return rows


# ── the report ────────────────────────────────────────────────────────────────────────────────────


class Difference:
    """Named less AUC model, of one label, kind and metric: by set, with its standard error."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.by_set: dict[str, tuple[float, float]] = {}
        for (name,), of_set in grouped_by(rows, "set").items():
            gains = [float(row["named"]) - float(row["auc_model"]) for row in of_set]
            squares = [float(row["error"]) ** 2 for row in of_set]
            self.by_set[name] = fmean(gains), sqrt(sum(squares)) / len(squares)

    @property
    def gains(self) -> list[float]:
        """The mean gain of each set."""
        return [gain for gain, _ in self.by_set.values()]

    @property
    def mean(self) -> tuple[float, float]:
        """The mean over sets, and its standard error."""
        return fmean(self.gains), stdev(self.gains) / sqrt(len(self.gains))

    def significant(self, sign: int) -> list[str]:
        """Return the sets that are better (1) or worse (-1) beyond chance."""
        items = self.by_set.items()
        return [name for name, (gain, error) in items if sign * gain > SIGNIFICANT * error]

    def cells(self) -> tuple[object, ...]:
        """Return the cells of a table."""
        wins, losses = (sum(sign * gain > 0 for gain in self.gains) for sign in (1, -1))
        better, worse = (", ".join(self.significant(sign)) or "none" for sign in (1, -1))
        return (
            signed_error(*self.mean),
            f"{median(self.gains):+.4f}",
            f"{wins} / {losses}",
            f"{min(self.gains):+.4f}",
            better,
            worse,
        )


COLUMNS = (
    "metric | code | mean gain (standard error) | median | wins / losses | worst table | "
    "significantly better | significantly worse"
)


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    title = ["# Does naming a metric hurt?", "", "How: see `named_metrics.py`."]
    labels = distinct(rows, "commit")
    if not labels:
        return [*title, "", "Nothing was measured yet."]
    shown = {"before": labels[0], "after": labels[-1]} if len(labels) > 1 else {"now": labels[0]}
    text = [*title, "", f"Commits: {', '.join(f'{when} {at}' for when, at in shown.items())}."]
    found = {
        key: Difference(group)
        for key, group in grouped_by(rows, "kind", "metric", "commit").items()
    }
    for kind, about in ((CARD, "Cards"), (LINE, "Lines where boundaries bend")):
        cells = [
            (metric, when, *found[kind, metric, label].cells())
            for metric, (when, label) in product(OF_KIND[kind], shown.items())
            if len(found.get((kind, metric, label), Difference([])).gains) > 1
        ]
        text += table(COLUMNS, cells, f"{about}: trained for the metric less trained for the AUC")
    return [*text, *_each(found, shown), *_cpu(rows, shown)]


def _each(found: dict[Any, Difference], shown: dict[str, str]) -> list[str]:
    text = []
    for kind, metrics in OF_KIND.items():
        for metric in metrics:
            of = {
                when: found[kind, metric, at]
                for when, at in shown.items()
                if (kind, metric, at) in found
            }
            names = [
                name for name in SETS[kind] if all(name in each.by_set for each in of.values())
            ]
            cells = [
                (name, *(signed_error(*each.by_set[name]) for each in of.values()))
                for name in names
            ]
            title = f"{metric}, {kind}s: gain by set (standard error)"
            text += table(" | ".join(("set", *of)), cells, title)
    return text


def _cpu(rows: list[Row], shown: dict[str, str]) -> list[str]:
    spent = {
        when: fmean(float(row["cpu"]) for row in rows if row["commit"] == label)
        for when, label in shown.items()
    }
    each = ", ".join(f"{when} {seconds:.2f} s" for when, seconds in spent.items())
    return ["", f"CPU of a fit, its share of the draw's: {each} in the mean."]


def plan(args: argparse.Namespace) -> Iterable[tuple[object, ...]]:
    """Return label, kind, set, repeat and metric, the first repeats first."""
    if args.quick:
        return product([args.label], [CARD], ["german_credit"], [0], OF_KIND[CARD])
    return (
        (args.label, kind, name, repeat, metric)
        for repeat in range(max(REPEATS.values()))
        for kind in (CARD, LINE)
        for name, metric in product(SETS[kind], OF_KIND[kind])
        if repeat < REPEATS[kind]
    )


RECORD = Record.beside(
    __file__,
    (
        *("commit", "kind", "set", "repeat", "metric", "train", "positives", "test"),
        *("auc_model", "named", "error", "cpu", "chosen"),
    ),
    "commit, kind, set, repeat, metric",
)
STUDY = Study(
    [Part(RECORD, plan, measure, together=4)],
    lines,
    quick="one repeat of the smallest table",
    options={"--label": None, "--minutes": None, "--jobs": None, "--results": None},
)


if __name__ == "__main__":
    STUDY.main(__doc__)
