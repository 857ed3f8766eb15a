"""Comparisons over all sets together: signed ranks, Holm's correction, share of a gap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from directrix._typing import FloatArray

#: Samples of sets for the interval of a share.
_SAMPLES = 10_000
#: A gap below this is too small for a share of it to mean anything on a single set.
LEAST_GAP = 0.02


def signed_rank_p(differences: FloatArray) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; sets that are equal keep ranks.

    One difference a set: sets are independent of each other, which folds are not.
    """
    differences = differences.round(9)
    if not differences.any():
        return 1.0
    # Equal sets or ties rule the exact distribution out; scipy says so, then takes the normal one.
    tied = len(np.unique(np.abs(differences))) < len(differences) or (differences == 0.0).any()
    method = "approx" if tied or len(differences) > 50 else "exact"
    return float(stats.wilcoxon(differences, zero_method="pratt", method=method).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    r"""Return p-values corrected for their number by Holm's method.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\left(1, (m - j + 1)\, p_{(j)}\right)

    (Holm 1979): the chance of a single false claim among all m stays below the level.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, (len(p) - np.arange(len(p))) * p[order])
    corrected = np.empty_like(p)
    corrected[order] = np.maximum.accumulate(steps) if len(p) else steps
    return [float(value) for value in corrected]


class ClosedShare(NamedTuple):
    """Which share of the gap between two competitors a third one closes.

    ``gap``: mean over the sets of far minus near. ``share``: mean over the sets of the third minus
    near, to the gap: large gaps count for more. ``low``, ``high``: 95 % of samples of the sets,
    with replacement. ``median``: of the shares of single sets whose gap is at least 0.02; not a
    number if there are none.
    """

    sets: int
    gap: float
    share: float
    low: float
    high: float
    median: float

    @classmethod
    def of(cls, near: FloatArray, far: FloatArray, third: FloatArray) -> ClosedShare:
        """Compare three competitors that have one mean for each set."""
        gaps, gains = far - near, third - near
        sample = np.random.default_rng(0).integers(len(gaps), size=(_SAMPLES, len(gaps)))
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = np.nanquantile(
                gains[sample].sum(axis=1) / gaps[sample].sum(axis=1), [0.025, 0.975]
            )
            share = float(gains.sum() / gaps.sum())
        wide = gaps >= LEAST_GAP
        median = float(np.median(gains[wide] / gaps[wide])) if wide.any() else float("nan")
        return cls(len(gaps), float(gaps.mean()), share, float(low), float(high), median)


class Gain(NamedTuple):
    """Gain of one competitor over another, over sets together.

    ``median``, ``low``, ``high``: median over the sets, and 95 % of its values in samples of the
    sets with replacement. ``p``: of Wilcoxon's signed-rank test.
    """

    sets: int
    median: float
    low: float
    high: float
    mean: float
    p: float

    @classmethod
    def of(cls, differences: FloatArray) -> Gain:
        """Compare two competitors by one difference for each set."""
        n = len(differences)
        sample = np.random.default_rng(0).integers(n, size=(_SAMPLES, n))
        low, high = np.quantile(np.median(differences[sample], axis=1), [0.025, 0.975])
        return cls(
            n,
            float(np.median(differences)),
            float(low),
            float(high),
            float(differences.mean()),
            signed_rank_p(differences),
        )


def critical_difference(n_sets: int, n_competitors: int, level: float) -> float:
    r"""Return how far mean ranks must be apart to differ significantly (Nemenyi).

    .. math:: q_\alpha \sqrt{\frac{k (k + 1)}{6 N}}

    for k competitors on N sets, q the quantile of the studentised range over √2 (Demšar 2006).
    """
    k = n_competitors
    q = stats.studentized_range.ppf(1.0 - level, k, np.inf) / 2**0.5
    return float(q * (k * (k + 1) / (6 * n_sets)) ** 0.5)
