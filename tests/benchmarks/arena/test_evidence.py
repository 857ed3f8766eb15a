import numpy as np
import pytest

pytest.importorskip("pandas")

from benchmarks.arena import evidence
from benchmarks.arena.evidence import (
    CARD,
    DIRECT,
    FULL,
    LOGISTIC,
    NUMBERS,
    TABLES,
    TREES,
    Everything,
    expectations,
)
from benchmarks.arena.protocol import METRICS, SETS
from benchmarks.arena.results import Score, record_of
from benchmarks.rivals.lines import TUNED
from benchmarks.rivals.tables import EBM, LINE

RIVALS = {"prior": 0.3, TUNED: 0.5, DIRECT: 0.6, CARD: 0.7, FULL: 0.75, TREES: 0.8}


@pytest.fixture
def arena(tmp_path):
    """Return an arena in which every competitor has a value of its own, with a little noise."""
    record = record_of(tmp_path / "measured.csv", METRICS)
    rng = np.random.default_rng(0)
    sets = {SETS["general"][0]: 500, SETS["general"][1]: 5000, SETS["general"][2]: 5000}
    for name, rows in sets.items():
        for fold in range(5):
            for rival, value in RIVALS.items():
                values = {
                    m: (value if METRICS[m].greater_is_better else 1 - value) + 1e-4 * rng.normal()
                    for m in METRICS
                }
                if rival == "prior":
                    values["average precision"] = 0.05 if rows == 500 else 0.3
                score = Score(name, rows, 5, 0, fold, rival, 1.0, 1.0, "abcdef0", values)
                record.append([score.cells(METRICS)])
    return Everything(record)


def test_gains_are_over_logistic_regression_and_the_best_is_bold(arena):
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in expectations(arena)[4:]]
    assert [row[1:3] for row in cells[:3]] == [["1", metric] for metric in evidence.EXPECTED]
    for row in cells:
        assert row[4:7] == ["+0.100 (+0.100)", "+0.200 (+0.200)", "+0.250 (+0.250)"]
        assert row[7:] == ["**+0.300 (+0.300)**", f"0 / 0 / 0 / 0 / {row[1]}"]
    assert {row[3] for row in cells} == {"0.500"}


def test_one_set_that_is_far_off_moves_the_mean_and_not_what_is_bold(tmp_path):
    record = record_of(tmp_path / "measured.csv", METRICS)
    direct = (0.51, 0.51, 0.1)
    for name, value in zip(SETS["general"], direct, strict=False):
        for fold in range(5):
            others = dict.fromkeys((CARD, FULL, TREES), 0.49)
            for rival, auc in {**RIVALS, DIRECT: value, **others}.items():
                values = {"AUC": auc, "average precision": 0.05}
                score = Score(name, 500, 5, 0, fold, rival, 1.0, 1.0, "abcdef0", values)
                record.append([score.cells(METRICS)])
    row = next(row for row in expectations(Everything(record)) if "| AUC |" in row)
    cells = [cell.strip() for cell in row.split("|")[4:-2]]
    assert cells == ["0.500", "**+0.010 (-0.127)**", *["-0.010 (-0.010)"] * 3]


def test_cards_meet_the_logistic_regression_that_is_tuned_for_the_metric(tmp_path):
    record = record_of(tmp_path / "measured.csv", METRICS)
    values = {NUMBERS[0]: {TUNED: 0.9, LINE: 0.5, CARD: 0.7}, TABLES[0]: {LINE: 0.6, CARD: 0.7}}
    for name, rivals in values.items():
        for fold in range(5):
            for rival, auc in rivals.items():
                score = Score(name, 500, 5, 0, fold, rival, 1.0, 1.0, "abcdef0", {"AUC": auc})
                record.append([score.cells(METRICS)])
    arena = Everything(record)
    assert arena.means([*values], "AUC", [CARD, LOGISTIC]).tolist() == [[0.7, 0.9], [0.7, 0.6]]
    assert all(test.rival != LINE for test in evidence.CARD_TESTS)


def test_a_competitor_that_was_not_measured_leaves_the_others_their_row(arena):
    arena.scores = [score for score in arena.scores if score.rival != CARD]
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in expectations(arena)[4:]]
    assert cells
    for row in cells:
        assert row[5] == ""
        assert row[8] == f"0 / 0 / - / 0 / {row[1]}"


def test_a_competitor_with_fewer_sets_does_not_take_sets_from_the_diagram(arena):
    name = SETS["general"][0]
    values = dict.fromkeys(evidence.EXPECTED, 0.5)
    arena.scores += [
        Score(name, 500, 5, 0, fold, EBM, 1.0, 1.0, "abcdef0", values) for fold in range(5)
    ]
    panel = evidence.picture(arena).axes[0]
    assert panel.get_title(loc="left") == "AUC, 3 sets of numbers"
    assert not any(EBM in text.get_text() for text in panel.texts)
