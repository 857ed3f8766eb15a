"""Small cards keep the columns that matter, chosen without the rows they are tested on."""

import numpy as np
import pytest

from directrix import Binner, ScorecardClassifier
from directrix.moments import BinCounts

pytestmark = pytest.mark.filterwarnings("ignore::directrix.exceptions.NotBetterThanBaselineWarning")


def rows(n=500, noise=6, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2 + noise))
    X[:, 3] = 1.0  # constant
    return X, np.abs(X[:, 0]) + X[:, 1] + 0.5 * rng.normal(size=n) > 1


def used(fitted):
    return [k for k, points in enumerate(fitted.card_.columns) if np.ptp(points) > 0]


def card(**kwargs):
    return ScorecardClassifier("auc", **{"cv": 3, "max_lines": None, **kwargs})


@pytest.mark.parametrize("most", [1, 2, "auto"])
def test_the_columns_that_matter_are_kept(most):
    fitted = card(max_columns=most).fit(*rows())
    if most == 1:
        assert len(used(fitted)) == 1
        assert set(used(fitted)) <= {0, 1}
    else:
        assert used(fitted) == [0, 1]
    crossed = {k for cross in fitted.card_.crosses for k in cross.columns}
    assert crossed <= set(used(fitted))


def test_columns_that_are_dropped_do_not_matter():
    X, y = rows()
    fitted = card(max_columns=2, max_crosses=0).fit(X, y)
    changed = X.copy()
    changed[:, 2:] = np.random.default_rng(1).normal(size=changed[:, 2:].shape) * 100
    np.testing.assert_array_equal(fitted.decision_function(changed), fitted.decision_function(X))


def test_more_than_there_are_is_all():
    X, y = rows(200)
    np.testing.assert_allclose(
        card(max_columns=50, max_crosses=0).fit(X, y).decision_function(X).argsort(),
        card(max_columns=7, max_crosses=0).fit(X, y).decision_function(X).argsort(),
    )


def test_directions_and_small_cards_go_together():
    fitted = card(max_columns=1, monotone={1: "increasing"}, max_crosses=0).fit(*rows())
    assert (np.diff(fitted.card_.columns[1][1:]) >= -1e-12).all()


def test_a_column_that_was_dropped_does_not_contradict_its_direction():
    fitted = card(max_columns=1, monotone={1: "increasing", 5: "increasing"}).fit(*rows())
    assert used(fitted) == [1]
    assert not any(price.flat for price in fitted.report_.directions)


@pytest.mark.parametrize("most", [0, -1, 1.5, True, "few"])
def test_wrong_numbers_are_refused(most):
    with pytest.raises(ValueError, match="max_columns must be a whole number, 1 or more"):
        card(max_columns=most).fit(*rows(60))


def test_counts_alone_cannot_choose():
    X, y = rows(60)
    counts = BinCounts.of(Binner().fit(X), X, y)
    with pytest.raises(ValueError, match="needs rows to choose by"):
        card(max_columns=2).fit_summary(counts)
