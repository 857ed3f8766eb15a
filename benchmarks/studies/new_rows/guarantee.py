"""How often a guaranteed false-positive rate is exceeded: 2,000 resamples of three sets.

``python -m benchmarks.studies.new_rows.guarantee`` writes ``guarantee.csv``. Of each set a third
trains a `DirectClassifier` once. The rest stands for all rows there are: 2,000 times some of them,
drawn with replacement, set the threshold as ``guarantee=0.95`` does, and the share of all negatives
of the rest that are above it is the rate on new rows. Beside it: the threshold that keeps the limit
on the drawn rows themselves, without a guarantee.

The line is fitted once, not 2,000 times: the bound holds for any line that has not seen the rows.

The second part does the same with cards and limits in every segment of five tables
(``guarantee_segments.csv``): 500 times 4,000 rows of the rest set the threshold. Beside it: the
guarantee of all rows together, and one whose confidence is divided by the number of segments
(Bonferroni). The third part keeps several limits from above (``guarantee_limits.csv``), with the
confidence divided by their number and without.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from benchmarks.harness.data import load, load_table
from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, commit
from benchmarks.harness.runner import Part, Study, quiet
from directrix import DirectClassifier, ScorecardClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.exceptions import OutOfReachError
from directrix.fit.guarantee import Guarantee
from directrix.metrics import InEverySegment, RecallAtFPR
from directrix.metrics.base import Curve
from directrix.metrics.segments import Segments

SETS = ("magic04", "htru2", "default_credit")
LIMITS = (0.01, 0.05)
CONFIDENCE, RESAMPLES, DRAWN = 0.95, 2000, 3000


def measured(name: str, limit: float) -> list[tuple[object, ...]]:
    """Return how often the limit is broken and the mean rate, with the guarantee and without."""
    X, y = load(name)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    train, rest = order[: len(y) // 3], order[len(y) // 3 :]
    metric = RecallAtFPR(limit)
    with quiet():
        line = DirectClassifier(metric, cv=3).fit(X[train], y[train])
    scores, positive = line.decision_function(X[rest]), y[rest]
    negatives = np.sort(scores[~positive])
    rates = np.empty((RESAMPLES, 2))
    for number in range(RESAMPLES):
        drawn = rng.integers(0, len(rest), DRAWN)
        curve = Curve.of(positive[drawn], scores[drawn])
        thresholds = (
            Guarantee.of(metric, None, CONFIDENCE).threshold(metric, curve),
            metric.best(curve).threshold,
        )
        above = len(negatives) - np.searchsorted(negatives, thresholds, side="right")
        rates[number] = above / len(negatives)
    figures = (*(rates > limit).mean(axis=0), *rates.mean(axis=0))
    return [(name, limit, RESAMPLES, *(f"{figure:.4f}" for figure in figures))]


# ── in every segment ──────────────────────────────────────────────────────────────────────────────


class Pair(NamedTuple):
    """A table, the column of its segments, and segments that are pooled because they are small."""

    table: str
    column: str
    bands: int = 0
    most: int = 20


#: With ``bands``, the segments are so many ranges of a number with as many rows each. Of texts, the
#: ``most`` largest levels are segments, and the others are one together.
PAIRS = (
    Pair("census_income", "sex"),
    Pair("census_income", "education", most=9),
    Pair("give_me_some_credit", "age", bands=20),
    Pair("pakdd_2009", "RESIDENCE_TYPE", most=3),
    Pair("bank_marketing", "job", most=7),
)
SEGMENT_DRAWS, ROWS, LIMIT, TRAINED = 500, 4000, 0.05, 10_000
WAYS = ("every segment", "Bonferroni", "all rows together")


@cache
def scored(pair: Pair) -> tuple[FloatArray, AnyArray, Segments]:
    """Return scores, labels and segments of the rows that did not train the card."""
    X, y = load_table(pair.table)
    column = X[pair.column]
    order = np.random.default_rng(0).permutation(len(y))
    train, rest = np.split(order, [min(len(y) // 3, TRAINED)])
    with quiet():
        options = {"max_lines": None, "max_crosses": 0, "points": "log-odds"}
        card = ScorecardClassifier("auc", warn_baseline=False, **options)
        card.fit(X.iloc[train], y[train])
        parts = np.array_split(rest, len(rest) // 20_000 + 1)
        scores = np.concatenate([card.decision_function(X.iloc[part]) for part in parts])
    if pair.bands:
        cuts = np.quantile(column, np.arange(1, pair.bands) / pair.bands)
        names = np.searchsorted(cuts, column, side="left")
    else:
        texts = column.astype(str)
        known = texts.value_counts().index[: pair.most]
        names = texts.where(texts.isin(known), "others").to_numpy()
    return scores, y[rest], Segments.of(names[rest], len(rest))


def measured_segments(name: str, column: str) -> list[tuple[object, ...]]:
    """Return how often the limit is broken in some segment, and the recall, in three ways."""
    pair = next(each for each in PAIRS if each[:2] == (name, column))
    scores, positive, segments = scored(pair)
    rng, metric = np.random.default_rng(1), RecallAtFPR(LIMIT)
    n_segments = len(segments.names)
    negatives = [
        np.sort(scores[~positive & (segments.number == number)]) for number in range(n_segments)
    ]
    caught = np.sort(scores[positive])
    confidences = dict(zip(WAYS, (CONFIDENCE, 1 - (1 - CONFIDENCE) / n_segments), strict=False))
    worst = np.full((SEGMENT_DRAWS, len(WAYS)), np.nan)
    recall = np.full_like(worst, np.nan)
    for number in range(SEGMENT_DRAWS):
        drawn = rng.integers(0, len(scores), ROWS)
        some = positive[drawn], scores[drawn]
        curve = Curve.of(*some)
        for place, way in enumerate(WAYS):
            confidence = confidences.get(way, CONFIDENCE)
            limits = InEverySegment({"fpr": LIMIT}) if way in confidences else None
            guarantee = Guarantee.of(metric, limits, confidence)
            bounds = (-np.inf, np.inf)
            if way in confidences:
                try:
                    inside = [segments.number[drawn] == k for k in range(n_segments)]
                    curves = [Curve.of(some[0][one], some[1][one]) for one in inside]
                    bounds = guarantee.bounds(zip(segments.names, curves, strict=True))
                except OutOfReachError:  # a segment has too few rows: the draw counts for nothing
                    continue
            threshold = guarantee.threshold(metric, curve, (), None, *bounds)
            worst[number, place] = max(_share_above(rows, threshold) for rows in negatives)
            recall[number, place] = _share_above(caught, threshold)
    return [
        (
            name,
            column,
            n_segments,
            way,
            int(np.isfinite(worst[:, place]).sum()),
            f"{np.nanmean(worst[:, place][np.isfinite(worst[:, place])] > LIMIT):.4f}",
            f"{np.nanmean(recall[:, place]):.4f}",
            commit(),
        )
        for place, way in enumerate(WAYS)
    ]


def _share_above(ordered: FloatArray, threshold: float) -> float:
    return float(len(ordered) - np.searchsorted(ordered, threshold, side="right")) / len(ordered)


def measured_limits(name: str, column: str) -> list[tuple[object, ...]]:
    """Return how often one of two limits from above is broken, with a correction and without."""
    scores, positive, _ = scored(next(each for each in PAIRS if each[:2] == (name, column)))
    rng, metric = np.random.default_rng(2), RecallAtFPR(LIMIT)
    values = {"fpr": LIMIT, "alerts": float(LIMIT + 0.5 * positive.mean())}
    ordered = {"fpr": np.sort(scores[~positive]), "alerts": np.sort(scores)}
    caught, rows = np.sort(scores[positive]), []
    for way, confidence in (("together", CONFIDENCE), ("Bonferroni", 1 - (1 - CONFIDENCE) / 2)):
        guarantee = Guarantee.of(metric, values, confidence)
        broken = recall = 0.0
        for _ in range(SEGMENT_DRAWS):
            drawn = rng.integers(0, len(scores), ROWS)
            threshold = guarantee.threshold(metric, Curve.of(positive[drawn], scores[drawn]))
            broken += any(_share_above(ordered[name], threshold) > values[name] for name in values)
            recall += _share_above(caught, threshold)
        shares = f"{broken / SEGMENT_DRAWS:.4f}", f"{recall / SEGMENT_DRAWS:.4f}"
        rows.append((name, column, way, SEGMENT_DRAWS, *shares, commit()))
    return rows


def lines(rows: list[Row]) -> list[str]:
    """Return the report of all three parts."""
    del rows
    report = ["# Guaranteed limits on new rows", "", f"Confidence {CONFIDENCE:.0%}."]
    headings = ("All rows", "In every segment", "Several limits from above")
    for heading, record in zip(headings, (RECORD, SEGMENTS, SEVERAL), strict=True):
        found = record.rows()
        if found:
            names = list(found[0])
            cells = [tuple(row[name] for name in names) for row in found]
            report += ["", f"## {heading}", *table(" | ".join(names), cells)]
    return report


RECORD = Record.beside(
    __file__, "set, limit, resamples, broken, broken without, mean rate, without", "set, limit"
)
SEGMENTS = Record(
    RECORD.path.with_name("guarantee_segments.csv"),
    ("table", "column", "segments", "way", "draws", "broken", "recall", "commit"),
    ("table", "column"),
)
SEVERAL = Record(
    RECORD.path.with_name("guarantee_limits.csv"),
    ("table", "column", "way", "draws", "broken", "recall", "commit"),
    ("table", "column"),
)
STUDY = Study(
    [
        Part(RECORD, lambda _: product(SETS, LIMITS), measured),
        Part(SEGMENTS, lambda _: [pair[:2] for pair in PAIRS], measured_segments),
        Part(SEVERAL, lambda _: [pair[:2] for pair in PAIRS], measured_limits),
    ],
    lines,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
