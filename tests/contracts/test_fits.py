"""Laws of fits: one that fails changes nothing, and nothing is left of one by the next."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from directrix import (
    Binner,
    DirectClassifier,
    MomentClassifier,
    Moments,
    OperatingPointClassifier,
    ScorecardClassifier,
)
from directrix.editing import CardEditor
from directrix.engines import HashFolds
from directrix.estimators.base import LinearClassifier
from directrix.exceptions import CardSizeError, FewRowsWarning
from directrix.fit.progress import PRIVATE_STATE
from directrix.moments import BinCounts

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

#: Estimators, by the last method of a fit that stores anything.
ESTIMATORS = {
    "moment": (MomentClassifier, {}, "_keep"),
    "direct": (DirectClassifier, {"cv": 3}, "_keep"),
    "card": (ScorecardClassifier, {"cv": 3, "max_crosses": 0}, "_final_report"),
    "any model": (OperatingPointClassifier, {"estimator": LogisticRegression()}, "_keep"),
}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)
every_start = pytest.mark.parametrize("fitted", [False, True], ids=["first", "second"])


def rows(n=240, d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3 == 0
    X = rng.normal(size=(n, d)).round(2)
    X[:, : d - 1] += 0.9 * y[:, None]
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(d)]), y.astype(float)


def made(name, **options):
    cls, params, _ = ESTIMATORS[name]
    return cls(**params, **options)


def failing(name, monkeypatch):
    """Let the last method of a fit that stores anything fail after it."""
    cls, _, method = ESTIMATORS[name]
    complete = getattr(cls, method)

    def fail(self, *arguments, **options):
        complete(self, *arguments, **options)
        raise RuntimeError

    monkeypatch.setattr(cls, method, fail)


def one_class(X, y):
    return X, np.zeros_like(y)


def missing_label(X, y):
    return X, np.where(np.arange(len(y)) == 7, np.nan, y)


def other_rows(X, y):
    return X.iloc[:, 1:], y


FAULTS = {"one class": one_class, "a missing label": missing_label, "deep in it": other_rows}


@every_estimator
@every_start
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fit_that_fails_changes_nothing(name, fitted, fault, monkeypatch):
    X, y = rows()
    estimator = made(name)
    if fitted:
        estimator.fit(X, y)
        expected = estimator.predict(X)
    before = dict(vars(estimator))
    if fault == "deep in it":
        failing(name, monkeypatch)
    with pytest.raises((ValueError, RuntimeError)):
        estimator.fit(*FAULTS[fault](X, y))
    after = vars(estimator)
    assert after.keys() == before.keys()
    assert all(after[key] is before[key] for key in before)
    if fitted:
        np.testing.assert_array_equal(estimator.predict(X), expected)
    else:
        with pytest.raises(NotFittedError):
            estimator.predict(X)


@every_estimator
def test_a_second_fit_is_that_of_a_new_estimator(name):
    X, y = rows()
    other = rows(d=3, seed=1)[0].to_numpy(), np.where(y > 0, "b", "a")
    twice, once = made(name).fit(X, y).fit(*other), made(name).fit(*other)
    assert vars(twice).keys() == vars(once).keys()
    state = vars(once).keys() - vars(made(name)).keys()
    assert {each for each in state if not each.endswith("_")} <= PRIVATE_STATE
    scores = [each.decision_function(other[0]) for each in (twice, once)]
    np.testing.assert_array_equal(*scores)


# ── Any order of fits from rows, from sources and from summaries ──────────────────────────────────


def counts_of(X, y):
    binner = Binner(max_bins=4).fit(X)
    return BinCounts.of(binner, X, y, fold=np.arange(len(y)) // 3 % 3)


FITS = {
    "fit": lambda estimator, X, y: estimator.fit(X, y),
    "fit_source": lambda estimator, X, y: estimator.fit_source(
        X.assign(y=y), target="y", fold=HashFolds(3), progress=False
    ),
    "fit_summary": lambda estimator, X, y: estimator.fit_summary(
        counts_of(X, y)
        if isinstance(estimator, ScorecardClassifier)
        else Moments.of(X, y, feature_names=list(X.columns))
    ),
}
ORDERS = [
    (name, first, last)
    for name, (cls, _, _) in ESTIMATORS.items()
    for first, last in product(FITS, repeat=2)
    if first != last and hasattr(cls, first) and hasattr(cls, last)
]


def delivered(model, X):
    """Return what a model gives, and what is derived from it."""
    given = [sorted(vars(model)), model.decision_function(X).tolist()]
    derived = [model.with_threshold(model.operating_point_)]
    if isinstance(model, ScorecardClassifier):
        for size in (8, 12, None):
            try:
                derived.append(model.compact(size))
            except CardSizeError as error:
                given.append(str(error))
        given.append(len(model._sizes))
    return given + [each.predict_proba(X).tolist() for each in derived]


@pytest.mark.parametrize(("name", "first", "last"), ORDERS)
def test_fits_in_any_order_are_those_of_the_last(name, first, last):
    X, y = rows()
    others = rows(300, 4, seed=5)
    twice = FITS[last](FITS[first](made(name), *others), X, y)
    assert delivered(twice, X) == delivered(FITS[last](made(name), X, y), X)


def test_a_card_with_another_threshold_has_no_other_size():
    X, y = rows()
    card = made("card").fit(X, y)
    assert len(card.sizes()) > 1
    moved = card.with_threshold(card.operating_points(["recall@fpr=0.2"])[0])
    with pytest.raises(CardSizeError, match="choose its size first"):
        moved.compact(8)
    size = card.sizes()[0].lines
    small = card.compact(size)
    flagged = small.with_threshold(small.operating_points(["recall@fpr=0.2"])[0])
    assert flagged.card_.n_lines == small.card_.n_lines


def test_an_editor_is_of_its_own_rows():
    X, y = rows()
    unfitted, fitted = made("card"), made("card").fit(*rows(300, 3, seed=5))
    before = dict(vars(fitted))
    edited = [CardEditor.of(each, X, y, lockbox=None).fit() for each in (unfitted, fitted)]
    np.testing.assert_array_equal(*[each.predict_proba(X) for each in edited])
    assert vars(fitted) == before


@pytest.mark.parametrize("name", ["moment", "direct", "card"])
def test_parameters_and_requests_of_metadata_are_kept(name):
    X, y = rows()
    estimator = made(name)
    with config_context(enable_metadata_routing=True):
        estimator.set_fit_request(sample_weight=True)
    estimator.note = "of ours"
    before = estimator.get_params(deep=False)
    estimator.fit(X, y)
    after = estimator.get_params(deep=False)
    assert all(after[key] is before[key] for key in before)
    assert estimator.note == "of ours"
    assert estimator.get_metadata_routing().fit.requests["sample_weight"] is True


def test_fits_for_each_metric_leave_the_estimator_unfitted():
    X, y = rows()
    estimator = made("direct")
    before = dict(vars(estimator))
    each = estimator.fit_each(["error", "recall@fpr=0.1"], X, y)
    assert vars(estimator) == before
    assert [len(model.predict(X)) for model in each] == [len(X)] * 2


class Scaled(MomentClassifier):
    """A subclass that stores state before and after the fit of its base class."""

    def fit(self, X, y):
        self.largest_ = np.abs(X.to_numpy()).max()
        super().fit(X / self.largest_, y)
        self.n_fits_ = getattr(self, "n_fits_", 0) + 1
        if self.largest_ > 100:
            raise OverflowError
        return self


def test_the_fit_of_a_subclass_is_one_with_that_of_its_base_class():
    X, y = rows()
    model = Scaled().fit(X, y).fit(X, y)
    assert model.n_fits_ == 1
    before = dict(vars(model))
    with pytest.raises(OverflowError):
        model.fit(100 * X.iloc[:, 1:], y)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is before[key] for key in before)
    assert model.largest_ == np.abs(X.to_numpy()).max()


def test_a_block_that_fails_is_not_part_of_partial_fit(monkeypatch):
    X, y = rows()
    X = pd.concat([X.iloc[:120]] * 2, ignore_index=True)  # copies, which are counted
    blocks = [(X.iloc[:120], y[:120]), (X.iloc[120:], y[120:])]
    models = [MomentClassifier().partial_fit(*blocks[0]) for _ in range(2)]
    before = dict(vars(models[0]))
    with monkeypatch.context() as patch:
        failing("moment", patch)
        with pytest.raises(RuntimeError):
            models[0].partial_fit(*blocks[1])
    assert all(vars(models[0])[key] is before[key] for key in before)
    scores = [model.partial_fit(*blocks[1]).decision_function(X) for model in models]
    np.testing.assert_array_equal(*scores)


# ── Objects of pandas whose rows are in another order ─────────────────────────────────────────────


@every_estimator
@pytest.mark.parametrize("argument", ["y", "sample_weight", "groups"])
@pytest.mark.parametrize("order", ["other rows", "another order"])
def test_other_indexes_of_pandas_are_refused(name, argument, order):
    X, y = rows()
    given = {
        "y": pd.Series(y),
        "sample_weight": pd.Series(1.0 + np.arange(len(y)) % 2),
        "groups": pd.Series(np.arange(len(y)) // 2),
    }
    index = X.index[::-1] if order == "another order" else X.index + 1
    given[argument] = given[argument].set_axis(index)
    with pytest.raises(ValueError, match=f"X and {argument} have different indexes"):
        made(name).fit(X, **given)


@every_estimator
def test_equal_indexes_of_pandas_are_taken(name):
    X, y = rows()
    names = [f"row {k}" for k in range(len(y))]
    fitted = made(name).fit(X.set_axis(names), pd.Series(y, index=names))
    plain = made(name).fit(X, y)
    np.testing.assert_array_equal(fitted.decision_function(X), plain.decision_function(X))


# ── Fits in several threads ───────────────────────────────────────────────────────────────────────


def fit_few(name):
    X, y = rows(150)
    y = np.where(np.cumsum(y) <= 8, y, 0.0)
    return made(name).fit(X, y)


@pytest.mark.parametrize("name", ["card", "direct"])
def test_fits_in_threads_give_their_warnings_and_leave_the_filters(name):
    with warnings.catch_warnings(record=True) as alone:
        warnings.simplefilter("always")
        fit_few(name)
    with warnings.catch_warnings(record=True) as together:
        warnings.simplefilter("always")
        before = list(warnings.filters)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(fit_few, [name] * 4))
        assert warnings.filters == before
    number = [sum(w.category is FewRowsWarning for w in each) for each in (alone, together)]
    assert number[1] == 4 * number[0]
    assert number[0]


def test_every_classifier_is_held_to_these_laws():
    known = {cls for cls, _, _ in ESTIMATORS.values()}
    import directrix.estimators as public

    named = map(vars(public).get, public.__all__)
    assert known == {
        each
        for each in named
        if isinstance(each, type) and issubclass(each, LinearClassifier) and hasattr(each, "fit")
    }
