"""Cuts separate values, hold their limits, and depend on neither order nor form of the rows."""

import numpy as np
import pytest

from directrix.tables.bins import (
    bin_means,
    cuts_between,
    distinct_values,
    weight_of_two_bins,
)

HUGE = np.finfo(np.float64).max
TINY = 5e-324


def find_cuts(values, weight, max_bins, min_rows):
    return cuts_between(*distinct_values(values, weight), max_bins, min_rows)


def columns():
    rng = np.random.default_rng(7)
    return {
        "normal": rng.normal(size=999),
        "far": 1e12 + rng.normal(size=999),
        "integers": rng.integers(0, 300, size=999).astype(float),
        "few": rng.integers(0, 7, size=999).astype(float),
        "mostly zero": np.where(rng.random(999) < 0.8, 0.0, rng.exponential(size=999)),
        "wide": rng.normal(size=999) * 10.0 ** rng.integers(-300, 300, size=999),
        "denormal": rng.integers(-50, 50, size=999) * TINY,
        "infinite": np.where(rng.random(999) < 0.1, np.inf, rng.normal(size=999)),
        "constant": np.full(999, 3.0),
    }


COLUMNS = columns()


@pytest.mark.parametrize("name", COLUMNS)
@pytest.mark.parametrize("max_bins", [2, 3, 20, 64])
@pytest.mark.parametrize("min_rows", [1, 5, 100])
def test_bins_hold_their_limits(name, max_bins, min_rows):
    values = COLUMNS[name]
    cuts = find_cuts(values, None, max_bins, min_rows)
    assert np.isfinite(cuts).all()
    assert (np.diff(cuts) > 0).all()
    assert len(cuts) < max_bins
    counts = np.bincount(np.searchsorted(cuts, values), minlength=len(cuts) + 1)
    assert counts.sum() == len(values)
    if len(cuts):
        assert counts.min() >= min_rows


@pytest.mark.parametrize("name", COLUMNS)
def test_weight_is_repetition_and_order_does_not_matter(name):
    values, rng = COLUMNS[name], np.random.default_rng(3)
    weight = rng.integers(0, 4, size=len(values)).astype(float)
    cuts = find_cuts(values, weight, 32, 5)
    repeated = rng.permutation(np.repeat(values, weight.astype(int)))
    np.testing.assert_array_equal(cuts, find_cuts(repeated, None, 32, 5))
    order = rng.permutation(len(values))
    weight = rng.random(len(values))
    for first, second in zip(
        distinct_values(values, weight), distinct_values(values[order], weight[order]), strict=True
    ):
        np.testing.assert_array_equal(first, second)


def test_few_values_are_all_separated():
    for values in ([0, 1, 2, 7], [1e12, 1e12 + 1], [1.0, np.nextafter(1.0, 2)], [-TINY, 0, TINY]):
        cuts = find_cuts(np.array(values, dtype=float), None, 64, 1)
        assert np.searchsorted(cuts, values).tolist() == list(range(len(values)))


@pytest.mark.parametrize(
    "values",
    [[-np.inf, 0.0], [0.0, np.inf], [-np.inf, np.inf], [-HUGE, HUGE], [HUGE, np.inf]],
)
def test_huge_and_infinite_values_are_separated_by_finite_cuts(values):
    cuts = find_cuts(np.array(values), None, 64, 1)
    assert np.isfinite(cuts).all()
    assert np.searchsorted(cuts, values).tolist() == [0, 1]


def test_no_finite_number_is_below_the_least():
    assert len(find_cuts(np.array([-np.inf, -HUGE]), None, 64, 1)) == 0


@pytest.mark.parametrize("values", [np.arange(1000.0), COLUMNS["far"], COLUMNS["normal"]])
def test_quantiles_are_rounded_within_the_next_bins(values):
    cuts = find_cuts(values, None, 10, 1)
    counts = np.bincount(np.searchsorted(cuts, values), minlength=10)
    # Each end of a bin of a tenth may be moved over 40 % of it, either way.
    assert counts.min() >= 0.2 * len(values) // 10
    assert counts.max() <= 1.8 * (len(values) // 10 + 1)
    digits = [len(f"{cut - 1e12 * (cut > 1e6):.4g}".strip("-").replace(".", "")) for cut in cuts]
    assert max(digits) <= 3


def test_cuts_at_hundreds_are_found():
    cuts = find_cuts(np.arange(1000.0), None, 10, 1)
    np.testing.assert_array_equal(cuts, np.arange(1, 10) * 100)


@pytest.mark.parametrize("decimals", [0, 1, 2])
@pytest.mark.parametrize("narrow", [False, True])
def test_values_that_float32_rounds_stay_in_their_bins(decimals, narrow):
    wide = np.round(np.random.default_rng(2).gamma(2.0, 5.0, size=2000), decimals)
    single = wide.astype(np.float32).astype(float)
    cuts = find_cuts(single if narrow else wide, None, 32, 5)
    assert len(cuts) > 20
    np.testing.assert_array_equal(np.searchsorted(cuts, wide), np.searchsorted(cuts, single))


@pytest.mark.parametrize(("step", "unit"), [(0.2, 1.0), (1.0 / 1440.0, 1.0 / 24.0)])
def test_dates_are_cut_at_midnight_or_at_full_hours(step, unit):
    days = 19_000 + step * np.random.default_rng(0).integers(0, 2000, size=500)
    cuts = cuts_between(*distinct_values(days, None), 8, 1, "date")
    # Days near 19,000 have an error of 4e-12 days.
    np.testing.assert_allclose(cuts / unit, np.round(cuts / unit), rtol=0.0, atol=1e-9)
    counts = np.bincount(np.searchsorted(cuts, days))
    assert len(counts) == 8
    assert counts.min() >= 12


def test_a_repeated_value_counts_for_two_bins():
    # The zero has two of 20 bins however often it occurs, and the other values share 18.
    for repetitions in (300, 8000, 10**6):
        values = np.concatenate([np.zeros(repetitions), np.arange(1.0, 1801)])
        cuts = find_cuts(values, None, 20, 1)
        np.testing.assert_array_equal(cuts, np.arange(18) * 100)


@pytest.mark.parametrize("max_bins", [2, 3, 5, 20, 101])
def test_the_limit_of_a_repeated_value_is_two_bins_of_what_is_left(max_bins):
    rng = np.random.default_rng(max_bins)
    for _ in range(50):
        weights = rng.pareto(0.5, size=max_bins + 1 + rng.integers(200)) + 1e-3
        limit = weight_of_two_bins(weights, max_bins)
        total = np.minimum(weights, limit).sum()
        assert limit == pytest.approx(2 * total / max_bins, rel=1e-9) or limit >= weights.max()


def test_means_are_those_of_winsorised_values():
    rng = np.random.default_rng(1)
    values = np.append(rng.normal(size=9_999), 1e9)
    cuts = find_cuts(values, None, 8, 1)
    means = bin_means(*distinct_values(values, None), cuts)
    ordered = np.sort(values)
    inside = np.clip(values, ordered[49], ordered[9949])
    bins = np.searchsorted(cuts, values)
    expected = [inside[bins == k].mean() for k in range(8)]
    np.testing.assert_allclose(means, expected, rtol=1e-12)  # sums of a thousand terms


@pytest.mark.parametrize("name", COLUMNS)
def test_means_increase_and_stay_in_their_bins(name):
    distinct, weights = distinct_values(COLUMNS[name], None)
    cuts = cuts_between(distinct, weights, 16, 1)
    means = bin_means(distinct, weights, cuts)
    assert np.isfinite(means).all()
    assert (np.diff(means) >= 0).all()
    inner = (means > distinct[0]) & (means < distinct[-1])
    assert (means[1:][inner[1:]] >= cuts[inner[1:]] - np.abs(cuts[inner[1:]]) * 0.5).all()


def test_a_column_without_values_has_no_cuts():
    empty = np.empty(0)
    assert len(find_cuts(empty, None, 64, 5)) == 0
    assert len(find_cuts(empty, empty, 64, 5)) == 0
    np.testing.assert_array_equal(bin_means(empty, empty, empty), [0.0])
