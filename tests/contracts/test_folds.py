"""Laws of the folds: held-out rows are like new rows, whatever the rows hold and wherever they are.

A way of making folds enters the suite with a line in `WAYS`.
"""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from directrix import DirectClassifier, MomentClassifier
from directrix.engines import HashFolds
from directrix.engines.column_roles import ColumnRoles, Partition
from directrix.fit.money import RowCosts
from directrix.fit.training_rows import Rows
from directrix.linear import line_search
from directrix.metrics.budget import Periods
from directrix.metrics.segments import Segments
from directrix.rows import keys as row_keys
from directrix.rows.keys import CopyCounter, copy_keys, copy_numbers, hash_with_label, row_hash
from directrix.rows.rows import as_rows

N, VALUES, SEEDS = 120, 4, 1000
FOLDS = 3
#: Two-sided; a way that holds fails once in ten thousand runs, and the seeds are fixed.
RARE = 1e-4
POSITIVE = True


def rows(seed, n=N):
    """Return a column of few values, other ones for each seed, and labels they say little of."""
    rng = np.random.default_rng(seed)
    value = rng.integers(0, VALUES, n)
    X = np.column_stack([value + 1000.0 * seed, np.ones(n)])
    return X, value, rng.random(n) < 0.3 + 0.1 * value


# ── ways of making folds: of rows and labels, the fold of each row ────────────────────────────────


def keyed(X, y, weight=None):
    return Rows.of(X, y, POSITIVE, np.ones(len(y)) if weight is None else weight)


def in_memory(X, y):
    rows = keyed(X, y)
    fold = np.empty(len(y), dtype=int)
    fold[rows.order] = rows.in_folds(FOLDS).fold
    return fold


def set_apart(X, y):
    """Return 0 for the rows that would set a guaranteed threshold, and folds of the others."""
    rows = keyed(np.column_stack([X, np.arange(len(y))]), y)  # the last column says which row
    plain = keyed(X, y)
    kept, apart = plain._replace(X=rows.X).set_apart(3)
    fold = np.zeros(len(y), dtype=int)
    rest = kept.in_folds(2)
    fold[rest.X[:, -1].astype(int)] = 1 + rest.fold
    assert set(apart.X[:, -1].astype(int)) == set(np.flatnonzero(fold == 0))
    return fold


def of_blocks(blocks):
    return np.concatenate([block.fold for block in blocks])


PLAN = ColumnRoles.of(target="y", fold=HashFolds(FOLDS))


def framed(X, y):
    return pd.DataFrame(X, columns=["a", "b"]).assign(y=y)


def one_partition(X, y):
    return of_blocks(PLAN.blocks(Partition(0, [framed(X, y)])))


def blocks_of_a_partition(X, y):
    table = framed(X, y)
    return of_blocks(PLAN.blocks(Partition(5, [table[:7], table[7:50], table[50:]])))


def four_partitions(X, y):
    parts = np.array_split(np.arange(len(y)), 4)
    table = framed(X, y)
    return np.concatenate(
        [of_blocks(PLAN.blocks(Partition(k, [table.iloc[rows]]))) for k, rows in enumerate(parts)]
    )


def positions(X, y):
    """Return folds of rows that are known by their position, in two files."""
    half = len(y) // 2
    keys = [row_keys.position_keys(half, file, 0) for file in (0, 1)]
    offset = np.uint64(X[0, 0])  # another file for each seed
    return row_keys.folds_by_key(row_keys.mix_bits(np.concatenate(keys) + offset), FOLDS)


def partial_fits(X, y):
    counter = CopyCounter()
    hashes = hash_with_label(row_hash(as_rows(X)), y)
    keys = [counter.keys(part) for part in np.array_split(hashes, 9)]
    return row_keys.folds_by_key(np.concatenate(keys), FOLDS)


WAYS = {
    "fit": in_memory,
    "fit, a third set apart": set_apart,
    "partial_fit": partial_fits,
    "HashFolds, one partition": one_partition,
    "HashFolds, a partition in blocks": blocks_of_a_partition,
    "HashFolds, four partitions": four_partitions,
    "HashFolds, positions in files": positions,
}
#: Ways that share out each class: then the copies of a value are drawn without replacement.
STRATIFIED = {"fit", "fit, a third set apart"}
every_way = pytest.mark.parametrize("way", WAYS)


@cache
def counts(way):
    """Return how many copies of each value and class are in each fold, for each seed."""
    observed = np.zeros((SEEDS, VALUES, 2, FOLDS))
    sizes = np.zeros((SEEDS, 2))
    for seed in range(SEEDS):
        X, value, y = rows(seed)
        fold = WAYS[way](X, y)
        np.add.at(observed[seed], (value, y.astype(int), fold), 1)
        sizes[seed] = (~y).sum(), y.sum()
    return observed, sizes


# ── exchangeability ───────────────────────────────────────────────────────────────────────────────


@every_way
def test_copies_spread_over_the_folds_as_independent_rows_do(way):
    """Pearson's chi-square over the seeds, neither too large nor too small.

    Folds by content put all copies of a value into one fold: far too large. Dealing copies out in
    turn makes all folds alike, so that held-out rows repeat the training rows: far too small.
    """
    observed, sizes = counts(way)
    copies = observed.sum(axis=3)
    expected = copies[..., None] / FOLDS
    with np.errstate(invalid="ignore"):
        chi = np.where(expected > 0, (observed - expected) ** 2 / expected, 0.0).sum(axis=3)
    if way in STRATIFIED:  # of a class of n, m copies: less variance by (n − m) / (n − 1)
        chi *= (sizes[:, None, :] - 1) / np.maximum(sizes[:, None, :] - copies, 1)
    # Each value and class has FOLDS − 1 degrees of freedom; values of one seed are dependent where
    # classes are shared out, so one value and class of each seed is tested.
    for value in range(VALUES):
        for side in range(2):
            has_copies = copies[:, value, side] > 1
            total = chi[has_copies, value, side].sum()
            freedom = (FOLDS - 1) * has_copies.sum()
            assert RARE < stats.chi2.sf(total, freedom) < 1 - RARE


@every_way
def test_every_fold_is_as_likely_as_every_other(way):
    observed, _ = counts(way)
    if way in STRATIFIED:
        sizes = observed.sum(axis=1)
        assert (np.ptp(sizes, axis=2) <= 1).all()
    else:
        assert stats.chisquare(observed.sum(axis=(0, 1, 2))).pvalue > RARE


@every_way
def test_the_share_of_positives_held_out_says_nothing_of_that_trained_on(way):
    """Among the copies of a value, by chance as many positives as elsewhere; no more nor fewer.

    Were the label not in the key, copy t of a value would go to the same fold in both classes.
    """
    observed, _ = counts(way)
    positive, negative = observed[:, 0, 1, 0], observed[:, 0, 0, 0]
    test = stats.pearsonr(
        positive - observed[:, 0, 1].mean(axis=1), negative - observed[:, 0, 0].mean(1)
    )
    assert test.pvalue > RARE


# ── order and weights ─────────────────────────────────────────────────────────────────────────────

FREE_OF_ORDER = sorted(set(WAYS) - {"HashFolds, four partitions", "HashFolds, positions in files"})


@pytest.mark.parametrize("way", FREE_OF_ORDER)
@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_the_rows_does_not_matter(way, seed):
    X, value, y = rows(seed)
    order = np.random.default_rng(seed).permutation(N)

    def sorted_cells(of, fold):
        return sorted(zip(value[of], y[of], fold, strict=True))

    assert sorted_cells(order, WAYS[way](X[order], y[order])) == sorted_cells(
        np.arange(N), WAYS[way](X, y)
    )


def alike(sample, other):
    for name in ("X", "positive", "weight", "fold"):
        np.testing.assert_array_equal(getattr(sample, name), getattr(other, name))


@pytest.mark.parametrize("seed", range(5))
def test_a_row_is_in_one_fold_and_on_one_side_whatever_its_weight(seed):
    X, _, y = rows(seed)
    X[:, 1] = np.arange(N)  # says which row
    times = np.random.default_rng(seed).integers(0, 5, N).astype(float)
    weighted = keyed(X, y, times)
    assert sorted(weighted.in_folds(5).X[:, 1]) == np.flatnonzero(times > 0).tolist()
    kept, apart = weighted.set_apart(3)
    assert not np.isin(kept.X[:, 1], apart.X[:, 1]).any()
    alike(
        weighted.in_folds(5)._replace(weight=None),
        keyed(X, y, np.sign(times)).in_folds(5)._replace(weight=None),
    )
    assert weighted.in_folds(5, 20).weight.sum() == pytest.approx(times.sum())


def test_some_rows_are_taken_with_all_that_stands_beside_them():
    X, value, y = rows(0)
    every = keyed(X, y, np.arange(1.0, N + 1))._replace(
        fold=np.arange(N),
        group=np.arange(N),
        counted=np.arange(N),
        costs=RowCosts(np.arange(N), np.arange(N)),
        periods=Periods(np.arange(N)),
        segments=Segments(value, tuple(range(VALUES))),
    )
    taken = every.take(np.flatnonzero(value == 1))
    assert all(part is not None for part in every)
    for part in taken:
        for array in part if isinstance(part, RowCosts) else (part,):
            if isinstance(array, np.ndarray):
                assert len(array) == np.sum(value == 1)
    assert len(taken.periods.day) == np.sum(value == 1)
    assert set(taken.segments.number) == {1}
    np.testing.assert_array_equal(taken.costs.fn, taken.group)


def test_equal_rows_of_different_weight_are_numbered_by_their_weight():
    hashes = np.array([7, 7, 7, 9], dtype=np.uint64)
    weight = np.array([2.5, 0.5, 1.5, 1.0])
    np.testing.assert_array_equal(copy_numbers(hashes, weight), [2, 0, 1, 0])


def test_a_counter_of_blocks_numbers_copies_as_one_look_at_all_rows_does():
    hashes = np.random.default_rng(0).integers(0, 40, 500).astype(np.uint64)
    counter = CopyCounter()
    parts = [counter.keys(part) for part in np.array_split(hashes, 13)]
    np.testing.assert_array_equal(np.concatenate(parts), copy_keys(hashes, copy_numbers(hashes)))


def test_a_counter_that_remembers_enough_begins_anew(monkeypatch):
    monkeypatch.setattr(row_keys, "_MOST_REMEMBERED", 10)
    counter, hashes = CopyCounter(), np.arange(20).astype(np.uint64)
    first, second = counter.keys(hashes), counter.keys(hashes)
    assert not np.isin(first, second).any()
    assert not np.isin(second, copy_keys(hashes, np.ones(20, int))).any()


# ── groups ────────────────────────────────────────────────────────────────────────────────────────

CLASSIFIERS = {
    "Direct": DirectClassifier("auc", cv=3),
    "Moment": MomentClassifier("auc"),
}


def grouped(seed=0, n_groups=40):
    """Return rows of customers, who have a feature and a label of their own."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, n_groups, 400)
    centers = rng.normal(size=(n_groups, 6))
    y = (rng.random(n_groups) < 0.4)[group]
    return centers[group] + 0.01 * rng.normal(size=(400, 6)), y, group


@pytest.mark.parametrize("name", ["numbers", "texts"])
def test_a_group_is_in_one_fold_and_every_fold_has_both_classes(name):
    X, y, group = grouped()
    names = group if name == "numbers" else np.array([f"customer {k}" for k in group])
    rows = Rows.of(X, y, POSITIVE, np.ones(400), None, names)
    seen = rows.in_folds(5)
    for number in np.unique(seen.group):
        assert len(np.unique(seen.fold[seen.group == number])) == 1
    for number in range(5):
        assert 0 < seen.positive[seen.fold == number].sum() < (seen.fold == number).sum()
    order = np.random.default_rng(1).permutation(400)
    again = Rows.of(X[order], y[order], POSITIVE, np.ones(400), None, names[order])
    alike(seen, again.in_folds(5))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("classifier", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_groups_reach_every_classifier(classifier):
    """Each customer's label is chance, known by heart from one row to the next; not with groups."""
    X, y, group = grouped(n_groups=30)
    with pytest.raises(ValueError, match="groups must name one group for each of 400 rows"):
        classifier.fit(X, y, groups=group[:3])
    apart = classifier.fit(X, y, groups=group)
    assert classifier.__sklearn_tags__() is not None
    if hasattr(apart, "held_out_"):
        with_groups, without = apart.held_out_, classifier.fit(X, y).held_out_
        assert min(with_groups.values()) > min(without.values())
    else:
        with_groups = apart.operating_point_.empirical.metric
        assert with_groups < classifier.fit(X, y).operating_point_.empirical.metric - 0.05


def test_groups_that_cannot_be_held_out_are_refused():
    X, y, _ = grouped()
    with pytest.raises(ValueError, match="groups leave no two folds with rows of both classes"):
        DirectClassifier().fit(X, y, groups=y)


# ── the same rows whatever holds them ─────────────────────────────────────────────────────────────


@pytest.mark.filterwarnings("ignore:logistic regression is as good")
def test_above_the_rows_that_choose_their_order_does_not_matter(monkeypatch):
    monkeypatch.setattr(line_search, "MOST_ROWS", 300)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 3))
    y = X[:, 0] + rng.logistic(size=1500) > 0.5
    order = rng.permutation(1500)
    metrics = ["error", "auc", "recall@fpr=0.05"]
    for fitted, other in zip(
        DirectClassifier().fit_each(metrics, X, y),
        DirectClassifier().fit_each(metrics, X[order], y[order]),
        strict=True,
    ):
        assert fitted.report_.chosen == other.report_.chosen
        np.testing.assert_allclose(fitted.coef_, other.coef_, rtol=1e-3)
        np.testing.assert_allclose(fitted.intercept_, other.intercept_, rtol=1e-3)


@pytest.mark.filterwarnings("ignore:logistic regression is as good")
@pytest.mark.parametrize("classifier", [DirectClassifier(), MomentClassifier()])
def test_in_memory_the_order_changes_not_a_bit(classifier):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(600, 8)))
    y = X[:, 0] + rng.logistic(size=600) > 0.5
    order = rng.permutation(600)
    fitted = classifier.fit(X, y)
    line = np.append(fitted.coef_, fitted.intercept_)
    other = classifier.fit(X[order], y[order])
    np.testing.assert_array_equal(line, np.append(other.coef_, other.intercept_))


def test_positions_are_the_same_however_a_file_is_cut_up():
    whole = row_keys.position_keys(1000, 3, 0)
    parts = [row_keys.position_keys(b - a, 3, a) for a, b in ((0, 1), (1, 400), (400, 1000))]
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert len(np.unique(np.append(whole, row_keys.position_keys(1000, 4, 0)))) == 2000


def test_row_groups_of_a_file_do_not_matter(tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from directrix import summarize

    table = pa.table({"a": np.arange(1000) % 3, "y": np.arange(1000) % 2})
    summaries = []
    for name, size in (("one", 1000), ("many", 17)):
        (tmp_path / name).mkdir()
        parquet.write_table(table, tmp_path / name / "rows.parquet", row_group_size=size)
        summaries.append(
            summarize(
                tmp_path / name / "rows.parquet", target="y", fold=HashFolds(4), progress=False
            )
        )
    assert summaries[0] == summaries[1]
    assert {part[0].count for part in summaries[0].parts} != {0}
