r"""Candidates of a sample, corrected by gradients over all rows.

.. math:: w_{t+1} = \arg\min_w\ F_S(w) + \langle \nabla F(w_t) - \nabla F_S(w_t),\ w \rangle

where F is the objective of all rows and F_S that of a sample (Shamir, Srebro and Zhang 2014,
eq. 13 with η = 1 and μ = 0; Jordan, Lee and Yang 2019, eq. 6). A step needs one pass over the rows,
for a single gradient, and the sample has the curvature. From the optimum of the sample, one step is
as good as the optimum of all rows up to terms of the order of the sampling error squared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from directrix.frontier.compare import scaled_lines, scores_of

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.frontier.recipes import Recipe
    from directrix.frontier.row_candidate import RowCandidate
    from directrix.objectives import DataObjective

#: A correction moves a line by the sampling error of its sample: few digits of it matter.
_ITERATIONS, _FALL = 100, 1e-6


@dataclass(frozen=True)
class TiltedObjective:
    """An objective plus a linear function of the coefficients.

    Parameters
    ----------
    objective : DataObjective
    tilt : array of shape (d + 1,)
    """

    objective: DataObjective
    tilt: FloatArray

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient at ``coef`` (intercept last)."""
        value, gradient = self.objective(coef)
        return value + float(self.tilt @ coef), gradient + self.tilt


@dataclass(frozen=True, eq=False)
class CorrectedCandidate:
    """A candidate of a sample after some corrections; see `Candidate`.

    Parameters
    ----------
    candidate : RowCandidate
        Of the sample; its loss is a mean over rows.
    coefs : mapping of fold or None to array
        Coefficients without each fold, and of all rows, in the units of the sample.
    n_steps : int
        Number of corrections.
    """

    candidate: RowCandidate
    coefs: Mapping[int | None, FloatArray]
    n_steps: int = 0

    @classmethod
    def of(cls, candidate: RowCandidate) -> CorrectedCandidate:
        """Return a candidate before its first correction."""
        folds = [*candidate.frontier.folds, None]
        candidate.frontier.solve_together([candidate], [None], in_any_case=True)
        return cls(candidate, {fold: candidate.solution(fold) for fold in folds})

    @property
    def name(self) -> str:
        """What a report calls the candidate."""
        steps = "one correction" if self.n_steps == 1 else f"{self.n_steps} corrections"
        return f"{self.candidate.name}, {steps} by all rows"

    @property
    def complexity(self) -> float:
        """Order of preference among candidates of equal quality."""
        return self.candidate.complexity

    @property
    def ridge(self) -> float:
        """Ridge penalty of the fit."""
        return self.candidate.ridge

    @property
    def recipe(self) -> Recipe:
        """How the candidate is made."""
        return self.candidate.recipe

    @property
    def line(self) -> FloatArray:
        """The line of all rows."""
        return self._line(None)

    @property
    def fold_lines(self) -> list[FloatArray]:
        """For each fold the line made without it."""
        return [self._line(fold) for fold in self.coefs if fold is not None]

    def corrected(self, gradients: Mapping[int | None, FloatArray]) -> CorrectedCandidate:
        """Return the candidate after one more correction.

        Parameters
        ----------
        gradients : mapping of fold or None to array of shape (d + 1,)
            Gradient of the mean loss over all rows, without each fold, at `coefs`; without the
            penalty.
        """
        frontier, coefs = self.candidate.frontier, {}
        for fold, coef in self.coefs.items():
            rows = frontier.training_rows(fold)
            objective = self.recipe.objective(*rows)
            gradient = gradients[fold] + np.append(self.ridge * coef[:-1], 0.0)
            tilted = TiltedObjective(objective, gradient - objective(coef)[1])
            solution = frontier.solve(
                tilted, coef, None, _ITERATIONS, _FALL, frontier.signs_of(rows[0])
            )
            coefs[fold] = solution.coef
        return CorrectedCandidate(self.candidate, coefs, self.n_steps + 1)

    def _line(self, fold: int | None) -> FloatArray:
        """Return a line on the scale of the sample's scores, in the units of the features."""
        frontier, lines = self.candidate.frontier, self.coefs[fold][None]
        X, positive, weight = frontier.training_rows(fold)
        line: FloatArray = scaled_lines(lines, scores_of(X, lines), positive, weight)[0]
        return line if frontier.to_features is None else frontier.to_features(line)
