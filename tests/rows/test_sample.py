import numpy as np
import pandas as pd
import pytest

from directrix import Moments, summarize
from directrix.rows.keys import key_hash, row_hash
from directrix.rows.rows import as_rows
from directrix.rows.sample import RowSample
from directrix.rows.sums import tree_sum


def taken(X, y, most=None):
    n = len(y)
    keys = row_hash(as_rows(X))
    sample = RowSample.of(X, y, np.ones(n), np.zeros(n, dtype=np.int32), keys, most or 10**6)
    return sample if most is None else sample.at_most(most)


def rows(n=5000, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), (rng.random(n) < 0.1).astype(int)


def same(sample, other):
    """The same rows, in whatever order."""
    assert sorted(map(tuple, sample.X.tolist())) == sorted(map(tuple, other.X.tolist()))


@pytest.mark.parametrize("parts", [1, 2, 7, 50])
def test_parts_add_up_to_the_sample_of_the_whole(parts):
    X, y = rows()
    cuts = np.array_split(np.random.default_rng(1).permutation(len(y)), parts)
    total = tree_sum(taken(X[part], y[part], 100) for part in cuts)
    whole = taken(X, y, 100)
    same(total, whole)
    np.testing.assert_array_equal(total.X, whole.X)
    assert np.bincount(total.y).tolist() == [100, 100]


def test_a_sum_is_cut_at_once():
    X, y = rows(20_000)
    total, largest = None, 0
    for part in np.array_split(np.arange(len(y)), 100):
        sample = taken(X[part], y[part], 120)
        total = sample if total is None else total + sample
        largest = max(largest, *(total.count(label) for label in (0, 1)))
    assert largest == 120
    same(total, taken(X, y, 120))


def test_parts_of_other_sizes_than_the_sum_are_cut_to_the_same_rows():
    X, y = rows()
    low, high = taken(X[:2500], y[:2500], 1000), taken(X[2500:], y[2500:], 1000)
    few = taken(X, y, 1000).at_most(30)
    assert [few.count(label) for label in (0, 1)] == [30, 30]
    assert few.most == 1000
    same(few, (low + high).at_most(30))
    # The rows between the thresholds of the parts are in neither sum.
    merged = few + taken(X[:0], y[:0], 1000)
    same(merged, few)
    assert merged.thresholds == few.thresholds


def test_explicit_thresholds_take_the_same_rows_from_any_parts():
    X, y = rows()
    thresholds = {0: 2**64 // 10, 1: 2**64 // 2}
    whole = taken(X, y).below(thresholds)
    order = np.argsort(y, kind="stable")
    parts = np.split(order, [10, 4000, 4900])
    same(tree_sum(taken(X[part], y[part]).below(thresholds) for part in parts), whole)
    share = np.array([whole.count(label) for label in (0, 1)]) / np.bincount(y)
    assert share == pytest.approx([0.1, 0.5], abs=0.1)


def test_wide_rows_are_fewer():
    X = np.broadcast_to(0.0, (3, 10_000_000))
    sample = RowSample.of(X, *np.ones((3, 3)), np.arange(3, dtype=np.uint64), 9)
    assert sample.most == 2


def test_unequal_parts_are_sampled_at_one_rate():
    X, y = rows(20_000)
    large, small = taken(X[:19_000], y[:19_000], 500), taken(X[19_000:], y[19_000:], 500)
    both = large + small
    negatives = both.X[both.y == 0]
    from_small = np.isin(negatives[:, 0], X[19_000:, 0]).mean()
    # A twentieth of the rows is a twentieth of the sample, though each part kept 500.
    assert from_small == pytest.approx(0.05, abs=0.03)


def test_every_row_is_as_likely():
    X, _ = rows(20_000)
    kept = taken(X, np.zeros(20_000, dtype=int), 4000).X
    assert kept.mean(axis=0) == pytest.approx([0, 0, 0], abs=0.06)
    assert kept.std(axis=0) == pytest.approx([1, 1, 1], abs=0.05)


def test_few_rows_are_all_kept():
    X, y = rows(50)
    same(taken(X, y, 1000), taken(X, y))


def test_equal_rows_are_kept_or_left_together():
    X = np.repeat(np.arange(10.0)[:, None], 5, axis=0)
    y = np.zeros(50, dtype=int)
    kept = taken(X, y, 12)
    _, counts = np.unique(kept.X, return_counts=True)
    assert counts.tolist() == [5, 5]


def test_a_class_that_only_one_part_has_stays():
    X, _ = rows(20)
    both = taken(X[:10], np.zeros(10, dtype=int)) + taken(X[10:], np.ones(10, dtype=int))
    assert np.bincount(both.y).tolist() == [10, 10]
    assert both.thresholds.keys() == {0, 1}


def test_sorted_samples_are_equal_however_the_rows_came():
    X, y = rows(200)
    X[5] = X[6]
    one, two = (
        taken(X[order], y[order]).sorted() for order in (slice(None), slice(None, None, -1))
    )
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)


# ── the sample of a summary ───────────────────────────────────────────────────────────────────────

N_ROWS, KEPT = 6000, 300
RNG = np.random.default_rng(3)
X = RNG.normal(size=(N_ROWS, 3)) * [1.0, 1e3, 1e-3]
Y = RNG.choice(["a", "b", "c"], N_ROWS, p=[0.7, 0.25, 0.05])
WEIGHT = RNG.choice([0.0, 0.5, 1.0, 7.0], N_ROWS)
FOLD = RNG.integers(0, 3, N_ROWS)
KEYS = {"content": None, "key": np.arange(N_ROWS) * 10**12}


def summary(rows, key="key", **options):
    given = KEYS[key]
    options = {"fold": FOLD[rows], "sample": KEPT} | options
    identity = None if given is None else given[rows]
    return Moments.of(X[rows], Y[rows], WEIGHT[rows], key=identity, **options)


@pytest.mark.parametrize("key", KEYS)
def test_many_parts_are_added_and_subtracted(key):
    """Sums are equal to the bit in any order; a difference has no row of what was subtracted."""
    cuts = np.array_split(RNG.permutation(N_ROWS), 100)
    parts = [summary(part, key) for part in cuts]
    whole = summary(np.arange(N_ROWS), key)
    for order in (range(100), RNG.permutation(100), RNG.permutation(100)):
        total = parts[order[0]]
        for k in order[1:]:
            total = total + parts[k]
        assert total.sample == whole.sample
    for k in range(60):
        total = total - parts[k]
    left = np.concatenate(cuts[60:])
    of_rest = summary(left, key, sample=N_ROWS).sample
    assert total.count == np.count_nonzero(WEIGHT[left])
    # All rows of the rest below the thresholds, which did not change.
    assert total.sample.thresholds == whole.sample.thresholds
    expected = of_rest.below(whole.sample.thresholds)
    np.testing.assert_array_equal(total.sample.identity, expected.identity)
    np.testing.assert_array_equal(total.sample.X, expected.X)


def test_copies_of_rows_are_subtracted_as_often_as_they_were():
    copies = np.repeat(np.arange(40), 50)
    whole, part = (summary(rows, "content", fold=None) for rows in (copies, copies[:600]))
    rest = whole - part
    again = Moments.of(X[copies[600:]], Y[copies[600:]], WEIGHT[copies[600:]], sample=N_ROWS)
    expected = again.sample.below(whole.sample.thresholds)
    # The copies that stay are others than those of a new pass: their number is near.
    few = 4 * len(expected) ** 0.5
    assert len(rest.sample) == pytest.approx(len(expected), abs=few)


def test_a_forgotten_row_is_not_in_the_file(tmp_path):
    whole = summary(np.arange(N_ROWS), fold=None)
    sampled = whole.sample.identity[:1]
    row = np.flatnonzero(key_hash([KEYS["key"]]) == sampled)
    for moments, found in ((whole, True), (whole - summary(row, fold=None), False)):
        moments.save(tmp_path / "some.moments")
        content = (tmp_path / "some.moments").read_bytes()
        assert (X[row].astype(np.float32).tobytes() in content) is found
        assert (sampled.tobytes() in content) is found


@pytest.mark.parametrize("key", KEYS)
def test_rows_that_are_not_in_the_sample_are_not_subtracted(key):
    whole, others = summary(np.arange(4000), key), summary(np.arange(4000, 4100), key)
    with pytest.raises(ValueError, match="are not in the sample to subtract from"):
        whole - others


def test_a_sum_needs_the_sample_of_both():
    whole, part = summary(np.arange(100)), summary(np.arange(100, 200), sample=0)
    with pytest.raises(ValueError, match="without_sample"):
        whole + part
    with pytest.raises(ValueError, match="without_sample"):
        whole - summary(np.arange(50), sample=0)
    assert (whole.without_sample() + part).sample is None
    assert whole + Moments.empty(3) == whole == Moments.empty(3) + whole


CHANGES = {
    "select": (lambda m: m.select([2, 0]), lambda x: x[:, [2, 0]]),
    "affine": (
        lambda m: m.affine([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]], center=0.5, offset=[3.0, 0.0]),
        lambda x: (x - 0.5) @ np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]]).T + [3.0, 0.0],
    ),
    "scaled": (lambda m: 0.25 * m, lambda x: x),
    "unfolded": (lambda m: m.unfolded(), lambda x: x),
    "without fold": (lambda m: m.without_fold(1), lambda x: x),
    "fold": (lambda m: m.folds[2], lambda x: x),
    "one against the rest": (lambda m: m.one_vs_rest("b"), lambda x: x),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_the_algebra_acts_on_moments_and_sample(change):
    """All rows fit into the sample, so its own moments are those of the summary."""
    of_moments, of_rows = change
    rows = np.arange(800)
    whole = summary(rows, sample=N_ROWS)
    changed = of_moments(whole)
    known = {identity: k for k, identity in zip(rows, key_hash([KEYS["key"][rows]]), strict=True)}
    index = [known[identity] for identity in changed.sample.identity.tolist()]
    np.testing.assert_allclose(changed.sample.X, of_rows(X[index]), rtol=1e-5, atol=1e-3)
    again = Moments.of(
        *(changed.sample.X.astype(float), changed.sample.y, changed.sample.weight),
        fold=changed.sample.fold,
    )
    for label, group in changed.by_class.items():
        assert again.by_class[label].count == group.count
        assert again.by_class[label].weight == pytest.approx(group.weight, rel=1e-12)
        spread = np.sqrt(group.variance)
        assert (np.abs(again.by_class[label].mean - group.mean) <= 1e-5 * spread).all()


def test_values_that_single_precision_would_change_stay_double():
    far = np.add(X, [0.0, 0.0, 1e12])
    assert Moments.of(X, Y).sample.X.dtype == np.float32
    assert Moments.of(np.column_stack([X, np.full(N_ROWS, 0.1)]), Y).sample.X.dtype == np.float32
    sample = Moments.of(far, Y).sample
    assert sample.X.dtype == np.float64
    assert np.isin(sample.X[:, 2], far[:, 2]).all()
    assert Moments.of(X * 1e60, Y).sample.X.dtype == np.float64


@pytest.mark.parametrize("key", [None, "id"])
def test_segments_of_sampled_rows_add_subtract_and_are_kept_in_files(key, tmp_path):
    rng = np.random.default_rng(4)
    # Rows come twice, in other segments too.
    rows = pd.DataFrame({"a": rng.integers(0, 9, 600).astype(float), "id": np.arange(600)})
    rows = rows.assign(land=rng.choice(["DE", "FR", "LV"], 600), y=rng.random(600) < 0.3)

    def summary(some):
        roles = {"target": "y", "features": ["a"], "segment": "land", "key": key}
        return summarize(some, sample=100, progress=False, **roles)

    whole = summary(rows)
    assert "rows in 3 segments" in repr(whole)
    if key:
        of_id = rows.set_index(key_hash([rows["id"].to_numpy()]))["land"]
        sampled = of_id.loc[whole.sample.identity]
        assert whole.sample.segment.tolist() == sampled.tolist()
        parts = [summary(rows[k::3]) for k in (2, 0, 1)]
        assert (parts[0] + parts[1] + parts[2]).sample == whole.sample
        assert (whole - parts[0]).sample.segment.tolist() == [
            land
            for land, of in zip(sampled, sampled.index, strict=True)
            if of not in parts[0].sample.identity
        ]
    assert summary(rows.iloc[::-1]).sample == whole.sample
    in_memory = Moments.of(
        rows[["a"]], rows["y"], segment=rows["land"], sample=100, key=rows["id"] if key else None
    )
    assert in_memory.sample == whole.sample
    whole.save(tmp_path / "whole.moments")
    assert Moments.load(tmp_path / "whole.moments") == whole
    with pytest.raises(ValueError, match="give both segment="):
        whole + summarize(rows, target="y", features=["a"], key=key, progress=False)


def test_segments_need_names_and_a_sample():
    X, y = np.eye(4), np.arange(4) % 2
    with pytest.raises(ValueError, match="segment= a sample"):
        Moments.of(X, y, segment=list("abcd"), sample=0)
    with pytest.raises(ValueError, match="segment is missing in 1 rows"):
        Moments.of(X, y, segment=["a", "b", None, "c"])
    with pytest.raises(ValueError, match="each of 4 rows, not shape"):
        summarize(X, target=y, segment=["a", "b"])
    with pytest.raises(TypeError, match="texts or numbers, not date"):
        Moments.of(X, y, segment=np.arange(4).astype("datetime64[D]"))
