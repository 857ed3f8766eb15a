"""How much to shrink, cross-validated from the summaries of folds: no row is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.frontier.moment_frontier import Frontier, require_rows_of_both
from directrix.metrics import resolve
from directrix.moments.projection import project

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.metrics import Metric
    from directrix.moments import Moments

#: From hardly any to a multiple of the identity.
SHARES: tuple[float, ...] = tuple(float(share) for share in np.geomspace(1e-4, 1.0, 20))


class Validated(NamedTuple):
    """Held-out risk of each share, and the share of the least.

    Parameters
    ----------
    share : float
    shares : array of shape (s,)
    risks : array of shape (s,)
        Mean over the folds, by weight.
    """

    share: float
    shares: FloatArray
    risks: FloatArray


def usable_folds(moments: Moments) -> list[int]:
    """Return which folds hold rows of both classes."""
    return [k for k, fold in enumerate(moments.folds) if fold.positive.count * fold.negative.count]


def validated_shrinkage(
    moments: Moments, metric: str | Metric, shares: Sequence[float] = SHARES
) -> Validated:
    """Return the shrinkage whose lines have the least held-out risk.

    For each fold the line comes from the sum of the other folds, and its risk from the moments of
    the fold itself, projected on the line.

    Parameters
    ----------
    moments : Moments
        With folds.
    metric : str or Metric
    shares : sequence of float
        Shrinkages to try, each from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import Moments
    >>> from directrix.frontier import validated_shrinkage
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(300) % 3 == 0
    >>> X = rng.normal(size=(300, 40)) + 0.2 * y[:, None]
    >>> moments = Moments.of(X, y, fold=np.arange(300) % 5)
    >>> validated = validated_shrinkage(moments, "auc")
    >>> bool(validated.share > 0.3)  # 40 features alike: a multiple of the identity is right
    True
    """
    require_rows_of_both(moments)
    folds = usable_folds(moments)
    if len(folds) < 2:
        msg = (
            "shrinkage='cv' needs a summary of two folds at least that hold both classes: "
            "summarise the rows with fold=, or give shrinkage='oas' or a share"
        )
        raise ValueError(msg)
    risk = resolve(metric).risk(moments.weight)
    totals = np.zeros(len(shares))
    for k in folds:
        held_out, others = moments.folds[k], moments.without_fold(k)
        if moments.stated_prior is not None:
            held_out = held_out.with_prior(moments.stated_prior)
        totals += held_out.weight * np.array(
            [
                risk.value(project(held_out, Frontier(others, share).least(risk).line))
                for share in shares
            ]
        )
    risks = totals / sum(moments.folds[k].weight for k in folds)
    return Validated(float(shares[int(risks.argmin())]), np.array(shares), risks)
