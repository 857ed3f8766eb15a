"""The frontier of class moments: the linear classifiers among which every metric is best."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple
from warnings import warn

import numpy as np
from scipy.special import ndtr, ndtri

from directrix.exceptions import OneClassPredictedWarning, find_stacklevel
from directrix.frontier._pencil import LineScores, Pencil, angle_at
from directrix.frontier.standard_space import StandardSpace, require_rows_of_both
from directrix.metrics.table import resolve
from directrix.moments.projection import ScoreMoments
from directrix.risks.base import vertex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.frontier._pencil import Pencil
    from directrix.metrics.base import Metric
    from directrix.moments import Moments
    from directrix.risks.base import Risk

# ── Search for the angle of the family of lines at which a risk is least ──────────────────────────

#: Largest logit: closer to the end of an arc an angle would round to it.
_END = 30.0
#: Half the width, in logits, of a parabola: its square is the error of the vertex, and rounding
#: over it the noise.
_WIDTH = 5e-3
#: Risks that differ by less are equal up to rounding.
_FLAT = 1e-12


class _Valley(NamedTuple):
    """A local minimum of the risk on a grid.

    Parameters
    ----------
    value : float
        The risk there.
    low, high : float
        Ends of its arc.
    logit : float
        Its position on the arc.
    step : float
        Logits between neighbouring angles of the grid.
    """

    value: float
    low: float
    high: float
    logit: float
    step: float


def best_angle(pencil: Pencil, risk: Risk, prior: float) -> float:
    """Return the angle of the line of least risk.

    All arcs are searched on a grid that is finer towards their ends; the lowest local minima are
    then refined together, on ever finer grids.
    """
    if risk.angle is not None:
        return risk.angle
    valleys = _valleys(pencil, risk, prior)
    angles = np.array([np.pi / 4, _refined_angle(pencil, risk, prior, valleys)])
    values = _risks(pencil, risk, prior, angles)
    # If all lines are equally good (all separate the classes, or none does better than a constant)
    # rounding decides where the minimum is: take the line of AUC.
    return float(angles[0] if values[0] <= values[1] + _FLAT else angles[1])


def _valleys(pencil: Pencil, risk: Risk, prior: float) -> list[_Valley]:
    """Return the lowest local minima of the risk on the first grid."""
    valleys: list[_Valley] = []
    arcs, grids, scores = pencil.grid
    ends = np.cumsum([len(logits) for logits in grids])[:-1]
    by_arc = np.split(risk.sketch(*scores, prior), ends)
    for (low, high), logits, values in zip(arcs, grids, by_arc, strict=True):
        step = float(logits[1] - logits[0])
        local = np.r_[True, values[1:] <= values[:-1]] & np.r_[values[:-1] <= values[1:], True]
        valleys += [
            _Valley(float(values[k]), low, high, float(logits[k]), step)
            for k in np.flatnonzero(local)
        ]
    return sorted(valleys)[: pencil.search.valleys]


def _refined_angle(pencil: Pencil, risk: Risk, prior: float, valleys: list[_Valley]) -> float:
    """Return the angle of least risk near some local minima of the first grid."""
    _, low, high, logit, step = np.array(valleys).T
    least = np.full(len(valleys), np.inf)
    unit = np.linspace(-1.0, 1.0, pencil.search.points)
    for _ in range(pencil.search.rounds):
        logits = np.clip(logit[:, None] + step[:, None] * unit, -_END, _END)
        angles = angle_at(low[:, None], high[:, None], logits)
        values = _risks(pencil, risk, prior, angles.ravel()).reshape(logits.shape)
        lowest = np.arange(len(values)), values.argmin(axis=1)
        better = values[lowest] <= least
        logit = np.where(better, logits[lowest], logit)
        least = np.where(better, values[lowest], least)
        step = step * (2.0 / (len(unit) - 1))
        # The minimum of a parabola is below the lowest of its known points by an eighth of the
        # rise beside it at most: where even the whole rise would not suffice, drop the valley.
        kept = least - np.abs(np.diff(values, axis=1)).max(axis=1) <= least.min()
        low, high, logit, step, least = (a[kept] for a in (low, high, logit, step, least))
    best = int(least.argmin())
    valley = _Valley(*(float(a[best]) for a in (least, low, high, logit, step)))
    return float(
        angle_at(valley.low, valley.high, _interpolated_logit(pencil, risk, prior, valley))
    )


def _interpolated_logit(pencil: Pencil, risk: Risk, prior: float, valley: _Valley) -> float:
    """Return the position of a minimum by parabolas, so that rounding errors hardly move it.

    About a minimum a risk is equal in all its digits for about the root of the last one. Rounding
    decides which of many values there is the lowest, but hardly moves the vertex of a parabola
    that is wider than that.
    """
    logit = valley.logit
    for _ in range(pencil.search.parabolas):
        stencil = logit + _WIDTH * np.array([-1.0, 0.0, 1.0])
        values = _risks(pencil, risk, prior, angle_at(valley.low, valley.high, stencil))
        logit = vertex(stencil[0], stencil[2], *values)
    angle = np.array([angle_at(valley.low, valley.high, logit)])
    value = float(_risks(pencil, risk, prior, angle)[0])
    return logit if value <= valley.value + _FLAT else valley.logit


def _risks(pencil: Pencil, risk: Risk, prior: float, angles: FloatArray) -> FloatArray:
    """Return the risk of the line at each angle, at its best threshold."""
    return risk.profile(*pencil.scores(angles), prior)[0]


# ── The frontier of class moments: the linear classifiers among which every metric is best ────────

#: Largest logit of a candidate: how near it may be to the ends of the arc.
_REACH = 6.0


class LinearModel(NamedTuple):
    """A line with its threshold, and the scores and the risk that the moments predict.

    A row x is predicted positive if ``coef @ x + intercept > 0``.

    Parameters
    ----------
    coef : array of shape (d,)
        Scaled so that the variance of the scores, averaged over both classes, is one.
    intercept : float
    risk : float
        The metric as a risk (less is better) if the scores of each class are normal.
    scores : ScoreMoments
        Mean and variance of the scores of each class.
    angle : float
        Its angle on the frontier.
    constant : bool
        Whether it predicts the same class for every row of the summary, because no line does
        better.
    """

    coef: FloatArray
    intercept: float
    risk: float
    scores: ScoreMoments
    angle: float
    constant: bool

    @property
    def line(self) -> FloatArray:
        """Coefficients, intercept last."""
        return np.append(self.coef, self.intercept)


class RocCurve(NamedTuple):
    """The ROC curve of a frontier: the highest recall of all lines at each false-positive rate.

    Parameters
    ----------
    fpr, tpr : array of shape (n_points,)
    coef : array of shape (n_points, d)
        The line with the highest recall at each rate.
    """

    fpr: FloatArray
    tpr: FloatArray
    coef: FloatArray


class Frontier:
    """The lines among which every metric has its optimum, from the moments of two classes.

    If the scores of each class are normal, the optimum of every metric of the true- and
    false-positive rate lies in a family of lines with one parameter, an angle. The family takes
    one decomposition; the optimum of each metric is then a search over the angle.

    Parameters
    ----------
    moments : Moments
        Of two classes.
    shrinkage : "oas" or float
        How far each covariance of the standardised features is shrunk towards a multiple of the
        identity, from 0 to 1. "oas" estimates it from the moments (Chen et al. 2010); keep it if
        unsure. With few rows for many features more may be better; see `validated_shrinkage`.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import Moments
    >>> from directrix.frontier import Frontier
    >>> from directrix.metrics import RecallAtFPR
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(2000) % 10 == 0
    >>> X = rng.normal(size=(2000, 3)) * np.where(y, 2.0, 1.0)[:, None] + y[:, None]
    >>> frontier = Frontier(Moments.of(X, y))
    >>> print(f"AUC: {1 - frontier.best('auc').risk:.3f}")
    AUC: 0.795
    >>> model = frontier.best(RecallAtFPR(0.01))
    >>> print(f"recall at a false-positive rate of 1 %: {1 - model.risk:.3f}")
    recall at a false-positive rate of 1 %: 0.412
    >>> model.coef.shape
    (3,)
    """

    def __init__(self, moments: Moments, shrinkage: str | float = "oas") -> None:
        self.moments = moments
        self.shrinkage = shrinkage
        self._space = StandardSpace(moments, [shrinkage])

    @classmethod
    def of_shrinkages(cls, moments: Moments, shrinkages: Sequence[str | float]) -> list[Frontier]:
        """Return a frontier for each shrinkage; what does not depend on it is computed once."""
        space = StandardSpace(moments, shrinkages)
        frontiers = [cls(moments, shrinkage) for shrinkage in shrinkages]
        for frontier in frontiers:
            frontier._space = space  # noqa: SLF001 - of the same class
        return frontiers

    def best(self, metric: str | Metric) -> LinearModel:
        """Return the line with the best metric of all lines, for normal scores."""
        model = self.minimize_risk(resolve(metric).risk(self.moments.weight))
        if model.constant:
            label = self.moments.classes.tolist()[1 if model.intercept > 0 else 0]
            warn(
                f"the best line predicts {label!r} for every row: the features do not separate "
                "the classes enough at this prior and these costs. Try a metric that does not "
                "depend on the prior (such as 'balanced_error' or RecallAtFPR), or state another "
                "prior with `with_prior`.",
                OneClassPredictedWarning,
                stacklevel=find_stacklevel(),
            )
        return model

    def best_many(self, metrics: Sequence[str | Metric]) -> list[LinearModel]:
        """Return the best line for each metric; the decomposition is made once."""
        return [self.best(metric) for metric in metrics]

    def minimize_risk(self, risk: Risk) -> LinearModel:
        """Return the line of least risk."""
        angle = best_angle(self.pencil, risk, self.moments.prior)
        scores = self.pencil.scores(np.array([angle]))
        value, threshold = risk.profile(*scores, self.moments.prior)
        return self._model(angle, float(value[0]), float(threshold[0]))

    def curve(self, n_points: int = 101) -> RocCurve:
        """Return the ROC curve of all lines together, for normal scores."""
        fpr = 1.0 / (1.0 + np.exp(-np.linspace(-9.0, 9.0, n_points)))
        search = self.pencil.search
        logits = np.linspace(-search.reach, search.reach, search.curve)
        angles = angle_at(*self.pencil.arcs()[0], logits)
        gap, var_pos, var_neg = self.pencil.scores(angles)
        ahead = gap[:, None] + np.sqrt(var_neg)[:, None] * ndtri(fpr)
        tpr = ndtr(ahead / np.sqrt(var_pos)[:, None])
        best = tpr.argmax(axis=0)
        coef = self._scaled_lines(angles)[0]
        return RocCurve(fpr, tpr[best, np.arange(n_points)], coef[best])

    def candidate_angles(self, risk: Risk | None = None) -> FloatArray:
        """Return the angles of lines worth comparing on rows.

        The first is that of least risk, if a risk is given; the next two are those of AUC and of
        Fisher's discriminant, whose covariance is the pooled one. The others are spread over the
        arc where the pencil is positive definite, more densely towards its ends. They are at fixed
        shares of the arc, so that the k-th line of other rows is much the same.
        """
        require_rows_of_both(self.moments)
        best = [] if risk is None else [best_angle(self.pencil, risk, self.moments.prior)]
        fisher = np.arctan2(1.0 - self.moments.prior, self.moments.prior)
        logits = np.linspace(-_REACH, _REACH, self.pencil.search.candidates)
        return np.array([*best, np.pi / 4, fisher, *angle_at(*self.pencil.arcs()[0], logits)])

    def lines_at(self, angles: FloatArray) -> FloatArray:
        """Return the lines at some angles, of shape (k, d + 1), intercept last.

        Their scores have mean 0 for the negatives and variance 1, averaged over both classes, so
        that lines of different moments can be compared.
        """
        coef = self._scaled_lines(angles)[0]
        return np.column_stack([coef, -(coef @ self.moments.negative.mean)])

    @property
    def delta(self) -> FloatArray:
        """Difference of the class means of the standardised features."""
        return self._space.delta

    @cached_property
    def pencil(self) -> Pencil:
        """The family of lines of the shrunk covariances of the standardised features."""
        return self._space.pencil(self.shrinkage)

    def _scaled_lines(self, angles: FloatArray) -> tuple[FloatArray, LineScores, FloatArray]:
        """Return lines at angles for the features as given, scaled to unit mean variance.

        With them the moments of the scores of the pencil's lines, and the lengths of those lines by
        which they were divided: the root of the variance of their scores, averaged over both
        classes.
        """
        scores = self.pencil.scores(angles)
        length = np.sqrt((scores.var_pos + scores.var_neg) / 2.0)
        length[length == 0.0] = 1.0
        scale = self._space.standardized.scale * length[:, None]
        return self.pencil.directions(angles) / scale, scores, length

    def _model(self, angle: float, risk: float, threshold: float) -> LinearModel:
        """Return the line at an angle, with a threshold on the scores of the pencil's line."""
        coefs, line_scores, lengths = self._scaled_lines(np.array([angle]))
        coef, length = coefs[0], float(lengths[0])
        mean_neg = float(coef @ self.moments.negative.mean)
        mean_pos = float(coef @ self.moments.positive.mean)
        constant = bool(np.isinf(threshold))
        if constant:
            intercept = self._constant_intercept(coef, mean_pos, mean_neg, positive=threshold < 0)
        else:
            intercept = -(mean_neg + threshold / length)
        scores = ScoreMoments(
            mean_pos + intercept,
            float(line_scores.var_pos[0]) / length**2,
            mean_neg + intercept,
            float(line_scores.var_neg[0]) / length**2,
            self.moments.prior,
        )
        return LinearModel(coef, intercept, risk, scores, angle, constant)

    def _constant_intercept(
        self, coef: FloatArray, mean_pos: float, mean_neg: float, *, positive: bool
    ) -> float:
        """Return an intercept with which every row of the summary has the same class."""
        # The scatter of the scores is the sum of weight times squared deviation, so no row with a
        # weight of one or more deviates from the mean by more than its root.
        reach = max(
            float(np.sqrt(max(float(coef @ (group.scatter @ coef)), 0.0)))
            for group in (self.moments.positive, self.moments.negative)
        )
        if positive:
            return 2.0 * reach - min(mean_pos, mean_neg)
        return -2.0 * reach - max(mean_pos, mean_neg)
