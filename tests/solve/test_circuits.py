from fractions import Fraction

import numpy as np
import pytest
from margin_problems import turned_rows

from directrix.solve.papers.hitting_set import Circuits, as_integers, cancel_exactly
from directrix.solve.papers.vertex import merge_rows


def test_every_circuit_cancels():
    rng = np.random.default_rng(1)
    merged = merge_rows(np.round(4 * turned_rows(rng, 60, 3, shift=0.2)), None)
    whole = as_integers(merged.raw)
    circuits = Circuits(np.ascontiguousarray(merged.rows))
    sets = circuits.minimize_cost(rng.random(60)) + circuits.search_cheap_sets(rng.random(60), rng)
    assert len(sets) > 10
    assert all(cancel_exactly([whole[i] for i in s]) for s in sets)
    dropped = sets[-1][1:]
    assert not cancel_exactly([whole[i] for i in dropped])


def test_the_program_finds_what_is_cheap():
    rng = np.random.default_rng(2)
    rows = merge_rows(turned_rows(rng, 40, 2, shift=0.2), None).rows
    circuits = Circuits(np.ascontiguousarray(rows))
    costs = np.ones(40)
    costs[circuits.minimize_cost(rng.random(40))[-1]] = 0.0
    assert costs[circuits.minimize_cost(costs)[-1]].sum() == 0.0


@pytest.mark.parametrize(
    ("rows", "cancel"),
    [
        ([[1, 0], [0, 1], [-2, -3]], True),
        ([[1, 0], [0, 1], [2, 3]], False),
        ([[3, 4], [-6, -8]], True),
        ([[3, 4], [6, 8]], False),
        ([[1, 0], [0, 1]], False),
        ([[1, 0], [-1, 0], [0, 1]], False),  # the last has no share
        ([[1, 0], [-1, 0], [0, 1], [0, -1]], False),  # two dependences
        ([[10**30, 1], [-(10**30), -1]], True),
        ([[10**30, 1], [-(10**30), -2]], False),
    ],
)
def test_cancelling_is_exact(rows, cancel):
    assert cancel_exactly(rows) is cancel


def test_rows_become_whole():
    rows = np.array([[0.1, -3.5], [1e-300, 1e300], [0.0, 7.0]])
    for row, whole in zip(rows, as_integers(rows), strict=True):
        factor = {Fraction(w) / Fraction(float(x)) for x, w in zip(row, whole, strict=True) if x}
        assert len(factor) == 1
        assert factor.pop() > 0
