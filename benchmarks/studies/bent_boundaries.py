"""How much of the gap between a straight line and gradient boosting a scorecard closes.

``python -m benchmarks.studies.bent_boundaries`` fits a tuned logistic regression, a
`ScorecardClassifier` for the recall at 1 % false positives and a tuned HistGradientBoosting to sets
of numbers of the general arena, at most 5,000 rows of each, and appends the recall on held-out rows
of two of five folds to ``bent_boundaries.csv``; it goes on where it stopped. ``--report`` only
prints the table. Sets were chosen by their size, before any was measured.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from time import process_time

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from benchmarks.arena.protocol import rows_of
from benchmarks.harness.data import Rows
from benchmarks.harness.markdown import header, line, write_report
from benchmarks.harness.record import Record
from benchmarks.harness.runner import measure_missing, option_parser
from benchmarks.rivals.on_tables import BOOSTING, LINE, TABLE_RIVALS
from directrix.metrics import RecallAtFPR

METRIC = "recall at FPR 1 %"
CARD = "scorecard, rows"
SETS = (
    *("sonar", "heart", "breast", "diabetes", "fourclass", "oil_spill", "german", "svmguide3"),
    *("vowel", "splice", "segment", "svmguide1", "ada", "satimage", "spambase", "mammography"),
    *("htru2", "magic04", "letter", "letter_O", "ijcnn1", "default_credit"),
)
FOLDS, USED, MOST_ROWS = 5, 2, 5_000
#: A gap below this is not worth closing.
LEAST_GAP = 0.02
RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    ("set", "fold", "method", "cpu", METRIC),
    ("set", "fold", "method"),
)
REPORT = Path(__file__).with_suffix(".md")


def measure(name: str, fold: int, method: str) -> Iterator[tuple[object, ...]]:
    """Yield the recall of one method on one fold."""
    X, y = rows_of(name)
    if len(y) > MOST_ROWS:
        sample = np.sort(np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False))
        X, y = X[sample], y[sample]
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    train, test = list(folds.split(X, y))[fold]
    rows, other = Rows(frame.iloc[train], y[train]), Rows(frame.iloc[test], y[test])
    metric = RecallAtFPR(0.01)
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small classes, and where a straight line is as good
        scores = TABLE_RIVALS[method].scores(rows, other, {METRIC: metric})
    spent = process_time() - start
    yield name, fold, method, f"{spent:.3g}", f"{metric.score(other.y, scores[METRIC]):.6g}"


def lines() -> list[str]:
    """Return the report: recall by set, and the share of the gap that is closed."""
    values: dict[tuple[str, str], list[float]] = {}
    for row in RECORD.rows():
        values.setdefault((row["set"], row["method"]), []).append(float(row[METRIC]))
    title = ["# A scorecard between a line and boosting", ""]
    text = header("set", LINE, CARD, BOOSTING, "share of the gap")
    shares, kept = [], []
    for name in SETS:
        found = [values.get((name, method), []) for method in (LINE, CARD, BOOSTING)]
        if any(len(recalls) < USED for recalls in found):
            continue
        low, card, high = map(fmean, found)
        kept.append((low, card, high))
        share = (card - low) / (high - low) if high - low >= LEAST_GAP else float("nan")
        if not np.isnan(share):
            shares.append(share)
        closed = "" if np.isnan(share) else f"{share:.2f}"
        text.append(line(name, *(f"{value:.3f}" for value in (low, card, high)), closed))
    if not kept:
        return [*title, *text]
    means = [fmean(column) for column in zip(*kept, strict=True)]
    text.append(line("mean", *(f"{value:.3f}" for value in means), ""))
    pooled = (means[1] - means[0]) / (means[2] - means[0])
    summary = (
        f"Recall at 1 % false positives on held-out rows of {len(kept)} sets of numbers, two folds "
        f"of five, at most {MOST_ROWS:,} rows a set. Boosting is ahead of the line by {LEAST_GAP} "
        f"or more on {len(shares)}: the scorecard closes {fmean(shares):.0%} of the gap there in "
        f"the mean, {np.median(shares):.0%} in the median; of the gap between the means over all "
        f"sets, {pooled:.0%}."
    )
    return [*title, summary, "", *text]


def main() -> None:
    """Measure what is missing, and write the report."""
    parser = option_parser(__doc__)
    options = parser.parse_args()
    if not options.report:
        keys = [
            (name, fold, method)
            for name in SETS
            for fold in range(USED)
            for method in (LINE, CARD, BOOSTING)
        ]
        measure_missing(RECORD, keys, measure)
    if any(RECORD.rows()):
        write_report(REPORT, lines())


if __name__ == "__main__":
    main()
