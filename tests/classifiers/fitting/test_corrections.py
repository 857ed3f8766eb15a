import numpy as np
import pytest

from directrix import DirectClassifier
from directrix.designs.sources import NumberSource
from directrix.engines import HashFolds
from directrix.engines.base import run
from directrix.engines.column_roles import ColumnRoles
from directrix.engines.tasks import ModelSlopes, NumberFeatures, Score
from directrix.fitting.fit_source import LossSlopes
from directrix.losses import BetaBernoulli, Logistic
from directrix.objectives import DataObjective

N, D = 3000, 4


def rows(n=N, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, D)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 50.0, 1.0, -2.0]
    X[:, 0] += 1.2 * y
    X[:, 1] -= 8.0 * y
    return X, y


@pytest.mark.parametrize("without", [(), (1,), (0, 2)])
def test_gradients_in_blocks_are_those_of_the_objective_in_memory(without):
    X, y = rows()
    fold = np.arange(N) % 3
    weight = 1.0 + np.arange(N) % 2
    lines = np.random.default_rng(1).normal(size=(2, D + 1)) / 10.0
    losses, factors = [Logistic(), BetaBernoulli(mixing=0.3)], np.array([[1.0, 1.0], [0.5, 2.0]])
    chunks = [(X[part], y[part], weight[part], fold[part]) for part in np.split(np.arange(N), 5)]
    slopes = [ModelSlopes(LossSlopes(lines, losses, factors, without))]
    task = Score(NumberFeatures(D), positive=True, slopes=slopes)
    (sums,) = run(chunks, ColumnRoles.of(target=None), task, progress=False).gradients
    kept = ~np.isin(fold, without)
    for k, loss in enumerate(losses):
        effective = weight[kept] * factors[k, y[kept].astype(int)]
        expected = DataObjective(X[kept], y[kept], effective, loss)(lines[k])[1]
        # Sums of thousands of float64 terms.
        np.testing.assert_allclose(sums[k] / effective.sum(), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore:logistic regression is as good")
def test_corrections_of_a_small_sample_come_near_the_fit_of_all_rows(monkeypatch):
    monkeypatch.setattr(NumberSource, "most_rows", 60)
    X, y = rows(20_000)
    new, labels = rows(50_000, seed=1)
    table = np.column_stack([X, y])

    def errors(refine):
        model = DirectClassifier("error").fit_source(
            table, target=D, fold=HashFolds(3), refine=refine, progress=False
        )
        names = [tried.name for tried in model.report_.tried]
        return np.mean(model.predict(new) != labels), names

    plain, names = errors(0)
    corrected, more = errors(2)
    assert not [name for name in names if "correction" in name]
    assert [name for name in more if "2 corrections by all rows" in name]
    assert corrected <= plain + 0.002  # held-out rows choose, so that it is hardly ever worse


@pytest.mark.parametrize("refine", [-1, 1.5, True, "two"])
def test_a_number_of_corrections_is_a_whole_number(refine):
    X, y = rows(100)
    with pytest.raises(ValueError, match="refine must be a whole number"):
        DirectClassifier().fit_source(np.column_stack([X, y]), target=D, refine=refine)
