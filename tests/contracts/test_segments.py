"""Laws of rates and limits by segment, for every classifier that has them."""

from dataclasses import replace
from functools import cache, partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from contracts.cases import KEEP_LIMITS
from few_cases import examples
from sklearn.model_selection import cross_validate

from directrix import DirectClassifier, ScorecardClassifier
from directrix.engines import HashFolds
from directrix.engines.tables import as_table
from directrix.estimators import evaluate, threshold_for
from directrix.exceptions import OutOfReachError
from directrix.export import load, save
from directrix.metrics import InEverySegment, RecallAtFPR
from directrix.metrics.segments import Segments, level_shares

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

LIMITS = InEverySegment({"fpr": 0.1})


@pytest.fixture(params=sorted(KEEP_LIMITS))
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
    return KEEP_LIMITS[kind](RecallAtFPR(0.1), **options).fit(X, y, segment=segment)


def test_the_limit_holds_in_every_segment_of_the_rows_that_set_it(kind):
    model = fitted(kind, *drawn())
    rates = model.operating_point_.segments
    assert [each.name for each in rates] == ["at", "ch", "li"]
    assert all(each.fpr.value < 0.1 for each in rates)
    assert "fpr <= 0.1 in every segment, with confidence 0.95" in str(model.operating_point_)
    pooled = KEEP_LIMITS[kind](RecallAtFPR(0.1), guarantee=0.95).fit(*drawn()[:2])
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
    without = KEEP_LIMITS[kind](RecallAtFPR(0.1)).fit(X, y)
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
        (["a"], LIMITS, "the segment of each of 300 rows, not shape"),
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


def test_small_segments_give_half_and_the_others_the_same():
    sizes = np.array([1000, 400, 30, 8, 0])
    taken = level_shares(sizes, sizes.sum() // 3)
    assert taken.sum() <= sizes.sum() // 3
    assert taken[2:].tolist() == [15, 4, 0]
    assert taken[1] == 200
    assert taken.sum() > sizes.sum() // 3 - 2


# ── rows that live elsewhere ──────────────────────────────────────────────────────────────────────

FOLDS = HashFolds(3, key="id")


class Parts:
    """A source in parts that knows how often it was read."""

    def __init__(self, tables):
        self.tables, self.times = tables, 0

    def __iter__(self):
        self.times += 1
        yield from self.tables


def table(n=3000, n_segments=3):
    X, y, _ = drawn(n)
    rng = np.random.default_rng(2)
    number = rng.integers(0, n_segments, n)
    columns = {"x": X[:, 0] + 0.3 * number / n_segments, "z": rng.normal(size=n)}
    return pd.DataFrame(columns | {"y": y, "c": [f"c{k:03}" for k in number], "id": np.arange(n)})


def arrow(rows):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    return pa.Table.from_pandas(rows)


def dask(rows):
    dd = pytest.importorskip("dask.dataframe", reason="dask is not installed")
    return dd.from_pandas(rows, npartitions=3)


SOURCES = {
    "frame": lambda rows: rows,
    "parts in another order": lambda rows: [rows[700:], rows[:700]],
    "another order": lambda rows: rows[::-1].reset_index(drop=True),
    "arrow": arrow,
    "lazy frame": lambda rows: pl.from_dict({name: rows[name].to_list() for name in rows}).lazy(),
    "dask": dask,
}


def from_source(kind, source, segment="c", limits=None, **roles):
    options = {} if limits is None else {"limits": limits, "guarantee": 0.9}
    model = KEEP_LIMITS[kind](RecallAtFPR(0.1), cv=3, **options)
    roles = {"target": "y", "features": ["x", "z"], "fold": FOLDS, "progress": False} | roles
    return model.fit_source(source, segment=segment, **roles)


@cache
def of_frame(kind, *, limited):
    return from_source(kind, table(), limits=LIMITS if limited else None).operating_point_


@pytest.fixture(params=["lines", "cards"])
def in_passes(request):
    return request.param


@pytest.mark.parametrize("source", sorted(SOURCES))
@pytest.mark.parametrize("limits", [None, LIMITS], ids=["rates", "limits"])
def test_wherever_the_rows_are_their_segments_are_the_same(in_passes, source, limits):
    one = of_frame(in_passes, limited=limits is not None)
    other = from_source(in_passes, SOURCES[source](table()), limits=limits).operating_point_
    assert one.threshold == pytest.approx(other.threshold, rel=1e-9)
    for first, second in zip(one.segments, other.segments, strict=True):
        assert first.name == second.name
        np.testing.assert_allclose(np.hstack(first[1:]), np.hstack(second[1:]), rtol=1e-12)


def test_segments_in_passes_are_those_of_the_rows_that_were_set_apart(in_passes):
    rows = table()
    model = from_source(in_passes, rows, limits=LIMITS)
    fold = replace(FOLDS, n_folds=4).of(as_table(rows), None)
    apart = rows[fold == 3]
    scores = model.decision_function(apart[["x", "z"]])
    rates = evaluate(apart["y"], scores, threshold=0.0, segment=apart["c"]).rates
    for found, expected in zip(model.operating_point_.segments, rates, strict=True):
        assert found.name == expected.name
        np.testing.assert_allclose(np.hstack(found[1:]), np.hstack(expected[1:]), rtol=1e-12)
    assert max(each.fpr.value for each in rates) < 0.1
    assert "fpr <= 0.1 in every segment" in model.operating_point_.guarantee


def test_segments_change_no_model_and_no_weight_is_lost(in_passes):
    rows = table().assign(w=np.random.default_rng(4).choice([0.5, 1.0, 2.0], 3000))
    model = from_source(in_passes, rows, weight="w")
    without = from_source(in_passes, rows, None, weight="w")
    X = rows[["x", "z"]]
    np.testing.assert_array_equal(model.decision_function(X), without.decision_function(X))
    assert without.operating_point_.segments is None
    rates, weight = model.operating_point_.segments, rows.groupby("c")["w"]
    relative = weight.sum() / rows["w"].mean()
    np.testing.assert_allclose([each.rows for each in rates], relative, rtol=1e-12)
    effective = weight.sum() ** 2 / (rows["w"] ** 2).groupby(rows["c"]).sum()
    np.testing.assert_allclose([each.alerts.rows for each in rates], effective, rtol=1e-12)


@pytest.mark.parametrize("kind", ["lines", "compact cards"])
def test_two_hundred_segments_need_no_more_passes(kind, figure):
    rows = table(20_000, n_segments=200)
    made = DirectClassifier
    if kind == "compact cards":
        made = partial(ScorecardClassifier, max_crosses=0, max_lines=4)
    passes = {}
    for segment in (None, "c"):
        kept = {} if segment is None else {"limits": InEverySegment({"fpr": 0.5})}
        model = made(RecallAtFPR(0.5), cv=3, guarantee=0.9, **kept)
        source = Parts([rows[:7000], rows[7000:]])
        roles = {"target": "y", "features": ["x", "z"], "fold": FOLDS, "segment": segment}
        model.fit_source(source, progress=False, **roles)
        passes[segment] = source.times
    assert passes["c"] == passes[None]
    rates = model.operating_point_.segments
    assert len(rates) == 200
    assert max(each.fpr.value for each in rates) < 0.5
    figure(f"{kind}, 200 segments: {passes['c']} passes, without segments {passes[None]}")


def test_a_source_names_small_segments_and_pools_them(in_passes):
    rows = table()
    rows.loc[rows["id"] % 200 == 0, "c"] = "mt"
    with pytest.raises(OutOfReachError, match="22 negatives of segment 'mt' among the rows"):
        from_source(in_passes, rows, limits=LIMITS)
    pooled = InEverySegment(LIMITS.limits, pool={"mt": "c000"})
    rates = from_source(in_passes, rows, limits=pooled).operating_point_.segments
    assert [each.name for each in rates] == ["c000", "c001", "c002"]


@pytest.mark.parametrize(
    ("segment", "words"),
    [
        (None, "needs the segment of each row: name its column with segment="),
        ("country", "country"),
        ("gaps", "segment is missing in 30 rows"),
    ],
)
def test_a_source_says_what_is_wrong_with_its_segments(segment, words):
    rows = table()
    rows["gaps"] = rows["c"].where(rows["id"] % 100 > 0, None)
    with pytest.raises((ValueError, KeyError), match=words):
        from_source("lines", rows, segment, limits=LIMITS)


def test_a_name_instead_of_the_column_of_segments_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"each of 4 rows, not 'c': .*X\['c'\]"):
        Segments.of("c", 4)
    with pytest.raises(ValueError, match=r"each of 4 rows, not shape \(3,\)$"):
        Segments.of(["a", "b", "a"], 4)


def test_segments_of_rows_in_memory_may_be_an_array():
    rows = table()
    named = from_source("lines", rows).operating_point_
    given = from_source("lines", rows.drop(columns="c"), rows["c"].to_numpy()).operating_point_
    assert str(given.segments) == str(named.segments)
