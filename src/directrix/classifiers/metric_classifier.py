"""MetricClassifier: base class of classifiers that are fitted with a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self
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


class MetricClassifier(ThresholdClassifier):
    """Base class for classifiers that are judged by a metric on held-out rows.

    Classifiers for several metrics share their fits. A subclass has `fit`, `fit_each` and
    `fit_source`.
    """

    metric: str | Metric
    cv: Any
    guarantee: float | None
    limits: Limits | None
    class_weight: Any
    warn_baseline: bool
    #: What a warning calls the simpler model that a fit is compared with.
    _baseline: ClassVar[str]

    def _priced(
        self,
        metrics: list[Metric],
        prepared: Rows,
        given: tuple[Any, Any, Any],
        columns: Mapping[str, Any],
    ) -> tuple[Rows, list[Metric]]:
        """Return rows with the costs of their errors and their days, and metrics of training.

        ``given`` are X, y and the sample weights; rows of weight zero are not among ``prepared``.
        """
        X, y, sample_weight = given
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
        for what, is_given in refused.items():
            if is_given:
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
        guarantee = Guarantee.asked(metric, self.limits, self.guarantee)
        folds = source_folds(roles["fold"], self.cv)
        if guarantee is not None:
            if roles["weight"] is not None:
                msg = "guarantee= counts rows, each once: leave weight= out"
                raise ValueError(msg)
            folds = replace(folds, n_folds=folds.n_folds + 1)
        passes = SourcePasses.of(source, plan=plan, **reading, **roles | {"fold": folds})
        pool = {} if every is None else every.pool
        return SourceFit(metric, passes, self.class_weight, guarantee, pool)

    def _report_choice(self, progress: Progress) -> None:
        """Print what was chosen, and warn of columns whose direction the rows contradict."""
        report = self.report_
        flat = tuple(dict.fromkeys(effect.column for effect in report.directions if effect.flat))
        if flat:
            warn(DirectionWarning(flat), stacklevel=find_stacklevel())
        among = f"chosen from {len(report.tried)} candidates: " if report.gap is not None else ""
        progress.stage(f"{among}{report.chosen}; {report.metric.label} {report.expected_text}")

    def _begin(self, rows: Rows, purpose: str, log: Progress) -> int:
        """Warn of copies, print what is fitted, and return the number of folds to make."""
        warn_about_copies(rows, self._labels)
        n_folds = int(self.cv) if rows.fold is None else FOLDS
        used_folds = n_folds if rows.fold is None else int(rows.fold.max()) + 1
        log.report_rows(rows.X, used_folds, purpose)
        return n_folds

    def _asked_guarantee(self, metric: Metric, groups: Any = None) -> Guarantee | None:
        """Return what is guaranteed; refuse limits that do not go together."""
        guarantee = Guarantee.asked(metric, self.limits, self.guarantee)
        refuse_with_limits(self.limits, metric, groups)
        return guarantee

    @property
    def _baseline_gap(self) -> Gap | None:
        """The gap to the baseline; None if it is not known."""
        return self.report_.gap

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
