"""The frontier of class moments, on which every metric is best, and candidates from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple
from warnings import warn

import numpy as np
from scipy.special import ndtr, ndtri

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions import OneClassPredictedWarning, find_stacklevel
from directrix.fit.compare import (
    LineScores,
    held_out_scores,
    on_one_scale,
    scores_of,
)
from directrix.fit.curves import ScoreCurves, round_scores
from directrix.linear.pencil import (
    ArcSearch,
    Grid,
    Pencil,
    RidgeMoments,
    StandardSpace,
    angle_at,
    require_rows_of_both,
)
from directrix.metrics.base import Metric
from directrix.metrics.table import resolve
from directrix.moments import Moments
from directrix.moments.projection import ScoreMoments
from directrix.moments.risks import Risk, risk_of, vertex

# ── Search for the angle of the family of lines at which a risk is least ──────────────────────────

#: Largest logit: closer to the end of an arc an angle would round to it.
_END = 30.0
#: Half the width, in logits, of a parabola: its square is the error of the vertex, and rounding
#: over it the noise.
_WIDTH = 5e-3
#: Risks that differ by less are equal up to rounding.
_FLAT = 1e-12


class _Valley(NamedTuple):
    """A local minimum of the risk on a grid: its value, the ends of its arc, and its position.

    `step` is the number of logits between neighbouring angles of the grid.
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

    def risks(angles: FloatArray) -> FloatArray:
        """Return the risk of the line at each angle, at its best threshold."""
        return risk.profile(*pencil.scores(angles), prior)[0]

    valleys = _valleys(pencil.grid, risk.sketch(*pencil.grid.scores, prior))
    refined = _refined_angle(pencil.search, risks, valleys[: pencil.search.valleys])
    angles = np.array([np.pi / 4, refined])
    values = risks(angles)
    # If all lines are equally good (all separate the classes, or none does better than a constant)
    # rounding decides where the minimum is: take the line of AUC.
    return float(angles[0] if values[0] <= values[1] + _FLAT else angles[1])


def _valleys(grid: Grid, risks: FloatArray) -> list[_Valley]:
    """Return the local minima of the risks on the first grid, the lowest first."""
    valleys: list[_Valley] = []
    ends = np.cumsum([len(logits) for logits in grid.logits])[:-1]
    for arc, logits, values in zip(grid.arcs, grid.logits, np.split(risks, ends), strict=True):
        step = float(logits[1] - logits[0])
        local = np.r_[True, values[1:] <= values[:-1]] & np.r_[values[:-1] <= values[1:], True]
        valleys += [
            _Valley(float(values[k]), *arc, float(logits[k]), step) for k in np.flatnonzero(local)
        ]
    return sorted(valleys)


def _refined_angle(
    search: ArcSearch, risks: Callable[[FloatArray], FloatArray], valleys: list[_Valley]
) -> float:
    """Return the angle of least risk near some local minima of the first grid.

    At the end parabolas keep rounding errors from moving it. About a minimum a risk is equal in all
    its digits for about the root of the last one. Rounding decides which of many values there is
    the lowest, but hardly moves the vertex of a parabola that is wider than that.
    """
    _, low, high, logit, step = np.array(valleys).T
    least = np.full(len(valleys), np.inf)
    unit = np.linspace(-1.0, 1.0, search.points)
    for _ in range(search.rounds):
        logits = np.clip(logit[:, None] + step[:, None] * unit, -_END, _END)
        angles = angle_at(low[:, None], high[:, None], logits)
        values = risks(angles.ravel()).reshape(logits.shape)
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
    arc, known = (float(low[best]), float(high[best])), float(logit[best])
    position = known
    for _ in range(search.parabolas):
        stencil = position + _WIDTH * np.array([-1.0, 0.0, 1.0])
        position = vertex(stencil[0], stencil[2], *risks(angle_at(*arc, stencil)))
    value = float(risks(np.array([angle_at(*arc, position)]))[0])
    return float(angle_at(*arc, position if value <= float(least[best]) + _FLAT else known))


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

    ``fpr`` and ``tpr`` have the shape (n_points,). ``coef``, of shape (n_points, d), is the line
    with the highest recall at each false-positive rate.
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
        unsure. With few rows for many features more may be better.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import Moments
    >>> from directrix.linear import Frontier
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
        self._space = StandardSpace(moments)

    @classmethod
    def of_shrinkages(cls, moments: Moments, shrinkages: Sequence[str | float]) -> list[Frontier]:
        """Return a frontier for each shrinkage; what does not depend on it is computed once."""
        frontiers = [cls(moments, shrinkage) for shrinkage in shrinkages]
        for frontier in frontiers[1:]:
            frontier._space = frontiers[0]._space  # noqa: SLF001 - of the same class
        return frontiers

    def best(self, metric: str | Metric) -> LinearModel:
        """Return the line with the best metric of all lines, for normal scores."""
        model = self.minimize_risk(risk_of(resolve(metric), self.moments.weight))
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

    def candidate_angles(self, logits: FloatArray | None = None) -> FloatArray:
        """Return the angles of lines worth comparing on rows.

        The first two are those of AUC and of Fisher's discriminant, whose covariance is the pooled
        one. The others are at some positions (`angle_at`) on the arc where the pencil is positive
        definite; by default they are spread over it, more densely towards its ends. They are at
        fixed shares of the arc, so that the k-th line of other rows is much the same.
        """
        require_rows_of_both(self.moments)
        fisher = np.arctan2(1.0 - self.moments.prior, self.moments.prior)
        if logits is None:
            logits = np.linspace(-_REACH, _REACH, self.pencil.search.candidates)
        return np.array([np.pi / 4, fisher, *angle_at(*self.pencil.arcs()[0], logits)])

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

    def _scaled_lines(self, angles: FloatArray) -> tuple[FloatArray, LineScores]:
        """Return lines at angles for the features as given, scaled to unit mean variance.

        With them the moments of the scores of the pencil's lines, by whose `length` they were
        divided.
        """
        scores = self.pencil.scores(angles)
        scale = self._space.standardized.scale * scores.length[:, None]
        return self.pencil.directions(angles) / scale, scores

    def _model(self, angle: float, risk: float, threshold: float) -> LinearModel:
        """Return the line at an angle, with a threshold on the scores of the pencil's line."""
        (coef,), line_scores = self._scaled_lines(np.array([angle]))
        length = float(line_scores.length[0])
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


# ── Candidates in closed form from class moments, of several shrinkages and trade-offs ────────────


#: Shrinkages that are tried: the one estimated from the data, none, and two strong ones.
SHRINKAGES: tuple[str | float, ...] = ("oas", 0.0, 0.1, 0.5)
#: Angles of trade-offs between the covariances of both classes, besides the equal one.
_ANGLES = tuple(np.pi / 2.0 * share for share in (0.02, 0.1, 0.25, 0.75, 0.9, 0.98))


@dataclass(frozen=True, eq=False)
class SummaryCandidate:
    """A line in closed form from class moments; see `Candidate`.

    ``remake`` returns the line of the same settings from other rows than those of the curves.
    Candidates of all rows that are compared on a sample have neither.
    """

    name: str
    whole_line: FloatArray
    fold_lines: list[FloatArray]
    remake: Callable[[Any, AnyArray, FloatArray], FloatArray] | None = None
    curves: Any = None

    #: Of all candidates, those in closed form are the second simplest, after logistic regression.
    complexity: ClassVar[float] = 1.0

    @property
    def line(self) -> FloatArray:
        """The line of all rows; a copy, which may be changed."""
        return self.whole_line.copy()

    def refit(self, X: Any, positive: AnyArray, weight: FloatArray) -> FloatArray:
        """Return the line of the same settings from the moments of these rows."""
        if self.remake is None or len(positive) == len(self.curves.scores):
            return self.line
        line = self.remake(X, positive, weight)
        scaled: FloatArray = on_one_scale(X, [line[None]], positive, weight)[0][0]
        return scaled


def _compared(
    names: Sequence[str],
    remakes: Sequence[Callable[[Any, AnyArray, FloatArray], FloatArray]],
    parts: Sequence[FloatArray],
    X: Any,
    *rows: Any,
) -> list[SummaryCandidate]:
    """Put lines on one scale, and compare them on rows that they were made without.

    ``parts`` are the lines without each fold, and last those of all rows. ``rows`` are classes,
    weights, folds and groups.
    """
    positive, weight, fold, group = rows
    *fold_lines, whole = on_one_scale(X, parts, positive, weight, fold)
    scores = _held_out(X, fold, fold_lines, whole)
    return [
        SummaryCandidate(
            name,
            whole[k],
            [lines[k] for lines in fold_lines],
            remakes[k],
            ScoreCurves(positive, scores[:, k], weight, fold, group),
        )
        for k, name in enumerate(names)
    ]


def _held_out(
    X: Any, fold: IntArray | None, fold_lines: Sequence[FloatArray], whole: FloatArray
) -> FloatArray:
    if fold is None or not fold_lines:
        return round_scores(scores_of(X, whole))
    return round_scores(held_out_scores(X, fold, fold_lines))


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
        cls,
        moments: Moments,
        shrinkages: Sequence[str | float],
        logits: FloatArray | None = None,
    ) -> MomentLines:
        """Make the lines of some moments, with folds or without, at `candidate_angles`."""
        frontiers = Frontier.of_shrinkages(moments, shrinkages)
        others = (moments.without_fold(fold) for fold in range(len(moments.folds)))
        of_folds = (Frontier.of_shrinkages(part, shrinkages) for part in others)
        fold_lines = [_lines_of(parts, logits) for parts in of_folds]
        return cls(frontiers, _lines_of(frontiers, logits), fold_lines)

    def name(self, index: int) -> str:
        """Return what a report calls a line."""
        shrinkage = self.frontiers[index // self._per_frontier].shrinkage
        text = shrinkage if isinstance(shrinkage, str) else f"{shrinkage:.2g}"
        trade_off = f"{index % self._per_frontier + 1}/{self._per_frontier}"
        return f"linear discriminant from class moments (shrinkage {text}, trade-off {trade_off})"

    def held_out(self, X: Any, fold: IntArray | None) -> FloatArray:
        """Return the held-out scores of rows by all lines, of shape (n, k)."""
        return _held_out(X, fold, self.fold_lines, self.lines)

    def candidates(self) -> list[SummaryCandidate]:
        """Return the lines as candidates."""
        return [
            SummaryCandidate(self.name(k), line, [lines[k] for lines in self.fold_lines])
            for k, line in enumerate(self.lines)
        ]

    @property
    def _per_frontier(self) -> int:
        return len(self.lines) // len(self.frontiers)


def _lines_of(frontiers: list[Frontier], logits: FloatArray | None) -> FloatArray:
    return np.concatenate(
        [frontier.lines_at(frontier.candidate_angles(logits)) for frontier in frontiers]
    )


def _shrunk_line(index: int, X: Any, positive: AnyArray, weight: FloatArray) -> FloatArray:
    moments = Moments.of(X, positive, weight, classes=[False, True], sample=0)
    line: FloatArray = MomentLines.of(moments, SHRINKAGES).lines[index]
    return line


def moment_candidates(
    moments: Moments,
    X: Any,
    positive: AnyArray,
    weight: FloatArray,
    fold: IntArray | None,
    group: IntArray | None = None,
) -> list[SummaryCandidate]:
    """Return candidates of several shrinkages, which serve every metric.

    The moments have the folds of the rows, on which the candidates are compared.
    """
    made = MomentLines.of(moments, SHRINKAGES)
    every = range(len(made.lines))
    names, remakes = map(made.name, every), [partial(_shrunk_line, k) for k in every]
    parts = [*made.fold_lines, made.lines]
    return _compared([*names], remakes, parts, X, positive, weight, fold, group)


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
    signs: IntArray,
    group: IntArray | None = None,
) -> list[SummaryCandidate]:
    """Return candidates of several ridges and trade-offs, compared on held-out rows.

    `signs` are those of the coefficients.
    """
    settings, fold_lines = ridge_settings(ridges), []
    lines = RidgeMoments.of(X, positive, weight, signs).lines(settings)
    for number in range(0 if fold is None else int(fold.max()) + 1):
        others = np.where(fold == number, 0.0, weight)
        fold_lines.append(RidgeMoments.of(X, positive, others, signs).lines(settings))
    names = [
        f"linear discriminant from class moments with signs (ridge {ridge:.2g}, trade-off "
        f"{2.0 * angle / np.pi:.2g})"
        for ridge, angle in settings
    ]
    remakes = [partial(_ridge_line, signs, setting) for setting in settings]
    return _compared(names, remakes, [*fold_lines, lines], X, positive, weight, fold, group)


def _ridge_line(
    signs: IntArray, setting: tuple[float, float], X: Any, positive: AnyArray, weight: FloatArray
) -> FloatArray:
    line: FloatArray = RidgeMoments.of(X, positive, weight, signs).lines([setting])[0]
    return line
