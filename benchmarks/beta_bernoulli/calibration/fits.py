"""The methods whose probabilities are measured, and the measuring of one."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from benchmarks.data import load
from benchmarks.zero_one.noise import noisy
from directrix import BetaBernoulliClassifier

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray

RESULTS = Path(__file__).with_name("measured.csv")
SETS = (
    *("heart", "breast", "sonar", "liver-disorders", "diabetes", "german", "oil_spill"),
    *("fourclass", "svmguide1", "mammography", "magic04", "htru2"),
)
REPEATS, FOLDS, BINS = 1, 5, 10
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
    "weak": BetaBernoulliClassifier(plateaus="weak", alpha="auto"),
    "learned": BetaBernoulliClassifier(plateaus="learned", alpha="auto"),
    "robust": BetaBernoulliClassifier(alpha="auto"),
}


class Key(NamedTuple):
    """What a row of the file is about."""

    name: str
    noise: str
    method: str
    repeat: int


class Judged(NamedTuple):
    """The probabilities of all rows of a set, each from the fold that held it out.

    Parameters
    ----------
    log_loss, brier : float
    rows, probability, positives : arrays of shape (10,)
        Of each bin: rows, and sums of their probabilities and labels.
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
        bins = (" ".join(f"{value:.6g}" for value in own) for own in self[2:])
        return f"{self.log_loss:.6f}", f"{self.brier:.6f}", *bins


def measured(key: Key) -> Judged:
    """Fit a method to each fold's training rows, and judge all probabilities together."""
    X, y = _rows_of(key.name)
    probability = np.zeros(len(y))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=key.repeat)
    for fold, (train, test) in enumerate(folds.split(X, y)):
        rng = np.random.default_rng((key.repeat, fold))
        rows = noisy(X[train], y[train], key.noise, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # solvers that stop early
            fitted = clone(METHODS[key.method]).fit(*rows)
        probability[test] = fitted.predict_proba(X[test])[:, 1]
    return Judged.of(probability, y)


def _rows_of(name: str) -> tuple[FloatArray, AnyArray]:
    X, y = load(name)
    if len(y) > _MOST_ROWS:
        kept = np.sort(np.random.default_rng(0).choice(len(y), _MOST_ROWS, replace=False))
        X, y = X[kept], y[kept]
    return X, y


def read() -> dict[Key, Judged]:
    """Return all that was measured."""
    if not RESULTS.exists():
        return {}
    with RESULTS.open(newline="", encoding="utf-8") as file:
        return {
            Key(row["set"], row["noise"], row["method"], int(row["repeat"])): Judged(
                float(row["log_loss"]),
                float(row["brier"]),
                *(np.array(row[part].split(), float) for part in Judged._fields[2:]),
            )
            for row in csv.DictReader(file)
        }
