"""Structures of a card, and the rule that chooses among those that were tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from directrix._typing import FloatArray

#: A step to more crosses must gain so much, and so many standard errors of the difference.
_MARGIN, _CAUTION = 1e-3, 2.0
#: A step to more crosses that loses so much ends the search.
FALL = 3e-3


class Structure(NamedTuple):
    """What makes a card, apart from what it is trained for.

    Parameters
    ----------
    ridge : float
    n_crosses : int
    reweighted : bool
        Whether columns and crosses with larger effects have a larger prior variance.
    auc : float
        Mean area under the curve on the folds it was compared on; NaN if no rows were held out.
    n_columns : int, optional
        How many columns have points; all by default.
    """

    ridge: float
    n_crosses: int = 0
    reweighted: bool = False
    auc: float = float("nan")
    n_columns: int | None = None

    @property
    def looks_at_no_label(self) -> bool:
        """Whether the features are the same without any fold."""
        return not self.n_crosses and not self.reweighted and self.n_columns is None


@dataclass(frozen=True)
class StructureRule:
    """Chooses among structures by their held-out areas; a richer one must gain beyond doubt.

    Of structures that differ in the ridge alone the best is taken. A step to more crosses, or to
    reweighted blocks, must gain more than `_MARGIN`, and than two standard errors of the paired
    difference.

    Parameters
    ----------
    tried : tuple of Structure
        In the order in which they were tried.
    errors : array of shape (k, k)
        Standard error of the difference between each two areas.
    fewest_columns : bool
        Whether the smallest card is taken of those that are as good as the best.
    """

    tried: tuple[Structure, ...]
    errors: FloatArray
    fewest_columns: bool = False

    def __call__(self, losses: FloatArray) -> int:
        """Return the index of the chosen structure; losses are areas, negated."""
        steps: dict[Structure, list[int]] = {}
        for k, structure in enumerate(self.tried):
            steps.setdefault(structure._replace(ridge=np.inf, auc=np.inf), []).append(k)
        best_ridges = {step: min(alike, key=losses.__getitem__) for step, alike in steps.items()}
        plain = [k for step, k in best_ridges.items() if not step.n_crosses | step.reweighted]
        plain = plain[1:] or plain  # cards of fewer columns are compared with one another only
        best = min(plain, key=losses.__getitem__)
        if self.fewest_columns:
            good = [k for k in plain if losses[k] <= losses[best] + _MARGIN]
            best = min(good, key=lambda k: self.tried[k].n_columns or 0)
        ended = False
        for step, k in best_ridges.items():
            if not step.n_crosses | step.reweighted or (ended and not step.reweighted):
                continue
            ended = ended or losses[k] > losses[best] + FALL
            if losses[best] - losses[k] > max(_MARGIN, _CAUTION * self.errors[k, best]):
                best = k
        return best
