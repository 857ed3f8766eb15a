"""A card of the same bins and crosses as our scorecard, fitted by likelihood."""

from __future__ import annotations

import numpy as np

from benchmarks.harness.data import Rows
from benchmarks.rivals.base import Metrics, Rival, Scores, finite_threshold
from directrix import ScorecardClassifier
from directrix.classifiers.scorecard.training_table import TrainingTable
from directrix.designs.structure import StructureSearch
from directrix.designs.trainers import RowTrainer
from directrix.fitting.fit_rows import FTOL
from directrix.fitting.progress import Clock
from directrix.frontier.compare import design_without
from directrix.metrics.base import Metric
from directrix.models.card import Card
from directrix.tables.coding.prior import CellKinds


class LikelihoodCard(Rival):
    """Logistic regression on the bins, crosses and ridge that `ScorecardClassifier` chooses.

    What training for the metric adds is the difference to the scorecard. Thresholds are the best
    ones for the scores of the inner folds, as those of all rivals.
    """

    family = "reference"

    def scores(self, train: Rows, test: Rows, metrics: Metrics) -> Scores:
        """Fit once; move the threshold for each metric that has one."""
        table = TrainingTable.of(ScorecardClassifier(), train.X, train.y, None, None)
        binner = table.fitted_binner("auto")
        rows = table.keyed.training_rows(table.classes[1], 5)
        rows = rows._replace(X=table.to_cells(binner, rows.X))
        trainer = RowTrainer(rows, FTOL, Clock().is_over)
        kinds = [CellKinds.of(bins) for bins in binner.bins_]
        search = StructureSearch(kinds, rows, trainer)
        structure = search.run()
        folds = [None, *range(int(rows.fold.max()) + 1)]
        X = search.designs(structure, folds)
        lines = trainer.solve(X, [structure.ridge], folds)
        held_out = np.empty(len(rows.positive))
        for fold in folds[1:]:
            tested, line = np.flatnonzero(rows.fold == fold), lines[structure.ridge, fold]
            held_out[tested] = design_without(X, fold)[tested] @ line[:-1] + line[-1]
        card = Card.of(search.design(structure, None), lines[structure.ridge, None])
        scores = card.scores(binner.cells(test.X))

        def threshold(metric: Metric) -> float:
            if not metric.uses_threshold:
                return 0.0
            return finite_threshold(metric, rows.positive, held_out)

        return {name: scores - threshold(metric) for name, metric in metrics.items()}


default = LikelihoodCard()
