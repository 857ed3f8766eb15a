"""Laws of rows: a row is one row, whatever its weight, and what stands beside it stays with it."""

import numpy as np
import pandas as pd
import pytest
from few_cases import examples
from scipy import stats
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB

from directrix import (
    DirectClassifier,
    MomentClassifier,
    OperatingPointClassifier,
    ScorecardClassifier,
)
from directrix.exceptions import CopiedRowsWarning
from directrix.fit.copies import copied_rows, warn_about_copies
from directrix.fit.training_rows import Rows
from directrix.metrics import Budget, InEverySegment, RecallAtFPR

# Samples are small, which some metrics warn of, and nothing is better than logistic regression.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ESTIMATORS = {
    "Direct": DirectClassifier("f1"),
    "Direct, guarantee": DirectClassifier(RecallAtFPR(0.2), guarantee=0.9),
    "Scorecard": ScorecardClassifier("auc", cv=3),
    "Scorecard of counts": ScorecardClassifier("f1", cv=3),
    "Moment": MomentClassifier("f1"),
    "OperatingPoint": OperatingPointClassifier(GaussianNB(), "f1"),
}
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=ESTIMATORS)


def rows(n=300, seed=0, d=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n) > 0.5, rng


# ── weights ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.every_case
@every_estimator
def test_whole_weights_are_weights_like_any_others(estimator):
    X, y, rng = rows()
    weight = rng.integers(1, 10_000, len(y)).astype(float)  # small ones have ties to be broken
    whole, other = (
        clone(estimator).fit(X, y, sample_weight=each) for each in (weight, weight + 1e-9)
    )
    np.testing.assert_allclose(whole.predict_proba(X), other.predict_proba(X), rtol=0, atol=1e-4)
    if hasattr(whole, "operating_point_"):
        for name in ("empirical", "expected", "intervals"):
            pair = (getattr(each.operating_point_, name) for each in (whole, other))
            found, expected = (np.ravel(each).astype(float) for each in pair)
            np.testing.assert_allclose(found, expected, atol=1e-4)


def test_weights_that_hardly_differ_choose_alike_where_few_rows_tell_little():
    """Rounding in single precision chose for them, and moved what is expected by .1 intervals."""
    rng = np.random.default_rng(0)
    y, weight, X = rng.random(150) < 0.3, rng.integers(1, 10, 150), rng.normal(size=(150, 100))
    one, other = (
        DirectClassifier("auc").fit(X, y, sample_weight=each).operating_point_
        for each in (weight, weight + 1e-9)
    )
    low, high = one.intervals.metric
    difference = abs(one.expected.metric - other.expected.metric)
    assert difference <= 0.02 * (high - low)


FITS = {
    name: lambda rows, weight, each=estimator: clone(each).fit(*rows, sample_weight=weight)
    for name, estimator in ESTIMATORS.items()
} | {
    f"{name}, of a source": lambda rows, weight, each=ESTIMATORS[name]: clone(each).fit_source(
        rows[0], target=rows[1], weight=weight, progress=False
    )
    # The sample of a summary is drawn by the weights too: another unit draws other rows.
    for name in ("Direct", "Scorecard", "Scorecard of counts")
}


@pytest.mark.every_case
@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_weights_have_no_unit(fit):
    X, y, rng = rows()
    weight = rng.integers(1, 4, len(y)).astype(float)
    first, *others = (
        fit((X, y), factor * weight) for factor in (1.0, 1e-3, 7.0, 1.0 / len(y), 1.0 / 3e9)
    )
    for other in others:
        np.testing.assert_array_equal(other.predict(X), first.predict(X))
        np.testing.assert_allclose(other.predict_proba(X), first.predict_proba(X), atol=1e-9)
        for name in ("coef_", "intercept_"):
            if hasattr(first, name):
                np.testing.assert_allclose(getattr(other, name), getattr(first, name), rtol=1e-9)
        if hasattr(first, "card_"):
            assert str(other.card_) == str(first.card_)
        if hasattr(first, "operating_point_"):
            for name in ("empirical", "expected", "intervals"):
                pair = (getattr(each.operating_point_, name) for each in (other, first))
                found, expected = (np.ravel(each).astype(float) for each in pair)
                np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_guarantee_holds_with_whole_weights(figure):
    limit, n_draws, rates = 0.1, examples(40), []
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(400, 3)), rng.random(400) < 0.5
        line = DirectClassifier(RecallAtFPR(limit), guarantee=0.95, warn_baseline=False)
        line.fit(X, y, sample_weight=rng.integers(1, 10, 400))
        # The score of a row of noise is normal, whatever its label.
        rates.append(stats.norm.sf(-line.intercept_[0] / np.linalg.norm(line.coef_)))
    broken = np.sum(np.array(rates) > limit)
    figure(f"noise with whole weights, guarantee 0.95: broken in {broken} of {n_draws} draws")
    assert broken <= stats.binom.isf(1e-4, n_draws, 0.05)
    # Above the threshold are at most k of the n negatives set apart, a third of all: the mean says
    # sooner than the count whether rows were counted, or their weights.
    n = 67
    k = stats.binom.ppf(0.05, n, limit) - 1
    law = stats.beta(k + 1, n - k)
    assert np.mean(rates) <= stats.norm.isf(1e-3, law.mean(), law.std() / np.sqrt(n_draws))


# ── copies and groups ─────────────────────────────────────────────────────────────────────────────


def oversampled(seed=0, make=lambda X: X):
    """Return noise whose rare class is drawn again until it is as frequent, and the originals."""
    rng = np.random.default_rng(seed)
    X, y = make(rng.normal(size=(400, 6))), rng.random(400) < 0.15
    rare, frequent = np.flatnonzero(y), np.flatnonzero(~y)
    index = np.concatenate([frequent, rare, rng.choice(rare, len(frequent) - len(rare))])
    return X[index], y[index], index


HOLDING_OUT = {name: ESTIMATORS[name] for name in ("Direct", "Scorecard of counts", "Moment")} | {
    "OperatingPoint": ESTIMATORS["OperatingPoint"]
}


@pytest.mark.every_case
@pytest.mark.parametrize("estimator", HOLDING_OUT.values(), ids=HOLDING_OUT)
def test_copies_of_one_class_are_named_unless_they_are_groups(estimator, recwarn):
    X, y, original = oversampled()
    with pytest.warns(CopiedRowsWarning, match="groups=") as caught:
        clone(estimator).fit(X, y)
    (warning,) = (w.message for w in caught if isinstance(w.message, CopiedRowsWarning))
    assert warning.label is True
    assert warning.rows == y.sum()
    assert warning.copies == y.sum() - len(np.unique(original[y]))
    recwarn.clear()
    clone(estimator).fit(X, y, groups=original)
    assert not [w for w in recwarn if isinstance(w.message, CopiedRowsWarning)]


def test_groups_of_copies_are_expected_to_know_nothing():
    X, y, original = oversampled()
    card = ScorecardClassifier("auc", cv=3, max_crosses=0)
    rosy, honest = (
        clone(card).fit(X, y, groups=groups).operating_point_.intervals.metric
        for groups in (None, original)
    )
    assert rosy[0] > 0.6
    assert honest[0] < 0.5 < honest[1]


def with_holes(Z, rng):
    Z[rng.random(Z.shape) < 0.2] = np.nan
    return Z


def beside_codes(Z, rng):
    Z[:, 1:] = rng.integers(0, 3, (len(Z), Z.shape[1] - 1))
    return with_holes(Z, rng)


def as_texts(Z, rng):
    towns = np.array(["Ulm", "Bonn", None], dtype=object)[rng.integers(0, 3, len(Z))]
    return pd.DataFrame({"amount": Z[:, 0], "town": towns})


TABLES = {
    "numbers": lambda Z, _: Z,
    "holes": with_holes,
    "one continuous column": beside_codes,
    "texts": as_texts,
    "binary": lambda Z, rng: rng.integers(0, 2, (len(Z), 20)).astype(float),
    "few binary": lambda Z, _: (Z > 0).astype(float),
}
SEEN_IN_COUNTS = {"binary": ("twice", "thrice", "half"), "few binary": ("twice", "thrice")}
MULTIPLIED = {
    "twice": lambda n, _: np.tile(np.arange(n), 2),
    "thrice": lambda n, _: np.tile(np.arange(n), 3),
    "half": lambda n, _: np.append(np.arange(n), np.arange(n // 2)),
    "a tenth": lambda n, _: np.append(np.arange(n), np.arange(n // 10)),
    "drawn again": lambda n, rng: rng.integers(0, n, n),
}


@pytest.mark.every_case
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("how", MULTIPLIED)
def test_copies_of_whole_rows_are_named_unless_they_are_groups(kind, how, recwarn):
    rng = np.random.default_rng(0)
    X = TABLES[kind](rng.normal(size=(400, 5)), rng)
    y = rng.random(400) < 0.3
    original = MULTIPLIED[how](400, rng)

    def warned(index, **beside):
        recwarn.clear()
        kept = Rows(
            X.iloc[index] if isinstance(X, pd.DataFrame) else X[index],
            y[index],
            np.ones(len(index)),
            **beside,
        )
        warn_about_copies(kept, np.array(["no", "yes"]))
        return [w.message for w in recwarn if isinstance(w.message, CopiedRowsWarning)]

    if how in SEEN_IN_COUNTS.get(kind, MULTIPLIED):
        (warning,) = warned(original)
        assert (warning.label, warning.rows) == (None, len(original))
        if kind in ("numbers", "texts"):  # others have equal rows by chance, too
            assert warning.copies == len(original) - len(np.unique(original))
        assert "groups=" in str(warning)
        assert "join" in str(warning)
    assert not warned(original, group=original)
    assert not warned(np.arange(400))
    assert not warned(np.append(np.arange(400), np.arange(8)))


@pytest.mark.every_case
@pytest.mark.parametrize("estimator", HOLDING_OUT.values(), ids=HOLDING_OUT)
def test_a_table_that_is_there_twice_is_known_to_every_fit(estimator):
    X, y, _ = rows()
    with pytest.warns(CopiedRowsWarning, match="300 of the 600 rows are copies of others, labels"):
        clone(estimator).fit(np.tile(X, (2, 1)), np.tile(y, 2))


DISCRETE = {
    "binary columns": lambda rng: rng.integers(0, 2, (500, 6)).astype(float),
    "one binary column": lambda rng: rng.integers(0, 2, (500, 1)).astype(float),
    "counts, mostly zero": lambda rng: rng.poisson(0.1, (500, 8)).astype(float),
    "many binary columns": lambda rng: rng.integers(0, 2, (20_000, 12)).astype(float),
    "one column twice": lambda rng: np.repeat(rng.integers(0, 9, (500, 1)), 2, axis=1).astype(
        float
    ),
}


@pytest.mark.every_case
@pytest.mark.parametrize("make", DISCRETE.values(), ids=DISCRETE)
@pytest.mark.parametrize("rule", ["chance", "signal", "no noise"])
def test_few_distinct_values_are_no_copies(make, rule):
    rng = np.random.default_rng(0)
    X = make(rng)
    score = X[:, 0] + (X.sum(axis=1) if rule != "chance" else 0.0)
    noise = {"chance": 1e9, "signal": 1.0, "no noise": 0.0}[rule]
    score = score + noise * rng.logistic(size=len(X))
    for share in (0.02, 0.2, 0.5):
        assert copied_rows(X, score > np.quantile(score, 1.0 - share)) is None


# ── all that stands beside rows, together ─────────────────────────────────────────────────────────

LIMITS = {
    "fpr": {"fpr": 0.5},
    "fpr and recall": {"fpr": 0.6, "recall": 0.2},
    "alerts": {"alerts": 0.6},
    "precision": {"precision": 0.4},
    "in every segment": InEverySegment({"fpr": 0.7}),
}


@pytest.mark.every_case
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
@pytest.mark.parametrize("beside", ["segment", "groups", "groups and segment"])
@pytest.mark.parametrize("name", ["Direct", "OperatingPoint"])
def test_limits_segments_and_groups_go_together(name, limits, beside):
    X, y, rng = rows(1200)
    given = {"sample_weight": rng.integers(1, 4, len(y))}
    if "groups" in beside:
        given["groups"] = np.arange(len(y)) // 2
    if "segment" in beside or isinstance(limits, InEverySegment):
        given["segment"] = np.where(rng.random(len(y)) < 0.4, "a", "b")
    fitted = clone(ESTIMATORS[name]).set_params(limits=limits, guarantee=0.8).fit(X, y, **given)
    point = fitted.operating_point_
    assert point.guarantee.endswith("with confidence 0.8")
    assert (point.segments is None) == ("segment" not in given)


def test_a_guarantee_counts_one_row_of_each_group(figure):
    n_draws, broken = examples(100), 0
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        group = np.repeat(np.arange(120), 6)
        scores = rng.normal(size=120)[group] + 0.1 * rng.normal(size=len(group))
        y = rng.random(len(group)) < 0.3
        model = OperatingPointClassifier(None, RecallAtFPR(0.2), guarantee=0.9)
        threshold = model.fit(scores, y, groups=group).operating_point_.threshold
        broken += stats.norm.sf(threshold / np.sqrt(1.01)) > 0.2
    figure(f"groups of six, guarantee 0.9: broken in {broken} of {n_draws} draws")
    assert broken <= stats.binom.isf(1e-4, n_draws, 0.1)


def test_a_budget_takes_no_groups():
    X, y, rng = rows()
    model = DirectClassifier("auc", limits=Budget(5, per="day"), guarantee=0.8)
    with pytest.raises(ValueError, match=r"whole days apart.*leave groups= out"):
        model.fit(X, y, groups=np.arange(len(y)), day=rng.integers(0, 60, len(y)))
