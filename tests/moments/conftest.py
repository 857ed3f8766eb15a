"""A summary file to read, change and refuse."""

from dataclasses import replace

import numpy as np
import pytest

from directrix import Moments

X = np.array(
    [[1.5, -2.0, 0.1], [0.3, 7.0, 0.2], [-4.0, 1.0, 0.3], [2.0, 2.0, 0.7], [9.0, -1.0, 0.4]]
)
Y = [0, 1, 1, 0, 1]
WEIGHT = [0.5, 1.0, 2.0, 0.1, 3.0]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some.moments"


@pytest.fixture
def saved(path):
    """A file with two classes, three folds, names, weights and a prior."""
    moments = Moments.of(
        X, Y, WEIGHT, feature_names=["a", "b", "c"], fold=[0, 0, 0, 1, 2], classes=[0, 1, 2]
    )
    replace(moments, stated_prior=0.25).save(path)
    return path
