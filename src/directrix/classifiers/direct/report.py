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
    from directrix.frontier.compare import Compared
    from directrix.frontier.search import Origin
    from directrix.metrics import Metric

_LEVEL = 0.95
_SHOWN = 10


class Tried(NamedTuple):
    """A candidate.

    Parameters
    ----------
    name : str
    metric : float
        On held-out rows, at its best threshold: what the candidates were compared by.
    error : float
        Standard error of it over folds; NaN without folds.
    """

    name: str
    metric: float
    error: float


class Estimate(NamedTuple):
    """A figure to expect on new rows, with its 95 % interval."""

    value: float
    low: float
    high: float


class Gap(NamedTuple):
    """How much better the choice is than the best logistic regression; above zero is better.

    Parameters
    ----------
    mean, low, high : float
        To be expected on new rows, with a 95 % interval over folds, paired.
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
    expected : Estimate
        The metric of the choice on new rows.
    gap : Gap
        To logistic regression.
    """

    metric: Metric
    rows: str
    tried: tuple[Tried, ...]
    chosen: str
    why: str
    expected: Estimate
    gap: Gap

    @classmethod
    def of(
        cls,
        metric: Metric,
        rows: str,
        origins: Sequence[Origin],
        found: Compared,
        place: int,
        expected: Estimate,
        better: float,
    ) -> DirectReport:
        """Take what was compared, which candidate was chosen, and what to expect of it."""
        sign = -1.0 if metric.greater_is_better else 1.0
        order = np.argsort(found.losses, kind="stable")
        tried = tuple(
            Tried(origins[k].name, float(sign * found.losses[k]), _error(found.of_folds[k]))
            for k in order
        )
        logistic = [k for k, origin in enumerate(origins) if origin.roughness == 0.0]
        other = min(logistic, key=lambda k: found.losses[k])
        reach = _reach(found.of_folds[other] - found.of_folds[place])
        gap = Gap(better, better - reach, better + reach)
        best = int(found.best)
        why = "it is the best on held-out rows"
        if place != best:
            lost = float(found.losses[place] - found.losses[best])
            error = float(found.errors(best)[place])
            why = (
                f"the simplest within one standard error ({error:.4f}) of the best, "
                f"{origins[best].name}, which is better by {lost:.4f}"
            )
        return cls(metric, rows, tried, origins[place].name, why, expected, gap)

    def __str__(self) -> str:
        value = self.expected
        lines = [
            f"{self.metric}: {self.chosen}",
            f"chosen of {len(self.tried)} candidates on {self.rows}: {self.why}",
            f"on new rows expect {value.value:.4f} ({value.low:.4f} to {value.high:.4f})",
            f"better than logistic regression by {_signed(self.gap)}",
            "",
            f"{'candidate':<52}{'metric':>9}  standard error over folds",
        ]
        for own in self.tried[:_SHOWN]:
            mark = "*" if own.name == self.chosen else " "
            lines.append(f"{mark} {own.name:<50}{own.metric:9.4f}  {_error_text(own)}")
        if len(self.tried) > _SHOWN:
            lines.append(f"  and {len(self.tried) - _SHOWN} more in .tried")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the same as a table for notebooks."""
        rows = "".join(
            f"<tr><td>{'<b>' * (own.name == self.chosen)}{escape(own.name)}"
            f"{'</b>' * (own.name == self.chosen)}</td><td>{own.metric:.4f}</td>"
            f"<td>{_error_text(own)}</td></tr>"
            for own in self.tried[:_SHOWN]
        )
        value = self.expected
        return (
            f"<p><b>{escape(str(self.metric))}</b>: {escape(self.chosen)}. "
            f"Chosen of {len(self.tried)} candidates on {escape(self.rows)}: {escape(self.why)}. "
            f"On new rows expect {value.value:.4f} ({value.low:.4f} to {value.high:.4f}). "
            f"Better than logistic regression by {escape(_signed(self.gap))}.</p>"
            "<table><thead><tr><th>candidate</th><th>metric</th><th>standard error</th></tr>"
            f"</thead><tbody>{rows}</tbody></table>"
        )


def _error_text(own: Tried) -> str:
    """Return the standard error in words; histograms of all rows have none."""
    return "" if np.isnan(own.error) else f"{own.error:.4f}"


def _error(values: FloatArray) -> float:
    """Return the standard error of a mean over folds."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


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
