r"""Predicted risks against rows: calibration slope and intercept, net benefit, sample size.

With probability p of a row, all three take rows as counts: the weight of the positives and of the
negatives at each probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, logit

from directrix._printing import text_table
from directrix._typing import AnyArray, FloatArray
from directrix.cards.risk_bands import HeldOutPoints
from directrix.fit.report import UNKNOWN, Estimate

#: Normal quantile of a 95 % interval.
_QUANTILE = 1.959964
#: Probabilities nearer to zero and one are taken for these.
_LEAST_PROBABILITY = 1e-9
_ITERATIONS = 100
#: A slope beyond it means that the probabilities separate the classes.
_STEEPEST = 1e3


class RiskCounts(NamedTuple):
    """Rows by their predicted probability.

    Parameters
    ----------
    probability : array
        Of the positive label.
    positives, negatives : array
        Weight of the rows of each label at that probability.
    effective : float
        Effective number of rows of a unit of weight.
    """

    probability: FloatArray
    positives: FloatArray
    negatives: FloatArray
    effective: float = 1.0

    @classmethod
    def of_rows(
        cls, positive: AnyArray, probability: AnyArray, weight: FloatArray | None = None
    ) -> RiskCounts:
        """Return the counts of labelled rows; ``positive`` says which have the positive label."""
        positive = np.asarray(positive, dtype=bool)
        weight = np.ones(len(positive)) if weight is None else np.asarray(weight, dtype=np.float64)
        squares = float(weight @ weight)
        effective = float(weight.sum()) / squares if squares else 1.0
        p = np.asarray(probability, dtype=np.float64)
        return cls(p, weight * positive, weight * ~positive, effective)

    @classmethod
    def of_held_out(cls, held_out: HeldOutPoints) -> RiskCounts:
        """Return the counts of the held-out rows of a card."""
        return cls(held_out.probability, held_out.positives, held_out.negatives, held_out.effective)

    @property
    def rows(self) -> float:
        """Weight of all rows."""
        return float(self.positives.sum() + self.negatives.sum())

    @property
    def prevalence(self) -> float:
        """Share of the positives."""
        return float(self.positives.sum()) / self.rows


# ── Calibration slope and intercept ───────────────────────────────────────────────────────────────


class CalibrationLine(NamedTuple):
    r"""Calibration of probabilities on rows: a line in their log-odds.

    .. math:: \operatorname{logit} P(y = 1) = a + b \operatorname{logit} p

    Parameters
    ----------
    intercept : Estimate
        Calibration in the large: a with b held at one. Above zero, risks are predicted too low.
    slope : Estimate
        b, fitted together with an intercept. Below one, predictions are too extreme: high risks are
        predicted too high, and low ones too low.

    Notes
    -----
    Cox 1958, *Two further applications of a model for binary regression*; Van Calster et al. 2019,
    *Calibration: the Achilles heel of predictive analytics*. Intervals are those of maximum
    likelihood, with the effective number of rows. Both are 1 and 0 by construction on rows that
    the probabilities were fitted to.
    """

    intercept: Estimate
    slope: Estimate

    def __str__(self) -> str:
        parts = {"slope": self.slope, "intercept": self.intercept}
        texts = [f"{name} {e.value:.2f} ({e.low:.2f} to {e.high:.2f})" for name, e in parts.items()]
        return f"{', '.join(texts)}. {self.verdict}"

    @property
    def verdict(self) -> str:
        """Interpretation of the line, in one sentence."""
        parts = []
        if np.isnan(self.slope.value) or np.isnan(self.intercept.value):
            return "The rows are too few, or too well separated, for a slope and an intercept."
        if self.intercept.low > 0:
            parts.append("risks are predicted too low on the whole")
        elif self.intercept.high < 0:
            parts.append("risks are predicted too high on the whole")
        else:
            parts.append("the mean risk is predicted as it is, within chance")
        if self.slope.high < 1:
            parts.append("predictions are too extreme")
        elif self.slope.low > 1:
            parts.append("predictions are not extreme enough")
        else:
            parts.append("their spread is right, within chance")
        text = "; ".join(parts)
        return f"{text[0].upper()}{text[1:]}."


def calibration_line(counts: RiskCounts) -> CalibrationLine:
    """Return calibration slope and intercept; see `CalibrationLine`."""
    p = np.clip(counts.probability, _LEAST_PROBABILITY, 1.0 - _LEAST_PROBABILITY)
    z = logit(p)
    in_large = _logistic(np.ones((len(z), 1)), z, counts)
    line = _logistic(np.column_stack([np.ones(len(z)), z]), np.zeros(len(z)), counts)
    return CalibrationLine(in_large[0], line[-1])


def _logistic(X: FloatArray, offset: FloatArray, counts: RiskCounts) -> list[Estimate]:
    """Return the coefficients of a logistic regression by Newton's method, with intervals."""
    weight = counts.positives + counts.negatives
    if not (counts.positives.sum() > 0 and counts.negatives.sum() > 0):
        return [UNKNOWN] * X.shape[1]
    coef = np.zeros(X.shape[1])
    for _ in range(_ITERATIONS):
        fitted = expit(offset + X @ coef)
        gradient = X.T @ (counts.positives - weight * fitted)
        information = (X.T * (weight * fitted * (1.0 - fitted))) @ X
        ridge = 1e-12 * np.trace(information) * np.eye(len(coef))
        step = np.linalg.solve(information + ridge, gradient)
        largest = float(np.abs(step).max())
        coef = coef + step * min(1.0, 2.0 / max(largest, 1e-300))
        if not np.isfinite(coef).all() or np.abs(coef).max() > _STEEPEST:
            return [UNKNOWN] * len(coef)
        if largest < 1e-10:
            break
    else:
        return [UNKNOWN] * len(coef)
    variance = np.diag(np.linalg.inv(information)) / counts.effective
    reach = _QUANTILE * np.sqrt(variance)
    ends = zip(coef.tolist(), (coef - reach).tolist(), (coef + reach).tolist(), strict=True)
    return [Estimate(*each) for each in ends]


# ── Net benefit ───────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class NetBenefit:
    r"""Net benefit of acting on rows above a threshold of risk: a decision curve.

    .. math:: \mathrm{NB}(t) = \frac{\mathrm{TP}(t)}{n} - \frac{\mathrm{FP}(t)}{n} \frac{t}{1 - t}

    in true positives per row: somebody who acts at a risk of t or more holds a false positive for
    worth :math:`t / (1 - t)` of a true one (Vickers and Elkin 2006, *Decision curve analysis*).
    Acting on all rows has :math:`\pi - (1 - \pi)\, t / (1 - t)`, acting on none has zero.

    Parameters
    ----------
    thresholds : array
        Risks from which on one acts.
    values, low, high : array
        Net benefit of the model at each, with a 95 % interval: the normal one of a mean over rows.
    treat_all : array
        Net benefit of acting on all rows.
    """

    thresholds: FloatArray
    values: FloatArray
    low: FloatArray
    high: FloatArray
    treat_all: FloatArray

    @property
    def useful(self) -> tuple[float, float] | None:
        """Lowest and highest threshold where the model beats both acting on all and on none."""
        return self._above(self.values)

    @property
    def surely_useful(self) -> tuple[float, float] | None:
        """Like `useful`, but where the lower end of the interval beats both; None if nowhere."""
        return self._above(self.low)

    def _above(self, values: FloatArray) -> tuple[float, float] | None:
        better = np.flatnonzero(values > np.maximum(self.treat_all, 0.0) + 1e-12)
        if not len(better):
            return None
        return float(self.thresholds[better[0]]), float(self.thresholds[better[-1]])

    def __str__(self) -> str:
        header = ["act at a risk of", "net benefit", "95 % interval", "if all are treated"]
        columns = (self.thresholds, self.values, self.low, self.high, self.treat_all)
        rows = [
            [f"{t:.1%}", f"{value:.3f}", f"{low:.3f} to {high:.3f}", f"{everybody:.3f}"]
            for t, value, low, high, everybody in zip(*columns, strict=True)
        ]
        return "\n".join(text_table([header, *rows]))

    def to_frame(self) -> Any:
        """Return the curve as a pandas data frame."""
        import pandas as pd

        names = ("thresholds", "values", "low", "high", "treat_all")
        columns = ("threshold", "net_benefit", "low", "high", "treat_all")
        return pd.DataFrame(
            {name: getattr(self, key) for name, key in zip(columns, names, strict=True)}
        )


def net_benefit(counts: RiskCounts, thresholds: Any = None) -> NetBenefit:
    """Return the net benefit of acting on rows whose risk reaches a threshold; see `NetBenefit`.

    By default there are a hundred thresholds, up to the risk that one row in a hundred exceeds.
    """
    t = _default_thresholds(counts) if thresholds is None else np.asarray(thresholds, float)
    if not len(t) or not ((t > 0) & (t < 1)).all():
        msg = f"thresholds must be risks between 0 and 1, not {thresholds!r}"
        raise ValueError(msg)
    order = np.argsort(counts.probability, kind="stable")
    p = counts.probability[order]
    # Weights of the rows from each position on, and of none.
    positives, negatives = (
        np.append(np.cumsum(weight[order][::-1])[::-1], 0.0)
        for weight in (counts.positives, counts.negatives)
    )
    index = np.searchsorted(p, t, side="left")
    n, odds = counts.rows, t / (1.0 - t)
    true, false = positives[index] / n, negatives[index] / n
    values = true - odds * false
    variance = np.maximum(true + odds**2 * false - values**2, 0.0)
    reach = _QUANTILE * np.sqrt(variance / (n * counts.effective))
    treat_all = counts.prevalence - odds * (1.0 - counts.prevalence)
    return NetBenefit(t, values, values - reach, values + reach, treat_all)


def _default_thresholds(counts: RiskCounts) -> FloatArray:
    order = np.argsort(counts.probability)
    weight = (counts.positives + counts.negatives)[order]
    index = int(np.searchsorted(np.cumsum(weight), 0.99 * counts.rows))
    top = float(counts.probability[order][min(index, len(order) - 1)])
    top = float(np.clip(max(top, 1.5 * counts.prevalence), 0.02, 0.99))
    return np.linspace(top / 100.0, top, 100)


# ── Sample size ───────────────────────────────────────────────────────────────────────────────────

#: Half widths of intervals that are asked for, in points of the metric.
_WISHES = (0.05, 0.03, 0.02, 0.01)
#: Events for each free number that rules of thumb ask for.
_FEW_EVENTS = 10.0


class SampleSize(NamedTuple):
    """Whether there are enough rows: events per printed line, and the width of an interval.

    ``events`` is the weight of the rarer label among ``rows``, ``lines`` the number of printed
    points of the card, and ``expected`` the metric to expect on new rows.
    """

    rows: float
    events: float
    lines: int
    label: str
    metric: str
    expected: Estimate

    @property
    def events_per_line(self) -> float:
        """Rows of the rarer label for each printed line."""
        return self.events / max(self.lines, 1)

    @property
    def half_width(self) -> float:
        """Half the width of the interval of the expected value."""
        return (self.expected.high - self.expected.low) / 2.0

    def rows_for(self, half_width: float) -> float:
        """Return how many rows of the same kind an interval of this half width needs."""
        return self.rows * (self.half_width / half_width) ** 2

    @property
    def advice(self) -> list[str]:
        """Interpretation of the sample size, in sentences."""
        counts = f"{self.rows:,.0f} rows, {self.events:,.0f} of them {self.label}"
        per_line = f"{self.lines} printed lines: {self.events_per_line:.1f} events a line"
        lines = [f"The fit had {counts}, which is the rarer label; the card has {per_line}."]
        if self.events_per_line < _FEW_EVENTS:
            lines.append(
                f"Rules of thumb ask for {_FEW_EVENTS:.0f} or more events for each free number. "
                "Points that are held together by a penalty need fewer, but a card of fewer lines "
                "(max_lines, max_columns) would be safer with so many rows."
            )
        known = self.half_width
        if not np.isnan(known) and known > 0:
            lines.append(
                f"With so many rows, {self.metric} on new rows is known to within "
                f"±{known:.3f} ({self.expected.low:.3f} to {self.expected.high:.3f})."
            )
            wish = next((wish for wish in _WISHES if wish < 0.75 * known), None)
            if wish is not None:
                lines.append(
                    f"To know it to within ±{wish:g} takes about {_round(self.rows_for(wish)):,} "
                    "rows of the same kind; four times as many rows halve the interval."
                )
        return lines


def _round(number: float) -> int:
    """Return a number to two digits, rounded up."""
    unit = 10.0 ** max(int(np.floor(np.log10(max(number, 1.0)))) - 1, 0)
    return int(np.ceil(number / unit) * unit)
