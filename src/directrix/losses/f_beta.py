"""Two convex bounds of F_β: by a concave envelope of its counts, and by ordered positives."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from scipy.optimize import isotonic_regression

from directrix._typing import AnyArray, FloatArray
from directrix.losses.base import Loss, require_above_zero, require_both, require_width

_MOST_STEPS = 200
_LEAST = 1e-300


class _FBeta(Loss):
    """Base class: one minus F_β of the labels that are worst for the scores."""

    convex: ClassVar[bool] = True

    beta: float
    kappa: float
    margin: float

    @abstractmethod
    def _oracle(self, wrong: _Rows, false_alarm: _Rows) -> tuple[float, FloatArray, FloatArray]:
        """Return the loss, and how wrong every positive and negative is at its maximum."""

    def value_and_grad(
        self, positive: AnyArray, scores: FloatArray, weight: FloatArray
    ) -> tuple[float, FloatArray]:
        """Return the loss, and its partial derivatives: −ωβ/n₊ of positives, ωβ/n₊ of negatives."""
        require_width(self.kappa)
        require_above_zero(beta=self.beta)
        n_pos, n_neg = require_both(positive, weight)
        scores = np.asarray(scores, dtype=np.float64)
        width = self.kappa * n_pos / (n_pos + n_neg)
        share = weight / n_pos
        rows = np.flatnonzero(positive), np.flatnonzero(~positive)
        sides = [
            _Rows(sign * scores[members], share[members], width)
            for members, sign in zip(rows, (-1.0, 1.0), strict=True)
        ]
        value, *wrong = self._oracle(*sides)
        gradient = np.empty(len(scores))
        gradient[rows[0]] = -sides[0].share * wrong[0]
        gradient[rows[1]] = sides[1].share * wrong[1]
        return value, gradient

    def sharpen(self, level: float) -> Self:
        """Return the loss with narrower corners."""
        return self._with(kappa=self.kappa / level)

    def gap(self, positive: AnyArray, weight: FloatArray) -> float:  # noqa: ARG002
        """Return how far below the unsmoothed loss it may be: κ / 2."""
        return self.kappa / 2.0

    @property
    def worst(self) -> float:
        """The margin, by which one minus F_β is multiplied."""
        return self.margin


@dataclass(frozen=True)
class _Rows:
    """Rows of a class: what a wrong label would gain, and the weight over n₊, of every row."""

    gain: FloatArray
    share: FloatArray
    width: float

    def wrong(self, price: float) -> FloatArray:
        """Return how wrong every row is if a wrong label gains ``price`` more."""
        if self.width == 0:
            return (self.gain + price > 0).astype(np.float64)
        return np.clip((self.gain + price) / self.width, 0.0, 1.0)

    def worth(self, wrong: FloatArray) -> float:
        """Return what these labels gain, smoothed."""
        return float((self.share * wrong) @ (self.gain - 0.5 * self.width * wrong))


@dataclass(frozen=True)
class FBetaEnvelope(_FBeta):
    r"""Convex bound of one minus F_β, by the concave envelope of a function of two counts.

    .. math:: L(s) = \max_{0 \le \beta \le 1} \Big[ m \hat\Delta(b, c)
              + \frac1{n_+} \Big( \sum_{j \in N} \omega_j s_j \beta_j
              - \sum_{i \in P} \omega_i s_i \beta_i \Big)
              - \frac\kappa{2n} \sum_i \omega_i \beta_i^2 \Big], \qquad
              b = \sum_{i \in P} \omega_i \beta_i, \quad c = \sum_{j \in N} \omega_j \beta_j

    (Zhang, Saha and Vishwanathan 2011, eq. 2, 8 and 13, for F_β, which they leave open.) b and c
    are the misses and false alarms. One minus F_β is convex in b, so its greatest mean over
    labellings is not a function of b and c; with r = n₊ − b and K = 1 + β² the least concave
    function above it is

    .. math:: \hat\Delta(b, c) = \begin{cases} 1 - K r^2 / (n_+ (K r + c)) & c\, n_+ \le r\, n_- \\
              1 - K r / (K n_+ + n_-) & \text{elsewhere} \end{cases}

    Its partial derivatives depend on c/r alone: one root, after two sorts. A corner is as wide as
    κ n₊/n, so that the loss is below the unsmoothed one by at most κ / 2 at any prior. A row is
    taken to be positive where its score is above zero: it needs an intercept.

    Its `Ramp` tends to :math:`\hat\Delta` of the counts, which is *not* one minus F_β but above it
    (the share of misses where there are no false alarms); that of `FBetaIsotonic` does.

    Parameters
    ----------
    beta : float
        How many times as important recall is as precision.
    kappa : float
        κ, twice the most that smoothing takes off; 0 has corners.
    margin : float
        m.
    """

    name: ClassVar[str] = "f_envelope"
    runtime: ClassVar[str] = "O(n log n)"
    tends_above: ClassVar[bool] = True
    beta: float = 1.0
    kappa: float = 0.01
    margin: float = 1.0

    def _oracle(self, wrong: _Rows, false_alarm: _Rows) -> tuple[float, FloatArray, FloatArray]:
        misses, alarms = (_WrongWeight(rows, self.margin) for rows in (wrong, false_alarm))
        odds = float(false_alarm.share.sum())

        def excess(at: float) -> float:
            price_pos, price_neg = self._prices(at, odds)
            return alarms(price_neg) - min(at, odds) * (1.0 - misses(price_pos))

        low, high, part = _crossing(excess, 0.0, odds + 1.0)
        pairs = zip(self._prices(low, odds), self._prices(high, odds), strict=True)
        labels = [
            part * rows.wrong(at_low) + (1.0 - part) * rows.wrong(at_high)
            for rows, (at_low, at_high) in zip((wrong, false_alarm), pairs, strict=True)
        ]
        missed, alarmed = float(wrong.share @ labels[0]), float(false_alarm.share @ labels[1])
        value = self.margin * self._envelope(1.0 - missed, alarmed, odds)
        value += wrong.worth(labels[0]) + false_alarm.worth(labels[1])
        return value, labels[0], labels[1]

    def _prices(self, at: float, odds: float) -> tuple[float, float]:
        """Return the slopes of Δ̂ by misses and false alarms, times n₊, along its one path."""
        both = 1.0 + self.beta**2
        ratio, end = min(at, odds), max(at - odds, 0.0)
        price_pos = both * (both + 2.0 * ratio) / (both + ratio) ** 2
        price_neg = both / (both + ratio) ** 2
        price_pos += end * (both / (both + odds) - price_pos)
        return self.margin * price_pos, self.margin * (1.0 - end) * price_neg

    def _envelope(self, caught: float, alarmed: float, odds: float) -> float:
        """Return Δ̂, of counts over n₊."""
        both = 1.0 + self.beta**2
        if caught <= 0:
            return 1.0
        if alarmed <= caught * odds:
            return 1.0 - both * caught**2 / (both * caught + alarmed)
        return 1.0 - both * caught / (both + odds)


class _WrongWeight:
    """The weight of the wrong labels of a class as a function of their price, from one sort."""

    def __init__(self, rows: _Rows, most: float) -> None:
        # Rows further away are wrong, or right, at any price.
        gain = np.clip(rows.gain, -most, rows.width)
        order = np.argsort(gain)
        self.gain, share = gain[order], rows.share[order]
        self.width = rows.width
        self.share = np.append(0.0, np.cumsum(share))
        self.gains = np.append(0.0, np.cumsum(share * self.gain))

    def __call__(self, price: float) -> float:
        """Return the weight of the wrong labels."""
        start, full = np.searchsorted(self.gain, (-price, self.width - price), side="right")
        weight = float(self.share[-1] - self.share[full])
        if self.width == 0:
            return weight
        inside = self.gains[full] - self.gains[start]
        inside += price * (self.share[full] - self.share[start])
        return weight + float(inside) / self.width


@dataclass(frozen=True)
class FBetaIsotonic(_FBeta):
    r"""Tighter convex bound of one minus F_β: the misses are counted exactly.

    .. math:: L(s) = \min_\nu \max_{0 \le \beta \le 1,\; p} \Big[
              \sum_k p_k \max_{0 \le c \le n_-} \big( m \Delta(b_k, c) - \nu c \big)
              + \sum_{j \in N} \omega_j \beta_j \big( \tfrac{s_j}{n_+} + \nu \big)
              - \frac1{n_+} \sum_{i \in P} \omega_i s_i \beta_i
              - \frac\kappa{2n} \sum_i \omega_i \beta_i^2 \Big], \qquad
              \Delta(b, c) = \frac{\beta^2 b + c}{(1 + \beta^2) n_+ - b + c}

    (Zhang, Saha and Vishwanathan 2011, eq. 2, 8 and 13, for F_β, which they leave open.) The
    positives are missed in the order of their scores, :math:`b_k` are their cumulative weights and
    :math:`p_k` the chance that just the lowest k are; only the false alarms are replaced by their
    mean. For a given ν it is an isotonic regression. Never above `FBetaEnvelope`, never below the
    bound without smoothing that maximises over all labellings; slower, with a regression for each
    of some tens of ν. The width of each corner is κ n₊/n, so that the loss is below the
    unsmoothed one by at most κ / 2. It needs an intercept.

    Its `Ramp` tends to one minus F_β.

    Parameters
    ----------
    beta : float
        How many times as important recall is as precision.
    kappa : float
        κ, twice the most that smoothing takes off; 0 has corners.
    margin : float
        m.
    """

    name: ClassVar[str] = "f_isotonic"
    runtime: ClassVar[str] = "O(n log n)"
    beta: float = 1.0
    kappa: float = 0.01
    margin: float = 1.0

    def _oracle(self, wrong: _Rows, false_alarm: _Rows) -> tuple[float, FloatArray, FloatArray]:
        order = np.argsort(-wrong.gain)
        order = order[wrong.share[order] > 0]
        misses = _Rows(wrong.gain[order], wrong.share[order], wrong.width)
        missed = np.append(0.0, np.cumsum(misses.share))
        caught = np.maximum(1.0 - missed / missed[-1], 0.0)
        odds = float(false_alarm.share.sum())

        def at_price(price: float) -> tuple[FloatArray, FloatArray, float]:
            alarms, most = self._alarms(caught, price, odds)
            labels = _in_order(misses, np.diff(most))
            chance = -np.diff(labels, prepend=1.0, append=0.0)
            return labels, chance, float(chance @ alarms)

        def excess(price: float) -> float:
            return at_price(price)[2] - float(false_alarm.share @ false_alarm.wrong(price))

        # No false alarm gains more than this: the greatest K r / (β² + r)² of r up to one.
        square = self.beta**2
        highest = (1.0 + square) / (4.0 * square) if square < 1 else 1.0 / (1.0 + square)
        low, high, part = _crossing(excess, 0.0, self.margin * highest)
        labels = part * at_price(low)[0] + (1.0 - part) * at_price(high)[0]
        alarms = part * false_alarm.wrong(low) + (1.0 - part) * false_alarm.wrong(high)
        price = part * low + (1.0 - part) * high
        most = self._alarms(caught, price, odds)[1]
        chance = -np.diff(labels, prepend=1.0, append=0.0)
        value = float(chance @ most) + misses.worth(labels) + false_alarm.worth(alarms)
        value += price * float(false_alarm.share @ alarms)
        every = np.zeros(len(wrong.gain))
        every[order] = labels
        return value, every, alarms

    def _alarms(
        self, caught: FloatArray, price: float, odds: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the worst number of false alarms at a price, and the loss minus their price."""
        square = self.beta**2
        both = 1.0 + square
        best = np.sqrt(self.margin * both * caught / max(price, _LEAST)) - square - caught
        alarms = np.clip(best, 0.0, odds)
        return alarms, self.margin * (1.0 - both * caught / (square + caught + alarms)) - (
            price * alarms
        )


def _in_order(rows: _Rows, steps: FloatArray) -> FloatArray:
    """Return how wrong every row is, if no row may be more wrong than the one before it."""
    gain = rows.gain + steps / rows.share
    if rows.width == 0:
        total = np.append(0.0, np.cumsum(rows.share * gain))
        return (np.arange(len(gain)) < np.argmax(total)).astype(np.float64)
    even: FloatArray = isotonic_regression(gain, weights=rows.share, increasing=False).x
    return np.clip(even / rows.width, 0.0, 1.0)


def _crossing(
    function: Callable[[float], float], low: float, high: float
) -> tuple[float, float, float]:
    """Return where a decreasing function crosses zero: an interval, and the weight of its low end.

    The function may jump. The two ends are adjacent floats or nearly so, and the mean of the
    function at both ends, with the weight returned, is zero.
    """
    at_low, at_high = function(low), function(high)
    if at_low <= 0:
        return low, low, 1.0
    if at_high >= 0:
        return high, high, 1.0
    for step in range(_MOST_STEPS):
        # The secant where it helps; every other step halves what is left.
        middle = low + (high - low) * (at_low / (at_low - at_high) if step % 2 else 0.5)
        if not low < middle < high:
            middle = 0.5 * (low + high)
        if not low < middle < high:
            break
        at_middle = function(middle)
        if at_middle == 0:
            return middle, middle, 1.0
        if at_middle > 0:
            low, at_low = middle, at_middle
        else:
            high, at_high = middle, at_middle
    return low, high, at_high / (at_high - at_low)
