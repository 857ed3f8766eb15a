import numpy as np
import pytest

from benchmarks.arena.protocol import METRICS
from benchmarks.arena.results import (
    MEASURED,
    Arena,
    ClosedShare,
    Gain,
    Score,
    Verdict,
    critical_difference,
    holm,
    record_of,
    signed_rank_p,
)
from benchmarks.rivals.lines import TUNED


def test_scores_are_read_as_they_were_written():
    score = Score("a", 10, 2, 0, 1, TUNED, 2.5, 0.5, "abcdef0", {"error": 0.25, "AUC": 0.75})
    row = dict(zip(MEASURED.columns, map(str, score.cells(METRICS)), strict=True))
    assert Score.of(row) == score


class TestVerdict:
    def test_it_is_the_corrected_t_test(self):
        differences = np.array([0.02, 0.01, 0.03, 0.02, 0.01, 0.02, 0.03, 0.01, 0.02, 0.03])
        # Mean 0.02, deviation 0.00816; times the root of 1/10 + 1/4: t = 4.14 with 9 degrees.
        verdict = Verdict.of(differences)
        assert verdict.mean == pytest.approx(0.02)
        assert verdict.p == pytest.approx(0.0025, abs=2e-4)
        assert verdict.word == "win"
        assert Verdict.of(-differences).word == "loss"

    def test_equal_is_a_tie(self):
        assert Verdict.of(np.zeros(5)).word == "tie"
        assert Verdict.of(np.array([0.1, -0.1, 0.1, -0.1, 0.0])).word == "tie"


def test_more_is_better_of_signed_values_and_their_sign_can_be_taken_back(tmp_path):
    arena = Arena(record_of(tmp_path / "measured.csv", METRICS))
    assert arena.signed("AUC", 0.9) == 0.9
    assert arena.signed("cost 1:20", 0.25) == -0.25
    assert arena.signed("cost 1:20", -0.25) == 0.25
    assert f"{arena.signed('cost 1:20', 0.0):.4f}" == "0.0000"


class TestSignedRanks:
    def test_all_signs_alike_have_the_least_p_of_so_many_sets(self):
        assert signed_rank_p(np.arange(1.0, 13.0)) == pytest.approx(2 / 2**12)

    def test_the_sign_does_not_matter(self):
        differences = np.random.default_rng(0).normal(0.3, 1.0, 12)
        assert signed_rank_p(differences) == pytest.approx(signed_rank_p(-differences))

    def test_equal_is_no_evidence(self):
        assert signed_rank_p(np.zeros(12)) == 1.0
        assert signed_rank_p(np.outer([1.0, -1.0], np.arange(1.0, 6.0)).ravel()) == pytest.approx(
            1.0
        )

    def test_a_set_that_is_equal_instead_of_won_weakens_the_evidence(self):
        wins = np.arange(1.0, 13.0)
        assert signed_rank_p(np.append(wins[:-1], 0.0)) > signed_rank_p(wins)


class TestHolm:
    def test_each_step_has_one_comparison_less(self):
        # By hand: 4 × .005, 3 × .01, 2 × .03, then no less than the step before.
        assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])

    def test_a_single_comparison_stays_and_none_is_above_one(self):
        assert holm([0.2]) == pytest.approx([0.2])
        assert holm([0.6, 0.9]) == pytest.approx([1.0, 1.0])
        assert holm([]) == []


class TestClosedShare:
    near, far = np.array([0.1, 0.4, 0.5]), np.array([0.5, 0.6, 0.5])

    @pytest.mark.parametrize("part", [0.0, 0.5, 1.0, 1.25])
    def test_a_part_of_the_way_on_every_set_is_that_part(self, part):
        share = ClosedShare.of(self.near, self.far, self.near + part * (self.far - self.near))
        assert share.share == pytest.approx(part)
        assert share.median == pytest.approx(part)
        assert (share.low, share.high) == pytest.approx((part, part))

    def test_wide_gaps_count_for_more(self):
        share = ClosedShare.of(self.near, self.far, np.array([0.5, 0.4, 0.5]))
        assert share.share == pytest.approx(0.4 / 0.6)
        assert share.low <= share.share <= share.high

    def test_without_wide_gaps_there_is_no_median(self):
        share = ClosedShare.of(self.near, self.near + 0.01, self.near)
        assert np.isnan(share.median)
        assert share.share == pytest.approx(0.0)


class TestGain:
    def test_the_interval_of_the_median_is_that_of_samples_of_sets(self):
        differences = np.random.default_rng(0).normal(0.5, 1.0, 60)
        gain = Gain.of(differences)
        assert gain.sets == 60
        assert gain.median == np.median(differences)
        assert gain.low < gain.median < gain.high
        # The standard error of a median of normal numbers is 1.25 / √n.
        assert gain.high - gain.low == pytest.approx(2 * 1.96 * 1.25 / 60**0.5, rel=0.35)

    def test_a_few_large_gains_move_the_mean_and_not_the_median(self):
        gain = Gain.of(np.array([0.0] * 9 + [5.0]))
        assert (gain.median, gain.low, gain.high, gain.mean) == (0.0, 0.0, 0.0, 0.5)


def test_the_critical_difference_is_that_of_the_tables():
    # Demšar (2006), table 5: q of 4 competitors at 5 % is 2.569.
    assert critical_difference(14, 4, 0.05) == pytest.approx(
        2.569 * (4 * 5 / (6 * 14)) ** 0.5, 1e-3
    )
