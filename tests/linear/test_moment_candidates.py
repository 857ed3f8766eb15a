import numpy as np
import pytest

from directrix import Moments
from directrix.linear.moment_frontier import SHRINKAGES, MomentLines, moment_candidates


def rows(n=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    X = rng.normal(size=(n, 3)) * np.where(y, 1.0, 2.0)[:, None]
    X[:, 0] += 1.5 * y
    return X, y, rng.uniform(0.5, 2.0, n), np.arange(n) % 4


@pytest.fixture(scope="module")
def candidates():
    X, y, weight, fold = rows()
    return moment_candidates(Moments.of(X, y, weight, fold=fold), X, y, weight, fold)


def test_each_shrinkage_has_as_many_lines_and_each_a_name(candidates):
    per_shrinkage = len(candidates) // len(SHRINKAGES)
    names = [candidate.name for candidate in candidates]
    assert len(set(names)) == len(names)
    for k, shrinkage in enumerate(SHRINKAGES):
        text = shrinkage if isinstance(shrinkage, str) else f"{shrinkage:.2g}"
        block = names[k * per_shrinkage : (k + 1) * per_shrinkage]
        assert all(f"shrinkage {text}, trade-off" in name for name in block)


def test_a_refit_to_other_rows_is_the_same_line_of_their_moments(candidates):
    X, y, weight, _ = rows(900, seed=1)
    lines = MomentLines.of(Moments.of(X, y, weight), SHRINKAGES).lines
    for index in range(0, len(candidates), len(candidates) // 7):
        refit = candidates[index].refit(X, y, weight)
        ratio = refit[:-1] / lines[index][:-1]  # on another scale
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
