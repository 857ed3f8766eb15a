"""MetricClassifier: base class of classifiers that compare candidates by a metric."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self
from warnings import warn

import numpy as np

from directrix.classifiers.threshold_classifier import SEGMENT, ThresholdClassifier
from directrix.exceptions import (
    DirectionWarning,
    NotBetterThanBaselineWarning,
    ShortCardWarning,
    find_stacklevel,
    is_inside_search,
)
from directrix.fitting.copies import warn_about_copies
from directrix.fitting.fit_rows import Ask, Fitted
from directrix.fitting.guarantee import Guarantee, Limits, refuse_with_limits
from directrix.fitting.progress import Progress
from directrix.fitting.training_rows import Rows
from directrix.metrics.base import Metric
from directrix.metrics.segments import InEverySegment
from directrix.metrics.table import resolve
from directrix.models.gap import Gap
from directrix.models.money import RowCosts

if TYPE_CHECKING:  # only fit_source needs engines
    from directrix.fitting.fit_source import SourceFit

#: Folds, where ``cv`` does not say how many.
FOLDS = 5


class PreparedFit(NamedTuple):
    """Rows, and what fits a model to them for each metric."""

    rows: Rows
    fits: Callable[[Ask], list[Fitted]]


class MetricClassifier(ThresholdClassifier):
    """Base class for classifiers that choose among candidates by a metric on held-out rows.

    Classifiers for several metrics share their candidates.
    """

    metric: str | Metric
    cv: Any
    guarantee: float | None
    limits: Limits | None
    class_weight: Any
    warn_baseline: bool
    #: What a warning calls the simpler model that a fit is compared with.
    _baseline: ClassVar[str]

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **columns: Any
    ) -> Self:
        """Fit to rows in memory.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix or list of rows, of shape (n, d)
            Numbers. A card takes texts, booleans, dates and missing values as well.
        y : array of shape (n,)
            Labels.
        sample_weight : array of shape (n,), optional
            How much each row counts. Whatever its weight, a row is one row: it is in one fold.
        groups : array of shape (n,), optional
            Group of each row (a customer, a patient): all rows of a group are in one fold. With
            `guarantee`, whole groups are set apart, and one row of each of them counts.
        **columns : arrays of shape (n,)
            Costs of the rows, by the names that the metric gives them: ``amount=`` for
            ``Cost(fp=5, fn="amount")``; days and teams, by those of a `Budget`. By default they
            are columns of the table. ``segment=``: the segment of each row, such as a country, for
            ``operating_point_.segments`` and `InEverySegment`; not needed to predict.
        """
        rows = X, y, sample_weight, groups
        self._fit_metrics([resolve(self.metric)], [self], rows, columns)
        return self

    def fit_each(
        self,
        metrics: Sequence[str | Metric],
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> list[Self]:
        """Return a classifier for each of several metrics; they share their candidates.

        Parameters
        ----------
        metrics : sequence of str or Metric
        X, y, sample_weight, groups : as in `fit`
        """
        resolved = [resolve(metric) for metric in metrics]
        classifiers = [copy(self).set_params(metric=metric) for metric in resolved]
        self._fit_metrics(resolved, classifiers, (X, y, sample_weight, groups))
        return classifiers

    @abstractmethod
    def _prepared(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> PreparedFit:
        """Validate rows; set classes and features, and return what fits a model to them."""

    @abstractmethod
    def _set_model(self, fit: Fitted) -> None:
        """Store a line or a card."""

    def _fit_metrics(
        self,
        metrics: list[Metric],
        classifiers: list[Self],
        rows: tuple[Any, Any, Any, Any],
        columns: Mapping[str, Any] | None = None,
    ) -> None:
        """Fit one classifier per metric to the same rows, labels, weights and groups."""
        progress = Progress(self)
        self._check_parameters(metrics)
        for metric in metrics:
            refuse_with_limits(self.limits, metric, rows[3])
        prepared, fits = self._prepared(*rows)
        prepared, metrics = self._priced(metrics, prepared, rows, columns or {})
        warn_about_copies(prepared, self._labels)
        n_folds, used_folds = self._n_folds(prepared)
        progress.report_rows(prepared.X, used_folds, ", ".join(metric.label for metric in metrics))
        guarantees = self._guarantees(metrics)
        ask = Ask(metrics, prepared, n_folds, guarantees, progress.report_candidate)
        for classifier, made in zip(classifiers, fits(ask), strict=True):
            classifier._copy_features(self)  # noqa: SLF001 - a copy of this very classifier
            classifier._set_fit(made, progress)  # noqa: SLF001
        self._warn_about_baseline(classifiers)

    def _priced(
        self,
        metrics: list[Metric],
        prepared: Rows,
        rows: tuple[Any, Any, Any, Any],
        columns: Mapping[str, Any],
    ) -> tuple[Rows, list[Metric]]:
        """Return rows with the costs of their errors and their days, and metrics of training."""
        X, y, sample_weight, _ = rows
        self._refuse_unknown("fit", columns, self._names_in_fit)
        priced = any(map(self._cost_columns, metrics))
        n_rows = len(np.asarray(y))
        kept = slice(None) if sample_weight is None else np.asarray(sample_weight) > 0
        periods = self._periods(X, columns, n_rows)
        if periods is not None:
            prepared = prepared._replace(periods=periods.take(kept))
        segments = self._segments(columns, n_rows)
        if segments is not None:
            prepared = prepared._replace(segments=segments.take(kept))
        if not priced:
            return prepared, metrics
        refused = {"several metrics": len(metrics) > 1, "class_weight=": self.class_weight}
        for what, given in refused.items():
            if given:
                msg = f"costs of single rows do not go with {what}: leave one of them out"
                raise ValueError(msg)
        cost: Any = metrics[0]
        costs = RowCosts.of(cost, n_rows, columns, X)
        prepared, metric = prepared.priced(cost, costs.take(kept))
        return prepared, [metric]

    def _source_fit(
        self,
        source: Any,
        roles: dict[str, Any],
        reading: dict[str, Any],
        plan: Any,
    ) -> SourceFit:
        """Return the fit in passes over a source; refuse parameters that it does not have.

        ``roles`` and ``reading`` are those of `SourcePasses.of`, and ``plan`` the class that reads
        the features.
        """
        from directrix.fitting.fit_source import SourceFit, SourcePasses, source_folds

        metric = resolve(self.metric)
        asked = [name for name in self._names_in_fit if name != SEGMENT]
        if asked:
            column = asked[0]
            msg = f"fit_source has no costs or days of single rows, {column!r}: use fit"
            raise ValueError(msg)
        every = self.limits if isinstance(self.limits, InEverySegment) else None
        if every is not None and roles[SEGMENT] is None:
            msg = f"{every.label} needs the segment of each row: name its column with segment="
            raise ValueError(msg)
        guarantees = self._guarantees([metric])
        folds = source_folds(roles["fold"], self.cv)
        if guarantees is not None:
            if roles["weight"] is not None:
                msg = "guarantee= counts rows, each once: leave weight= out"
                raise ValueError(msg)
            folds = replace(folds, n_folds=folds.n_folds + 1)
        passes = SourcePasses.of(source, plan=plan, **reading, **roles | {"fold": folds})
        guarantee = guarantees[0] if guarantees else None
        pool = {} if every is None else every.pool
        return SourceFit(metric, passes, self.class_weight, guarantee, pool)

    def _set_source_fit(self, fit: Fitted, weight: Any, progress: Progress) -> None:
        """Store a fit in passes over a source with this column of weights."""
        self._set_source_weight(weight)
        self._set_fit(fit, progress)
        self._warn_about_baseline([self])

    def _set_fit(self, fit: Fitted, progress: Progress) -> None:
        """Store a fit, and print which candidate was chosen."""
        self._set_model(fit)
        report = self.report_
        flat = tuple(dict.fromkeys(effect.column for effect in report.directions if effect.flat))
        if flat:
            warn(DirectionWarning(flat), stacklevel=find_stacklevel())
        progress.stage(
            f"chosen from {len(report.tried)} candidates: {report.chosen}; "
            f"{report.metric.label} {report.expected_text}"
        )

    def _n_folds(self, rows: Rows) -> tuple[int, int]:
        """Return the number of folds to make, and of those that are used."""
        made = int(self.cv) if rows.fold is None else FOLDS
        return made, made if rows.fold is None else int(rows.fold.max()) + 1

    def _check_parameters(self, metrics: list[Metric]) -> None:
        """Refuse parameters that do not go together."""
        self._guarantees(metrics)

    def _guarantees(self, metrics: list[Metric]) -> list[Guarantee] | None:
        """Return what is guaranteed for each metric."""
        asked = [Guarantee.asked(metric, self.limits, self.guarantee) for metric in metrics]
        return [guarantee for guarantee in asked if guarantee is not None] or None

    @property
    @abstractmethod
    def _baseline_gap(self) -> Gap | None:
        """The gap to the baseline; None if it is not known."""

    @property
    def _is_behind(self) -> bool:
        """Whether a simpler model is as good on held-out rows, where that is news.

        It is no news if the choice is the baseline itself, which the report says, nor if neither is
        clearly better than a constant, which is its first line. Of a card that is too short the
        length is the news. Without held-out rows nothing is known.
        """
        gap, report = self._baseline_gap, self.report_
        if gap is None or gap.is_none or report.too_short or np.isnan(report.expected.value):
            return False
        return report.is_clear_loss(gap) or (gap.mean <= 0 and not report.no_better_than_constant)

    def _warn_about_baseline(self, classifiers: Sequence[Self]) -> None:
        """Warn of cards that are too short; else once of metrics by which a baseline is as good."""
        if not self.warn_baseline or is_inside_search():
            return
        for report in [each.report_ for each in classifiers]:
            if size := report.too_short:
                known = report.metric.label, size.lines, size.full_lines, -size.gap.mean
                warn(ShortCardWarning(*known), stacklevel=find_stacklevel())
        behind = tuple(resolve(each.metric).label for each in classifiers if each._is_behind)  # noqa: SLF001
        if behind:
            warn(NotBetterThanBaselineWarning(self._baseline, behind), stacklevel=find_stacklevel())
