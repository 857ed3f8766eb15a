"""DaysDisplay: prevalence, alerts and drift of a model from day to day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Self

import numpy as np

from directrix._typing import AnyArray, FloatArray
from directrix.displays import style

#: Smallest p-value that is drawn.
_LEAST = 1e-12


@dataclass(eq=False)
class DaysDisplay:
    """Prevalence, alerts and evidence of drift by day, from the checks of a monitor.

    Three panels: the estimated share of positives with its 95 % interval; the observed alerts and
    the range to be expected at that share; the p-value of the test that only the share has changed,
    with days of alarm marked. Create one with `from_checks`.

    Parameters
    ----------
    days : array of dates
    prevalence : array of shape (n, 3)
        Estimate, lower and upper end.
    reference : float
        Share of positives in the reference.
    alerts : array of shape (n, 3)
        Observed, and the ends of what is expected.
    p_values : array of shape (n,)
    alarms : array of bool of shape (n,)
    alarm_rate : float
    realised : array of shape (n,), optional
        Shares of positives that labels have shown since; NaN where they are not known.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
    """

    days: AnyArray
    prevalence: FloatArray
    reference: float
    alerts: FloatArray
    p_values: FloatArray
    alarms: AnyArray
    alarm_rate: float
    realised: FloatArray | None = None

    @classmethod
    def from_checks(
        cls, checks: Sequence[Any], *, realised: Any = None, ax: Any = None, **how: Any
    ) -> Self:
        """Draw the checks of several days.

        Parameters
        ----------
        checks : sequence of DayCheck
            With dates, in order.
        realised : array of shape (n,), optional
            Shares of positives that labels have shown since; NaN where they are not known.
        ax, **how : as in `plot`
        """
        style.pyplot()
        if not checks or any(check.day is None for check in checks):
            msg = "there must be checks of some days, each with its date"
            raise ValueError(msg)
        return cls(
            np.array([date.fromisoformat(check.day) for check in checks]),
            np.array([check.prevalence[:3] for check in checks]),
            checks[-1].prevalence.reference,
            np.array([(c.alerts.observed, c.alerts.low, c.alerts.high) for c in checks]),
            np.array([check.p_value for check in checks]),
            np.array([check.alarm for check in checks]),
            checks[-1].alarm_rate,
            None if realised is None else np.asarray(realised, dtype=np.float64),
        ).plot(ax, **how)

    def plot(self, ax: Any = None, **how: Any) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : three matplotlib axes, optional
            By default those of a new figure.
        **how
            Passed to the lines of estimates and counts.
        """
        axes = style.panels(ax, (3, 1), 7.0, sharex=True)
        self._plot_prevalence(axes[0], how)
        self._plot_alerts(axes[1], how)
        self._plot_drift(axes[2], how)
        self.ax_, self.figure_ = axes, axes[0].figure
        axes[2].tick_params(axis="x", rotation=30)
        return self

    def _plot_prevalence(self, ax: Any, how: dict[str, Any]) -> None:
        share, low, high = 100.0 * self.prevalence.T
        ax.fill_between(self.days, low, high, color=style.SKY, alpha=0.35, label="95 % interval")
        line = {"color": style.BLUE, "marker": ".", "label": "estimated without labels", **how}
        ax.plot(self.days, share, **line)
        if self.realised is not None:
            ax.plot(
                self.days, 100.0 * self.realised, "x", color=style.BLACK, label="known from labels"
            )
        ax.axhline(100.0 * self.reference, color=style.GREY, ls="--", label="reference")
        style.finish(ax, "", "positives (%)")

    def _plot_alerts(self, ax: Any, how: dict[str, Any]) -> None:
        observed, low, high = self.alerts.T
        ax.fill_between(
            self.days, low, high, color=style.SKY, alpha=0.35, label="expected without drift"
        )
        line = {"color": style.BLUE, "marker": ".", "label": "observed", **how}
        ax.plot(self.days, observed, **line)
        style.finish(ax, "", "alerts")

    def _plot_drift(self, ax: Any, how: dict[str, Any]) -> None:
        values = np.maximum(self.p_values, _LEAST)
        line = {"color": style.BLUE, "marker": ".", "label": "p-value of no drift", **how}
        ax.plot(self.days, values, **line)
        ax.axhline(self.alarm_rate, color=style.GREY, ls="--", label="alarm level")
        drifted = self.alarms & (self.p_values < self.alarm_rate)
        broken = self.alarms & ~drifted  # by their labels, whatever the p-value is
        for days, marker, label in ((drifted, "o", "alarm"), (broken, "s", "promise not kept")):
            if days.any():
                where = self.days[days], values[days]
                ax.plot(*where, marker, color=style.VERMILION, label=label)
        ax.set_yscale("log")
        ax.set_ylim(top=2.0)
        style.finish(ax, "day", "p-value", columns=3)
