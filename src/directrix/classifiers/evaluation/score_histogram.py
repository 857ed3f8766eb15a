"""Score histogram of a fitted classifier, in one pass over rows that live elsewhere."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.engines.base import run
from directrix.engines.plan import Plan
from directrix.engines.tasks import FoldModels, NumberFeatures, Score, Scored
from directrix.moments import ScoreHistogram
from directrix.rows import labels

if TYPE_CHECKING:
    from directrix.classifiers.scoring import ScoringFormula

_READING = ("engine", "progress")


def score_histogram(
    formula: ScoringFormula, source: Any, *, target: Any, **options: Any
) -> ScoreHistogram:
    """Count the scores of all rows of a source.

    Parameters
    ----------
    formula : ScoringFormula
        Of a linear classifier of two classes.
    source : whatever `summarize` reads
    target : str, int or array
    **options
        ``features``, ``weight``, ``transform``, ``engine`` and ``progress``, as in `summarize`.
    """
    if formula.cards or not formula.two_classes:
        msg = (
            "score_histogram is for linear classifiers of two classes: for others, use "
            "ScoreHistogram.of_scores(y, scores) on the rows of each part"
        )
        raise TypeError(msg)
    reading = {name: options.pop(name) for name in _READING if name in options}
    refused = sorted(set(options) - {"features", "weight", "transform"})
    if refused:
        msg = f"score_histogram() got an unexpected keyword argument {refused[0]!r}"
        raise TypeError(msg)
    if formula.features is not None and "transform" not in options:
        options.setdefault("features", formula.features)
    classes = labels.distinct(labels.as_labels(list(formula.classes)))
    plan = Plan.of(target=target, classes=classes, **options)
    line = np.array([*formula.coefficients[0], formula.intercepts[0]])
    features = NumberFeatures(len(line) - 1, classes)
    task = Score(features, classes[-1], [FoldModels(0, line[None])])
    scored: Scored = run(source, plan, task, **reading)
    histogram = scored.histograms[0]
    return ScoreHistogram(
        classes, histogram.counts[0], histogram.weight_sq, model=_identity(formula, line)
    )


def _identity(formula: ScoringFormula, line: Any) -> str:
    """Return a checksum of the coefficients, the names of the features and the classes."""
    digest = hashlib.sha256(line.astype("<f8").tobytes())
    digest.update(repr((formula.features, formula.classes)).encode())
    return digest.hexdigest()[:16]
