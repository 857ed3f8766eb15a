"""Candidates from class moments: some lines of the frontier of each shrinkage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.frontier.compare import Curves, held_out_scores, round_scores, scores_of
from directrix.frontier.moment_frontier import Frontier
from directrix.moments import Moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.risks.base import Risk

#: Shrinkages that are tried: the one estimated from the data, none, and two strong ones.
SHRINKAGES: tuple[str | float, ...] = ("oas", 0.0, 0.1, 0.5)
#: Of all candidates, those of the moments are the second simplest, after logistic regression.
_COMPLEXITY = 1.0


@dataclass(frozen=True)
class MomentLines:
    """Lines of one or several frontiers; the k-th line of each fold belongs to the k-th of all.

    Parameters
    ----------
    frontiers : list of Frontier
        One for each shrinkage.
    lines : array of shape (k, d + 1)
        Made from all rows, intercept last.
    fold_lines : list of arrays of shape (k, d + 1)
        For each fold the lines made without it; empty if the moments have no folds.
    """

    frontiers: list[Frontier]
    lines: FloatArray
    fold_lines: list[FloatArray]

    @classmethod
    def of(
        cls, moments: Moments, risk: Risk | None, shrinkages: Sequence[str | float]
    ) -> MomentLines:
        """Make the lines of some moments, with folds or without.

        If a risk is given, the best line for it is among them; the others serve every metric.
        """
        frontiers = Frontier.of_shrinkages(moments, shrinkages)
        others = (moments.without_fold(fold) for fold in range(len(moments.folds)))
        fold_lines = [_lines_of(Frontier.of_shrinkages(part, shrinkages), risk) for part in others]
        return cls(frontiers, _lines_of(frontiers, risk), fold_lines)

    def frontier(self, index: int) -> Frontier:
        """Return the frontier that a line lies on."""
        return self.frontiers[index // self._per_frontier]

    def name(self, index: int) -> str:
        """Return what a report calls a line."""
        shrinkage = self.frontier(index).shrinkage
        text = shrinkage if isinstance(shrinkage, str) else f"{shrinkage:.2g}"
        trade_off = f"{index % self._per_frontier + 1}/{self._per_frontier}"
        return f"linear discriminant from class moments (shrinkage {text}, trade-off {trade_off})"

    def held_out(self, X: Any, fold: IntArray | None) -> FloatArray:
        """Return the held-out scores of rows by all lines, of shape (n, k)."""
        if fold is None or not self.fold_lines:
            return round_scores(scores_of(X, self.lines))
        return round_scores(held_out_scores(X, fold, self.fold_lines))

    def candidates(
        self, scores: FloatArray, curves: Sequence[Curves], n_rows: int
    ) -> list[MomentCandidate]:
        """Return the lines as candidates.

        Parameters
        ----------
        scores : array of shape (n, k)
            Held-out scores of each line.
        curves : sequence of Curves
            Of these scores.
        n_rows : int
            How many rows the lines are made from.
        """
        return [
            MomentCandidate(self, index, scores[:, index], curves[index], n_rows)
            for index in range(len(self.lines))
        ]

    @property
    def _per_frontier(self) -> int:
        return len(self.lines) // len(self.frontiers)


@dataclass(frozen=True, eq=False)
class MomentCandidate:
    """One line of the moments; see `Candidate`."""

    lines: MomentLines
    index: int
    scores: FloatArray
    curves: Curves
    n_rows: int

    complexity = _COMPLEXITY
    ridge = 0.0

    @property
    def name(self) -> str:
        """What a report calls the candidate."""
        return self.lines.name(self.index)

    @property
    def line(self) -> FloatArray:
        """The line of all rows."""
        line: FloatArray = self.lines.lines[self.index].copy()
        return line

    @property
    def fold_lines(self) -> list[FloatArray]:
        """For each fold the line made without it."""
        return [lines[self.index] for lines in self.lines.fold_lines]

    def refit(self, X: Any, positive: AnyArray, weight: FloatArray) -> FloatArray:
        """Return the line of the same shrinkage and trade-off from the moments of these rows."""
        if len(positive) == self.n_rows:
            return self.line
        moments = Moments.of(X, positive, weight, classes=[False, True])
        shrinkages = [frontier.shrinkage for frontier in self.lines.frontiers]
        line: FloatArray = MomentLines.of(moments, None, shrinkages).lines[self.index]
        return line


def moment_candidates(
    moments: Moments, X: Any, positive: AnyArray, weight: FloatArray, fold: IntArray | None
) -> list[MomentCandidate]:
    """Return candidates of several shrinkages, which serve every metric.

    Parameters
    ----------
    moments : Moments
        With the folds of the rows.
    X, positive, weight, fold : arrays
        Rows on which the candidates are compared.
    """
    lines = MomentLines.of(moments, None, SHRINKAGES)
    scores = lines.held_out(X, fold)
    curves = [Curves(positive, column, weight, fold) for column in scores.T]
    return lines.candidates(scores, curves, len(positive))


def _lines_of(frontiers: list[Frontier], risk: Risk | None) -> FloatArray:
    return np.concatenate(
        [frontier.lines_at(frontier.candidate_angles(risk)) for frontier in frontiers]
    )
