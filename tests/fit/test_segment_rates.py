import numpy as np
import pytest
from few_cases import examples

from directrix.fit.segment_rates import SegmentRates, Share
from directrix.fit.shares import wilson
from directrix.metrics.segments import Segments

POSITIVE = np.array([1, 1, 0, 0, 0, 1, 0, 0], dtype=bool)
FLAGGED = np.array([1, 0, 1, 0, 0, 0, 0, 0], dtype=bool)
SEGMENT = Segments.of([*"aaaaabbb"], 8)


def test_rates_are_shares_of_the_rows_of_a_segment():
    a, b = SegmentRates.of(POSITIVE, FLAGGED, np.ones(8), SEGMENT)
    assert (a.name, a.rows, a.positives) == ("a", 5, 2)
    shares = [a.alerts.value, a.recall.value, a.fpr.value, a.precision.value]
    assert shares == pytest.approx([0.4, 0.5, 1 / 3, 0.5])
    assert a.recall[1:] == (*wilson(0.5, 2), 2)
    assert (b.alerts.value, b.recall.value, b.fpr.value) == (0, 0, 0)
    assert np.isnan(b.precision.value)
    assert str(b.precision) == ""


def test_weights_count_and_a_segment_without_weight_is_left_out():
    weight = np.array([2.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    rates = SegmentRates.of(POSITIVE, FLAGGED, weight, SEGMENT)
    assert [each.name for each in rates] == ["a"]
    assert rates["a"].recall.value == pytest.approx(2 / 3)
    assert rates.notes == []


def test_entries_by_name_and_by_position():
    rates = SegmentRates.of(POSITIVE, FLAGGED, np.ones(8), SEGMENT)
    assert rates["b"] == rates[1] == list(rates)[1]
    numbers = SegmentRates.of(POSITIVE, FLAGGED, np.ones(8), Segments.of([1] * 5 + [0] * 3, 8))
    assert numbers[0].name == 0
    with pytest.raises(KeyError, match="there is no segment 'c': there are 'a', 'b'"):
        rates["c"]


def test_gaps_and_the_impact_ratio():
    rates = SegmentRates.of(POSITIVE, FLAGGED, np.ones(8), SEGMENT)
    gap = rates.gap("fpr")
    assert (gap.lowest, gap.highest) == ("b", "a")
    assert gap.value == pytest.approx(1 / 3)
    assert not gap.is_real
    assert "no clear difference" in str(gap)
    assert rates.impact_ratio == pytest.approx(0.6)
    with pytest.raises(ValueError, match="rate must be one of"):
        rates.gap("auc")


def test_small_segments_that_hide_a_gap_of_the_others_are_named():
    segment = np.repeat(["a", "b", "tiny"], [1000, 1000, 3])
    flagged = np.zeros(2003, dtype=bool)
    flagged[:100] = flagged[1000:1200] = True
    positive, weight = np.zeros(2003, dtype=bool), np.ones(2003)
    rates = SegmentRates.of(positive, flagged, weight, Segments.of(segment, 2003))
    gap = rates.gap("fpr")
    assert (gap.is_real, gap.few) == (False, ("tiny",))
    assert "no clear difference ('tiny' has fewer than 30 rows" in str(gap)
    pooled = Segments.of(segment, 2003, {"tiny": "a"})
    gap = SegmentRates.of(positive, flagged, weight, pooled).gap("fpr")
    assert (gap.is_real, gap.few, gap.advice) == (True, (), "")
    assert "fewer than" not in str(gap._replace(few=("tiny",)))


@pytest.mark.parametrize("n_segments", [2, 10])
def test_segments_that_are_shuffled_have_no_real_gap(n_segments, figure):
    rng = np.random.default_rng(0)
    draws, real = examples(400), 0
    for _ in range(draws):
        positive, flagged = rng.random(800) < 0.3, rng.random(800) < 0.2
        segment = Segments.of(rng.integers(0, n_segments, 800), 800)
        real += SegmentRates.of(positive, flagged, np.ones(800), segment).gap().is_real
    figure(f"{n_segments} shuffled segments: a gap is called real in {real / draws:.3f} of draws")
    assert real / draws <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)


def test_a_real_gap_is_found():
    rng = np.random.default_rng(0)
    segment = rng.integers(0, 2, 2000)
    flagged = rng.random(2000) < 0.1 + 0.1 * segment
    rates = SegmentRates.of(
        np.zeros(2000, bool), flagged, np.ones(2000), Segments.of(segment, 2000)
    )
    assert rates.gap("fpr").is_real
    assert "more than chance" in str(rates)


def test_tables_for_print_notebooks_and_frames():
    rates = SegmentRates.of(POSITIVE, FLAGGED, np.ones(8), SEGMENT)
    assert "adverse impact ratio" in str(rates)
    assert "<table" in rates.to_html()
    frame = rates.to_frame()
    assert frame["segment"].tolist() == ["a", "b"]
    assert frame["fpr_high"].tolist() == [each.fpr.high for each in rates]
    assert Share.of(0.0, 0.0, 0.0).rows == 0
