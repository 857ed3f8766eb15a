"""DayCheck: what the rows of a day tell of a model, as fields, text and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from directrix.metrics.curve import precision_of
from directrix.monitoring.day_effects import FEWEST_DAYS, DayEffects
from directrix.monitoring.promises import PromiseCheck

#: Probability of a false alarm of drift on a day.
ALARM_RATE = 0.01
#: Columns that are printed before the rest is only counted.
_PRINTED = 5

#: What a verdict of drift rests on if reference days do not tell how much days differ.
_FEW_DAYS = (
    f". Days that differ by themselves look the same: {FEWEST_DAYS} reference days or more would "
    "tell"
)

UNCHANGED, PRIOR_SHIFT, DRIFT = "unchanged", "prior shift", "drift"


class Prevalence(NamedTuple):
    """Share of positives among the rows of a day, if the classes have not changed.

    Parameters
    ----------
    share, low, high : float
        Estimate and 95 % interval.
    reference : float
        Share in the reference.
    """

    share: float
    low: float
    high: float
    reference: float


class Alerts(NamedTuple):
    """Rows above the threshold, and how many were to be expected.

    Parameters
    ----------
    observed : float
    expected, low, high : float
        At the estimated prevalence, if the classes have not changed, with a 95 % interval.
    reference : float
        At the prevalence of the reference.
    """

    observed: float
    expected: float
    low: float
    high: float
    reference: float


class ScoreStability(NamedTuple):
    """Population stability index of the scores.

    Parameters
    ----------
    psi : float
    noise : float
        Level that it stays below in 19 of 20 days if nothing has changed.
    reading : str
        As in `directrix.tables.stability`.
    """

    psi: float
    noise: float
    reading: str


class ColumnCheck(NamedTuple):
    """Change of a column.

    Parameters
    ----------
    column : str
    psi : float
        Stability index: of bins, or as if the column were normal.
    noise : float
    reading : str
    residual : float
        Change of its mean, or of the share of one of its bins, that no share of positives
        explains, in standard errors.
    """

    column: str
    psi: float
    noise: float
    reading: str
    residual: float


class DriftTest(NamedTuple):
    """Test that only the share of positives has changed.

    Parameters
    ----------
    rows_of : str
        "scores" or "columns".
    statistic : float
        Chi-squared.
    freedom : int
        Degrees of freedom.
    p_value : float
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
        """``"unchanged"``, ``"prior shift"`` or ``"drift"``, whichever explains the day best."""
        if self.p_value < self.alarm_rate:
            return DRIFT
        moved = not self.prevalence.low <= self.prevalence.reference <= self.prevalence.high
        return PRIOR_SHIFT if moved else UNCHANGED

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
        chance = f"p = {self.p_value:.2g}"
        if self.verdict == DRIFT:
            worst = min(self.tests, key=lambda test: test.p_value)
            return (
                f"drift: no share of positives explains the {worst.rows_of} ({chance}); the "
                "classes themselves have changed, and the rates of the model may not hold"
                f"{_FEW_DAYS if self.effects is None else ''}"
            )
        if self.verdict == PRIOR_SHIFT:
            return (
                f"prior shift: the share of positives has changed, which explains the day "
                f"({chance}); recall and FPR still hold, precision and alerts change"
            )
        return f"unchanged: the day is as the reference ({chance})"

    def __str__(self) -> str:
        share, low, high, reference = (100 * value for value in self.prevalence)
        before = f"reference {reference:.2f} %"
        alerts, stable, precision = self.alerts, self.score_stability, self.precision()
        span = f"{alerts.expected:,.0f} ({alerts.low:,.0f} to {alerts.high:,.0f})"
        expected = f"expected {span} at this prevalence"
        assumed = " if only the share of positives had changed" if self.verdict == DRIFT else ""
        lines = [
            f"{self.day or 'day'}: {self.n_rows:,.0f} rows; reference {self.n_reference:,.0f} rows",
            self.explanation(),
            f"  prevalence  {share:.2f} % ({low:.2f} to {high:.2f}){assumed}; {before}",
            f"  alerts      {alerts.observed:,.0f}; {expected}; reference {alerts.reference:,.0f}",
            f"  precision   expected {precision[0]:.3f} ({precision[1]:.3f} to {precision[2]:.3f})",
            f"  scores      PSI {stable.psi:.4f}, {stable.reading} (noise {stable.noise:.4f})",
        ]
        lines += [
            f"  column      {column.column}: {column.residual:+.1f} standard errors unexplained; "
            f"PSI {column.psi:.4f}, {column.reading}"
            for column in self.columns[:_PRINTED]
        ]
        if len(self.columns) > _PRINTED:
            lines.append(f"  and {len(self.columns) - _PRINTED} more in .columns")
        return "\n".join([*lines, *(f"  {_promise_text(each)}" for each in self.promises)])


def _promise_text(promise: PromiseCheck) -> str:
    text = f"{promise.name} {promise.realised:.4f} ({promise.low:.4f} to {promise.high:.4f})"
    if not isfinite(promise.promised):
        return f"{text}; nothing was promised"
    state = "kept" if promise.kept else "NOT KEPT"
    return (
        f"{text}; promised {promise.promised:.4f} ({promise.promised_low:.4f} to "
        f"{promise.promised_high:.4f}): {state}"
    )


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in values.items()
    }
