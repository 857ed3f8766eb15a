"""Thresholds around LightGBM, logistic regression and a random forest, against the truth.

``python -m benchmarks.studies.any_score`` draws samples of 1,200 rows from twelve sets, fits each
estimator inside an `OperatingPointClassifier`, and compares what it claims with what it does on up
to 20,000 other rows of the set: whether 95 % intervals of the recall and of the false-positive rate
at ``recall@fpr=0.05``, and of F1 at its own operating point, cover the truth, and how often a
false-positive rate of 5 % is exceeded with ``guarantee=0.95``. Beside it, on the same draws:
scikit-learn's `TunedThresholdClassifierCV` with a scorer that refuses thresholds above the limit,
and MAPIE's `BinaryClassificationController` at the same confidence, calibrated on the rows that set
our guaranteed threshold (left out where it is not installed). CPU seconds are those of the fit, and
of the same cross-fits alone, on the first draw of each set.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, commit, commits_of, grouped_by, numbers
from benchmarks.harness.runner import Part, Study, quiet, timed
from benchmarks.studies.new_rows.populations import POPULATIONS, draw
from directrix import OperatingPointClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.fitting.held_out_scores import splits_of
from directrix.metrics import FBeta

SETS = (
    *POPULATIONS,
    *("adult", "bank-marketing", "cod-rna_30k", "default_credit", "htru2", "ijcnn1", "magic04"),
)
N_ROWS, NEW_ROWS, LIMIT, CONFIDENCE = 1200, 20_000, 0.05, 0.95
DRAWS = 6
_METRIC = f"recall@fpr={LIMIT}"
_CLAIMS = tuple(
    f"{name} {end}" for name in ("recall", "fpr", "f1") for end in ("claim", "low", "high", "truth")
)
_OURS, _TUNED, _MAPIE = "guaranteed", "tuned", "mapie"
_KEPT = tuple(f"{name} {rate}" for name in (_OURS, _TUNED, _MAPIE) for rate in ("fpr", "recall"))


def _lightgbm() -> Any:
    from lightgbm import LGBMClassifier  # noqa: PLC0415 - reports are written without it

    return LGBMClassifier(n_estimators=100, num_leaves=15, n_jobs=1, verbose=-1, random_state=0)


ESTIMATORS = {
    "LightGBM": _lightgbm,
    "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "random forest": lambda: RandomForestClassifier(40, min_samples_leaf=3, random_state=0),
}


def measured(name: str, estimator: str, seed: int) -> list[tuple[object, ...]]:
    """Return claims, truth and CPU seconds of one draw."""
    X, y, X_new, y_new = (part[:NEW_ROWS] for part in draw(name, N_ROWS, seed))
    made = ESTIMATORS[estimator]()
    model = OperatingPointClassifier(made, _METRIC)
    _, seconds = timed(model.fit, X, y)
    # Once for each set and estimator: it takes as long as the fit.
    alone = f"{timed(_cross_fits, made, X, y)[1]:.3f}" if seed == 0 else ""
    point, scores = model.operating_point_, model.positive_scores(X_new)
    tpr, fpr = rates_above(scores, y_new, point.threshold)
    (f1,) = model.operating_points([FBeta()])
    f1_truth = float(FBeta().score(y_new, scores - f1.threshold))
    figures: list[float] = []
    for rate, truth in (("tpr", tpr), ("fpr", fpr)):
        claim, ends = getattr(point.expected, rate), getattr(point.intervals, rate)
        figures += [claim, *ends, truth]
    assert f1.expected is not None
    assert f1.intervals is not None
    figures += [f1.expected.metric, *f1.intervals.metric, f1_truth]
    kept = _limits(made, X, y, X_new, y_new)
    about = (commit(), name, estimator, seed)
    cells = (*(f"{value:.5f}" for value in figures), *kept, f"{seconds:.3f}", alone)
    return [(*about, *cells)]


def _cross_fits(estimator: Any, X: FloatArray, y: AnyArray) -> None:
    """Fit an estimator without each fold and score that, and fit it to all rows."""
    splits = splits_of(5, X, y, y, None, apart=False)
    cross_val_predict(estimator, X, y, cv=splits, method="predict_proba")
    clone(estimator).fit(X, y)


def _limits(
    estimator: Any, X: FloatArray, y: AnyArray, X_new: FloatArray, y_new: AnyArray
) -> list[str]:
    """Return FPR and recall on new rows of a guaranteed limit, and of both others."""
    with quiet():
        ours = OperatingPointClassifier(estimator, _METRIC, guarantee=CONFIDENCE).fit(X, y)
        scorer = make_scorer(_within_limit)
        tuned = TunedThresholdClassifierCV(estimator, scoring=scorer, n_jobs=1).fit(X, y)
    scores = ours.positive_scores(X_new)
    found = [
        rates_above(scores, y_new, ours.operating_point_.threshold),
        rates_above(tuned.predict_proba(X_new)[:, 1], y_new, tuned.best_threshold_),
    ]
    (split,) = splits_of(5, X, y, y, None, apart=True)
    threshold = _mapie_threshold(ours.estimator_, X[split.test], y[split.test])
    cells = [f"{rate:.5f}" for tpr, fpr in found for rate in (fpr, tpr)]
    if threshold is None:
        return [*cells, "", ""]
    tpr, fpr = rates_above(scores, y_new, threshold)
    return [*cells, f"{fpr:.5f}", f"{tpr:.5f}"]


def _within_limit(y: AnyArray, flagged: AnyArray) -> float:
    """Return the recall, or less than any recall where the false-positive rate is too high."""
    (tn, fp), (fn, tp) = confusion_matrix(y, flagged, labels=[False, True])
    fpr = fp / (fp + tn)
    return float(tp / (tp + fn) if fpr <= LIMIT else -fpr)


def _mapie_threshold(estimator: Any, X: FloatArray, y: AnyArray) -> float | None:
    """Return the threshold of MAPIE; infinite if none is controlled, None if not installed."""
    try:
        from mapie.risk_control import BinaryClassificationController  # noqa: PLC0415
    except ModuleNotFoundError:
        return None
    control = BinaryClassificationController(
        estimator.predict_proba, "fpr", LIMIT, CONFIDENCE, best_predict_param_choice="recall"
    )
    with quiet():
        control.calibrate(X, y.astype(int))
    best = control.best_predict_param
    return np.inf if best is None else float(best)


def rates_above(scores: FloatArray, y: AnyArray, threshold: float) -> tuple[float, float]:
    """Return the recall and the false-positive rate of scores above a threshold."""
    above = scores > threshold
    return float(above[y].mean()), float(above[~y].mean())


def planned(args: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """Yield set, estimator and seed of each draw, the first seeds first."""
    for seed in range(args.draws):
        yield from ((name, estimator, seed) for name in SETS for estimator in ESTIMATORS)


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        f"Samples of {N_ROWS:,} rows of twelve sets, the truth on up to {NEW_ROWS:,} others of "
        f"each (`benchmarks/studies/any_score.py`; commit {commits_of(rows)}). Coverage is the "
        "share of draws in which a 95 % interval contains the truth."
    )
    text = ["# Thresholds around any score", "", about]
    groups = {**grouped_by(rows, "estimator"), ("all",): rows}
    columns = "estimator | draws | coverage of recall | of FPR | of F1 | FPR / limit, mean"
    cells = []
    for (name,), draws in groups.items():
        covered = [f"{_coverage(draws, rate):.3f}" for rate in ("recall", "fpr", "f1")]
        ratio = numbers(draws, "fpr truth").mean() / LIMIT
        cells.append((name, len(draws), *covered, f"{ratio:.2f}"))
    text += table(columns, cells, "Intervals, threshold from cross-fitted scores")
    columns = (
        "estimator | draws | broken, guarantee=0.95 | TunedThresholdClassifierCV | MAPIE | "
        "recall with the guarantee | TunedThresholdClassifierCV | MAPIE"
    )
    cells = []
    for (name,), draws in groups.items():
        broken = [_mean(draws, f"{each} fpr", above=LIMIT) for each in (_OURS, _TUNED, _MAPIE)]
        recall = [_mean(draws, f"{each} recall") for each in (_OURS, _TUNED, _MAPIE)]
        cells.append((name, len(draws), *broken, *recall))
    text += table(columns, cells, f"A false-positive rate of at most {LIMIT:.0%} on new rows")
    cells = []
    for (name,), draws in groups.items():
        both = [row for row in draws if row["CPU cross-fits"]]
        ours, alone = (numbers(both, f"CPU {each}").mean() for each in ("fit", "cross-fits"))
        cells.append((name, f"{ours:.2f}", f"{alone:.2f}", ours / alone))
    shown = [(*first, f"{ratio:.3f}") for *first, ratio in cells]
    return text + table(
        "estimator | CPU s of a fit | of its cross-fits alone | ratio", shown, "CPU seconds"
    )


def _coverage(rows: list[Row], rate: str) -> float:
    low, high, truth = (numbers(rows, f"{rate} {end}") for end in ("low", "high", "truth"))
    return float(((low <= truth) & (truth <= high)).mean())


def _mean(rows: list[Row], column: str, above: float | None = None) -> str:
    values = numbers(rows, column)
    if not len(values):
        return ""
    return f"{values.mean():.3f}" if above is None else f"{(values > above).mean():.3f}"


RECORD = Record.beside(
    __file__,
    ("commit", "set", "estimator", "seed", *_CLAIMS, *_KEPT, "CPU fit", "CPU cross-fits"),
    "set, estimator, seed",
)


def _try_out(_args: argparse.Namespace) -> None:
    """Measure one draw of each estimator, and print it."""
    for estimator in ESTIMATORS:
        for row in measured(SETS[-1], estimator, 0):
            print(dict(zip(RECORD.columns, row, strict=True)))


STUDY = Study(
    [Part(RECORD, planned, measured)],
    lines,
    quick="one draw of each estimator; nothing is tracked",
    options={"--minutes": None, "--draws": {"type": int, "default": DRAWS}},
    try_out=_try_out,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
