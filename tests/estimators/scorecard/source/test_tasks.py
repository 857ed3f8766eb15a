"""What passes compute from parts of a table is what the whole table in memory gives."""

from functools import cache

import numpy as np
import pytest
from card_sources import FEATURES, frame, parts

from directrix import Binner
from directrix.cards.card import Card
from directrix.cards.in_passes import CardScores
from directrix.engines import HashFolds
from directrix.engines.column_roles import ColumnRoles, Partition
from directrix.engines.tasks import CellFeatures, FoldModels, Score, Survey
from directrix.metrics import AUC
from directrix.metrics.base import Curve
from directrix.metrics.score_histogram import centres

PLAN = ColumnRoles.of(
    raw=True,
    target="y",
    features=FEATURES,
    weight="w",
    fold=HashFolds(3, key="id"),
    identified=True,
)
BINNER = Binner().fit(frame()[FEATURES])


def rows():
    weight = np.random.default_rng(1).integers(1, 4, len(frame())).astype(float)
    return frame().assign(w=weight)


def run(task, n_parts=4, plan=PLAN):
    """Return the sum of the results of a task over partitions of two tables each."""
    results = [
        task(plan, Partition(number, parts(part, 2), n_parts))
        for number, part in enumerate(parts(rows(), n_parts))
    ]
    total = results[0]
    for each in results[1:]:
        total = total + each
    return total


def whole():
    """Return cells, classes, weights and folds of all rows."""
    block = PLAN.block(rows())
    return BINNER.cells(block.X), block.y == "yes", block.weight, block.fold


@cache
def design():
    """Return several cards of random points."""
    rng = np.random.default_rng(3)
    columns = [[rng.normal(size=bins.n_cells) for bins in BINNER.bins_] for _ in range(5)]
    return CardScores(tuple(Card(0.0, tuple(points)) for points in columns))


def random_lines(k):
    return np.random.default_rng(2).normal(size=(k, 6)) / 3


def test_histograms_are_those_of_held_out_rows():
    lines = random_lines(3)
    models = [FoldModels(fold, lines * (1 + fold), design()) for fold in range(3)]
    scored = run(Score(CellFeatures(BINNER), "yes", models))
    cells, positive, weight, fold = whole()
    for model, histogram in zip(models, scored.histograms, strict=True):
        tested = fold == model.fold
        sums = [weight[tested & (positive == side)].sum() for side in (False, True)]
        np.testing.assert_allclose(histogram.weight, sums)
        np.testing.assert_allclose(histogram.counts.sum(axis=2), np.tile(sums, (3, 1)))
        scores_of_lines = design().rows(cells[tested]) @ model.lines[:, :-1].T + model.lines[:, -1]
        for scores, counts in zip(scores_of_lines.T, histogram.counts, strict=True):
            exact = AUC().best_value(Curve.of(positive[tested], scores, weight[tested]))
            above = np.cumsum(counts[:, ::-1], axis=1)
            above = np.concatenate([np.zeros((2, 1)), above], axis=1)
            binned = AUC().best_value(Curve(centres()[::-1], above[1], above[0]))
            assert binned == pytest.approx(exact, abs=2e-3)


def test_cells_are_counted():
    models = [FoldModels(0, random_lines(1), design())]
    scored = run(Score(CellFeatures(BINNER), "yes", models))
    cells, positive, weight, _ = whole()
    for k, counts in enumerate(scored.cells):
        for side in (False, True):
            rows_of_side = positive == side
            expected = np.bincount(cells[rows_of_side, k], weight[rows_of_side], counts.shape[1])
            np.testing.assert_allclose(counts[int(side)], expected)


def test_a_survey_knows_the_classes_and_samples_all_rows_of_a_small_table():
    surveyed = run(Survey(10_000))
    table = rows()
    assert surveyed.totals.counts() == table["y"].value_counts().to_dict()
    assert len(surveyed.sample.y) == len(table)
    assert surveyed.fingerprint.rows == len(table)
    assert [column.kind for column in surveyed.table.kinds.columns] == [
        "number",
        "text",
        "boolean",
        "date",
    ]


def test_a_survey_does_not_sample_rows_that_are_set_apart():
    surveyed = run(Survey(10_000, apart=1))
    fold = whole()[3]
    assert set(surveyed.sample.fold) == {0, 2}
    assert len(surveyed.sample.y) == np.sum(fold != 1)
    assert surveyed.fingerprint.rows == len(fold)


def test_thresholds_take_all_rows_below_them():
    everything = run(Survey(10_000)).sample
    limit = int(np.median(everything.hashes))
    sample = run(Survey(10_000, thresholds={"yes": limit, "no": limit})).sample
    assert sorted(sample.hashes) == sorted(everything.hashes[everything.hashes <= limit])
