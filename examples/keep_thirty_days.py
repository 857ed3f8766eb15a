"""
Keep thirty days, forget the thirty-first
=========================================

Each day's rows are summarised once and the summary is stored. A window of thirty days is the sum
of thirty files; tomorrow's window adds a day and takes one out, and no row is read again.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from directrix import Moments

rng = np.random.default_rng(0)
names = ["amount", "age", "clock"]


def rows_of(day):
    """Return the transactions of a day; the clock runs on, so its mean drifts."""
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
print(f"against adding the thirty days up afresh: relative difference {gap:.0e}")
