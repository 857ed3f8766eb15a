"""Laws of the samples that tasks take: uniform, bounded, and large enough, whatever the parts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import directrix.engines.base as engines
from directrix.engines import HashFolds
from directrix.engines.column_roles import ColumnRoles, Grouped, Partition
from directrix.engines.tasks import Survey
from directrix.fit.fit_source import SourcePasses
from directrix.rows import sample as row_sample
from directrix.rows.sums import tree_sum

MOST = 400
PLAN = replace(ColumnRoles.of(target="y", fold=HashFolds(3, key="id")), identified=True)


def frame(n, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {"a": rng.normal(size=n), "id": np.arange(n), "y": (rng.random(n) < share).astype(int)}
    )


def cut(rows, how):
    """Cut rows into parts: equal ones, very unequal ones, or by class."""
    if how == "sorted":
        rows = rows.sort_values("y", kind="stable")
    shares = 2.0 ** -np.arange(1, 12) if how == "unequal" else np.full(20, 1 / 20)
    stops = (np.cumsum(shares)[:-1] * len(rows)).astype(int)
    return [rows.iloc[part] for part in np.split(np.arange(len(rows)), stops)]


def surveyed(parts, task):
    count = len(parts)
    return tree_sum(task(PLAN, Partition(k, [part], count)) for k, part in enumerate(parts))


class Partitioned:
    """A source whose partitions are given, and an engine that reads it; counts the passes."""

    def __init__(self, parts):
        self.parts, self.passes = parts, []

    def accepts(self, source):
        return source is self

    def partials(self, _, plan, task, progress):
        self.passes.append(task.name)
        progress.add(0)
        for number, part in enumerate(self.parts):
            yield number, task(plan, Partition(number, [part], len(self.parts)))


@pytest.fixture
def partitioned(monkeypatch):
    def source(parts):
        made = Partitioned(parts)
        monkeypatch.setattr(engines, "import_module", lambda _: made)
        return made

    return source


def passes_over(source):
    roles = {"target": "y", "fold": PLAN.fold, "features": ("a", "id")}
    return SourcePasses.of(source, engine="auto", progress=False, **roles)


@pytest.mark.parametrize("how", ["equal", "unequal", "sorted"])
def test_every_row_of_a_class_is_as_likely_to_be_sampled(how, partitioned):
    # The sample has as large a share of each partition as the partition has of the class.
    chosen = np.zeros(4_000)
    for seed in range(10):
        rows = frame(4_000)
        rows["a"] += 1e-9 * seed  # other row keys, so another sample
        sample = passes_over(partitioned(cut(rows, how))).survey(MOST).sample
        chosen[sample.X[:, 1].astype(int)] += 1
    rows = frame(4_000)
    for label in (0, 1):
        sizes, counts = [], []
        for part in cut(rows, how):
            ids = part["id"].to_numpy()[part["y"] == label]
            if len(ids) >= 20:
                sizes.append(len(ids))
                counts.append(chosen[ids].sum())
        expected = np.array(sizes) * sum(counts) / sum(sizes)
        assert len(sizes) > 3
        assert stats.chisquare(counts, expected).pvalue > 1e-3


def test_equal_partitions_need_one_pass_and_send_little(partitioned):
    parts = cut(frame(20_000), "equal")
    source = partitioned(parts)
    sample = passes_over(source).survey(MOST).sample
    assert source.passes == ["summarize"]
    assert [sample.count(label) for label in (0, 1)] == [MOST, MOST]
    sent = [Survey(MOST)(PLAN, Partition(0, [part], 20)).sample for part in parts]
    share = 4 * MOST / 20
    assert max(len(each.y) for each in sent) <= 2 * (share + 5 * share**0.5 + 11)


@pytest.mark.parametrize("how", ["unequal", "sorted"])
def test_a_sample_that_is_too_small_is_taken_again(how, partitioned):
    rows = frame(20_000)
    parts = [*cut(rows, how), *[rows[:0]] * 400]
    first = surveyed(parts, Survey(MOST)).sample
    assert min(first.count(label) for label in (0, 1)) < MOST / 2
    source = partitioned(parts)
    sample = passes_over(source).survey(MOST).sample
    assert source.passes == ["summarize", "sample"]
    assert [sample.count(label) for label in (0, 1)] == [MOST, MOST]


def test_the_second_sample_is_the_same_however_the_rows_are_cut():
    rows = frame(20_000)
    plan = replace(PLAN, features=("a",))
    task = Survey.of_counts(MOST, dict(enumerate(np.bincount(rows["y"]).tolist())))
    # Copies of equal rows are numbered within a partition, so all parts are read as one.
    whole = task(plan, Partition(0, [rows])).sample
    for how in ("equal", "unequal", "sorted"):
        again = task(plan, Partition(0, cut(rows, how))).sample
        np.testing.assert_array_equal(again.X, whole.X)
        np.testing.assert_array_equal(again.hashes, whole.hashes)
    assert [whole.count(label) for label in (0, 1)] == [MOST, MOST]


def test_partitions_send_no_more_than_the_second_sample_needs():
    rows = frame(20_000)
    task = Survey.of_counts(MOST, dict(enumerate(np.bincount(rows["y"]).tolist())))
    parts = [task(PLAN, Partition(k, [part])) for k, part in enumerate(cut(rows, "equal"))]
    for label in (0, 1):
        sent = sum(part.sample.count(label) for part in parts)
        assert MOST <= sent <= MOST + 10 * MOST**0.5


def test_rows_that_change_before_the_second_sample_are_refused(partitioned):
    source = partitioned([*cut(frame(4_000), "sorted"), *[frame(0)] * 400])
    passes = source.partials

    def changing(*arguments):
        yield from passes(*arguments)
        source.parts = [*source.parts[1:], frame(100, seed=1)]

    source.partials = changing
    with pytest.raises(ValueError, match="later pass did not find the rows of the first"):
        passes_over(source).survey(MOST)


def test_a_class_with_few_rows_is_taken_whole(partitioned):
    rows = frame(5_000, share=0.01)
    source = partitioned([*cut(rows, "sorted"), *[rows[:0]] * 400])
    sample = passes_over(source).survey(MOST).sample
    assert source.passes == ["summarize", "sample"]
    assert sample.count(1) == rows["y"].sum() < MOST
    assert sample.count(0) >= MOST / 2


def test_rows_set_apart_are_in_neither_sample(partitioned):
    parts = [*cut(frame(9_000), "sorted"), *[frame(0)] * 400]
    source = partitioned(parts)
    result = passes_over(source).survey(MOST, apart=2)
    assert source.passes == ["summarize", "sample"]
    assert set(result.sample.fold) == {0, 1}
    assert [result.sample.count(label) for label in (0, 1)] == [MOST, MOST]


@pytest.mark.parametrize("count", [1, 7, 100, None])
def test_a_sum_is_never_larger_than_the_sample(count):
    parts = cut(frame(20_000), "equal")
    total = None
    for number, part in enumerate(parts):
        result = Survey(MOST)(PLAN, Partition(number, [part], count))
        total = result if total is None else total + result
        assert max(total.sample.count(label) for label in (0, 1)) <= MOST


def test_wide_rows_are_fewer(monkeypatch):
    monkeypatch.setattr(row_sample, "_MOST_VALUES", 60)
    wide = pd.DataFrame({f"x{k}": np.arange(100.0) for k in range(6)}).assign(id=0, y=0)
    sample = Survey(MOST)(PLAN, Partition(0, [wide], 1)).sample
    assert sample.count(0) == sample.most == 60 // 6


def test_few_summaries_of_blocks_are_in_memory(monkeypatch):
    rows, summary_of, plus = frame(400), ColumnRoles.summary_of, Grouped.__add__
    read, added_after = [], []

    def counted(self, block):
        read.append(block)
        return summary_of(self, block)

    def add(self, other):
        added_after.append(len(read))
        return plus(self, other)

    monkeypatch.setattr(ColumnRoles, "summary_of", counted)
    monkeypatch.setattr(Grouped, "__add__", add)
    Survey(0)(PLAN, Partition(0, [rows[4 * k : 4 * k + 4] for k in range(100)]))
    # Blocks are added as they are read, not when all of them are there.
    assert len(read) == 100
    assert sum(count <= 75 for count in added_after) >= 60
