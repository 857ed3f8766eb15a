"""Frontier: every linear classifier worth having, from the moments of two classes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from warnings import warn

import numpy as np
from scipy.sparse.linalg import LinearOperator
from scipy.special import ndtr, ndtri

from directrix.frontier._angle_search import best_angle
from directrix.frontier._pencil import EigenPencil, Lines, Pencil, SolvedPencil, angle_of
from directrix.metrics import resolve
from directrix.moments import labels
from directrix.moments.projection import ScoreMoments
from directrix.moments.shrinkage import oas, shrunk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.metrics import Metric
    from directrix.moments import ClassMoments, Moments
    from directrix.risks import Risk

#: Above, an eigendecomposition costs more than the solves a search needs.
_EIGEN_FEATURES = 500
_LEAST_SHRINKAGE = 1e-10
_REACH = 6.0  # logits: how near to the ends of the arc candidates go


class LinearModel(NamedTuple):
    """A line, predicting positive where ``coef @ x + intercept > 0``, and what it promises.

    Parameters
    ----------
    coef : array of shape (d,)
    intercept : float
    risk : float
        The metric as a risk, of normal scores.
    scores : ScoreMoments
        Mean and variance of its scores in each class.
    angle : float
        Where on the frontier it is.
    constant : bool
        Whether it predicts one class for every row summarised, as no line does better.
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
    """The most true positives for each false-positive rate, and the line that has them."""

    fpr: FloatArray
    tpr: FloatArray
    coef: FloatArray


def require_rows_of_both(moments: Moments) -> None:
    """Refuse a summary without rows, or with rows of one class only, and name what is missing."""
    negative, positive = labels.negative_and_positive(moments.classes)
    lacking = [label for label in (negative, positive) if not moments.by_class[label].count]
    if lacking:
        which = "neither has any" if len(lacking) == 2 else f"class {lacking[0]!r} has none"
        msg = (
            f"both classes need rows for a line between them, and {which}: add rows of it (those "
            "of weight zero do not count)"
        )
        raise ValueError(msg)


class Frontier:
    """The lines among which every metric has its optimum, for one pair of class moments.

    Parameters
    ----------
    moments : Moments
        Of two classes.
    shrinkage : "oas" or float
        Share of a multiple of the identity in each covariance of the standardised features;
        "oas" takes it from the moments.

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
    >>> best = frontier.best("auc")
    >>> bool(best.risk < frontier.best("auc").risk + 1e-12)
    True
    >>> [model.coef.shape for model in frontier.best_many(["error", RecallAtFPR(0.01)])]
    [(3,), (3,)]
    """

    def __init__(self, moments: Moments, shrinkage: str | float = "oas") -> None:
        self.moments = moments
        self.shrinkage = shrinkage

    @cached_property
    def _standardized(self) -> Any:
        require_rows_of_both(self.moments)
        return self.moments.standardize()

    @cached_property
    def delta(self) -> FloatArray:
        """Difference of the class means, standardised."""
        moments = self._standardized.moments
        gap: FloatArray = moments.positive.mean - moments.negative.mean
        return gap

    @cached_property
    def pencil(self) -> Pencil:
        """The family of lines of the standardised, shrunk covariances."""
        moments = self._standardized.moments
        try:
            return self._pencil(moments.positive, moments.negative, 0.0)
        except np.linalg.LinAlgError:  # singular: a constant column, or fewer rows than features
            return self._pencil(moments.positive, moments.negative, _LEAST_SHRINKAGE)

    def _pencil(self, positive: ClassMoments, negative: ClassMoments, least: float) -> Pencil:
        # A class of one row (however often) does not say how it spreads: as the other, then.
        spread = [group for group in (positive, negative) if group.variance.any()]
        if not spread:
            identity = np.eye(positive.n_features)
            return EigenPencil(identity, identity, self.delta)
        covariances: list[Any] = []
        for group in (positive, negative) if len(spread) == 2 else spread * 2:
            share = max(self._share(group), least)
            dense = isinstance(group.scatter, np.ndarray)
            covariances.append(shrunk(group, share) if dense else _ShrunkOperator(group, share))
        if isinstance(covariances[0], np.ndarray) and positive.n_features <= _EIGEN_FEATURES:
            return EigenPencil(covariances[0], covariances[1], self.delta)
        return SolvedPencil(covariances[0], covariances[1], self.delta)

    def _share(self, group: ClassMoments) -> float:
        if self.shrinkage != "oas":
            share: Any = self.shrinkage
            if not (isinstance(share, int | float) and 0 <= share <= 1):
                msg = f"shrinkage must be 'oas' or a share from 0 to 1, not {share!r}"
                raise ValueError(msg)
            return float(share)
        return oas(group)

    def best(self, metric: str | Metric) -> LinearModel:
        """Return the line with the best metric of all lines, for normal scores."""
        model = self.least(resolve(metric).risk(self.moments.weight))
        if model.constant:
            label = self.moments.classes.tolist()[1 if model.intercept > 0 else 0]
            warn(
                f"the best line predicts {label!r} for every row: the features do not separate "
                "the classes enough at this prior and these costs. Try a metric that does not "
                "depend on the prior (such as 'balanced_error' or RecallAtFPR), or state another "
                "prior with `with_prior`.",
                stacklevel=2,
            )
        return model

    def least(self, risk: Risk) -> LinearModel:
        """Return the line of least risk."""
        angle = best_angle(self.pencil, risk, self.moments.prior)
        lines = self.pencil.lines(np.array([angle]))
        value, threshold = risk.profile(*lines, self.moments.prior)
        return self._model(angle, float(value[0]), float(threshold[0]))

    def best_many(self, metrics: Sequence[str | Metric]) -> list[LinearModel]:
        """Return the best line for each metric; the decomposition is made once."""
        return [self.best(metric) for metric in metrics]

    def curve(self, n_points: int = 101) -> RocCurve:
        """Return the ROC curve of all lines together: for each FPR the line of most recall."""
        fpr = 1.0 / (1.0 + np.exp(-np.linspace(-9.0, 9.0, n_points)))
        low, high = self.pencil.arcs()[0]
        search = self.pencil.search
        angles = angle_of(low, high, np.linspace(-search.reach, search.reach, search.curve))
        gap, var_pos, var_neg = self.pencil.lines(angles)
        ahead = gap[:, None] + np.sqrt(var_neg)[:, None] * ndtri(fpr)
        tpr = ndtr(ahead / np.sqrt(var_pos)[:, None])
        place = tpr.argmax(axis=0)
        coef = np.stack([self._unit(float(angles[k]))[0] for k in place])
        return RocCurve(fpr, tpr[place, np.arange(n_points)], coef)

    def candidates(self, risk: Risk | None = None) -> FloatArray:
        """Return angles through the arc where the pencil is positive definite.

        The first is that of least risk, if one is given, the next that of AUC and Fisher's, of the
        pooled covariance. The others are closer to each other towards the ends of the arc, at
        places that mean the same on the arcs of other rows.
        """
        require_rows_of_both(self.moments)
        best = [] if risk is None else [best_angle(self.pencil, risk, self.moments.prior)]
        fisher = np.arctan2(1.0 - self.moments.prior, self.moments.prior)
        logits = np.linspace(-_REACH, _REACH, self.pencil.search.candidates)
        return np.array([*best, np.pi / 4, fisher, *angle_of(*self.pencil.arcs()[0], logits)])

    def family(self, angles: FloatArray) -> FloatArray:
        """Return the lines at some angles, one a row, intercept last.

        The scores of each have mean 0 in the negatives and variance 1 in the mean of the classes,
        so that lines of different moments can be compared.
        """
        mean = self.moments.negative.mean
        lines = np.empty((len(angles), len(mean) + 1))
        for line, angle in zip(lines, angles, strict=True):
            line[:-1] = self._unit(float(angle))[0]
            line[-1] = -(line[:-1] @ mean)
        return lines

    def _unit(self, angle: float) -> tuple[FloatArray, Lines, float]:
        """Return a line in the units of the features, its three numbers, and their length.

        A line has none of its own: it is given that at which the mean variance of the classes is
        one. The numbers are those of the line times the length.
        """
        lines = self.pencil.lines(np.array([angle]))
        length = float(np.sqrt((lines.var_pos[0] + lines.var_neg[0]) / 2.0)) or 1.0
        return self.pencil.direction(angle) / (self._standardized.scale * length), lines, length

    def _model(self, angle: float, risk: float, threshold: float) -> LinearModel:
        """Put a line into the units of the features."""
        coef, lines, length = self._unit(angle)
        mean_neg = float(coef @ self.moments.negative.mean)
        mean_pos = float(coef @ self.moments.positive.mean)
        constant = bool(np.isinf(threshold))
        if constant:
            intercept = self._beyond(coef, mean_pos, mean_neg, positive=threshold < 0)
        else:
            intercept = -(mean_neg + threshold / length)
        scores = ScoreMoments(
            mean_pos + intercept,
            float(lines.var_pos[0]) / length**2,
            mean_neg + intercept,
            float(lines.var_neg[0]) / length**2,
            self.moments.prior,
        )
        return LinearModel(coef, intercept, risk, scores, angle, constant)

    def _beyond(
        self, coef: FloatArray, mean_pos: float, mean_neg: float, *, positive: bool
    ) -> float:
        """Return an intercept that predicts one class for every row summarised."""
        # A row adds at most its own square to the scatter, so none is farther than its root.
        reach = max(
            float(np.sqrt(max(float(coef @ (group.scatter @ coef)), 0.0)))
            for group in (self.moments.positive, self.moments.negative)
        )
        if positive:
            return 2.0 * reach - min(mean_pos, mean_neg)
        return -2.0 * reach - max(mean_pos, mean_neg)


class _ShrunkOperator(LinearOperator):  # type: ignore[misc]
    """A shrunk covariance that is an operator over the rows."""

    def __init__(self, group: ClassMoments, share: float) -> None:
        super().__init__(np.dtype(np.float64), (group.n_features,) * 2)
        self.covariance: Any = group.covariance
        self.share = share
        self.level = float(group.variance.mean())

    def diagonal(self) -> FloatArray:
        """Return the diagonal."""
        diagonal: FloatArray = (1.0 - self.share) * self.covariance.diagonal()
        return diagonal + self.share * self.level

    def _matmat(self, vectors: FloatArray) -> FloatArray:
        product: FloatArray = (1.0 - self.share) * (self.covariance @ vectors)
        return product + self.share * self.level * vectors
