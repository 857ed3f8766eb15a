"""Gains of pairs find interactions, from counts alone or from residuals of a card."""

import numpy as np
import pandas as pd
import pytest

from directrix import Binner
from directrix.tables import BinCounts
from directrix.tables.coding.crosses import additive_residuals


def table(seed=0, n=6000, interaction=1.5):
    """Return rows of four columns, of which "a" and "c" interact, and labels."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n),
            "b": rng.normal(size=n),
            "c": rng.choice(["x", "y", "z"], n),
            "empty": np.nan,
        }
    )
    effect = X["a"] + X["b"] + interaction * X["a"] * (X["c"] == "x") - 1
    return X, (rng.logistic(size=n) < effect).astype(int)


def test_the_pair_that_interacts_is_first():
    for seed in range(3):
        X, y = table(seed)
        gains = BinCounts.of(Binner().fit(X), X, y).pair_gains()
        assert gains[0][:2] == ("a", "c")
        # Other tables are mixtures over the column that is not in them, and so not quite additive.
        assert gains[0].gain > 3 * gains[1].gain
        assert [pair.gain for pair in gains] == sorted((p.gain for p in gains), reverse=True)
        assert len(gains) == 6


def test_effects_that_add_up_have_small_gains():
    for seed in range(3):
        X, y = table(seed, interaction=0)
        gains = BinCounts.of(Binner().fit(X), X, y).pair_gains()
        assert max(abs(pair.gain) for pair in gains) < 4


def test_columns_limit_the_pairs():
    X, y = table()
    counts = BinCounts.of(Binner().fit(X), X, y)
    every = {pair[:2]: pair.gain for pair in counts.pair_gains()}
    some = counts.pair_gains(columns=["c", "a"])
    assert [(pair[:2], pair.gain) for pair in some] == [(("a", "c"), every["a", "c"])]


def test_no_effect_of_a_column_is_left_in_residuals():
    X, y = table()
    counts = BinCounts.of(Binner(max_bins=6).fit(X), X, y)
    tables = counts.pair("a", "c").astype(float)
    residual, curvature = additive_residuals(tables)
    scale = tables.sum()
    np.testing.assert_allclose(residual.sum(axis=0), 0, atol=1e-5 * scale)
    np.testing.assert_allclose(residual.sum(axis=1), 0, atol=1e-5 * scale)
    positive, total = tables[1] - residual, tables.sum(axis=0)
    filled = total[1:, 2:] > 0
    assert filled.all()
    p = (positive / np.where(total > 0, total, 1))[1:, 2:]
    np.testing.assert_allclose(curvature[1:, 2:], total[1:, 2:] * p * (1 - p), rtol=1e-9)
    # Log-odds of the model add up: no second difference is left.
    odds = np.log(p / (1 - p))
    mixed = odds - odds[:1] - odds[:, :1] + odds[0, 0]
    np.testing.assert_allclose(mixed, 0, atol=1e-9)


def test_columns_that_add_up_exactly_leave_nothing():
    rate = 1 / (1 + np.exp(-(np.linspace(-1, 1, 4)[:, None] + np.linspace(0, 2, 3))))
    total = np.random.default_rng(0).integers(50, 100, (4, 3))
    residual, _ = additive_residuals(np.stack([total * (1 - rate), total * rate]))
    np.testing.assert_allclose(residual, 0, atol=1e-3)


def test_two_classes_are_needed():
    X, y = table(n=300)
    counts = BinCounts.of(Binner().fit(X), X, y + (X["b"] > 0))
    for method in (counts.pair_gains, counts.information_values):
        with pytest.raises(ValueError, match="one_vs_rest"):
            method()
    assert counts.one_vs_rest(2).pair_gains()
