"""MomentClassifier: the family of lines from the moments, the point on it from the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Self
from warnings import warn

import numpy as np

from directrix.classifiers.base import LinearClassifier, two_classes
from directrix.classifiers.fitting import calibration
from directrix.classifiers.fitting.choice import Selection
from directrix.classifiers.fitting.class_weights import checked_weight, class_factors, reweighted
from directrix.classifiers.fitting.finalize import Finalized, calibrated, finalize
from directrix.classifiers.fitting.lines import Lines
from directrix.classifiers.fitting.operating_point import OperatingPoint, predicted_rates
from directrix.classifiers.fitting.training_rows import KeyedRows, TrainingRows
from directrix.classifiers.fitting.two_passes import TwoPasses, pick
from directrix.classifiers.moment.checks import (
    checked_metric,
    require_rows_in_folds,
    require_same_classes,
)
from directrix.engines import HashFolds
from directrix.frontier import Frontier, choose, validated_shrinkage
from directrix.frontier.candidates import Candidates
from directrix.frontier.compare import (
    MOST_ROWS,
    choose_line,
    compared,
    curves_of,
    held_out_scores,
    scores_of,
    settled,
)
from directrix.frontier.moment_frontier import require_rows_of_both
from directrix.frontier.shrinkage import usable_folds
from directrix.moments import Moments, labels
from directrix.moments.projection import project
from directrix.moments.row_hash import row_hash
from directrix.moments.row_keys import CopyCounter, folds_by_key, hash_with_label
from directrix.moments.rows import as_rows

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.metrics import Metric
    from directrix.moments.projection import ScoreMoments

_FOLDS = 5
#: Rows of the smaller class for each feature below which a line fits its own rows too well.
_ENOUGH = 100
#: Shrinkages tried on rows.
_SHARES = tuple(float(share) for share in np.geomspace(1e-3, 1.0, 7))


class _Line(NamedTuple):
    """A line, the four numbers of its scores, and how rows chose it where they did.

    Parameters
    ----------
    line : array of shape (d + 1,)
    frontier : Frontier
    numbers : ScoreMoments
    selection : Selection, optional
    without : list of arrays
        The lines without each fold.
    rows : TrainingRows, optional
        That set the threshold.
    """

    line: FloatArray
    frontier: Frontier
    numbers: ScoreMoments
    selection: Selection | None = None
    without: list[FloatArray] | None = None
    rows: TrainingRows | None = None


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
        What decides which line of the family it is. "rows": the exact metric of some 25 lines, on
        held-out folds where the smaller class has fewer than 100 rows a feature. "moments": the
        metric as a risk of normal scores; nothing but the summary is used.
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Summarise the rows, make the family of lines, and choose one.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        sample_weight : array of shape (n,), optional
            A row of whole weight k counts as k rows, which may be in different folds. A row of any
            other weight stays whole.
        groups : array of shape (n,), optional
            Who a row belongs to (a customer, a patient): all rows of a group are in one fold.
        """
        metric = checked_metric(self)
        X, y = self._validated(X, y)
        weight = checked_weight(sample_weight, X)
        keyed = KeyedRows.of(X, y, weight, None, groups)
        self.classes_ = two_classes(keyed.y)
        rows = keyed.all_rows(self.classes_[1])
        if self._holds_out(rows):
            rows = keyed.training_rows(self.classes_[1], _FOLDS)
        labels_of_rows = self.classes_[rows.positive.astype(np.intp)]
        moments = self._summary(rows.X, labels_of_rows, rows.weight, rows.fold)
        negative, positive = class_factors(self.class_weight, moments)
        rows = rows._replace(weight=rows.weight * np.where(rows.positive, positive, negative))
        seen = rows
        if rows.fold is None:
            weighted = keyed.weighted(self.class_weight, self.classes_)
            seen = weighted.training_rows(self.classes_[1], 1, MOST_ROWS)
        self._learn(moments, metric, (rows, seen) if self.choose == "rows" else None)
        return self

    def fit_moments(self, moments: Moments) -> Self:
        """Learn from a summary alone: the risk of normal scores chooses the line.

        Parameters
        ----------
        moments : Moments
            Of two classes. With folds, where ``shrinkage="cv"``.
        """
        metric = checked_metric(self)
        require_rows_of_both(moments)
        self.classes_ = np.array(labels.negative_and_positive(moments.classes))
        self._take_names(moments)
        self._learn(moments, metric, None)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the summary and learn from it; the order of the calls does not matter.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
        classes : array of shape (2,), optional
            Both labels; needed at the first call if its rows are of one class. Later calls may
            repeat them, not change them.
        sample_weight : array of shape (n,), optional
        """
        metric = checked_metric(self)
        first = not hasattr(self, "moments_")
        require_same_classes(self, classes)
        X, y = self._validated(X, y, reset=first)
        if first:
            self.classes_ = two_classes(y if classes is None else np.asarray(classes))
        weight = checked_weight(sample_weight, X)
        fold = None
        if self.shrinkage == "cv":
            if first or not hasattr(self, "_copies"):
                self._copies = CopyCounter()
            fold = folds_by_key(self._copies.keys(hash_with_label(row_hash(as_rows(X)), y)), _FOLDS)
        moments = self._summary(X, y, weight, fold)
        moments = moments if first else self.moments_ + moments
        if moments.positive.count and moments.negative.count:
            self._learn(moments, metric, None)
        else:
            self._wait(moments)
        return self

    def fit_source(self, source: Any, *, target: Any, fold: Any = None, **options: Any) -> Self:
        """Learn from rows wherever they are, in two passes over them.

        The first summarises folds; the second counts held-out scores of all candidate lines in
        histograms, from which the line, the threshold, the rates and the probabilities come.

        Parameters
        ----------
        source : whatever `summarize` reads
        target : str, int or array
        fold : HashFolds, optional
            How rows are held out; by default in five folds, each row on its own.
        **options
            ``features``, ``weight``, ``transform``, ``engine`` and ``progress``, as in
            `summarize`.
        """
        metric = checked_metric(self)
        two = TwoPasses(source, target, HashFolds(_FOLDS) if fold is None else fold, options)
        surveyed = two.survey()
        moments = surveyed.grouped.by_group[None]
        self.classes_ = two_classes(moments.classes)
        require_rows_in_folds(moments)
        self._take_names(moments)
        self.moments_ = moments if self.shrinkage == "cv" else moments.unfolded()
        factors = class_factors(self.class_weight, moments)
        counted = reweighted(moments, factors)
        candidates = self._candidates(counted, metric)
        folds = two.histograms(candidates.without, surveyed)
        picked = pick(metric, folds, factors, metric.break_even(counted.prior))
        line = candidates.lines[picked.place]
        line[-1] -= picked.final.threshold
        self.frontier_, self.calibration_ = candidates.frontier(picked.place), picked.calibration
        self._settle(metric, line, project(counted, line), counted, picked.final, "held-out rows")
        return self

    def _summary(self, X: Any, y: AnyArray, weight: FloatArray, fold: IntArray | None) -> Moments:
        names = getattr(self, "feature_names_in_", None)
        return Moments.of(X, y, weight, classes=self.classes_, feature_names=names, fold=fold)

    def _holds_out(self, rows: TrainingRows) -> bool:
        """Whether rows have to be held out: few of them, or a shrinkage to be validated."""
        smaller = min(rows.weight[rows.positive].sum(), rows.weight[~rows.positive].sum())
        few = self.choose == "rows" and smaller < _ENOUGH * rows.X.shape[1]
        return few or self.shrinkage == "cv"

    def _learn(
        self, moments: Moments, metric: Metric, rows: tuple[TrainingRows, TrainingRows] | None
    ) -> None:
        """Choose a line by rows, all of them and those that lines are compared on, or by risk."""
        self.moments_ = moments if self.shrinkage == "cv" else moments.unfolded()
        counted = reweighted(moments, class_factors(self.class_weight, moments))
        if rows is None:
            found = self._by_risk(counted, metric)
        else:
            found = self._by_rows(counted, metric, *rows)
        self.frontier_ = found.frontier
        line, scores = found.line, found.numbers
        at_threshold = metric.break_even(counted.prior)
        final = name = None
        if found.selection is None or found.rows is None:
            self.calibration_ = calibration.from_moments(scores, at_threshold)
        else:
            lines = Lines(line, found.without or ())
            line, held_out, final = finalize(metric, found.selection, lines, found.rows)
            scores, name = project(counted, line), found.rows.name
            self.calibration_ = calibrated(found.rows, held_out, at_threshold)
        self._settle(metric, line, scores, counted, final, name)

    def _settle(
        self,
        metric: Metric,
        line: FloatArray,
        scores: ScoreMoments,
        counted: Moments,
        final: Finalized | None,
        rows: str | None,
    ) -> None:
        """Keep a line, what it promises and what rows show."""
        self.shrinkage_ = self.frontier_.shrinkage
        self.coef_, self.intercept_ = line[None, :-1].copy(), line[-1:].copy()
        self.operating_point_ = OperatingPoint(
            metric,
            -float(line[-1]),
            predicted_rates(scores, metric, counted.weight),
            None if final is None else final.empirical,
            rows,
            None if final is None else final.expected,
            None if final is None else final.intervals,
        )

    def _by_risk(self, moments: Moments, metric: Metric) -> _Line:
        """Return the line of least risk."""
        shrinkage = self.shrinkage
        if shrinkage == "cv" and moments.folded and len(usable_folds(moments)) < 2:
            shrinkage = "oas"
            warn(
                "too few rows of both classes so far for shrinkage='cv': 'oas' is used",
                stacklevel=4,
            )
        if shrinkage == "cv":
            shrinkage = validated_shrinkage(moments, metric).share
        frontier = Frontier(moments, shrinkage)
        model = frontier.best(metric)
        return _Line(model.line, frontier, model.scores)

    def _by_rows(
        self, moments: Moments, metric: Metric, rows: TrainingRows, seen: TrainingRows
    ) -> _Line:
        """Return the line that is best on rows, of those of the family, and its scores there."""
        summary = moments if rows.fold is not None else moments.unfolded()
        candidates = self._candidates(summary, metric)
        lines = candidates.lines
        without = None
        if rows.fold is None:
            place = choose_line(metric, seen.X, seen.positive, seen.weight, lines)
            compared_on = scores_of(seen.X, lines)
            # A ranking has no threshold that all rows would have to set.
            rows = rows if metric.cuts else seen
        else:
            compared_on = held_out_scores(rows.X, rows.fold, candidates.without)
            place = choose(metric, rows.positive, compared_on, rows.weight).place
            without = [each[place] for each in candidates.without]
        columns = [settled(column) for column in compared_on.T]
        curves = [curves_of(seen.positive, each, seen.weight, None) for each in columns]
        selection = Selection.of(seen, columns, compared(metric, curves), place)
        numbers = project(moments, lines[place])
        return _Line(lines[place], candidates.frontier(place), numbers, selection, without, rows)

    def _candidates(self, moments: Moments, metric: Metric) -> Candidates:
        shrinkages = _SHARES if self.shrinkage == "cv" else (self.shrinkage,)
        return Candidates.of(moments, metric.risk(moments.weight), shrinkages)

    def _wait(self, moments: Moments) -> None:
        """Predict the one class there is, until rows of the other come."""
        side = int(moments.positive.count > 0)
        label, sign = self.classes_[side], 2.0 * side - 1.0
        warn(f"all rows so far are of class {label!r}: give rows of the other too", stacklevel=3)
        self.moments_ = moments
        self.coef_, self.intercept_ = np.zeros((1, moments.n_features)), np.array([sign])
        self.calibration_ = calibration.Calibration(0.0, 1.0, 1.0, "rows of one class only")
