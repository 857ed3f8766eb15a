"""Double-double arithmetic on vectors: ``value = high + low`` holds about 32 digits.

Means are stored this way. At mean/std = 1e5 one float64 holds the mean to 1e-11 standard
deviations, and the squared difference of two such means makes the eleventh digit of a merged
scatter wrong. With the low part, differences of means are as accurate as if the rows had been
centred first.

The error-free sum is Knuth's and the error-free product Dekker's. They are written out here because
NumPy has neither of them, nor a fused multiply-add, for arrays.
"""

import numpy as np

from directrix._typing import FloatArray

_SPLITTER = 2.0**27 + 1.0  # Veltkamp's constant: splits 53 bits into two factors of 26


def exact_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``high, low`` with ``high = fl(a + b)`` and ``high + low = a + b`` exactly."""
    high = a + b
    b_rounded = high - a
    return high, (a - (high - b_rounded)) + (b - b_rounded)


def exact_product(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ``high, low`` with ``high = fl(a b)`` and ``high + low = a b`` exactly.

    Exact for magnitudes between about 1e-140 and 1e290; outside, the low part is dropped.
    """
    high = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    low = ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low
    return high, np.where(np.isfinite(low), low, 0.0)


def affine(
    value: tuple[FloatArray, FloatArray],
    scale: FloatArray,
    center: FloatArray,
    offset: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return ``scale (value − center) + offset`` as a high and a low part."""
    high, low = value
    moved, moved_low = exact_sum(high, -center)
    scaled, scaled_low = exact_product(moved, scale)
    total, total_low = exact_sum(scaled, offset)
    return exact_sum(total, total_low + scaled_low + (moved_low + low) * scale)


def _split(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split floats into two halves of 26 bits each (Veltkamp)."""
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = _SPLITTER * a
        high = scaled - (scaled - a)
    return high, a - high
