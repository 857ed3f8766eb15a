from types import SimpleNamespace

import numpy as np

from directrix.engines import HashFolds
from directrix.fitting.fit_source import CandidateGroup, SourceFit
from directrix.metrics import AUC
from directrix.moments.score_histogram import histogram_of_scores


def candidate(name):
    lines = np.zeros(2), [np.zeros(2)] * 2
    return SimpleNamespace(name=name, complexity=0.0, line=lines[0], fold_lines=lines[1])


class Passes:
    """Passes that return the histograms of given scores."""

    fold = HashFolds(2)

    def __init__(self, scores, positive):
        self.scores, self.positive = scores, positive
        self.asked = []

    def score(self, task):
        self.asked.append([model.fold for model in task.models])
        histograms = []
        for model in task.models:
            rows = np.arange(len(self.positive)) % 2 == model.fold
            histograms.append(histogram_of_scores(self.scores[:, rows], self.positive[rows]))
        return SimpleNamespace(histograms=tuple(histograms), cells=(), segments=None)


def test_every_fold_is_scored_in_one_pass_and_the_best_candidate_is_chosen():
    rng = np.random.default_rng(0)
    positive = rng.random(4000) < 0.3
    strengths = (0.2, 2.0, 0.5)
    scores = np.stack([strength * positive + rng.normal(size=4000) for strength in strengths])
    passes = Passes(scores, positive)
    group = CandidateGroup([candidate(f"{each}") for each in strengths], [None] * 3)
    selection = SourceFit(AUC(), passes, None).count(group, None, "yes", (1.0, 1.0))
    assert passes.asked == [[0, 1]]
    assert sum(histogram.weight.sum() for histogram in selection.by_fold) == 4000
    chosen = SourceFit(AUC(), passes, None).chosen(selection)
    assert selection.candidates[chosen.number].name == chosen.report.chosen == "2.0"
    assert len(chosen.report.tried) == 3
