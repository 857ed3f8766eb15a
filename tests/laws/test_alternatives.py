"""Laws of parity: alternatives of lines and cards whose rates agree more between segments."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from directrix import DirectClassifier, ScorecardClassifier
from directrix.exceptions import AlternativeError, ParityError
from directrix.export import load, save
from directrix.metrics import InEverySegment, Parity, RecallAtFPR
from directrix.tables import BinCounts, Binner

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

CLASSIFIERS = {
    "lines": DirectClassifier,
    "full cards": lambda metric, **options: ScorecardClassifier(
        metric, max_crosses=0, max_lines=None, **options
    ),
    "compact cards": lambda metric, **options: ScorecardClassifier(
        metric, **{"max_crosses": 0, "max_lines": 15, **options}
    ),
    "whole points": lambda metric, **options: ScorecardClassifier(
        metric, **{"max_crosses": 0, "max_lines": 15, "points": "integer", **options}
    ),
}
METRIC = RecallAtFPR(0.1)


@pytest.fixture(params=sorted(CLASSIFIERS))
def kind(request):
    return request.param


def drawn(n=3000, seed=0, apart=1.0):
    """Return four columns, labels, and two segments that one of the columns tells apart."""
    rng = np.random.default_rng(seed)
    segment = rng.choice(["f", "m"], n, p=[0.4, 0.6])
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, 4))
    X[:, :2] += y[:, None]
    X[:, 1:3] += apart * (segment == "m")[:, None]
    return X, y, segment


def fitted(kind, X, y, segment, parity="fpr", **options):
    return CLASSIFIERS[kind](METRIC, parity=parity, **options).fit(X, y, segment=segment)


def gap_of(model, X, y, segment):
    flagged = model.predict(X)[~y]
    return float(np.ptp([flagged[segment[~y] == name].mean() for name in np.unique(segment)]))


def test_the_first_alternative_is_the_plain_fit(kind):
    X, y, segment = drawn()
    model = fitted(kind, X, y, segment)
    plain = CLASSIFIERS[kind](METRIC).fit(X, y, segment=segment)
    first = model.alternative(0)
    assert np.array_equal(first.decision_function(X), plain.decision_function(X))
    assert first.operating_point_ == plain.operating_point_
    assert first.alternatives_.chosen == 0
    assert model.alternatives_[0].strength == 0.0
    assert model.alternatives_[0].rates == plain.operating_point_.segments


def test_the_chosen_alternative_is_delivered_and_has_a_smaller_gap_on_new_rows(kind):
    X, y, segment = drawn()
    model = fitted(kind, X, y, segment)
    table = model.alternatives_
    assert table.acts
    assert table.chosen > 0
    same = model.alternative(table.chosen)
    assert np.array_equal(same.decision_function(X), model.decision_function(X))
    assert model.operating_point_.segments == table[table.chosen].rates
    new = drawn(20_000, seed=1)
    assert gap_of(model, *new) < 0.85 * gap_of(model.alternative(0), *new)
    assert gap_of(model.alternative(-1), *new) < 0.5 * gap_of(model.alternative(0), *new)
    behind = table[0].metric - table[table.chosen].metric
    assert behind <= 2.0 * table.error
    assert table.summary in str(model.report_)


def test_every_alternative_is_what_the_table_says(kind):
    model = fitted(kind, *drawn())
    for k, entry in enumerate(model.alternatives_):
        each = model.alternative(k)
        assert each.operating_point_.empirical.metric == entry.metric
        assert each.operating_point_.segments.gap("fpr") == entry.gap
        assert each.alternatives_.chosen == k
        assert entry.impact_ratio == entry.rates.impact_ratio
    assert len(str(model.alternatives_).splitlines()) >= len(model.alternatives_) + 2
    assert len(model.alternatives_.to_frame()) == len(model.alternatives_)


def test_gaps_of_training_rows_fall_along_the_path(kind):
    X, y, segment = drawn()
    model = fitted(kind, X, y, segment)
    entries = model.alternatives_
    along = [k for k, each in enumerate(entries) if each.direction == "all rows"]
    along = [k for k in along if entries[k].strength <= 1.0]
    along.sort(key=lambda k: entries[k].strength)
    scores = {k: model.alternative(k).decision_function(X) for k in [0, *along]}
    apart = [
        abs(each[(segment == "m") & ~y].mean() - each[(segment == "f") & ~y].mean()) / each.std()
        for each in scores.values()
    ]
    assert along
    assert all(after < before + 1e-9 for before, after in pairwise(apart))


@pytest.mark.parametrize("rate", ["alerts", "recall"])
def test_other_rates_may_be_asked_to_agree(rate):
    X, y, segment = drawn()
    model = fitted("lines", X, y, segment, parity=rate)
    before, after = (each.gap for each in (model.alternatives_[0], model.alternatives_[-1]))
    assert before.rate == after.rate == rate
    assert after.value < before.value


def test_names_and_order_of_segments_and_order_of_rows_do_not_matter(kind):
    X, y, segment = drawn(1500)
    model = fitted(kind, X, y, segment)
    order = np.random.default_rng(2).permutation(len(y))
    others = {
        "booleans": (X, y, segment == "f"),
        "numbers": (X, y, np.where(segment == "f", 7, 3)),
        "rows": (X[order], y[order], segment[order]),
    }
    for what, given in others.items():
        other = fitted(kind, *given)
        assert other.alternatives_.chosen == model.alternatives_.chosen, what
        scores = other.decision_function(X)
        assert np.allclose(scores, model.decision_function(X), atol=1e-9), what


def test_without_a_real_gap_the_plain_fit_is_delivered(kind):
    X, y, segment = drawn(1500)
    shuffled = np.random.default_rng(0).permutation(segment)
    model = fitted(kind, X, y, shuffled)
    plain = CLASSIFIERS[kind](METRIC).fit(X, y)
    assert not model.alternatives_.acts
    assert np.array_equal(model.decision_function(X), plain.decision_function(X))
    assert "no larger than chance alone makes it" in str(model.report_)


@pytest.mark.parametrize("fit", ["fit", "fit_source"])
@pytest.mark.parametrize(("rate", "label"), [("fpr", False), ("recall", True)])
def test_a_rate_that_only_one_segment_has_leaves_the_plain_fit(fit, rate, label):
    X, y, segment = drawn(1500)
    y[segment == "f"] = not label  # no row of the other class
    model = DirectClassifier(METRIC, parity=rate, cv=3)
    if fit == "fit":
        model.fit(X, y, segment=segment)
    else:
        rows = pd.DataFrame(X, columns=list("abcd")).assign(y=y, segment=segment)
        model.fit_source(rows, target="y", segment="segment", progress=False)
    table = model.alternatives_
    assert len(table) == 1
    assert "because fewer than two segments have rows of which" in table.summary
    assert table.carriers == ()
    assert table.summary in str(model.report_)


def test_a_rule_may_ask_for_the_smallest_gap_or_name_the_largest():
    rows = drawn()
    least = fitted("lines", *rows, parity=Parity("fpr", rule="parity"))
    table = least.alternatives_
    by_chance = table[0].gap.by_chance
    assert table[table.chosen].gap.value <= max(min(e.gap.value for e in table), by_chance)
    some = fitted("lines", *rows, parity=Parity("fpr", rule=0.05)).alternatives_
    assert some[some.chosen].gap.value <= 0.05
    assert some[some.chosen].metric >= table[table.chosen].metric
    none = fitted("lines", *rows, parity=Parity("fpr", rule=0.9)).alternatives_
    assert none.chosen == 0
    assert "its gap is no larger than 0.9" in none.summary


def test_directions_are_kept_along_the_path(kind):
    X, y, segment = drawn()
    table = pd.DataFrame(X, columns=list("abcd"))
    model = fitted(kind, table, y, segment, monotone={"b": "increasing", "c": "increasing"})
    assert model.alternatives_.chosen > 0
    low, high = table.assign(b=-2.0, c=-2.0), table.assign(b=2.0, c=2.0)
    for k in range(len(model.alternatives_)):
        each = model.alternative(k)
        for column in "bc":
            grid = [table.assign(**{column: value}) for value in np.linspace(-2, 2, 9)]
            scores = np.array([each.decision_function(rows[:50]) for rows in grid])
            assert np.diff(scores, axis=0).min() >= -1e-9
        assert (each.decision_function(high) >= each.decision_function(low) - 1e-9).all()


def test_compact_cards_stay_compact_and_whole_points_whole():
    model = fitted("whole points", *drawn())
    for k in range(len(model.alternatives_)):
        card = model.alternative(k).card_
        assert card.n_lines <= 15
        assert card.is_whole
    assert len(model.sizes()) == 1


def test_columns_that_carry_the_gap_are_named(kind):
    X, y, segment = drawn()
    table = pd.DataFrame(X, columns=["risk", "both", "told", "noise"])
    carriers = fitted(kind, table, y, segment).alternatives_.carriers
    assert carriers[0].column == "both"
    assert abs(sum(each.chosen for each in carriers)) < 0.8 * sum(each.plain for each in carriers)
    assert "told" in {each.column for each in carriers}


def test_a_guarantee_sets_the_threshold_of_the_chosen_alternative(kind):
    X, y, segment = drawn(6000)
    limits = InEverySegment({"fpr": 0.1})
    model = fitted(kind, X, y, segment, limits=limits, guarantee=0.9)
    assert model.alternatives_.chosen > 0
    assert all(each.fpr.value <= 0.1 for each in model.operating_point_.segments)
    assert "fpr <= 0.1 in every segment" in model.operating_point_.guarantee
    plain = model.alternative(0).operating_point_
    assert "fpr <= 0.1 in every segment" in plain.guarantee


@pytest.mark.parametrize("case", ["weighted", "other metric", "three segments", "groups"])
def test_alternatives_go_with(case):
    X, y, segment = drawn(2000)
    metric, rows = METRIC, {"segment": segment}
    if case == "weighted":
        rows["sample_weight"] = np.random.default_rng(0).integers(1, 4, len(y))
    if case == "other metric":
        metric = "auc"
    if case == "three segments":
        rows["segment"] = np.where(X[:, 3] > 0.5, "k", segment)
    if case == "groups":
        rows["groups"] = np.arange(len(y)) // 2
    model = DirectClassifier(metric, parity="fpr").fit(X, y, **rows)
    assert model.alternatives_.acts
    assert min(e.gap.value for e in model.alternatives_) < model.alternatives_[0].gap.value


def test_a_file_keeps_the_model_and_the_parameter(tmp_path):
    X, y, segment = drawn(1500)
    model = fitted("lines", X, y, segment, parity=Parity("fpr", rule=0.1))
    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.parity == Parity("fpr", rule=0.1)
    assert np.array_equal(again.predict(X), model.predict(X))
    with pytest.raises(AlternativeError, match="read from a file"):
        again.alternative(0)


@pytest.mark.parametrize(
    ("parity", "segment", "words"),
    [
        ("fpr", None, "parity='fpr' needs the segment of each row"),
        ("precision", "f" * 300, "parity must be one of 'fpr', 'alerts', 'recall'"),
        (Parity("fpr", rule="two_se"), "f" * 300, "the rule of a Parity must be"),
        (Parity("fpr", rule=2.0), "f" * 300, "the rule of a Parity must be"),
        ("fpr", [None, *"f" * 299], "missing in 1 rows"),
    ],
)
def test_what_cannot_be_is_refused(parity, segment, words):
    X, y, _ = drawn(300)
    given = list(segment) if isinstance(segment, str) else segment
    with pytest.raises(ValueError, match=words):
        DirectClassifier(METRIC, parity=parity).fit(X, y, segment=given)


def test_fits_without_segments_of_rows_refuse_parity():
    X, y, segment = drawn(300)
    model = DirectClassifier(METRIC, parity="fpr")
    with pytest.raises(ValueError, match="needs the segment of each row: name its column"):
        model.fit_source(pd.DataFrame({"x": [0.0, 1.0], "y": [0, 1]}), target="y")
    card = ScorecardClassifier(METRIC, parity="fpr")
    counts = BinCounts.of(Binner().fit(X), X, y)
    with pytest.raises(ParityError, match="fit_summary has no parity=: leave it out, or use fit"):
        card.fit_summary(counts)
    with pytest.raises(ValueError, match="parity= is for two classes"):
        model.fit(X, np.arange(300) % 3, segment=segment)
    with pytest.raises(ValueError, match="needs the segment"):
        model.fit_each([METRIC], X, y)
    plain = DirectClassifier(METRIC).fit(X, y, segment=segment)
    with pytest.raises(AttributeError, match="fit it with parity= and segment="):
        _ = plain.alternatives_
    with pytest.raises(AlternativeError, match="fitted without parity="):
        plain.alternative(1)


def test_one_segment_has_no_gap():
    X, y, _ = drawn(300)
    table = DirectClassifier(METRIC, parity="fpr").fit(X, y, segment=["f"] * 300).alternatives_
    assert not table.acts
    with pytest.raises(AlternativeError, match="no alternative 3: choose one from 0"):
        DirectClassifier(METRIC, parity="fpr").fit(X, y, segment=["f"] * 300).alternative(3)
