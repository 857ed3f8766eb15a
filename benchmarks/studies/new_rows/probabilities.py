"""Calibration of the probabilities, with and without scikit-learn's CalibratedClassifierCV.

``python -m benchmarks.studies.new_rows.probabilities`` draws 2,000 rows of five populations, three
times, and measures the log-loss and the calibration error of probabilities on 60,000 new rows:
those of `DirectClassifier` as they are, those of `CalibratedClassifierCV` around it, sigmoid and
isotonic, and those of logistic regression.

The calibration error is the root of the mean square of what probabilities are off by, in twenty
bins of equal numbers of rows, less what chance alone would show.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, commit, numbers, select
from benchmarks.harness.runner import Part, Study
from benchmarks.studies.new_rows.populations import POPULATIONS, draw
from directrix import DirectClassifier
from directrix._typing import AnyArray, FloatArray

N, DRAWS, BINS = 2000, 3, 20
RECORD = Record.beside(
    __file__,
    "commit, population, seed, model, log-loss, calibration error",
    "population, seed",
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
    cells = []
    for key in competitors():
        draws = (select(rows, population=name, model=key) for name in POPULATIONS)
        means = ((numbers(of, column).mean() for column in RECORD.columns[4:]) for of in draws)
        cells.append((key, *("{:.4f}, {:.4f}".format(*pair) for pair in means)))
    columns = " | ".join(("model", *POPULATIONS))
    return ["# Calibration of probabilities", "", about, *table(columns, cells)]


STUDY = Study([Part(RECORD, lambda _: product(POPULATIONS, range(DRAWS)), measured)], lines)

if __name__ == "__main__":
    STUDY.main(__doc__)
