"""Weights of evidence and information values: their definition and their inequalities."""

import numpy as np
import pytest

from directrix.tables.evidence import information_value, weights_of_evidence


def test_evidence_is_the_logarithm_of_a_ratio_of_shares():
    cells = np.array([[10, 30, 0], [5, 5, 0]])
    p, q = np.array([5.5, 5.5]) / 11, np.array([10.5, 30.5]) / 41
    evidence = weights_of_evidence(cells, 0.5)
    np.testing.assert_allclose(evidence, [*np.log(p / q), 0.0], rtol=1e-14)
    assert information_value(cells, 0.5) == pytest.approx(float((p - q) @ np.log(p / q)))


@pytest.mark.parametrize("seed", range(20))
def test_merging_cells_never_adds_information(seed):
    rng = np.random.default_rng(seed)
    cells = rng.integers(1, 50, (2, 6))
    merged = np.column_stack([cells[:, :2].sum(axis=1), cells[:, 2:]])
    fine, coarse = (information_value(c, 0.0) for c in (cells, merged))
    assert 0 <= coarse <= fine
    # Twice the negatives are the same shares.
    assert information_value(cells * [[2], [1]], 0.0) == pytest.approx(fine, rel=1e-12)
    # The evidence changes its sign with the classes, the information does not change.
    np.testing.assert_allclose(
        weights_of_evidence(cells[::-1], 0.5), -weights_of_evidence(cells, 0.5), rtol=1e-12
    )
    assert information_value(cells[::-1], 0.0) == pytest.approx(fine, rel=1e-12)


def test_equal_shares_have_no_information():
    assert information_value(np.array([[10, 20, 30], [1, 2, 3]]), 0.0) == pytest.approx(
        0, abs=1e-15
    )
    assert information_value(np.zeros((2, 3), dtype=int), 0.5) == 0.0


def test_infinite_evidence_is_refused():
    with pytest.raises(ValueError, match=r"use smoothing=0\.5"):
        weights_of_evidence(np.array([[1, 2], [0, 3]]), 0.0)
    for smoothing in (-1, float("nan")):
        with pytest.raises(ValueError, match="not negative"):
            weights_of_evidence(np.array([[1], [1]]), smoothing)
