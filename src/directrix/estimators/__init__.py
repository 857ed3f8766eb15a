"""Classifiers with the interface of scikit-learn, and what their fits return.

Names are imported when they are first asked for: a scorecard needs nothing of the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from directrix.cards.card import Card, IntegerPoints, PointsToDoubleOdds
    from directrix.cards.risk_bands import RiskBand, RiskBands
    from directrix.estimators.direct import DirectClassifier
    from directrix.estimators.evaluation import Diagnosis, diagnose
    from directrix.estimators.given_scores import Evaluation, evaluate, threshold_for
    from directrix.estimators.moment import MomentClassifier
    from directrix.estimators.operating_point import OperatingPointClassifier
    from directrix.estimators.scorecard import ScorecardClassifier
    from directrix.fit.operating_point import OperatingPoint

__all__ = [
    "Card",
    "Diagnosis",
    "DirectClassifier",
    "Evaluation",
    "IntegerPoints",
    "MomentClassifier",
    "OperatingPoint",
    "OperatingPointClassifier",
    "PointsToDoubleOdds",
    "RiskBand",
    "RiskBands",
    "ScorecardClassifier",
    "diagnose",
    "evaluate",
    "threshold_for",
]

_MODULES = {
    "DirectClassifier": "directrix.estimators.direct",
    "MomentClassifier": "directrix.estimators.moment",
    "OperatingPointClassifier": "directrix.estimators.operating_point",
    "ScorecardClassifier": "directrix.estimators.scorecard",
    "OperatingPoint": "directrix.fit.operating_point",
    **dict.fromkeys(("Diagnosis", "diagnose"), "directrix.estimators.evaluation"),
    **dict.fromkeys(
        ("Evaluation", "evaluate", "threshold_for"), "directrix.estimators.given_scores"
    ),
    **dict.fromkeys(("Card", "IntegerPoints", "PointsToDoubleOdds"), "directrix.cards.card"),
    **dict.fromkeys(("RiskBand", "RiskBands"), "directrix.cards.risk_bands"),
}

if not TYPE_CHECKING:  # or every name would be there to a type checker

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first asked for."""
        if name not in _MODULES:
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg, name=name, obj=None)
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return __all__
