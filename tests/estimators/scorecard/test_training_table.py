"""The counts of a card are those of its table."""

import numpy as np
import pandas as pd
import pytest

from directrix import ScorecardClassifier
from directrix.cards.counted import two_sides


def test_counts_are_those_of_the_table_whatever_the_class_weight():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"town": rng.choice(["a", "b"], 200), "age": rng.integers(0, 5, 200) * 1.0})
    y = rng.random(200) < 0.3
    weight = rng.integers(0, 3, 200).astype(float)
    card = ScorecardClassifier("auc", cv=2, max_lines=None, class_weight="balanced")
    card = card.fit(X, y, weight).card_
    weight /= weight[weight > 0].mean()  # a factor of all weights means nothing
    labels = card.bins[0].labels
    for town in ("a", "b"):
        cell = labels.index(town)
        for side in (0, 1):
            expected = weight[(X["town"] == town) & (y == side)].sum()
            assert card.counts[0][side, cell] == pytest.approx(expected, rel=1e-9)
    for counts in card.counts:
        assert counts.sum() == pytest.approx(weight.sum(), rel=1e-9)


def test_sides_are_one_class_against_all_others():
    by_class = [np.arange(12.0).reshape(3, 4)]
    (counts,) = two_sides(by_class, np.array([False, True, False]))
    np.testing.assert_array_equal(counts, [[8, 10, 12, 14], [4, 5, 6, 7]])
