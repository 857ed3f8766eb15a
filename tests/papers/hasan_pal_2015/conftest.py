import numpy as np
import pytest
from margin_problems import Sigmoids, turned_rows


@pytest.fixture
def problem():
    rows = turned_rows(np.random.default_rng(0), 120, 3)
    rows[:8] *= -15.0
    return Sigmoids(rows)
