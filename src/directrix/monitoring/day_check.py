"""DayCheck: what the rows of a day tell of a model, as fields, text and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betaincinv, chdtrc, chdtri, fdtrc, fdtri

from directrix.fit.operating_point import EffectiveCounts, OnRows
from directrix.metrics.base import Curve, precision_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.estimators import OperatingPoint
    from directrix.metrics import ScoreHistogram

# ── How much days differ beyond chance, and how long such differences last ────────────────────────
#
# Rows of a day share what the day brings: weather, a campaign, a weekday. Reference days tell the
# variance of such effects and, in their order, their autocorrelation :math:`\varphi` from one day
# to the next. Of N reference days the mean has the variance
#
# .. math:: V = \frac{1}{N} (1 + 2 \sum_{k=1}^{N-1} (1 - \tfrac{k}{N}) \varphi^k)
#
# in units of that of one day. Days of the reference therefore differ from their mean by 1 − V,
# and a later day by 1 + V: effects that last make the reference look steadier than later days
# are. There are only about 1/V days that tell the variance, so that a test by it has an F
# distribution.

#: Fewest reference days that tell how much days differ.
FEWEST_DAYS = 7
#: Autocorrelation at most: the days that would tell more are more than a reference has.
_LONGEST = 0.95


class DayEffects(NamedTuple):
    """Variance between days, in units of that of one row, and how it is known.

    The mean of a day of n rows has 1 + n ``excess`` times the variance that independent rows have,
    about the mean of the reference. ``autocorrelation`` is that of the effects of two days in a
    row; zero if days are independent or too few to tell. ``days`` is the number of independent days
    that would tell as much; infinite without effects. ``spread`` is the variance of chi-squared per
    degree of freedom among reference days of mean one; 2 over the degrees of freedom if effects are
    alike in all directions.
    """

    excess: float = 0.0
    autocorrelation: float = 0.0
    days: float = float("inf")
    spread: float = 0.0

    def p_value(self, statistic: float, freedom: int, n_rows: float) -> float:
        """Return the probability of a chi-squared that has been divided by the dispersion.

        ``n_rows`` is the number of rows of the day.
        """
        if not freedom:
            return 1.0
        degrees = self._degrees(freedom, n_rows)
        if degrees is None:
            return float(chdtrc(freedom, statistic))
        return float(fdtrc(*degrees, statistic / freedom))

    def critical(self, rate: float, freedom: int, n_rows: float) -> float:
        """Return the statistic whose `p_value` is a given rate of alarms; infinite if none is."""
        if not freedom:
            return float("inf")
        degrees = self._degrees(freedom, n_rows)
        if degrees is None:
            return float(chdtri(freedom, rate))
        return freedom * float(fdtri(*degrees, 1.0 - rate))

    def _degrees(self, freedom: int, n_rows: float) -> tuple[float, float] | None:
        """Return both degrees of freedom of the F distribution; None if it is chi-squared."""
        part = n_rows * self.excess / (1.0 + n_rows * self.excess)
        if not part or not np.isfinite(self.days):
            return None
        # Effects in few directions are like chi-squared of few degrees of freedom (Satterthwaite).
        of_effects = float(np.clip(2.0 / self.spread if self.spread else freedom, 1.0, freedom))
        numerator = 1.0 / ((1.0 - part) / freedom + part / of_effects)
        return numerator, max(numerator * (self.days - 1.0), 1.0) / part**2


def effects_of_days(
    ratios: Sequence[float], n_rows: Sequence[float], residuals: Sequence[FloatArray] = ()
) -> DayEffects:
    """Return the effects that reference days show.

    ``ratios`` are the chi-squared of each day over its degrees of freedom: one if days differ by
    chance only. ``n_rows`` are the numbers of rows of the days. ``residuals`` are what no share of
    positives explains of each day, in order, in standard errors.
    """
    ratio, rows = np.asarray(ratios, dtype=np.float64), np.asarray(n_rows, dtype=np.float64)
    # Sums, not a mean of ratios: chi-squared of a day of few rows is as noisy as any other.
    excess = float((ratio - 1.0).sum() / rows.sum()) if len(ratio) else 0.0
    if excess <= 0:
        return DayEffects()
    scaled = ratio / (1.0 + rows * excess)
    spread = float(np.var(scaled / scaled.mean(), ddof=1))
    lasting = _autocorrelation(residuals) if len(residuals) else 0.0
    variance = mean_variance(lasting, len(ratio))
    return DayEffects(excess * (1.0 + variance) / (1.0 - variance), lasting, 1.0 / variance, spread)


def mean_variance(autocorrelation: float, n_days: int) -> float:
    """Return V, the variance of the mean of so many days in units of that of one."""
    lags = np.arange(1, n_days)
    total = 1.0 + 2.0 * float((1.0 - lags / n_days) @ autocorrelation**lags)
    return min(total / n_days, 1.0 - 1.0 / n_days)


def _autocorrelation(residuals: Sequence[FloatArray]) -> float:
    """Return the correlation of effects on days in a row, from what is left of each day.

    Rows of two days are independent, so that products of two days tell of effects alone; the
    squares of one day hold chance too, one for each component. The mean of the reference is
    estimated, which lowers the correlation by about (1 + 3 φ)/N (Marriott and Pope 1954).
    """
    n_days = len(residuals)
    # Rare cells of a day are merged with others, so that it may have fewer components.
    pairs = [(a, b) for a, b in pairwise(residuals) if a.shape == b.shape]
    effects = float(np.mean([each @ each - len(each) for each in residuals]))
    if not pairs or effects <= 0:
        return 0.0
    together = float(np.mean([a @ b for a, b in pairs]))
    raw = min(together / effects, 1.0)
    return min((n_days * raw + 1.0) / (n_days - 3.0), _LONGEST) if raw > 0 else 0.0


# ── Promises of a model against what labelled rows have shown since ───────────────────────────────


class PromiseCheck(NamedTuple):
    """A rate or metric that a model promised, and what it was on labelled rows.

    ``promised`` is what was expected on new rows when the model was fitted; NaN if it promised
    nothing. ``promised_low`` and ``promised_high`` are the interval of the promise. ``low`` and
    ``high`` are the 95 % interval of what was realised, exact for rates (Clopper and Pearson 1934).
    ``kept`` is False if the whole interval is worse than the whole interval of the promise.
    ``rises`` is whether greater is better.
    """

    name: str
    promised: float
    promised_low: float
    promised_high: float
    realised: float
    low: float
    high: float
    kept: bool
    rises: bool = True

    @property
    def state(self) -> str:
        """The comparison in words: a few rows contradict hardly any promise."""
        if not isfinite(self.promised):
            return "nothing was promised"
        if not self.kept:
            return "NOT KEPT"
        if self.rises:
            worse = self.realised < self.promised_low
        else:
            worse = self.realised > self.promised_high
        return "worse, but chance explains it" if worse else "kept"


def check_promises(
    point: OperatingPoint | None, scores: ScoreHistogram, threshold: float = 0.0
) -> tuple[PromiseCheck, ...]:
    """Compare the operating point of a model with labelled scores of later rows.

    Rates are those of all rows together, and so is a ranking metric: it is not averaged over days.

    ``scores`` are labelled, and in favour of the positive label. Rows with scores above
    ``threshold`` are predicted positive.
    """
    if point is not None and getattr(point.metric, "by_row", False):
        point = None  # its rates are those of decisions by the costs of each row
    negative, positive = scores.weight.tolist()
    n_negative, n_positive = effective_rows(scores)
    false_alarms, hits = scores.weight_above(threshold).tolist()
    predicted = false_alarms + hits
    # Of weighted rows, those predicted positive count as far as all rows do on average.
    n_predicted = predicted * (n_positive + n_negative) / (positive + negative)
    realised = (
        ("recall", "tpr", True, hits / positive, n_positive),
        ("FPR", "fpr", False, false_alarms / negative, n_negative),
        ("precision", "precision", True, hits / predicted if predicted else 1.0, n_predicted),
    )
    expected = None if point is None else point.expected
    intervals = None if point is None else point.intervals

    def check(
        name: str, field: str, value: float, interval: tuple[float, float], *, rises: bool
    ) -> PromiseCheck:
        promised = float("nan") if expected is None else float(getattr(expected, field))
        low, high = (promised, promised) if intervals is None else getattr(intervals, field)
        worse = interval[1] < low if rises else interval[0] > high
        return PromiseCheck(name, promised, low, high, value, *interval, not worse, rises)

    checks = [
        check(name, field, share, exact_interval(share, n), rises=rises)
        for name, field, rises, share, n in realised
    ]
    if point is not None:
        metric = point.metric
        value, interval = on_rows_above(scores, threshold).at_threshold(metric)
        rises = metric.greater_is_better
        checks.append(check(metric.label, "metric", value, interval, rises=rises))
    return tuple(checks)


def effective_rows(scores: ScoreHistogram) -> tuple[float, float]:
    """Return the effective numbers of negatives and positives of labelled scores."""
    n_negative, n_positive = (scores.weight**2 / scores.weight_sq).tolist()
    return n_negative, n_positive


def on_rows_above(scores: ScoreHistogram, threshold: float) -> OnRows:
    """Return the rates of labelled scores at a threshold, above which rows are positive."""
    curve = Curve.of_histogram(scores)
    n_negative, n_positive = effective_rows(scores)
    return OnRows(
        curve, int((curve.levels > threshold).sum()), EffectiveCounts(n_positive, n_negative)
    )


def exact_interval(share: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Return the interval of Clopper and Pearson for a share of n rows.

    ``n`` is the effective number of rows, which need not be whole.
    """
    tail, hits = (1.0 - level) / 2.0, share * n
    low = float(betaincinv(hits, n - hits + 1.0, tail)) if hits > 0 else 0.0
    high = float(betaincinv(hits + 1.0, n - hits, 1.0 - tail)) if hits < n else 1.0
    return low, high


# ── DayCheck: what the rows of a day tell of a model, as fields, text and JSON ────────────────────

#: Probability of a false alarm of drift on a day.
ALARM_RATE = 0.01
#: Columns that are printed before the rest is only counted.
_PRINTED = 5

#: PSI of scores that only a day of entirely other rows would have.
_OTHER_ROWS = 3.0
#: Width of the interval of the prevalence from which on nothing is known of it.
_ANYTHING = 0.9
#: Readings of a stability index that are at odds with the word "unchanged".
SOME_CHANGE, LARGE_CHANGE = "some change", "large change"

#: What a verdict of drift rests on if reference days do not tell how much days differ.
_FEW_DAYS = (
    f". Caution: fewer than {FEWEST_DAYS} reference days do not tell how much days differ by "
    "themselves, and an ordinary day may look like this"
)

UNCHANGED, USUAL, UNCLEAR = "unchanged", "usual variation", "unclear"
PRIOR_SHIFT, DRIFT = "prior shift", "drift"


class Prevalence(NamedTuple):
    """Share of positives among the rows of a day, if the classes have not changed.

    ``share``, ``low`` and ``high`` are the estimate and its 95 % interval, which need no labels.
    ``reference`` is the share in the reference. ``labelled`` is the share that the labels of the
    day show; None without labels.
    """

    share: float
    low: float
    high: float
    reference: float
    labelled: float | None = None

    @property
    def is_known(self) -> bool:
        """Whether the rows of the day tell anything of the share of positives."""
        return self.high - self.low < _ANYTHING


class Alerts(NamedTuple):
    """Rows above the threshold, and how many were to be expected.

    ``expected``, ``low`` and ``high`` are at the estimated prevalence, if the classes have not
    changed, with a 95 % interval. ``reference`` is at the prevalence of the reference.
    """

    observed: float
    expected: float
    low: float
    high: float
    reference: float


class ScoreStability(NamedTuple):
    """Population stability index of the scores.

    ``noise`` is the level that it stays below in 19 of 20 days if nothing has changed. ``reading``
    is as in `directrix.tables.stability`. ``usual`` are the least and the greatest index of a
    reference day against the other reference days; None if there are fewer than two. ``drift_from``
    is about the index from which the test of the scores calls a day drift, if no share of positives
    explains a part of it.
    """

    psi: float
    noise: float
    reading: str
    usual: tuple[float, float] | None = None
    drift_from: float = float("inf")

    @property
    def context(self) -> str:
        """What the index is to be compared with, as text."""
        parts = [f"chance up to {self.noise:.4f}", *_usual_text(self.usual)]
        if self.drift_from < _OTHER_ROWS:
            parts.append(f"drift from about {self.drift_from:.2g}")
        elif isfinite(self.drift_from):
            parts.append("reference days differ too much to call any index drift")
        return "; ".join(parts)


class ColumnCheck(NamedTuple):
    """Change of a column.

    ``psi`` is the stability index: of bins, or as if the column were normal. ``residual`` is the
    change of its mean, or of the share of one of its bins, that no share of positives explains, in
    standard errors. ``usual`` is as in `ScoreStability`.
    """

    column: str
    psi: float
    noise: float
    reading: str
    residual: float
    usual: tuple[float, float] | None = None


class DriftTest(NamedTuple):
    """Test that only the share of positives has changed.

    ``rows_of`` is "scores" or "columns". ``statistic`` is chi-squared. ``freedom`` are its degrees
    of freedom.
    """

    rows_of: str
    statistic: float
    freedom: int
    p_value: float


@dataclass(frozen=True)
class DayCheck:
    """What the rows of a day tell of a model.

    Parameters
    ----------
    day : str or None
    n_rows, n_reference : float
    prevalence : Prevalence
    alerts : Alerts
    rates : pair of float
        Recall and false-positive rate of the reference at the threshold.
    score_stability : ScoreStability
    columns : tuple of ColumnCheck
        Those that prior shift explains least are first.
    tests : tuple of DriftTest
    promises : tuple of PromiseCheck
        Empty for rows without labels.
    alarm_rate : float
    effects : dict of DayEffects, optional
        How much reference days differ beyond chance; None if they are too few to tell, and the day
        was tested as if days differed by chance only.
    """

    day: str | None
    n_rows: float
    n_reference: float
    prevalence: Prevalence
    alerts: Alerts
    rates: tuple[float, float]
    score_stability: ScoreStability
    columns: tuple[ColumnCheck, ...]
    tests: tuple[DriftTest, ...]
    promises: tuple[PromiseCheck, ...]
    alarm_rate: float
    effects: Mapping[str, DayEffects] | None = None

    @property
    def p_value(self) -> float:
        """Smallest p-value of the tests times their number (Bonferroni), at most one."""
        return min(1.0, len(self.tests) * min(test.p_value for test in self.tests))

    @property
    def verdict(self) -> str:
        """``"unchanged"``, ``"usual variation"``, ``"unclear"``, ``"prior shift"`` or ``"drift"``.

        A day that differs by the reading of its stability indices, but not by the tests, is of
        usual variation if chance or some reference day differs as much, and otherwise unclear.
        Tests say nothing of a column that was constant, whose index is infinite.
        """
        if self.p_value < self.alarm_rate:
            return DRIFT
        if not self.prevalence.low <= self.prevalence.reference <= self.prevalence.high:
            return PRIOR_SHIFT
        if self._changed is None:
            return UNCHANGED
        _, psi, usual = self._changed
        more = self._day_effects and usual and psi > usual[1]
        return UNCLEAR if more or not isfinite(psi) else USUAL

    @property
    def _changed(self) -> tuple[str, float, tuple[float, float] | None] | None:
        """Name, index and usual indices of what has changed by its reading; None if nothing has.

        It is the scores if they have, and otherwise the column that has changed most: some of many
        columns exceed all reference days by chance.
        """
        scores = self.score_stability
        if scores.reading in (SOME_CHANGE, LARGE_CHANGE):
            return "the scores", scores.psi, scores.usual
        changed = [column for column in self.columns if column.reading == LARGE_CHANGE]
        if not changed:
            return None
        most = max(changed, key=lambda column: column.psi)
        return f"column {most.column}", most.psi, most.usual

    @property
    def _day_effects(self) -> list[DayEffects]:
        """Differences between reference days that the tests allow for."""
        effects = {} if self.effects is None else self.effects
        found = [effects[test.rows_of] for test in self.tests if test.rows_of in effects]
        return [each for each in found if each.excess > 0]

    @property
    def broken(self) -> tuple[PromiseCheck, ...]:
        """Promises that labelled rows have not kept."""
        return tuple(promise for promise in self.promises if not promise.kept)

    @property
    def alarm(self) -> bool:
        """Whether the classes have drifted or a promise is broken."""
        return self.verdict == DRIFT or bool(self.broken)

    def precision(self) -> tuple[float, float, float]:
        """Return the precision to expect at the estimated prevalence and at its interval's ends."""
        shares = self.prevalence.share, self.prevalence.low, self.prevalence.high
        value, low, high = (float(precision_of(*self.rates, share)) for share in shares)
        return value, low, high

    @property
    def precision_is_known(self) -> bool:
        """Whether rates of the reference and a known prevalence tell the precision to expect."""
        return self.verdict != DRIFT and self.prevalence.is_known and any(self.rates)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields and verdicts for JSON; what is not finite is None."""
        named = ("prevalence", "alerts", "score_stability")
        values: dict[str, Any] = {
            "day": self.day,
            "verdict": self.verdict,
            "alarm": self.alarm,
            "p_value": self.p_value,
            "rows": self.n_rows,
            "reference_rows": self.n_reference,
            **{name: _plain(getattr(self, name)._asdict()) for name in named},
            "precision": dict(zip(("expected", "low", "high"), self.precision(), strict=True)),
        }
        values["day_effects"] = None
        if self.effects is not None:
            values["day_effects"] = {
                name: _plain(each._asdict()) for name, each in self.effects.items()
            }
        for name in ("columns", "tests", "promises"):
            values[name] = [_plain(entry._asdict()) for entry in getattr(self, name)]
        return values

    def explanation(self) -> str:
        """Return the verdict as a sentence."""
        chance, explains = f"p = {self.p_value:.2g}", self._day_effects
        if self.verdict == DRIFT:
            worst = min(self.tests, key=lambda test: test.p_value)
            nor = ", nor do differences such as those between reference days" if explains else ""
            return (
                f"drift: no share of positives explains the {worst.rows_of}{nor} ({chance}); the "
                "classes themselves have changed, and the rates of the model may not hold"
                f"{_FEW_DAYS if self.effects is None else ''}"
            )
        if self.verdict == PRIOR_SHIFT:
            return (
                f"prior shift: the share of positives has changed, which explains the day "
                f"({chance}); recall and FPR should hold, precision and alerts change"
            )
        if self._changed is None:
            usual = "reference days differ from each other" if explains else "chance explains"
            return f"unchanged: the day differs from the reference no more than {usual} ({chance})"
        return self._difference(*self._changed)

    def _difference(self, name: str, psi: float, usual: tuple[float, float] | None) -> str:
        """Return the sentence of a day that differs, but is no drift by the tests."""
        start = f"{self.verdict}: the day differs from the reference (PSI of {name} {psi:.2f})"
        explains, chance = self._day_effects, f"p = {self.p_value:.2g}"
        if not isfinite(psi):
            return f"{start}, but in a column that was constant, which no test covers ({chance})"
        if not explains:
            return f"{start}, but no more than chance explains on so few rows ({chance})"
        others = "reference days differ from each other"
        if self.verdict == UNCLEAR and usual is not None:
            text = (
                f"{start} more than {others} ({usual[0]:.2f} to {usual[1]:.2f}), but not by enough "
                f"to call it drift ({chance})"
            )
        else:
            span = "" if usual is None else f"{usual[0]:.2f} to {usual[1]:.2f}; "
            text = f"{start}, but no more than {others} ({span}{chance})"
        days = min(each.days for each in explains)
        if days >= FEWEST_DAYS:
            return text
        return (
            f"{text}. Caution: days of the reference resemble the days before them, so that all of "
            f"them tell no more than {days:.1f} independent days would; a drift must be large to "
            "be called one"
        )

    def __str__(self) -> str:
        alerts, stable = self.alerts, self.score_stability
        span = f"{alerts.expected:,.0f} ({alerts.low:,.0f} to {alerts.high:,.0f})"
        known = " at this prevalence" if self.prevalence.is_known else ""
        # A share of positives that explains the day explains its index, too.
        shown = stable._replace(drift_from=float("inf")) if self.verdict == PRIOR_SHIFT else stable
        expected = f"expected {span}{known}; reference {alerts.reference:,.0f}"
        lines = [
            f"{self.day or 'day'}: {self.n_rows:,.0f} rows; reference {self.n_reference:,.0f} rows",
            self.explanation(),
            f"  prevalence  {self.prevalence_text()}",
            f"  alerts      {alerts.observed:,.0f}; {expected}",
            f"  precision   {self.precision_text()}",
            f"  scores      PSI {stable.psi:.4f}, {stable.reading} ({shown.context})",
        ]
        for column in self.columns[:_PRINTED]:
            usual = "".join(f" ({text})" for text in _usual_text(column.usual))
            lines.append(
                f"  column      {column.column}: {column.residual:+.1f} standard errors "
                f"unexplained; PSI {column.psi:.4f}, {column.reading}{usual}"
            )
        if len(self.columns) > _PRINTED:
            lines.append(f"  and {len(self.columns) - _PRINTED} more in .columns")
        return "\n".join([*lines, *(f"  {_promise_text(each)}" for each in self.promises)])

    def prevalence_text(self) -> str:
        """Return the share of positives, its interval and that of the reference, as text."""
        share, low, high, reference = (100 * value for value in self.prevalence[:4])
        assumed = " if only the share of positives had changed" if self.verdict == DRIFT else ""
        labelled = self.prevalence.labelled
        labels = "" if labelled is None else f"labels {100 * labelled:.2f} %; "
        told = f"{share:.2f} % ({low:.2f} to {high:.2f}){assumed}"
        if not self.prevalence.is_known:
            told = f"not known: {low:.0f} to {high:.0f} % would explain the scores alike"
        return f"{labels}{told}; reference {reference:.2f} %"

    def precision_text(self) -> str:
        """Return the precision to expect and the rates that it rests on, as text."""
        recall, fpr = self.rates
        if not recall and not fpr:
            return "not known: no reference row is above the threshold"
        rates = f"recall {recall:.3f} and FPR {fpr:.3f}"
        if not self.precision_is_known:
            why = "the classes have changed" if self.verdict == DRIFT else "the prevalence is not"
            return f"not known, as {why}; the reference has {rates}"
        value, low, high = self.precision()
        return f"expected {value:.3f} ({low:.3f} to {high:.3f}) with {rates} as in the reference"


def _usual_text(usual: tuple[float, float] | None) -> list[str]:
    return [] if usual is None else [f"reference days {usual[0]:.4f} to {usual[1]:.4f}"]


def _promise_text(promise: PromiseCheck) -> str:
    text = f"{promise.name} {promise.realised:.4f} ({promise.low:.4f} to {promise.high:.4f})"
    if not isfinite(promise.promised):
        return f"{text}; {promise.state}"
    return (
        f"{text}; promised {promise.promised:.4f} ({promise.promised_low:.4f} to "
        f"{promise.promised_high:.4f}): {promise.state}"
    )


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in values.items()
    }
