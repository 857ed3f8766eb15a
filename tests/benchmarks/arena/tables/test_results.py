import numpy as np
import pytest

pytest.importorskip("pandas")

from benchmarks.arena.results import Score
from benchmarks.arena.tables.protocol import MEASURED, METRICS, TableArena
from benchmarks.harness.record import Record


@pytest.fixture
def record(tmp_path):
    return Record(tmp_path / "measured.csv", MEASURED.columns, MEASURED.key)


def score(name, fold, rival, value, cpu=1.0, repeat=0):
    values = dict.fromkeys(METRICS, value)
    return Score(name, 100, 5, repeat, fold, rival, 2.0 * cpu, cpu, "abcdef0", values)


def test_scores_are_read_as_they_were_written(record):
    written = score("a", 3, "EBM", 0.25, cpu=12.5, repeat=1)
    partial = written._replace(fold=4, values={"AUC": 0.75})
    record.append([written.cells(METRICS), partial.cells(METRICS)])
    assert TableArena(record).scores == [written, partial]


def test_means_are_over_shared_whole_repeats_and_more_is_better(record):
    rows = [
        score("a", fold, rival, value)
        for fold in range(5)
        for rival, value in (("EBM", 0.5), ("CatBoost", 0.1 * fold))
    ]
    rows += [score("a", 0, "EBM", 9.0, repeat=1)]  # a repeat that is not complete
    rows += [score("b", fold, "EBM", 0.7) for fold in range(5)]  # the other is missing
    record.append(row.cells(METRICS) for row in rows)
    arena = TableArena(record)
    assert arena.means(["a", "b"], "AUC", ["EBM", "CatBoost"]) == pytest.approx(
        np.array([[0.5, 0.2]])
    )
    assert arena.means(["a"], "log-loss", ["EBM"]) == pytest.approx(np.array([[-0.5]]))
    assert arena.means(["c"], "AUC", ["EBM", "CatBoost"]).shape == (0, 2)


def test_cpu_is_compared_on_shared_folds(record):
    rows = [score("a", fold, "EBM", 0.5, cpu=10.0 + fold) for fold in range(5)]
    rows += [score("a", fold, "CatBoost", 0.5, cpu=2.0 * (10.0 + fold)) for fold in range(3)]
    record.append(row.cells(METRICS) for row in rows)
    arena = TableArena(record)
    assert arena.cpu_to(["a"], "CatBoost", "EBM") == pytest.approx(2.0)
    assert np.isnan(arena.cpu_to(["b"], "CatBoost", "EBM"))


def test_a_rival_without_a_whole_repeat_does_not_take_part(record):
    rows = [score("a", fold, "CatBoost", 0.6) for fold in range(5)]
    rows += [score("a", fold, "LightGBM, tuned", 0.5) for fold in range(5)]
    rows += [score("a", fold, "EBM", 0.9) for fold in range(4)]
    record.append(row.cells(METRICS) for row in rows)
    arena = TableArena(record)
    outcomes = arena.outcomes(["a"], "AUC", "CatBoost", ["LightGBM, tuned", "EBM"])
    assert outcomes == {"win": ["a"], "tie": [], "loss": []}
