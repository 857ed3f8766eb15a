"""Days of rows for the tests of monitoring: skewed and discrete columns, text labels."""

import numpy as np

NAMES = ["amount", "age", "count", "other"]


class Days:
    """Draws days of rows with a share of positives and, if asked for, drift of a column."""

    def __init__(self, seed=0, labels=("bad", "good"), positive="bad"):
        self.rng = np.random.default_rng(seed)
        self.positive = positive
        self.negative = next(label for label in labels if label != positive)

    def __call__(self, n, share, drift=0.0):
        rng = self.rng
        y = rng.random(n) < share
        X = np.column_stack(
            [
                np.exp(0.5 * rng.normal(size=n)) + 0.8 * y,
                rng.normal(size=n) + y,
                rng.poisson(1 + y),
                rng.normal(size=n) + drift,
            ]
        )
        return X, np.where(y, self.positive, self.negative)
