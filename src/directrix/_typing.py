"""Array type aliases, and the conventions that all modules follow.

Labels
    The positive class is the last of two sorted labels: 1 of {0, 1}, +1 of {−1, +1}, "yes" of
    {"no", "yes"}.
Rows
    ``X`` has shape (n, d), one row for each example. Sums are always kept in float64.
Coefficients
    A coefficient vector has length d + 1, with the intercept last. The score of a row x is
    ``coef[:-1] @ x + coef[-1]``, and a row is predicted positive if its score is above zero.
Weights
    Sample weights are finite and never negative. They say how much a row counts: sums count a row
    of weight k as k rows, and a row is held out, or set apart, as a whole. A row of weight zero is
    ignored.
Covariance
    A covariance is the scatter divided by the total weight, not by the total weight minus one.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
AnyArray: TypeAlias = NDArray[Any]
