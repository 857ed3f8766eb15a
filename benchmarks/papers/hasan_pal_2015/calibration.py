"""Log-loss and calibration on rows held out, with and without noise in the training rows.

``python -m benchmarks.papers.hasan_pal_2015.calibration`` appends one row for each fit to
``calibration.csv``, goes on where an interrupted run stopped, and writes ``calibration.md`` and
``calibration.png``. ``--quick`` measures two small sets, ``--report`` nothing.

Five stratified folds, the same for all; at most 2,000 rows a set, a fixed sample.
Noise as of the tables: none, one label in ten flipped, a tenth more rows far out. Test rows are as
they are, so that under noise a good model is one that is not misled by it.

* logistic: C of {0.01, 0.1, 1, 10, 100} with the least log-loss in three folds of the training
  rows.
* SVM, isotonic: C of the same by error in three folds, then `CalibratedClassifierCV` with isotonic
  regression over five.
* robust, learned, weak: `PlateauClassifier` with these plateaus, tuned.

Log-loss is the mean of minus the log probability of the true class, probabilities within
[1e-6, 1 - 1e-6]: isotonic regression says 0 and 1, which would cost without limit. The calibration
error is the mean over rows of |mean probability - share of positives| of their bin, of ten bins
of equal width; both for each bin are in the file, summed over the folds, for the curves.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.harness import figure
from benchmarks.harness.data import load
from benchmarks.harness.markdown import bold_if, header, line
from benchmarks.harness.record import Record
from benchmarks.harness.runner import Part, Study, quiet
from benchmarks.papers.hasan_pal_2015.models import tuned_plateau
from benchmarks.papers.hasan_pal_2015.noise import NOISES, noisy
from directrix._typing import AnyArray, FloatArray

REPORT = Path(__file__).with_suffix(".md")
FIGURE = Path(__file__).with_suffix(".png")
SETS = (
    *("heart", "breast", "sonar", "liver-disorders", "diabetes", "german", "oil_spill"),
    *("fourclass", "svmguide1", "mammography", "magic04", "htru2"),
)
REPEATS, FOLDS, BINS = 1, 5, 10
QUICK_SETS = ("heart", "diabetes")
_MOST_ROWS, _CLIP = 2000, 1e-6
_PENALTIES = {"C": (0.01, 0.1, 1.0, 10.0, 100.0)}


def _tuned(model: Any, scoring: str) -> Any:
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    return GridSearchCV(model, _PENALTIES, cv=folds, scoring=scoring)


_SVM = _tuned(LinearSVC(dual="auto"), "accuracy")
METHODS: dict[str, Any] = {
    "logistic": make_pipeline(
        StandardScaler(), _tuned(LogisticRegression(solver="newton-cholesky"), "neg_log_loss")
    ),
    "SVM, isotonic": make_pipeline(StandardScaler(), CalibratedClassifierCV(_SVM, cv=5)).set_params(
        calibratedclassifiercv__method="isotonic"
    ),
    "weak": tuned_plateau("weak"),
    "learned": tuned_plateau("learned"),
    "robust": tuned_plateau(),
}


class Key(NamedTuple):
    """The task of a row of the file."""

    name: str
    noise: str
    method: str
    repeat: int


class Judged(NamedTuple):
    """Quality of the probabilities of all rows of a set, each from the fold that held it out.

    ``rows``, ``probability``, ``positives``: of each bin: rows, and sums of their probabilities and
    labels.
    """

    log_loss: float
    brier: float
    rows: FloatArray
    probability: FloatArray
    positives: FloatArray

    @classmethod
    def of(cls, probability: FloatArray, positive: AnyArray) -> Judged:
        """Judge probabilities by what the rows are."""
        bins = np.minimum((probability * BINS).astype(int), BINS - 1)
        of_truth = np.where(positive, probability, 1.0 - probability)
        sums = (
            np.bincount(bins, weights=weight, minlength=BINS).astype(float)
            for weight in (np.ones(len(bins)), probability, positive.astype(float))
        )
        log_loss = -np.log(np.clip(of_truth, _CLIP, 1.0 - _CLIP)).mean()
        return cls(float(log_loss), float(np.mean((probability - positive) ** 2)), *sums)

    @property
    def error(self) -> float:
        """The calibration error."""
        return float(np.abs(self.probability - self.positives).sum() / self.rows.sum())

    def cells(self) -> tuple[str, ...]:
        """Return a row of the file."""
        bins = (" ".join(f"{value:.6g}" for value in sums) for sums in self[2:])
        return f"{self.log_loss:.6f}", f"{self.brier:.6f}", *bins


def measured(key: Key) -> Judged:
    """Fit a method to each fold's training rows, and judge all probabilities together."""
    X, y = _rows_of(key.name)
    probability = np.zeros(len(y))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=key.repeat)
    for fold, (train, test) in enumerate(folds.split(X, y)):
        rng = np.random.default_rng((key.repeat, fold))
        rows = noisy(X[train], y[train], key.noise, rng)
        with quiet():
            fitted = clone(METHODS[key.method]).fit(*rows)
        probability[test] = fitted.predict_proba(X[test])[:, 1]
    return Judged.of(probability, y)


def _rows_of(name: str) -> tuple[FloatArray, AnyArray]:
    X, y = load(name)
    if len(y) > _MOST_ROWS:
        sample = np.sort(np.random.default_rng(0).choice(len(y), _MOST_ROWS, replace=False))
        X, y = X[sample], y[sample]
    return X, y


RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    ("set", *Key._fields[1:], *Judged._fields),
    ("set", *Key._fields[1:]),
)


def read() -> dict[Key, Judged]:
    """Return all that was measured."""
    return {
        Key(row["set"], row["noise"], row["method"], int(row["repeat"])): Judged(
            float(row["log_loss"]),
            float(row["brier"]),
            *(np.array(row[part].split(), float) for part in Judged._fields[2:]),
        )
        for row in RECORD.rows()
    }


def _rows(*key: Any) -> list[tuple[object, ...]]:
    return [(*key, *measured(Key(*key)).cells())]


# ── report ────────────────────────────────────────────────────────────────────────────────────────

RIVALS = ("logistic", "SVM, isotonic")
OURS = tuple(method for method in METHODS if method not in RIVALS)
#: Differences of log-loss below this are a tie.
_TIE = 0.005
_NOISES = {"none": "no noise", "flipped": "10 % of labels flipped", "outliers": "10 % far outliers"}
_COLOURS = (figure.BLACK, figure.ORANGE, figure.SKY_BLUE, figure.GREEN, figure.VERMILION)
_MARKERS = "osv^D"


def _of(results: dict[Key, Judged], name: str, noise: str, method: str) -> list[Judged]:
    keys = [Key(name, noise, method, repeat) for repeat in range(REPEATS)]
    return [results[key] for key in keys if key in results]


def lines(results: dict[Key, Judged]) -> list[str]:
    """Return the report."""
    text = [
        "# Log-loss and calibration on rows held out",
        "",
        "Five folds together. How: see `calibration.py`. The least of a row in bold.",
    ]
    totals = []
    for noise in NOISES:
        sets = [s for s in SETS if all(_of(results, s, noise, m) for m in METHODS)]
        if not sets:
            continue
        for what, of in (("log-loss", "log_loss"), ("calibration error", "error")):
            table = np.array(
                [
                    [
                        np.mean([getattr(judged, of) for judged in _of(results, name, noise, m)])
                        for m in METHODS
                    ]
                    for name in sets
                ]
            )
            text += ["", f"## {what.capitalize()}, {_NOISES[noise]}", ""]
            text += header("set", *METHODS)
            for name, row in zip(sets, table, strict=True):
                cells = (bold_if(f"{value:.4f}", value == row.min()) for value in row)
                text.append(line(name, *cells))
            text.append(line("mean", *(f"{value:.4f}" for value in table.mean(axis=0))))
            if of == "log_loss":
                totals += [
                    (_NOISES[noise], ours, rival, *_counts(table, ours, rival))
                    for ours in OURS
                    for rival in RIVALS
                ]
    text += ["", f"## Log-loss: wins, ties (within {_TIE}) and losses over the sets", ""]
    text += header("training rows", "ours", "against", "wins", "ties", "losses")
    text += [line(*row) for row in totals]
    return text


def _counts(table: np.ndarray, ours: str, rival: str) -> tuple[str, str, str]:
    order = list(METHODS)
    gap = table[:, order.index(rival)] - table[:, order.index(ours)]
    counts = (gap > _TIE).sum(), (abs(gap) <= _TIE).sum(), (gap < -_TIE).sum()
    return str(counts[0]), str(counts[1]), str(counts[2])


def _draw(results: dict[Key, Judged]) -> None:
    drawn = figure.new_figure(11, 4.2, layout=None)
    panels = drawn.subplots(1, len(NOISES), sharey=True)
    for panel, noise in zip(panels, NOISES, strict=True):
        panel.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for method, colour, marker in zip(METHODS, _COLOURS, _MARKERS, strict=True):
            sets = [judged for key, judged in results.items() if key[1:3] == (noise, method)]
            if not sets:
                continue
            # Each set counts alike, however many rows it has.
            weight = [1.0 / judged.rows.sum() for judged in sets]
            rows, probability, positives = (
                sum(w * getattr(judged, part) for w, judged in zip(weight, sets, strict=True))
                for part in Judged._fields[2:]
            )
            filled = rows > 0
            panel.plot(
                probability[filled] / rows[filled],
                positives[filled] / rows[filled],
                color=colour,
                marker=marker,
                markersize=5,
                label=method,
            )
        panel.set_title(_NOISES[noise])
        panel.set_xlabel("mean probability of a bin")
        panel.set_aspect("equal")
    panels[0].set_ylabel("share of positives in it")
    panels[0].legend(frameon=False, fontsize=9)
    drawn.tight_layout()
    drawn.savefig(FIGURE, dpi=110)


def planned(args: argparse.Namespace) -> Iterable[tuple[object, ...]]:
    """Return set, noise, method and repeat."""
    return product(QUICK_SETS if args.quick else SETS, NOISES, METHODS, range(REPEATS))


STUDY = Study(
    [Part(RECORD, planned, _rows)],
    lambda _: lines(read()),
    quick="two small sets",
    options={"--jobs": None},
    draw=lambda: _draw(read()),
)

if __name__ == "__main__":
    STUDY.main(__doc__)
