"""The scikit-learn face.

Names that are imported here and not listed in ``__all__`` are for other rooms of the library.
"""

from directrix.classifiers.base import LinearClassifier as LinearClassifier
from directrix.classifiers.beta_bernoulli.classifier import BetaBernoulliClassifier
from directrix.classifiers.class_names import output_names as output_names
from directrix.classifiers.class_names import probability_names as probability_names
from directrix.classifiers.direct.classifier import DirectClassifier
from directrix.classifiers.direct.gap import Gap as Gap
from directrix.classifiers.direct.report import sentence as sentence
from directrix.classifiers.evaluation.diagnose import Diagnosis, diagnose
from directrix.classifiers.evaluation.diagnose import normality as normality
from directrix.classifiers.evaluation.feature_importance import MAX_FEATURES as MAX_FEATURES
from directrix.classifiers.evaluation.feature_importance import (
    FeatureImportance as FeatureImportance,
)
from directrix.classifiers.evaluation.feature_importance import (
    feature_importances as feature_importances,
)
from directrix.classifiers.evaluation.measures import BEST_CUTOFF as BEST_CUTOFF
from directrix.classifiers.evaluation.measures import BinaryMeasures as BinaryMeasures
from directrix.classifiers.evaluation.measures import Measure as Measure
from directrix.classifiers.evaluation.measures import ScoredRows as ScoredRows
from directrix.classifiers.evaluation.measures import measure_binary as measure_binary
from directrix.classifiers.evaluation.measures import measure_multiclass as measure_multiclass
from directrix.classifiers.fitting.calibration import Calibration as Calibration
from directrix.classifiers.fitting.calibration import (
    calibration_from_scores as calibration_from_scores,
)
from directrix.classifiers.fitting.class_weights import weights_by_class as weights_by_class
from directrix.classifiers.fitting.intervals import Intervals as Intervals
from directrix.classifiers.fitting.intervals import Rates as Rates
from directrix.classifiers.fitting.intervals import Sizes as Sizes
from directrix.classifiers.fitting.intervals import effective_rows as effective_rows
from directrix.classifiers.fitting.intervals import wilson as wilson
from directrix.classifiers.fitting.operating_point import OnRows as OnRows
from directrix.classifiers.fitting.operating_point import OperatingPoint
from directrix.classifiers.fitting.operating_point import aligned as aligned
from directrix.classifiers.fitting.operating_point import predicted_rates as predicted_rates
from directrix.classifiers.fitting.solvers import solver_for as solver_for
from directrix.classifiers.fitting.standardization import Standardization as Standardization
from directrix.classifiers.kernels.kernel import alpha_from_svc, gamma_from_bandwidth
from directrix.classifiers.moment.classifier import MomentClassifier
from directrix.classifiers.positive import ending_with as ending_with
from directrix.classifiers.positive import positive_of as positive_of
from directrix.classifiers.positive import toward_positive as toward_positive
from directrix.classifiers.scorecard.card.card import Card as Card
from directrix.classifiers.scorecard.card.card import Cross as Cross
from directrix.classifiers.scorecard.card.printed.cross_table import CrossTable as CrossTable
from directrix.classifiers.scorecard.card.printed.rows import CardRow as CardRow
from directrix.classifiers.scorecard.card.scales import IntegerPoints, PointsToDoubleOdds
from directrix.classifiers.scorecard.classifier import ScorecardClassifier
from directrix.classifiers.scoring import CardFormula as CardFormula
from directrix.classifiers.scoring import LinearFormula as LinearFormula
from directrix.classifiers.scoring import Response as Response
from directrix.classifiers.scoring import ScoringFormula as ScoringFormula
from directrix.classifiers.scoring import Sigmoid as Sigmoid
from directrix.classifiers.smooth.classifier import SmoothClassifier
from directrix.classifiers.smooth.history import CandidateRecord as CandidateRecord
from directrix.classifiers.smooth.initialization import start_of as start_of
from directrix.classifiers.state import Facts as Facts
from directrix.classifiers.state import ModelState as ModelState
from directrix.classifiers.state import StateArrays as StateArrays
from directrix.classifiers.state import is_number as is_number
from directrix.classifiers.state import model_params as model_params
from directrix.classifiers.threshold_classifier import ThresholdClassifier as ThresholdClassifier

__all__ = [
    "BetaBernoulliClassifier",
    "Diagnosis",
    "DirectClassifier",
    "IntegerPoints",
    "MomentClassifier",
    "OperatingPoint",
    "PointsToDoubleOdds",
    "ScorecardClassifier",
    "SmoothClassifier",
    "alpha_from_svc",
    "diagnose",
    "gamma_from_bandwidth",
]
