from types import SimpleNamespace

import numpy as np
import pytest

from directrix.designs.card import CardCandidates, UnbinnedBaseline
from directrix.fitting.fit_rows import fit_best
from directrix.fitting.training_rows import Rows
from directrix.fitting.trials import Trials
from directrix.frontier.compare import LeastLoss
from directrix.metrics import AUC
from directrix.tables import Binner
from directrix.tables.coding.card_coding import CardCoding
from directrix.tables.coding.coded_rows import Coding
from directrix.tables.coding.prior import CellKinds, cell_weights, column_basis

N = 300


def coded(bent):
    """Return kinds of cells, rows of cells, and the same rows with the features of a card."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    effect = np.abs(X[:, 0]) if bent else X[:, 0]
    y = effect + 0.3 * rng.normal(size=N) > np.median(effect)
    binner = Binner(max_bins=10).fit(X)
    kinds = [CellKinds.of(bins) for bins in binner.bins_]
    cells = binner.cells(X)
    rows = Rows(cells, y, np.ones(N), np.arange(N) % 3)
    bases = [
        column_basis(kind, cell_weights(kind, column, rows.weight), 8, centred=True)
        for kind, column in zip(kinds, cells.T, strict=True)
    ]
    return kinds, rows, rows._replace(X=CardCoding(Coding(bases)).rows(cells))


def best_card(rows, learn_from="counts", trials=None):
    """Return the best card of coded rows."""
    candidates = CardCandidates(rows, 1e-2, learn_from)
    learned = SimpleNamespace(
        seen=rows,
        rows=rows,
        units=None,
        plain_ridge=1e-2,
        trials=trials,
        compared=candidates.compared,
    )
    return fit_best(AUC(), learned)


@pytest.mark.parametrize("learn_from", ["rows", "counts"])
@pytest.mark.parametrize("bent", [True, False])
def test_a_card_is_far_better_than_a_straight_line_only_where_the_truth_bends(learn_from, bent):
    kinds, rows, features = coded(bent)
    gap = UnbinnedBaseline(kinds, rows, None).behind(best_card(features, learn_from)).gap
    assert gap.low <= gap.mean <= gap.high
    assert gap.mean > 0.3 if bent else abs(gap.mean) < 0.05


def test_without_held_out_rows_there_is_no_gap():
    kinds, rows, features = coded(bent=True)
    card = best_card(features._replace(fold=None))
    assert UnbinnedBaseline(kinds, rows._replace(fold=None), None).behind(card) is None


def test_what_the_search_for_a_structure_promises_too_much_is_no_gap():
    kinds, rows, features = coded(bent=True)
    lines = UnbinnedBaseline(kinds, rows, None)
    trials = Trials(np.array([0.5, 0.52, 0.51]), 0.03**2 * np.eye(3), LeastLoss())
    gaps = [lines.behind(best_card(features, trials=each)).gap for each in (None, trials)]
    assert gaps[1].mean == pytest.approx(gaps[0].mean - trials.excess, abs=0.01)
    assert gaps[1].high - gaps[1].low > gaps[0].high - gaps[0].low
