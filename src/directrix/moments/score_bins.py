r"""Bins of scores: of equal width between powers of two, so that their edges are exact everywhere.

The bin of a score s is read from the bits of :math:`1 + |s|`: its exponent and the first eight
binary digits after the point. Bins are 1/256 wide below 1, 1/128 from 1 to 3, 1/64 from 3 to 7,
and so on: fine where most scores are, and still apart in the tails. All edges are numbers of few
binary digits, and no function is evaluated that libraries round differently. So the same score is
in the same bin on every machine, and histograms of different machines may be added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray

#: Number of bins, as many for negative scores as for others; those at the ends have no outer edge.
BINS = 4096
_DIGITS = 8
_SHIFT = 52 - _DIGITS  # a float64 has 52 binary digits after the point
_LOWEST = 1023 << _DIGITS  # of 1.0, shifted
_HALF = BINS // 2


def bin_of(scores: AnyArray) -> IntArray:
    """Return the bin of each score; -0.0 and 0.0 are in the same one."""
    return bins_of_sums(np.asarray(scores, dtype=np.float64) + 0.0)


def bins_of_sums(scores: FloatArray, offset: AnyArray | int = 0) -> IntArray:
    """Return the bin of each score plus an offset, where no score is -0.0.

    Scores are overwritten. A sum is -0.0 only if both terms are: adding 0.0 to scores suffices.

    Parameters
    ----------
    scores : array of float64
    offset : int or array of int
        Added to the bins.
    """
    sizes = np.abs(scores)
    sizes += 1.0
    bins: IntArray = sizes.view(np.int64)
    bins >>= _SHIFT
    np.minimum(bins, _LOWEST + _HALF - 1, out=bins)
    bins -= _LOWEST
    signs = scores.view(np.int64)
    signs >>= 63
    bins ^= signs  # -1 - bin of a negative score
    bins += offset + _HALF
    return bins


def edges() -> FloatArray:
    """Return the BINS + 1 edges of the bins; the first and last are infinite."""
    inner = _inner_edges(_HALF)
    return np.concatenate([[-np.inf], -inner[:0:-1], inner, [np.inf]])


def centres() -> FloatArray:
    """Return the central score of each bin."""
    inner = _inner_edges(_HALF + 1)
    middle = (inner[1:] + inner[:-1]) / 2.0
    return np.concatenate([-middle[::-1], middle])


def _inner_edges(count: int) -> FloatArray:
    """Return the edges that are not negative, from zero."""
    octave, digit = np.divmod(np.arange(count), 1 << _DIGITS)
    lower: FloatArray = np.ldexp(1.0 + digit / (1 << _DIGITS), octave) - 1.0
    return lower
