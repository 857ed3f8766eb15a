"""Pairwise bounds of the area under the ROC curve: squared hinge, square, logistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import fft

from directrix.losses._ranked import both_sides, scatter
from directrix.losses.base import Loss, require_both

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray


class _Pairwise(Loss):
    """Base class of convex pairwise losses without a sharpness."""

    convex: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = True

    def sharpen(self, level: float) -> Loss:  # noqa: ARG002
        """Return the loss itself, which has no sharpness."""
        return self


@dataclass(frozen=True)
class PairwiseSquaredHinge(_Pairwise):
    r"""One minus the area under the ROC curve, bounded by a squared hinge of every pair.

    .. math:: L(s) = \frac{1}{n_+ n_-} \sum_{i \in P} \sum_{j \in N}
              \omega_i \omega_j\, (m - s_i + s_j)_+^2

    Twice the square that `PairwiseHinge` rounds its corner with, without an end. It takes two
    sorts.

    Parameters
    ----------
    margin : float
        m, by which a positive should be above a negative.
    """

    name: ClassVar[str] = "pairwise_squared_hinge"
    runtime: ClassVar[str] = "O(n log n)"
    margin: float = 1.0

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the mean over pairs, and its partial derivative by every score."""
        n_pos, n_neg = require_both(positive, weight)
        above, below = both_sides(positive, scores, weight, self.margin)
        slope_pos = below.hinges(above.lack[0])(above.lack)
        slope_neg = above.hinges(below.lack[0])(below.lack)
        # The shortfall of a pair is the sum of the lacks of its two rows.
        total = (above.weight * above.lack) @ slope_pos + (below.weight * below.lack) @ slope_neg
        pairs = n_pos * n_neg
        return float(total) / pairs, scatter(above, below, slope_pos, slope_neg, pairs / 2.0)

    def pair_kernel(self, difference: FloatArray) -> FloatArray:
        """Return the squared hinge of the difference of two scores."""
        kernel: FloatArray = np.maximum(self.margin - difference, 0.0) ** 2
        return kernel

    @property
    def worst(self) -> float:
        """The square of the margin: the loss of a pair that is tied."""
        return self.margin**2


@dataclass(frozen=True)
class PairwiseSquare(_Pairwise):
    r"""One minus the area under the ROC curve, bounded by the square of every pair.

    .. math:: L(s) = \frac{1}{n_+ n_-} \sum_{i \in P} \sum_{j \in N}
              \omega_i \omega_j\, (m - s_i + s_j)^2
              = (m - \bar s_P + \bar s_N)^2 + \operatorname{var}_P s + \operatorname{var}_N s

    One pass and no sort; for a linear score it is a function of the class moments. It charges
    pairs that are in order by more than the margin, too.

    Parameters
    ----------
    margin : float
        m, by which a positive should be above a negative.
    """

    name: ClassVar[str] = "pairwise_square"
    margin: float = 1.0

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the mean over pairs, and its partial derivative by every score."""
        n_pos, n_neg = require_both(positive, weight)
        share_pos = np.where(positive, weight / n_pos, 0.0)
        share_neg = np.where(positive, 0.0, weight / n_neg)
        mean_pos, mean_neg = float(share_pos @ scores), float(share_neg @ scores)
        off_pos, off_neg = scores - mean_pos, scores - mean_neg
        short = self.margin - mean_pos + mean_neg
        spread = share_pos @ (off_pos * off_pos) + share_neg @ (off_neg * off_neg)
        slope = share_pos * (off_pos - short) + share_neg * (off_neg + short)
        return short * short + float(spread), 2.0 * slope

    def pair_kernel(self, difference: FloatArray) -> FloatArray:
        """Return the square of what the difference of two scores lacks to the margin."""
        kernel: FloatArray = (self.margin - difference) ** 2
        return kernel

    @property
    def worst(self) -> float:
        """The square of the margin: the loss of a pair that is tied."""
        return self.margin**2


@dataclass(frozen=True)
class PairwiseLogistic(_Pairwise):
    r"""One minus the area under the ROC curve, bounded by the logistic loss of every pair.

    .. math:: L(s) = \frac{1}{n_+ n_-} \sum_{i \in P} \sum_{j \in N}
              \omega_i \omega_j \log(1 + e^{s_j - s_i})

    No way is known to sum it without visiting all pairs, so every score is shared between its two
    neighbours on a grid of ``bins`` nodes over the range of the scores, and the nodes are paired by
    a Fourier transform. With h, the distance of two nodes, the value is too great by
    :math:`h^2 / 16` at most, and the gradient is that of the binned value on a grid that stays.
    The grid follows the lowest and the highest score: between two calls it moves, and a line search
    sees values that are off by up to :math:`h^2 / 16`. Within that it is also convex.

    Parameters
    ----------
    bins : int
        Number of nodes of the grid.
    """

    exact: ClassVar[bool] = False
    name: ClassVar[str] = "pairwise_logistic"
    runtime: ClassVar[str] = "O(n + B log B), binned"
    bins: int = 2048

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the mean over pairs, and its partial derivative by every score."""
        if self.bins < 2:
            msg = f"bins must be two at least, not {self.bins!r}"
            raise ValueError(msg)
        n_pos, n_neg = require_both(positive, weight)
        counted = scores[weight > 0]
        low = float(counted.min())
        step = (float(counted.max()) - low) / (self.bins - 1) or 1.0
        position = np.clip((scores - low) / step, 0.0, self.bins - 1.0)
        node = np.minimum(position.astype(np.int64), self.bins - 2)
        position -= node
        share_pos = np.where(positive, weight / n_pos, 0.0)
        share_neg = np.where(positive, 0.0, weight / n_neg)
        on_pos, on_neg = (self._on_grid(node, position, share) for share in (share_pos, share_neg))
        kernel = np.logaddexp(0.0, step * np.arange(1.0 - self.bins, self.bins))
        # Row i of the grid against all negatives, and row j against all positives.
        of_pos = _convolve(on_neg, kernel[::-1])
        of_neg = _convolve(on_pos, kernel)
        of_pos, of_neg = (of[self.bins - 1 : 2 * self.bins - 1] for of in (of_pos, of_neg))
        slope = share_pos * np.diff(of_pos)[node] + share_neg * np.diff(of_neg)[node]
        return float(on_pos @ of_pos), slope / step

    def _on_grid(self, node: AnyArray, position: FloatArray, share: FloatArray) -> FloatArray:
        """Return the weight of the rows that every node stands for."""
        right = share * position
        on_grid: FloatArray = np.bincount(node, share - right, self.bins)  # type: ignore[assignment]
        on_grid += np.bincount(node + 1, right, self.bins)
        return on_grid

    def pair_kernel(self, difference: FloatArray) -> FloatArray:
        """Return the logistic loss of the difference of two scores."""
        return np.logaddexp(0.0, -difference)

    def rounding(self, scores: FloatArray) -> float:
        """Return h² / 16, the most that the value may be above its formula."""
        return (float(np.ptp(scores)) / (self.bins - 1)) ** 2 / 16.0

    @property
    def worst(self) -> float:
        """The logarithm of two: the loss of a pair that is tied."""
        return float(np.log(2.0))


def _convolve(values: FloatArray, kernel: FloatArray) -> FloatArray:
    """Return the full linear convolution, by a Fourier transform.

    `scipy.signal.fftconvolve` gives the same bits, but importing `scipy.signal` takes longer.
    """
    length = len(values) + len(kernel) - 1
    size = fft.next_fast_len(length, real=True)
    product = fft.rfft(values, size) * fft.rfft(kernel, size)
    convolved: FloatArray = fft.irfft(product, size)[:length]
    return convolved
