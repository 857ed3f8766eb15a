"""The structure of a card is learned without the rows it is tested on."""

import numpy as np
import pytest

from directrix.designs.structure import Structure, StructureSearch
from directrix.designs.trainers import CountTrainer, RowTrainer
from directrix.fitting.training_rows import Rows
from directrix.frontier.compare import FoldDesigns
from directrix.metrics import AUC
from directrix.tables.coding.coded_rows import CodedRows
from directrix.tables.coding.prior import CellKinds

N = 240
#: Two columns of numbers, and two of texts.
KINDS = (
    CellKinds(9, slice(1, 9), np.arange(8.0)),
    CellKinds(7, slice(1, 7), np.arange(6.0)),
    CellKinds(8, slice(1, 1)),
    CellKinds(6, slice(1, 1)),
)
TRAINERS = {"rows": lambda rows: RowTrainer(rows, 1e-5), "counts": CountTrainer}
every_trainer = pytest.mark.parametrize("trainer", TRAINERS.values(), ids=TRAINERS)


def rows(*, n=N, crossed=True, seed=0, folds=3):
    """Return rows whose label is mostly the parity of two columns, or follows one of them."""
    rng = np.random.default_rng(seed)
    cells = np.column_stack([rng.integers(0, kinds.n_cells, n) for kinds in KINDS])
    odd = (cells[:, 0] > 4) ^ (cells[:, 2] % 2 == 1) if crossed else cells[:, 0] > 4
    positive = np.where(rng.random(n) < 0.85, odd, ~odd)
    return Rows(cells, positive, np.ones(n), rng.permutation(n) % folds)


def search(data, trainer, **options):
    return StructureSearch(KINDS, data, trainer(data), **options)


def fixed(data, trainer):
    """Return a search whose ridge is given, so that only what is learned from rows differs."""
    made = search(data, trainer)
    made._weighing_ridge, made._base = 1e-2, Structure(1e-2)
    return made


STRUCTURES = {
    "additive": Structure(1e-2),
    "small": Structure(1e-2, n_columns=1),
    "crosses": Structure(1e-2, 3),
    "reweighted": Structure(1e-2, 0, reweighted=True),
    "crosses, reweighted": Structure(1e-2, 3, reweighted=True),
}


@every_trainer
@pytest.mark.parametrize("structure", STRUCTURES.values(), ids=STRUCTURES)
def test_labels_of_a_fold_do_not_reach_what_is_learned_without_it(trainer, structure):
    data = rows()
    flipped = data._replace(positive=data.positive ^ (data.fold == 1))
    made = [fixed(each, trainer) for each in (data, flipped)]
    one, other = (each.design(structure, 1) for each in made)
    assert [each.pair for each in one.crosses] == [each.pair for each in other.crosses]
    for left, right in zip(one.crosses, other.crosses, strict=True):
        for side in (0, 1):
            np.testing.assert_array_equal(left.merged[side], right.merged[side])
    # Lines of rows are solved in single precision, and the variance of blocks follows from them.
    single = trainer is TRAINERS["rows"]
    matrices = [each.rows(data.X).dense() for each in (one, other)]
    np.testing.assert_allclose(*matrices, atol=5e-3 if single and structure.reweighted else 1e-6)
    solved = []
    for each in made:
        X = each.designs(structure, [1])
        solved.append(each.trainer.solve(X, [1e-2], [1])[1e-2, 1])
    np.testing.assert_allclose(*solved, rtol=0, atol=1e-2 if single else 1e-9)
    # The same flips in other folds do change it.
    if structure.is_label_free:
        return
    seen = fixed(data._replace(positive=data.positive ^ (data.fold == 0)), trainer)
    other = seen.design(structure, 1)
    changed = one.rows(data.X).dense(), other.rows(data.X).dense()
    assert changed[0].shape != changed[1].shape or np.abs(np.subtract(*changed)).max() > 0.05


@every_trainer
def test_crosses_that_hold_are_chosen_and_noise_is_not(trainer):
    crossed = search(rows(), trainer)
    structure = crossed.run()
    assert [each.pair for each in crossed.design(structure, None).crosses] == [(0, 2)]
    assert structure.auc > max(each.auc for each in crossed.tried if not each.n_crosses) + 0.1
    plain = search(rows(crossed=False), trainer).run()
    assert plain.n_crosses == 0
    assert plain.auc > 0.7


@every_trainer
def test_the_best_auc_is_that_of_held_out_rows(trainer):
    data = rows()
    made = search(data, trainer)
    structure = made.run()
    X = made.designs(structure, [None, 0, 1, 2])
    areas = []
    for fold, line in ((k, made.trainer.solve(X, [structure.ridge], [k])) for k in range(3)):
        tested = np.flatnonzero(data.fold == fold)
        scores = X.without[fold][tested] @ line[structure.ridge, fold][:-1]
        areas.append(AUC().score(data.positive[tested], scores))
    assert np.mean(areas) == pytest.approx(structure.auc, abs=2e-3)
    assert structure in made.tried


def test_fewer_crosses_are_kept_unless_more_gain_enough():
    for seed in range(3):
        made = search(rows(seed=seed), CountTrainer)
        chosen = made.run()
        simpler = [each.auc for each in made.tried if each.n_crosses < chosen.n_crosses]
        assert all(chosen.auc > auc + 1e-3 for auc in simpler)


@pytest.mark.parametrize("most", [0, 1, 2])
def test_there_are_no_more_crosses_than_allowed(most):
    made = search(rows(), CountTrainer, max_crosses=most)
    structure = made.run()
    assert structure.n_crosses <= most
    assert all(each.n_crosses <= most for each in made.tried)
    assert len(made.design(structure, None).crosses) <= most


def test_designs_are_shared_where_no_label_was_looked_at():
    made = fixed(rows(), CountTrainer)
    assert isinstance(made.designs(STRUCTURES["additive"], [None, 0, 1, 2]), CodedRows)
    for name in ("crosses", "reweighted"):
        X = made.designs(STRUCTURES[name], [None, 0, 1, 2])
        assert isinstance(X, FoldDesigns)
        assert set(X.without) == {0, 1, 2}
        assert len(X.whole) == N


def test_without_folds_there_is_a_cautious_structure():
    structure = search(rows()._replace(fold=None), CountTrainer).run()
    assert structure.n_crosses == 0
    assert not structure.reweighted
    assert np.isnan(structure.auc)
    assert min(CountTrainer.ridges) < structure.ridge < max(CountTrainer.ridges)


def test_few_rows_are_compared_on_all_folds_and_many_on_enough():
    assert search(rows(folds=5), CountTrainer).folds == [0, 1, 2, 3, 4]
    many = search(rows(n=6000, folds=5), CountTrainer)
    held_out = [min(np.bincount(many.rows.positive[many.rows.fold == k])) for k in many.folds]
    assert sum(held_out) >= 300
    assert len(many.folds) < 5


def test_blocks_with_larger_effects_have_larger_variances():
    made = fixed(rows(crossed=False), CountTrainer)
    scale = made.design(STRUCTURES["reweighted"], None).coding.scale
    assert scale.argmax() == 0
    assert (np.square(scale) >= 0.05 - 1e-12).all()
    assert (np.square(scale) <= 20 + 1e-12).all()


@pytest.mark.parametrize("constant", [[3], [0, 1, 2, 3]], ids=["the last", "all"])
@every_trainer
def test_constant_columns_have_no_points(trainer, constant):
    data = rows()
    cells = data.X.copy()
    cells[:, constant] = 1
    kinds = [
        CellKinds(2, slice(1, 2), np.zeros(1)) if k in constant else KINDS[k] for k in range(4)
    ]
    data = data._replace(X=cells)
    made = StructureSearch(kinds, data, trainer(data))
    structure = made.run()
    design = made.design(structure, None)
    assert not {k for each in design.crosses for k in each.pair} & set(constant)
    assert np.isfinite(design.rows(cells).dense()).all()
    assert made.design(structure._replace(reweighted=True), None).coding.scale.shape[0] >= 4


def test_cards_of_all_folds_have_as_many_crosses_as_that_of_all_rows(monkeypatch):
    monkeypatch.setattr("directrix.tables.coding.crosses._WORTH_DRAWING", 0.0)
    made = fixed(rows(), CountTrainer)
    (cross,) = made._crosses(None)
    made._crossed[None] = [cross, cross]
    assert [len(made._crosses(fold)) for fold in range(3)] == [2, 2, 2]


@pytest.mark.parametrize(("ridge", "scale"), [(1e-1, 1.0), (1e-3, np.sqrt(1e-3 * N / 10))])
def test_points_of_crosses_have_a_ridge_of_ten_rows_at_least(ridge, scale):
    made = fixed(rows(), CountTrainer)
    made._base = Structure(ridge)
    of_blocks = made.design(Structure(ridge, 1), None).coding.scale
    np.testing.assert_allclose(of_blocks, [1, 1, 1, 1, scale])
