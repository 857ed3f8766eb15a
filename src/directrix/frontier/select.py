"""Rules that select a candidate by its loss on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray, IntArray
    from directrix.frontier.compare import Comparison


@dataclass(frozen=True)
class OneStandardError:
    """One-standard-error rule: the best of the simplest candidates within one SE of the best.

    Parameters
    ----------
    complexities : array of shape (k,)
        Complexity of each candidate.
    errors : array of shape (k, k)
        Standard error over folds of the difference between each two candidates.
    factor : float
        How many standard errors a simpler candidate may be behind.
    """

    complexities: FloatArray
    errors: FloatArray
    factor: float = 1.0

    @classmethod
    def of(
        cls, comparison: Comparison, complexities: Sequence[float], factor: float = 1.0
    ) -> OneStandardError:
        """Take the standard errors from a comparison on folds."""
        errors = np.stack([comparison.standard_errors(k) for k in range(len(comparison.losses))])
        return cls(np.asarray(complexities, dtype=np.float64), errors, factor)

    def among(self, candidates: IntArray) -> OneStandardError:
        """Return the rule for some of the candidates."""
        errors = self.errors[np.ix_(candidates, candidates)]
        return OneStandardError(self.complexities[candidates], errors, self.factor)

    def __call__(self, losses: FloatArray) -> int:
        """Return the index of the selected candidate."""
        best = int(np.argmin(losses))
        within = losses - losses[best] <= self.factor * self.errors[best]
        simplest = np.flatnonzero(self.complexities == self.complexities[within].min())
        return int(simplest[np.argmin(losses[simplest])])


@dataclass(frozen=True)
class LeastLoss:
    """The candidate with the least loss, whatever its complexity; among equals the first."""

    complexities: FloatArray | None = None

    def among(self, candidates: IntArray) -> LeastLoss:  # noqa: ARG002
        """Return the rule for some of the candidates: the same."""
        return self

    def __call__(self, losses: FloatArray) -> int:
        """Return the index of the selected candidate."""
        return int(np.argmin(losses))
