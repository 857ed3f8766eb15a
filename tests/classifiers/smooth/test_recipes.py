import numpy as np
import pytest

from directrix import SmoothClassifier
from directrix.classifiers.smooth import recipes_for
from directrix.linear import Hinge

RNG = np.random.default_rng(0)
Y = RNG.random(60) < 0.5
X = RNG.normal(size=(60, 2)) + Y[:, None]


def test_a_loss_is_sharpened_level_by_level_for_each_ridge():
    made = recipes_for(SmoothClassifier(loss="hinge", alpha=(0.1, 1.0), levels=(1, 2)))
    assert [recipe.key[:2] for recipe in made] == [
        (Hinge(kappa), ridge) for ridge in (0.1, 1.0) for kappa in (0.1, 0.05)
    ]


@pytest.mark.parametrize(
    ("parameters", "groups", "message"),
    [
        ({}, None, "cannot choose from a cost sweep: give a loss"),
        ({"loss": "hinge"}, None, "cannot choose from 4 values of alpha: give one number"),
        ({"loss": "hinge", "alpha": 0.1}, np.arange(60), "has no folds to keep groups together"),
    ],
)
def test_without_folds_there_is_nothing_to_choose(parameters, groups, message):
    with pytest.raises(ValueError, match=f"cv=None holds no rows out and {message}"):
        SmoothClassifier(cv=None, **parameters).fit(X, Y, groups=groups)


def test_without_folds_the_line_is_the_minimum_as_it_is():
    ours = SmoothClassifier(loss="hinge", solver="bundle", alpha=0.01, cv=None).fit(X, Y)
    margins = np.where(Y, 1.0, -1.0) * ours.decision_function(X)
    weight = ours.coef_[0] * ours.feature_scales_
    value = np.maximum(1.0 - margins, 0.0).mean() + 0.005 * weight @ weight
    assert ours.history_[-1].value == pytest.approx(value, rel=1e-9)
    assert ours.operating_point_.rows == "the training rows"
    assert ours.operating_point_.empirical.metric == np.mean(ours.predict(X) != Y)
    # A loss of pairs has no intercept: the best threshold of the training rows is taken.
    ranked = SmoothClassifier("error", loss="pairwise_hinge", alpha=0.01, cv=None).fit(X, Y)
    scores = ranked.decision_function(X)
    least = min(np.mean((scores > cut) != Y) for cut in [*scores, scores.min() - 1.0])
    assert np.mean(ranked.predict(X) != Y) == least


def test_a_kernel_without_a_ridge_is_refused():
    with pytest.raises(ValueError, match=r"loss='zero_one' has no ridge.*or no kernel"):
        SmoothClassifier(loss="zero_one", kernel="rbf").fit(X, Y)
