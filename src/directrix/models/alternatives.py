"""Alternatives: models that treat segments more equally, beside what each of them costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from directrix._printing import html_table, text_table
from directrix.metrics.base import Metric
from directrix.metrics.segments import Parity
from directrix.models.gap import Gap
from directrix.models.segment_rates import SegmentGap, SegmentRates

_SHOWN_CARRIERS = 5


class Alternative(NamedTuple):
    """One model of the frontier, measured on held-out rows at its own threshold.

    Parameters
    ----------
    direction : str
        By which rows it differs from the plain fit: "all rows" or "near the threshold". Empty for
        the plain fit.
    strength : float
        How far it is from the plain fit: at 1 the mean scores of these rows are equal in all
        segments.
    metric : float
        The metric that the classifier is trained for.
    change : Gap
        Difference of the metric to the plain fit that is expected on new rows, above zero if it is
        better, with its 95 % interval. It is smoothed along the path, because the metrics of two
        single alternatives differ by chance as well.
    error : float
        Standard error of a difference without smoothing, of the same rows at both thresholds.
    gap : SegmentGap
        How far the segments are apart in the rate of the parity.
    rates : SegmentRates
        All rates by segment, with intervals.
    """

    direction: str
    strength: float
    metric: float
    change: Gap
    error: float
    gap: SegmentGap
    rates: SegmentRates

    @property
    def impact_ratio(self) -> float:
        """The adverse impact ratio (`SegmentRates.impact_ratio`)."""
        return self.rates.impact_ratio


class Carrier(NamedTuple):
    """How much a column carries of the difference between the scores of two segments.

    Parameters
    ----------
    column : str
        Its name; of a cross of two columns, both names.
    plain, chosen : float
        Difference of the mean score between the two segments that are furthest apart that is due to
        this column, in the plain fit and in the delivered one. Over all columns these add up to the
        difference of the mean scores.
    """

    column: Any
    plain: float
    chosen: float


@dataclass(frozen=True)
class Alternatives(Sequence[Alternative]):
    """The plain fit, and alternatives with smaller gaps between segments; prints as a table.

    Parameters
    ----------
    parity : Parity
    metric : Metric
    entries : tuple of Alternative
        The plain fit first, then in the order of what they cost.
    chosen : int
        Index of the one that is delivered.
    error : float
        Standard error of the metric of the plain fit.
    why : str
        Why it is delivered.
    carriers : tuple of Carrier
        Columns that carry the difference, the largest first.
    """

    parity: Parity
    metric: Metric
    entries: tuple[Alternative, ...]
    chosen: int
    error: float
    why: str
    carriers: tuple[Carrier, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Alternative]:
        return iter(self.entries)

    def __getitem__(self, index: Any) -> Any:
        return self.entries[index]

    @property
    def acts(self) -> bool:
        """Whether there is a gap beyond chance, so that alternatives were looked for."""
        return len(self.entries) > 1

    @property
    def summary(self) -> str:
        """What is delivered, and what it costs, in one sentence."""
        rate, plain, chosen = self.parity.rate, self.entries[0], self.entries[self.chosen]
        advice = f"; {plain.gap.advice}" if plain.gap.advice else ""
        if self.chosen == 0:
            return f"Parity of {rate}: the plain fit is delivered, {self.why}{advice}"
        change = f"{chosen.change.mean:+.4f} (standard error {chosen.error:.4f})"
        return (
            f"Parity of {rate}: the gap between segments is {chosen.gap.value:.3f} instead of "
            f"{plain.gap.value:.3f} (chance alone makes {chosen.gap.by_chance:.3f}), and "
            f"{self.metric.label} is expected to change by {change}; {self.why}{advice}"
        )

    @property
    def _headings(self) -> tuple[str, ...]:
        label, rate = self.metric.label, self.parity.rate
        return (
            "",
            "",
            label,
            "change (standard error)",
            f"gap in {rate}",
            "impact ratio",
            "strength",
            "rows",
        )

    def _texts(self) -> list[tuple[str, ...]]:
        texts: list[tuple[str, ...]] = []
        for k, each in enumerate(self.entries):
            change = f"{each.change.mean:+.4f} ({each.error:.4f})" if k else ""
            path = (f"{each.strength:.2f}", each.direction) if k else ("", "plain fit")
            numbers = (f"{each.metric:.4f}", change, f"{each.gap.value:.3f}")
            mark = "*" if k == self.chosen else ""
            texts.append((mark, str(k), *numbers, f"{each.impact_ratio:.3f}", *path))
        return texts

    @property
    def _carriers_text(self) -> str:
        shown = self.carriers[:_SHOWN_CARRIERS]
        each = ", ".join(f"{c.column} {c.plain:+.3f} (now {c.chosen:+.3f})" for c in shown)
        gap = self.entries[0].gap
        return f"mean score of {gap.highest} less that of {gap.lowest}, by column: {each}"

    def __str__(self) -> str:
        lines = text_table([self._headings, *self._texts()], left=(7,))
        carried = [self._carriers_text] if self.carriers else []
        return "\n".join([*lines, self.summary, *carried])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        notes = [self.summary, *([self._carriers_text] if self.carriers else [])]
        return html_table(self._headings, self._texts(), "; ".join(notes))

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        import pandas as pd

        rows = [
            (
                each.direction,
                each.strength,
                each.metric,
                *each.change,
                each.error,
                each.gap.value,
                each.impact_ratio,
                k == self.chosen,
            )
            for k, each in enumerate(self.entries)
        ]
        names = ["direction", "strength", "metric", "change", "change_low", "change_high", "error"]
        return pd.DataFrame(rows, columns=[*names, "gap", "impact_ratio", "is_chosen"])
