"""Monitor: checks of the rows of a day against reference rows of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import accumulate
from math import inf
from operator import add
from typing import TYPE_CHECKING, Any
from warnings import warn

import numpy as np
from scipy.special import betaincinv

from directrix.exceptions import UncheckedColumnsWarning, find_stacklevel
from directrix.metrics import ScoreHistogram
from directrix.moments import BinCounts, Moments, stability
from directrix.moments.counts.stability import psi_reading, stability_index
from directrix.monitoring.day_check import (
    ALARM_RATE,
    FEWEST_DAYS,
    Alerts,
    ColumnCheck,
    DayCheck,
    DayEffects,
    DriftTest,
    Prevalence,
    ScoreStability,
    check_promises,
    effects_of_days,
)
from directrix.monitoring.day_summaries import DaySummaries, require_scores_of, threshold_of
from directrix.monitoring.decay import as_day
from directrix.monitoring.vectors import (
    DayComparison,
    compare_columns,
    compare_scores,
    labelled_pair,
)
from directrix.rows.classes import positive_of
from directrix.rows.labels import ordered_names
from directrix.rows.sums import tree_sum

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.estimators import OperatingPoint
    from directrix.monitoring.mixture import MixtureFit

#: Cells of the population stability index of scores: tenths of the reference rows.
_PSI_CELLS = 10
#: Name of the scores among stability indices.
_SCORES = "scores"


class Monitor:
    r"""Checks the rows of a day against reference rows of a model, from summaries alone.

    Rows without labels tell the share of positives, if only that has changed since the reference
    (prior shift), and whether more has changed (drift of the classes themselves): see
    ``directrix.monitoring.mixture``. Rows with labels tell whether the model keeps its promises.

    Parameters
    ----------
    scores : ScoreHistogram
        Labelled scores of the reference rows, in favour of the positive label. They should be rows
        that the model was not fitted to.
    columns : Moments or BinCounts, optional
        Labelled reference columns, with the positive label last.
    operating_point : OperatingPoint, optional
        What the model promised.
    threshold : float
        Rows with scores above it are alerts; zero for all classifiers of this library. For others
        `of_days` takes it on the scale of their own scores.
    alarm_rate : float
        Probability of a false alarm of drift on a day.
    days : iterable of DaySummaries
        Reference days one by one. They tell how much days differ beyond chance (weekdays, weather),
        which is then no alarm, and in their order how long such differences last; fewer than 7
        tell nothing, and later days are then tested as if days differed by chance only.

    Attributes
    ----------
    effects : dict of DayEffects
        Variance between days of ``scores``, ``columns`` and the estimated ``share`` of positives,
        in units of that of one row, and the autocorrelation of days in a row.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import MomentClassifier
    >>> from directrix.monitoring import Monitor, summarize_day
    >>> rng = np.random.default_rng(0)
    >>> def day(n, share):
    ...     y = rng.random(n) < share
    ...     return rng.normal(size=(n, 3)) + y[:, None], y
    >>> model = MomentClassifier("recall@fpr=0.05").fit(*day(5000, 0.05))
    >>> reference = summarize_day(model, *day(20000, 0.05))
    >>> monitor = Monitor(reference.scores, reference.columns)
    >>> check = monitor.check(summarize_day(model, day(2000, 0.15)[0]))
    >>> check.verdict
    'prior shift'
    >>> print(f"{check.prevalence.low:.2f} to {check.prevalence.high:.2f}")
    0.13 to 0.18
    """

    def __init__(
        self,
        scores: ScoreHistogram,
        columns: Moments | BinCounts | None = None,
        *,
        operating_point: OperatingPoint | None = None,
        threshold: float = 0.0,
        alarm_rate: float = ALARM_RATE,
        days: Iterable[DaySummaries] = (),
    ) -> None:
        if not scores.weight.all() or len(scores.weight) != 2:
            msg = "the reference needs labelled rows of both classes"
            raise ValueError(msg)
        if not 0 < alarm_rate < 1:
            msg = f"alarm_rate must lie strictly between 0 and 1, not {alarm_rate!r}"
            raise ValueError(msg)
        if not np.isfinite(threshold):
            msg = f"the threshold must be a finite score, not {threshold!r}"
            raise ValueError(msg)
        self.scores, self.columns = scores, columns
        self.operating_point, self.threshold = operating_point, threshold
        self.alarm_rate = alarm_rate
        of_reference = [day for day in days if _has_rows(day.scores)]
        self._n_days = len(of_reference)
        self.effects = self._effects(of_reference)
        of_days = [day.scores for day in of_reference]
        self._usual_scores = _usual_indices(of_days, _score_indices).get(_SCORES)
        columns_of_days = [day.columns for day in of_reference if day.columns is not None]
        self._usual_columns = _usual_indices(columns_of_days, _column_indices)

    def __repr__(self) -> str:
        days = f" of {self._n_days:,} days" if self._n_days else ""
        columns = "" if self.columns is None else f" and {_n_columns(self.columns):,} columns"
        return f"<Monitor: {self.scores.weight.sum():,.0f} reference rows{days}; scores{columns}>"

    @classmethod
    def of_days(
        cls,
        model: Any,
        days: Iterable[DaySummaries],
        *,
        threshold: float | None = None,
        alarm_rate: float = ALARM_RATE,
    ) -> Monitor:
        """Take labelled days as the reference, at the threshold of the model.

        Parameters
        ----------
        model : fitted classifier
        days : iterable of DaySummaries
            From `summarize_day`, with labels.
        threshold : float, optional
            Of a model of another library, on the scale of its own scores: rows with a probability
            (or ``decision_function``) above it are alerts. By default that of a model which has
            one, and else 0.5 (or 0).
        alarm_rate : float
        """
        listed = list(days)
        if not listed:
            msg = "there are no reference days"
            raise ValueError(msg)
        if any(len(day.scores.classes) < 2 for day in listed):
            msg = "reference days need labels: give summarize_day(model, X, y)"
            raise ValueError(msg)
        require_scores_of(model, listed[0].scores)
        positive = positive_of(model)
        paired = [
            None if day.columns is None else labelled_pair(day.columns, positive) for day in listed
        ]
        columns: list[Any] = [each for each in paired if each is not None]
        return cls(
            tree_sum([day.scores for day in listed]),
            tree_sum(columns) if columns else None,
            operating_point=getattr(model, "operating_point_", None),
            threshold=threshold_of(model, threshold),
            alarm_rate=alarm_rate,
            days=[DaySummaries(d.scores, each) for d, each in zip(listed, paired, strict=True)],
        )

    @classmethod
    def of_segments(
        cls,
        model: Any,
        days: Iterable[Mapping[Any, DaySummaries]],
        *,
        threshold: float | None = None,
        alarm_rate: float = ALARM_RATE,
    ) -> dict[Any, Monitor]:
        """Return a monitor of each segment, against the labelled days of that segment.

        A drift in one country is lost among the rows of all. Rates differ between segments by
        nature, so that each is compared with its own past, not with what the model promised of all
        rows. All of them share one rate of false alarms: with k segments, each is tested at a k-th
        of it (Bonferroni).

        Parameters
        ----------
        model : fitted classifier
        days : iterable of dict of DaySummaries by segment
            From `summarize_segments`, with labels. A segment without rows of both classes is left
            out.
        threshold : as in `of_days`
        alarm_rate : float
            Probability of a false alarm in any segment on a day.

        Examples
        --------
        >>> import numpy as np
        >>> from directrix import MomentClassifier
        >>> from directrix.monitoring import Monitor, summarize_segments
        >>> rng = np.random.default_rng(0)
        >>> def day(n, moved=0.0):
        ...     y, country = rng.random(n) < 0.1, rng.choice(["AT", "CH", "DE"], n)
        ...     X = rng.normal(size=(n, 2)) + y[:, None]
        ...     return X + moved * np.outer(country == "CH", [1, -1]), y, country
        >>> X, y, _ = day(4000)
        >>> model = MomentClassifier("recall@fpr=0.05").fit(X, y)
        >>> def summaries(X, y, country):
        ...     return summarize_segments(model, X, y, segment=country)
        >>> monitors = Monitor.of_segments(model, [summaries(*day(4000)) for _ in range(10)])
        >>> new = summaries(*day(2000, moved=0.5))
        >>> {name: monitors[name].check(new[name]).verdict for name in monitors}
        {'AT': 'unchanged', 'CH': 'drift', 'DE': 'unchanged'}
        """
        by_segment: dict[Any, list[DaySummaries]] = {}
        for day in days:
            for name, summaries in day.items():
                by_segment.setdefault(name, []).append(summaries)
        known = {
            name: by_segment[name]
            for name in ordered_names(by_segment)
            if _has_both(by_segment[name])
        }
        if not known:
            msg = "no segment has labelled reference rows of both classes"
            raise ValueError(msg)
        monitors = {
            name: cls.of_days(
                model, listed, threshold=threshold, alarm_rate=alarm_rate / len(known)
            )
            for name, listed in known.items()
        }
        for monitor in monitors.values():
            monitor.operating_point = None  # its rates are those of all rows
        return monitors

    def check(self, day: DaySummaries, when: Any = None) -> DayCheck:
        """Check the rows of a day.

        Parameters
        ----------
        day : DaySummaries
            From `summarize_day`, with or without labels.
        when : date or str, optional
            Date of the day, for the report.

        Returns
        -------
        DayCheck
        """
        given: Any = day
        if not isinstance(given, DaySummaries):
            msg = (
                f"a day is checked by its summaries, not by {type(given).__name__}: give "
                "summarize_day(model, X)"
            )
            raise TypeError(msg)
        if not _has_rows(day.scores):
            msg = "the day has no rows, or none with a weight above zero: there is nothing to check"
            raise ValueError(msg)
        if self.columns is not None and day.columns is None:
            warn(UncheckedColumnsWarning(_n_columns(self.columns)), stacklevel=find_stacklevel())
        comparisons = self._comparisons(day)
        fits = {name: self._fit(name, each) for name, each in comparisons.items()}
        best = fits["scores"]
        tests = tuple(
            DriftTest(name, fit.statistic, fit.freedom, fit.p_value) for name, fit in fits.items()
        )
        rates = self.scores.rates(self.threshold)
        weight = self.scores.weight
        total = float(day.scores.weight.sum())
        prior = float(weight[1] / weight.sum())
        fewest, most = _count_interval(best.expected, best.error, total)
        labelled = len(day.scores.classes) == 2 and bool(day.scores.weight.all())
        return DayCheck(
            None if when is None else as_day(when).isoformat(),
            total,
            float(weight.sum()),
            Prevalence(
                best.share,
                best.low,
                best.high,
                prior,
                float(day.scores.weight[1] / total) if labelled else None,
            ),
            Alerts(
                float(day.scores.weight_above(self.threshold).sum()),
                total * best.expected,
                fewest,
                most,
                total * (prior * rates.tpr + (1.0 - prior) * rates.fpr),
            ),
            (rates.tpr, rates.fpr),
            self._score_stability(day.scores, len(tests), best.freedom),
            self._column_checks(day, comparisons, fits),
            tests,
            check_promises(self.operating_point, day.scores, self.threshold) if labelled else (),
            self.alarm_rate,
            self.effects if self._n_days >= FEWEST_DAYS else None,
        )

    def _comparisons(self, day: DaySummaries) -> dict[str, DayComparison]:
        comparisons = {"scores": compare_scores(day.scores, self.scores, self.threshold)}
        if day.columns is not None and self.columns is not None:
            columns = compare_columns(day.columns, self.columns)
            if len(columns.mean) > 1:
                comparisons["columns"] = columns
        return comparisons

    def _fit(self, name: str, comparison: DayComparison) -> MixtureFit:
        dispersion, of_share = (
            1.0 + comparison.n_rows * self.effects[which].excess for which in (name, "share")
        )
        fit = comparison.fit(dispersion, of_share)
        p_value = self.effects[name].p_value(fit.statistic, fit.freedom, comparison.n_rows)
        return fit._replace(p_value=p_value)

    def _effects(self, days: list[DaySummaries]) -> dict[str, DayEffects]:
        """Return how much more the reference days differ than by chance, for each of their rows.

        For scores and columns that is what chi-squared is too large by. For the share of positives
        it is what chi-squared at the share that labels have shown is too large by.

        A day of n rows is among the N rows of the reference, so that the variance of its
        difference to the reference is Σ (1/n − 1/N), and not Σ (1/n + 1/N).
        """
        found: dict[str, list[tuple[float, float, FloatArray]]] = {
            "scores": [],
            "columns": [],
            "share": [],
        }
        for day in days if len(days) >= FEWEST_DAYS else ():
            for name, comparison in self._comparisons(day).items():
                fit = comparison.fit()
                n, total = comparison.n_rows, float(comparison.reference.size.sum())
                if n >= total:
                    continue
                among = (total + n) / (total - n)
                residual = np.sqrt(among) * fit.residual
                if fit.freedom:
                    found[name].append((fit.statistic / fit.freedom * among, n, residual))
                if name == "scores" and len(day.scores.classes) == 2:
                    share = float(day.scores.weight[1] / day.scores.weight.sum())
                    above = max(comparison.chi_squared(share) - fit.statistic, 0.0)
                    sign = np.sign([share - fit.share])
                    found["share"].append((above * among, n, sign * np.sqrt(above * among)))
        return {
            name: effects_of_days(*zip(*of_days, strict=True)) if of_days else DayEffects()
            for name, of_days in found.items()
        }

    def _score_stability(self, day: ScoreHistogram, n_tests: int, freedom: int) -> ScoreStability:
        psi, noise, reading = _score_indices(self.scores, day)[_SCORES]
        reference, rows = _effective_rows(self.scores), _effective_rows(day)
        effects = self.effects["scores"]
        critical = effects.critical(self.alarm_rate / n_tests, freedom, rows)
        # For small changes chi-squared is the index in units of its variance, to first order.
        drift_from = critical * ((1.0 + rows * effects.excess) / rows + 1.0 / reference)
        return ScoreStability(psi, noise, reading, self._usual_scores, drift_from)

    def _column_checks(
        self, day: DaySummaries, comparisons: dict[str, DayComparison], fits: dict[str, Any]
    ) -> tuple[ColumnCheck, ...]:
        if "columns" not in comparisons:
            return ()
        residuals: dict[str, float] = {}
        names, unexplained = comparisons["columns"].names, fits["columns"].residual.tolist()
        for name, value in zip(names, unexplained, strict=True):
            residuals[name] = max(residuals.get(name, 0.0), value, key=abs)
        checks = [
            ColumnCheck(name, *values, residuals.get(name, 0.0), self._usual_columns.get(name))
            for name, values in _column_indices(self.columns, day.columns).items()
        ]
        # A column that was constant has no standard error, only an infinite stability index.
        return tuple(sorted(checks, key=lambda check: (check.psi < inf, -abs(check.residual))))


def _count_interval(share: float, error: float, total: float) -> tuple[float, float]:
    """Return the 95 % interval of a number of rows, by a beta distribution of these moments.

    A normal interval would be too short above if only few rows are expected.

    ``share`` is the expected share of the rows. ``error`` is the standard error of the observed
    share. ``total`` is the number of rows.
    """
    if not (0 < share < 1 and error > 0):
        return total * share, total * share
    size = max(share * (1.0 - share) / error**2 - 1.0, 1.0)
    low, high = betaincinv(share * size, (1.0 - share) * size, [0.025, 0.975]).tolist()
    return float(np.floor(total * low)), float(np.ceil(total * high))


def _n_columns(columns: Moments | BinCounts) -> int:
    """Return the number of columns of a summary."""
    return len(columns.bins) if isinstance(columns, BinCounts) else columns.n_features


def _has_both(days: Iterable[DaySummaries]) -> bool:
    """Return whether days have labelled rows of both classes."""
    labelled = [day.scores.weight for day in days if len(day.scores.classes) == 2]
    return bool(labelled) and bool(np.sum(labelled, axis=0).all())


def _has_rows(summary: Any) -> bool:
    """Return whether a summary has rows of a weight above zero."""
    return bool(np.sum(summary.weight) > 0)


# ── Stability indices: of scores and columns, and of reference days among themselves ──────────────


def _usual_indices(
    summaries: Sequence[Any], indices: Callable[[Any, Any], dict[str, tuple[float, float, str]]]
) -> dict[str, tuple[float, float]]:
    """Return the least and the greatest stability index of a day against all others, by name."""
    found: dict[str, list[float]] = {}
    for others, day in zip(_sums_of_others(summaries), summaries, strict=False):
        for name, (psi, _, _) in indices(others, day).items():
            found.setdefault(name, []).append(psi)
    return {name: (min(values), max(values)) for name, values in found.items()}


def _sums_of_others(summaries: Sequence[Any]) -> list[Any]:
    """Return for each summary the sum of all others; nothing if there are fewer than two."""
    if len(summaries) < 2:
        return []
    before = list(accumulate(summaries[:-1]))
    after = list(accumulate(summaries[:0:-1]))[::-1]
    return [after[0], *map(add, before[:-1], after[1:]), before[-1]]


def _score_indices(
    reference: ScoreHistogram, day: ScoreHistogram
) -> dict[str, tuple[float, float, str]]:
    """Return the stability index of scores in tenths of the reference."""
    before, after = reference.unlabelled(), day.unlabelled()
    shares = np.cumsum(before.counts[0]) / float(before.weight[0])
    starts = np.searchsorted(shares, np.arange(1, _PSI_CELLS) / _PSI_CELLS) + 1
    cells = np.unique([0, *starts[starts < len(shares)].tolist()])
    first, second = (np.add.reduceat(each.counts[0], cells) for each in (before, after))
    psi = float(stability_index(first, second).sum())
    sizes = _effective_rows(before), _effective_rows(after)
    return {_SCORES: (psi, *psi_reading(psi, len(cells) - 1, sizes))}


def _effective_rows(scores: ScoreHistogram) -> float:
    """Return the effective number of rows, whatever their labels."""
    return float(scores.weight.sum() ** 2 / scores.weight_sq.sum())


def _column_indices(reference: Any, day: Any) -> dict[str, tuple[float, float, str]]:
    """Return the stability index of each column: of its bins, or as if it were normal."""
    if isinstance(reference, BinCounts):
        listed = stability(reference.unlabelled(), day.unlabelled()).columns
        return {each.column: (each.psi, each.noise, each.reading) for each in listed}
    before, after = (each.unlabelled().by_class[None] for each in (reference, day))
    names = reference.feature_names or tuple(f"x{k}" for k in range(reference.n_features))
    # Few rows may have a single value: as to cells of bins, half a row of the reference is added.
    first, half = before.variance, 0.5 / (after.effective_count + 0.5)
    second = np.maximum(after.variance, half * first)
    gap = (after.mean - before.mean) + (after.mean_tail - before.mean_tail)
    found = {}
    for name, p, q, g in zip(names, first.tolist(), second.tolist(), gap.tolist(), strict=True):
        if p > 0 and q > 0:
            psi = 0.5 * (p / q + q / p - 2.0 + g * g * (1.0 / p + 1.0 / q))
        else:
            psi = 0.0 if p == q and g == 0 else float("inf")
        sizes = before.effective_count, after.effective_count
        found[name] = (psi, *psi_reading(psi, 2, sizes))
    return found
