"""Counts are combined by class and fold, whichever of them each side has."""

import numpy as np
import pytest

from directrix import Binner
from directrix.exceptions import DifferentBinsError
from directrix.moments import BinCounts

X = np.arange(12.0).reshape(6, 2)
BINNER = Binner(min_rows=1).fit(X)


def of(y, fold=None, index=slice(None)):
    return BinCounts.of(BINNER, X[index], np.asarray(y)[index], fold=fold)


def test_classes_are_united():
    total = of(["a"] * 6) + of(["c", "b"] * 3)
    assert total.classes.tolist() == ["a", "b", "c"]
    assert [part.weight for part in total.parts[0]] == [6, 3, 3]
    with pytest.raises(TypeError, match="text labels"):
        of(["a"] * 6) + of([1] * 6)


def test_folds_are_padded():
    a, b = of([0, 1] * 3, np.zeros(6, int)), of([0, 1] * 3, np.full(6, 2))
    assert (a + b).n_folds == 3
    assert (a + b).folds[1].count == 0
    assert (a + b).folds[0].count == 6
    assert a + BinCounts.empty(BINNER) == a
    with pytest.raises(ValueError, match="give both `fold=`"):
        a + of([0, 1] * 3)


def test_a_binner_of_an_array_is_not_one_of_a_frame():
    import pandas as pd

    frame = pd.DataFrame(X, columns=["x0", "x1"])
    named = BinCounts.empty(Binner(min_rows=1).fit(frame))
    with pytest.raises(DifferentBinsError, match="'x0'"):
        named + BinCounts.empty(BINNER)


def test_only_counts_can_be_added():
    with pytest.raises(TypeError):
        of([0, 1] * 3) + 1
    with pytest.raises(TypeError):
        of([0, 1] * 3) - 1
    assert of([0, 1] * 3) != 1
