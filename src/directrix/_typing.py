"""Array aliases, and the conventions every module keeps, written once.

Labels
    Of two classes the positive one is the last of the sorted labels: 1 of {0, 1}, +1 of {−1, +1},
    "yes" of {"no", "yes"}. More classes are taken one against the rest.
Rows
    ``X`` has shape (n, d), one row for each example. Whatever the input, sums are kept in float64.
Coefficients
    A coefficient vector has length d + 1 and keeps the intercept last: the score of a row x is
    ``coef[:-1] @ x + coef[-1]``, and a row is predicted positive where its score is above zero.
Weights
    Weights are finite and never negative. A whole-number weight k means the row counted k times;
    weight zero means the row is absent.
Covariance
    Divides by the total weight, not by the total weight minus one.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
AnyArray: TypeAlias = NDArray[Any]
