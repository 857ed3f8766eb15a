"""Cross-validation of a choice against brute force, and against the truth on new rows."""

import numpy as np
import pytest

from directrix.fit import choice_validation
from directrix.fit.choice_validation import (
    JudgedWithoutPart,
    PartCurves,
    held_out_rates,
    most_promising,
    optimism_of_ranking,
    optimism_of_rates,
)
from directrix.fit.compare import OneStandardError
from directrix.fit.criterion import Criterion
from directrix.metrics import AUC, Error, FBeta, GMean, PrecisionAtK, RecallAtFPR
from directrix.metrics.base import Curve


def noise(n=200, k=20, seed=0, gap=0.0, share=0.4):
    """Return scores of k equally good candidates, and which rows are positive."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    return rng.normal(size=(n, k)) + gap * positive[:, None], positive


def repeat_choice(curves, metric, rule, offset=0.0):
    """Choose candidate and threshold again without each part."""
    return JudgedWithoutPart.of(curves, Criterion(metric), metric, offset).repeat(rule)


def splits_of(positive, group=None):
    """Return the parts of the rows in each of the four splits."""
    return np.stack([choice_validation._random_parts(positive, group, s) for s in range(4)])


@pytest.mark.parametrize("metric", [Error(), FBeta(), RecallAtFPR(0.1), PrecisionAtK(0.2)], ids=str)
def test_equals_choosing_again_without_each_part(metric):
    scores, positive = noise(150, 6, gap=1.0)
    weight = np.ones(150)
    curves = PartCurves.of(scores, positive, weight)
    choice = repeat_choice(curves, metric, np.argmin)
    above = np.zeros((4, 150), dtype=bool)
    of_positives, of_negatives = [], []
    for split, part in enumerate(splits_of(positive)):
        for number in range(10):
            out = part == number
            factor = 150 / (~out).sum()
            optima = [
                metric.best(Curve.of(positive[~out], column[~out], factor * weight[~out]))
                for column in scores.T
            ]
            values = np.array([optimum.value for optimum in optima])
            best = int(choice.candidate[split, number])  # any one of equals
            extreme = values.max() if metric.greater_is_better else values.min()
            assert values[best] == pytest.approx(extreme, abs=1e-12)
            # `PartCurves` cuts at a score, `Curve` between two: both split these rows alike.
            kept = np.sort(scores[~out, best])[::-1]
            count = int((scores[~out, best] > optima[best].threshold).sum())
            threshold = kept[count] if count < len(kept) else -np.inf
            above[split, out] = scores[out, best] > threshold
            for side, totals in ((positive, of_positives), (~positive, of_negatives)):
                seen = (scores[~out & side, best] > threshold).mean()
                totals.append(seen * (out & side).sum() / side.sum() / 4.0)
    optimism = optimism_of_rates(curves, choice)
    of_negatives, of_positives = sum(of_negatives), sum(of_positives)
    assert optimism.tpr == pytest.approx(of_positives - above[:, positive].mean(), abs=0.03)
    assert optimism.fpr == pytest.approx(of_negatives - above[:, ~positive].mean(), abs=0.03)
    rates = held_out_rates(curves, choice)
    # Rounding may decide between equally good thresholds.
    assert rates.tpr == pytest.approx(above[:, positive].mean(), abs=0.03)
    assert rates.fpr == pytest.approx(above[:, ~positive].mean(), abs=0.03)


def test_parts_hold_all_rows_by_weight():
    scores, positive = noise(500, 3)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 500)
    above = PartCurves.of(scores, positive, weight).above
    np.testing.assert_allclose(above[..., 1, -1].sum(axis=1), weight[positive].sum())
    np.testing.assert_allclose(above[..., 0, -1].sum(axis=1), weight[~positive].sum())
    assert (np.diff(above, axis=-1) >= 0).all()
    np.testing.assert_allclose(above[..., 0], 0.0)  # no score is above the highest


def test_curves_without_a_part_have_the_weight_of_all_rows():
    scores, positive = noise(500, 3)
    curves = PartCurves.of(scores, positive, np.ones(500))
    others, parts = curves.without_part(), curves.of_part(np.zeros((4, 10), dtype=np.int64))
    np.testing.assert_allclose(others.positives + others.negatives, 500.0)
    np.testing.assert_allclose((parts.positives + parts.negatives).sum(axis=1), 500.0)


def test_curves_of_one_candidate_are_those_of_all_candidates():
    scores, positive = noise(500, 3)
    curves = PartCurves.of(scores, positive, np.ones(500))
    candidate = np.random.default_rng(1).integers(0, 3, (4, 10))
    everything, some = curves.without_part(), curves.without_part(candidate)
    for split, part in np.ndindex(4, 10):
        chosen = candidate[split, part]
        assert np.array_equal(some.tpr[split, part, 0], everything.tpr[split, part, chosen])
        assert np.array_equal(some.fpr[split, part, 0], everything.fpr[split, part, chosen])


def test_rates_without_a_part_are_shares_whatever_the_weights():
    # Sums of such weights depend on their order: a rate of 1 + 2e-16 has no G-mean.
    rng = np.random.default_rng(0)
    positive = rng.random(20_000) < 0.1
    weight = np.where(positive, 1.0, 6.33764)
    scores = rng.standard_normal((20_000, 8)).round(1)
    others = PartCurves.of(scores, positive, weight).without_part()
    for rate in (others.tpr, others.fpr):
        assert rate.min() >= 0
        assert rate.max() == 1
    assert np.isfinite(GMean().best_of_each(others)[0]).all()


def test_rows_of_a_group_are_in_the_same_part():
    _, positive = noise(300)
    group = np.random.default_rng(2).integers(0, 40, 300)
    for part in splits_of(positive, group):
        for number in np.unique(group):
            assert len(np.unique(part[group == number])) == 1


def estimates(metric, seeds, **problem):
    """Return for each seed the metric on the rows that chose, and its cross-validated estimate."""
    pairs, rule = [], np.argmin
    for seed in range(seeds):
        scores, positive = noise(seed=seed, **problem)
        curves = PartCurves.of(scores, positive, np.ones(len(positive)))
        values = np.array([metric.best_value(Curve.of(positive, column)) for column in scores.T])
        best = rule(-values if metric.greater_is_better else values)
        choice = repeat_choice(curves, metric, rule)
        if metric.uses_threshold:
            rates = held_out_rates(curves, choice)
            estimate = metric.at_rates(rates.tpr, rates.fpr, positive.mean())
        else:
            estimate = values[best] - optimism_of_ranking(curves, metric, choice, best)
        pairs.append((values[best], estimate))
    return np.array(pairs)


def test_the_error_of_pure_noise_is_one_half():
    # Half of the rows are positive: whatever is chosen has an error of one half on new rows.
    pairs = estimates(Error(), 60, share=0.5)
    naive, estimate = pairs.mean(axis=0)
    assert naive < 0.42  # the same rows chose and judged
    assert abs(estimate - 0.5) < 4 * pairs[:, 1].std() / np.sqrt(60)


def test_the_auc_of_pure_noise_is_one_half():
    pairs = estimates(AUC(), 60)
    naive, estimate = pairs.mean(axis=0)
    assert naive > 0.56
    assert abs(estimate - 0.5) < 4 * pairs[:, 1].std() / np.sqrt(60)


def test_recall_at_a_limit_of_pure_noise_is_far_lower_than_on_the_rows_that_chose():
    pairs = estimates(RecallAtFPR(0.2), 60)
    naive, estimate = pairs.mean(axis=0)
    assert naive > 0.3
    assert estimate < 0.25


def test_the_rule_of_the_fit_chooses():
    # The second candidate is simpler and within one standard error of the first.
    scores, positive = noise(400, 2, gap=1.0)
    curves = PartCurves.of(scores, positive, np.ones(400))
    rule = OneStandardError(np.array([3.0, 0.0]), np.full((2, 2), 1.0))
    choice = repeat_choice(curves, Error(), rule)
    assert (choice.candidate == 1).all()


def test_the_offset_of_the_losses_counts():
    scores, positive = noise(400, 2, gap=1.0)
    curves = PartCurves.of(scores, positive, np.ones(400))
    for offset, expected in (([1.0, 0.0], 1), ([0.0, 1.0], 0)):
        choice = repeat_choice(curves, Error(), np.argmin, np.array(offset))
        assert (choice.candidate == expected).all()


def test_a_part_with_all_rows_of_a_class_stays_in():
    scores, positive = noise(40, 2)
    positive[:] = False
    positive[7] = True
    curves = PartCurves.of(scores, positive, np.ones(40))
    choice = repeat_choice(curves, Error(), np.argmin)
    assert 0.0 <= held_out_rates(curves, choice).tpr <= 1.0


def test_the_best_and_some_of_each_complexity_are_promising():
    losses = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    assert most_promising(losses, [3.0, 3.0, 3.0, 1.0, 1.0], 1, 1).tolist() == [0, 3]
    assert most_promising(losses, [3.0, 3.0, 3.0, 1.0, 1.0], 2, 2).tolist() == [0, 1, 3, 4]


@pytest.mark.parametrize("first", [(0.0, 2.0), (3.0, 0.0), (0.0, 0.0)])
def test_the_curve_of_all_rows_begins_where_none_is_above(first):
    # Weights of negatives and positives above three thresholds, of one split, part and candidate.
    above = np.array([[first[0], 3.0, 4.0], [first[1], 2.0, 5.0]])[None, None, None]
    curve = PartCurves(above).whole(0)
    assert (curve.false_positives[0], curve.true_positives[0]) == (0.0, 0.0)
    assert (curve.false_positives[-1], curve.true_positives[-1]) == (4.0, 5.0)
    assert len(curve.true_positives) == 3 + any(first)
