"""Candidates in closed form of counts, made without the rows that they are compared on."""

import numpy as np
import pytest
from card_sources import FEATURES, frame

from directrix import Binner
from directrix.designs.counted import counted_candidates
from directrix.metrics import AUC
from directrix.tables import BinCounts

BINNER = Binner().fit(frame()[FEATURES])
FOLD = np.random.default_rng(0).integers(0, 4, len(frame()))


def made(y=None, n_folds=3):
    """Return the candidates of counts of four folds, the last of which is set apart."""
    y = frame()["y"] if y is None else y
    counts = BinCounts.of(BINNER, frame()[FEATURES], y, fold=FOLD)
    return counted_candidates(AUC(), counts, "yes", [], n_folds)[1]


def test_lines_have_not_seen_the_rows_they_are_tested_on():
    before = {each.name: each for each in made()}
    for number in (0, 1, 2):
        changed = (number == FOLD) & (frame()["id"] % 10 == 0)
        y = frame()["y"].mask(changed, np.where(frame()["y"] == "yes", "no", "yes"))
        after = {each.name: each for each in made(y)}
        shared = before.keys() & after.keys()
        assert shared
        for name in shared:
            pair = before[name].fold_lines, after[name].fold_lines
            np.testing.assert_allclose(pair[0][number], pair[1][number], rtol=1e-6, atol=1e-9)
            assert not np.allclose(before[name].line, after[name].line)


def test_a_fold_that_is_set_apart_is_never_seen():
    y = frame()["y"].where(FOLD != 3, np.where(frame()["id"] % 2 == 0, "yes", "no"))
    for first, second in zip(made(), made(y), strict=True):
        assert first.name == second.name
        np.testing.assert_allclose(first.line, second.line, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(first.fold_lines, second.fold_lines, rtol=1e-6, atol=1e-9)


def test_the_simplest_candidate_is_always_among_them():
    assert min(each.complexity for each in made()) == 0.0
    assert len({each.name for each in made()}) == len(made())
    assert all("bin counts of all rows" in each.name for each in made())


@pytest.mark.parametrize("n_folds", [4, 5])
def test_a_fold_without_rows_of_a_class_is_refused(n_folds):
    y = frame()["y"].where(FOLD != 3, "no")
    with pytest.raises(ValueError, match="fold 3 has no rows of one class"):
        made(y, n_folds)
