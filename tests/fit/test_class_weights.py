import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from directrix import Moments
from directrix.fit.training_rows import factors_of_moments, reweighted


def rows(labels=(0, 1)):
    rng = np.random.default_rng(0)
    code = (rng.random(200) < 0.2).astype(int)
    X = rng.normal(size=(200, 3)) + code[:, None]
    return X, np.array(labels)[code], rng.integers(1, 4, 200).astype(float)


LABELS = {"numbers": (0, 1), "text": ("no", "yes"), "bool": (False, True), "odd": (-7, 3)}


def test_no_class_weight_is_one_for_each():
    X, y, _ = rows()
    assert factors_of_moments(None, Moments.of(X, y)) == (1.0, 1.0)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_balanced_is_that_of_scikit_learn(labels):
    X, y, _ = rows(labels)
    expected = compute_class_weight("balanced", classes=np.unique(y), y=y)
    assert factors_of_moments("balanced", Moments.of(X, y)) == pytest.approx(tuple(expected))


def test_balanced_counts_a_row_of_weight_k_as_k_rows():
    X, y, weight = rows()
    index = np.repeat(np.arange(len(y)), weight.astype(int))
    factors = factors_of_moments("balanced", Moments.of(X, y, weight))
    assert factors == pytest.approx(factors_of_moments("balanced", Moments.of(X[index], y[index])))
    # Both classes then weigh the same, and as much as all did.
    totals = [factor * weight[y == k].sum() for k, factor in enumerate(factors)]
    assert totals == pytest.approx([weight.sum() / 2] * 2)


def test_balanced_waits_for_rows_of_both_classes():
    X, _, _ = rows()
    moments = Moments.of(X, np.zeros(len(X), int), classes=[0, 1])
    assert factors_of_moments("balanced", moments) == (1.0, 1.0)
    assert reweighted(moments, {0: 1.0, 1: 5.0}) is moments


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_a_dict_is_by_label_and_a_label_that_is_not_named_has_factor_one(labels):
    X, y, _ = rows(labels)
    moments = Moments.of(X, y)
    first, last = labels
    assert factors_of_moments({first: 2, last: 0.5}, moments) == (2.0, 0.5)
    assert factors_of_moments({last: 3.0}, moments) == (1.0, 3.0)
    assert factors_of_moments({}, moments) == (1.0, 1.0)
    assert factors_of_moments({np.array(labels)[1]: 3.0}, moments) == (1.0, 3.0)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("heavy", r"'balanced' or a dict with the labels \[0, 1\] as keys, not 'heavy'"),
        ({0: 1.0, 2: 3.0}, r"labels \[0, 1\] as keys, not \{0: 1.0, 2: 3.0\}"),
        ({"0": 1.0}, "as keys"),
        ([1.0, 2.0], "as keys"),
        (3.0, "as keys"),
        ({0: 0.0}, "positive and finite"),
        ({1: -1.0}, "positive and finite"),
        ({1: np.inf}, "positive and finite"),
        ({1: np.nan}, "positive and finite"),
    ],
)
def test_what_is_no_class_weight_is_refused(class_weight, message):
    X, y, _ = rows()
    with pytest.raises(ValueError, match=message):
        factors_of_moments(class_weight, Moments.of(X, y))


def test_factors_change_the_prior_as_weights_of_the_rows_would():
    X, y, weight = rows()
    moments = Moments.of(X, y, weight)
    counted = reweighted(moments, {0: 0.5, 1: 4.0})
    expected = Moments.of(X, y, weight * np.where(y == 1, 4.0, 0.5))
    assert counted.prior == pytest.approx(expected.prior, rel=1e-12)


def test_factors_change_nothing_within_a_class():
    X, y, weight = rows()
    moments = Moments.of(X, y, weight)
    counted = reweighted(moments, {0: 0.5, 1: 4.0})
    assert counted.positive == moments.positive
    assert counted.negative == moments.negative
    assert counted.weight == moments.weight
    assert moments.stated_prior is None  # the summary that was given is as it was


def test_factors_act_upon_a_prior_that_was_stated():
    X, y, _ = rows()
    moments = Moments.of(X, y).with_prior(0.5)
    assert reweighted(moments, {0: 1.0, 1: 3.0}).prior == pytest.approx(0.75)
