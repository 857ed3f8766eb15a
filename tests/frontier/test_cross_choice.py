"""Cross-choice against brute force, and against the truth on new rows."""

import numpy as np
import pytest

from directrix.frontier import cross_choice
from directrix.frontier.cross_choice import (
    ScoresInParts,
    choose_without_parts,
    judged,
    most_promising,
    optimism_of_ranking,
)
from directrix.frontier.select import LeastLoss, OneStandardError
from directrix.metrics import AUC, Curve, Error, FBeta, PrecisionAtK, RecallAtFPR


def noise(n=200, k=20, seed=0, gap=0.0, share=0.4):
    """Return scores of k candidates, each as good as the others, and which rows are positive."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    return rng.normal(size=(n, k)) + gap * positive[:, None], positive


def parts_of(positive, group=None):
    return np.stack([cross_choice._dealt_out(positive, group, s) for s in range(4)])


@pytest.mark.parametrize("metric", [Error(), FBeta(), RecallAtFPR(0.1), PrecisionAtK(0.2)], ids=str)
def test_it_is_the_choice_made_again_without_each_part(metric):
    scores, positive = noise(150, 6, gap=1.0)
    weight = np.ones(150)
    parts = ScoresInParts.of(scores, positive, weight)
    chosen = choose_without_parts(parts, metric, metric, np.zeros(6), LeastLoss())
    above = np.zeros((4, 150), dtype=bool)
    for repeat, part in enumerate(parts_of(positive)):
        for number in range(10):
            out = part == number
            factor = 150 / (~out).sum()
            found = [
                metric.best(Curve.of(positive[~out], column[~out], factor * weight[~out]))
                for column in scores.T
            ]
            values = np.array([each.value for each in found])
            best = int(chosen.candidate[repeat, number])  # of equals, one
            extreme = values.max() if metric.greater_is_better else values.min()
            assert values[best] == pytest.approx(extreme, abs=1e-12)
            # A threshold is a score here, and between two there: both cut the rest alike.
            kept = np.sort(scores[~out, best])[::-1]
            count = int((scores[~out, best] > found[best].threshold).sum())
            threshold = kept[count] if count < len(kept) else -np.inf
            above[repeat, out] = scores[out, best] > threshold
    rates = judged(parts, chosen)
    # Of thresholds that are equally good, rounding may take another.
    assert rates.tpr == pytest.approx(above[:, positive].mean(), abs=0.03)
    assert rates.fpr == pytest.approx(above[:, ~positive].mean(), abs=0.03)


def test_all_rows_are_in_the_parts_and_weights_count():
    scores, positive = noise(500, 3)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 500)
    above = ScoresInParts.of(scores, positive, weight).above
    np.testing.assert_allclose(above[..., 1, -1].sum(axis=1), weight[positive].sum())
    np.testing.assert_allclose(above[..., 0, -1].sum(axis=1), weight[~positive].sum())
    assert (np.diff(above, axis=-1) >= 0).all()
    np.testing.assert_allclose(above[..., 0], 0.0)  # nobody is above the highest score


def test_groups_are_left_out_whole():
    _, positive = noise(300)
    group = np.random.default_rng(2).integers(0, 40, 300)
    for part in parts_of(positive, group):
        for number in np.unique(group):
            assert len(np.unique(part[group == number])) == 1


def claims(metric, seeds, **how):
    """Return for each seed what the rows that chose say, and what cross-choice does."""
    found, rule = [], LeastLoss()
    for seed in range(seeds):
        scores, positive = noise(seed=seed, **how)
        parts = ScoresInParts.of(scores, positive, np.ones(len(positive)))
        best = [metric.best(Curve.of(positive, column)) for column in scores.T]
        values = np.array([each.value for each in best])
        sign = -1.0 if metric.greater_is_better else 1.0
        chosen = choose_without_parts(parts, metric, metric, np.zeros(scores.shape[1]), rule)
        if metric.uses_threshold:
            rates = judged(parts, chosen)
            honest = metric.at_rates(rates.tpr, rates.fpr, positive.mean())
        else:
            place = rule(sign * values)
            honest = values[place] - optimism_of_ranking(parts, metric, chosen, place)
        found.append((values[rule(sign * values)], honest))
    return np.array(found)


def test_of_pure_noise_it_claims_no_more_than_chance():
    # Half of the rows are positive: whatever is chosen has an error of one half on new rows.
    found = claims(Error(), 60, share=0.5)
    naive, honest = found.mean(axis=0)
    error = found[:, 1].std() / np.sqrt(60)
    assert naive < 0.42  # what the rows say that chose
    assert abs(honest - 0.5) < 4 * error


def test_of_pure_noise_a_ranking_is_one_half():
    found = claims(AUC(), 60)
    naive, honest = found.mean(axis=0)
    assert naive > 0.56
    assert abs(honest - 0.5) < 4 * found[:, 1].std() / np.sqrt(60)


def test_recall_at_a_limit_of_noise_is_the_limit():
    found = claims(RecallAtFPR(0.2), 60)
    naive, _ = found.mean(axis=0)
    assert naive > 0.3


def test_the_rule_is_that_of_the_fit():
    # The second candidate is simpler, and within the error of the first: the rule takes it.
    scores, positive = noise(400, 2, gap=1.0)
    parts = ScoresInParts.of(scores, positive, np.ones(400))
    rule = OneStandardError(np.array([3.0, 0.0]), np.full((2, 2), 1.0))
    chosen = choose_without_parts(parts, Error(), Error(), np.zeros(2), rule)
    assert (chosen.candidate == 1).all()


def test_a_part_with_all_rows_of_a_class_stays_in():
    scores, positive = noise(40, 2)
    positive[:] = False
    positive[7] = True
    parts = ScoresInParts.of(scores, positive, np.ones(40))
    chosen = choose_without_parts(parts, Error(), Error(), np.zeros(2), LeastLoss())
    assert 0.0 <= judged(parts, chosen).tpr <= 1.0


def test_the_best_and_some_of_each_kind_are_promising():
    losses = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    assert most_promising(losses, [3.0, 3.0, 3.0, 1.0, 1.0], 1, 1).tolist() == [0, 3]
    assert most_promising(losses, [3.0, 3.0, 3.0, 1.0, 1.0], 2, 2).tolist() == [0, 1, 3, 4]
