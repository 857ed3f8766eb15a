import numpy as np
import pytest

from directrix.designs.structure import Structure, StructureRule

PLAIN = (Structure(0.1), Structure(0.01))
CROSSED = Structure(0.1, n_crosses=5)
AGAIN = Structure(0.1, reweighted=True)


def choice(tried, areas, error=0.0, **more):
    errors = np.full((len(tried), len(tried)), error)
    return tried[StructureRule(tried, errors, **more)(-np.array(areas))]


def test_the_best_ridge_is_taken():
    assert choice(PLAIN, [0.70, 0.71]) == PLAIN[1]


@pytest.mark.parametrize(
    ("richer", "gain", "error", "taken"),
    [
        (richer, *case)
        for richer, limit in ((CROSSED, 0.015), (AGAIN, 0.03))
        for case in (
            (0.0005, 0.0, False),
            (0.002, 0.0, True),
            (limit - 0.005, 0.015, False),
            (limit + 0.005, 0.015, True),
        )
    ],
)
def test_a_richer_card_must_gain_beyond_doubt(richer, gain, error, taken):
    chosen = choice((*PLAIN, richer), [0.7, 0.6, 0.7 + gain], error)
    assert chosen == (richer if taken else PLAIN[0])


def test_cards_of_few_columns_are_compared_with_one_another():
    few = tuple(Structure(0.1, n_columns=number) for number in (8, 4, 2))
    areas = [0.8, 0.8, 0.7, 0.6995, 0.6]
    assert choice((*PLAIN, *few), areas) == few[0]
    assert choice((*PLAIN, *few), areas, fewest_columns=True) == few[1]
