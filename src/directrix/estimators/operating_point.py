"""OperatingPointClassifier: a threshold, rates and probabilities around the scores of any model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self
from warnings import warn

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils._metadata_requests import _routing_enabled
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from directrix.estimators.base import two_classes
from directrix.estimators.state import (
    ModelMetadata,
    ModelState,
    StateArrays,
    model_params,
    require,
)
from directrix.estimators.threshold import ThresholdClassifier
from directrix.exceptions import (
    FittedEstimatorWarning,
    OtherScaleWarning,
    RowDecisionError,
    StateError,
    UnweightedEstimatorWarning,
    find_stacklevel,
)
from directrix.files.layout import is_number, is_text
from directrix.fit.copies import warn_about_copies
from directrix.fit.evidence import HeldOut
from directrix.fit.finish import End, FitResult
from directrix.fit.guarantee import Guarantee
from directrix.fit.held_out_scores import (
    PARTS,
    CrossFitting,
    HeldOutScores,
    ScoreScale,
    Split,
    are_probabilities,
    finish_scores,
    given_scores,
    is_fitted,
    positive_response,
    report_on_scores,
    require_cloneable,
    response_method,
    splits_of,
    warn_about_refit,
    warn_about_reversed,
)
from directrix.fit.operating_point import (
    ClaimVariance,
    OperatingPoints,
)
from directrix.fit.progress import single_blas_thread
from directrix.fit.training_rows import Rows, relative_weight
from directrix.metrics import (
    Budget,
    FPRAtRecall,
    RecallAtFPR,
    RecallAtK,
    RecallAtPrecision,
    ScoreHistogram,
)
from directrix.metrics.score_histogram import BINS
from directrix.metrics.table import resolve
from directrix.rows.classes import dates_in_microseconds, plain_labels
from directrix.rows.frames import require_same_index

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.estimators.scoring import ScoringFormula
    from directrix.fit.guarantee import Limits
    from directrix.fit.operating_point import OperatingPoint
    from directrix.metrics.base import Metric

#: The metric to use with limits and no metric: the most positives within the first of these.
_METRIC_OF_LIMIT: dict[str, Any] = {
    "fpr": RecallAtFPR,
    "alerts": RecallAtK,
    "precision": RecallAtPrecision,
    "recall": FPRAtRecall,
}
#: Least distance of a decision from zero.
_LEAST = float(np.finfo(np.float64).tiny)


class OperatingPointClassifier(ThresholdClassifier, one_blas_thread=False):
    r"""A threshold, the rates to expect and probabilities around the scores of any model.

    Everything after the score is that of `DirectClassifier` and `ScorecardClassifier`: the
    threshold is the best for the metric on held-out scores, the rates are those to expect on new
    rows with 95 % intervals, limits may be guaranteed, and probabilities are calibrated to held-out
    scores. The model stays as it is, and so does the order of the rows.

    Held-out scores come from

    - an **estimator**: it is cross-fitted, so that each row is scored by a copy that was fitted
      without it, and then fitted to all rows;
    - a **FrozenEstimator**, or scores alone (``estimator=None``): nothing is fitted, and the rows
      given are the held-out rows. Give rows that the model was not fitted to.

    Parameters
    ----------
    estimator : classifier, FrozenEstimator or None
        Of two classes, with ``predict_proba`` or ``decision_function``. It gets the columns of a
        data frame that it was fitted to, by their names, and all other rows as they are. With None,
        `fit`, `predict` and so on take scores in place of X: higher is more likely positive.
    metric : str or Metric, optional
        What sets the threshold: "error", "f1", "recall@fpr=0.01", ``Cost(fp=1, fn=20)`` and so on;
        see `directrix.metrics`. By default the error; with `limits`, the highest recall within
        them, or the lowest false-positive rate if only the recall is limited; with a `Budget`, the
        AUC.
    positive : label, optional
        Label to catch; by default the last of ``classes_``, which are sorted.
    limits : dict, optional
        Limits that are kept together on new rows: ``{"fpr": 0.01, "alerts": 0.02}`` at most
        (``alerts`` is the share of rows predicted positive), ``{"recall": 0.9, "precision":
        0.6}`` at least; in all segments of the rows by `InEverySegment`. Needs `guarantee`.
    guarantee : float, optional
        Confidence with which the limits, or that of the metric, are kept on new rows, by exact
        binomial bounds. An estimator is then fitted once, to two thirds of the rows, or to the
        training rows of the last split of a splitter; the other rows set the threshold, and each
        counts once, whatever its weight.
    cv : int, splitter or splits
        How an estimator is cross-fitted; each row is tested once at most. For time,
        ``TimeSeriesSplit`` tests later rows by earlier ones, ``PredefinedSplit(month)`` each month
        by all others. A number stratifies by class; with `groups`, whole groups are held out.
    response_method : "auto", "predict_proba" or "decision_function"
        Method of the estimator that scores rows; by default the first that it has.
    n_jobs : int, optional
        Processes in which copies of the estimator are fitted, as in scikit-learn.

    Attributes
    ----------
    estimator_ : classifier or None
        The fitted estimator.
    operating_point_ : OperatingPoint
        The threshold, on the scale of the estimator's own scores, and the rates to expect there. A
        row is predicted positive where its score in favour of `positive` is above the threshold.
    calibration_ : Calibration
        From the decision function to probabilities.
    report_ : DirectReport
        What to expect on new rows, in words.
    metric_ : Metric
        The metric that set the threshold.
    classes_ : array
        The two labels, sorted.

    Notes
    -----
    scikit-learn's ``TunedThresholdClassifierCV`` is the same idea, without rates to expect, limits
    or guarantees.

    Folds have estimators of their own, fitted to fewer rows than the final one, and an estimator
    that follows its rows closely is the surer of itself the fewer they are. Scores of each fold
    (probabilities as log-odds) are put on the scale of the final estimator: the class means of rows
    that both were fitted to become the same. Where the final estimator still flags other shares of
    these rows, intervals of the rates contain both, and `RefitDiffersWarning` is given if they are
    far apart, as for short trees, whose scores tie.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from directrix import OperatingPointClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = np.where(rng.random(4000) < 0.1, "fraud", "fine")
    >>> X = rng.normal(size=(4000, 3)) + 1.5 * (y == "fraud")[:, None]
    >>> booster = HistGradientBoostingClassifier(max_iter=20)
    >>> model = OperatingPointClassifier(booster, "recall@fpr=0.05", positive="fraud").fit(X, y)
    >>> print(model.report_)
    Model for recall at FPR 5 %: HistGradientBoostingClassifier.
    Cross-fitted in 5 folds. Measured on held-out rows.
    Catches 'fraud'.
    Expected on new rows: 0.8 (95 % interval 0.7 to 0.9).
    """

    estimator_: Any
    metric_: Metric
    _scale: ScoreScale

    def __init__(
        self,
        estimator: Any = None,
        metric: str | Metric | None = None,
        *,
        positive: Any = None,
        limits: Limits | None = None,
        guarantee: float | None = None,
        cv: Any = 5,
        response_method: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric  # type: ignore[assignment]
        self.positive = positive
        self.limits = limits
        self.guarantee = guarantee
        self.cv = cv
        self.response_method = response_method
        self.n_jobs = n_jobs

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Cross-fit the estimator, or take held-out scores, and set the threshold.

        Parameters
        ----------
        X : rows as the estimator takes them, or scores of shape (n,) without an estimator
        y : array of shape (n,)
            Labels of two classes.
        sample_weight : array of shape (n,), optional
            How much each row counts. Passed to the estimator too, if it takes weights (or requests
            them, with metadata routing).
        groups : array of shape (n,), optional
            Group of each row (a customer, a patient): all rows of a group are held out together.
            With `guarantee`, one row of each group counts.
        **fit_params
            Passed to `fit` of the estimator; arrays with one entry per row are divided like rows.
        """
        metric: Any = self._asked_metric()
        guarantee = Guarantee.asked(metric, self.limits, self.guarantee, groups)
        require_same_index(X=X, y=y, sample_weight=sample_weight, groups=groups)
        columns = {n: fit_params.pop(n) for n in self.training_columns if n in fit_params}
        X, y = self._checked_rows(X, y)
        beside = self._beside(X, metric, columns, len(y))
        weight = relative_weight(sample_weight, y)
        self._set_classes(two_classes(y[weight > 0]))
        passed = self._passed(sample_weight, groups, fit_params)
        if passed is not None and beside.periods is not None:  # whole days are set apart
            groups = beside.periods.day
        held_out = self._scored(X, y, weight, groups, passed)
        self.metric_ = metric
        with single_blas_thread:
            rows = self._rows(held_out, y, weight, groups, beside)
            if rows.costs is not None:
                rows, metric = rows.priced(metric, rows.costs)
            rows = self._on_scale(rows.in_folds(PARTS), held_out)
            refit = held_out.refit and self._scale.of_both(held_out.refit)
            end = finish_scores(metric, rows, guarantee, variance=held_out.variance, refit=refit)
            warn_about_refit(refit, rows, end.point, held_out.name)
            report = report_on_scores(metric, rows, held_out)
            self._keep(replace(self._at_score(end, held_out), report=report))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return how far the score of each row is from the threshold, in favour of the last class.

        Rows above zero are predicted to be of the last of ``classes_``. Probabilities are compared
        as log-odds; the unit is the spread of the held-out scores within the classes.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self)
        scale, threshold = self._scale, self.operating_point_.threshold
        scores = self.positive_scores(X)
        above = scale.positions(scores) - scale.positions(threshold)
        # Scores that differ may have one position: rows are decided about by the scores themselves.
        flagged = scores > threshold
        above = np.where(flagged, np.maximum(above, _LEAST), np.minimum(above, -_LEAST))
        return -above if self._catches_first else above

    def positive_scores(self, X: Any) -> FloatArray:
        """Return the scores of the model itself, in favour of the positive label.

        ``operating_point_.threshold`` is a threshold of these.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self)
        if self.estimator_ is None:
            scores = given_scores(X)
            outside = np.flatnonzero((scores < 0.0) | (scores > 1.0))
            if len(outside) and self._scale.smallest > 0.0:  # those of the fit are probabilities
                warning = OtherScaleWarning(len(outside), float(scores[outside[0]]))
                warn(warning, stacklevel=find_stacklevel())
            return scores
        method = response_method(self.estimator_, self.response_method)
        return positive_response(self.estimator_, X, method, self.positive_)

    def around(self, estimator: Any) -> Self:
        """Return a copy of this model that takes its scores from a fitted estimator.

        For a model that was read from a file, which has the threshold and not the estimator.

        Parameters
        ----------
        estimator : fitted classifier, or None for scores alone
        """
        check_is_fitted(self)
        changed = copy(self)
        changed.estimator_ = estimator
        changed.estimator = None if estimator is None else FrozenEstimator(estimator)
        return changed

    def score_histogram(self, source: Any, *, target: Any, **options: Any) -> ScoreHistogram:
        """Count the scores of rows, as `decision_function` gives them; histograms add up.

        Parameters
        ----------
        source : as X in `fit`
            Rows in memory: an estimator of any library cannot be run on an engine.
        target : array of shape (n,)
            Labels.
        **options
            ``weight``, sample weights.

        Returns
        -------
        ScoreHistogram
        """
        refused = sorted(set(options) - {"weight"})
        if refused:
            msg = f"score_histogram() got an unexpected keyword argument {refused[0]!r}"
            raise TypeError(msg)
        scores = self.decision_function(source)
        weight = options.get("weight")
        return ScoreHistogram.of_scores(target, scores, weight, classes=self.classes_)

    def score_above(self, point: OperatingPoint) -> float:
        """Return how far the score of an operating point is above that of the present one.

        Parameters
        ----------
        point : OperatingPoint
        """
        positions = self._scale.positions([point.threshold, self.operating_point_.threshold])
        return float(positions[0] - positions[1])

    def threshold_above(self, by: float) -> float:
        """Return the threshold of an operating point at a score above that of the present one.

        Parameters
        ----------
        by : float
            Difference of decisions, in favour of the positive label.
        """
        present = float(self._scale.positions(self.operating_point_.threshold))
        return self._scale.score_at(present + by)

    def operating_points(self, at: Sequence[str | Metric]) -> OperatingPoints:
        """Return other operating points, as all classifiers with a threshold do.

        Parameters
        ----------
        at : sequence of str or Metric
            Metrics with a threshold.

        Returns
        -------
        OperatingPoints
        """
        return OperatingPoints(map(self._for_all_rows, super().operating_points(at)))

    def _for_all_rows(self, point: OperatingPoint) -> OperatingPoint:
        """Move the threshold of a point that predicts one class beyond the scores of all rows."""
        if not point.predicts_one_class or point.empirical is None:
            return point
        position = float(self._scale.positions(point.threshold))
        position = self._scale.beyond(position, below=point.empirical.tpr > 0)
        return replace(point, threshold=self._scale.score_at(position))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return where metadata of `fit` goes: to the estimator, and to the splitter."""
        own = self._with_columns(copy(self._get_metadata_request()))
        router = MetadataRouter(owner=type(self).__name__).add_self_request(own)
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        if self.estimator is not None:
            router.add(estimator=self.estimator, method_mapping=to_fit)
        if hasattr(self.cv, "split"):
            to_split = MethodMapping().add(caller="fit", callee="split")
            router.add(splitter=self.cv, method_mapping=to_split)
        return router

    def scoring_formula(self) -> ScoringFormula:
        """Raise TypeError: the scores are those of an estimator, which exports itself."""
        check_is_fitted(self)
        if self.deciding_columns:
            remedy = "Its scores are those of its estimator, which can be exported by itself"
            raise RowDecisionError(self.deciding_columns, remedy)
        msg = (
            "the scores of an OperatingPointClassifier are those of its estimator: export that, "
            f"and flag rows whose score is above {self.operating_point_.threshold!r}"
        )
        raise TypeError(msg)

    def export_state(self) -> ModelState:
        """Return what is not the estimator's: threshold, scale, calibration, held-out scores."""
        check_is_fitted(self)
        held_out = self._held_out
        arrays: dict[str, Any] = {}
        facts = ModelMetadata(smallest=self._scale.smallest, unit=self._scale.unit, held_out=None)
        if held_out is not None:
            names = ("cell", "weight", "totals", "squares")
            arrays = {name: getattr(held_out, name) for name in names}
            numbers = held_out.center, held_out.scale, *map(float, held_out.variance)
            facts["held_out"] = [held_out.rows, *numbers]
        cv = self.cv if isinstance(self.cv, int | np.integer) else 5
        columns = getattr(self, "feature_names_in_", None) if self.estimator_ is None else None
        return ModelState(
            params=model_params(self) | {"estimator": None, "cv": int(cv)},
            classes=self.classes_,
            n_features=1,
            feature_names=None if columns is None else tuple(map(str, columns)),
            arrays=arrays,
            facts=facts,
            calibration=self.calibration_,
            operating_point=self.operating_point_,
        )

    @classmethod
    def _restored_scoring(cls, state: ModelState) -> dict[str, Any]:
        state.facts.require_names("held_out", "smallest", "unit")
        require(state.params["estimator"] is None, "it names an estimator, which no file holds")
        smallest, unit = state.facts["smallest"], state.facts["unit"]
        valid = is_number(smallest) and is_number(unit) and smallest >= 0 and unit > 0
        require(valid, "its scale of scores is not one")
        point = state.operating_point
        if point is None:
            msg = "it has no operating point"
            raise StateError(msg)
        return {
            "estimator_": None,
            "metric_": point.metric,
            "_scale": ScoreScale(float(smallest), float(unit)),
            "held_out": _restored_held_out(state),
        }

    @classmethod
    def _restored_facts(cls, facts: ModelMetadata) -> dict[str, Any]:  # noqa: ARG003 - read with the arrays
        return {}

    def _asked_metric(self) -> Metric:
        asked: Any = self.metric
        if asked is not None:
            return resolve(asked)
        limits: Any = {} if self.limits is None else self.limits
        if isinstance(limits, Budget):
            return resolve("auc")
        limits = getattr(limits, "limits", limits)
        for rate, of_limit in _METRIC_OF_LIMIT.items():
            if 0 < limits.get(rate, 0) < 1 and self.guarantee is not None:
                metric: Metric = of_limit(limits[rate])
                return metric
        return resolve("error")

    @property
    def _metric(self) -> Metric:
        check_is_fitted(self)
        return self.metric_

    @property
    def _score_rises(self) -> bool:
        return True

    def _move_threshold(self, by: float) -> None:
        """Do nothing: the threshold is that of the operating point."""

    def _checked_rows(self, X: Any, y: Any) -> tuple[Any, AnyArray]:
        if y is None:
            msg = f"{type(self).__name__} requires y to be passed, but the target y is None"
            raise ValueError(msg)
        labels: AnyArray = column_or_1d(plain_labels(y), warn=True)
        assert_all_finite(labels, input_name="y")
        X, labels = indexable(X, labels)
        return X, dates_in_microseconds(labels)

    def _passed(
        self, sample_weight: Any, groups: Any, fit_params: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Return what is passed to `fit` of the estimator; None if nothing is fitted."""
        if self.estimator is None or isinstance(self.estimator, FrozenEstimator):
            self._refuse_unknown("fit", fit_params, self.training_columns)
            return None
        require_cloneable(self.estimator)
        if is_fitted(self.estimator):
            warn(FittedEstimatorWarning(self.estimator), stacklevel=find_stacklevel())
        passed: dict[str, Any] = self._routed(sample_weight, groups, fit_params)
        return passed

    def _scored(
        self, X: Any, y: AnyArray, weight: FloatArray, groups: Any, passed: dict[str, Any] | None
    ) -> HeldOutScores:
        if passed is not None:
            held_out = self._cross_fitted(X, y, weight, groups, passed)
        else:
            read = self._given if self.estimator is None else self._frozen
            held_out = read(X, np.flatnonzero(weight > 0))
        self.estimator_ = held_out.estimator
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return held_out

    def _given(self, X: Any, used: IntArray) -> HeldOutScores:
        scores, why = given_scores(X), "Used as they were given."
        return HeldOutScores(None, scores[used], used, are_probabilities(scores), why)

    def _frozen(self, X: Any, used: IntArray) -> HeldOutScores:
        estimator, why = self.estimator.estimator, "It was fitted before, to other rows."
        method = self._require_estimator(estimator)
        scores = positive_response(estimator, X, method, self.positive_)
        return HeldOutScores(estimator, scores[used], used, method == "predict_proba", why)

    def _cross_fitted(
        self, X: Any, y: AnyArray, weight: FloatArray, groups: Any, routed: Mapping[str, Any]
    ) -> HeldOutScores:
        positive, apart = y == self.positive_, self.guarantee is not None
        used = np.flatnonzero(weight > 0)
        warn_about_copies(Rows(X, positive, weight, group=groups), self._labels)
        splits = splits_of(self.cv, X, y, positive, groups, apart=apart)
        splits = [Split(*(np.intersect1d(part, used) for part in split)) for split in splits]
        fitting = CrossFitting(
            self.estimator, X, y, weight, self.positive_, routed, self.response_method, self.n_jobs
        )
        held_out = fitting.run(splits, used, refit=not apart)
        self._require_estimator(held_out.estimator)
        return held_out

    def _routed(self, sample_weight: Any, groups: Any, fit_params: dict[str, Any]) -> Any:
        given = {"sample_weight": sample_weight, "groups": groups}
        given = {name: value for name, value in given.items() if value is not None}
        if _routing_enabled():
            routed = process_routing(self, "fit", **given, **fit_params)
            return routed.estimator.fit
        passed = dict(fit_params)
        if sample_weight is not None:
            if has_fit_parameter(self.estimator, "sample_weight"):
                passed["sample_weight"] = np.asarray(sample_weight)
            else:
                name = type(self.estimator).__name__
                warn(UnweightedEstimatorWarning(name), stacklevel=find_stacklevel())
        return passed

    def _require_estimator(self, estimator: Any) -> str:
        """Return the method that scores rows; refuse an estimator of other classes."""
        method = response_method(estimator, self.response_method)
        known = np.asarray(getattr(estimator, "classes_", self.classes_)).tolist()
        same = known == self.classes_.tolist()  # 0 and 1 are False and True
        if not same and sorted(map(str, known)) != sorted(map(str, self.classes_.tolist())):
            msg = (
                f"{type(estimator).__name__} was fitted to the classes {known}, and the labels "
                f"are {self.classes_.tolist()}: give labels of the same two classes"
            )
            raise ValueError(msg)
        return method

    def _rows(
        self, held_out: HeldOutScores, y: AnyArray, weight: FloatArray, groups: Any, beside: Rows
    ) -> Rows:
        """Return rows whose only feature is the rank of their score, with what stands beside them.

        Rows are told apart by the rank, so that no scale changes their parts.
        """
        index = held_out.tested
        y, beside = y[index], beside.take(index)
        two_classes(y)
        groups = None if groups is None else np.asarray(groups)[index]
        rank = np.unique(held_out.scores, return_inverse=True)[1].astype(np.float64)
        rows = Rows.of(rank[:, None], y, self.positive_, weight[index], groups=groups)
        return rows._replace(periods=beside.periods, segments=beside.segments, costs=beside.costs)

    def _on_scale(self, rows: Rows, held_out: HeldOutScores) -> Rows:
        """Return rows with the position of the score in place of its rank; set the scale."""
        levels, rank = np.unique(held_out.scores), rows.X.astype(np.intp)
        scores, plain = levels[rank[:, 0]], rows.unpriced.weight
        probabilities = held_out.probabilities
        self._scale = ScoreScale.of(scores, rows.positive, plain, probabilities=probabilities)
        rows = rows._replace(X=self._scale.positions(levels)[rank])
        other = next(label for label in self.classes_.tolist() if label != self.positive_)
        warn_about_reversed(rows, self.positive_, other)
        return rows

    def _at_score(self, end: End, given: HeldOutScores) -> FitResult:
        """Return the end of a fit to positions with its threshold as one of scores.

        If it predicts one class for all rows that set it, it moves, and calibration and held-out
        scores, which are relative to it, move along.
        """
        fitted = end.result(np.array([1.0, -end.point.threshold]), given.variance)
        point, held_out, calibration = end.point, fitted.held_out, fitted.calibration
        threshold = self._scale.threshold_at(point.threshold, given.scores)
        above = given.scores > threshold
        if above.all() or not above.any():
            by = float(self._scale.positions(threshold)) - point.threshold
            slope = calibration.above if above.any() else calibration.below
            calibration = replace(calibration, offset=calibration.offset + slope * by)
            held_out = held_out and held_out.restated(by, 1.0)
            point = replace(point, budget=point.budget and point.budget.moved(by))
        calibration = calibration.sign_flipped() if self._catches_first else calibration
        point = replace(point, threshold=threshold)
        return replace(fitted, operating_point=point, calibration=calibration, held_out=held_out)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _restored_held_out(state: ModelState) -> HeldOut | None:
    arrays, facts = StateArrays(state.arrays), state.facts["held_out"]
    if facts is None:
        arrays.require_empty()
        return None
    valid = isinstance(facts, list) and len(facts) == 6 and is_text(facts[0])
    require(valid and all(map(is_number, facts[1:])), "its held-out scores are damaged")
    cell = arrays.take("cell", (None,), "int64")
    weight = arrays.take("weight", (len(cell),), "float64")
    totals = arrays.take("totals", (None, 2), "float64")
    squares = arrays.take("squares", (len(totals), 2), "float64")
    arrays.require_empty()
    inside = not len(cell) or (cell.min() >= 0 and cell.max() < len(totals) * 2 * BINS)
    center, scale, best, at_limit, along_curve = map(float, facts[1:])
    valid = min(scale, best, at_limit) > 0
    require(inside and valid, "its held-out scores are damaged")
    variance = ClaimVariance(best, at_limit, along_curve=bool(along_curve))
    return HeldOut(cell, weight, totals, squares, facts[0], center, scale, variance)
