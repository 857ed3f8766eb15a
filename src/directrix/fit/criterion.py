"""What candidates are chosen by: the metric, as far as the rows know it, else the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.metrics import AUC
from directrix.metrics.base import Curve, CurveStack, Metric
from directrix.metrics.jitter import jittered

#: Standard errors of a threshold's place among the rows, over which a metric is averaged.
_JITTER = 2.0
#: Variances of noise that the square of a difference must exceed to count at all.
_NOISE = 2.0
#: Rows of the smaller class with which a standard error over folds is taken for twice as large.
_FEW_ROWS = 30.0
#: Folds that tell what noise is; on fewer, the metric alone decides.
_FEWEST_FOLDS = 3


@dataclass(frozen=True)
class Criterion:
    r"""What candidates are chosen by: the metric, as far as the rows know it, else the ranking.

    The best of many candidates by a metric at one threshold is the luckiest if few rows are near
    it. So the metric is averaged over the jitter of its threshold (J, see `metrics.jitter`), and
    compared with what the area A under the ROC curve says, which all rows know:

    .. math:: R = c + (2 A - 1) (p - c)

    is the area in units of the metric, c the metric of scores that know nothing and p that of
    perfect ones. How much more a candidate k gains in the metric than in its ranking, compared with
    the simplest candidate 0, counts as far as it exceeds its standard error s over folds (the
    positive part of James and Stein 1961):

    .. math:: C_k = R_k + D_0 + \lambda_k (D_k - D_0), \qquad D = J - R, \qquad
              \lambda_k = \max\biggl(0,\; 1 - \frac{2 s_k^2}{(D_k - D_0)^2}\biggr)

    Where rows cannot tell the metrics of candidates apart, the ranking decides. With more rows the
    jitter narrows and λ rises to one: the criterion tends to the metric itself. A ranking is its
    own criterion; with fewer than three folds λ is one.

    ``n_pos`` and ``n_neg`` are the effective rows of each class, and ``shares`` the λ of each
    candidate. ``reference`` is the index of the simplest candidate; of several, of the one with the
    best ranking. Without numbers of rows the criterion is the metric itself.
    """

    metric: Metric
    n_pos: float = np.inf
    n_neg: float = np.inf
    chance: float = 0.0
    perfect: float = 0.0
    shares: FloatArray | None = None
    reference: int = 0

    @classmethod
    def of(cls, metric: Metric, positives: float, negatives: float, sizes: Any) -> Criterion:
        """Make the criterion for rows of which both classes have these weights and sizes."""
        total = positives + negatives
        above = np.array([0.0, positives, positives]), np.array([0.0, 0.0, negatives])
        perfect = metric.best_value(Curve(np.array([1.0, 0.0]), *above))
        n_pos, n_neg = sizes
        return cls(metric, n_pos, n_neg, metric.chance(positives / total, total), perfect)

    @classmethod
    def of_rows(cls, metric: Metric, positive: AnyArray, weight: FloatArray) -> Criterion:
        """Make the criterion for rows; of unequal weights they count as fewer."""
        sides = [weight[side] for side in (positive, ~positive)]
        totals = [float(some.sum()) for some in sides]
        squares = [float(np.square(some).sum()) for some in sides]
        sizes = [total**2 / square for total, square in zip(totals, squares, strict=True)]
        return cls.of(metric, totals[0], totals[1], sizes)

    @property
    def _is_metric(self) -> bool:
        return not self.metric.uses_threshold or bool(np.isinf(self.n_pos))

    @property
    def needed(self) -> list[int]:
        """Candidates without which others cannot be judged: the reference."""
        return [] if np.isinf(self.n_pos) else [self.reference]

    @property
    def caution(self) -> float:
        """By what factor standard errors over folds are widened: 1 + (30 / m)².

        Folds with a handful of the m rows of the smaller class do not know how far they are off.
        """
        if self._is_metric:
            return 1.0
        return 1.0 + (_FEW_ROWS / min(self.n_pos, self.n_neg)) ** 2

    def terms(self, curve: Curve, parts: int = 1) -> tuple[Any, Any]:
        """Return J and R of a curve, or of each in a stack, turned so that less is better.

        The curve is that of one of ``parts`` equal parts of the rows.
        """
        metric, sign = self.metric, -1.0 if self.metric.greater_is_better else 1.0
        if self._is_metric:
            loss = sign * _best(metric, curve)
            return loss, loss
        rows = _JITTER**2 * parts
        of_metric = sign * jittered(metric, curve, self.n_pos / rows, self.n_neg / rows)
        area = _best(AUC(), curve)
        return of_metric, sign * (self.chance + (2.0 * area - 1.0) * (self.perfect - self.chance))

    def joined(self, of_metric: FloatArray, ranking: FloatArray) -> FloatArray:
        """Return what decides from both terms; the last axis is that of the candidates."""
        if self.shares is None:
            return of_metric
        beyond = of_metric - ranking
        of_reference = beyond[..., self.reference, None]
        return ranking + of_reference + self.shares * (beyond - of_reference)

    def learned(
        self, of_metric: FloatArray, ranking: FloatArray, complexities: Sequence[float] | None
    ) -> Criterion:
        """Return the criterion with the shares of some candidates, from their terms.

        Both arrays (1 + folds, k) have the terms of all rows first, then those of each fold.
        """
        folds = len(of_metric) - 1
        if folds < _FEWEST_FOLDS or np.isinf(self.n_pos):
            return self
        means = with_folds(ranking)
        if complexities is not None:
            means = np.where(np.asarray(complexities) == min(complexities), means, np.inf)
        reference = int(np.argmin(means))
        beyond = of_metric - ranking
        beyond = beyond - beyond[:, reference, None]
        noise = _NOISE * beyond[1:].var(axis=0, ddof=1) / folds
        squares = np.square(with_folds(beyond))
        above = squares > noise
        shares = 1.0 - np.divide(noise, squares, out=np.ones_like(noise), where=above)
        return replace(self, shares=shares, reference=reference)

    def among(self, candidates: IntArray) -> Criterion:
        """Return the criterion for some of the candidates, the reference among them."""
        if self.shares is None:
            return self
        place = int(np.flatnonzero(candidates == self.reference)[0])
        return replace(self, shares=self.shares[candidates], reference=place)


def _best(metric: Any, curve: Curve) -> Any:
    stacked = isinstance(curve, CurveStack)
    return metric.best_values(curve) if stacked else metric.best_value(curve)


def with_folds(table: FloatArray) -> FloatArray:
    """Return the mean of what is first, that of all rows, and the mean of the rest, the folds."""
    whole, folds = table[0], table[1:]
    means: FloatArray = (whole + folds.mean(axis=0)) / 2.0 if folds.size else whole.copy()
    return means
