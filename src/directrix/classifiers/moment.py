"""MomentClassifier: the family of lines from the moments, the point on it from the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self
from warnings import warn

import numpy as np
from sklearn.utils.validation import _check_sample_weight

from directrix.classifiers import calibration
from directrix.classifiers.base import LinearClassifier, two_classes
from directrix.classifiers.class_weights import class_factors, reweighted
from directrix.classifiers.operating_point import OperatingPoint, predicted_rates
from directrix.classifiers.rows_at_hand import RowsAtHand, calibrated, cut
from directrix.frontier import Frontier, choose, validated_shrinkage
from directrix.frontier.choose import choose_line, held_out_scores, scores_of, settled
from directrix.frontier.shrinkage import usable_folds
from directrix.metrics import resolve
from directrix.moments import Moments
from directrix.moments.projection import project
from directrix.moments.row_hash import row_hash, stratified_folds
from directrix.moments.rows import as_rows

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.metrics import Metric
    from directrix.moments.projection import ScoreMoments

_FOLDS = 5
#: Rows of the smaller class for each feature below which a line fits its own rows too well.
_ENOUGH = 100
#: Shrinkages tried on rows; summaries of folds are asked about more, as they cost less.
_SHARES = tuple(float(share) for share in np.geomspace(1e-3, 1.0, 7))


class _Line(NamedTuple):
    """A line, the four numbers of its scores, and its scores of rows where there are some."""

    line: FloatArray
    frontier: Frontier
    numbers: ScoreMoments
    scores: FloatArray | None = None


class MomentClassifier(LinearClassifier):
    r"""A linear classifier trained for a metric from the moments of the classes.

    .. math:: w(\theta) = (\cos\theta\, \Sigma_+ + \sin\theta\, \Sigma_-)^{-1} (\mu_+ - \mu_-)

    holds the best line for every metric if the scores of each class are normal. The moments give
    this family in one pass over the rows; the exact metric on the rows chooses θ and the
    threshold.

    Parameters
    ----------
    metric : str or Metric
        What to be good at: "error", "auc", "f1", ``RecallAtFPR(0.01)``, ``Cost(fp=1, fn=20)`` and
        so on; see `directrix.metrics`.
    shrinkage : "oas", "cv" or float
        Share of a multiple of the identity in each covariance of the standardised features. "oas"
        takes it from the moments, "cv" from held-out folds.
    choose : "rows" or "moments"
        What decides which line of the family it is. "rows": the exact metric on some 25 lines, on
        held-out folds where there are fewer than 100 rows a feature in the smaller class.
        "moments": the metric as a risk of normal scores; nothing but the summary is used.
    class_weight : dict, "balanced" or None
        Weight of each class, as in scikit-learn. It changes what counts, never the moments of a
        class.

    Attributes
    ----------
    coef_ : array of shape (1, d)
    intercept_ : array of shape (1,)
    classes_ : array of shape (2,)
    moments_ : Moments
        Of the rows, as they are: save it, add tomorrow's to it, and `fit_moments`.
    frontier_ : Frontier
        The family of lines.
    operating_point_ : OperatingPoint
        Threshold, rates and metric: predicted from the moments and, with rows, measured.
    calibration_ : Calibration
        How probabilities are made of scores.
    shrinkage_ : "oas" or float
        The shrinkage used.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from directrix import MomentClassifier
    >>> from directrix.metrics import RecallAtFPR
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = MomentClassifier(RecallAtFPR(0.01)).fit(X, y)
    >>> bool(classifier.operating_point_.empirical.fpr <= 0.01)  # on held-out rows
    True
    """

    moments_: Moments
    frontier_: Frontier
    operating_point_: OperatingPoint
    shrinkage_: str | float

    def __init__(
        self,
        metric: str | Metric = "error",
        *,
        shrinkage: str | float = "oas",
        choose: str = "rows",
        class_weight: Any = None,
    ) -> None:
        self.metric = metric
        self.shrinkage = shrinkage
        self.choose = choose
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Summarise the rows, make the family of lines, and choose one.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        sample_weight : array of shape (n,), optional
            A row of weight k counts as k rows.
        """
        metric = self._checked_metric()
        X, y = self._validated(X, y)
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if (weight == 0).any():
            X, y, weight = X[weight > 0], y[weight > 0], weight[weight > 0]
        self.classes_ = two_classes(y)
        positive = y == self.classes_[1]
        fold = self._folds(X, positive)
        moments = self._summary(X, y, weight, fold)
        factors = class_factors(self.class_weight, moments)
        rows = RowsAtHand(X, positive, weight * np.where(positive, factors[1], factors[0]), fold)
        self._learn(moments, metric, rows if self.choose == "rows" else None)
        return self

    def fit_moments(self, moments: Moments) -> Self:
        """Learn from a summary alone: the risk of normal scores chooses the line.

        Parameters
        ----------
        moments : Moments
            Of two classes. With folds, where ``shrinkage="cv"``.
        """
        metric = self._checked_metric()
        self.classes_ = np.array([moments.classes[0], moments.classes[-1]])
        self.n_features_in_ = moments.n_features
        if moments.feature_names is not None:
            self.feature_names_in_ = np.array(moments.feature_names, dtype=object)
        self._learn(moments, metric, None)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the summary and learn from it; the order of the calls does not matter.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
        classes : array of shape (2,), optional
            Both labels; needed at the first call if its rows are of one class.
        sample_weight : array of shape (n,), optional
        """
        metric = self._checked_metric()
        first = not hasattr(self, "moments_")
        X, y = self._validated(X, y, reset=first)
        if first:
            self.classes_ = two_classes(y if classes is None else np.asarray(classes))
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        # By content, so that it does not matter in which call a row comes.
        fold = None
        if self.shrinkage == "cv":
            fold = (row_hash(as_rows(X)) % np.uint64(_FOLDS)).astype(np.int64)
        summary = self._summary(X, y, weight, fold)
        moments = summary if first else self.moments_ + summary
        if moments.positive.count and moments.negative.count:
            self._learn(moments, metric, None)
        else:
            self._wait(moments)
        return self

    def _checked_metric(self) -> Metric:
        if self.choose not in ("rows", "moments"):
            msg = f"choose must be 'rows' or 'moments', not {self.choose!r}"
            raise ValueError(msg)
        if isinstance(self.shrinkage, str) and self.shrinkage not in ("oas", "cv"):
            msg = f"shrinkage must be 'oas', 'cv' or a share from 0 to 1, not {self.shrinkage!r}"
            raise ValueError(msg)
        return resolve(self.metric)

    def _summary(self, X: Any, y: AnyArray, weight: FloatArray, fold: IntArray | None) -> Moments:
        names = getattr(self, "feature_names_in_", None)
        return Moments.of(X, y, weight, classes=self.classes_, feature_names=names, fold=fold)

    def _folds(self, X: Any, positive: AnyArray) -> IntArray | None:
        """Return folds where rows are held out; equal rows are in the same."""
        smaller = min(int(positive.sum()), int((~positive).sum()))
        held_out = self.choose == "rows" and smaller < _ENOUGH * X.shape[1]
        if not held_out and self.shrinkage != "cv":
            return None
        hashes = row_hash(as_rows(X))
        distinct = (len(np.unique(hashes[own])) for own in (positive, ~positive))
        n_folds = min(_FOLDS, *distinct)
        return stratified_folds(hashes, positive, n_folds) if n_folds > 1 else None

    def _learn(self, moments: Moments, metric: Metric, rows: RowsAtHand | None) -> None:
        self.moments_ = moments if self.shrinkage == "cv" else moments.unfolded()
        counted = reweighted(moments, class_factors(self.class_weight, moments))
        if rows is None:
            found = self._by_risk(counted, metric)
        else:
            found = self._by_rows(counted, metric, rows)
        self.frontier_, self.shrinkage_ = found.frontier, found.frontier.shrinkage
        line, scores = found.line, found.numbers
        at_threshold = metric.break_even(counted.prior)
        on_rows = None
        if rows is not None and found.scores is not None:
            threshold, on_rows = cut(metric, rows, found.scores)
            line[-1] -= threshold
            scores = scores.above(threshold)
            self.calibration_ = calibrated(rows, found.scores - threshold, at_threshold)
        else:
            self.calibration_ = calibration.from_moments(scores, at_threshold)
        self.coef_, self.intercept_ = line[None, :-1].copy(), line[-1:].copy()
        self.operating_point_ = OperatingPoint(
            metric,
            -float(line[-1]),
            predicted_rates(scores, metric, counted.weight),
            None if on_rows is None else on_rows.rates(metric),
            None if rows is None else rows.name,
            on_rows,
        )

    def _by_risk(self, moments: Moments, metric: Metric) -> _Line:
        """Return the line of least risk."""
        shrinkage = self.shrinkage
        if shrinkage == "cv" and moments.folded and len(usable_folds(moments)) < 2:
            shrinkage = "oas"
            warn(
                "too few rows of both classes so far to validate the shrinkage: it is taken from "
                "the moments ('oas') until more come",
                stacklevel=4,
            )
        if shrinkage == "cv":
            shrinkage = validated_shrinkage(moments, metric).share
        frontier = Frontier(moments, shrinkage)
        model = frontier.best(metric)
        return _Line(model.line, frontier, model.scores)

    def _by_rows(self, moments: Moments, metric: Metric, rows: RowsAtHand) -> _Line:
        """Return the line that is best on rows, of those of the family, and its scores there."""
        shrinkages = _SHARES if self.shrinkage == "cv" else (self.shrinkage,)
        risk = metric.risk(moments.weight)

        def candidates(frontiers: list[Frontier]) -> FloatArray:
            return np.concatenate([each.family(each.candidates(risk)) for each in frontiers])

        frontiers = [Frontier(moments, shrinkage) for shrinkage in shrinkages]
        lines = candidates(frontiers)
        if rows.fold is None:
            place = choose_line(metric, rows.X, rows.positive, rows.weight, lines)
            chosen = scores_of(rows.X, lines[place : place + 1])[:, 0]
        else:
            without = [
                candidates([Frontier(moments.without_fold(k), share) for share in shrinkages])
                for k in range(len(moments.parts))
            ]
            scores = held_out_scores(rows.X, rows.fold, without)
            place = choose(metric, rows.positive, scores, rows.weight).place
            chosen = scores[:, place]
        frontier = frontiers[place * len(frontiers) // len(lines)]
        return _Line(lines[place], frontier, project(moments, lines[place]), settled(chosen))

    def _wait(self, moments: Moments) -> None:
        """Predict the one class there is, until rows of the other come."""
        label, sign = (
            (self.classes_[1], 1.0) if moments.positive.count else (self.classes_[0], -1.0)
        )
        warn(
            f"all rows so far are of class {label!r}, so every row is predicted to be; give rows "
            "of the other class too",
            stacklevel=3,
        )
        self.moments_ = moments
        self.coef_, self.intercept_ = np.zeros((1, moments.n_features)), np.array([sign])
        self.calibration_ = calibration.Calibration(0.0, 1.0, 1.0, "no rows of the other class yet")
