"""
Maintain a summary of the last thirty days
==========================================

The rows of each day are summarised once, and the summary is stored in a file. A window of thirty
days is the sum of thirty files. To move the window, add the newest day and subtract the oldest one;
no row is read again.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from directrix import Moments

rng = np.random.default_rng(0)
names = ["amount", "age", "clock"]


def rows_of(day):
    """Return the transactions of one day. The mean of the clock column increases every day."""
    X = rng.normal(size=(5_000, 3)) * [40.0, 12.0, 0.3] + [55.0, 41.0, 86_400.0 * day]
    return X, rng.random(5_000) < 0.01


with TemporaryDirectory() as folder:
    for day in range(31):
        summary = Moments.of(*rows_of(day), feature_names=names)
        summary.save(Path(folder) / f"day{day:02}.moments")
    days = [Moments.load(path) for path in sorted(Path(folder).glob("*.moments"))]

window = sum(days[:30], start=Moments.empty(3))
print("days 0 to 29:", window)

moved = window + days[30] - days[0]
print("days 1 to 30:", moved)

again = sum(days[1:31], start=Moments.empty(3))
gap = np.abs(moved.positive.scatter / again.positive.scatter - 1).max()
print(f"relative difference to adding the thirty days again: {gap:.0e}")
