"""Models and limits on columns with few distinct values.

``python -m benchmarks.honesty.discrete`` fits our classifiers and logistic regression to 4,000
generated rows of binary, ordinal and one-hot columns and to some columns of a9a, and measures their
accuracy on new rows, in memory and through ``fit_source`` (five draws each). Then it draws 500
samples of five kinds of columns and counts how often a limit that was guaranteed with confidence
0.95 is broken on 60,000 new rows. It writes ``discrete.csv``, ``guarantee.csv`` and
``discrete.md``; draws that are done are not made again.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.data import load
from benchmarks.honesty.claims import commit
from benchmarks.markdown import header, line
from directrix import DirectClassifier, MomentClassifier, SmoothClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import RecallAtFPR

FOLDER = Path(__file__).parent
N, NEW, DRAWS = 4000, 60_000, 5
SAMPLES, SAMPLE_ROWS = 500, 900
LIMIT, CONFIDENCE = 0.2, 0.95
Rows = tuple[FloatArray, AnyArray]


def _levels(n: int, rng: np.random.Generator, share: FloatArray, rate: FloatArray) -> Rows:
    """Return levels of given shares as one-hot columns, and labels of a given rate in each."""
    level = rng.choice(len(share), n, p=share / share.sum())
    return np.eye(len(share))[level], rng.random(n) < rate[level]


def _one_hot(k: int, *, zipf: bool = False) -> Callable[[int, np.random.Generator], Rows]:
    rate = np.random.default_rng(k).beta(0.8, 0.8, k)
    share = 1.0 / np.arange(1, k + 1) if zipf else np.ones(k)
    return lambda n, rng: _levels(n, rng, share, rate)


def _binary(n: int, rng: np.random.Generator) -> Rows:
    x = rng.random(n) < 0.5
    return x[:, None] * 1.0, x ^ (rng.random(n) < 0.1)


def _rare(n: int, rng: np.random.Generator) -> Rows:
    x = rng.random(n) < 0.03
    return x[:, None] * 1.0, np.where(x, rng.random(n) < 0.8, rng.random(n) < 0.1)


def _three(n: int, rng: np.random.Generator) -> Rows:
    x = rng.integers(0, 3, n)
    return x[:, None] * 1.0, rng.random(n) < np.array([0.1, 0.35, 0.85])[x]


COLUMNS: dict[str, Callable[[int, np.random.Generator], Rows]] = {
    "one binary column": _binary,
    "one rare binary column": _rare,
    "three levels": _three,
    "one-hot of 10": _one_hot(10),
    "one-hot of 30": _one_hot(30),
    "one-hot of 100, Zipf": _one_hot(100, zipf=True),
}


def _four_binary(n: int, rng: np.random.Generator) -> Rows:
    y = rng.random(n) < 0.4
    return (rng.random((n, 4)) < 0.3 + 0.3 * y[:, None]) * 1.0, y


def _ordinal(n: int, rng: np.random.Generator) -> Rows:
    y = rng.random(n) < 0.4
    return np.clip(rng.poisson(10 + 5 * y), 0, 29)[:, None] * 1.0, y


def _continuous(n: int, rng: np.random.Generator) -> Rows:
    y = rng.random(n) < 0.4
    return rng.normal(size=(n, 3)) + y[:, None], y


KINDS: dict[str, Callable[[int, np.random.Generator], Rows]] = {
    "one-hot of 12": _one_hot(12),
    "four binary columns": _four_binary,
    "30 ordinal levels": _ordinal,
    "one binary column": _binary,
    "continuous": _continuous,
}


def accuracies(name: str, seed: int) -> dict[str, float]:
    """Return the accuracy on new rows of each classifier, and what DirectClassifier claims."""
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
    found = {key: float((each.predict(X_new) == y_new).mean()) for key, each in fitted.items()}
    found["claimed"] = 1.0 - fitted["Direct"].operating_point_.expected.metric
    limited = DirectClassifier(RecallAtFPR(0.05)).fit(X, y)
    found["FPR at 0.05"] = float(limited.predict(X_new)[~y_new].mean())
    found["claimed FPR"] = limited.operating_point_.expected.fpr
    return found


def breaks(kind: str, seed: int) -> tuple[float, float]:
    """Return the false-positive rate and the recall on new rows of a guaranteed threshold."""
    rng = np.random.default_rng([seed, 7])
    X, y = KINDS[kind](SAMPLE_ROWS, rng)
    X_new, y_new = KINDS[kind](NEW, rng)
    ours = DirectClassifier(RecallAtFPR(LIMIT), guarantee=CONFIDENCE, cv=2).fit(X, y)
    above = ours.predict(X_new)
    return float(above[~y_new].mean()), float(above[y_new].mean())


def main() -> None:
    """Measure what is missing, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # where nothing beats logistic regression
    names = [*COLUMNS, "a9a, columns 0-5", "a9a, columns 49-63"]
    keys = ("logistic", "Direct", "Smooth", "Moment", "Direct, two passes", "claimed")
    keys += ("FPR at 0.05", "claimed FPR")
    with _Appended(FOLDER / "discrete.csv", ("commit", "columns", "seed", *keys)) as (done, add):
        for seed in range(DRAWS):
            for name in names:
                if (name, str(seed)) in done or (name.startswith("a9a") and seed):
                    continue
                found = accuracies(name, seed)
                add((commit(), name, seed, *(f"{found[key]:.4f}" for key in keys)))
    columns = ("commit", "columns", "seed", "FPR", "recall")
    with _Appended(FOLDER / "guarantee.csv", columns) as (done, add):
        for seed in range(options.samples):
            for kind in KINDS:
                if (kind, str(seed)) not in done:
                    rates = breaks(kind, seed)
                    add((commit(), kind, seed, *(f"{rate:.5f}" for rate in rates)))
    report()


def report() -> None:
    """Write the tables of what was measured."""
    rows = _read(FOLDER / "discrete.csv")
    keys = [key for key in rows[0] if key not in ("commit", "columns", "seed")]
    lines = []
    for name in dict.fromkeys(row["columns"] for row in rows):
        own = [row for row in rows if row["columns"] == name]
        lines.append([name, *(f"{np.mean([float(row[key]) for row in own]):.3f}" for key in keys)])
    drawn = _read(FOLDER / "guarantee.csv")
    broken = []
    for kind in KINDS:
        rates = np.array([float(row["FPR"]) for row in drawn if row["columns"] == kind])
        recall = np.mean([float(row["recall"]) for row in drawn if row["columns"] == kind])
        share = (rates > LIMIT).mean()
        allowed = 1 - CONFIDENCE + 2 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / len(rates))
        figures = (f"{figure:.3f}" for figure in (share, allowed, rates.mean(), recall))
        broken.append([kind, str(len(rates)), *figures])
    about = (
        f"Measured on commit {rows[-1]['commit']} (`python -m benchmarks.honesty.discrete`). "
        f"Accuracy on new rows of classifiers of {N:,} rows, mean of {DRAWS} draws (of a9a: its "
        "own test part); then what DirectClassifier claims, and its false-positive rate where "
        "0.05 is the limit."
    )
    about_limits = (
        f"A limit of {LIMIT:g} on the false-positive rate, guaranteed with confidence "
        f"{CONFIDENCE:g}: how often it is broken, and how often it may be (two binomial errors)."
    )
    text = [
        "# Columns with few distinct values",
        "",
        about,
        "",
        *header("columns", *keys),
        *(line(*cells) for cells in lines),
        "",
        about_limits,
        "",
        *header("columns", "draws", "broken", "may be", "mean FPR", "mean recall"),
        *(line(*cells) for cells in broken),
    ]
    (FOLDER / "discrete.md").write_text("\n".join(text) + "\n", encoding="utf-8")
    print("\n".join(text))


class _Appended:
    """Open a CSV file to add rows, knowing which are there."""

    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        self.path, self.columns = path, columns

    def __enter__(self) -> tuple[set[tuple[str, str]], Callable[[tuple[Any, ...]], None]]:
        done = {(row["columns"], row["seed"]) for row in _read(self.path)}
        new = not self.path.exists()
        self._file = self.path.open("a", newline="", encoding="utf-8")
        writer = csv.writer(self._file, lineterminator="\n")
        if new:
            writer.writerow(self.columns)

        def add(row: tuple[Any, ...]) -> None:
            writer.writerow(row)
            self._file.flush()

        return done, add

    def __exit__(self, *_: object) -> None:
        self._file.close()


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    main()
