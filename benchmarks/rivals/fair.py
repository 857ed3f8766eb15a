"""Competitors of alternatives with parity: fairlearn, FairGBM, and columns that are left out.

Each returns what it flags on test rows as `Flags`: a function of one number, under which fewer rows
are flagged the larger it is, so that all competitors can be read at one pooled false-positive rate.
Where predictions are drawn at random, it returns the probability that a row is flagged.

fairlearn and the columns left out have logistic regression (C = 1) on one-hot bins of all columns;
the exponentiated gradient minimises the costs under which logistic regression has the
false-positive rate that is asked for on training rows. FairGBM and its unconstrained twin have the
columns as numbers; its interface for scikit-learn asks for an older version, its own does not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from benchmarks.harness.data import Rows
from benchmarks.harness.runner import timed
from benchmarks.rivals.base import text_columns
from directrix import Binner
from directrix._typing import AnyArray, FloatArray

GRID_SIZES = {2: 11, 3: 41}
BOUNDS = (0.005, 0.03)
ROUNDS, LEAVES = 100, 15


class Flags(NamedTuple):
    """Share of each row that is flagged, as a function of a level, with the ends of the level."""

    at: Callable[[float], FloatArray]
    low: float
    high: float


class Fold(NamedTuple):
    """Training and test rows of a fold, with their segments."""

    number: int
    train: Rows
    segment: AnyArray
    test: Rows
    test_segment: AnyArray


Measured = dict[str, tuple[Flags, float]]


def of_scores(scores: FloatArray) -> Flags:
    """Return the flags of thresholds on scores."""
    return Flags(lambda level: (scores > level).astype(float), scores.min() - 1, scores.max())


def at_rate(flags: Flags, negative: AnyArray, rate: float) -> FloatArray:
    """Return what is flagged at a false-positive rate: between two levels, a mixture of both."""
    low, high = flags.low, flags.high
    for _ in range(60):
        middle = (low + high) / 2
        if flags.at(middle)[negative].mean() > rate:
            low = middle
        else:
            high = middle
    more, fewer = flags.at(low), flags.at(high)
    rates = more[negative].mean(), fewer[negative].mean()
    share = (rate - rates[1]) / (rates[0] - rates[1]) if rates[0] > rates[1] else 0.0
    mixed: FloatArray = fewer + np.clip(share, 0.0, 1.0) * (more - fewer)
    return mixed


# ── logistic regression on one-hot bins ───────────────────────────────────────────────────────────


class OneHot(NamedTuple):
    """One-hot bins of a fold: features, the column that each belongs to, and their CPU seconds."""

    train: FloatArray
    test: FloatArray
    column: AnyArray
    seconds: float

    @classmethod
    def of(cls, fold: Fold) -> OneHot:
        """Return the bins of the training rows."""
        binner = Binner(max_bins=10, min_level_rows=20, encoding="onehot", sparse_output=False)
        _, seconds = timed(binner.fit, fold.train.X)
        sizes = [bins.n_cells for bins in binner.bins_]
        column = np.repeat(np.arange(len(sizes)), sizes)
        (train, test), more = timed(
            lambda: [np.asarray(binner.transform(rows.X)) for rows in (fold.train, fold.test)]
        )
        used = train.any(axis=0)
        return cls(train[:, used], test[:, used], column[used], seconds + more)


def _logistic() -> LogisticRegression:
    return LogisticRegression(solver="newton-cholesky", max_iter=100)


def logistic(fold: Fold) -> Measured:
    """Fit logistic regression with all columns, and without those that carry most of the gap.

    A column carries the difference between the largest and the smallest mean of its part of the
    score over the negatives of the segments.
    """
    bins, y = OneHot.of(fold), fold.train.y
    kept = np.ones(bins.train.shape[1], dtype=bool)
    results: Measured = {}
    total = bins.seconds
    for name in ("logistic", "drop 1", "drop 2", "drop 3"):
        model, seconds = timed(_logistic().fit, bins.train[:, kept], y)
        total += seconds
        scores = model.decision_function(bins.test[:, kept])
        results[name] = of_scores(scores), total
        part = bins.train[~y][:, kept] * model.coef_[0]
        means = np.array([part[fold.segment[~y] == s].mean(axis=0) for s in set(fold.segment)])
        column = bins.column[kept]
        carried = {k: np.ptp(means[:, column == k].sum(axis=1)) for k in set(column.tolist())}
        kept &= bins.column != max(carried, key=lambda k: carried[k])
    return results


def exponentiated_gradient(fold: Fold, bound: float, rate: float) -> Measured:
    """Fit fairlearn's ExponentiatedGradient: as it predicts, and by the mean of its scores."""
    from fairlearn.reductions import (  # noqa: PLC0415 - optional
        ErrorRate,
        ExponentiatedGradient,
        FalsePositiveRateParity,
    )

    bins, y = OneHot.of(fold), fold.train.y.astype(int)
    plain = _logistic().fit(bins.train, y)
    cost = float(np.quantile(plain.predict_proba(bins.train)[y == 0, 1], 1 - rate))
    model = ExponentiatedGradient(
        _logistic(),
        FalsePositiveRateParity(difference_bound=bound),
        objective=ErrorRate(costs={"fp": cost, "fn": 1 - cost}),
    )
    _, seconds = timed(model.fit, bins.train, y, sensitive_features=fold.segment)
    shares = np.asarray(model.weights_, dtype=float)
    used = [k for k in range(len(shares)) if shares[k] > 0]
    log_odds = np.array([_log_odds(model.predictors_[k], bins.test) for k in used])
    shares = shares[used] / shares[used].sum()
    votes = Flags(lambda level: shares @ (log_odds > level), log_odds.min() - 1, log_odds.max())
    total = bins.seconds + seconds
    return {
        f"EG {bound:g}": (votes, total),
        f"EG {bound:g}, mean score": (of_scores(shares @ log_odds), total),
    }


def _log_odds(model: Any, X: FloatArray) -> FloatArray:
    """Return the log-odds of a predictor, which is a constant where all labels were the same."""
    if hasattr(model, "decision_function"):
        scores: FloatArray = model.decision_function(X)
        return scores
    return np.where(np.asarray(model.predict(X)) > 0, 30.0, -30.0)


def grid_search(fold: Fold) -> Measured:
    """Fit fairlearn's GridSearch, of whose predictors it takes the best trade-off."""
    from fairlearn.reductions import FalsePositiveRateParity, GridSearch  # noqa: PLC0415

    bins, y = OneHot.of(fold), fold.train.y.astype(int)
    size = GRID_SIZES[len(set(fold.segment))]
    model = GridSearch(_logistic(), FalsePositiveRateParity(), grid_size=size)
    _, seconds = timed(model.fit, bins.train, y, sensitive_features=fold.segment)
    best = model.predictors_[model.best_idx_]
    return {"GridSearch": (of_scores(_log_odds(best, bins.test)), bins.seconds + seconds)}


def threshold_optimizer(fold: Fold) -> Measured:
    """Fit fairlearn's ThresholdOptimizer around logistic regression; it needs the segment of rows.

    It has a curve for each segment, and takes the point of all curves at one false-positive rate
    where its objective is best; here that rate is the level.
    """
    from fairlearn.postprocessing import ThresholdOptimizer  # noqa: PLC0415

    bins, y = OneHot.of(fold), fold.train.y.astype(int)
    model = ThresholdOptimizer(
        estimator=_logistic(), constraints="false_positive_rate_parity", predict_method="auto"
    )
    _, seconds = timed(model.fit, bins.train, y, sensitive_features=fold.segment)
    scores = clone(model.estimator).fit(bins.train, y).predict_proba(bins.test)[:, 1]
    curves = model._tradeoff_curve  # noqa: SLF001 - the points that it chooses among
    flags = Flags(partial(_on_curves, curves, scores, fold.test_segment), -1.0, 0.0)
    return {"ThresholdOptimizer": (flags, bins.seconds + seconds)}


def _on_curves(curves: Any, scores: FloatArray, segment: AnyArray, level: float) -> FloatArray:
    flagged = np.zeros(len(scores))
    for name, curve in curves.items():
        point = curve.iloc[round(-level * (len(curve) - 1))]
        rows = segment == name
        both = [(point.p0, point.operation0), (point.p1, point.operation1)]
        flagged[rows] = sum(share * np.asarray(above(scores[rows])) for share, above in both)
    return flagged


# ── boosting ──────────────────────────────────────────────────────────────────────────────────────


def boosting(fold: Fold, rate: float) -> Measured:
    """Fit FairGBM with a limit on gaps of false-positive rates, and the same without a limit."""
    import fairgbm  # noqa: PLC0415 - optional

    train, test = _as_numbers(fold)
    names = {name: k for k, name in enumerate(sorted(set(fold.segment)))}
    group = np.array([names[name] for name in fold.segment])
    common: dict[str, Any] = {"num_threads": 1, "verbose": -1, "seed": 0, "num_leaves": LEAVES}
    limits: dict[str, Any] = {
        "objective": "constrained_cross_entropy",
        "constraint_type": "FPR",
        "global_constraint_type": "FPR",
        "global_target_fpr": rate,
    }
    methods: dict[str, dict[str, Any]] = {"LightGBM": {"objective": "binary"}, "FairGBM": limits}
    results: Measured = {}
    for name, params in methods.items():
        groups = {"constraint_group": group} if name == "FairGBM" else {}
        rows = fairgbm.Dataset(train, label=fold.train.y.astype(int), **groups)
        model, seconds = timed(fairgbm.train, {**common, **params}, rows, num_boost_round=ROUNDS)
        scores = np.asarray(model.predict(test), dtype=float)
        results[name] = of_scores(logit(np.clip(scores, 1e-12, 1 - 1e-12))), seconds
    return results


def _as_numbers(fold: Fold) -> list[FloatArray]:
    """Return the columns as numbers: of texts the rank of the level, of dates the day."""
    texts = set(text_columns(fold.train.X))
    parts = []
    for X in (fold.train.X, fold.test.X):
        columns = []
        for name in X:
            values = X[name]
            if values.dtype.kind == "M":
                columns.append(values.to_numpy().astype("datetime64[D]").astype(float))
            elif name in texts:
                levels = {v: k for k, v in enumerate(sorted(set(map(str, fold.train.X[name]))))}
                columns.append([levels.get(str(value), np.nan) for value in values])
            else:
                columns.append(values.to_numpy(dtype=float, na_value=np.nan))
        parts.append(np.column_stack(columns).astype(float))
    return parts
