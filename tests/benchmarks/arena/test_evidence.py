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
    groups,
    losses,
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


def test_sets_are_grouped_by_rows_and_prevalence(arena):
    sizes = {group.about: len(group.names) for group in groups(arena)[:4]}
    assert sizes == {
        "numbers, under 1,000 rows, under 10 % positives": 1,
        "numbers, under 1,000 rows, 10 % and more": 0,
        "numbers, 1,000 rows and more, under 10 % positives": 0,
        "numbers, 1,000 rows and more, 10 % and more": 2,
    }


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


def test_the_summary_says_what_the_pooled_tests_say(arena):
    about_line, about_card, about_full = evidence.in_short(arena)[-3:]
    (row,) = evidence.against_trees(arena, [CARD])[2:]
    assert row.startswith("| 3 sets of numbers |  | -0.100 | 3 (3) |")
    assert "significantly better on 3 to 3 of 61 sets" in about_line
    assert "worse on 0 to 0" in about_line
    assert about_line.endswith("significantly better in no metric.")  # three sets are too few
    assert "against LightGBM (3 sets) better in 0, worse in 0 of 5" in about_card
    assert "against LightGBM (3 sets) better in 0, worse in 0 of 5" in about_full


def test_gains_of_many_sets_are_clear(tmp_path):
    record = record_of(tmp_path / "measured.csv", METRICS)
    scores = [
        Score(name, 500, 5, 0, fold, rival, 1.0, 1.0, "abcdef0", {"AUC": value + 1e-4 * fold})
        for name in NUMBERS[:20]
        for fold in range(5)
        for rival, value in RIVALS.items()
    ]
    record.append([score.cells(METRICS) for score in scores])
    about_line, about_card = evidence.in_short(Everything(record))[-3:-1]
    assert about_line.endswith("significantly better in AUC.")
    assert "against LightGBM (20 sets) better in 0, worse in 1 of 1" in about_card


def test_a_competitor_that_was_not_measured_leaves_the_others_their_row(arena):
    arena.scores = [score for score in arena.scores if score.rival != CARD]
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in expectations(arena)[4:]]
    assert cells
    for row in cells:
        assert row[5] == ""
        assert row[8] == f"0 / 0 / - / 0 / {row[1]}"


def test_tables_say_on_how_many_boosting_is_ahead_and_how_long_the_cards_are(tmp_path):
    record = record_of(tmp_path / "measured.csv", (*METRICS, "recall at FPR 5 %", "lines"))
    values = {CARD: 0.7, FULL: 0.75, LINE: 0.6, evidence.EVIDENCE: 0.6, EBM: 0.7}
    lines = {CARD: 40.0, FULL: 200.0}
    for name, trees in zip(evidence.NEW_TABLES, (0.6, 0.8, 0.8), strict=False):
        for fold in range(5):
            for rival, value in {**values, TREES: trees}.items():
                measured = {"AUC": value, "recall at FPR 5 %": value}
                if rival in lines:
                    measured["lines"] = lines[rival]
                score = Score(name, 500, 5, 0, fold, rival, 1.0, 1.0, "abcdef0", measured)
                record.append([score.cells(record.columns[9:])])
    arena = Everything(record)
    assert evidence.against_trees(arena)[2:] == [
        "| 3 tables new to it | 40 | -0.033 | 2 (2) | -0.033 | 2 (2) |",
        "| its full card | 200 | +0.017 | 2 (2) | +0.017 | 2 (2) |",
    ]
    table = [line for line in evidence.cards_on_tables(arena) if line.startswith("| mean of 3")]
    assert len(table) == 2
    assert all(row.endswith("| 40 | 200 |") for row in table)


def test_a_competitor_with_fewer_sets_does_not_take_sets_from_the_diagram(arena):
    name = SETS["general"][0]
    values = dict.fromkeys(evidence.EXPECTED, 0.5)
    arena.scores += [
        Score(name, 500, 5, 0, fold, EBM, 1.0, 1.0, "abcdef0", values) for fold in range(5)
    ]
    panel = evidence.picture(arena).axes[0]
    assert panel.get_title(loc="left") == "AUC, 3 sets of numbers"
    assert not any(EBM in text.get_text() for text in panel.texts)


def test_losses_are_counted_and_named(arena):
    lines = losses(arena)
    to_trees, to_logistic = (
        [cell.strip() for cell in row.split("|")[1:-1]]
        for row in (
            next(line for line in lines if line.startswith(f"| {name} |"))
            for name in ("LightGBM", "logistic regression")
        )
    )
    n_metrics = len(evidence.LINE_METRICS)
    assert to_trees[1:] == ["3", *["3 : 0"] * n_metrics, ", ".join(SETS["general"][:3])]
    assert to_logistic[1:] == ["3", *["0 : 3"] * n_metrics, ""]


def test_the_page_names_the_commit_and_claims_no_set_that_was_not_measured(arena):
    how = " ".join(evidence._how(arena))
    assert "`abcdef0`" in how
    opening = evidence._opening(arena)
    assert ": 3 sets of numbers" in opening
    assert "0 tables" in opening
    assert "not one repeat of five folds of sets of numbers" in how


def test_competitors_with_fewer_folds_than_logistic_regression_are_named(tmp_path):
    record = record_of(tmp_path / "measured.csv", METRICS)
    scores = [
        Score(name, 100, 5, 0, fold, TUNED, 1.0, 1.0, "abcdef0", {"AUC": 0.5})
        for name in NUMBERS
        for fold in range(5)
    ]
    record.append([score.cells(METRICS) for score in scores])
    arena = Everything(record)
    assert evidence.whole_repeats(arena) == {"sets of numbers": 1, "tables": 0}
    assert "0 of 305 folds of sets of numbers for `direct`" in evidence.not_run(arena)
    assert f"`{TUNED}`" not in evidence.not_run(arena)
