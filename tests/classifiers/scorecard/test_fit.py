"""From bins to a card: baselines on the same held-out rows, and a design from a sample of rows."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from directrix.classifiers import ScorecardClassifier
from directrix.designs.card import UnbinnedBaseline
from directrix.fitting.training_rows import Rows
from directrix.metrics import AUC
from directrix.tables import Binner
from directrix.tables.coding.prior import CellKinds

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def crossed(n=300, seed=0):
    """Return rows whose class is the sign of a product."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, (n, 3))
    return X, (X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.05)


class TestStraightLines:
    @pytest.fixture(scope="class")
    def lines(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(120, 2))
        X[::9, 1] = np.nan
        y = np.nan_to_num(X).sum(axis=1) + rng.normal(size=120) > 0
        binner = Binner().fit(X)
        kinds = [CellKinds.of(bins) for bins in binner.bins_]
        rows = Rows(binner.cells(X), y, np.ones(120), np.arange(120) % 3)
        return binner, rows, UnbinnedBaseline(kinds, rows, None)

    def test_they_are_logistic_regressions_on_the_means_of_bins(self, lines):
        binner, rows, straight = lines
        means = [
            np.r_[0.0, (np.array(bins.means) - centre) / spread]
            for bins, (centre, spread) in zip(
                binner.bins_,
                [
                    self.spread(bins, cells)
                    for bins, cells in zip(binner.bins_, rows.X.T, strict=True)
                ],
                strict=True,
            )
        ]
        features = [mean[cells] for mean, cells in zip(means, rows.X.T, strict=True)]
        design = np.column_stack([*features, rows.X[:, 1] == 0])
        for candidate in straight._candidates:
            for fold in range(3):
                kept, tested = rows.fold != fold, rows.fold == fold
                theirs = LogisticRegression(C=1.0 / (candidate.recipe.ridge * kept.sum()), tol=1e-8)
                scores = theirs.fit(design[kept], rows.positive[kept]).decision_function(design)
                order = np.corrcoef(scores[tested], candidate.curves.scores[tested])[0, 1]
                assert order > 0.999

    @staticmethod
    def spread(bins, cells):
        inside = np.array(bins.means)[cells[cells > 0] - 1]
        return inside.mean(), inside.std()


@pytest.mark.parametrize("learn_from", ["rows", "counts"])
def test_a_design_from_a_sample_is_fitted_to_all_rows(learn_from, monkeypatch):
    X, y = crossed(600)
    monkeypatch.setattr("directrix.designs.card.MOST_ROWS", 120)
    options = {"learn_from": learn_from, "cv": 2, "max_crosses": 2, "max_lines": None}
    ours = ScorecardClassifier("auc", **options).fit(X, y)
    assert (0, 1) in [cross.columns for cross in ours.card_.crosses]
    new, labels = crossed(2000, seed=1)
    sampled = AUC().score(labels, ours.decision_function(new))
    assert sampled > 0.85
    # It is no worse than a card of as many rows as were looked at.
    seen = ScorecardClassifier("auc", **options).fit(X[:240], y[:240])
    assert sampled >= AUC().score(labels, seen.decision_function(new)) - 0.02


@pytest.mark.parametrize("crosses", [0, 2])
def test_a_card_with_a_guarantee_is_that_of_its_threshold(crosses):
    X, y = crossed(300)
    metric = "recall@fpr=0.2"
    options = {"learn_from": "counts", "cv": 2, "guarantee": 0.99, "max_lines": None}
    ours = ScorecardClassifier(metric, **options, max_crosses=crosses).fit(X, y)
    assert (ours.decision_function(X) > 0).any()
    np.testing.assert_array_equal(
        ours.card_.scores(ours.binner_.cells(X)), ours.decision_function(X)
    )
    new, labels = crossed(4000, seed=2)
    assert (ours.decision_function(new)[~labels] > 0).mean() <= 0.2
