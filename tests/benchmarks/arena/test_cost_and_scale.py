import pytest

pytest.importorskip("pandas")

from benchmarks.arena.evidence import CARD, DIRECT, ONE_HOT, TREES, Everything, whole_sets
from benchmarks.arena.protocol import METRICS
from benchmarks.arena.results import Score, record_of
from benchmarks.rivals.tables import LINE


def _cells(row):
    return [cell.strip() for cell in row.split("|")[1:-1]]


def _arena(path, values):
    record = record_of(path, METRICS)
    for (name, rival), auc in values.items():
        scores = {"AUC": auc, "recall at FPR 1 %": auc / 2}
        record.append(
            [Score(name, 581012, 54, 0, 0, rival, 1800.0, 1.5, "abcdef0", scores).cells(METRICS)]
        )
    return Everything(record)


def test_a_set_that_was_not_measured_has_no_row_and_a_competitor_no_cell(tmp_path):
    values = {("covtype", LINE): 0.8, ("covtype", DIRECT): 0.82, ("covtype", TREES): 0.96}
    about, _, head, _, *rows = whole_sets(_arena(tmp_path / "large.csv", values))
    assert "`abcdef0`, in 1.5 hours" in about
    assert [dict(zip(_cells(head), _cells(row), strict=True)) for row in rows] == [
        {
            "set": "covtype",
            "size": "581,012 x 54",
            "logistic regression": "0.800, 0.400, CPU 1.5",
            "DirectClassifier": "0.820, 0.410, CPU 1.5",
            "ScorecardClassifier": "",
            "its full card": "",
            "LightGBM": "0.960, 0.480, CPU 1.5",
        }
    ]


def test_where_columns_are_texts_the_line_is_that_of_one_hot_features(tmp_path):
    values = {("census_income", ONE_HOT): 0.94, ("census_income", CARD): 0.95}
    (row,) = whole_sets(_arena(tmp_path / "large.csv", values))[4:]
    assert _cells(row)[3:6] == ["0.940, 0.470, CPU 1.5", "0.950, 0.475, CPU 1.5", ""]


def test_no_measurement_no_table(tmp_path):
    assert whole_sets(_arena(tmp_path / "large.csv", {})) == []
