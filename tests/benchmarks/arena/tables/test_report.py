import numpy as np
import pytest

pytest.importorskip("pandas")

from benchmarks.arena.results import Score
from benchmarks.arena.tables import run as report
from benchmarks.arena.tables.protocol import MEASURED, METRICS, LargeTableArena, TableArena
from benchmarks.harness.record import Record
from benchmarks.rivals.tables import BOOSTING, EBM, LINE

OURS = "scorecard, rows"


@pytest.fixture
def record(tmp_path):
    return Record(tmp_path / "measured.csv", MEASURED.columns, MEASURED.key)


def fill(record, sets, values, folds=5):
    """Write folds whose metrics are a value of the competitor, with a little noise."""
    rng = np.random.default_rng(0)
    for name in sets:
        for fold in range(folds):
            for rival, value in values.items():
                # Losses and costs fall where the others rise.
                of_fold = {
                    m: (value if METRICS[m].greater_is_better else 1 - value) + 1e-4 * rng.normal()
                    for m in METRICS
                }
                row = Score(name, 100, 5, 0, fold, rival, 1.0, 1.0, "abcdef0", of_fold)
                record.append([row.cells(METRICS)])


def table_after(lines, title):
    """Return the cells of the table under a heading."""
    start = next(k for k, text in enumerate(lines) if text.startswith("## ") and title in text)
    rows = []
    for text in lines[start + 1 :]:
        if text.startswith("## "):
            break
        if text.startswith("|"):
            rows.append([cell.strip() for cell in text.strip("|").split("|")])
    return [rows[0], *rows[2:]]


def test_nothing_measured_is_a_report_without_tables(record):
    lines = report.lines_of(TableArena(record))
    assert not any(text.startswith("|") for text in lines)


def test_a_competitor_with_half_a_repeat_has_no_values(record):
    fill(record, ["credit_data"], {LINE: 0.6, BOOSTING: 0.7})
    fill(record, ["credit_data"], {EBM: 0.8}, folds=3)
    columns, row, mean = table_after(report.lines_of(TableArena(record)), "AUC on tables")
    assert columns == ["set", "n x d", LINE, BOOSTING]
    assert row[:2] == ["credit_data", "100 x 5"]
    assert row[3].startswith("**0.7")
    assert mean[0] == "mean of 1"


def test_one_fold_of_a_large_set_is_a_value(record):
    fill(record, ["covtype"], {LINE: 0.6, BOOSTING: 0.7}, folds=1)
    columns, row, _ = table_after(report.lines_of_large(LargeTableArena(record)), "AUC on large")
    assert columns[2:] == [LINE, BOOSTING]
    assert row[2].startswith("0.6")


@pytest.mark.skipif(not MEASURED.path.exists(), reason="nothing is tracked yet")
def test_the_tracked_report_says_what_was_measured():
    written = report.REPORT.read_text(encoding="utf-8")
    assert written == "\n".join(report.lines()) + "\n"
