import numpy as np
import pytest

from directrix import MomentClassifier, Moments
from directrix.classifiers.moment import best_by_risk
from directrix.exceptions import FewRowsWarning
from directrix.fitting.progress import Progress
from directrix.metrics import FBeta
from directrix.moments.projection import project


def moments(n=400, fold=None):
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    return Moments.of(rng.normal(size=(n, 3)) + y[:, None], y, fold=fold)


def test_no_other_threshold_of_the_line_has_less_risk():
    summary = moments()
    frontier, fitted = best_by_risk(summary, FBeta(), "oas", Progress(MomentClassifier()))
    assert frontier.shrinkage == "oas"
    best = FBeta().risk().value(project(summary, fitted.line))
    for shift in (-0.2, 0.2):
        other = fitted.line + np.array([0.0, 0.0, 0.0, shift])
        assert FBeta().risk().value(project(summary, other)) > best
    assert fitted.held_out is None


def test_folds_without_both_classes_choose_no_shrinkage():
    summary = moments(fold=np.zeros(400, dtype=int))
    with pytest.warns(FewRowsWarning, match="'oas' is used"):
        frontier, _ = best_by_risk(summary, FBeta(), "cv", Progress(MomentClassifier()))
    assert frontier.shrinkage == "oas"
