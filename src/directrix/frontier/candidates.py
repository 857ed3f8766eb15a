"""Candidate lines: some of every frontier, made of all rows and, fold by fold, of the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from directrix.frontier.of_moments import Frontier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
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
    def of(cls, moments: Moments, risk: Risk, shrinkages: Sequence[str | float]) -> Candidates:
        """Make the candidates of some moments, with folds or without."""
        frontiers = [Frontier(moments, shrinkage) for shrinkage in shrinkages]
        others = (moments.without_fold(k) for k in range(len(moments.folds)))
        without = [_lines([Frontier(part, each) for each in shrinkages], risk) for part in others]
        return cls(frontiers, _lines(frontiers, risk), without)

    def frontier(self, place: int) -> Frontier:
        """Return the frontier that a line is of."""
        return self.frontiers[place * len(self.frontiers) // len(self.lines)]


def _lines(frontiers: list[Frontier], risk: Risk) -> FloatArray:
    return np.concatenate([each.family(each.candidates(risk)) for each in frontiers])
