from types import SimpleNamespace

import numpy as np

from directrix.classifiers.scorecard.source.contest import Contest, Family
from directrix.engines import HashFolds
from directrix.metrics import AUC
from directrix.moments.score_histogram import LineHistograms


def candidate(name):
    return SimpleNamespace(name=name, line=np.zeros(2), fold_lines=[np.zeros(2)] * 2)


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
            histograms.append(LineHistograms.of_scores(scores, self.positive[rows]))
        return SimpleNamespace(histograms=tuple(histograms), cells=())


def contest_of(*passes):
    """Return a contest whose passes count candidates with scores of given strengths."""
    rng = np.random.default_rng(0)
    positive = rng.random(4000) < 0.3
    scores = [
        np.stack([strength * positive + rng.normal(size=4000) for strength in strengths])
        for strengths in passes
    ]
    source = Passes(scores, positive)
    contest = Contest(AUC(), source, binner=None, label="yes", factors=(1.0, 1.0), n_folds=2)
    for number, strengths in enumerate(passes):
        names = [candidate(f"{number}.{k}") for k in range(len(strengths))]
        contest.count([Family(names, f"design {number}", ["without 0", "without 1"])])
    return contest


def test_the_best_of_all_passes_is_chosen_with_its_design():
    contest = contest_of([0.2, 0.5], [2.0], [1.0, 0.1])
    chosen = contest.choose()
    assert contest.candidates[chosen.index].name == "1.0"
    assert contest.design(chosen.index) == "design 1"
    assert len(chosen.values) == 5


def test_every_fold_is_scored_in_every_pass():
    contest = contest_of([0.2], [0.4])
    assert contest.passes.asked == [[0, 1], [0, 1]]
    assert sum(histogram.weight.sum() for histogram in contest.by_fold) == 4000


def test_only_a_better_candidate_is_an_improvement():
    assert contest_of([0.5], [1.5]).has_improved(1)
    assert not contest_of([1.5], [0.5]).has_improved(1)
    assert not contest_of([1.5], [0.5, 0.6]).has_improved(1)
