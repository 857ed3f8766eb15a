import numpy as np
import pytest
from scipy import sparse

from directrix.linear import batch_solver as _pair_problems
from directrix.linear.batch_solver import PairProblems, RowBatch
from directrix.linear.margin import Logistic
from directrix.linear.pairwise import PairwiseHinge
from directrix.linear.ramp import Ramp
from directrix.linear.recipes import Recipe
from tests.linear.test_row_batch import rows
from tests.linear.test_sigmoid_problems import objective

LOSSES = [PairwiseHinge(kappa=0.5), Ramp(PairwiseHinge(kappa=0.5))]
LEFT_OUT = [None, 0, 2]


def evaluated(loss, given, lines, holder=np.asarray):
    problems = [(Recipe(loss, 1e-3), fold) for fold in LEFT_OUT]
    together = PairProblems(RowBatch(holder(given[0]), *given[1:]), problems)
    return problems, *together.evaluate(lines, np.arange(len(LEFT_OUT)))


@pytest.mark.parametrize("holder", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("weighted", [True, False], ids=["weights", "equal weights"])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_values_and_gradients_are_nearly_those_of_each_problem_alone(loss, weighted, holder):
    given = rows(n=2000, weighted=weighted)
    lines = np.random.default_rng(1).normal(size=(len(LEFT_OUT), 5))
    problems, value, gradient = evaluated(loss, given, lines, holder)
    for number, problem in enumerate(problems):
        alone = objective(*problem, *given)(lines[number])
        assert value[number] == pytest.approx(alone[0], rel=5e-3)
        size = np.abs(alone[1]).max()
        np.testing.assert_allclose(gradient[number], alone[1], atol=2e-2 * size)
        assert gradient[number, -1] == 0.0


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_the_gradient_is_that_of_the_value(loss):
    given = rows(n=400)
    lines = np.random.default_rng(1).normal(size=(len(LEFT_OUT), 5))
    step = 0.02 * np.random.default_rng(2).normal(size=lines.shape)
    _, _, gradient = evaluated(loss, given, lines)
    (_, up, _), (_, down, _) = (evaluated(loss, given, lines + s * step) for s in (1.0, -1.0))
    slope = np.einsum("kp,kp->k", gradient, 2.0 * step)
    np.testing.assert_allclose(up - down, slope, rtol=0.05, atol=1e-4)


def test_rows_that_are_left_out_do_not_count():
    X, positive, weight, fold = rows()
    other = np.where((fold == 0)[:, None], 7.0, X)
    lines = np.full((len(LEFT_OUT), 5), 0.1)
    values = [
        evaluated(LOSSES[0], (given, positive, weight, fold), lines)[1:] for given in (X, other)
    ]
    assert values[0][0][1] == pytest.approx(values[1][0][1], rel=1e-6)
    np.testing.assert_allclose(values[0][1][1], values[1][1][1], rtol=1e-5)


def test_scores_far_beyond_the_grid_are_no_trouble():
    given = rows()
    for scale in (1e3, 1e9):
        _, value, gradient = evaluated(LOSSES[1], given, np.full((3, 5), scale))
        assert np.isfinite(value).all()
        assert np.isfinite(gradient).all()


def test_problems_are_evaluated_a_few_at_a_time_if_rows_are_many(monkeypatch):
    given = rows()
    lines = np.random.default_rng(1).normal(size=(len(LEFT_OUT), 5))
    _, value, gradient = evaluated(LOSSES[0], given, lines)
    monkeypatch.setattr(_pair_problems, "_MOST_SCORES", 1)
    _, other, other_gradient = evaluated(LOSSES[0], given, lines)
    np.testing.assert_allclose(value, other, rtol=1e-6)
    np.testing.assert_allclose(gradient, other_gradient, rtol=1e-4, atol=1e-6)


def test_a_loss_that_is_not_of_pairs_is_refused():
    with pytest.raises(TypeError, match="no kernel of pairs"):
        PairProblems(RowBatch(*rows()), [(Recipe(Logistic(), 1e-3), None)])
