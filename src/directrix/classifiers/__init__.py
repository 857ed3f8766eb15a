"""Classifiers with the interface of scikit-learn, and what their fits return.

Names are imported when they are first asked for: a scorecard needs nothing of the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from directrix.classifiers.direct import DirectClassifier
    from directrix.classifiers.evaluation import Diagnosis, diagnose
    from directrix.classifiers.given_scores import Evaluation, evaluate, threshold_for
    from directrix.classifiers.moment import MomentClassifier
    from directrix.classifiers.operating_point_classifier import OperatingPointClassifier
    from directrix.classifiers.scorecard.classifier import ScorecardClassifier
    from directrix.models.card import Card, IntegerPoints, PointsToDoubleOdds
    from directrix.models.operating_point import OperatingPoint
    from directrix.models.risk_bands import RiskBand, RiskBands

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
    "DirectClassifier": "directrix.classifiers.direct",
    "MomentClassifier": "directrix.classifiers.moment",
    "OperatingPointClassifier": "directrix.classifiers.operating_point_classifier",
    "ScorecardClassifier": "directrix.classifiers.scorecard.classifier",
    "OperatingPoint": "directrix.models.operating_point",
    **dict.fromkeys(("Diagnosis", "diagnose"), "directrix.classifiers.evaluation"),
    **dict.fromkeys(
        ("Evaluation", "evaluate", "threshold_for"), "directrix.classifiers.given_scores"
    ),
    **dict.fromkeys(("Card", "IntegerPoints", "PointsToDoubleOdds"), "directrix.models.card"),
    **dict.fromkeys(("RiskBand", "RiskBands"), "directrix.models.risk_bands"),
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
