from types import SimpleNamespace

import numpy as np

from directrix.engines import HashFolds
from directrix.fitting.fit_source import CandidateGroup, HistogramSelection
from directrix.metrics import AUC
from directrix.moments.score_histogram import histogram_of_scores


def candidate(name):
    lines = np.zeros(2), [np.zeros(2)] * 2
    return SimpleNamespace(name=name, complexity=0.0, line=lines[0], fold_lines=lines[1])


class Passes:
    """Passes that return the histograms of given scores, by the name of a candidate."""

    fold = HashFolds(2)

    def __init__(self, scores, positive):
        self.scores, self.positive = scores, positive
        self.asked = []

    def score(self, task):
        self.asked.append([model.fold for model in task.models])
        histograms = []
        for model in task.models:
            rows = np.arange(len(self.positive)) % 2 == model.fold
            scores = self.scores[len(self.asked) - 1][:, rows]
            histograms.append(histogram_of_scores(scores, self.positive[rows]))
        return SimpleNamespace(histograms=tuple(histograms), cells=(), segments=None, sums=None)


def selection_of(*passes):
    """Return a selection whose passes count candidates with scores of given strengths."""
    rng = np.random.default_rng(0)
    positive = rng.random(4000) < 0.3
    scores = [
        np.stack([strength * positive + rng.normal(size=4000) for strength in strengths])
        for strengths in passes
    ]
    source = Passes(scores, positive)
    selection = HistogramSelection(AUC(), source, None, "yes", (1.0, 1.0), n_folds=2)
    for number, strengths in enumerate(passes):
        names = [candidate(f"{number}.{k}") for k in range(len(strengths))]
        selection.count([CandidateGroup(names, ["without 0", "without 1", f"design {number}"])])
    return selection


def test_the_best_of_all_passes_is_chosen_with_its_design():
    selection = selection_of([0.2, 0.5], [2.0], [1.0, 0.1])
    chosen = selection.choose()
    assert selection.candidates[chosen.index].name == "1.0"
    assert selection.coding(chosen.index) == "design 1"
    assert len(chosen.comparison.values) == 5


def test_every_fold_is_scored_in_every_pass():
    selection = selection_of([0.2], [0.4])
    assert selection.passes.asked == [[0, 1], [0, 1]]
    assert sum(histogram.weight.sum() for histogram in selection.by_fold) == 4000


def test_only_a_better_candidate_is_an_improvement():
    assert selection_of([0.5], [1.5]).has_improved(1)
    assert not selection_of([1.5], [0.5]).has_improved(1)
    assert not selection_of([1.5], [0.5, 0.6]).has_improved(1)
