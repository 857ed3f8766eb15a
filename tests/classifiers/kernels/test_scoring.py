import numpy as np
import pytest
from kernel_problems import counts
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from directrix import BetaBernoulliClassifier, SmoothClassifier
from directrix.classifiers.kernels import Kernel, kernel_units
from directrix.export import to_json, to_python, to_sql

X, Y = counts()


@pytest.mark.parametrize("classifier", [BetaBernoulliClassifier(), SmoothClassifier(loss="hinge")])
class TestBothClassifiers:
    def test_scores_are_a_sum_over_rows(self, classifier):
        ours = clone(classifier).set_params(kernel="rbf", kernel_params={"gamma": 0.2}).fit(X, Y)
        standard, centers = ((Z - X.mean(0)) / X.std(0) for Z in (X[:5], ours.support_vectors_))
        expected = rbf_kernel(standard, centers, gamma=0.2) @ ours.dual_coef_[0] + ours.intercept_
        np.testing.assert_allclose(ours.decision_function(X[:5]), expected, rtol=0, atol=1e-12)

    def test_what_needs_coefficients_of_features_is_refused_with_a_reason(self, classifier):
        ours = clone(classifier).set_params(kernel="rbf").fit(X, Y)
        for name in ("coef_", "feature_scales_"):
            with pytest.raises(AttributeError, match=rf"sum over rows .* no {name}.*Nystroem"):
                getattr(ours, name)
        with pytest.raises(AttributeError, match="object has no attribute 'nothing'"):
            ours.nothing  # noqa: B018
        for write in (to_sql, to_json, to_python):
            with pytest.raises(ValueError, match="no form in SQL, ONNX, JSON or Python"):
                write(ours)
        with pytest.raises(ValueError, match="no form in SQL"):
            ours.score_histogram(X, target=Y)

    def test_another_fit_leaves_nothing_of_the_last(self, classifier):
        ours = clone(classifier).set_params(kernel="rbf").fit(X, Y)
        ours.set_params(kernel=None).fit(X, Y)
        assert ours.coef_.shape == (1, 6)
        assert not hasattr(ours, "dual_coef_")
        assert not hasattr(ours.set_params(kernel="min").fit(X, Y), "coef_")


@pytest.mark.parametrize(("name", "scaled"), [("rbf", True), ("min", False), (np.dot, False)])
def test_only_kernels_that_allow_it_are_of_standardised_features(name, scaled):
    units = kernel_units(Kernel(name), X, np.ones(len(X)))
    np.testing.assert_allclose(units.mean, X.mean(0) if scaled else np.zeros(6))
    np.testing.assert_allclose(units.scale, X.std(0) if scaled else np.ones(6))
