"""Models and limits on columns with few distinct values.

``python -m benchmarks.studies.new_rows.discrete_columns`` fits our classifiers and logistic
regression to 4,000 generated rows of binary, ordinal and one-hot columns and to some columns of
a9a, and measures their accuracy on new rows, in memory and through ``fit_source`` (five draws
each). Then it draws 500 samples of five kinds of columns and counts how often a limit that was
guaranteed with confidence 0.95 is broken on 60,000 new rows. It writes ``discrete_columns.csv``,
``discrete_columns_guarantee.csv`` and ``discrete_columns.md``; draws that are done are not made
again. ``--report`` measures nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.harness.data import load
from benchmarks.harness.markdown import header, line, write_report
from benchmarks.harness.record import Record, commit
from benchmarks.harness.runner import measure_missing, option_parser
from directrix import DirectClassifier, MomentClassifier, SmoothClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import RecallAtFPR

REPORT = Path(__file__).with_suffix(".md")
_MEASURES = ("logistic", "Direct", "Smooth", "Moment", "Direct, two passes", "claimed")
_MEASURES += ("FPR at 0.05", "claimed FPR")
_KEY = ("seed", "columns")
ACCURACIES = Record(REPORT.with_suffix(".csv"), ("commit", "columns", "seed", *_MEASURES), _KEY)
LIMITS = Record(
    REPORT.with_name("discrete_columns_guarantee.csv"),
    ("commit", "columns", "seed", "FPR", "recall"),
    _KEY,
)
N, NEW, DRAWS = 4000, 60_000, 5
SAMPLES, SAMPLE_ROWS = 500, 900
LIMIT, CONFIDENCE = 0.2, 0.95
Sample = tuple[FloatArray, AnyArray]
Sampler = Callable[[int, np.random.Generator], Sample]


def _levels(n: int, rng: np.random.Generator, share: FloatArray, rate: FloatArray) -> Sample:
    """Return levels of given shares as one-hot columns, and labels of a given rate in each."""
    level = rng.choice(len(share), n, p=share / share.sum())
    return np.eye(len(share))[level], rng.random(n) < rate[level]


def _one_hot(k: int, *, zipf: bool = False) -> Sampler:
    rate = np.random.default_rng(k).beta(0.8, 0.8, k)
    share = 1.0 / np.arange(1, k + 1) if zipf else np.ones(k)
    return lambda n, rng: _levels(n, rng, share, rate)


def _binary(n: int, rng: np.random.Generator) -> Sample:
    x = rng.random(n) < 0.5
    return x[:, None] * 1.0, x ^ (rng.random(n) < 0.1)


def _rare(n: int, rng: np.random.Generator) -> Sample:
    x = rng.random(n) < 0.03
    return x[:, None] * 1.0, np.where(x, rng.random(n) < 0.8, rng.random(n) < 0.1)


def _three(n: int, rng: np.random.Generator) -> Sample:
    x = rng.integers(0, 3, n)
    return x[:, None] * 1.0, rng.random(n) < np.array([0.1, 0.35, 0.85])[x]


COLUMNS: dict[str, Sampler] = {
    "one binary column": _binary,
    "one rare binary column": _rare,
    "three levels": _three,
    "one-hot of 10": _one_hot(10),
    "one-hot of 30": _one_hot(30),
    "one-hot of 100, Zipf": _one_hot(100, zipf=True),
}


def _four_binary(n: int, rng: np.random.Generator) -> Sample:
    y = rng.random(n) < 0.4
    return (rng.random((n, 4)) < 0.3 + 0.3 * y[:, None]) * 1.0, y


def _ordinal(n: int, rng: np.random.Generator) -> Sample:
    y = rng.random(n) < 0.4
    return np.clip(rng.poisson(10 + 5 * y), 0, 29)[:, None] * 1.0, y


def _continuous(n: int, rng: np.random.Generator) -> Sample:
    y = rng.random(n) < 0.4
    return rng.normal(size=(n, 3)) + y[:, None], y


GUARANTEED: dict[str, Sampler] = {
    "one-hot of 12": _one_hot(12),
    "four binary columns": _four_binary,
    "30 ordinal levels": _ordinal,
    "one binary column": _binary,
    "continuous": _continuous,
}


def accuracies(seed: int, name: str) -> list[tuple[object, ...]]:
    """Return a row: accuracy of each classifier on new rows, and what DirectClassifier claims."""
    rng = np.random.default_rng(seed)
    if name.startswith("a9a"):
        first, last = map(int, name.rsplit(maxsplit=1)[-1].split("-"))
        columns = slice(first, last + 1)
        (X, y), (X_new, y_new) = load("a9a"), load("a9a", "test")
        X, X_new = X[:, columns], X_new[:, columns]
    else:
        X, y = COLUMNS[name](N, rng)
        X_new, y_new = COLUMNS[name](NEW, rng)
    fitted: dict[str, Any] = {
        "logistic": LogisticRegression().fit(X, y),
        "Direct": DirectClassifier().fit(X, y),
        "Smooth": SmoothClassifier().fit(X, y),
        "Moment": MomentClassifier().fit(X, y),
        "Direct, two passes": DirectClassifier().fit_source(X, target=y, progress=False),
    }
    values = [float((model.predict(X_new) == y_new).mean()) for model in fitted.values()]
    values.append(1.0 - fitted["Direct"].operating_point_.expected.metric)
    limited = DirectClassifier(RecallAtFPR(0.05)).fit(X, y)
    values.append(float(limited.predict(X_new)[~y_new].mean()))
    values.append(limited.operating_point_.expected.fpr)
    return [(commit(), name, seed, *(f"{value:.4f}" for value in values))]


def rates(seed: int, name: str) -> list[tuple[object, ...]]:
    """Return a row: false-positive rate and recall of a guaranteed threshold on new rows."""
    rng = np.random.default_rng([seed, 7])
    X, y = GUARANTEED[name](SAMPLE_ROWS, rng)
    X_new, y_new = GUARANTEED[name](NEW, rng)
    ours = DirectClassifier(RecallAtFPR(LIMIT), guarantee=CONFIDENCE, cv=2).fit(X, y)
    above = ours.predict(X_new)
    fpr, recall = above[~y_new].mean(), above[y_new].mean()
    return [(commit(), name, seed, f"{fpr:.5f}", f"{recall:.5f}")]


def planned() -> Iterator[tuple[int, str]]:
    """Yield seed and columns of each fit; a9a is not drawn, so once."""
    for seed, name in product(range(DRAWS), (*COLUMNS, "a9a, columns 0-5", "a9a, columns 49-63")):
        if not (name.startswith("a9a") and seed):
            yield seed, name


def lines() -> list[str]:
    """Return the tables of what was measured."""
    rows = ACCURACIES.rows()
    means = []
    for name in dict.fromkeys(row["columns"] for row in rows):
        draws = [row for row in rows if row["columns"] == name]
        cells = (f"{np.mean([float(row[key]) for row in draws]):.3f}" for key in _MEASURES)
        means.append(line(name, *cells))
    samples = LIMITS.rows()
    broken = []
    for name in GUARANTEED:
        fpr = np.array([float(row["FPR"]) for row in samples if row["columns"] == name])
        recall = np.mean([float(row["recall"]) for row in samples if row["columns"] == name])
        allowed = 1 - CONFIDENCE + 2 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / len(fpr))
        figures = ((fpr > LIMIT).mean(), allowed, fpr.mean(), recall)
        broken.append(line(name, str(len(fpr)), *(f"{figure:.3f}" for figure in figures)))
    about = (
        f"Measured on commit {rows[-1]['commit']} "
        "(`python -m benchmarks.studies.new_rows.discrete_columns`). "
        f"Accuracy on new rows of classifiers of {N:,} rows, mean of {DRAWS} draws (of a9a: its "
        "own test part); then what DirectClassifier claims, and its false-positive rate where "
        "0.05 is the limit."
    )
    about_limits = (
        f"A limit of {LIMIT:g} on the false-positive rate, guaranteed with confidence "
        f"{CONFIDENCE:g}: how often it is broken, and how often it may be (two binomial errors)."
    )
    return [
        "# Columns with few distinct values",
        "",
        about,
        "",
        *header("columns", *_MEASURES),
        *means,
        "",
        about_limits,
        "",
        *header("columns", "draws", "broken", "may be", "mean FPR", "mean recall"),
        *broken,
    ]


def main() -> None:
    """Measure what is missing, and write the report."""
    parser = option_parser(__doc__)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    args = parser.parse_args()
    if not args.report:
        warnings.simplefilter("ignore")  # where nothing beats logistic regression
        measure_missing(ACCURACIES, planned(), accuracies)
        measure_missing(LIMITS, product(range(args.samples), GUARANTEED), rates)
    write_report(REPORT, lines())


if __name__ == "__main__":
    main()
