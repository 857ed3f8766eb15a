"""Calibration of the probabilities, with and without scikit-learn's CalibratedClassifierCV.

``python -m benchmarks.studies.new_rows.probabilities`` draws 2,000 rows of five populations, three
times, and measures the log-loss and the calibration error of probabilities on 60,000 new rows:
those of `DirectClassifier` as they are, those of `CalibratedClassifierCV` around it, sigmoid and
isotonic, and those of logistic regression. It writes ``probabilities.csv`` and
``probabilities.md``.

The calibration error is the root of the mean square of what probabilities are off by, in twenty
bins of equal numbers of rows, less what chance alone would show.
"""

from __future__ import annotations

import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.markdown import header, line, write_report
from benchmarks.harness.record import Record, Row, commit
from benchmarks.harness.runner import measure_missing, option_parser
from benchmarks.studies.new_rows.populations import POPULATIONS, draw
from directrix import DirectClassifier
from directrix._typing import AnyArray, FloatArray

N, DRAWS, BINS = 2000, 3, 20
REPORT = Path(__file__).with_suffix(".md")
RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    ("commit", "population", "seed", "model", "log-loss", "calibration error"),
    ("population", "seed"),
)


def calibration_error(y: AnyArray, probability: FloatArray) -> float:
    """Return the root mean square calibration error, less what chance alone would show."""
    total = 0.0
    for rows in np.array_split(np.argsort(probability), BINS):
        rate = y[rows].mean()
        total += (rate - probability[rows].mean()) ** 2 - rate * (1.0 - rate) / (len(rows) - 1)
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


def measured(name: str, seed: int) -> list[tuple[object, ...]]:
    """Return a row for each model of a draw."""
    X, y, X_new, y_new = draw(name, N, seed)
    rows = []
    for key, model in competitors().items():
        probability = model.fit(X, y).predict_proba(X_new)[:, 1]
        loss = log_loss(y_new, np.clip(probability, 1e-6, 1 - 1e-6))
        error = calibration_error(y_new, probability)
        rows.append((commit(), name, seed, key, f"{loss:.5f}", f"{error:.5f}"))
    return rows


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        f"{N:,} rows, mean of {DRAWS} draws, on new rows (commit {rows[0]['commit']}): log-loss, "
        "and calibration error."
    )
    text = ["# Calibration of probabilities", "", about, "", *header("model", *POPULATIONS)]
    for key in competitors():
        cells = []
        for name in POPULATIONS:
            draws = [row for row in rows if (row["population"], row["model"]) == (name, key)]
            loss, error = (
                np.mean([float(row[column]) for row in draws]) for column in RECORD.columns[4:]
            )
            cells.append(f"{loss:.4f}, {error:.4f}")
        text.append(line(key, *cells))
    return text


def main() -> None:
    """Measure what is missing, and report."""
    if not option_parser(__doc__).parse_args().report:
        warnings.simplefilter("ignore")  # where nothing beats logistic regression
        measure_missing(RECORD, product(POPULATIONS, range(DRAWS)), measured)
    write_report(REPORT, lines(RECORD.rows()))


if __name__ == "__main__":
    main()
