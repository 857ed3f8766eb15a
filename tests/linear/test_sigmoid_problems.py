import numpy as np
import pytest
from scipy import sparse

from directrix.linear import batch_solver as _sigmoid_problems
from directrix.linear.batch_solver import RowBatch, SigmoidProblems
from directrix.linear.beta_bernoulli import BetaBernoulli
from directrix.linear.margin import Logistic
from directrix.linear.recipes import Recipe
from tests.linear.test_row_batch import rows

PLAIN = [Recipe(Logistic(), 1e-2), Recipe(Logistic(), 1e-3, 10.0), Recipe(Logistic(), 1e-3, 0.1)]
ROBUST = [
    Recipe(BetaBernoulli(mixing=0.3), 1e-2),
    Recipe(BetaBernoulli(mixing=0.2, gamma=4.0), 1e-3, 50.0),
]
LEFT_OUT = [None, 0, 1, 2]


def objective(recipe, left_out, X, positive, weight, fold):
    kept = np.flatnonzero(fold != left_out) if left_out is not None else slice(None)
    return recipe.objective(X[kept], positive[kept], weight[kept])


@pytest.fixture(params=[True, False], ids=["all blocks in one go", "block by block"])
def few(request, monkeypatch):
    monkeypatch.setattr(_sigmoid_problems, "_FEW_SCORES", 1 << 30 if request.param else 0)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("precise", [True, False], ids=["double precision", "single precision"])
@pytest.mark.parametrize("weighted", [True, False], ids=["weights", "equal weights"])
@pytest.mark.parametrize("scale", [0.3, 30.0, 1e4])
@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "recipes", [PLAIN, ROBUST, PLAIN + ROBUST], ids=["plain", "robust", "both"]
)
def test_values_and_gradients_are_those_of_each_problem_alone(
    recipes, holder, scale, weighted, precise, monkeypatch
):
    given = rows(weighted=weighted)
    if not precise:
        monkeypatch.setattr(_sigmoid_problems, "_FEW_ROWS", 0)
    tol = 1e-11 if precise else 1e-5
    problems = [(recipe, fold) for recipe in recipes for fold in LEFT_OUT]
    together = SigmoidProblems(RowBatch(holder(given[0]), *given[1:]), problems)
    lines = scale * np.random.default_rng(1).normal(size=(len(problems), 5))
    some = np.arange(0, len(problems), 3)
    value, gradient = together.evaluate(lines[some], some)
    assert value.dtype == gradient.dtype == np.float64
    for number, index in enumerate(some):
        alone = objective(*problems[index], *given)(lines[index])
        assert value[number] == pytest.approx(alone[0], rel=tol)
        size = np.abs(alone[1]).max()
        np.testing.assert_allclose(gradient[number], alone[1], rtol=10.0 * tol, atol=tol * size)


@pytest.mark.usefixtures("few")
def test_rows_that_are_left_out_do_not_count():
    X, positive, weight, fold = rows()
    other = np.where((fold == 1)[:, None], 1e6, X)
    lines = np.full((1, 5), 0.1)
    values = [
        SigmoidProblems(RowBatch(rows_, positive, weight, fold), [(PLAIN[0], 1)]).evaluate(
            lines, np.array([0])
        )
        for rows_ in (X, other)
    ]
    np.testing.assert_array_equal(values[0][0], values[1][0])
    np.testing.assert_array_equal(values[0][1], values[1][1])
