"""Crosses of cards: how many there are from fold to fold, on noise, and what they gain.

``python -m benchmarks.studies.cards.crosses`` fits the full card for the AUC to three stratified
folds of eight tables, at most 5,000 rows of each; to tables without interactions, generated ones
and such with permuted labels; and, on four of the tables, LightGBM with trees of one split, of two
levels, and of its default size, at a learning rate of 0.1, with as many trees as are best in five
inner folds. ``--label`` names the code of the cards that is measured, by default its commit: those
of an older commit are measured with its ``src`` first in ``PYTHONPATH``.

Rows of hmeq are often nearly copies of one another. "hmeq, near copies together" has folds that do
not separate them: rows are clusters of average distance 0.5 in the ranks of their numbers.

Tables that are not among those of the benchmarks are read from the folder ``tables_new`` beside
theirs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.cluster import AgglomerativeClustering
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from benchmarks.harness.data import Rows, load_table
from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, distinct, mean_of, numbers, select
from benchmarks.harness.runner import Part, Study, timed
from directrix import ScorecardClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import AUC

COMPARED = ("hmeq", "mlc_churn", "bank_marketing", "fraud_oracle")
TABLES_OF_STUDY = (*COMPARED, "german_credit", "credit_data", "telco_churn", "compas")
TOGETHER = "hmeq, near copies together"
FOLDS, MOST_ROWS, NOISE_FITS = 3, 5_000, 12
CARD, SMALL = "card", "card of 100 lines"
BOOSTING: dict[str, dict[str, int]] = {
    "stumps": {"num_leaves": 2},
    "pairs": {"max_depth": 2, "num_leaves": 4},
    "full": {},
}
NOISE = ("numbers", "texts", "additive", "permuted german_credit", "permuted credit_data")
#: Distance of clusters of near copies.
_NEAR = 0.5


@cache
def rows_of(name: str) -> Rows:
    """Return a table; of more rows than are used a fixed sample."""
    X, y = load_table(name)
    if len(y) > MOST_ROWS:
        sample = np.sort(np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False))
        X, y = X.iloc[sample].reset_index(drop=True), y[sample]
    return Rows(X, y)


def split(name: str, fold: int) -> tuple[Rows, Rows]:
    """Return the training and the test rows of a fold."""
    X, y = rows_of(name.partition(",")[0])
    if name == TOGETHER:
        ranks = X.select_dtypes("number").rank(pct=True).fillna(-0.5).to_numpy()
        near = AgglomerativeClustering(None, linkage="average", distance_threshold=_NEAR)
        folds: Any = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)
        splits = folds.split(X, y, near.fit_predict(ranks))
    else:
        splits = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y)
    train, test = list(splits)[fold]
    first, second = (Rows(X.iloc[rows].reset_index(drop=True), y[rows]) for rows in (train, test))
    return first, second


def noise(kind: str, seed: int) -> Rows:
    """Return rows without interactions."""
    rng = np.random.default_rng(seed)
    if kind.startswith("permuted"):
        X, y = rows_of(kind.split()[1])
        X, y = X.iloc[:2000], y[:2000]
        return Rows(X, rng.permutation(y))
    if kind == "texts":
        columns = {f"t{k}": rng.choice(list("abcdefgh"), 1000) for k in range(6)}
        return Rows(pd.DataFrame(columns | {"x": rng.normal(size=1000)}), rng.random(1000) < 0.3)
    n = 500 if kind == "numbers" else 1500
    X = pd.DataFrame(rng.normal(size=(n, 10)), columns=[f"x{k}" for k in range(10)])
    score = -1.0 if kind == "numbers" else X["x0"] + np.abs(X["x1"]) - (X["x2"] > 0) * 1.5 - 1
    return Rows(X, rng.random(n) < expit(np.broadcast_to(score, n)))


def card(train: Rows, **options: Any) -> tuple[Any, float]:
    """Fit a full card for the AUC, and return it with its CPU seconds."""
    return timed(ScorecardClassifier("auc", **options).fit, *train)


def boosted(train: Rows, test: Rows, **options: int) -> tuple[FloatArray, float]:
    """Return the scores of test rows by LightGBM, and CPU seconds."""
    import lightgbm  # noqa: PLC0415 - optional

    def fit() -> AnyArray:
        X, new = train.X.copy(), test.X.copy()
        for name in X.columns[[not pd.api.types.is_numeric_dtype(X[name]) for name in X]]:
            levels = sorted(X[name].dropna().astype(str).unique())
            for frame in (X, new):
                texts = frame[name].astype(object).where(frame[name].notna(), None)
                frame[name] = pd.Categorical(texts, categories=levels)
        settings = {"objective": "binary", "metric": "auc", "verbose": -1, "num_threads": 1}
        data = lightgbm.Dataset(X, train.y)
        areas: dict[str, Any] = lightgbm.cv(
            settings | options,
            data,
            2000,
            nfold=5,
            seed=0,
            callbacks=[lightgbm.early_stopping(30, verbose=False)],
        )
        n_trees = int(np.argmax(areas["valid auc-mean"])) + 1
        model = lightgbm.train(settings | options, lightgbm.Dataset(X, train.y), n_trees)
        return np.asarray(model.predict(new))

    return timed(fit)


def measure(name: str, fold: int, method: str, code: str) -> list[tuple[object, ...]]:
    """Fit one method to one fold of a table, or to one table of noise."""
    key = name, fold, method, code
    if name in NOISE:
        fitted, spent = card(noise(name, fold))
        return [(*key, *_crosses(fitted), "", f"{spent:.3g}")]
    train, test = split(name, fold)
    if method in BOOSTING:
        scores, spent = boosted(train, test, **BOOSTING[method])
        crosses: tuple[object, ...] = ("", "")
    else:
        fitted, spent = card(train, **({"max_lines": 100} if method == SMALL else {}))
        scores, crosses = fitted.decision_function(test.X), _crosses(fitted)
    area = AUC().score(test.y, np.asarray(scores))
    return [(*key, *crosses, f"{area:.5f}", f"{spent:.3g}")]


def _crosses(fitted: Any) -> tuple[int, int]:
    crosses = fitted.card_.crosses
    return len(crosses), sum(cross.points.size for cross in crosses)


def plan(args: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    """Return the tasks: cards by the code that is measured, and boosting once."""
    wanted = args.only.split(",") if args.only else ["cards", "noise", "boosting", "small"]
    if "cards" in wanted:
        yield from product((*TABLES_OF_STUDY, TOGETHER), range(FOLDS), [CARD], [args.label])
    if "noise" in wanted:
        for seed, kind in product(range(NOISE_FITS), NOISE):
            yield kind, seed, CARD, args.label
    if "small" in wanted:
        yield from product(("hmeq", "mlc_churn"), range(FOLDS), [SMALL], [args.label])
    if "boosting" in wanted:
        yield from product((*COMPARED, TOGETHER), range(FOLDS), BOOSTING, ["LightGBM"])


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    codes = distinct(select(rows, method=CARD), "code")
    how = "How: see `crosses.py`. Codes are commits: cards of 7fb35fc are full, later ones compact."
    text = ["# Crosses of cards", "", how]
    by_fold, shares = [], []
    for name in (*TABLES_OF_STUDY, TOGETHER):
        cells: list[object] = [name]
        for code in codes:
            part = select(rows, set=name, method=CARD, code=code)
            if not part:
                cells += ["", "", "", ""]
                continue
            counts = ", ".join(f"{each:.0f}" for each in numbers(part, "crosses"))
            sizes = f"{np.mean(numbers(part, 'cells')):.0f}"
            area, cpu = mean_of(part, "auc"), np.median(numbers(part, "cpu"))
            cells += [counts, sizes, f"{area:.4f}", f"{cpu:.1f}"]
        by_fold.append(cells)
    heading = " | ".join(f"crosses, {c} | cells | AUC | CPU s" for c in codes)
    text += table(f"table | {heading}", by_fold, "Crosses by fold")
    for kind in NOISE:
        cells = [kind]
        for code in codes:
            part = select(rows, set=kind, code=code)
            crossed = int(np.count_nonzero(numbers(part, "crosses"))) if part else 0
            cells.append(f"{crossed} of {len(part)}")
        shares.append(cells)
    totals: list[object] = ["all"]
    for code in codes:
        part = [row for row in select(rows, code=code) if row["set"] in NOISE]
        totals.append(f"{np.count_nonzero(numbers(part, 'crosses'))} of {len(part)}")
    title = "Fits with any cross, of tables without interactions"
    text += table(f"table | {' | '.join(codes)}", [*shares, totals], title)
    compared = []
    for name in (*COMPARED, TOGETHER):
        areas = [mean_of(select(rows, set=name, method=CARD, code=c), "auc") for c in codes]
        small = select(rows, set=name, method=SMALL)
        boosts = [select(rows, set=name, method=method) for method in BOOSTING]
        values = [f"{area:.4f}" for area in areas]
        values += [f"{mean_of(part, 'auc'):.4f}" if part else "" for part in (small, *boosts)]
        compared.append([name, *values])
    heading = " | ".join([*(f"card, {c}" for c in codes), SMALL, *BOOSTING])
    return [*text, *table(f"table | {heading}", compared, "AUC, mean of three folds")]


RECORD = Record.beside(
    __file__,
    ("set", "fold", "method", "code", "crosses", "cells", "auc", "cpu"),
    "set, fold, method, code",
)
STUDY = Study(
    [Part(RECORD, plan, measure)],
    lines,
    options={
        "--label": None,
        "--minutes": None,
        "--only": {"default": "", "help": "some of cards,noise,small,boosting"},
    },
)

if __name__ == "__main__":
    STUDY.main(__doc__)
