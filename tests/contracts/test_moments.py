"""Laws of Moments, for whatever rows: order, offset, weights, classes, folds, storage of X."""

from contextlib import contextmanager
from functools import reduce
from operator import add
from unittest.mock import patch

import numpy as np
import pytest
from few_cases import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import ORDERS, cases, draw_case, exact, mean_error, scaled_error
from scipy import sparse

from directrix import Moments, summarize
from directrix.moments import CancellationError
from directrix.moments import one_pass as _dense_rows
from directrix.moments import one_pass as _sparse_rows
from directrix.moments.class_moments import SMALLEST_REMAINDER

EPS = np.finfo(float).eps
NEAR = (0.0, 1.0, 1e2, 1e5)
FAR = tuple(2.0**k for k in range(0, 41, 4))
CLASSES = (0, 1, 2)

#: The accuracy contract (docs/moments.md), in units of √(S_ii S_jj).
BOUND = 1e-14


class Worst:
    """The largest value seen, and how many were."""

    def __init__(self):
        self.value, self.n = 0.0, 0

    def __call__(self, value):
        self.value, self.n = max(self.value, value), self.n + 1
        return value


def of(case, index=slice(None), **options):
    return Moments.of(*case.part(index), classes=CLASSES, **options)


def in_random_tree(case):
    """Summarise chunks and merge them two at a time in a random order."""
    terms = [of(case, chunk) for chunk in case.chunks()]
    while len(terms) > 1:
        i, j = case.rng.choice(len(terms), 2, replace=False)
        merged = terms[i] + terms[j]
        terms = [term for k, term in enumerate(terms) if k not in (i, j)] + [merged]
    return terms[0]


@contextmanager
def blocks_of(size, gathered):
    with (
        patch.object(_dense_rows, "block_rows", lambda *_: size),
        patch.object(_dense_rows, "gathered_rows", lambda *_: gathered),
        patch.object(_dense_rows, "_REARRANGED_VALUES", 0 if gathered < size else 1 << 20),
    ):
        yield


def always_sparse():
    return patch.object(_sparse_rows, "DENSE_SHARE", 2.0)


def truths(case):
    return {c: exact(case.X[case.y == c], case.weight[case.y == c]) for c in CLASSES}


def error_against(moments, truth):
    return max(scaled_error(moments.by_class[c], truth[c]) for c in CLASSES)


def difference(a, b):
    """Return the worst scaled difference of two summaries of the same rows."""
    worst = 0.0
    for c in CLASSES:
        left, right = a.by_class[c], b.by_class[c]
        assert left.weight == pytest.approx(right.weight, rel=4 * EPS)
        size = np.sqrt(np.multiply.outer(left.scatter.diagonal(), left.scatter.diagonal()))
        off = np.abs(left.scatter - right.scatter)
        assert not off[size == 0].any()
        worst = max(worst, np.max(off[size > 0] / size[size > 0], initial=0.0))
    return worst


@pytest.mark.parametrize(
    ("ratios", "name"),
    [(NEAR, "mean/std up to 1e5"), (FAR, "offsets to 2^40")],
    ids=["near", "far"],
)
def test_exact_through_random_merge_trees(figure, ratios, name):
    scatter, mean = Worst(), Worst()
    sizes = st.sampled_from([1, 2, 3, 7, 1000])

    @settings(max_examples=examples(2000))
    @given(cases(ratios), sizes, sizes)
    def law(case, block, gathered):
        with blocks_of(block, gathered):
            tree, truth = in_random_tree(case), truths(case)
        assert scatter(error_against(tree, truth)) <= BOUND
        assert mean(max(mean_error(tree.by_class[c], truth[c]) for c in CLASSES)) <= BOUND

    law()
    figure(
        f"exact rational oracle, random merge trees, {name}: {scatter.n} cases, worst scaled "
        f"error of the scatter {scatter.value:.1e}, of the mean {mean.value:.1e} (<= {BOUND:.0e})"
    )


@pytest.mark.parametrize(
    ("ratios", "name"),
    [(NEAR, "mean/std up to 1e5"), (FAR, "offsets to 2^40")],
    ids=["near", "far"],
)
@pytest.mark.parametrize("share", [0.0, 0.7])
def test_exact_for_sparse_rows(figure, ratios, name, share):
    worst = Worst()

    @settings(max_examples=examples(500))
    @given(cases(ratios, sparse_share=share))
    def law(case):
        with always_sparse():
            X = sparse.csr_array(case.X)
            moments = Moments.of(X, case.y, case.weight, classes=CLASSES)
        assert worst(error_against(moments, truths(case))) <= BOUND

    law()
    figure(
        f"exact rational oracle, sparse rows with {share:.0%} zeros, {name}: {worst.n} cases, "
        f"worst scaled error {worst.value:.1e} (<= {BOUND:.0e})"
    )


@pytest.mark.parametrize("order", ORDERS)
def test_exact_for_many_rows_in_any_order(figure, order):
    worst = Worst()
    for ratio in (0.0, 1e5):
        case = draw_case(7, 30_000, 2, ratio, order)
        worst(error_against(of(case), truths(case)))
        worst(error_against(reduce(add, (of(case, c) for c in case.chunks())), truths(case)))
    assert worst.value <= BOUND
    figure(f"exact rational oracle, 30,000 rows {order}: worst scaled error {worst.value:.1e}")


@given(cases(NEAR + FAR))
def test_merging_commutes_to_the_last_bit(case):
    parts = [of(case, chunk) for chunk in case.chunks()]
    assert all(a + b == b + a for a in parts for b in parts)


@given(cases(NEAR))
def test_merging_is_associative(case):
    n = len(case.X)
    a, b, c = (
        of(case, slice(0, n // 3)),
        of(case, slice(n // 3, n // 2)),
        of(case, slice(n // 2, n)),
    )
    assert difference((a + b) + c, a + (b + c)) <= BOUND


@given(cases(NEAR), st.booleans())
def test_empty_is_the_identity_to_the_last_bit(case, folded):
    moments = of(case, fold=case.fold if folded else None)
    nothing = (Moments.empty(moments.n_features), of(case, slice(0, 0)))
    assert all(moments + empty == moments == empty + moments for empty in nothing)


@given(cases(NEAR))
def test_any_partition_equals_the_whole(case):
    shuffled = case.rng.permutation(len(case.X))
    parts = [of(case, shuffled[chunk]) for chunk in case.chunks()]
    assert difference(of(case), reduce(add, parts)) <= BOUND


@given(cases(NEAR))
def test_whole_weight_equals_repetition(case):
    times = case.rng.integers(0, 4, len(case.X))
    weighted = Moments.of(case.X, case.y, times, classes=CLASSES)
    index = np.repeat(np.arange(len(case.X)), times)
    repeated = Moments.of(case.X[index], case.y[index], classes=CLASSES)
    assert difference(weighted, repeated) <= BOUND


@given(cases(NEAR))
def test_folds_partition_the_rows(case):
    folded = of(case, fold=case.fold)
    assert difference(reduce(add, folded.folds), of(case)) <= BOUND
    for k, held_out in enumerate(folded.folds):
        assert difference(held_out, of(case, case.fold == k)) <= BOUND
        assert difference(folded.without_fold(k), of(case, case.fold != k)) <= BOUND


def test_subtracting_undoes_merging_or_refuses(figure):
    worst, refused = Worst(), Worst()

    @settings(max_examples=examples(500))
    @given(cases(NEAR), st.floats(0.0, 1.0))
    def law(case, share):
        cut = round(share * len(case.X))
        kept, taken = of(case, slice(0, cut)), of(case, slice(cut, len(case.X)))
        whole = kept + taken
        try:
            rest = whole - taken
        except CancellationError:
            refused(1.0)
            return
        for c in CLASSES:
            left, right = rest.by_class[c], kept.by_class[c]
            assert left.count == right.count
            # Digits are lost in proportion to what was taken out, and to nothing else.
            size = np.sqrt(whole.by_class[c].scatter.diagonal())
            off = np.abs(left.scatter - right.scatter)
            bound = np.multiply.outer(size, size) * whole.by_class[c].weight / (left.weight or 1.0)
            assert not off[bound == 0].any()
            worst(np.max(off[bound > 0] / bound[bound > 0], initial=0.0))

    law()
    assert worst.value <= BOUND
    figure(
        f"subtract undoes merge: {worst.n} classes, worst error {worst.value:.1e} of what was "
        f"subtracted from, {refused.n} refused"
    )


def test_subtraction_refuses_before_the_digits_are_gone():
    rng = np.random.default_rng(0)
    part = Moments.of(rng.normal(size=(500, 2)), np.zeros(500, int))
    for scale in 10.0 ** np.arange(0, 12):
        large = Moments.of(scale * rng.normal(size=(500, 2)), np.zeros(500, int))
        left = part.by_class[0].scatter.diagonal() / (part + large).by_class[0].scatter.diagonal()
        if left.min() < SMALLEST_REMAINDER:
            with pytest.raises(CancellationError, match="add up the parts you keep"):
                (part + large) - large
        else:
            rest = ((part + large) - large).by_class[0].scatter
            assert np.allclose(rest, part.by_class[0].scatter, rtol=64 * EPS / left.min(), atol=0)


@given(cases(NEAR))
def test_select_commutes_with_of(case):
    columns = case.rng.permutation(case.X.shape[1])[: case.rng.integers(1, case.X.shape[1] + 1)]
    chosen = Moments.of(case.X[:, columns], case.y, case.weight, classes=CLASSES)
    assert difference(of(case).select(columns), chosen) <= BOUND


@given(cases((0.0, 1e2)), st.booleans())
def test_affine_commutes_with_of(case, diagonal):
    # Small whole numbers, so that the mapped rows are exact and only the law is tested.
    X, d = np.round(16 * case.X), case.X.shape[1]
    matrix = case.rng.integers(-4, 5, d if diagonal else (2, d)).astype(float)
    center, offset = case.rng.integers(-9, 9, d), float(case.rng.integers(-9, 9))
    mapped = (X - center) * matrix if diagonal else (X - center) @ matrix.T
    before = Moments.of(X, case.y, case.weight, classes=CLASSES)
    after = before.affine(matrix, center=center, offset=offset)
    truth = {c: exact((mapped + offset)[case.y == c], case.weight[case.y == c]) for c in CLASSES}
    for c in CLASSES:
        # A map may cancel: its error is relative to |A| S |A|ᵀ, not to the result.
        spread = np.sqrt(before.by_class[c].scatter.diagonal())
        reach = np.abs(matrix) * spread if diagonal else np.abs(matrix) @ spread
        expected = np.array([[float(v) for v in row] for row in truth[c].scatter])
        off = np.abs(after.by_class[c].scatter - expected)
        assert (off <= BOUND * np.multiply.outer(reach, reach)).all()
        mean = np.array([float(v) for v in truth[c].mean])
        assert np.allclose(after.by_class[c].mean, mean, rtol=BOUND, atol=BOUND)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dense_sparse_chunked_and_frames_agree(dtype):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")

    @given(cases((0.0, 1.0, 1e2), sparse_share=0.5))
    def law(case):
        X = case.X.astype(dtype)
        whole = Moments.of(X, case.y, case.weight, classes=CLASSES)
        same = {"y": case.y, "sample_weight": case.weight, "classes": CLASSES}
        names = [f"x{k}" for k in range(X.shape[1])]
        table = {name: X[:, k] for k, name in enumerate(names)}
        chunks = ((X[c], case.y[c], case.weight[c]) for c in case.chunks())
        others = [
            Moments.of(np.asfortranarray(X), **same),
            Moments.of(sparse.csr_array(X), **same),
            Moments.of(sparse.csc_matrix(X), **same),
            Moments.of(pandas.DataFrame(table), **same),
            Moments.of(polars.DataFrame(table), **same),
            summarize(chunks, target=None, classes=CLASSES),
        ]
        with always_sparse():
            others.append(Moments.of(sparse.csr_array(X), **same))
        assert all(difference(whole, other) <= BOUND for other in others)

    law()


NIST = {
    "NumAcc1": ([10000001, 10000003, 10000002], 1.0, 14),
    "NumAcc2": ([1.2] + [1.1, 1.3] * 500, 0.1, 14),
    "NumAcc3": ([1000000.2] + [1000000.1, 1000000.3] * 500, 0.1, 9),
    "NumAcc4": ([10000000.2] + [10000000.1, 10000000.3] * 500, 0.1, 8),
}


@pytest.mark.parametrize("name", NIST)
def test_nist_numerical_accuracy(figure, name):
    values, certified, digits = NIST[name]
    X = np.array(values, dtype=float)[:, None]
    group = Moments.of(X, np.zeros(len(X), int)).by_class[0]
    deviation = np.sqrt(group.scatter[0, 0] / (group.count - 1))
    off = abs(deviation - certified) / certified
    agreeing = 15.0 if off == 0 else min(15.0, -np.log10(off))
    assert agreeing >= digits
    figure(
        f"NIST {name}: log-relative error of the standard deviation {agreeing:.1f} (>= {digits})"
    )
