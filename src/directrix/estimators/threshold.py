"""ThresholdClassifier: base class of classifiers with a threshold from held-out rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from directrix._typing import AnyArray, FloatArray
from directrix.estimators.base import LinearClassifier
from directrix.estimators.scoring import Response, Sigmoid
from directrix.estimators.state import ModelState, require
from directrix.exceptions import NoHeldOutScoresError
from directrix.fit.copies import warn_about_copies
from directrix.fit.evidence import HeldOut
from directrix.fit.finish import (
    FitResult,
    direction_caution,
    one_class_caution,
    point_at,
    warn_of,
)
from directrix.fit.money import RowCosts, given_column, stated_metric
from directrix.fit.operating_point import Calibration, OperatingPoint, OperatingPoints, Rule
from directrix.fit.progress import Progress
from directrix.fit.report import DirectReport
from directrix.fit.training_rows import FOLDS, Rows
from directrix.metrics.at_threshold import Cost
from directrix.metrics.base import Metric
from directrix.metrics.budget import Budget, Periods, team_numbers
from directrix.metrics.segments import InEverySegment, Segments
from directrix.metrics.table import resolve
from directrix.rows.classes import dates_in_microseconds, plain_labels, toward_positive

#: Name of the column of a fit that tells the segment of each row.
SEGMENT = "segment"


class ThresholdClassifier(LinearClassifier):
    """Base class for classifiers with a threshold from held-out rows and calibrated probabilities.

    ``calibration_`` turns scores into probabilities of the last class.
    """

    metric: str | Metric
    class_weight: Any
    cv: Any
    #: What the last fit left, by one assignment.
    _result: FitResult | None = None

    @property
    def calibration_(self) -> Calibration:
        """From the decision function to probabilities of the last class."""
        calibration: Calibration = self._kept("calibration")
        return calibration

    @property
    def _held_out(self) -> HeldOut | None:
        return None if self._result is None else self._result.held_out

    @property
    def report_(self) -> DirectReport:
        """The candidates that were tried, which was chosen and why."""
        report: DirectReport = self._kept("report")
        return report

    @property
    def operating_point_(self) -> OperatingPoint:
        """The threshold that was trained for, and the rates to expect there."""
        point: OperatingPoint = self._kept("operating_point")
        return point

    def predict(
        self, X: Any, at: str | Metric | OperatingPoint | None = None, **columns: Any
    ) -> AnyArray:
        """Return the class of each row: at an operating point.

        With a cost of columns, ``Cost(fp=5, fn="amount")``, a row is predicted positive where that
        saves money in expectation (`expected_saving`); one threshold decides about all rows for
        ``Cost(fp=5, fn="amount", known=False)``.

        Parameters
        ----------
        X : as in `fit`
        at : str, Metric or OperatingPoint, optional
            What sets the threshold: a metric such as "recall@fpr=0.01", for which the best
            threshold on held-out rows is taken, or one of `operating_points`. By default the
            operating point that the classifier was trained for.
        **columns : arrays of shape (n,)
            Costs of the rows, by the names that the metric gives them.
        """
        self._refuse_unknown("predict", columns, self._names_at(at))
        rule = self._rule(at)
        if rule == Rule():
            return super().predict(X)
        if rule.by_saving:
            values = self._saving(X, self._metric if at is None else at, columns)
        else:
            values = toward_positive(self, self.decision_function(X))
        flagged = rule.flags(values, self._team_numbers(rule, X, columns, len(values)))
        return self._labels[flagged.astype(np.intp)]

    def _rule(self, at: str | Metric | OperatingPoint | None) -> Rule:
        """Return which rows are flagged: at the operating point, or as another metric has it."""
        if at is None:
            point = None if self._result is None else self._result.operating_point
            rule = Rule() if point is None else point.rule
            by_row = getattr(self._metric, "by_row", False)  # else there are no costs to save
            return rule if by_row or not rule.by_saving else Rule()
        if not isinstance(at, OperatingPoint) and getattr(resolve(at), "by_row", False):
            return Rule(by_saving=True)
        return Rule(threshold=self._decision_at(at))

    def _saving(self, X: Any, metric: Any, columns: Mapping[str, Any]) -> FloatArray:
        """Return what flagging each row saves in expectation, by the costs of a metric."""
        probability = self._positive_probability(X)
        cost: Any = resolve(metric)
        return RowCosts.of(cost, len(probability), columns, X).expected_saving(probability)

    def expected_saving(self, X: Any, **columns: Any) -> FloatArray:
        r"""Return what flagging each row saves in expectation, by the costs of the metric.

        .. math:: p\, c_{fn} - (1 - p)\, c_{fp}

        with calibrated probabilities p: rank rows by it where only some can be looked at.

        Parameters
        ----------
        X : as in `fit`
        **columns : arrays of shape (n,)
            Costs of the rows, by the names that the metric gives them.

        Returns
        -------
        array of shape (n,)
        """
        metric = self._metric
        if not isinstance(metric, Cost):
            msg = f"the metric has no costs, {metric}: train for Cost(fp=..., fn=...)"
            raise TypeError(msg)
        return self._saving(X, metric, columns)

    def get_metadata_routing(self) -> Any:
        """Return what scikit-learn routes to this classifier: the columns of its costs as well."""
        return self._with_columns(super().get_metadata_routing())

    def _with_columns(self, request: Any) -> Any:
        """Return a request of metadata with the columns of costs and budgets."""
        in_fit = self.training_columns
        only_in_fit = SEGMENT, getattr(self._asked_budget, "per", None)
        of_rows = [name for name in in_fit if name not in only_in_fit]
        for method, names in ((request.fit, in_fit), (request.predict, of_rows)):
            for name in names:
                method.add_request(param=name, alias=True)
        for name in of_rows:
            request.score.add_request(param=name, alias=True)
        return request

    @property
    def deciding_columns(self) -> tuple[str, ...]:
        """The columns that decide about a row beside its score: costs, and the team."""
        rule = self._rule(None)
        costs = self._cost_columns(self._metric) if rule.by_saving else ()
        return costs if rule.team is None else (*costs, rule.team)

    @property
    def _asked_budget(self) -> Budget | None:
        """The budget that the limits are, if they are one."""
        limits = getattr(self, "limits", None)
        return limits if isinstance(limits, Budget) else None

    @property
    def training_columns(self) -> tuple[str, ...]:
        """The columns that a fit takes: of the costs, and of the budget, and the segment."""
        budget = self._asked_budget
        names = self._cost_columns(self.metric)
        columns = () if budget is None else budget.columns
        return tuple(dict.fromkeys([*names, *columns, SEGMENT]))

    @property
    def takes_costs_or_days(self) -> bool:
        """Whether a fit takes costs of single rows, or days of a budget."""
        return bool({*self.training_columns} - {SEGMENT})

    def _cost_columns(self, metric: Any) -> tuple[str, ...]:
        """Return the columns that the costs of a metric are."""
        if isinstance(metric, OperatingPoint):
            metric = metric.metric
        return () if metric is None else getattr(resolve(metric), "columns", ())

    def _names_at(self, at: Any) -> tuple[str, ...]:
        """Return the columns that decisions may need."""
        names = self._cost_columns(self._metric if at is None else at)
        point = None if self._result is None else self._result.operating_point
        by = None if point is None or point.budget is None else point.budget.budget.by
        return names if by is None else (*names, by)

    def _begin(self, rows: Rows, purpose: str, log: Progress) -> int:
        """Warn of copies, print what is fitted, and return the number of folds to make."""
        warn_about_copies(rows, self._labels)
        n_folds = int(self.cv) if rows.fold is None else FOLDS
        used_folds = n_folds if rows.fold is None else int(rows.fold.max()) + 1
        log.report_rows(rows.X, used_folds, purpose)
        return n_folds

    def _refuse_unknown(
        self, method: str, columns: Mapping[str, Any], names: Sequence[str]
    ) -> None:
        """Raise TypeError for a column that neither the costs nor the budget name."""
        unknown = [name for name in columns if name not in names]
        if unknown:
            msg = f"{method}() got an unexpected keyword argument {unknown[0]!r}"
            if names:
                msg += f": the columns are {', '.join(map(repr, names))}"
            raise TypeError(msg)

    def _row_costs(
        self, X: Any, metric: Any, columns: Mapping[str, Any], n_rows: int
    ) -> RowCosts | None:
        """Return the costs of rows; None if those of the metric are no columns."""
        cost: Any = resolve(metric) if self._cost_columns(metric) else None
        return None if cost is None else RowCosts.of(cost, n_rows, columns, X)

    def _periods(self, X: Any, columns: Mapping[str, Any], n_rows: int) -> Periods | None:
        """Return the days and teams of rows, as columns or from a table; None without a budget."""
        budget = self._asked_budget
        if budget is None:
            return None
        given = {name: given_column(name, X, columns) for name in budget.columns}
        return Periods.of(budget, given, n_rows)

    def _segments(self, columns: Mapping[str, Any], n_rows: int) -> Segments | None:
        """Return the segments of rows, if they were given; refuse limits of segments without."""
        limits = getattr(self, "limits", None)
        every = limits if isinstance(limits, InEverySegment) else None
        if columns.get(SEGMENT) is None:
            if every is not None:
                msg = f"{every.label} needs the segment of each row: give segment= to fit"
                raise ValueError(msg)
            return None
        return Segments.of(columns[SEGMENT], n_rows, None if every is None else every.pool)

    def _beside(self, X: Any, metric: Metric, columns: Mapping[str, Any], n_rows: int) -> Rows:
        """Return rows with nothing but what stands beside them."""
        nothing = np.empty((n_rows, 0))
        rows = Rows(nothing, nothing, nothing, costs=self._row_costs(X, metric, columns, n_rows))
        periods, segments = self._periods(X, columns, n_rows), self._segments(columns, n_rows)
        return rows._replace(periods=periods, segments=segments)

    def _priced(
        self,
        metrics: list[Metric],
        prepared: Rows,
        given: tuple[Any, Any, Any],
        columns: Mapping[str, Any],
    ) -> tuple[Rows, list[Metric]]:
        """Return rows with what stands beside them, and metrics of training.

        ``given`` are X, y and the sample weights; rows of weight zero are not among ``prepared``.
        """
        X, y, sample_weight = given
        self._refuse_unknown("fit", columns, self.training_columns)
        if any(map(self._cost_columns, metrics)):
            asked = {"several metrics": len(metrics) > 1, "class_weight=": self.class_weight}
            for what, is_given in asked.items():
                if is_given:
                    msg = f"costs of single rows do not go with {what}: leave one of them out"
                    raise ValueError(msg)
        beside = self._beside(X, metrics[0], columns, len(np.asarray(y)))
        if sample_weight is not None:
            beside = beside.take(np.asarray(sample_weight) > 0)
        prepared = prepared._replace(periods=beside.periods, segments=beside.segments)
        if beside.costs is None:
            return prepared, metrics
        cost: Any = metrics[0]
        prepared, metric = prepared.priced(cost, beside.costs)
        return prepared, [metric]

    def _team_numbers(self, rule: Rule, X: Any, columns: Mapping[str, Any], n_rows: int) -> Any:
        """Return the team of each row as its position in a budget; None without teams."""
        if rule.budget is None or rule.team is None:
            return None
        return team_numbers(rule.budget.budget, given_column(rule.team, X, columns), n_rows)

    def _positive_probability(self, X: Any) -> FloatArray:
        """Return the calibrated probability of the positive class."""
        return self.predict_proba(X)[:, 0 if self._catches_first else 1]

    def operating_points(self, at: Sequence[str | Metric]) -> OperatingPoints:
        """Return other operating points of the same model: its best threshold for each metric.

        Thresholds come from the held-out scores of the fit, with the rates to expect on new rows.
        The model stays the one that was trained for `metric`; `fit_each` trains one for each.

        Parameters
        ----------
        at : sequence of str or Metric
            Metrics with a threshold, such as ``["recall@fpr=0.01", "precision@recall=0.9"]``.

        Returns
        -------
        OperatingPoints
            A tuple of OperatingPoint that prints as a table.

        Raises
        ------
        NoHeldOutScoresError
            If the model was fitted to a summary, read from a file, or recalibrated.
        """
        if isinstance(at, str) or not isinstance(at, Iterable):
            at = [at]
        check_is_fitted(self)
        weighted_by = self.operating_point_.weighted_by
        held_out = self._held_out
        if held_out is None:
            raise NoHeldOutScoresError(type(self).__name__)
        points = [point_at(resolve(each), held_out) for each in at]
        return OperatingPoints(
            replace(point, threshold=self.threshold_above(point.threshold), weighted_by=weighted_by)
            for point in points
        )

    def with_threshold(self, point: OperatingPoint, calibration: Calibration | None = None) -> Self:
        """Return a copy of this model with another threshold.

        Scores change by a constant, so that zero is the threshold again. With another calibration
        the copy has no held-out scores, which `operating_points` and ``predict(X, at=...)`` need:
        those of the fit are not of the rows that made it.

        Parameters
        ----------
        point : OperatingPoint
            From `operating_points`, or from ``retune`` of `directrix.monitoring`.
        calibration : Calibration, optional
            Of the new scores, in favour of the last class. By default probabilities are those of
            the old scores at the threshold, with the old slopes on either side.
        """
        if not isinstance(point, OperatingPoint):
            msg = (  # type: ignore[unreachable] # by its type only
                "with_threshold takes an operating point, such as "
                f"model.operating_points(['recall@fpr=0.01'])[0], not {point!r}"
            )
            raise TypeError(msg)
        by = self.score_above(point)
        changed = copy(self)
        changed._move_threshold(by)  # noqa: SLF001 - a copy of itself
        held_out: HeldOut | None = None
        if calibration is None:
            held_out = self._held_out and self._held_out.restated(by, 1.0)
            old = self.calibration_
            at_threshold = float(old.log_odds(-by if self._catches_first else by))
            calibration = replace(old, offset=at_threshold)
        return changed.with_state(point, calibration, held_out)

    def _kept(self, noun: str) -> Any:
        """Return a part of the result of the last fit.

        Raises NotFittedError before a fit, and AttributeError if the result lacks it.
        """
        check_is_fitted(self)
        stored = getattr(self._result, noun, None)
        if stored is not None:
            return stored
        makers = "classifiers that compare candidates" if noun == "report" else "fit and fit_source"
        msg = (
            f"this {type(self).__name__} has no {noun}_: {makers} make it from rows; a fit to "
            "summaries has none, and model files do not store it, so keep str() of it with the file"
        )
        raise AttributeError(msg)

    def with_state(
        self, point: OperatingPoint, calibration: Calibration, held_out: HeldOut | None
    ) -> Self:
        """Return a copy of this model that says other things about the same scores."""
        changed, known = copy(self), self._result
        assert known is not None  # noqa: S101 - of a fitted model
        result = replace(known, operating_point=point, calibration=calibration, held_out=held_out)
        changed._result = result  # noqa: SLF001 - a copy of itself
        return changed

    def threshold_above(self, by: float) -> float:
        """Return the threshold of an operating point at a score above that of the present one.

        Parameters
        ----------
        by : float
            Difference of the scores, in favour of the positive label.
        """
        moved = self.operating_point_.threshold + (by if self._score_rises else -by)
        return self._stated_threshold(moved)

    def score_above(self, point: OperatingPoint) -> float:
        """Return how far the score of an operating point is above that of the present one.

        Parameters
        ----------
        point : OperatingPoint
        """
        above = point.threshold - self.operating_point_.threshold
        return above if self._score_rises else -above

    def _move_threshold(self, by: float) -> None:
        """Subtract a constant from the scores in favour of the positive label."""
        self.intercept_ = self.intercept_ - (-by if self._catches_first else by)

    def score(self, X: Any, y: Any, sample_weight: Any = None, **columns: Any) -> float:
        """Return the metric that the classifier was trained for, on these rows; more is better.

        It is what `GridSearchCV` and `cross_val_score` use without ``scoring``. The error is turned
        into the accuracy, the balanced error into the balanced accuracy; other metrics of which
        less is better change their sign. A metric with a limit or a quota, such as recall at 1 %
        FPR, has its best cutoff on these rows, so that models are compared at the same limit: not
        the cutoff of `predict`, whose rates ``directrix evaluate`` shows.

        Parameters
        ----------
        X : as in `fit`
        y : array of shape (n,)
        sample_weight : array of shape (n,), optional
        **columns : arrays of shape (n,)
            Costs of the rows, by the names that the metric gives them.
        """
        metric, labels = self._metric, dates_in_microseconds(np.asarray(plain_labels(y)))
        positive = labels == self.positive_
        self._refuse_unknown("score", columns, self._names_at(None))
        costs = self._row_costs(X, metric, columns, len(positive))
        if costs is not None:
            spent = costs.of_decisions(positive, self.predict(X, **columns) == self.positive_)
            return metric.as_score(float(np.average(spent, weights=sample_weight)))
        scores = toward_positive(self, self.decision_function(X))
        value = metric.score(positive, scores, sample_weight)
        return metric.as_score(value)

    @property
    def _metric(self) -> Metric:
        """The metric that the classifier was trained for; before a fit, the one it asks for."""
        return resolve((self._result and self._result.metric) or self.metric)

    @property
    def _score_rises(self) -> bool:
        """Whether rows above the threshold of the operating point are predicted positive."""
        return not self._catches_first

    def _stated_threshold(self, threshold: float) -> float:
        """Return a threshold as it is stated; a card of whole points has it between two of them."""
        return threshold

    def _decision_at(self, at: str | Metric | OperatingPoint) -> float:
        """Return the score in favour of the positive class above which to predict it."""
        return self.score_above(
            at if isinstance(at, OperatingPoint) else self.operating_points([at])[0]
        )

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class; ``calibration_.how`` says how it was made.

        It increases with the score. Only for the error is the operating point at one half: a line
        trained for one false positive in a hundred cuts where that is reached.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)

        Returns
        -------
        array of shape (n, 2)
        """
        scores = self.decision_function(X)
        positive = self.calibration_(scores)
        return np.column_stack([1.0 - positive, positive])

    def export_state(self) -> ModelState:
        """Return all that scores rows, with the calibration and the operating point."""
        return replace(
            super().export_state(),
            calibration=self.calibration_,
            operating_point=None if self._result is None else self._result.operating_point,
        )

    @property
    def _response(self) -> Response:
        calibration = self.calibration_
        return Sigmoid(calibration.offset, calibration.below, calibration.above)

    @classmethod
    def _restored_attributes(cls, state: ModelState) -> dict[str, Any]:
        require(state.calibration is not None, "it does not have a calibration")
        attributes = super()._restored_attributes(state)
        known: Any = state  # a summary of one class has no operating point
        line = np.empty(0)
        if "coef_" in attributes:
            line = np.append(attributes["coef_"][0], attributes["intercept_"])
        held_out = attributes.pop("held_out", None)
        metric = state.params.get("metric")
        result = FitResult(line, known.operating_point, known.calibration, held_out, metric=metric)
        return attributes | {"_result": result}

    def _set_line(self, fitted: FitResult, without_search: str = "") -> None:
        """Store a line that scores in favour of the positive class."""
        if self._catches_first:
            fitted = fitted.sign_flipped()
        self.coef_, self.intercept_ = fitted.line[None, :-1].copy(), fitted.line[-1:].copy()
        self._keep(replace(fitted, metric=self.metric), without_search)

    def _keep(self, fitted: FitResult, without_search: str = "", remedy: str = "") -> None:
        """Keep the result of a fit, and warn of its cautions.

        ``without_search`` and ``remedy`` are those of `one_class_caution`.
        """
        point = fitted.operating_point
        point = replace(point, metric=stated_metric(point.metric))
        metric = fitted.metric or (self._result and self._result.metric) or self.metric
        self._result = replace(fitted, operating_point=point, cautions=(), metric=metric)
        if fitted.report is not None:
            self._result = replace(self._result, report=self._final_report(fitted.report))
        cautions = (
            one_class_caution(point, without_search, remedy),
            direction_caution(fitted.report),
        )
        warn_of(*fitted.cautions, *cautions)

    def _final_report(self, report: DirectReport) -> DirectReport:
        """Return a report about the operating point that is delivered.

        A guarantee moves the threshold after the candidates were compared: what to expect is that
        of the delivered one. The report says what looked odd in the table, what rates are weighted
        by, and which of two texts is caught.
        """
        point = self.operating_point_
        return replace(
            report,
            metric=point.metric,
            expected=point.estimate,
            caught=self._caught_text,
            weighted_by=point.weighted_by,
            segments=point.segments,
            findings=self._findings,
        )

    @property
    def _caught_text(self) -> str:
        """Which of two texts is caught; empty if the labels are no texts."""
        classes = self.classes_.tolist()
        if not isinstance(self.positive_, str):
            return ""
        if self.positive is not None:
            return f"catches {self.positive_!r}"
        other = next(label for label in classes if label != self.positive_)
        return (
            f"catches {self.positive_!r}, the last label in sorted order; for the other, give "
            f"positive={other!r}"
        )
