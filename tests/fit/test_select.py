import numpy as np
import pytest

from directrix.fit.compare import Comparison, OneStandardError
from directrix.fit.criterion import Criterion
from directrix.metrics import Error


def comparison_of(losses, fold_losses):
    """Return a comparison in which the metric itself decides."""
    exact = losses, losses, fold_losses
    return Comparison(*exact, Criterion(Error()), losses, losses, fold_losses)


def comparison():
    fold_losses = np.array([[0.10, 0.30], [0.11, 0.33], [0.20, 0.40], [0.12, 0.30]])
    return comparison_of(fold_losses.mean(axis=1), fold_losses)


def test_the_simplest_within_one_paired_error_of_the_best():
    compared = comparison()
    # Differences to the first: 0.02 ± 0.01, 0.1 ± 0, 0.01 ± 0.01.
    assert compared.standard_errors(0) == pytest.approx([0.0, 0.01, 0.0, 0.01])
    assert OneStandardError.of(compared, [3.0, 0.0, 0.0, 1.0])(compared.losses) == 3
    assert OneStandardError.of(compared, [0.0, 0.0, 0.0, 1.0])(compared.losses) == 0


def test_without_folds_the_best():
    compared = comparison_of(np.array([0.2, 0.1]), np.empty((2, 0)))
    assert OneStandardError.of(compared, [0.0, 5.0])(compared.losses) == 1


def test_a_rule_among_some_candidates_has_their_errors_and_complexities():
    compared = comparison()
    rule = OneStandardError.of(compared, [3.0, 0.0, 0.0, 1.0])
    some = np.array([0, 3])
    assert rule.among(some)(compared.losses[some]) == 1
    np.testing.assert_array_equal(rule.among(some).complexities, [3.0, 1.0])
