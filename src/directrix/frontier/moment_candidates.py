"""Candidates in closed form from class moments, of several shrinkages or ridges and trade-offs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.frontier.compare import (
    Curves,
    design_without,
    held_out_scores,
    round_scores,
    scores_of,
)
from directrix.frontier.moment_frontier import Frontier
from directrix.frontier.pencil import RidgeMoments
from directrix.moments import Moments

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.risks.base import Risk

#: Shrinkages that are tried: the one estimated from the data, none, and two strong ones.
SHRINKAGES: tuple[str | float, ...] = ("oas", 0.0, 0.1, 0.5)
#: Angles of trade-offs between the covariances of both classes, besides the equal one.
_ANGLES = tuple(np.pi / 2.0 * share for share in (0.02, 0.1, 0.25, 0.75, 0.9, 0.98))
#: Of all candidates, those in closed form are the second simplest, after logistic regression.
_COMPLEXITY = 1.0


@dataclass(frozen=True, eq=False)
class SummaryCandidate:
    """A line in closed form from class moments; see `Candidate`.

    `remake` returns the line of the same settings from other rows than the `n_rows` that the line
    is made from. A candidate of counts has no rows, and so no held-out scores.
    """

    name: str
    whole_line: FloatArray
    fold_lines: list[FloatArray]
    remake: Callable[[Any, AnyArray, FloatArray], FloatArray]
    held_out: tuple[FloatArray, Curves] | None = None
    n_rows: int = 0
    complexity: float = _COMPLEXITY
    ridge: float = 0.0
    angle: float = float("nan")

    @property
    def line(self) -> FloatArray:
        """The line of all rows; a copy, which may be changed."""
        return self.whole_line.copy()

    @property
    def scores(self) -> FloatArray:
        """Held-out scores of the rows."""
        return self._on_rows[0]

    @property
    def curves(self) -> Curves:
        """Rates of the held-out scores at every threshold."""
        return self._on_rows[1]

    @property
    def _on_rows(self) -> tuple[FloatArray, Curves]:
        if self.held_out is None:
            msg = f"{self.name} is made from counts, which have no rows to score"
            raise ValueError(msg)
        return self.held_out

    def refit(self, X: Any, positive: AnyArray, weight: FloatArray) -> FloatArray:
        """Return the line of the same settings from the moments of these rows."""
        if len(positive) == self.n_rows:
            return self.line
        return self.remake(X, positive, weight)


# ── Lines of standardised features, by shrinkage ──────────────────────────────────────────────────


@dataclass(frozen=True)
class MomentLines:
    """Lines of a frontier for each shrinkage, with the k-th of each fold made as the k-th of all.

    `lines`, of shape (k, d + 1), are made from all rows, `fold_lines` without each fold; there are
    none if the moments have no folds.
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

    def candidates(self, scores: FloatArray, curves: Sequence[Curves]) -> list[SummaryCandidate]:
        """Return the lines as candidates, with their held-out scores and the curves of these."""
        shrinkages = [frontier.shrinkage for frontier in self.frontiers]
        return [
            SummaryCandidate(
                self.name(index),
                self.lines[index],
                [lines[index] for lines in self.fold_lines],
                partial(_shrunk_line, shrinkages, index),
                (scores[:, index], curves[index]),
                len(scores),
            )
            for index in range(len(self.lines))
        ]

    @property
    def _per_frontier(self) -> int:
        return len(self.lines) // len(self.frontiers)


def _lines_of(frontiers: list[Frontier], risk: Risk | None) -> FloatArray:
    return np.concatenate(
        [frontier.lines_at(frontier.candidate_angles(risk)) for frontier in frontiers]
    )


def _shrunk_line(
    shrinkages: Sequence[str | float], index: int, X: Any, positive: AnyArray, weight: FloatArray
) -> FloatArray:
    """Return the line of the same shrinkage and trade-off from the moments of rows."""
    moments = Moments.of(X, positive, weight, classes=[False, True])
    line: FloatArray = MomentLines.of(moments, None, shrinkages).lines[index]
    return line


def moment_candidates(
    moments: Moments, X: Any, positive: AnyArray, weight: FloatArray, fold: IntArray | None
) -> list[SummaryCandidate]:
    """Return candidates of several shrinkages, which serve every metric.

    The moments have the folds of the rows, on which the candidates are compared.
    """
    lines = MomentLines.of(moments, None, SHRINKAGES)
    scores = lines.held_out(X, fold)
    return lines.candidates(scores, [Curves(positive, each, weight, fold) for each in scores.T])


# ── Lines under a ridge in the units of the features ──────────────────────────────────────────────


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
) -> list[SummaryCandidate]:
    """Return candidates of several ridges and trade-offs, compared on held-out rows.

    `signs` are those of the coefficients of an array; coded rows have their own. With `baseline`
    the lines of equal trade-off are the simplest candidates, of complexity zero.
    """
    settings, fold_lines = ridge_settings(ridges), []
    lines = RidgeMoments.of(design_without(X, None), positive, weight, signs).lines(settings)
    if fold is None:
        scores = scores_of(design_without(X, None), lines)
    else:
        for number in range(int(fold.max()) + 1):
            others = np.where(fold == number, 0.0, weight)
            moments = RidgeMoments.of(design_without(X, number), positive, others, signs)
            fold_lines.append(moments.lines(settings))
        scores = held_out_scores(X, fold, fold_lines)
    columns = round_scores(scores).T
    held_out = [(column, Curves(positive, column, weight, fold)) for column in columns]
    source = "bin counts" if signs is None else "class moments with signs"
    return with_ridges(
        source, settings, lines, fold_lines, held_out, baseline=baseline, signs=signs
    )


def with_ridges(
    source: str,
    settings: Sequence[tuple[float, float]],
    lines: FloatArray,
    fold_lines: Sequence[FloatArray],
    held_out: Sequence[tuple[FloatArray, Curves]] = (),
    *,
    baseline: bool,
    signs: IntArray | None = None,
) -> list[SummaryCandidate]:
    """Return lines as candidates of pairs of ridge and angle, made from a `source` in words.

    Without rows there is nothing in `held_out`.
    """
    return [
        SummaryCandidate(
            f"linear discriminant from {source} (ridge {ridge:.2g}, trade-off "
            f"{2.0 * angle / np.pi:.2g})",
            lines[k],
            [of_fold[k] for of_fold in fold_lines],
            partial(_ridge_line, ridge, angle, signs),
            held_out[k] if held_out else None,
            len(held_out[k][0]) if held_out else 0,
            0.0 if baseline and angle == RidgeMoments.equal_angle else _COMPLEXITY,
            ridge,
            angle,
        )
        for k, (ridge, angle) in enumerate(settings)
    ]


def _ridge_line(
    ridge: float,
    angle: float,
    signs: IntArray | None,
    X: Any,
    positive: AnyArray,
    weight: FloatArray,
) -> FloatArray:
    """Return the line of the same ridge and trade-off from the moments of rows."""
    moments = RidgeMoments.of(design_without(X, None), positive, weight, signs)
    line: FloatArray = moments.lines([(ridge, angle)])[0]
    return line
