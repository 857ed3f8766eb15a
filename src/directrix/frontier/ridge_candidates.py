"""Candidates in closed form: lines of class moments under several ridges and trade-offs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.frontier.compare import Curves, round_scores, scores_of
from directrix.frontier.fold_designs import design_without
from directrix.frontier.ridge_moments import RidgeMoments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray

#: Angles of trade-offs between the covariances of both classes, besides the equal one.
_ANGLES = tuple(np.pi / 2.0 * share for share in (0.02, 0.1, 0.25, 0.75, 0.9, 0.98))
#: Of all candidates, those in closed form are the second simplest, after logistic regression.
_COMPLEXITY = 1.0


@dataclass(frozen=True, eq=False)
class RidgeCandidate:
    """A line of class moments under a ridge; see `Candidate`.

    Parameters
    ----------
    ridge, angle : float
    complexity : float
    line : array
        Made from all rows, intercept last.
    fold_lines : list of arrays
        Made without each fold.
    scores : array of shape (n,)
        Held-out scores.
    curves : Curves
        Of these scores.
    n_rows : int
        How many rows the lines are made from.
    signs : array of int of shape (p,), optional
        Of the coefficients; coded rows have their own.
    """

    ridge: float
    angle: float
    complexity: float
    line: FloatArray
    fold_lines: list[FloatArray]
    scores: FloatArray
    curves: Curves
    n_rows: int
    signs: IntArray | None = None

    @property
    def name(self) -> str:
        """What a report calls the candidate."""
        source = "bin counts" if self.signs is None else "class moments with signs"
        return ridge_name(source, self.ridge, self.angle)

    def refit(self, X: Any, positive: AnyArray, weight: FloatArray) -> FloatArray:
        """Return the line of the same ridge and trade-off from the moments of these rows."""
        if len(positive) == self.n_rows:
            return self.line.copy()
        moments = RidgeMoments.of(design_without(X, None), positive, weight, self.signs)
        line: FloatArray = moments.lines([(self.ridge, self.angle)])[0]
        return line


def ridge_name(source: str, ridge: float, angle: float) -> str:
    """Return what a report calls a line of class moments under a ridge."""
    share = f"{2.0 * angle / np.pi:.2g}"
    return f"linear discriminant from {source} (ridge {ridge:.2g}, trade-off {share})"


def ridge_settings(ridges: Sequence[float]) -> list[tuple[float, float]]:
    """Return pairs of ridge and angle: every ridge with every trade-off."""
    return [(ridge, angle) for ridge in ridges for angle in (RidgeMoments.equal_angle, *_ANGLES)]


def ridge_candidates(
    X: Any,
    positive: AnyArray,
    weight: FloatArray,
    fold: IntArray | None,
    ridges: Sequence[float],
    *,
    baseline: bool,
    signs: IntArray | None = None,
) -> list[RidgeCandidate]:
    """Return candidates of several ridges and trade-offs, compared on held-out rows.

    Parameters
    ----------
    X : CodedRows, FoldDesigns, array or sparse matrix of shape (n, p)
    positive, weight, fold : arrays of shape (n,)
    ridges : sequence of float
    baseline : bool
        Whether the lines of equal trade-off are the simplest candidates, of complexity zero.
    signs : array of int of shape (p,), optional
        Signs of the coefficients of an array; coded rows have their own.
    """
    equal, settings = RidgeMoments.equal_angle, ridge_settings(ridges)
    whole = RidgeMoments.of(design_without(X, None), positive, weight, signs).lines(settings)
    fold_lines, held_out = [], np.empty((len(positive), len(settings)))
    if fold is None:
        held_out = scores_of(design_without(X, None), whole)
    else:
        for number in range(int(fold.max()) + 1):
            design, tested = design_without(X, number), np.flatnonzero(fold == number)
            others = np.where(fold == number, 0.0, weight)
            lines = RidgeMoments.of(design, positive, others, signs).lines(settings)
            fold_lines.append(lines)
            held_out[tested] = scores_of(design[tested], lines)
    held_out = round_scores(held_out)
    return [
        RidgeCandidate(
            ridge,
            angle,
            0.0 if baseline and angle == equal else _COMPLEXITY,
            whole[k],
            [lines[k] for lines in fold_lines],
            held_out[:, k],
            Curves(positive, held_out[:, k], weight, fold),
            len(positive),
            signs,
        )
        for k, (ridge, angle) in enumerate(settings)
    ]
