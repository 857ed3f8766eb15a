import numpy as np
import pytest

from benchmarks.arena.protocol import METRICS
from benchmarks.arena.results import MEASURED, Arena, Score, Verdict, record_of
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
