import numpy as np
import pytest
from few_cases import SELECTION
from scipy.stats import chi2, chi2_contingency, norm

from directrix import ScorecardClassifier
from directrix.designs.screening import ScreenedColumns, columns_by_information, information
from directrix.fitting.training_rows import Rows
from directrix.models.card import Card, Cross
from directrix.tables import Binner
from directrix.tables.coding.prior import CellKinds


@pytest.fixture
def narrow_screen(monkeypatch):
    """Screen tables of more than 100 columns, and keep 16: wider ones take longer."""
    monkeypatch.setattr("directrix.designs.card.WIDE", 100)
    monkeypatch.setattr("directrix.designs.screening._NUMBERS", (16,))


def levels(n_cells):
    return CellKinds(n_cells, slice(1, 1))


def bins(n_cells):
    return CellKinds(n_cells, slice(1, n_cells), np.arange(n_cells - 1.0))


def table(cells, y, n_cells):
    counts = np.stack([np.bincount(cells[y == label], minlength=n_cells) for label in (0, 1)])
    return counts[None].astype(np.float64)


def wide_rows(n=300, d=120, effect=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    if effect is None:
        return X, rng.random(n) < 0.4
    return X, X[:, effect] + 0.5 * rng.normal(size=n) > 0.3


def training_rows(X, y):
    binner = Binner().fit(X)
    rows = Rows(binner.cells(X), y, np.ones(len(y)), np.arange(len(y)) % 4)
    return [CellKinds.of(each) for each in binner.bins_], rows


@pytest.mark.parametrize("n_cells", [4, 8, 40])
def test_it_is_the_deviate_of_the_chi_square_test(n_cells):
    rng = np.random.default_rng(n_cells)
    for shift in (0.0, 0.5):
        cells = rng.integers(1, n_cells, 4000)
        y = (rng.random(4000) < 0.3 + 0.1 * shift * (cells % 2)).astype(int)
        tables = table(cells, y, n_cells)
        expected = chi2_contingency(tables[0][:, 1:], correction=False)
        deviate = norm.isf(chi2.sf(expected.statistic, expected.dof))
        # Wilson and Hilferty's cube root is that close from two degrees of freedom on.
        assert information(levels(n_cells), tables)[0] == pytest.approx(deviate, abs=0.1)


@pytest.mark.parametrize("n_cells", [2, 10, 60])
def test_a_column_without_information_has_a_standard_deviate_however_many_cells_it_has(n_cells):
    rng = np.random.default_rng(1)
    y = np.arange(2000) % 2
    deviates = [
        information(levels(n_cells + 1), table(rng.integers(1, n_cells + 1, 2000), y, n_cells + 1))
        for _ in range(400)
    ]
    # Of 400 draws the mean has a standard error of 0.05, the deviation one of 0.035; with one
    # degree of freedom the cube root is only near to normal.
    assert np.mean(deviates) == pytest.approx(0.0, abs=0.2)
    assert np.std(deviates) == pytest.approx(1.0, abs=0.15)


def test_a_trend_that_many_bins_share_is_seen():
    rng = np.random.default_rng(2)
    cells = rng.integers(1, 61, 1500)
    y = (rng.random(1500) < 0.4 + 0.2 * cells / 60).astype(int)
    counts = table(cells, y, 61)
    assert information(bins(61), counts)[0] > information(levels(61), counts)[0] + 1.5


@pytest.mark.parametrize("kinds", [levels(4), bins(4)])
def test_columns_that_cannot_tell_classes_apart_come_last(kinds):
    alone = np.zeros((2, 2, 4))
    alone[0, :, 2] = 5.0  # all rows in one cell
    alone[1, 1, 1:] = 5.0  # all rows of one class
    deviates = information(kinds, alone)
    assert deviates[0] == -np.inf
    assert deviates[1] < 0


def test_rows_of_a_fold_do_not_matter_for_its_ranking():
    X, y = wide_rows(effect=5)
    kinds, rows = training_rows(X, y)
    rankings = columns_by_information(kinds, rows)
    assert all(ranking[0] == 5 for ranking in rankings.values())
    for fold in range(4):
        inside = rows.fold == fold
        changed = rows._replace(positive=np.where(inside, ~y, y))
        again = columns_by_information(kinds, changed)
        assert np.array_equal(again[fold], rankings[fold])
        assert not np.array_equal(again[None], rankings[None])


@pytest.mark.parametrize("learn_from", ["rows", "counts"])
@pytest.mark.filterwarnings("ignore::directrix.exceptions.OneClassPredictedWarning")
@pytest.mark.usefixtures("narrow_screen")
def test_noise_looks_like_noise_on_held_out_rows(learn_from):
    # One AUC of 200 rows has a standard error of 0.04. With columns that were chosen by the rows
    # they are tested on, the mean is above 0.65.
    values = []
    for seed in range(8 if SELECTION.limit is None else 4):
        X, y = wide_rows(n=200, d=150, seed=seed)
        options = {"max_crosses": 0, "max_lines": None, "warn_baseline": False}
        model = ScorecardClassifier("auc", learn_from=learn_from, **options).fit(X, y)
        values.append(model.report_.expected.value)
    assert np.mean(values) == pytest.approx(0.5, abs=0.07)


@pytest.mark.parametrize("learn_from", ["rows", "counts"])
@pytest.mark.usefixtures("narrow_screen")
def test_the_informative_column_is_found(learn_from):
    X, y = wide_rows(n=400, d=300, effect=200)
    model = ScorecardClassifier("auc", learn_from=learn_from, warn_baseline=False)
    model.fit(X, y)
    card = model.card_
    assert np.argmax([np.ptp(points) for points in card.columns]) == 200
    assert sum(np.ptp(points) > 0 for points in card.columns) <= 16
    assert model.report_.columns_tried == (16, 300)
    assert "Only the 16 most informative of 300 columns were tried." in str(model.report_)
    new, label = wide_rows(n=1000, d=300, effect=200, seed=1)
    assert model.score(new, label) > 0.85


@pytest.mark.parametrize(("n_columns", "is_screened"), [(100, False), (101, True)])
@pytest.mark.usefixtures("narrow_screen")
def test_only_wide_tables_are_screened(n_columns, is_screened):
    X, y = wide_rows(n=200, d=n_columns)
    options = {"max_crosses": 0, "max_lines": None, "warn_baseline": False}
    model = ScorecardClassifier("auc", learn_from="counts", **options).fit(X, y)
    assert (model.report_.columns_tried is not None) == is_screened


def test_a_narrow_card_scores_rows_as_a_wide_one():
    rng = np.random.default_rng(0)
    columns = ScreenedColumns(np.array([1, 4]), [3] * 6, 2)
    merged = np.array([0, 1, 1])
    cross = Cross((0, 1), (merged, merged), rng.normal(size=(2, 2)))
    narrow = Card(0.5, tuple(rng.normal(size=(2, 3))), (cross,))
    wide = columns.widened(narrow)
    cells = rng.integers(0, 3, size=(20, 6))
    assert np.array_equal(wide.points(cells), narrow.points(cells[:, [1, 4]]))
    assert len(wide.columns) == 6
    assert wide.crosses[0].columns == (1, 4)


@pytest.mark.parametrize(
    "options",
    [
        {"points": "integer"},
        {"max_columns": 3},
        {"monotone": {60: "increasing", 3: "increasing"}},
        {"metric": "recall@fpr=0.1", "guarantee": 0.8},
    ],
)
@pytest.mark.usefixtures("narrow_screen")
def test_other_options_go_with_a_screen(options):
    X, y = wide_rows(n=300, d=110, effect=60)
    options = {"metric": "auc", "max_crosses": 0, "warn_baseline": False, **options}
    model = ScorecardClassifier(**options).fit(X, y)
    assert np.argmax([np.ptp(points) for points in model.card_.columns]) == 60
    assert len(model.card_.columns) == 110
    if "monotone" in options:
        rising = model.card_.columns[60][1 : 1 + model.binner_.bins_[60].n_ordered]
        assert (np.diff(rising) >= 0).all()
    assert np.mean(model.predict(X) == y) > 0.7
