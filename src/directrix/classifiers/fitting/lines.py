"""The lines of the chosen candidate, from all rows and without each fold, put on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.frontier.compare import round_scores, scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.fitting.training_rows import TrainingRows

#: Standard deviations from the centre of a class beyond which scores are clipped.
_REACH = 3.5
#: Distance between the first and the last decile of a normal distribution.
_DECILES_OF_NORMAL = 2.563


class Lines(NamedTuple):
    """The lines of the chosen candidate, intercepts last.

    Parameters
    ----------
    refit : array of shape (d + 1,)
        Fitted to all rows.
    without : sequence of arrays of shape (d + 1,)
        For each fold the line fitted without it; empty if no rows are held out.
    """

    refit: FloatArray
    without: Sequence[FloatArray] = ()

    def aligned(self, rows: TrainingRows) -> Aligned:
        """Put all lines on one scale: centre and scale each by its scores on its training rows.

        Held-out scores come from several lines; a threshold on them is then also a threshold of
        the refitted line.

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
    """Lines on one scale, and their scores.

    Parameters
    ----------
    refit : array of shape (d + 1,)
        The refitted line.
    held_out : array of shape (n,)
        Held-out scores of the rows; scores of the refitted line if no rows are held out.
    every : array of shape (n, 1 + folds)
        Scores of all rows by the refitted line, first, and by the line of each fold.
    """

    refit: FloatArray
    held_out: FloatArray
    every: FloatArray


def centre_and_scale(
    scores: FloatArray, positive: AnyArray, weight: FloatArray
) -> tuple[float, float]:
    """Return the midpoint of the class means, and the root mean within-class variance.

    Scores are clipped where a normal class would have none: an outlier among the training rows of
    one line, and not of another, must not set the scale.
    """
    means, variances = [], []
    for side in (positive, ~positive):
        values, share = scores[side], weight[side] / weight[side].sum()
        low, high = np.quantile(values, [0.1, 0.9])
        reach = _REACH * (high - low) / _DECILES_OF_NORMAL
        if reach > 0:
            centre = (low + high) / 2.0
            values = np.clip(values, centre - reach, centre + reach)
        mean = float(share @ values)
        means.append(mean)
        variances.append(float(share @ (values - mean) ** 2))
    scale = float(np.sqrt(np.mean(variances))) or abs(means[0] - means[1]) or 1.0
    return (means[0] + means[1]) / 2.0, scale
