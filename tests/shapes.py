"""Tables of many shapes: what three classifiers promise there, and what new rows show.

    python -m tests.shapes              # all cells and draws, a few CPU hours; resumable
    python -m tests.shapes --table      # print the table of what is recorded

A cell is a value of each of eight factors: columns, missing values, kinds of columns, rows, labels,
weights, copies and the classifier. The cells are a covering design: every two values of two factors
meet, and nearly every three of three. A draw is noise of 400 rows. Each result is a row of
``tests/shapes.csv``, and those of this commit are not made again.
"""

import argparse
import csv
import subprocess
import sys
import time
import warnings
from collections import Counter
from dataclasses import astuple, dataclass, fields
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from directrix import DirectClassifier, OperatingPointClassifier, ScorecardClassifier
from directrix.exceptions import NotBetterThanBaselineWarning, ShortCardWarning

N_NEW_ROWS, N_INFORMATIVE, POSITIVES = 20_000, 10, 0.3
#: How far behind logistic regression a classifier may be without a word, in the area.
BEHIND = 0.02
LIMIT, GUARANTEE = 0.1, 0.95
#: Warnings that a model is worse than another one.
IS_WORSE = ShortCardWarning, NotBetterThanBaselineWarning
RECORD = Path(__file__).with_suffix(".csv")


@dataclass(frozen=True)
class Cell:
    columns: int = 10
    missing: float = 0.0
    kinds: str = "numbers"
    rows: int = 400
    labels: str = "noise"
    weights: str = "none"
    copies: bool = False
    classifier: str = "card"


FACTORS = {
    "columns": (1, 10, 60, 100, 150, 300),
    "missing": (0.0, 0.05, 0.3),
    "kinds": ("numbers", "texts", "both"),
    "rows": (400, 3_000),
    "labels": ("signal", "noise", "permuted"),
    "weights": ("none", "whole", "heavy", "whole + 1e-9"),
    "copies": (False, True),
    "classifier": ("card", "line", "any model"),
}


def covering_design(n_cells):
    """Choose cells one by one, each with the most triples of values that few earlier cells have."""
    cells = list(product(*FACTORS.values()))
    indices = np.array(list(product(*(range(len(values)) for values in FACTORS.values()))))
    triples = [
        np.unique(indices[:, list(three)], axis=0, return_inverse=True)[1].ravel()
        for three in combinations(range(len(FACTORS)), 3)
    ]
    starts = np.cumsum([0, *(each.max() + 1 for each in triples)])
    triples = np.stack(triples, axis=1) + starts[:-1]
    worth = np.ones(starts[-1])
    tie = 1e-9 * np.random.default_rng(0).random(len(cells))
    chosen = []
    for _ in range(n_cells):
        best = int(np.argmax(worth[triples].sum(axis=1) + tie))
        worth[triples[best]] *= 1e-2
        tie[best] = -np.inf
        chosen.append(Cell(*cells[best]))
    return chosen


CELLS = covering_design(120)
#: Shapes of the noise that is drawn several times.
DRAWS = [
    Cell(columns, missing, kinds, weights=weights, copies=copies, classifier=classifier)
    for classifier, weights, copies, (columns, missing, kinds) in product(
        FACTORS["classifier"],
        FACTORS["weights"][:3],
        FACTORS["copies"],
        [(3, 0.0, "numbers"), (10, 0.05, "both")],
    )
]
N_REPEATS = 7


# ── tables ────────────────────────────────────────────────────────────────────────────────────────


def table(cell, n, rng):
    """Return columns without missing values, and their effect on the log-odds of the label."""
    effects = np.linspace(0.8, 0.25, N_INFORMATIVE) * (-1.0) ** np.arange(N_INFORMATIVE)
    columns, effect = {}, np.zeros(n)
    for k in range(cell.columns):
        is_text = cell.kinds == "texts" or (cell.kinds == "both" and k % 2 == 1)
        if is_text:
            n_levels = (3, 5, 8, 40)[k % 4]
            level = rng.integers(0, n_levels, n)
            values = np.array([f"level {i}" for i in range(n_levels)], dtype=object)[level]
            shown = np.random.default_rng(k).normal(size=n_levels)[level]
        else:
            shown = rng.normal(size=n)
            values = (shown, np.exp(2.0 * shown), np.round(2.0 * shown))[k % 3]
        columns[f"x{k}"] = values
        if k < N_INFORMATIVE:
            effect += (2.0 if cell.columns == 1 else effects[k]) * shown
    return pd.DataFrame(columns), effect


def labelled(cell, n, rng):
    X, effect = table(cell, n, rng)
    y = effect - 0.8 + rng.logistic(size=n) > 0
    if cell.labels == "noise":
        y = rng.random(n) < POSITIVES
    elif cell.labels == "permuted":
        y = rng.permutation(y)
    return X.mask(rng.random(X.shape) < cell.missing), y


def training_rows(cell, rng):
    """Return rows, labels, and weights and groups as options of `fit`."""
    X, y = labelled(cell, cell.rows, rng)
    options = {}
    if cell.copies:  # rare rows were copied to have more of them
        index = np.repeat(np.arange(cell.rows), rng.poisson(0.5 + 1.5 * y) + 1)
        index = rng.permutation(rng.permutation(index)[: cell.rows])
        X, y = X.iloc[index].reset_index(drop=True), y[index]
        options["groups"] = index
    if cell.weights == "heavy":
        options["sample_weight"] = rng.lognormal(0.0, 1.5, cell.rows)
    elif cell.weights != "none":
        options["sample_weight"] = rng.integers(1, 10, cell.rows).astype(float)
    return X, y, options


# ── classifiers ───────────────────────────────────────────────────────────────────────────────────


def preparation(cell):
    """Return steps that make numbers of all cells of a table."""
    numbers = make_pipeline(SimpleImputer(add_indicator=cell.missing > 0), StandardScaler())
    texts = OneHotEncoder(max_categories=12, handle_unknown="infrequent_if_exist")
    is_number = make_column_selector(dtype_include=np.number)
    is_text = make_column_selector(dtype_exclude=np.number)
    steps = make_column_transformer((numbers, is_number), (texts, is_text), sparse_threshold=0)
    # Lines have columns of unit variance, so that logistic regression beside them has them too.
    return make_pipeline(steps, StandardScaler()) if cell.classifier == "line" else steps


def logistic(cell):
    return make_pipeline(preparation(cell), LogisticRegression(max_iter=1_000))


class Prepared:
    """A classifier of tables that are prepared for it."""

    def __init__(self, cell, classifier):
        self.steps, self.classifier = preparation(cell), classifier

    def fit(self, X, y, **options):
        self.classifier.fit(self.steps.fit_transform(X), y, **options)
        return self

    def predict(self, X):
        return self.classifier.predict(self.steps.transform(X))

    def decision_function(self, X):
        return self.classifier.decision_function(self.steps.transform(X))

    def __getattr__(self, name):
        return getattr(self.classifier, name)


def classifier(cell, **options):
    if cell.classifier == "card":
        return ScorecardClassifier("auc", **options)
    if cell.classifier == "line":
        return Prepared(cell, DirectClassifier("auc", **options))
    return OperatingPointClassifier(logistic(cell), "auc", **options)


# ── results ───────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Result:
    """What a classifier says of itself, and what new rows show.

    Attributes
    ----------
    auc, logistic : float
        Areas on new rows of the classifier and of logistic regression.
    warned : bool
        Whether the fit warned that the model is worse than another one.
    covered : str
        A letter for each interval that contains what new rows show: m for the metric, t and f for
        the rates, and u, v for those of the rates with a guarantee.
    false_alarms : float
        False-positive rate on new rows of the threshold with a guarantee; NaN if there is none.
    raised : str
        The error of the fit with a guarantee.
    seconds : float
        CPU time of the fit.
    faults : str
        What is wrong: "second fit", "failed fit", "weights" or "report".
    """

    auc: float
    logistic: float
    warned: bool
    covered: str
    false_alarms: float
    raised: str
    seconds: float
    faults: str

    @property
    def is_behind(self):
        return self.auc < self.logistic - BEHIND

    @property
    def is_broken(self):
        return self.false_alarms > LIMIT


def result(cell, seed):
    rng = np.random.default_rng([seed, 2026])
    X, y, options = training_rows(cell, rng)
    X_new, y_new = labelled(cell, N_NEW_ROWS, rng)
    began = time.process_time()
    model, caught = fitted(classifier(cell), X, y, options)
    seconds = time.process_time() - began
    scores = model.decision_function(X_new)
    rival, _ = fitted(logistic(cell), X, y, as_steps(options))
    covered = contained(model, X_new, y_new, scores, "mtf")
    false_alarms, raised = np.nan, ""
    try:
        kept, _ = fitted(
            classifier(cell, limits={"fpr": LIMIT}, guarantee=GUARANTEE), X, y, options
        )
    except Exception as error:  # noqa: BLE001 - errors of any class are counted
        raised = type(error).__name__
    else:
        kept_scores = kept.decision_function(X_new)
        false_alarms = (kept_scores[~y_new] > 0).mean()
        covered += contained(kept, X_new, y_new, kept_scores, "-uv")
    return Result(
        roc_auc_score(y_new, scores),
        roc_auc_score(y_new, rival.decision_function(X_new)),
        any(issubclass(each.category, IS_WORSE) for each in caught),
        covered,
        false_alarms,
        raised,
        seconds,
        " and ".join(faults(cell, model, scores, (X, y, options), X_new)),
    )


def fitted(model, X, y, options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y, **options)
    return model, caught


def as_steps(options):
    """Return the weights as scikit-learn's pipelines take them."""
    weights = options.get("sample_weight")
    return {} if weights is None else {"logisticregression__sample_weight": weights}


def contained(model, X_new, y_new, scores, letters):
    flagged = model.predict(X_new) == model.positive_
    shown = roc_auc_score(y_new, scores), flagged[y_new].mean(), flagged[~y_new].mean()
    intervals = model.operating_point_.intervals
    of_shown = intervals.metric, intervals.tpr, intervals.fpr
    return "".join(
        letter
        for letter, (low, high), value in zip(letters, of_shown, shown, strict=True)
        if low <= value <= high and letter != "-"
    )


def faults(cell, model, scores, rows, X_new):
    X, y, options = rows
    point = model.operating_point_
    try:
        model.fit(X, np.ones(len(y), dtype=bool), **options)
        yield "failed fit"
    except ValueError:
        if model.operating_point_ is not point or (model.decision_function(X_new) != scores).any():
            yield "failed fit"
    if said_is_wrong(model):
        yield "report"
    again = options
    if cell.weights == "whole + 1e-9":
        again = options | {"sample_weight": options["sample_weight"] + 1e-9}
    fitted(model, X, y, again)
    if again is options and (model.decision_function(X_new) != scores).any():
        yield "second fit"
    low, high = point.intervals.metric  # candidates that are equal may be chosen by the last digit
    if abs(model.operating_point_.expected.metric - point.expected.metric) > 0.1 * (high - low):
        yield "weights"


def said_is_wrong(model):
    """Return whether a report says something of another model than the one that was fitted."""
    report, point = model.report_, model.operating_point_
    if report is None:
        return False
    size = getattr(report, "size", None)
    if size is not None and size.lines != model.card_.n_lines:
        return True
    return f"{point.expected.metric:.4f}" not in report.summary()


# ── the record and its table ──────────────────────────────────────────────────────────────────────

PARTS = {"cells": [(cell, 0) for cell in CELLS]}
PARTS["draws"] = [(cell, seed) for seed in range(1, 1 + N_REPEATS) for cell in DRAWS]
HEAD = ["commit", "seed", *(field.name for field in (*fields(Cell), *fields(Result)))]


def commit():
    command = ["git", "-C", str(RECORD.parent), "rev-parse", "--short=8", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def recorded(path, of_commit):
    """Return the results of a commit, by cell and seed."""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in list(csv.reader(file))[1:] if row[0] == of_commit]
    n = len(fields(Cell)) + 2
    return {(of_texts(Cell, row[2:n]), int(row[1])): of_texts(Result, row[n:]) for row in rows}


def of_texts(kind, texts):
    makes = (field.type for field in fields(kind))
    return kind(
        *(t == "True" if make is bool else make(t) for make, t in zip(makes, texts, strict=True))
    )


def record(path, of_commit, part, n_seconds=np.inf):
    """Add the results of a part that are not recorded, until the time is up."""
    known, began = recorded(path, of_commit), time.monotonic()
    if not known:
        path.write_text(",".join(HEAD) + "\n", encoding="utf-8")
    for cell, seed in PARTS[part]:
        if (cell, seed) not in known and time.monotonic() - began < n_seconds:
            row = of_commit, seed, *astuple(cell), *astuple(result(cell, seed))
            with path.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(row)


def said(results):
    """Return lines on results by cell and seed: of each classifier, and of all."""
    for name in (*FACTORS["classifier"], "all"):
        some = [(c, r) for (c, _), r in results.items() if name in (c.classifier, "all")]
        signal = [r for c, r in some if c.labels == "signal"]
        gains = [r.auc - r.logistic for r in signal]
        yield f"{name}: {len(some)} fits, {sum(r.seconds for _, r in some):.0f} CPU s"
        if signal:
            behind = [r for r in signal if r.is_behind]
            yield (
                f"  area less that of logistic regression {min(gains):+.3f} to {max(gains):+.3f}, "
                f"median {np.median(gains):+.3f}; {len(behind)} of {len(signal)} are behind by "
                f"{BEHIND}, {sum(not r.warned for r in behind)} of these silent; "
                f"{sum(r.warned for r in signal)} warn"
            )
        missed = (f"{mark} {missing}/{n}" for mark, (missing, n) in outside(some).items())
        yield f"  new rows outside of the 95 % interval: {', '.join(missed)}"
        kept = [r for _, r in some if not r.raised]
        raised = dict(Counter(r.raised for _, r in some if r.raised))
        n_broken = sum(r.is_broken for r in kept)
        yield f"  guarantee broken in {n_broken} of {len(kept)}; raised {raised or 'none'}"
        yield f"  other faults: {dict(Counter(r.faults for _, r in some if r.faults))}"


def outside(some):
    """Return, for each interval, how many results are outside of it, and how many there are."""
    kept = [r for _, r in some if not r.raised]
    every = [r for _, r in some]
    marks = {"m": every, "t": every, "f": every, "u": kept, "v": kept}
    return {
        mark: (sum(mark not in r.covered for r in rows), len(rows)) for mark, rows in marks.items()
    }


def broken_laws(results, alpha=1e-3):
    """Return what results by cell and seed break, more than honest claims would by chance."""
    for (cell, seed), r in results.items():
        if r.faults:
            yield f"{r.faults}: {cell}, {seed}"
        if cell.labels == "signal" and r.is_behind and not r.warned:
            yield f"area {r.auc:.3f}, {r.logistic:.3f} by logistic regression: {cell}, {seed}"
    signal = [r for (cell, _), r in results.items() if cell.labels == "signal"]
    excused = sum(r.is_behind and r.warned for r in signal)
    if excused > stats.binom.isf(alpha, len(signal), 0.05):
        yield f"{excused} of {len(signal)} cells with signal are behind, and warn"
    noise = [(cell, r) for (cell, _), r in results.items() if cell.labels != "signal"]
    for mark, (missing, n) in outside(noise).items():
        if missing > stats.binom.isf(alpha, n, 0.08):
            yield f"{missing} of {n} are outside of the interval {mark!r}"
    kept = [r for _, r in noise if not r.raised]
    broken = sum(r.is_broken for r in kept)
    if broken > stats.binom.isf(alpha, len(kept), 0.05):
        yield f"{broken} of {len(kept)} guarantees are broken"
    if len(kept) < 0.9 * len(noise):
        yield f"{len(noise) - len(kept)} of {len(noise)} fits with a guarantee raise"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="print what is recorded, and end")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part")
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--commit", default=commit())
    parser.add_argument("--seconds", type=float, default=np.inf)
    options = parser.parse_args()
    for part in options.part or PARTS:
        if not options.table:
            record(options.record, options.commit, part, options.seconds)
        known = recorded(options.record, options.commit)
        results = {key: known[key] for key in PARTS[part] if key in known}
        lines = [part, *said(results), *map("BROKEN: {}".format, broken_laws(results))]
        sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
