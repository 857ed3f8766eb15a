"""Reasons: the first is the column whose reference bin helps a row most, whatever the card."""

import numpy as np
import pandas as pd
import pytest
from random_cards import BINS, random_card, random_cells
from sklearn.exceptions import NotFittedError

from directrix import Binner, ScorecardClassifier
from directrix._printing import printable
from directrix.cards.reasons import find_reasons
from directrix.exceptions.columns import ColumnNotFoundError
from directrix.tables import Binner as TableBinner

CARDS = {
    "additive": random_card(0, crosses=0),
    "crosses": random_card(1, crosses=3),
    "whole": random_card(2, whole=True, crosses=3),
    "ties": random_card(3, few=True, crosses=3),
    "falling": random_card(4, whole=True, crosses=3, falling=True),
}
every_card = pytest.mark.parametrize("card", CARDS.values(), ids=CARDS.keys())
NAMES = [bins.name for bins in BINS]
K = len(BINS)


def binner():
    """Return a binner of the columns of the random cards."""
    made = TableBinner()
    made.bins_, made.crosses_, made.n_features_in_ = BINS, (), len(BINS)
    made.feature_names_in_ = np.array(NAMES, dtype=object)
    return made


def favour(card, cells):
    """Return how far rows are away from the positive class."""
    return -card.scores(cells)


def brute_force(card, cells, reference):
    """Return what each column loses, by scoring rows whose column is changed."""
    losses = np.zeros(cells.shape)
    for column, bins in enumerate(BINS):
        by_cell = []
        for cell in range(bins.n_cells):
            changed = cells.copy()
            changed[:, column] = cell
            by_cell.append(favour(card, changed) - favour(card, cells))
        gains = np.array(by_cell)
        weight = card.counts[column].sum(axis=0)
        best, average = gains[weight > 0].max(axis=0), weight @ gains / weight.sum()
        losses[:, column] = best if reference == "best" else average
    return losses


@every_card
@pytest.mark.parametrize("reference", ["best", "average"])
def test_reasons_are_the_columns_that_lose_most(card, reference):
    cells = random_cells(np.random.default_rng(0), 1000)
    expected = brute_force(card, cells, reference)
    reasons = find_reasons(card, binner(), cells, K, reference)
    assert len(reasons) == 1000
    for row in range(1000):
        found = [NAMES.index(name) for name in reasons.columns[row] if name]
        losses = expected[row, found]
        np.testing.assert_allclose(reasons.losses[row, : len(found)], losses, atol=1e-9)
        assert (np.diff(losses) <= 1e-9).all()
        # Every other column loses nothing.
        rest = np.delete(expected[row], found)
        assert (rest <= 1e-9).all()
        assert (reasons.losses[row, len(found) :] == 0).all()
        assert (reasons.losses[row, : len(found)] > 0).all()
    assert any(name == "" for name in reasons.columns.ravel())


@every_card
def test_ties_are_in_the_order_of_the_columns(card):
    cells = random_cells(np.random.default_rng(1), 300)
    reasons = find_reasons(card, binner(), cells, K, "best")
    ties = 0
    for names, losses in zip(reasons.columns, reasons.losses, strict=True):
        for k in range(K - 1):
            if losses[k] == losses[k + 1] > 0:
                assert NAMES.index(names[k]) < NAMES.index(names[k + 1])
                ties += 1
    assert ties or card is not CARDS["ties"]


def test_fewer_reasons_are_the_first_ones_and_rows_do_not_matter():
    card, cells = CARDS["crosses"], random_cells(np.random.default_rng(2), 40_000)
    many = find_reasons(card, binner(), cells, 2, "best")  # several blocks of rows
    some = find_reasons(card, binner(), cells[39_000:], K + 3, "best")
    assert some.columns.shape == (1000, K + 3)
    np.testing.assert_array_equal(some.losses[:, :2], many.losses[39_000:])
    np.testing.assert_array_equal(some.columns[:, :2], many.columns[39_000:])
    assert find_reasons(card, binner(), cells[:0], 2, "best").columns.shape == (0, 2)


def test_the_negative_class_has_the_opposite_reasons():
    card, cells = CARDS["crosses"], random_cells(np.random.default_rng(3), 200)
    mean = {
        toward: find_reasons(card, binner(), cells, K, "average", toward=toward)
        for toward in (True, False)
    }
    for row in range(200):
        sides = [set(mean[toward].columns[row]) - {""} for toward in (True, False)]
        assert not sides[0] & sides[1]
        assert len(sides[0] | sides[1]) == K


def test_bins_are_those_of_the_table_and_texts_are_found():
    card, cells = CARDS["ties"], random_cells(np.random.default_rng(4), 200)
    labels = {(b.name, cell): label for b in card.bins for cell, label in enumerate(b.labels)}
    labels |= {(row.column, cell): row.bin for row in card.table() for cell in row.cells}
    merged = next(row for row in card.table() if len(row.cells) > 1 and row.column == "age")
    texts = {"age": "Your age", ("age", merged.bin): "One of several", "job": "Your job"}
    reasons = find_reasons(card, binner(), cells, K, "average", texts)
    seen = set()
    for row, rank in zip(*np.nonzero(reasons.losses), strict=True):
        name = reasons.columns[row, rank]
        cell = cells[row, NAMES.index(name)]
        label = labels[name, cell]
        assert reasons.bins[row, rank] == label
        default = texts.get(name, printable(f"{name}: {label}"))
        assert reasons.texts[row, rank] == texts.get((name, label), default)
        seen.add(reasons.texts[row, rank])
    assert {"Your age", "Your job"} <= seen


@pytest.mark.parametrize(
    ("reference", "column", "cell"),
    [
        ({"age": 25}, 0, 2),
        ({"age": "30 to 40"}, 0, 3),
        ({"age": None}, 0, 0),
        ({"age": -999}, 0, 6),
        ({"since": np.datetime64("2019-06-01")}, 1, 2),
        ({"member": True}, 2, 2),
        ({"member": "False"}, 2, 1),
        ({NAMES[3]: "a|b"}, 3, 5),
        ({NAMES[3]: "other"}, 3, 1),
        ({NAMES[3]: '"missing"'}, 3, 6),
        ({"job": "nurse"}, 4, 2),
        ({"job": "clerk, nurse"}, 4, 2),
    ],
)
def test_a_reference_is_a_bin_or_a_value(reference, column, cell):
    card, cells = CARDS["crosses"], random_cells(np.random.default_rng(5), 300)
    reasons = find_reasons(card, binner(), cells, 1, reference)
    changed = cells.copy()
    changed[:, column] = cell
    expected = np.maximum(favour(card, changed) - favour(card, cells), 0.0)
    np.testing.assert_allclose(reasons.losses[:, 0], expected, atol=1e-9)
    assert set(reasons.columns.ravel()) == {"", NAMES[column]}


def test_a_label_of_merged_bins_is_a_reference():
    card, cells = CARDS["ties"], random_cells(np.random.default_rng(6), 50)
    row = next(row for row in card.table() if len(row.cells) > 1 and row.column == "age")
    by_label = find_reasons(card, binner(), cells, 1, {"age": row.bin})
    by_bin = find_reasons(card, binner(), cells, 1, {"age": BINS[0].labels[row.cells[0]]})
    np.testing.assert_array_equal(by_label.losses, by_bin.losses)


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ({"reference": "worst"}, ValueError, "reference must be best, average"),
        ({"reference": {"age": "abc"}}, ValueError, "'abc' is not a bin or value of 'age'"),
        ({"reference": {"job": "boss"}}, ValueError, "'boss' is not a bin or value of 'job'"),
        ({"reference": {"wage": 1}}, ColumnNotFoundError, "wage"),
        ({"k": 0}, ValueError, "k must be a whole number"),
        ({"k": True}, ValueError, "k must be a whole number"),
        ({"k": 1.5}, ValueError, "k must be a whole number"),
        ({"texts": {"wage": "a"}}, ColumnNotFoundError, "wage"),
        ({"texts": {("age", "tall"): "a"}}, ValueError, "not a bin of 'age'"),
    ],
)
def test_what_cannot_be_meant_is_refused(how, error, words):
    cells = random_cells(np.random.default_rng(7), 2)
    call = {"k": 1, "reference": "best", "texts": None, **how}
    with pytest.raises(error, match=words):
        find_reasons(CARDS["crosses"], binner(), cells, **call)


def test_average_needs_counts():
    from dataclasses import replace

    card = replace(CARDS["crosses"], counts=())
    with pytest.raises(ValueError, match="counts of training rows"):
        find_reasons(card, binner(), random_cells(np.random.default_rng(8), 2), 1, "average")
    assert find_reasons(card, binner(), random_cells(np.random.default_rng(8), 2), 1, "best")


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    n = 400
    table = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n).astype(float),
            "home": rng.choice(["own", "rent", "tent"], n),
            "member": rng.random(n) < 0.5,
        }
    )
    table.loc[::9, "age"] = np.nan
    risk = np.abs(table.age.fillna(70) - 45) / 9 + 2 * (table.home == "rent") * table.member
    y = (risk + rng.normal(size=n) > 3).to_numpy()
    how = {"cv": 2, "max_lines": None, "binner": Binner(max_bins=6)}
    return ScorecardClassifier("auc", **how).fit(table, y), table


@pytest.mark.filterwarnings("ignore::directrix.exceptions.ChangedColumnsWarning")
def test_the_first_reason_helps_most_on_raw_rows(fitted):
    """Changes raw values, and scores them with predict_points alone."""
    card, table = fitted
    values = {"age": [np.nan, 20.0, 33.0, 41.0, 47.0, 60.0, 79.0], "home": ["own", "rent", "tent"]}
    values["member"] = [False, True]
    before = card.predict_points(table)
    best = {}
    for name, choices in values.items():
        points = [card.predict_points(table.assign(**{name: choice})) for choice in choices]
        best[name] = before - np.min(points, axis=0)
    reasons = card.reasons(table, k=1)
    for row, (name, lost) in enumerate(
        zip(reasons.columns[:, 0], reasons.losses[:, 0], strict=True)
    ):
        most = max(gain[row] for gain in best.values())
        assert lost == pytest.approx(max(most, 0), abs=1e-9)
        if name:
            assert best[name][row] == pytest.approx(most, abs=1e-9)


def test_reasons_are_printed_and_framed(fitted):
    card, table = fitted
    reasons = card.reasons(table[:12], k=2, texts={"age": "Your age"})
    text = str(reasons)
    assert text.splitlines()[0].startswith("row 0")
    assert text.splitlines()[-1] == "and 2 more rows"
    assert "Your age" in text
    frame = reasons.to_frame()
    assert len(frame) == np.count_nonzero(reasons.losses)
    assert frame.columns.tolist() == ["row", "rank", "column", "bin", "points_lost", "text"]
    assert set(frame.loc[frame.column == "age", "text"]) == {"Your age"}


def test_bins_are_named_once_for_all_rows(fitted, monkeypatch):
    classifier, X = fitted
    first = classifier.reasons(X[:1], k=2)
    monkeypatch.setattr("directrix.cards.card.column_rows", None)  # whoever asks again fails
    assert classifier.reasons(X[:1], k=2).texts.tolist() == first.texts.tolist()


def test_an_unfitted_classifier_has_no_reasons(fitted):
    with pytest.raises(NotFittedError):
        ScorecardClassifier().reasons(fitted[1])
