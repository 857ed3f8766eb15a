from dataclasses import replace
from math import inf

import numpy as np
import pytest
from scipy.special import expit

from directrix.papers.hasan_pal_2015.plateaus import (
    checked_plateaus,
    even_score,
    from_rates,
    loss_of,
    pair_of,
    probability,
)


class TestNames:
    rows = np.array([True, True, True, False]), np.array([1.0, 1.0, 2.0, 1.0])

    @pytest.mark.parametrize(
        ("plateaus", "expected"),
        [
            ("robust", (0.15, 0.7)),
            ("weak", (1 / 102, 100 / 102)),  # alpha = beta = 1, n = 100
            ("empirical", (0.4, 0.5)),  # alpha = 4, beta = 1, n = 5
            ((0.1, 0.8), (0.1, 0.8)),
            ((0.0, 0.6), (0.0, 0.6)),
            ((0.3, 0.7), (0.3, 0.7)),
            ((0.0, 1.0), (0.0, 1.0)),
        ],
    )
    def test_a_name_or_a_pair_is_the_range_of_the_probabilities(self, plateaus, expected):
        loss = loss_of(checked_plateaus(plateaus), *self.rows, None)
        assert pair_of(loss) == pytest.approx(expected, abs=1e-15)
        ends = probability(loss, np.array([0.0, 1.0]))
        assert ends == pytest.approx([expected[0], sum(expected)], abs=1e-15)

    @pytest.mark.parametrize(
        "plateaus", ["strong", (0.1,), (-0.1, 0.5), (0.5, 0.0), (0.5, 0.6), (np.nan, 0.5), 0.3]
    )
    def test_what_is_neither_is_refused(self, plateaus):
        with pytest.raises(ValueError, match=r"plateaus must be 'robust', .* a pair \(a, b\)"):
            checked_plateaus(plateaus)


def test_plateaus_of_rates_are_these_rates():
    # 3 of 4 positives found, 4 of 6 negatives: the ends are TPR and 1 - TNR (eq. 27-28).
    positive = np.array([True] * 4 + [False] * 6)
    scores = np.array([1.0, 2.0, 3.0, -1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 0.0])
    a, b = pair_of(from_rates(positive, np.ones(10), scores))
    assert a + b == pytest.approx(3 / 4)
    assert 1 - a == pytest.approx(4 / 6)


def test_plateaus_of_a_line_without_errors_are_inside():
    positive = np.array([True, False])
    loss = from_rates(positive, np.ones(2), np.array([1.0, -1.0]))
    assert 0 < loss.mixing < 0.05
    assert loss.prior_mean == 0.5
    wrong = from_rates(positive, np.ones(2), np.array([-1.0, 1.0]))
    assert wrong.mixing == 0.9


class TestEvenScore:
    @pytest.mark.parametrize("gamma", [1.0, 3.0])
    @pytest.mark.parametrize("pair", [(0.15, 0.7), (0.05, 0.7), (0.4, 0.5), (0.0, 1.0)])
    def test_there_the_probability_is_one_half(self, pair, gamma):
        loss = replace(loss_of(pair, None, None, None), gamma=gamma)
        score = np.array([even_score(loss)])
        assert probability(loss, expit(gamma * score)) == pytest.approx(0.5, abs=1e-14)

    @pytest.mark.parametrize(("pair", "side"), [((0.0, 0.4), inf), ((0.6, 0.3), -inf)])
    def test_it_may_be_nowhere(self, pair, side):
        assert even_score(loss_of(pair, None, None, None)) == side
