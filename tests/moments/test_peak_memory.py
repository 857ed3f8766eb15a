"""Memory is a block's, not the rows'."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource
import numpy as np
from directrix import Moments

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * {unit}

rng = np.random.default_rng(0)
Moments.of(rng.normal(size=(1000, 54)), rng.integers(0, 2, 1000))  # loads what it needs
X = np.empty((1_000_000, 54), order="{order}")
for start in range(0, len(X), 10_000):  # in pieces, so that making the rows hides nothing
    X[start : start + 10_000] = 3.0 + rng.standard_normal((10_000, 54))
y, fold = rng.integers(0, 2, len(X)), rng.integers(0, 10, len(X))
before = peak()
Moments.of(X, y, fold=fold if {folds} else None)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no resource module")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("folds", [False, True])
def test_a_million_rows_take_less_than_100_megabytes_extra(order, folds, figure):
    unit = 1 if sys.platform == "darwin" else 1024
    program = PROGRAM.format(order=order, folds=folds, unit=unit)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True
    )
    extra = int(done.stdout) / 1e6
    assert extra <= 100
    figure(
        f"peak memory over the array itself, 1e6 x 54 float64 rows, {order} order, "
        f"{'10 folds' if folds else 'no folds'}: {extra:.0f} MB (<= 100)"
    )
