import numpy as np
import pytest
from kernel_problems import counts
from sklearn.metrics.pairwise import rbf_kernel

from directrix import BetaBernoulliClassifier
from directrix.classifiers.kernels.kernel import Kernel
from directrix.classifiers.kernels.scoring import expansion_scores, kernel_units

X, Y = counts()


def test_scores_are_a_sum_over_rows():
    ours = BetaBernoulliClassifier(kernel="rbf", kernel_params={"gamma": 0.2}).fit(X, Y)
    standard, centers = ((rows - X.mean(0)) / X.std(0) for rows in (X[:5], ours.support_vectors_))
    expected = rbf_kernel(standard, centers, gamma=0.2) @ ours.dual_coef_[0] + ours.intercept_
    np.testing.assert_allclose(expansion_scores(ours, X[:5]), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("name", "scaled"), [("rbf", True), ("min", False), (np.dot, False)])
def test_only_kernels_that_allow_it_are_of_standardised_features(name, scaled):
    units = kernel_units(Kernel(name), X, np.ones(len(X)))
    np.testing.assert_allclose(units.mean, X.mean(0) if scaled else np.zeros(6))
    np.testing.assert_allclose(units.scale, X.std(0) if scaled else np.ones(6))
