"""What DirectClassifier did: the candidates, what was chosen and why, and the gap to logistic."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.frontier.choose import Compared
    from directrix.frontier.pool import Origin
    from directrix.metrics import Metric

_LEVEL = 0.95
_SHOWN = 10


class Tried(NamedTuple):
    """A candidate line.

    Parameters
    ----------
    name : str
    metric : float
        On all held-out rows, at its best threshold.
    low, high : float
        95 % interval over folds.
    """

    name: str
    metric: float
    low: float
    high: float


class Gap(NamedTuple):
    """How much better the chosen line is than the best logistic regression; above zero is better.

    Parameters
    ----------
    mean, low, high : float
        Over folds, paired, with a 95 % interval.
    """

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class DirectReport:
    """The candidates, best first, and the choice. ``print`` it, or show it in a notebook.

    Parameters
    ----------
    metric : Metric
    rows : str
        Which rows the candidates were compared on.
    tried : tuple of Tried
    chosen : str
        Name of the candidate.
    why : str
    gap : Gap
        To logistic regression.
    """

    metric: Metric
    rows: str
    tried: tuple[Tried, ...]
    chosen: str
    why: str
    gap: Gap

    @classmethod
    def of(
        cls, metric: Metric, rows: str, origins: Sequence[Origin], found: Compared, place: int
    ) -> DirectReport:
        """Take what was compared, and which candidate was chosen."""
        order = np.argsort(found.losses, kind="stable")
        sign = -1.0 if metric.greater_is_better else 1.0
        tried = []
        for k in order:
            value = float(found.values[k])
            reach = _reach(found.of_folds[k])
            tried.append(Tried(origins[k].name, value, value - reach, value + reach))
        logistic = [k for k, origin in enumerate(origins) if origin.roughness == 0.0]
        other = min(logistic, key=lambda k: found.losses[k])
        better = found.of_folds[other] - found.of_folds[place]
        mean = float(found.losses[other] - found.losses[place])
        gap = Gap(mean, mean - _reach(better), mean + _reach(better))
        best = int(found.best)
        why = "it has the best metric on held-out rows"
        if place != best:
            lost = sign * (float(found.values[place]) - float(found.values[best]))
            error = float(found.errors(best)[place])
            why = (
                f"it is the smoothest that is not worse than the best, {origins[best].name}, by "
                f"more than one standard error of the paired difference ({lost:.4f}, {error:.4f})"
            )
        return cls(metric, rows, tuple(tried), origins[place].name, why, gap)

    def __str__(self) -> str:
        lines = [
            f"{self.metric}: {self.chosen}",
            f"chosen of {len(self.tried)} candidates on {self.rows}: {self.why}",
            f"better than logistic regression by {_signed(self.gap)}",
            "",
            f"{'candidate':<52}{'metric':>9}  95 % interval over folds",
        ]
        for own in self.tried[:_SHOWN]:
            mark = "*" if own.name == self.chosen else " "
            lines.append(f"{mark} {own.name:<50}{own.metric:9.4f}  {own.low:.4f} to {own.high:.4f}")
        if len(self.tried) > _SHOWN:
            lines.append(f"  and {len(self.tried) - _SHOWN} more in .tried")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the same as a table for notebooks."""
        rows = "".join(
            f"<tr><td>{'<b>' * (own.name == self.chosen)}{escape(own.name)}"
            f"{'</b>' * (own.name == self.chosen)}</td><td>{own.metric:.4f}</td>"
            f"<td>{_interval(own)}</td></tr>"
            for own in self.tried[:_SHOWN]
        )
        return (
            f"<p><b>{escape(str(self.metric))}</b>: {escape(self.chosen)}. "
            f"Chosen of {len(self.tried)} candidates on {escape(self.rows)}: {escape(self.why)}. "
            f"Better than logistic regression by {escape(_signed(self.gap))}.</p>"
            "<table><thead><tr><th>candidate</th><th>metric</th><th>95 % interval</th></tr>"
            f"</thead><tbody>{rows}</tbody></table>"
        )


def _interval(own: Tried) -> str:
    """Return the interval in words; histograms of all rows have none."""
    return "" if np.isnan(own.low) else f"{own.low:.4f} to {own.high:.4f}"


def _signed(gap: Gap) -> str:
    interval = "" if np.isnan(gap.low) else f" ({gap.low:+.4f} to {gap.high:+.4f})"
    return f"{gap.mean:+.4f}{interval}"


def _reach(values: FloatArray) -> float:
    r"""Return half of the interval of a mean over folds, which share their training rows.

    .. math:: t_{K - 1}\, s \sqrt{1/K + 1/(K - 1)}

    Nadeau and Bengio 2003. Without folds nothing is known of it.
    """
    folds = len(values)
    if folds < 2:
        return float("nan")
    quantile = float(stats.t.ppf((1.0 + _LEVEL) / 2.0, folds - 1))
    factor = float(np.sqrt(1.0 / folds + 1.0 / (folds - 1)))
    return quantile * float(values.std(ddof=1)) * factor
