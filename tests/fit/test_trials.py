"""Tests of Trials: what the choice of a structure promises too much."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from directrix.fit.training_rows import Rows
from directrix.fit.trials import HeldOutArea, Trials, label_noise
from directrix.metrics import AUC

RNG = np.random.default_rng(0)
N = 400
POSITIVE = RNG.random(N) < 0.3
SCORES = RNG.normal(size=(N, 2)) + 0.5 * POSITIVE[:, None]
FOLD = np.arange(N) % 2


def rows(**more):
    return Rows(np.empty((N, 0)), POSITIVE, np.ones(N), FOLD, **more)


def test_the_area_is_the_mean_over_folds():
    held_out = HeldOutArea.of(SCORES[:, 0], rows(), [0, 1])
    areas = [roc_auc_score(POSITIVE[k == FOLD], SCORES[k == FOLD, 0]) for k in (0, 1)]
    assert held_out.area == pytest.approx(np.mean(areas), abs=1e-12)


def test_influences_predict_the_area_without_a_row():
    one = rows()._replace(fold=np.zeros(N, dtype=int))
    held_out = HeldOutArea.of(SCORES[:, 0], one, [0])
    for row in (3, 57, 200):
        kept = np.arange(N) != row
        without = AUC().score(POSITIVE[kept], SCORES[kept, 0])
        side = POSITIVE[row] == POSITIVE
        moved = held_out.area - without
        assert held_out.influence[row] == pytest.approx(moved, rel=2.0 / side.sum(), abs=1e-9)


def test_paired_differences_vary_as_over_samples():
    differences, predicted = [], []
    for seed in range(300):
        rng = np.random.default_rng(seed)
        positive = rng.random(N) < 0.3
        first = rng.normal(size=N) + 0.5 * positive
        second = first + 0.3 * rng.normal(size=N)
        seen = Rows(np.empty((N, 0)), positive, np.ones(N), FOLD)
        one, other = (HeldOutArea.of(scores, seen, [0, 1]) for scores in (first, second))
        differences.append(one.area - other.area)
        predicted.append(np.sum((one.influence - other.influence) ** 2))
    # The deviation of 300 differences is known to 4 %; three of these.
    assert np.sqrt(np.mean(predicted)) == pytest.approx(np.std(differences), rel=0.13)


def test_rows_of_a_group_count_as_one():
    alone = HeldOutArea.of(SCORES[:, 0], rows(), [0, 1])
    twice = [np.repeat(each, 2, axis=0) for each in (POSITIVE, np.ones(N), FOLD)]
    again = Rows(np.empty((2 * N, 0)), *twice, group=np.repeat(np.arange(N), 2))
    grouped = HeldOutArea.of(np.repeat(SCORES[:, 0], 2), again, [0, 1])
    np.testing.assert_allclose(grouped.influence, alone.influence, atol=1e-12)


def test_excess_of_equal_models_is_that_of_the_larger_of_two_normals():
    trials = Trials(np.array([0.5, 0.5 + 1e-9]), 0.01**2 * np.eye(2), np.argmin)
    assert trials.excess == pytest.approx(np.sqrt(2.0) * 0.01 / np.sqrt(np.pi), rel=0.15)


def test_model_far_ahead_has_no_excess():
    trials = Trials(np.array([0.5, 0.9]), 0.01**2 * np.eye(2), np.argmin)
    assert trials.excess == pytest.approx(0.0, abs=2e-3)


def test_a_part_of_the_rows_has_its_share_of_the_excess():
    whole = Trials(np.array([0.6, 0.6]), 0.02**2 * np.eye(2), np.argmin)
    part = Trials(whole.areas, whole.covariance, np.argmin, share=0.25)
    assert part.excess == pytest.approx(whole.excess / 4.0)


def test_rates_come_nearer_to_each_other():
    trials = Trials(np.array([0.6, 0.6]), 0.02**2 * np.eye(2), np.argmin)
    tpr, fpr = trials.without_excess(0.6, 0.3)
    assert 0.55 < tpr < 0.6
    assert 0.3 < fpr < 0.35


def test_labels_alone_make_areas_near_chance_only():
    assert label_noise(0.5, 1e-3) == label_noise(0.55, 1e-3) == 1.0
    assert label_noise(0.9, 1e-3) < 0.1
