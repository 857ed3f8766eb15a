"""How much of the gap between a straight line and gradient boosting a scorecard closes.

``python -m benchmarks.studies.bent_boundaries`` fits a tuned logistic regression, a
`ScorecardClassifier` for the recall at 1 % false positives and a tuned HistGradientBoosting to sets
of numbers of the general arena, at most 5,000 rows of each, and measures the recall on held-out
rows of two of five folds. Sets were chosen by their size, before any was measured.
"""

from __future__ import annotations

from itertools import product
from statistics import fmean

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from benchmarks.arena.protocol import rows_of
from benchmarks.harness.data import Rows
from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, mean_of, select
from benchmarks.harness.runner import Part, Study, timed
from benchmarks.rivals.tables import BOOSTING, LINE, TABLE_RIVALS
from directrix.metrics import RecallAtFPR

METRIC = "recall at FPR 1 %"
METHODS = (LINE, "scorecard, full", BOOSTING)
SETS = (
    *("sonar", "heart", "breast", "diabetes", "fourclass", "oil_spill", "german", "svmguide3"),
    *("vowel", "splice", "segment", "svmguide1", "ada", "satimage", "spambase", "mammography"),
    *("htru2", "magic04", "letter", "letter_O", "ijcnn1", "default_credit"),
)
FOLDS, USED, MOST_ROWS = 5, 2, 5_000
#: A gap below this is not worth closing.
LEAST_GAP = 0.02


def measure(name: str, fold: int, method: str) -> list[tuple[object, ...]]:
    """Return the recall of one method on one fold."""
    X, y = rows_of(name)
    if len(y) > MOST_ROWS:
        sample = np.sort(np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False))
        X, y = X[sample], y[sample]
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    train, test = (Rows(frame.iloc[part], y[part]) for part in list(folds.split(X, y))[fold])
    metric = RecallAtFPR(0.01)
    scores, spent = timed(TABLE_RIVALS[method].scores, train, test, {METRIC: metric})
    return [(name, fold, method, f"{spent:.3g}", f"{metric.score(test.y, scores[METRIC]):.6g}")]


def lines(rows: list[Row]) -> list[str]:
    """Return the report: recall by set, and the share of the gap that is closed."""
    shares, means, cells = [], [], []
    for name in SETS:
        found = [select(rows, set=name, method=method) for method in METHODS]
        if any(len(folds) < USED for folds in found):
            continue
        low, card, high = (mean_of(folds, METRIC) for folds in found)
        means.append((low, card, high))
        closed = ""
        if high - low >= LEAST_GAP:
            shares.append((card - low) / (high - low))
            closed = f"{shares[-1]:.2f}"
        cells.append((name, *(f"{value:.3f}" for value in means[-1]), closed))
    overall = [fmean(column) for column in zip(*means, strict=True)]
    cells.append(("mean", *(f"{value:.3f}" for value in overall), ""))
    pooled = (overall[1] - overall[0]) / (overall[2] - overall[0])
    summary = (
        f"Recall at 1 % false positives on held-out rows of {len(means)} sets of numbers, two "
        f"folds of five, at most {MOST_ROWS:,} rows a set. Boosting is ahead of the line by "
        f"{LEAST_GAP} or more on {len(shares)}: the scorecard closes {fmean(shares):.0%} of the "
        f"gap there in the mean, {np.median(shares):.0%} in the median; of the gap between the "
        f"means over all sets, {pooled:.0%}."
    )
    columns = f"set | {' | '.join(METHODS)} | share of the gap"
    return ["# A scorecard between a line and boosting", "", summary, *table(columns, cells)]


RECORD = Record.beside(__file__, ("set", "fold", "method", "cpu", METRIC), "set, fold, method")
STUDY = Study([Part(RECORD, lambda _: product(SETS, range(USED), METHODS), measure)], lines)

if __name__ == "__main__":
    STUDY.main(__doc__)
