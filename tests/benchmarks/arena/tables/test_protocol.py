import numpy as np
import pytest

pytest.importorskip("pandas")

import pandas as pd

from benchmarks.arena.protocol import FOLDS, MOST_ROWS
from benchmarks.arena.tables import protocol
from benchmarks.arena.tables.protocol import SETS, Task, frame_of, planned, split
from benchmarks.harness.data import Rows


@pytest.fixture
def sets(monkeypatch):
    """Let "small" and "large" be sets that need no file."""

    def frame(name, **_):
        n = 4000 if name == "large" else 50
        X = pd.DataFrame(np.arange(40.0 * n).reshape(n, 40), index=np.arange(n))
        return Rows(X, np.arange(n) % 5 == 0)

    monkeypatch.setattr(protocol, "frame_of", frame)


@pytest.mark.usefixtures("sets")
class TestFolds:
    def test_they_share_no_row_and_cover_all(self):
        tests = [split(Task("small", 0, fold))[1].X.index for fold in range(FOLDS)]
        assert sorted(np.concatenate(tests)) == list(range(50))

    def test_training_rows_are_all_others_with_their_labels(self):
        train, test = split(Task("small", 0, 1))
        assert sorted([*train.X.index, *test.X.index]) == list(range(50))
        for part in (train, test):
            assert np.array_equal(part.y, np.asarray(part.X.index) % 5 == 0)

    def test_repeats_differ_and_one_repeat_comes_out_again(self):
        first, again, other = (split(Task("small", repeat, 0))[1].X.index for repeat in (0, 0, 1))
        assert first.equals(again)
        assert not first.equals(other)


@pytest.mark.usefixtures("sets")
class TestPlan:
    def plan(self):
        return list(planned(["large", "small"], ["quick", "slow"], ["slow"], repeats=2))

    def test_everything_is_planned_once(self):
        plan = self.plan()
        assert len(plan) == len(set(plan)) == 2 * 2 * FOLDS * 2

    def test_the_first_repeat_comes_first(self):
        repeats = [repeat for _, repeat, _, _ in self.plan()]
        assert repeats == sorted(repeats)

    def test_slow_competitors_are_last_on_large_sets(self):
        first = [(name, rival) for name, repeat, _, rival in self.plan() if repeat == 0]
        blocks = list(dict.fromkeys(first))
        assert set(first[: 2 * FOLDS]) == {("small", "quick"), ("small", "slow")}
        assert blocks[2:] == [("large", "quick"), ("large", "slow")]


def test_names_of_tables_and_of_sets_of_numbers_differ():
    names = [name for kind in SETS.values() for name in kind]
    assert len(names) == len(set(names))


def test_a_large_table_is_a_fixed_sample_that_keeps_rows_and_labels_together(monkeypatch):
    n = MOST_ROWS + 500
    everything = Rows(pd.DataFrame({"row": np.arange(n)}), np.arange(n) % 3 == 0)
    monkeypatch.setattr(protocol, "load_table", lambda _: everything)
    frame_of.cache_clear()
    X, y = frame_of("caravan")
    frame_of.cache_clear()
    assert len(X) == MOST_ROWS
    assert np.array_equal(y, X["row"].to_numpy() % 3 == 0)
    assert np.array_equal(X["row"], frame_of("caravan").X["row"])
    frame_of.cache_clear()  # the others need the real one
