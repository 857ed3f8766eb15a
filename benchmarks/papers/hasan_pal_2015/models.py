"""The classifiers of the tables as they are measured: scaled, and tuned where a name says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, RobustScaler, StandardScaler

from directrix.papers import BetaBernoulliClassifier, PlateauClassifier

_LAMS = (0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def papers(variant: str, scaler: Any = None) -> Pipeline:
    """Return a configuration of the paper, of standardised features."""
    return make_pipeline(scaler or StandardScaler(), BetaBernoulliClassifier(variant))


def plateau(plateaus: str = "robust", lam: float = 1.0) -> Pipeline:
    """Return ours, of features scaled by median and quartiles."""
    return make_pipeline(RobustScaler(), PlateauClassifier(plateaus, lam=lam))


def tuned_plateau(
    plateaus: str = "robust", lams: Sequence[float] = _LAMS, *, sparse: bool = False
) -> GridSearchCV:
    """Return ours with the λ of the least log-loss in five folds."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = make_pipeline(MaxAbsScaler() if sparse else RobustScaler(), PlateauClassifier(plateaus))
    grid = {"plateauclassifier__lam": lams}
    return GridSearchCV(model, grid, cv=folds, scoring="neg_log_loss")
