import numpy as np
import pytest

from directrix import Moments

X = np.array([[1.0, 2.0], [3.0, 5.0], [8.0, 13.0], [21.0, 34.0]])


def counts(moments):
    return {label: group.count for label, group in moments.by_class.items()}


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        ([0, 1], [1, 2], {0: 1, 1: 2, 2: 1}),
        ([5, 5], [1, 3], {1: 1, 3: 1, 5: 2}),
        (["b", "c"], ["a", "a long one"], {"a": 1, "a long one": 1, "b": 1, "c": 1}),
        ([True, True], [False, True], {False: 1, True: 3}),
        ([0, 1], [0.5, 1.0], {0.0: 1, 0.5: 1, 1.0: 2}),
    ],
)
def test_summaries_of_different_classes_are_merged(a, b, both):
    merged = Moments.of(X[:2], a) + Moments.of(X[2:], b)
    assert counts(merged) == both
    assert merged == Moments.of(X[:2], a, classes=list(both)) + Moments.of(X[2:], b)
    assert merged == Moments.of(X[2:], b) + Moments.of(X[:2], a)


def test_a_class_that_only_one_side_has_stays_as_it_is():
    a, b = Moments.of(X[:2], [7, 7]), Moments.of(X[2:], [3, 9])
    assert (a + b).by_class[7] == a.by_class[7]
    assert (a + b).by_class[9] == b.by_class[9]


def test_folds_are_merged_fold_by_fold():
    a = Moments.of(X[:3], [0, 0, 1], fold=[0, 1, 1])
    b = Moments.of(X[3:], [2], fold=[3])
    merged = a + b
    assert [counts(fold) for fold in merged.folds] == [
        {0: 1, 1: 0, 2: 0},
        {0: 1, 1: 1, 2: 0},
        {0: 0, 1: 0, 2: 0},
        {0: 0, 1: 0, 2: 1},
    ]
    assert merged == b + a


def test_an_empty_summary_takes_folds_names_and_prior_from_the_other():
    moments = Moments.of(X, [0, 1, 0, 1], fold=[0, 0, 1, 1], feature_names=["a", "b"])
    moments = moments.with_prior(0.25)
    assert Moments.empty(2) + moments == moments
    assert moments + Moments.empty(2) == moments
    assert moments - Moments.empty(2) == moments


def test_a_side_without_names_or_prior_agrees():
    named = Moments.of(X, [0, 1, 0, 1], feature_names=["a", "b"]).with_prior(0.25)
    merged = Moments.of(X, [0, 1, 0, 1]) + named
    assert merged.feature_names == ("a", "b")
    assert merged.stated_prior == 0.25


@pytest.mark.parametrize("operation", ["__add__", "__sub__"])
@pytest.mark.parametrize(
    ("other", "error", "reason"),
    [
        (Moments.of(X[:, :1], [0, 1, 0, 1]), ValueError, r"2 and 1 features.*`select` the common"),
        (
            Moments.of(X, [0, 1, 0, 1], feature_names=["a", "c"], fold=[0] * 4),
            ValueError,
            r"different feature names: \('a', 'b'\) and \('a', 'c'\)",
        ),
        (Moments.of(X, [0, 1, 0, 1]), ValueError, r"has folds and the other .* give both `fold=`"),
        (
            Moments.of(X, [0, 1, 0, 1], fold=[0] * 4).with_prior(0.75),
            ValueError,
            r"different stated priors: 0\.25 and 0\.75",
        ),
        (
            Moments.of(X, ["0", "1", "0", "1"], fold=[0] * 4),
            TypeError,
            "one summary has text labels and the other has numbers",
        ),
    ],
    ids=["features", "names", "folds", "priors", "labels"],
)
def test_summaries_that_do_not_match_are_refused_in_words(operation, other, error, reason):
    moments = Moments.of(X, [0, 1, 0, 1], fold=[0] * 4, feature_names=["a", "b"]).with_prior(0.25)
    with pytest.raises(error, match=reason):
        getattr(moments, operation)(other)


def test_the_side_with_folds_may_be_either():
    with pytest.raises(ValueError, match="give both `fold=`"):
        Moments.of(X, [0, 1, 0, 1]) + Moments.of(X, [0, 1, 0, 1], fold=[0] * 4)


@pytest.mark.parametrize("other", [0, None, 1.5, "a", X])
def test_only_summaries_can_be_merged(other):
    with pytest.raises(TypeError, match=r"unsupported operand|ufunc"):
        Moments.of(X, [0, 1, 0, 1]) + other
    with pytest.raises(TypeError, match=r"unsupported operand|ufunc"):
        Moments.of(X, [0, 1, 0, 1]).by_class[0] - other
