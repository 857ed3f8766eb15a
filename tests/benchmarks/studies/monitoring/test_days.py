import numpy as np
import pytest

from benchmarks.studies.monitoring.days import (
    COLUMN,
    COLUMNS,
    CORRELATED,
    DRIFTS,
    NEGATIVES,
    POSITIVES,
    SIZE,
    SPREAD,
    TOWARD,
    draw,
)

N = 200_000


@pytest.fixture(scope="module")
def usual():
    return draw(np.random.default_rng(0), N, 0.3)


@pytest.mark.parametrize("drift", DRIFTS)
def test_a_drift_changes_what_it_says_and_nothing_else(drift, usual):
    X, y = draw(np.random.default_rng(0), N, 0.3, drift=drift)
    # The same random numbers: only drift differs.
    assert np.array_equal(y, usual.y)
    moved = [name for k, name in enumerate(COLUMNS) if (X[:, k] != usual.X[:, k]).any()]
    first = X[:, 0] - usual.X[:, 0]
    if drift == COLUMN:
        assert moved == ["count"]
    elif drift == TOWARD:
        assert moved == list(COLUMNS[:-1])
    elif drift in (NEGATIVES, POSITIVES):
        assert moved == ["normal"]
        rows = ~y if drift == NEGATIVES else y
        assert np.allclose(first[rows], SIZE if drift == NEGATIVES else -SIZE)
        assert not first[~rows].any()
    elif drift == CORRELATED:
        assert moved == ["second"]
        assert np.corrcoef(X[~y, 4], X[~y, 5])[0, 1] == pytest.approx(0.2, abs=0.01)
        assert X[~y, 5].std() == pytest.approx(1.0, abs=0.01)
    else:
        assert drift == SPREAD
        assert moved == ["normal"]
        assert X[~y, 0].std() == pytest.approx(1.3, abs=0.01)
        assert X[~y, 0].mean() == pytest.approx(0.0, abs=0.01)


def test_columns_are_skewed_rounded_counted_and_binary(usual):
    X, _ = usual
    assert np.mean((X[:, 1] - X[:, 1].mean()) ** 3) / X[:, 1].std() ** 3 > 2.0
    assert np.array_equal(2.0 * X[:, 2], np.round(2.0 * X[:, 2]))
    assert np.array_equal(X[:, 3], np.floor(X[:, 3]))
    assert set(np.unique(X[:, 6])) == {0.0, 1.0}
    assert usual.y.mean() == pytest.approx(0.3, abs=0.01)
