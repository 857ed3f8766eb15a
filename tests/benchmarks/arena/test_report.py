from benchmarks.arena import run as report
from benchmarks.arena.protocol import METRICS, SETS
from benchmarks.arena.results import Arena, LargeArena, Score, record_of
from benchmarks.rivals.lines import REFERENCES, TUNED


def test_a_line_that_was_hardly_measured_does_not_hide_what_trees_win(tmp_path):
    record = record_of(tmp_path / "measured.csv", METRICS)
    folds = {TUNED: range(5), REFERENCES[0]: range(5), "LibAUC": range(2)}
    values = {TUNED: 0.6, REFERENCES[0]: 0.8, "LibAUC": 0.9}
    scores = [
        Score(name, 100, 5, 0, fold, rival, 1.0, 1.0, "abcdef0", {"AUC": values[rival]})
        for name in SETS["general"][:2]
        for rival, some in folds.items()
        for fold in some
    ]
    record.append([score.cells(METRICS) for score in scores])
    assert "| AUC | 2 | 2 |" in report._beyond(Arena(record))


def test_two_of_five_folds_are_no_value_but_one_fold_of_a_large_set_is(tmp_path):
    record = record_of(tmp_path / "measured.csv", METRICS)
    scores = [
        Score("sonar", 100, 5, 0, fold, rival, 1.0, 1.0, "abcdef0", {"AUC": 0.75})
        for rival, folds in ((TUNED, 5), ("LibAUC", 2))
        for fold in range(folds)
    ]
    record.append([score.cells(METRICS) for score in scores])
    large = record_of(tmp_path / "large.csv", METRICS)
    large.append([scores[0].cells(METRICS)])
    row = "| sonar | 100 x 5 | 0.7500 |"
    assert report._values(Arena(record), "general sets", ["sonar"], "AUC")[-1] == row
    assert report._values(LargeArena(large), "large sets", ["sonar"], "AUC")[-1] == row
    assert report._values(Arena(large), "general sets", ["sonar"], "AUC") == []
