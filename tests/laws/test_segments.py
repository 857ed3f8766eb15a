"""Laws of rates and limits by segment, for every classifier that has them."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from few_cases import examples
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

from directrix import DirectClassifier, OperatingPointClassifier, ScorecardClassifier
from directrix.classifiers import evaluate, threshold_for
from directrix.exceptions import OutOfReachError
from directrix.export import load, save
from directrix.metrics import InEverySegment, RecallAtFPR
from directrix.metrics.segments import level_shares

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

CLASSIFIERS = {
    "lines": DirectClassifier,
    "cards": lambda metric, **options: ScorecardClassifier(
        metric, max_crosses=0, max_lines=None, **options
    ),
    "any model": lambda metric, **options: OperatingPointClassifier(
        LogisticRegression(), metric, **options
    ),
    "scores": lambda metric, **options: OperatingPointClassifier(None, metric, **options),
}
LIMITS = InEverySegment({"fpr": 0.1})


@pytest.fixture(params=sorted(CLASSIFIERS))
def kind(request):
    return request.param


def drawn(n=3000, seed=0):
    """Return one column, labels, and countries whose negatives differ."""
    rng = np.random.default_rng(seed)
    country = rng.choice(["at", "ch", "li"], n, p=[0.6, 0.3, 0.1])
    y = rng.random(n) < 0.3
    X = rng.normal(size=n) + 1.5 * y + 0.8 * (country == "li")
    return X[:, None], y, country


def fitted(kind, X, y, segment, limits=LIMITS):
    options = {} if limits is None else {"limits": limits, "guarantee": 0.95}
    return CLASSIFIERS[kind](RecallAtFPR(0.1), **options).fit(X, y, segment=segment)


def test_the_limit_holds_in_every_segment_of_the_rows_that_set_it(kind):
    model = fitted(kind, *drawn())
    rates = model.operating_point_.segments
    assert [each.name for each in rates] == ["at", "ch", "li"]
    assert all(each.fpr.value < 0.1 for each in rates)
    assert "fpr <= 0.1 in every segment, with confidence 0.95" in str(model.operating_point_)
    pooled = CLASSIFIERS[kind](RecallAtFPR(0.1), guarantee=0.95).fit(*drawn()[:2])
    new = drawn(40_000, seed=1)
    share = {
        name: evaluate(new[1], each.decision_function(new[0]), threshold=0.0, segment=new[2])
        for name, each in (("every", model), ("pooled", pooled))
    }
    assert share["every"].rates["li"].fpr.value < 0.1
    assert share["pooled"].rates["li"].fpr.value > 0.12


def test_a_model_is_told_its_rates_by_segment_without_limits(kind):
    X, y, country = drawn()
    model = fitted(kind, X, y, country, limits=None)
    rates = model.operating_point_.segments
    assert sum(each.rows for each in rates) == pytest.approx(len(y))
    assert sum(each.positives for each in rates) == pytest.approx(y.sum())
    total = sum(each.fpr.value * (each.rows - each.positives) for each in rates)
    assert total / (~y).sum() == pytest.approx(model.operating_point_.empirical.fpr, abs=1e-9)
    without = CLASSIFIERS[kind](RecallAtFPR(0.1)).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), without.predict(X))
    assert without.operating_point_.segments is None


def test_neither_names_nor_the_order_of_rows_matter(kind):
    X, y, country = drawn(1500)
    order = np.random.default_rng(1).permutation(len(y))
    number = pd.Series(country).map({"at": 30, "ch": 10, "li": 20}).to_numpy()
    one = fitted(kind, X, y, country).operating_point_
    other = fitted(kind, X[order], y[order], number[order]).operating_point_
    assert one.threshold == pytest.approx(other.threshold, abs=1e-9)
    for first, second in zip(one.segments["li"][1:], other.segments[20][1:], strict=True):
        np.testing.assert_allclose(first, second, rtol=1e-9)


def test_predictions_and_files_need_no_segment(kind, tmp_path):
    X, y, country = drawn(1500)
    model = fitted(kind, X, y, country)
    predicted = model.predict(X)
    save(model, tmp_path / "model.dx")
    read = load(tmp_path / "model.dx")
    if kind == "any model":  # whose file has no estimator
        read = read.around(model.estimator_)
    np.testing.assert_array_equal(read.predict(X), predicted)
    assert read.limits == LIMITS
    with pytest.raises(TypeError, match="segment"):
        model.predict(X, segment=country)


def test_one_segment_is_no_segment():
    X, y, _ = drawn()
    one = threshold_for(y, X, limits=LIMITS, guarantee=0.95, segment=np.zeros(len(y)))
    none = threshold_for(y, X, limits={"fpr": 0.1}, guarantee=0.95)
    assert one.threshold == none.threshold


def test_scikit_learn_divides_the_segment_with_the_rows():
    X, y, country = drawn()
    model = DirectClassifier(RecallAtFPR(0.1), limits=LIMITS, guarantee=0.95)
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_validate(
            model, X, y, params={"segment": country}, cv=2, return_estimator=True
        )
    for each in found["estimator"]:
        rates = each.operating_point_.segments
        assert sum(rate.rows for rate in rates) == pytest.approx(1500, abs=1)


@pytest.mark.parametrize("n_segments", [2, 6, 20])
@pytest.mark.parametrize("alike", [True, False])
def test_limits_in_every_segment_are_broken_as_often_as_said(n_segments, alike, figure):
    """Scores of negatives are uniform on (s, 1 + s): above t is a share 1 + s - t, exactly."""
    rng = np.random.default_rng(0)
    draws, n = examples(400), 100
    shift = np.zeros(n_segments) if alike else np.linspace(0.0, 0.3, n_segments)
    segment = np.tile(np.arange(n_segments), n)
    broken = 0
    for _ in range(draws):
        scores = rng.random(len(segment)) + shift[segment]
        y = np.concatenate([np.zeros(len(segment)), np.ones(5 * n_segments)])
        scores = np.concatenate([scores, 0.5 + rng.random(5 * n_segments)])
        where = np.concatenate([segment, np.repeat(np.arange(n_segments), 5)])
        point = threshold_for(y, scores, limits=LIMITS, guarantee=0.9, segment=where)
        broken += np.max(1.0 + shift - point.threshold) > 0.1
    share = broken / draws
    figure(f"{n_segments} segments, guarantee 0.9: some limit is broken in {share:.3f} of draws")
    assert share <= 0.1 + 3 * np.sqrt(0.1 * 0.9 / draws)


def test_a_segment_with_too_few_rows_is_named_and_can_be_pooled():
    X, y, country = drawn()
    y, country = y.copy(), country.copy()
    rows = np.flatnonzero(~y)[:20]
    country[rows] = "mt"
    with pytest.raises(OutOfReachError, match="29 negatives of segment 'mt'") as error:
        threshold_for(y, X, limits=LIMITS, guarantee=0.95, segment=country)
    assert (error.value.rows, error.value.needed) == (20, 29)
    pooled = InEverySegment(LIMITS.limits, pool={"mt": "li"})
    point = threshold_for(y, X, limits=pooled, guarantee=0.95, segment=country)
    assert [each.name for each in point.segments] == ["at", "ch", "li"]


def test_limits_that_no_threshold_keeps_in_all_segments_name_two():
    X, y, country = drawn()
    both = InEverySegment({"fpr": 0.05, "recall": 0.6})
    with pytest.raises(OutOfReachError, match=r"'li' asks for one above .* 'at' for one below"):
        threshold_for(y, X, limits=both, guarantee=0.9, segment=country)


def test_a_recall_is_kept_in_every_segment_from_below():
    X, y, country = drawn()
    X[country == "li"] -= 2.0
    limits = InEverySegment({"recall": 0.8})
    point = threshold_for(y, X, limits=limits, guarantee=0.95, segment=country)
    assert min(each.recall.value for each in point.segments) > 0.8
    assert point.segments["li"].recall.value < 0.95


@pytest.mark.parametrize(
    ("segment", "limits", "words"),
    [
        (None, LIMITS, "needs the segment of each row"),
        (["a"], LIMITS, "one for each of 300 rows"),
        ([None, *"a" * 299], LIMITS, "missing in 1 rows, the first of them row 0"),
        ("a" * 300, InEverySegment({"precision": 0.5}), "precision is not kept in every segment"),
        ("a" * 300, InEverySegment({"fpr": 0.1}, pool={"b": "a"}), "'b', and no row is in it"),
    ],
)
def test_what_cannot_be_is_refused(segment, limits, words):
    X, y, _ = drawn(300)
    given = list(segment) if isinstance(segment, str) else segment
    with pytest.raises(ValueError, match=words):
        threshold_for(y, X, limits=limits, guarantee=0.95, segment=given)


def test_a_source_says_that_it_has_no_limits_in_segments():
    model = DirectClassifier(RecallAtFPR(0.1), limits=LIMITS, guarantee=0.95)
    with pytest.raises(ValueError, match="segment"):
        model.fit_source(pd.DataFrame({"x": [0.0, 1.0], "y": [0, 1]}), target="y")


def test_small_segments_give_half_and_the_others_the_same():
    sizes = np.array([1000, 400, 30, 8, 0])
    taken = level_shares(sizes, sizes.sum() // 3)
    assert taken.sum() <= sizes.sum() // 3
    assert taken[2:].tolist() == [15, 4, 0]
    assert taken[1] == 200
    assert taken.sum() > sizes.sum() // 3 - 2
