"""The scikit-learn face."""

from directrix.classifiers.base import LinearClassifier
from directrix.classifiers.beta_bernoulli.classifier import BetaBernoulliClassifier
from directrix.classifiers.direct.classifier import DirectClassifier
from directrix.classifiers.evaluation.diagnose import Diagnosis, diagnose, normality
from directrix.classifiers.evaluation.feature_importance import (
    MAX_FEATURES,
    FeatureImportance,
    feature_importances,
)
from directrix.classifiers.evaluation.measures import (
    BinaryMeasures,
    Measure,
    ScoredRows,
    measure_binary,
    measure_multiclass,
)
from directrix.classifiers.fitting.calibration import Calibration
from directrix.classifiers.fitting.class_weights import weights_by_class
from directrix.classifiers.fitting.intervals import Intervals, Rates, effective_rows, wilson
from directrix.classifiers.fitting.operating_point import OperatingPoint
from directrix.classifiers.fitting.solvers import solver_for
from directrix.classifiers.fitting.standardization import Standardization
from directrix.classifiers.moment.classifier import MomentClassifier
from directrix.classifiers.scoring import Response, ScoringFormula, Sigmoid
from directrix.classifiers.smooth.classifier import SmoothClassifier
from directrix.classifiers.smooth.history import CandidateRecord
from directrix.classifiers.smooth.initialization import start_of
from directrix.classifiers.state import Facts, ModelState, StateArrays, is_number

__all__ = [
    "MAX_FEATURES",
    "BetaBernoulliClassifier",
    "BinaryMeasures",
    "Calibration",
    "CandidateRecord",
    "Diagnosis",
    "DirectClassifier",
    "Facts",
    "FeatureImportance",
    "Intervals",
    "LinearClassifier",
    "Measure",
    "ModelState",
    "MomentClassifier",
    "OperatingPoint",
    "Rates",
    "Response",
    "ScoredRows",
    "ScoringFormula",
    "Sigmoid",
    "SmoothClassifier",
    "Standardization",
    "StateArrays",
    "diagnose",
    "effective_rows",
    "feature_importances",
    "is_number",
    "measure_binary",
    "measure_multiclass",
    "normality",
    "solver_for",
    "start_of",
    "weights_by_class",
    "wilson",
]
