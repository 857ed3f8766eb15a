"""Calibration of the probabilities, with and without scikit-learn's CalibratedClassifierCV.

``python -m benchmarks.honesty.probabilities`` draws 2,000 rows of five populations, three times,
and measures the log-loss and the calibration error of probabilities on 60,000 new rows: those of
`DirectClassifier` as they are, those of `CalibratedClassifierCV` around it, sigmoid and isotonic,
and those of logistic regression. It writes ``probabilities.csv`` and ``probabilities.md``.

The calibration error is the root of the mean square of what probabilities are off by, in twenty
bins of equal numbers of rows, less what chance alone would show.
"""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.honesty.claims import commit
from benchmarks.honesty.populations import POPULATIONS, draw
from benchmarks.markdown import header, line
from directrix import DirectClassifier
from directrix._typing import AnyArray, FloatArray

N, DRAWS, BINS = 2000, 3, 20
RESULTS = Path(__file__).with_suffix(".csv")


def calibration_error(y: AnyArray, probability: FloatArray) -> float:
    """Return the root mean square calibration error, less what chance alone would show."""
    total = 0.0
    for own in np.array_split(np.argsort(probability), BINS):
        off = y[own].mean() - probability[own].mean()
        total += off**2 - y[own].mean() * (1.0 - y[own].mean()) / (len(own) - 1)
    return float(np.sqrt(max(total / BINS, 0.0)))


def competitors() -> dict[str, Any]:
    """Return what is compared."""
    return {
        "DirectClassifier, error": DirectClassifier("error"),
        "DirectClassifier, recall at FPR 5 %": DirectClassifier("recall@fpr=0.05"),
        "and CalibratedClassifierCV, sigmoid": CalibratedClassifierCV(
            DirectClassifier("error", cv=3), method="sigmoid", cv=3
        ),
        "and CalibratedClassifierCV, isotonic": CalibratedClassifierCV(
            DirectClassifier("error", cv=3), method="isotonic", cv=3
        ),
        "logistic regression": make_pipeline(StandardScaler(), LogisticRegression()),
    }


def main() -> None:
    """Measure, track and report."""
    warnings.simplefilter("ignore")  # where nothing beats logistic regression
    rows = []
    for name in POPULATIONS:
        for seed in range(DRAWS):
            X, y, X_new, y_new = draw(name, N, seed)
            for key, each in competitors().items():
                probability = each.fit(X, y).predict_proba(X_new)[:, 1]
                loss = log_loss(y_new, np.clip(probability, 1e-6, 1 - 1e-6))
                error = calibration_error(y_new, probability)
                rows.append((commit(), name, seed, key, f"{loss:.5f}", f"{error:.5f}"))
            print(name, seed, flush=True)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("commit", "population", "seed", "model", "log-loss", "calibration error"))
        writer.writerows(rows)
    about = (
        f"{N:,} rows, mean of {DRAWS} draws, on new rows (commit {rows[0][0]}): log-loss, and "
        "calibration error."
    )
    text = [
        "# Calibration of probabilities",
        "",
        about,
        "",
        *header("model", *POPULATIONS),
    ]
    for key in competitors():
        cells = []
        for name in POPULATIONS:
            own = [row for row in rows if row[1] == name and row[3] == key]
            loss, error = (np.mean([float(row[k]) for row in own]) for k in (4, 5))
            cells.append(f"{loss:.4f}, {error:.4f}")
        text.append(line(key, *cells))
    RESULTS.with_suffix(".md").write_text("\n".join(text) + "\n", encoding="utf-8")
    print("\n".join(text))


if __name__ == "__main__":
    main()
