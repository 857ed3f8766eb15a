"""The lines of a chosen candidate, of all rows and without each fold, on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.frontier.compare import round_scores, scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.fitting.training_rows import TrainingRows

#: Deviations from the middle of a class beyond which a score does not set the scale.
_REACH = 3.5
#: Between the tenths at both ends of a normal distribution, in deviations.
_TENTHS = 2.563


class Lines(NamedTuple):
    """The chosen candidate, fitted to all rows and without each fold; intercepts last.

    Parameters
    ----------
    refit : array of shape (d + 1,)
    without : sequence of arrays of shape (d + 1,)
        Empty where no rows are held out.
    """

    refit: FloatArray
    without: Sequence[FloatArray] = ()

    def aligned(self, rows: TrainingRows) -> Aligned:
        """Put all lines on one scale, that of the rows each was fitted to.

        A threshold of held-out scores, which are of several lines, is then one of the refitted
        line too.

        Parameters
        ----------
        rows : TrainingRows
            In the units of the lines.
        """
        every = scores_of(rows.X, np.stack([self.refit, *self.without]))
        refit, held_out = self.refit.copy(), round_scores(every[:, 0])
        if not self.without:
            return Aligned(refit, held_out, every)
        for number in range(every.shape[1]):
            fitted = np.full(len(every), fill_value=True)
            if number and rows.fold is not None:
                fitted = rows.fold != number - 1
            centre, scale = centre_and_scale(
                every[fitted, number], rows.positive[fitted], rows.weight[fitted]
            )
            every[:, number] = round_scores((every[:, number] - centre) / scale)
            if number == 0:
                refit[-1] -= centre
                refit /= scale
                held_out = every[:, 0]
            else:
                held_out = np.where(fitted, held_out, every[:, number])
        return Aligned(refit, held_out, every)


class Aligned(NamedTuple):
    """Lines on one scale.

    Parameters
    ----------
    refit : array of shape (d + 1,)
    held_out : array of shape (n,)
        Scores of rows by lines that have not seen them; by the refitted line where none are
        held out.
    every : array of shape (n, 1 + folds)
        Scores of all rows by the refitted line, and by those without each fold.
    """

    refit: FloatArray
    held_out: FloatArray
    every: FloatArray


def centre_and_scale(
    scores: FloatArray, positive: AnyArray, weight: FloatArray
) -> tuple[float, float]:
    """Return the middle between the classes, and the mean deviation within them.

    Of scores that are clipped where a normal class would have none: a row far out, which is in the
    rows of one line and not in those of another, does not set the scale.
    """
    means, variances = [], []
    for side in (positive, ~positive):
        own, share = scores[side], weight[side] / weight[side].sum()
        low, high = np.quantile(own, [0.1, 0.9])
        reach = _REACH * (high - low) / _TENTHS
        if reach > 0:
            own = np.clip(own, (low + high) / 2.0 - reach, (low + high) / 2.0 + reach)
        mean = float(share @ own)
        means.append(mean)
        variances.append(float(share @ (own - mean) ** 2))
    scale = float(np.sqrt(np.mean(variances))) or abs(means[0] - means[1]) or 1.0
    return (means[0] + means[1]) / 2.0, scale
