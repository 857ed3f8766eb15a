"""Competitors: one a file, all behind the signature of `Rival`."""

from __future__ import annotations

from benchmarks.rivals import (
    adam,
    boosting,
    discriminant,
    libauc_line,
    linear_svc,
    logistic,
    naive_bayes,
    ours,
    pairwise_hinge,
    smote,
    stochastic_gradient,
    vowpal,
    xgboost_pairs,
)
from benchmarks.rivals.base import Rival
from benchmarks.rivals.cost_logistic import CostLogistic
from benchmarks.rivals.prior import Prior
from benchmarks.rivals.tuned_threshold import TunedThreshold

TUNED = "logistic, tuned"
#: By name, in the order of the tables.
RIVALS: dict[str, Rival] = {
    "direct": ours.direct,
    "moment": ours.moment,
    "smooth": ours.smooth,
    "beta-bernoulli": ours.beta_bernoulli,
    "prior": Prior(),
    "Fisher": discriminant.fisher,
    "LDA, shrunk": discriminant.shrunk,
    "logistic": logistic.Default(),
    TUNED: logistic.tuned,
    "balanced logistic, tuned": logistic.balanced,
    "logistic, tuned threshold": TunedThreshold(),
    "linear SVC, tuned": linear_svc.tuned,
    "SGD, hinge": stochastic_gradient.hinge,
    "SGD, log": stochastic_gradient.log,
    "Adam": adam.logistic,
    "pairwise hinge": pairwise_hinge.lbfgs,
    "SMOTE + logistic": smote.logistic,
    "Vowpal Wabbit": vowpal.logistic,
    "LibAUC": libauc_line.auc,
    "empulse": CostLogistic(),
    "naive Bayes": naive_bayes.gaussian,
    "HistGradientBoosting": boosting.hist,
    "XGBoost, pairwise": xgboost_pairs.pairwise,
}

OURS, LINEAR, REFERENCES = (
    tuple(name for name, rival in RIVALS.items() if rival.family == family)
    for family in ("ours", "linear", "reference")
)

__all__ = ["LINEAR", "OURS", "REFERENCES", "RIVALS", "TUNED", "Rival"]
