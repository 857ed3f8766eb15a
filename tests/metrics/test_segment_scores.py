"""Scores of several models by segment: sums, other names, and what comes back of one model."""

import numpy as np
import pytest
from few_cases import examples

from directrix.metrics.score_histogram import bins_of_scores, histogram_of_bins
from directrix.metrics.segment_scores import SegmentScores
from directrix.rows.labels import numbered_names

RNG = np.random.default_rng(3)
N = 500
COUNTRY = RNG.choice(["at", "be", "ch", "de"], N, p=[0.6, 0.3, 0.09, 0.01])
POSITIVE = RNG.random(N) < 0.3
BINS = bins_of_scores(RNG.normal(size=(3, N)), POSITIVE)
WEIGHT = RNG.choice([0.5, 1.0, 3.0], N)


def scores_of(rows, weight, first=0):
    of_rows = None if weight is None else weight[rows]
    return SegmentScores.of_bins(BINS[:, rows], *numbered_names(COUNTRY[rows]), of_rows, first)


def by_name(scores, model):
    return {each.name: each for each in scores.of_model(model)}


def alike(one, other):
    assert one.names == other.names
    for model in range(3):
        for a, b in zip(one.of_model(model), other.of_model(model), strict=True):
            np.testing.assert_array_equal(a.counts, b.counts)
            np.testing.assert_array_equal(a.squares, b.squares)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["rows", "weights"])
def test_each_segment_has_the_histogram_of_its_rows(weight):
    scores = scores_of(np.arange(N), weight)
    for model in range(3):
        for name, part in by_name(scores, model).items():
            rows = name == COUNTRY
            of_rows = None if weight is None else weight[rows]
            expected = histogram_of_bins(BINS[model : model + 1, rows], POSITIVE[rows], of_rows)
            np.testing.assert_array_equal(part.counts, expected.counts[0])
            np.testing.assert_allclose(part.squares.sum(axis=1), expected.weight_sq)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["rows", "weights"])
@pytest.mark.parametrize("seed", range(examples(10)))
def test_any_partition_adds_up_to_the_whole_in_any_order(seed, weight):
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(0, N, 5))
    parts = [scores_of(rows, weight) for rows in np.split(rng.permutation(N), cuts)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    alike(total, scores_of(np.arange(N), weight))


def test_models_that_are_counted_later_have_numbers_of_their_own():
    both = scores_of(np.arange(N), None) + scores_of(np.arange(N), None, first=3)
    for first, later in zip(both.of_model(1), both.of_model(4), strict=True):
        np.testing.assert_array_equal(first.counts, later.counts)
    assert not any(each.counts.any() for each in both.of_model(6))


def test_segments_of_one_new_name_are_one():
    scores = scores_of(np.arange(N), WEIGHT)
    pooled = scores.pooled({"de": "alps", "ch": "alps"})
    assert pooled.names == ("alps", "at", "be")
    before = by_name(scores, 2)
    both = before["ch"].counts + before["de"].counts
    np.testing.assert_array_equal(by_name(pooled, 2)["alps"].counts, both)
    with pytest.raises(ValueError, match="'li', and no row is in it"):
        scores.pooled({"li": "alps"})


def test_only_filled_bins_are_stored():
    assert len(scores_of(np.arange(N), None).cell) <= 3 * N
