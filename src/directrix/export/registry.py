"""The classifiers that exports take, by name: a new one is added here and nowhere else."""

from __future__ import annotations

from typing import Any

from directrix.classifiers import (
    BetaBernoulliClassifier,
    DirectClassifier,
    MomentClassifier,
    ScorecardClassifier,
    SmoothClassifier,
)

#: A classifier has `export_state`, `from_state` and `scoring_formula`; see `LinearClassifier`.
CLASSIFIERS: dict[str, Any] = {
    classifier.__name__: classifier
    for classifier in (
        BetaBernoulliClassifier,
        DirectClassifier,
        MomentClassifier,
        ScorecardClassifier,
        SmoothClassifier,
    )
}


def known_names() -> str:
    """Return the names of the classifiers, for messages."""
    return " or ".join(CLASSIFIERS)
