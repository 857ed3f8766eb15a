"""Alternatives of rows that live elsewhere: contrasts from sums, points from histograms."""

from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from directrix import DirectClassifier, ScorecardClassifier
from directrix.engines import HashFolds
from directrix.exceptions import ParityError
from directrix.fitting.fit_source import SourcePasses
from directrix.fitting.parity import contrasts_of
from directrix.fitting.parity_source import MovableSource
from directrix.metrics import InEverySegment, Parity, RecallAtFPR

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

METRIC, NAMES = RecallAtFPR(0.1), list("abcd")
ROLES = {"target": "y", "features": NAMES, "segment": "segment", "progress": False}
ROLES["fold"] = HashFolds(3, key="customer")
CLASSIFIERS = {
    "lines": DirectClassifier,
    "full cards": lambda metric, **options: ScorecardClassifier(
        metric, max_crosses=0, max_lines=None, **options
    ),
    "cards of counts": lambda metric, **options: ScorecardClassifier(
        metric, learn_from="counts", max_crosses=0, max_lines=None, **options
    ),
    "compact cards": lambda metric, **options: ScorecardClassifier(
        metric, max_crosses=1, max_lines=15, points="integer", **options
    ),
}


@pytest.fixture(params=sorted(CLASSIFIERS))
def kind(request):
    return request.param


def drawn(n=6000, seed=0, n_segments=2):
    """Return four columns, labels, and segments that two of the columns tell apart."""
    rng = np.random.default_rng(seed)
    number = rng.integers(0, n_segments, n)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, 4)).round(3)
    X[:, :2] += y[:, None]
    X[:, 1:3] += (number % 2)[:, None]
    y ^= (X[:, 0] > 1.5) & (X[:, 3] > 1.0)
    rows = pd.DataFrame(X, columns=NAMES).assign(y=y, customer=np.arange(n))
    return rows.assign(segment=[f"s{k:03}" for k in number])


@cache
def fitted(kind, parity="fpr", seed=0, **options):
    model = CLASSIFIERS[kind](METRIC, parity=parity, cv=3, **options)
    return model.fit_source(drawn(seed=seed), **ROLES)


def gap_of(model, rows):
    flagged, negative = model.predict(rows[NAMES]), ~rows["y"]
    return float(np.ptp([flagged[negative & of].mean() for of in _inside(rows)]))


def _inside(rows):
    return [rows["segment"] == name for name in sorted(set(rows["segment"]))]


def test_the_first_alternative_is_the_plain_fit(kind):
    model = fitted(kind)
    plain = CLASSIFIERS[kind](METRIC, cv=3).fit_source(drawn(), **ROLES)
    first, rows = model.alternative(0), drawn()[NAMES]
    assert np.array_equal(first.decision_function(rows), plain.decision_function(rows))
    assert first.operating_point_ == plain.operating_point_
    assert model.alternatives_[0].rates == plain.operating_point_.segments


def test_the_chosen_alternative_has_a_smaller_gap_on_new_rows(kind):
    model = fitted(kind)
    table, new = model.alternatives_, drawn(40_000, seed=1)
    assert table.acts
    assert table.chosen > 0
    assert {each.direction for each in table[1:]} == {"all rows"}
    same = model.alternative(table.chosen)
    assert np.array_equal(same.decision_function(new[NAMES]), model.decision_function(new[NAMES]))
    assert model.operating_point_.segments == table[table.chosen].rates
    plain = gap_of(model.alternative(0), new)
    if kind != "compact cards":  # few scores: a threshold may flag the same rows as before
        assert gap_of(model, new) < 0.9 * plain
    assert gap_of(model.alternative(-1), new) < 0.4 * plain
    assert table.summary in str(model.report_)
    assert table.carriers[0].column == "b"


def test_every_alternative_is_what_the_table_says(kind):
    model = fitted(kind)
    for k, entry in enumerate(model.alternatives_):
        each = model.alternative(k)
        assert each.operating_point_.empirical.metric == entry.metric
        assert each.operating_point_.segments.gap("fpr") == entry.gap
        assert each.alternatives_.chosen == k
    if kind == "compact cards":
        cards = [model.alternative(k).card_ for k in range(len(model.alternatives_))]
        assert all(card.is_whole and card.n_lines <= 15 for card in cards)
        assert len(cards[0].bins) == 4


def test_gaps_and_metrics_are_close_to_those_of_rows_in_memory():
    rows = drawn(20_000)
    table = DirectClassifier(METRIC, parity="fpr", cv=3).fit_source(rows, **ROLES).alternatives_
    model = DirectClassifier(METRIC, parity="fpr", cv=3)
    memory = model.fit(rows[NAMES], rows["y"], segment=rows["segment"]).alternatives_
    assert table[0].metric == pytest.approx(memory[0].metric, abs=0.01)
    assert table[0].gap.value == pytest.approx(memory[0].gap.value, abs=0.01)
    assert table.error == pytest.approx(memory.error, rel=0.5)
    by_strength = {each.strength: each for each in memory if each.direction == "all rows"}
    shared = [each for each in table if each.strength in by_strength]
    assert shared
    for each in shared:
        other = by_strength[each.strength]
        assert each.gap.value == pytest.approx(other.gap.value, abs=0.012)
        assert each.metric == pytest.approx(other.metric, abs=0.012)
        assert each.error == pytest.approx(other.error, rel=0.6)


def movable_of(monkeypatch, model, source, **options):
    """Return what the alternatives of a fit are made from."""
    found, search = [], MovableSource.search
    monkeypatch.setattr(
        MovableSource, "search", lambda self, *args: found.append(self) or search(self, *args)
    )
    model.fit_source(source, **ROLES | options)
    monkeypatch.undo()
    return found[0]


@pytest.mark.parametrize("rate", ["fpr", "recall", "alerts"])
def test_contrasts_of_batches_are_those_of_rows_in_memory(rate, tmp_path, monkeypatch):
    rows, parity = drawn(n_segments=3), Parity(rate)
    files = [tmp_path / f"{k}.parquet" for k in range(4)]
    for part, path in zip(np.array_split(np.arange(len(rows)), 4), files, strict=True):
        pq.write_table(pa.Table.from_pandas(rows.iloc[part]), path)
    model = DirectClassifier(METRIC, parity=rate, cv=3, class_weight={True: 2.0})
    batches = movable_of(monkeypatch, model, ds.dataset(files))
    table = model.alternatives_
    memory = movable_of(monkeypatch, model, rows)
    weight = np.where(rows["y"], 2.0, 1.0)
    base = np.where(parity.rows(rows["y"].to_numpy()), weight, 0.0)
    number = rows["segment"].str[1:].astype(int).to_numpy()
    expected = contrasts_of(rows[NAMES].to_numpy(), base, base, number, 3)
    expected *= np.sqrt(np.bincount(number, base))
    for fold in (None, 0):
        one, other = (each.contrasts(parity, fold) for each in (batches, memory))
        for first, second in zip(one, other, strict=True):
            np.testing.assert_allclose(first, second, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(memory.contrasts(parity, None)[2], expected, atol=1e-10)
    assert len(table) == len(model.alternatives_)
    for one, other in zip(table, model.alternatives_, strict=True):
        assert one.gap.value == pytest.approx(other.gap.value, abs=1e-9)
        assert one.metric == pytest.approx(other.metric, abs=1e-9)


def test_contrasts_of_a_card_are_those_of_its_coded_rows(monkeypatch):
    rows, parity = drawn(), Parity("fpr")
    model = ScorecardClassifier(METRIC, parity="fpr", cv=3, max_crosses=2, max_lines=None)
    movable = movable_of(monkeypatch, model, rows)
    assert movable.codings[-1].crosses
    cells = model.binner_.cells(rows[NAMES])
    number, base = rows["segment"].str[1:].astype(int).to_numpy(), (~rows["y"]).to_numpy(float)
    expected = contrasts_of(movable.codings[-1].rows(cells), base, base, number, 2)
    expected *= np.sqrt(np.bincount(number, base))
    np.testing.assert_allclose(movable.contrasts(parity, None)[2], expected, atol=1e-9)


def passes_of(monkeypatch, model, rows, **options):
    """Return the number of passes of a fit."""
    found, run = [], SourcePasses._run
    monkeypatch.setattr(SourcePasses, "_run", lambda *args: found.append(1) or run(*args))
    model.fit_source(rows, **ROLES | options)
    monkeypatch.undo()
    return len(found)


def test_one_more_pass_judges_the_path_and_none_if_the_gap_is_chance(monkeypatch):
    rows = drawn()
    plain, asked = (DirectClassifier(METRIC, parity=parity, cv=3) for parity in (None, "fpr"))
    assert passes_of(monkeypatch, plain, rows) == 2
    assert passes_of(monkeypatch, asked, rows) == 3
    assert asked.alternatives_.acts
    rows["segment"] = np.random.default_rng(3).permutation(rows["segment"])
    assert passes_of(monkeypatch, asked, rows) == 2
    assert not asked.alternatives_.acts
    assert "no larger than chance alone makes it" in asked.alternatives_.summary


def test_two_hundred_segments_are_brought_together():
    rows = drawn(20_000, n_segments=200)
    model = DirectClassifier(METRIC, parity=Parity("fpr", "parity"), cv=3)
    assert model.fit_source(rows, **ROLES).alternatives_.acts
    assert len(model.operating_point_.segments) == 200
    new = drawn(40_000, seed=2, n_segments=2)  # of two halves, which is what makes them differ
    least = min(gap_of(model.alternative(k), new) for k in range(len(model.alternatives_)))
    assert least < 0.4 * gap_of(model.alternative(0), new)


@pytest.mark.parametrize("case", ["weighted", "ranking", "monotone", "cost"])
def test_alternatives_go_with(case):
    rows, roles, options, metric = drawn(), dict(ROLES), {}, METRIC
    make = DirectClassifier
    if case == "weighted":
        rows["w"] = np.random.default_rng(0).integers(1, 4, len(rows))
        roles["weight"] = "w"
    if case == "ranking":
        metric = "auc"
    if case == "monotone":
        make, options = CLASSIFIERS["full cards"], {"monotone": {"b": "increasing"}}
    if case == "cost":
        metric = "balanced_error"
    model = make(metric, parity="fpr", cv=3, **options).fit_source(rows, **roles)
    table = model.alternatives_
    assert table.acts
    assert min(each.gap.value for each in table) < table[0].gap.value
    assert all(each.error > 0 for each in table[1:])
    if case == "monotone":
        grid = [rows[:50].assign(b=value)[NAMES] for value in np.linspace(-2, 2, 9)]
        for k in range(len(table)):
            scores = [model.alternative(k).decision_function(each) for each in grid]
            assert np.diff(scores, axis=0).min() >= -1e-9


def test_a_guarantee_sets_the_threshold_of_every_alternative(kind):
    limits = InEverySegment({"fpr": 0.1})
    model = CLASSIFIERS[kind](METRIC, parity="fpr", cv=3, limits=limits, guarantee=0.9)
    model.fit_source(drawn(9000), **ROLES)
    table = model.alternatives_
    assert table.chosen > 0
    plain = CLASSIFIERS[kind](METRIC, cv=3, limits=limits, guarantee=0.9)
    plain.fit_source(drawn(9000), **ROLES)
    assert model.alternative(0).operating_point_ == plain.operating_point_
    for k in range(len(table)):
        point = model.alternative(k).operating_point_
        assert "fpr <= 0.1 in every segment" in point.guarantee
        assert all(each.fpr.value <= 0.1 for each in point.segments)
        assert sum(each.rows for each in table[k].rates) > 2 * sum(e.rows for e in point.segments)


def test_a_segment_must_be_named():
    model = DirectClassifier(METRIC, parity="fpr")
    with pytest.raises(ValueError, match="parity='fpr' needs the segment of each row: name its"):
        model.fit_source(drawn(300), **ROLES | {"segment": None})


def test_too_many_features_are_refused_before_they_are_added_up():
    rng = np.random.default_rng(0)
    rows = {"X": rng.normal(size=(60, 3001)), "y": rng.random(60) < 0.5, "segment": [0, 1] * 30}
    model = DirectClassifier(METRIC, parity="fpr", cv=2)
    with pytest.raises(ValueError, match="parity= needs at most 3,000 features"):
        model.fit_source(rows["X"], target=rows["y"], segment=rows["segment"], progress=False)


def test_counts_that_are_given_have_no_sample():
    model = ScorecardClassifier(METRIC, parity="fpr")
    with pytest.raises(ParityError, match=r"no parity= with counts=: leave counts= out"):
        model.fit_source(drawn(300), counts=object(), **ROLES)
