"""Laws of score histograms: an algebra of rows, as moments are."""

from functools import reduce
from operator import add

import numpy as np
import pytest

from directrix.metrics import ScoreHistogram

N = 600
WEIGHTS = {"rows": None, "weights": np.random.default_rng(8).choice([0.0, 0.1, 0.5, 3.0], N)}
weighted = pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)


def rows(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(N) < 0.3
    return y, rng.normal(size=N) + y


def counted(part=slice(None), weight=None, seed=0, **options):
    y, scores = rows(seed)
    row_weight = None if weight is None else weight[part]
    return ScoreHistogram.of_scores(
        y[part], scores[part], row_weight, **{"classes": [False, True], **options}
    )


def close(histogram, other):
    np.testing.assert_allclose(histogram.counts, other.counts, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(histogram.weight_sq, other.weight_sq, rtol=1e-12, atol=1e-12)
    return histogram._kind() == other._kind()


PARTS = np.array_split(np.random.default_rng(5).permutation(N), 7)


@weighted
def test_any_partition_of_the_rows_adds_up_to_the_whole(weight):
    parts = [counted(part, weight) for part in PARTS]
    assert close(reduce(add, parts), counted(weight=weight))
    assert close(reduce(add, parts[::-1]), counted(weight=weight))


@weighted
def test_addition_is_commutative_and_associative(weight):
    a, b, c = (counted(part, weight) for part in PARTS[:3])
    assert a + b == b + a
    assert close((a + b) + c, a + (b + c))


@weighted
def test_no_rows_are_the_identity(weight):
    histogram = counted(weight=weight)
    none = ScoreHistogram.empty([False, True])
    assert histogram + none == none + histogram == histogram == histogram - none
    assert none == counted(slice(0, 0))


@weighted
def test_subtraction_undoes_addition(weight):
    a, b = counted(PARTS[0], weight), counted(PARTS[1], weight)
    assert close(a + b - b, a)
    nothing = a + b - a - b
    assert nothing == ScoreHistogram.empty([False, True])


def test_days_of_rows_come_and_go_without_a_trace():
    days = [counted(part) for part in PARTS]
    window = reduce(add, days[:4])
    for k in range(3):
        window = window + days[k + 4] - days[k]
    assert window == reduce(add, days[3:])


def test_a_weight_is_a_repetition():
    times = np.random.default_rng(1).integers(0, 4, N)
    repeated = np.repeat(np.arange(N), times)
    ours, theirs = counted(weight=times), counted(repeated)
    np.testing.assert_array_equal(ours.counts, theirs.counts)


def test_more_rows_than_were_added_cannot_be_subtracted():
    with pytest.raises(ValueError, match="more rows in some bin than the other one: its rows are"):
        counted(PARTS[0]) - counted(PARTS[1])


OTHERS = {
    "classes": {"classes": [0, 1]},
    "models": {"model": "another"},
    "centers": {"center": 0.5},
    "scales": {"scale": 2.0},
}


@pytest.mark.parametrize("noun", OTHERS)
@pytest.mark.parametrize("operation", ["+", "-"])
def test_histograms_of_other_models_classes_or_units_are_not_added(noun, operation):
    one, other = counted(slice(0, 0)), counted(slice(0, 0), **OTHERS[noun])
    if noun == "classes":
        other = ScoreHistogram.empty(["no", "yes"])
    with pytest.raises(ValueError, match=f"different {noun}, .* and .*: only scores of one model"):
        one + other if operation == "+" else one - other
    assert one != other
    with pytest.raises(TypeError):
        one + 1
    with pytest.raises(TypeError):
        one - 1


# ── rates ─────────────────────────────────────────────────────────────────────────────────────────


@weighted
@pytest.mark.parametrize("units", [{}, {"center": 0.3, "scale": 0.05}], ids=["plain", "finer"])
def test_rates_are_exact_at_the_edges_of_bins(weight, units):
    y, scores = rows()
    histogram = counted(weight=weight, **units)
    row_weight = np.ones(N) if weight is None else weight
    for edge in histogram.edges[[1700, 2048, 2049, 2200, 2500]]:
        above = scores > edge
        for side, rate in zip((y, ~y), histogram.rates(edge), strict=True):
            expected = row_weight[side & above].sum() / row_weight[side].sum()
            assert rate == pytest.approx(expected, abs=1e-12)


def test_rates_between_edges_are_between_theirs():
    histogram = counted()
    for low, high in zip(histogram.edges[2000:2300], histogram.edges[2001:2301], strict=True):
        at = [histogram.rates(t) for t in (low, (low + high) / 2, high)]
        np.testing.assert_allclose(at[1], np.mean([at[0], at[2]], axis=0), atol=1e-12)


def test_rates_beyond_all_scores_are_zero_and_one():
    far = ScoreHistogram.of_scores([0, 0, 1], [-1e9, 3.0, 1e9])
    assert far.rates(np.inf) == far.rates(1e9) == (0.0, 0.0)
    assert far.rates(-np.inf) == far.rates(-1e9) == (1.0, 1.0)
    assert far.rates(100.0) == (1.0, 0.0)


def test_rates_need_rows_of_both_classes():
    with pytest.raises(ValueError, match="no rows of class 1: rates need rows of both classes"):
        ScoreHistogram.of_scores([0, 0], [1.0, 2.0], classes=[0, 1]).rates(0.0)


# ── what is counted ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("labels", [[0, 1], [-1.0, 1.0], [False, True], ["bad", "good"]], ids=str)
def test_the_greater_label_is_positive(labels):
    histogram = ScoreHistogram.of_scores([labels[1], labels[0], labels[1]], [3.0, -3.0, 4.0])
    assert histogram.classes.tolist() == labels
    assert histogram.weight.tolist() == [1.0, 2.0]
    assert histogram.rates(0.0) == (1.0, 0.0)


def test_it_says_what_it_is():
    histogram = ScoreHistogram.of_scores(["n", "p"], [1, 2], [0.5, 1200], scale=0.1, model="m7")
    assert repr(histogram) == (
        "<ScoreHistogram: classes {'n': 0.5, 'p': 1,200}; center 0, scale 0.1; model m7>"
    )


REFUSED = {
    "one class": (([0, 0], [1.0, 2.0]), {}, r"two classes, not \[0\]: name them with classes="),
    "three classes": (([0, 1, 2], [1.0, 2.0, 3.0]), {}, r"two classes, not \[0, 1, 2\]"),
    "another class": (([0, 5], [1.0, 2.0]), {"classes": [0, 1]}, "is not among the classes"),
    "no rows": (([], []), {}, "two classes, not"),
    "lengths": (([0, 1], [1.0]), {}, r"2 labels, but scores of shape \(1,\)"),
    "two columns": (([0, 1], [[1.0], [2.0]]), {}, r"scores of shape \(2, 1\)"),
    "NaN": (([0, 1, 1], [1.0, np.nan, np.nan]), {}, "2 scores are NaN"),
    "weights": (([0, 1], [1.0, 2.0], [1.0, -1.0]), {}, "finite and not negative"),
    "scale": (([0, 1], [1.0, 2.0]), {"scale": 0.0}, "scale positive, not 0.0 and 0.0"),
    "center": (([0, 1], [1.0, 2.0]), {"center": np.nan}, "center must be finite"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_counted_is_refused_in_words(case):
    given, options, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        ScoreHistogram.of_scores(*given, **options)


def test_infinite_scores_are_in_the_bins_at_the_ends():
    histogram = ScoreHistogram.of_scores([0, 1], [-np.inf, np.inf])
    assert histogram.counts[0, 0] == histogram.counts[1, -1] == 1.0


def test_it_has_no_hash_because_it_can_be_changed():
    with pytest.raises(TypeError, match="unhashable"):
        hash(counted())
    assert counted() != "something else"
