"""DirectReport: the candidates that were tried, which was chosen and why."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.classifiers.fitting.operating_point import Assessment
    from directrix.frontier import Candidate, Comparison
    from directrix.metrics import Metric

#: What the best choice is compared with, unless a report says otherwise.
BASELINE = "logistic regression"
_LEVEL = 0.95
_SHOWN = 10
#: What a report calls a model without bins.
STRAIGHT = "logistic regression without bins"
_UNROUNDED = "the card before it was rounded"


class Tried(NamedTuple):
    """A candidate that was tried.

    Parameters
    ----------
    name : str
    metric : float
        On held-out rows, at its best threshold: what the candidates were compared by.
    error : float
        Standard error of the metric over folds; NaN without folds.
    folds : tuple of float
        The metric on each fold.
    """

    name: str
    metric: float
    error: float
    folds: tuple[float, ...] = ()


class Estimate(NamedTuple):
    """Expected value on new rows, with its 95 % interval."""

    value: float
    low: float
    high: float


class Gap(NamedTuple):
    """How much better the choice is than the best logistic regression; above zero is better.

    Parameters
    ----------
    mean, low, high : float
        Expected on new rows, with a 95 % interval from paired differences over folds.
    """

    mean: float
    low: float
    high: float

    def text(self, name: str) -> str:
        """Return the gap in words, as "better than ... by +0.01 (-0.01 to +0.03)".

        Parameters
        ----------
        name : str
            Of what the choice is compared with.
        """
        if self.mean == self.low == self.high == 0.0:  # the choice is one of these itself
            return f"the same as {name}"
        better = self.mean >= 0
        low, high = (self.low, self.high) if better else (-self.high, -self.low)
        interval = "" if np.isnan(low) else f" ({low:+.4f} to {high:+.4f})"
        if better:
            return f"better than {name} by {self.mean:+.4f}{interval}"
        return f"worse than {name} by {-self.mean:.4f}{interval}"


class DirectionPrice(NamedTuple):
    """What a direction that coefficients or points keep costs on held-out rows.

    Parameters
    ----------
    column : str
    wish : str
        The direction.
    price : float
        How much better the metric would be without it; below zero if it helps. NaN if there are
        too many directions to tell, or was no time for it.
    flat : bool
        Whether the rows contradict the direction: the column is then left without effect.
    """

    column: str
    wish: str
    price: float
    flat: bool = False


@dataclass(frozen=True)
class DirectReport:
    """Report of a fit: the candidates, best first, and the choice; for ``print`` and notebooks.

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
    skipped : tuple of str
        Steps of the search for which the time budget left no time, or that a callback stopped.
    baseline : str
        What the gap is to: the candidates of complexity zero.
    straight : Gap, optional
        Of a card: the gap to logistic regression on columns that are not cut into bins, both at
        their best thresholds on held-out rows.
    directions : tuple of DirectionPrice
        What each direction that was asked for costs, and all of them together last.
    rounding : Gap, optional
        Of a card of whole numbers: the gap to the same card before it was rounded, both at their
        best thresholds on held-out rows.
    caught : str
        Which of two text labels is caught; empty if the labels are no texts.
    suspects : tuple of str
        Columns of a card that tell the label by themselves.
    """

    metric: Metric
    rows: str
    tried: tuple[Tried, ...]
    chosen: str
    why: str
    expected: Estimate
    gap: Gap
    skipped: tuple[str, ...] = ()
    baseline: str = BASELINE
    straight: Gap | None = None
    directions: tuple[DirectionPrice, ...] = ()
    rounding: Gap | None = None
    caught: str = ""
    suspects: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        metric: Metric,
        rows: str,
        candidates: Sequence[Candidate],
        comparison: Comparison,
        chosen: int,
        assessment: Assessment,
        better: float,
        *,
        skipped: Sequence[str] = (),
        complexities: Sequence[float] | None = None,
    ) -> DirectReport:
        """Report a comparison.

        Parameters
        ----------
        metric : Metric
        rows : str
            Which rows the candidates were compared on.
        candidates : sequence of Candidate
        comparison : Comparison
        chosen : int
            Index of the chosen candidate.
        assessment : Assessment
            Of the chosen candidate.
        better : float
            How much better than logistic regression it is expected to be.
        skipped : sequence of str
            Steps of the search for which there was no time.
        complexities : sequence of float, optional
            By default those of the candidates.
        """
        sign = -1.0 if metric.greater_is_better else 1.0
        losses, fold_losses = comparison.losses, comparison.fold_losses
        tried = tuple(
            Tried(
                candidates[k].name,
                float(sign * losses[k]),
                _standard_error(fold_losses[k]),
                tuple((sign * fold_losses[k]).tolist()),
            )
            for k in np.argsort(losses, kind="stable")
        )
        if complexities is None:
            complexities = [candidate.complexity for candidate in candidates]
        logistic = [k for k, complexity in enumerate(complexities) if complexity == 0.0]
        best_simple = min(logistic, key=lambda k: losses[k])
        reach = half_width(fold_losses[best_simple] - fold_losses[chosen])
        gap = Gap(better, better - reach, better + reach)
        expected = Estimate(assessment.expected.metric, *assessment.intervals.metric)
        best = comparison.best
        why = "it is the best on held-out rows"
        if chosen != best:
            behind = float(losses[chosen] - losses[best])
            error = float(comparison.standard_errors(best)[chosen])
            why = (
                f"the simplest within one standard error ({error:.4f}) of the best, "
                f"{candidates[best].name}, which is better by {behind:.4f}"
            )
        name = candidates[chosen].name
        return cls(metric, rows, tried, name, why, expected, gap, tuple(skipped))

    @property
    def _shown(self) -> tuple[Tried, ...]:
        """The best candidates, and the chosen one."""
        rest = (tried for tried in self.tried[_SHOWN:] if tried.name == self.chosen)
        return (*self.tried[:_SHOWN], *rest)

    @property
    def _gaps(self) -> list[tuple[str, Gap]]:
        gaps = [(self.baseline, self.gap), (STRAIGHT, self.straight), (_UNROUNDED, self.rounding)]
        return [(name, gap) for name, gap in gaps if gap is not None]

    @property
    def _suspects_text(self) -> str:
        columns = ", ".join(map(repr, self.suspects))
        verb, was = ("tells", "was it") if len(self.suspects) == 1 else ("each tell", "were they")
        return f"{columns} {verb} the label alone: {was} known before the label?"

    @property
    def _skipped_text(self) -> str:
        return f" No time was left for {'; '.join(self.skipped)}." if self.skipped else ""

    def summary(self) -> str:
        """Return the report without its table of candidates: the choice, and what to expect."""
        value = self.expected
        lines = [
            f"{self.metric.label}: {self.chosen}",
            *([self.caught] if self.caught else []),
            f"chosen of {len(self.tried)} candidates on {self.rows}: {self.why}",
            f"on new rows expect {value.value:.4f} ({value.low:.4f} to {value.high:.4f})",
            *(gap.text(name) for name, gap in self._gaps),
            *([self._suspects_text] if self.suspects else []),
            *([self._skipped_text.strip()] if self.skipped else []),
            *map(_price_text, self.directions),
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        width = max(len(tried.name) for tried in self._shown)
        header = f"{'candidate':<{width + 2}}{'metric':>9}  standard error over folds"
        lines = [self.summary(), "", header]
        for tried in self._shown:
            mark = "*" if tried.name == self.chosen else " "
            lines.append(f"{mark} {tried.name:<{width}}{tried.metric:9.4f}  {_error_text(tried)}")
        if len(self.tried) > len(self._shown):
            lines.append(f"  and {len(self.tried) - len(self._shown)} more in .tried")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the report as HTML for notebooks."""
        rows = "".join(
            f"<tr><td>{'<b>' * (tried.name == self.chosen)}{escape(tried.name)}"
            f"{'</b>' * (tried.name == self.chosen)}</td><td>{tried.metric:.4f}</td>"
            f"<td>{_error_text(tried)}</td></tr>"
            for tried in self._shown
        )
        value = self.expected
        return (
            f"<p><b>{escape(self.metric.label)}</b>: {escape(self.chosen)}. "
            + (f"It {escape(self.caught)}. " if self.caught else "")
            + f"Chosen of {len(self.tried)} candidates on {escape(self.rows)}: {escape(self.why)}. "
            f"On new rows expect {value.value:.4f} ({value.low:.4f} to {value.high:.4f}). "
            + " ".join(f"It is {escape(gap.text(name))}." for name, gap in self._gaps)
            + (f" {escape(self._suspects_text)}" if self.suspects else "")
            + f"{escape(self._skipped_text)}"
            + "".join(f"<br>{escape(_price_text(price))}" for price in self.directions)
            + "</p>"
            "<table><thead><tr><th>candidate</th><th>metric</th><th>standard error</th></tr>"
            f"</thead><tbody>{rows}</tbody></table>"
        )


def _price_text(price: DirectionPrice) -> str:
    flat = "; the rows contradict it, so that the column has no effect" if price.flat else ""
    costs = "" if np.isnan(price.price) else f": costs {price.price:+.4f}"
    return f"direction of {price.column}, {price.wish}{costs}{flat}"


def _error_text(tried: Tried) -> str:
    """Return the standard error as text; empty without folds."""
    return "" if np.isnan(tried.error) else f"{tried.error:.4f}"


def _standard_error(values: FloatArray) -> float:
    """Return the standard error of a mean over folds."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def half_width(values: FloatArray) -> float:
    r"""Return half the width of the interval of a mean over folds, which share training rows.

    .. math:: t_{K - 1}\, s \sqrt{1/K + 1/(K - 1)}

    Nadeau and Bengio 2003. NaN without folds.
    """
    folds = len(values)
    if folds < 2:
        return float("nan")
    quantile = float(stats.t.ppf((1.0 + _LEVEL) / 2.0, folds - 1))
    factor = float(np.sqrt(1.0 / folds + 1.0 / (folds - 1)))
    return quantile * float(values.std(ddof=1)) * factor
