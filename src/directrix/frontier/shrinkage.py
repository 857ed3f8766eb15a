"""Cross-validated shrinkage of covariances, from the moments of folds: no rows are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.frontier.moment_frontier import Frontier
from directrix.frontier.standard_space import require_rows_of_both
from directrix.metrics.table import resolve
from directrix.moments.projection import project

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.metrics.base import Metric
    from directrix.moments import Moments

#: Shrinkages to try, from hardly any to a multiple of the identity.
SHARES: tuple[float, ...] = tuple(float(share) for share in np.geomspace(1e-4, 1.0, 20))


class ValidatedShrinkage(NamedTuple):
    """The shrinkage with the least held-out risk, and the risk of each that was tried.

    Parameters
    ----------
    share : float
        The shrinkage with the least risk: the share of a multiple of the identity in each
        covariance.
    shares : array of shape (s,)
        The shrinkages that were tried.
    risks : array of shape (s,)
        Held-out risk of each: the mean over folds, by weight.
    """

    share: float
    shares: FloatArray
    risks: FloatArray


def usable_folds(moments: Moments) -> list[int]:
    """Return the indices of the folds that hold rows of both classes."""
    return [k for k, fold in enumerate(moments.folds) if fold.positive.count * fold.negative.count]


def validated_shrinkage(
    moments: Moments, metric: str | Metric, shares: Sequence[float] = SHARES
) -> ValidatedShrinkage:
    """Choose the shrinkage of covariances by cross-validation, from the moments of folds.

    For each fold and each shrinkage, the best line for the metric is made from the moments of the
    other folds; its held-out risk is that of the moments of the fold, projected on the line. Folds
    without rows of both classes are trained on, but not held out.

    Parameters
    ----------
    moments : Moments
        With at least two folds that hold both classes.
    metric : str or Metric
    shares : sequence of float
        Shrinkages to try, from 0 to 1; by default 20 from 0.0001 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import Moments
    >>> from directrix.frontier import validated_shrinkage
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 3 == 0
    >>> X = rng.normal(size=(300, 40)) + 0.2 * y[:, None]
    >>> moments = Moments.of(X, y, fold=np.arange(300) % 5)
    >>> validated = validated_shrinkage(moments, "auc", shares=[0.01, 0.1, 0.5, 1.0])
    >>> for share, risk in zip(validated.shares, validated.risks):
    ...     print(f"shrinkage {share:<4g}  1 - AUC: {risk:.2f}")
    shrinkage 0.01  1 - AUC: 0.24
    shrinkage 0.1   1 - AUC: 0.23
    shrinkage 0.5   1 - AUC: 0.21
    shrinkage 1     1 - AUC: 0.20
    >>> validated.share  # the features are independent: a multiple of the identity is right
    1.0
    """
    require_rows_of_both(moments)
    folds = usable_folds(moments)
    if len(folds) < 2:
        msg = (
            "shrinkage='cv' needs a summary of two folds or more that hold both classes, but this "
            f"one has {len(folds)}: summarise the rows with fold=, or set shrinkage to 'oas' or a "
            "number from 0 to 1"
        )
        raise ValueError(msg)
    risk = resolve(metric).risk(moments.weight)
    totals = np.zeros(len(shares))
    for k in folds:
        held_out, others = moments.folds[k], moments.without_fold(k)
        if moments.stated_prior is not None:
            held_out = held_out.with_prior(moments.stated_prior)
        frontiers = Frontier.of_shrinkages(others, shares)
        lines = [frontier.minimize_risk(risk).line for frontier in frontiers]
        totals += held_out.weight * np.array(
            [risk.value(project(held_out, line)) for line in lines]
        )
    risks = totals / sum(moments.folds[k].weight for k in folds)
    return ValidatedShrinkage(float(shares[int(risks.argmin())]), np.array(shares), risks)
