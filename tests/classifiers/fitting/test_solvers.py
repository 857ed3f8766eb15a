import re

import numpy as np
import pytest
from scipy import sparse

from directrix import SmoothClassifier
from directrix.fitting.solvers import SOLVERS, probe_values, search_errors, solver_for
from directrix.linear import (
    BetaBernoulli,
    BreakEven,
    Hinge,
    Logistic,
    PairwiseHinge,
    Ramp,
    Sigmoid,
    SquaredHinge,
    ZeroOne,
)
from directrix.linear.objectives import DataObjective
from directrix.linear.table import LOSSES as LOSS_TABLE

LOSSES = list(dict.fromkeys(loss for _, losses in LOSS_TABLE for loss in losses))
#: For each solver losses that it minimises.
GOES_TOGETHER = {
    "lbfgs": [Logistic(), Sigmoid(), BetaBernoulli(), BreakEven(), Ramp(gamma=2.0)],
    "nesterov": [Logistic(), SquaredHinge()],
    "bundle": [Hinge(), PairwiseHinge(), BreakEven()],
    "descent": [Logistic(), Sigmoid()],
    "sla": [Sigmoid()],
    "slam": [Sigmoid()],
    "vertex": [ZeroOne()],
    "sgd": [Logistic(), Hinge(), Sigmoid(), BetaBernoulli(), Ramp()],
}
pairs = pytest.mark.parametrize(
    ("name", "loss"),
    [
        pytest.param(name, loss, id=f"{name}-{loss}")
        for name, able in GOES_TOGETHER.items()
        for loss in able
    ],
)


def objective(loss, ridge=1e-2, holder=np.asarray):
    rng = np.random.default_rng(0)
    positive = rng.random(60) < 0.5
    X = rng.normal(size=(60, 2))
    X[:, 0] += 1.5 * positive
    return DataObjective(holder(X), positive, rng.integers(1, 4, 60).astype(float), loss, ridge)


def sparse_rows():
    """Return rows with about one entry in ten; the last column is empty, some weights are zero."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6)) * (rng.random((300, 6)) < 0.1)
    X[:, -1] = 0.0
    positive = X @ rng.normal(size=6) + 0.3 * rng.normal(size=300) > 0
    weight = rng.integers(1, 4, 300).astype(float)
    weight[X[:, 0] != 0] = 0.0
    return X, positive, weight


@pytest.mark.parametrize("holder", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize(
    "loss", [BetaBernoulli(), BetaBernoulli(mixing=0.0), Sigmoid(), PairwiseHinge()], ids=str
)
def test_probes_of_sparse_columns_are_those_of_dense_ones(loss, holder):
    X, *others = sparse_rows()
    coef, offsets = np.linspace(-1.0, 1.0, 7), np.linspace(-4.0, 4.0, 9)
    for coordinate in range(7):
        dense, thin = (
            probe_values(
                DataObjective(rows, *others, loss, ridge=0.1), coef, coordinate, offsets, 2.0
            )
            for rows in (X, holder(X))
        )
        np.testing.assert_allclose(thin, dense, rtol=1e-12)


def test_a_probe_of_a_sparse_column_evaluates_the_rows_of_its_entries_only(monkeypatch):
    X, *others = sparse_rows()
    evaluated = []
    values = BetaBernoulli.values

    def counted(self, positive, scores, weight):
        evaluated.append(scores.size)
        return values(self, positive, scores, weight)

    monkeypatch.setattr(BetaBernoulli, "values", counted)
    function = DataObjective(sparse.csr_array(X), *others, BetaBernoulli())
    probe_values(function, np.ones(7), 1, np.linspace(-4.0, 4.0, 80), 1.0)
    assert sum(evaluated) == len(X) + 81 * np.count_nonzero(X[:, 1])


@pytest.mark.parametrize("name", ["sla", "slam"])
def test_a_search_finds_the_same_line_on_sparse_and_dense_rows(name):
    X, *others = sparse_rows()
    dense, thin = (
        search_errors(name, DataObjective(rows, *others, BetaBernoulli(), 1e-3), np.zeros(7))
        for rows in (X, sparse.csr_array(X))
    )
    np.testing.assert_allclose(thin.solution.coef, dense.solution.coef, rtol=1e-6, atol=1e-9)
    assert thin.solution.n_iter == dense.solution.n_iter
    assert (thin.gamma, thin.ridge) == (dense.gamma, dense.ridge)


def test_every_solver_is_tried_below():
    assert set(GOES_TOGETHER) == set(SOLVERS)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pairs
def test_each_solver_lowers_the_objective_it_is_given(name, loss, holder):
    # A search has no ridge, and one solver chooses its own: it is judged by the error.
    function = objective(loss, 0.0 if name == "vertex" else 1e-2, holder)
    exact = objective(ZeroOne(), 0.0, holder) if name == "slam" else function
    start, seen = np.array([-0.5, 0.5, 0.1]), []
    solution = solver_for(name, loss).run(
        function,
        start,
        np.random.default_rng(0),
        lambda coef, value: seen.append((coef.copy(), value)),
    )
    before, after = (exact(coef)[0] for coef in (start, solution.coef))
    assert after < before
    assert solution.coef.shape == (3,)
    assert len(seen) == solution.n_iter > 0
    if name not in ("sla", "slam", "bundle"):  # theirs are of a sharper loss than was given
        assert solution.value == pytest.approx(after, rel=1e-9)
        coef, value = seen[-1]
        assert value == pytest.approx(function(coef)[0], rel=1e-9)


@pytest.mark.parametrize("name", ["lbfgs", "nesterov", "descent", "bundle", "vertex", "sgd"])
def test_a_callback_stops_a_solver(name):
    loss = GOES_TOGETHER[name][0]
    start, seen = np.array([-0.5, 0.5, 0.1]), []

    def enough(_, value):
        seen.append(value)
        return True

    solver_for(name, loss).run(objective(loss), start, np.random.default_rng(0), enough)
    assert len(seen) == 1


@pytest.mark.parametrize("loss", [Hinge(), PairwiseHinge(), BreakEven()], ids=str)
def test_a_bundle_minimises_what_the_loss_smooths_and_bounds_it(loss):
    function = objective(loss)
    solution = SOLVERS["bundle"].run(function, np.zeros(3), np.random.default_rng(0), None)
    sharp = function.sharpened(np.inf)
    assert solution.value == pytest.approx(sharp(solution.coef)[0], rel=1e-9)
    assert solution.lower_bound <= solution.value <= solution.lower_bound + 1.1e-3 * solution.value
    if loss.shift_invariant:  # nothing bounds the intercept
        assert abs(solution.coef[-1]) < 1e-6


def test_a_bundle_without_a_ridge_is_refused():
    with pytest.raises(ValueError, match="solver='bundle' needs a ridge: give alpha above zero"):
        SOLVERS["bundle"].run(objective(Hinge(), 0.0), np.zeros(3), np.random.default_rng(0), None)


def test_the_vertex_search_is_as_good_as_its_seed_says_and_no_worse_than_others():
    function = objective(ZeroOne(), 0.0)
    lines = [
        SOLVERS["vertex"].run(function, np.array([1.0, 0.0, -0.7]), np.random.default_rng(0), None)
        for _ in range(2)
    ]
    np.testing.assert_array_equal(lines[0].coef, lines[1].coef)
    assert lines[0].value == pytest.approx(function(lines[0].coef)[0], abs=1e-15)
    for loss in (Logistic(), Sigmoid()):
        other = SOLVERS["lbfgs"].run(objective(loss), np.zeros(3), np.random.default_rng(0), None)
        assert lines[0].value <= function(other.coef)[0]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("name", SOLVERS)
def test_a_loss_that_a_solver_cannot_take_is_told_who_can(name, loss):
    able = [other for other in SOLVERS if other in loss.solvers]
    assert able  # every loss of the table can be minimised
    if name in able:
        assert solver_for(name, loss) is SOLVERS[name]
        return
    message = f"solver={name!r} needs {SOLVERS[name].needs}; for {loss!r} give one of "
    message += ", ".join(map(repr, able))
    with pytest.raises(ValueError, match=re.escape(message)):
        solver_for(name, loss)
    X, y = objective(loss).X, objective(loss).positive
    with pytest.raises(ValueError, match=re.escape(message)):
        SmoothClassifier(loss=loss, solver=name).fit(X, y)


def test_who_can_take_what():
    able = {
        loss: set(loss.solvers) for loss in (Logistic(), Sigmoid(), Ramp(), ZeroOne(), BreakEven())
    }
    assert able[BreakEven()] == {"lbfgs", "nesterov", "bundle", "descent"}
    assert able[Logistic()] == able[BreakEven()] | {"sgd"}
    assert able[Sigmoid()] == {"lbfgs", "descent", "sla", "slam", "sgd"}
    assert able[Ramp()] == {"lbfgs", "descent", "sgd"}
    assert set(Hinge().solvers) == able[Logistic()]
    assert set(Ramp(PairwiseHinge()).solvers) == {"lbfgs", "descent"}
    assert able[ZeroOne()] == {"vertex"}


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_loss_names_solvers_that_exist(loss):
    assert set(loss.solvers) <= set(SOLVERS)


def test_an_unknown_solver_is_told_the_known_ones():
    with pytest.raises(
        ValueError, match="no solver named 'simplex': give 'auto' or one of 'lbfgs'"
    ):
        solver_for("simplex", Logistic())


@pytest.mark.parametrize(
    ("loss", "name"), [(Hinge(), "lbfgs"), (Logistic(), "lbfgs"), (ZeroOne(), "vertex")]
)
def test_the_default_solver_depends_on_the_loss(loss, name):
    assert solver_for("auto", loss) is SOLVERS[name]
