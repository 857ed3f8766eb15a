"""Rules that choose among candidates by their losses on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray, IntArray
    from directrix.frontier.compare import Compared


@dataclass(frozen=True)
class OneStandardError:
    """One-standard-error rule: the best candidate of the simplest kind within one SE of the best.

    Parameters
    ----------
    kinds : array of shape (k,)
        Complexity of each candidate; the lower is the simpler.
    errors : array of shape (k, k)
        Standard error over folds of the difference between each two candidates.
    factor : float
        How many standard errors a simpler candidate may be behind.
    """

    kinds: FloatArray
    errors: FloatArray
    factor: float = 1.0

    @classmethod
    def of(cls, found: Compared, kinds: Sequence[float], factor: float = 1.0) -> OneStandardError:
        """Take the differences that folds show."""
        errors = np.stack([found.errors(k) for k in range(len(found.losses))])
        return cls(np.asarray(kinds, dtype=np.float64), errors, factor)

    def among(self, chosen: IntArray) -> OneStandardError:
        """Return the rule for some of the candidates."""
        return OneStandardError(
            self.kinds[chosen], self.errors[np.ix_(chosen, chosen)], self.factor
        )

    def __call__(self, losses: FloatArray) -> int:
        """Return the candidate that is chosen."""
        best = int(np.argmin(losses))
        able = losses - losses[best] <= self.factor * self.errors[best]
        kind = np.flatnonzero(self.kinds == self.kinds[able].min())
        return int(kind[np.argmin(losses[kind])])


@dataclass(frozen=True)
class LeastLoss:
    """The candidate of least loss; of equals the first. It has no preference for simple ones."""

    kinds: FloatArray | None = None

    def among(self, chosen: IntArray) -> LeastLoss:  # noqa: ARG002
        """Return the rule for some of the candidates: the same."""
        return self

    def __call__(self, losses: FloatArray) -> int:
        """Return the candidate that is chosen."""
        return int(np.argmin(losses))
