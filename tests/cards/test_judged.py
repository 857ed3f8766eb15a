"""Cards from one penalised likelihood: one card for all metrics."""

import numpy as np
import pytest
from scipy.special import expit, logit

from directrix import ScorecardClassifier
from directrix.cards.card import scale_of
from directrix.cards.judged import CardSettings, JudgedCard
from directrix.cards.prior import CellKinds
from directrix.fit.training_rows import Rows
from directrix.metrics import RecallAtFPR


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 4))
    return X, rng.random(800) < expit(X[:, 0] + np.sin(2.0 * X[:, 1]) - 1.0)


def test_metrics_share_one_card_and_have_thresholds_of_their_own(rows):
    X, y = rows
    first, second = ScorecardClassifier().fit_each(["auc", RecallAtFPR(0.05)], X, y)
    np.testing.assert_array_equal(first.predict_points(X), second.predict_points(X))
    assert abs(first.card_.cutoff - second.card_.cutoff) > 1.0
    for left, right in zip(first.card_.columns, second.card_.columns, strict=True):
        np.testing.assert_array_equal(left, right)


def test_points_are_whole_by_default_in_every_size(rows):
    X, y = rows
    model = ScorecardClassifier("auc").fit(X, y)
    for lines in [size.lines for size in model.sizes()]:
        card = model.compact(lines).card_
        points = np.concatenate([*card.columns, *(cross.points.ravel() for cross in card.crosses)])
        assert card.is_whole
        assert card.intercept == 0.0
        assert all(column.min() == 0.0 for column in card.columns)
        assert 50 <= points.max() <= 100


@pytest.mark.parametrize("metric", ["auc", "error", "cost(fp=1, fn=5)", RecallAtFPR(0.05)])
@pytest.mark.parametrize("points", ["log-odds", "integer", "pdo"])
def test_probabilities_are_one_line_of_the_points_in_log_odds(rows, points, metric):
    X, y = rows
    model = ScorecardClassifier(metric, points=points).fit(X, y)
    total, odds = model.predict_points(X), logit(model.predict_proba(X)[:, 1])
    slope, intercept = np.polyfit(total, odds, 1)
    np.testing.assert_allclose(odds, slope * total + intercept, atol=1e-9)
    if points == "pdo":
        doublings = (logit(1.0 / 51.0) - odds) / np.log(2.0)
        np.testing.assert_allclose(total, 600.0 + 20.0 * doublings, atol=1e-6)
    if points == "log-odds":
        assert slope == pytest.approx(1.0)


@pytest.mark.parametrize("points", ["log-odds", "integer", "pdo"])
@pytest.mark.parametrize("max_lines", [8, None])
def test_what_a_fold_never_saw_has_mean_points_as_in_the_delivered_card(max_lines, points):
    rng = np.random.default_rng(1)
    cells = np.column_stack([rng.integers(1, 9, 1200), rng.integers(2, 8, 1200)])
    y = rng.random(1200) < expit(0.5 * (cells[:, 0] - 4) + 0.4 * (cells[:, 1] - 3) - 1.0)
    fold = np.arange(1200) % 3
    cells[cells[:, 1] == 7, 1] = 6
    cells[(fold == 0) & (np.arange(1200) < 60), 1] = 7  # a level of one fold alone
    cells[(fold == 1) & (np.arange(1200) < 60), 0] = 0  # missing there alone
    numbers = CellKinds(9, slice(1, 9), np.arange(8.0))
    kinds = [numbers, CellKinds(8, slice(1, 1))]
    rows = Rows(cells, y, np.ones(1200), fold=fold, keys=np.arange(1200))
    settings = CardSettings(max_lines, max_crosses=0, scale=scale_of(points))
    for size in JudgedCard.of(rows, kinds, settings).pointed:
        for without, column, cell in ((0, 1, 7), (1, 0, 0)):
            card, seen = size.cards[without].card, cells[fold != without, column]
            mean = card.columns[column][seen].mean()
            mean = mean if points == "log-odds" else np.floor(mean + 0.5)
            assert card.columns[column][cell] == pytest.approx(mean, abs=1e-9)
