"""The study of named metrics: its draws, its differences, and its report."""

import numpy as np
import pytest

from benchmarks.harness.data import Rows
from benchmarks.studies.cards import named_metrics
from benchmarks.studies.cards.named_metrics import METRICS, RECORD, difference, lines, split
from directrix.metrics import FBeta, RecallAtFPR


@pytest.fixture
def numbers(monkeypatch):
    rng = np.random.default_rng(0)
    rows = Rows(rng.normal(size=(1_000, 2)), rng.random(1_000) < 0.3)
    monkeypatch.setattr(named_metrics, "rows_of", lambda _: rows)
    return rows


def test_training_and_test_rows_are_apart_and_differ_by_repeat(numbers):
    train, test = split("any", "card", 0)
    assert len(train.y) == 600
    assert len(test.y) == 400
    both = np.concatenate([train.X, test.X])
    np.testing.assert_array_equal(np.sort(both[:, 0]), np.sort(numbers.X[:, 0]))
    again = split("any", "card", 1)[0]
    assert not np.array_equal(again.X, train.X)


@pytest.mark.parametrize("metric", [RecallAtFPR(0.05), FBeta()], ids=str)
def test_a_model_differs_from_itself_by_nothing_without_error(metric):
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.3
    scores = rng.normal(size=500) + y
    plain, named, error = difference(metric, y, [scores, scores])
    assert plain == named == metric.score(y, scores)
    assert error == 0.0
    assert difference(metric, y, [scores, rng.normal(size=500)])[2] > 0.0


def row(commit, name, named, metric):
    values = commit, "card", name, 0, metric, 9, 3, 9, 0.5, named, 0.01, 1.0, "one"
    return dict(zip(RECORD.columns, map(str, values), strict=True))


def test_the_report_has_both_commits_and_says_what_is_significant():
    gains = {"old": (0.4, 0.51), "new": (0.53, 0.5)}
    rows = [
        row(commit, name, named, metric)
        for commit, both in gains.items()
        for name, named in zip(("hmeq", "compas"), both, strict=True)
        for metric in METRICS
    ]
    text = "\n".join(lines(rows))
    assert "Commits: before old, after new." in text
    first = next(line for line in text.splitlines() if "| before |" in line)
    assert first.endswith("| 1 / 1 | -0.1000 | none | hmeq |")
    assert "| after | +0.0150 (0.0150) | +0.0150 | 1 / 0 | +0.0000 | hmeq | none |" in text
    assert lines([])[-1] == "Nothing was measured yet."
