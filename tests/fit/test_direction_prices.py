"""Effects are differences of the metric with and without directions; above zero is better."""

import numpy as np

from directrix.fit.curves import ScoreCurves
from directrix.fit.directions import DirectionPrices
from directrix.metrics import AUC


def test_the_effect_of_a_direction_is_the_gain_over_others_alone():
    rng = np.random.default_rng(0)
    positive = rng.random(400) < 0.5
    noise = {(0, 1): 3.0, (1,): 1.0, (0,): 3.0, (): 0.5}
    scores = {kept: positive + size * rng.normal(size=400) for kept, size in noise.items()}

    def held_out(kept):
        return ScoreCurves(positive, scores[tuple(kept)], np.ones(400), None)

    prices = DirectionPrices([("a", "increasing"), ("b", "decreasing")], held_out).of(AUC(), ["b"])
    area = {kept: AUC().score(positive, values) for kept, values in scores.items()}
    assert np.allclose(
        [price.effect.mean for price in prices],
        [area[0, 1] - area[(1,)], area[0, 1] - area[(0,)], area[0, 1] - area[()]],
    )
    assert [price.flat for price in prices] == [False, True, False]
    assert DirectionPrices([], held_out).of(AUC(), []) == ()


def test_of_many_directions_only_all_together_have_an_effect():
    positive = np.arange(60) % 2 == 0
    asked = []

    def held_out(kept):
        asked.append(len(kept))
        return ScoreCurves(positive, positive + 0.1 * len(kept), np.ones(60), None)

    wishes = [(f"x{k}", "increasing") for k in range(30)]
    prices = DirectionPrices(wishes, held_out).of(AUC(), ["x3"])
    assert asked == [30, 0]
    assert len(prices) == 31
    assert prices[3].effect is None
    assert prices[3].flat
    assert prices[-1].effect.mean == 0.0
