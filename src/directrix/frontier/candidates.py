"""Candidate lines: some of every frontier, made of all rows and, fold by fold, of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.frontier.compare import held_out_scores, scores_of, settled
from directrix.frontier.moment_frontier import Frontier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray, IntArray
    from directrix.moments import Moments
    from directrix.risks import Risk


@dataclass(frozen=True)
class Candidates:
    """Lines to choose among. The k-th line of a fold and of all rows mean the same.

    Parameters
    ----------
    frontiers : list of Frontier
        One for each shrinkage.
    lines : array of shape (k, d + 1)
        Of all rows, intercept last.
    without : list of arrays of shape (k, d + 1)
        For each fold those of the other folds; empty where the moments have none.
    """

    frontiers: list[Frontier]
    lines: FloatArray
    without: list[FloatArray]

    @classmethod
    def of(
        cls, moments: Moments, risk: Risk | None, shrinkages: Sequence[str | float]
    ) -> Candidates:
        """Make the candidates of some moments, with folds or without.

        The best line for a risk is among them, if one is given; the others serve every metric.
        """
        frontiers = [Frontier(moments, shrinkage) for shrinkage in shrinkages]
        others = (moments.without_fold(k) for k in range(len(moments.folds)))
        without = [_lines([Frontier(part, each) for each in shrinkages], risk) for part in others]
        return cls(frontiers, _lines(frontiers, risk), without)

    def frontier(self, place: int) -> Frontier:
        """Return the frontier that a line is of."""
        return self.frontiers[place // self._each]

    def name(self, place: int) -> str:
        """Return which frontier a line is of, and which of its lines it is."""
        shrinkage = self.frontier(place).shrinkage
        short = shrinkage if isinstance(shrinkage, str) else f"{shrinkage:.2g}"
        return f"moments, shrinkage {short}, line {place % self._each + 1}"

    def held_out(self, X: Any, fold: IntArray | None) -> FloatArray:
        """Return scores of rows by lines that have not seen them, of shape (n, k)."""
        if fold is None or not self.without:
            return settled(scores_of(X, self.lines))
        return settled(held_out_scores(X, fold, self.without))

    @property
    def _each(self) -> int:
        return len(self.lines) // len(self.frontiers)


def _lines(frontiers: list[Frontier], risk: Risk | None) -> FloatArray:
    return np.concatenate([each.family(each.candidates(risk)) for each in frontiers])
