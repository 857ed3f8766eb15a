import numpy as np
import pytest

from directrix.fit.choice import RateGap, RefitChange
from directrix.fit.operating_point import Rates
from directrix.fit.training_rows import Rows
from directrix.metrics import AUC, BalancedError


def gap(tpr, fpr):
    return RateGap(tpr, fpr, (0.0, 0.0))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_refit_gains_and_loses_nothing_at_chance(sign):
    change = RefitChange(gap(0.2 * sign, -0.2 * sign), 0.1 * sign, growth=1.118, chance=0.5)
    at_chance = Rates(0.4, 0.4, 0.3, 0.5)
    assert change.applied(AUC(), at_chance, 0.3).metric == pytest.approx(0.5)
    assert change.applied(BalancedError(), at_chance, 0.3).metric == pytest.approx(0.5)


def test_small_gains_are_added_whole():
    change = RefitChange(gap(0.01, 0.0), 0.005, growth=1.118, chance=0.5)
    before = Rates(0.8, 0.2, 0.5, 0.85)
    assert change.applied(AUC(), before, 0.3).metric == pytest.approx(0.855)
    assert change.applied(BalancedError(), before, 0.3).tpr == pytest.approx(0.81)
    assert change.rest(before)[:2] == (0.0, 0.0)


def test_what_is_not_added_is_left_for_the_intervals():
    change = RefitChange(gap(-0.3, 0.1), 0.0, growth=1.1)
    before = Rates(0.6, 0.4, 0.5, 0.5)
    after, rest = change.applied(BalancedError(), before, 0.3), change.rest(before)
    assert (after.tpr + rest.tpr, after.fpr + rest.fpr) == pytest.approx((0.3, 0.5))
    assert rest.tpr < -0.2


def test_the_gain_is_that_over_the_mean_of_the_folds():
    positive = np.arange(6) < 3
    rows = Rows(np.empty((6, 0)), positive, np.ones(6), np.arange(6) % 2)
    perfect, half = np.where(positive, 1.0, -1.0), np.array([1.0, 1.0, -1.0, 1.0, -1.0, -1.0])
    change = RefitChange.of(AUC(), rows, np.column_stack([perfect, half, half]), 0.0)
    assert change.gap[:2] == pytest.approx((1 / 3, -1 / 3))
    assert change.area == pytest.approx(1.0 - AUC().score(positive, half))
    assert change.growth == pytest.approx(np.sqrt(2.0))
    assert change.chance == 0.5
