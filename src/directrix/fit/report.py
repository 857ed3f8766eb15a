"""DirectReport: the candidates that were tried, which was chosen and why."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np

from directrix._printing import html_table, text_table
from directrix._typing import FloatArray
from directrix.fit.gap import Gap
from directrix.fit.segment_rates import SegmentRates
from directrix.metrics.base import Metric


class DirectionEffect(NamedTuple):
    """What a direction that coefficients or points keep does to the metric on held-out rows.

    The effect is how much better the metric is with it, below zero if it is worse; None if there
    are too many directions to tell, or was no time for it. A column is `flat` if the rows
    contradict the direction: it is then left without effect.
    """

    column: str
    wish: str
    effect: Gap | None
    flat: bool = False

    def __str__(self) -> str:
        said = [] if self.effect is None else [self.effect.text("the model without it")]
        flat = ["the rows contradict it, so the column has no effect"] if self.flat else []
        text = "; ".join([*said, *flat])
        return f"Direction of {self.column} ({self.wish}){text and ': '}{text}."


class CardSize(NamedTuple):
    """How long a compact card is, and what the full card would be better by.

    `lines` and `full_lines` are printed points of both cards; `gap` is above zero if the compact
    card is better.
    """

    lines: int
    full_lines: int
    gap: Gap

    def __str__(self) -> str:
        full = self.gap.reverse
        return (
            f"this card has {self.lines} lines; the full card, with {self.full_lines} lines, is "
            f"{full.text('this one')}"
        )


class SizeResult(NamedTuple):
    """A card of one size: its printed lines, and what to expect of it on new rows.

    `gap` is that to the full card, above zero if this card is better; None for the full card.
    """

    lines: int
    columns: int
    crosses: int
    expected: Estimate
    gap: Gap | None
    is_chosen: bool


class CardSizes(tuple[SizeResult, ...]):
    """Sizes that a card is known in, the smallest first; for ``print`` and notebooks."""

    __slots__ = ()

    @property
    def _texts(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = []
        for size in self:
            value, gap = size.expected, "full card" if size.gap is None else size.gap.numbers
            ends = "" if np.isnan(value.low) else f" ({value.low:.4f} to {value.high:.4f})"
            mark = "*" if size.is_chosen else ""
            numbers = (f"{size.lines}{mark}", str(size.columns), str(size.crosses))
            rows.append((*numbers, f"{value.value:.4f}{ends}", gap))
        return rows

    def __str__(self) -> str:
        lines = text_table([_SIZE_HEADINGS, *self._texts], left=(3, 4))
        return "\n".join([*lines, "* this card"])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(_SIZE_HEADINGS, self._texts)

    def to_frame(self) -> Any:
        """Return the sizes as a pandas data frame; gaps of the full card are missing."""
        import pandas as pd

        none = Gap(float("nan"), float("nan"), float("nan"))
        rows = [
            (*size[:3], *size.expected, *(none if size.gap is None else size.gap), size.is_chosen)
            for size in self
        ]
        names = ("lines", "columns", "crosses", "expected", "low", "high")
        return pd.DataFrame(rows, columns=[*names, "gap", "gap_low", "gap_high", "is_chosen"])


# ── DirectReport: the candidates that were tried, which was chosen and why ────────────────────────

#: What the best choice is compared with.
BASELINE = "logistic regression"
_SHOWN = 10
_SIZE_HEADINGS = ("lines", "columns", "crosses", "expected on new rows", "gap to the full card")
#: Loss of area, or of another ranking, that nobody misses, however well it is known.
SMALL_LOSS = 2e-3
#: What a report calls a model without bins.
UNBINNED_BASELINE = "logistic regression without bins"


class CandidateResult(NamedTuple):
    """A candidate that was tried: its metric on held-out rows, at its best threshold.

    `error` is its standard error over folds, NaN without folds. `criterion` is what candidates are
    compared by: the metric as far as the rows know it, else the ranking, in units of the metric.
    """

    name: str
    metric: float
    error: float
    folds: tuple[float, ...] = ()
    criterion: float = float("nan")

    @classmethod
    def of(
        cls, name: str, metric: float, folds: FloatArray, criterion: float = float("nan")
    ) -> CandidateResult:
        """Return the result of a candidate from the metric of all rows and of each fold."""
        error = folds.std(ddof=1) / np.sqrt(len(folds)) if len(folds) > 1 else np.nan
        return cls(name, float(metric), float(error), tuple(folds.tolist()), float(criterion))


class Estimate(NamedTuple):
    """Expected value on new rows, with its 95 % interval; NaN if no rows could be held out."""

    value: float
    low: float
    high: float


#: What to expect where no rows could be held out.
UNKNOWN = Estimate(float("nan"), float("nan"), float("nan"))


@dataclass(frozen=True)
class DirectReport:
    """Report of a fit: the candidates, best first, and the choice; for ``print`` and notebooks.

    Parameters
    ----------
    metric : Metric
    rows : str
        Which rows the candidates were compared on.
    tried : tuple of CandidateResult
    chosen : str
        Name of the candidate.
    why : str
        Why it was chosen, or how the model was made, in sentences.
    expected : Estimate
        The metric of the choice on new rows.
    gap : Gap, optional
        To logistic regression; None for a model that was compared with no other.
    unbinned_baseline : Gap, optional
        Of a card: the gap to logistic regression on columns that are not cut into bins, both at
        their best thresholds on held-out rows.
    directions : tuple of DirectionEffect
        What each direction that was asked for does to the metric, and all of them together last.
    caught : str
        Which of two text labels is caught; empty if the labels are no texts.
    weighted_by : str
        What the rates are weighted by, such as "sample_weight"; empty if every row counts the same.
    chance : float
        What scores that know nothing of the label reach (`Metric.chance`); NaN if not known.
    size : CardSize, optional
        Of a compact card: its lines, those of the full card, and the gap between both.
    segments : SegmentRates, optional
        The rates in each segment of the rows, where `fit` was given ``segment=``.
    columns_tried : pair of int, optional
        Of a card of a wide table: how many columns were tried, and how many there are.
    findings : tuple
        What looked odd in the table before the fit, as in `TableWarning`.
    """

    metric: Metric
    rows: str
    tried: tuple[CandidateResult, ...]
    chosen: str
    why: str
    expected: Estimate = UNKNOWN
    gap: Gap | None = None
    unbinned_baseline: Gap | None = None
    directions: tuple[DirectionEffect, ...] = ()
    caught: str = ""
    weighted_by: str = ""
    chance: float = float("nan")
    size: CardSize | None = None
    segments: SegmentRates | None = None
    columns_tried: tuple[int, int] | None = None
    findings: tuple[Any, ...] = ()

    @property
    def baseline_gap(self) -> Gap | None:
        """The gap to the simpler model that the choice was compared with, if there is one."""
        return self.unbinned_baseline if self.gap is None else self.gap

    @property
    def baseline(self) -> str:
        """Name of the simpler model of ``baseline_gap``."""
        return UNBINNED_BASELINE if self.gap is None else BASELINE

    @property
    def no_better_than_constant(self) -> bool:
        """Whether the interval expected on new rows reaches what a constant prediction gets."""
        ends = self.expected.low, self.expected.high
        known = not np.isnan([*ends, self.chance]).any()
        return known and not self.metric.is_better(ends, self.chance)

    @property
    def verdict(self) -> str:
        """The first line on a model no better than a constant, or clearly behind; else empty."""
        size, shown = self.size, (self.metric.label, self.expected, "expected on new rows")
        said = [constant_text(*shown, self.chance)] if self.no_better_than_constant else []
        gaps = [] if size is None else [(f"the full card of {size.full_lines} lines", size.gap)]
        gaps += self._gaps
        behind = [f"Clearly {gap.text(name)}." for name, gap in gaps if self.is_clear_loss(gap)]
        return " ".join([*said, *behind[:1]])

    def is_clear_loss(self, gap: Gap | None) -> bool:
        """Whether the other model of a gap is better by more than a loss that nobody misses."""
        margin = 0.0 if self.metric.uses_threshold else SMALL_LOSS
        return gap is not None and gap.high < -margin

    @property
    def too_short(self) -> CardSize | None:
        """The size of a compact card if the full card is clearly better; else None."""
        return self.size if self.size and self.is_clear_loss(self.size.gap) else None

    @property
    def _shown(self) -> tuple[CandidateResult, ...]:
        rest = (tried for tried in self.tried[_SHOWN:] if tried.name == self.chosen)
        return (*self.tried[:_SHOWN], *rest)

    @property
    def _gaps(self) -> list[tuple[str, Gap]]:
        if np.isnan(self.expected.value):  # differences on the rows that were fitted say nothing
            return []
        gaps = [(BASELINE, self.gap), (UNBINNED_BASELINE, self.unbinned_baseline)]
        return [(name, gap) for name, gap in gaps if gap is not None]

    @property
    def comparisons(self) -> list[str]:
        """How the choice compares with other models, in sentences; above zero is better."""
        size = [] if self.size is None else [str(self.size)]
        gaps = [gap.text(name) for name, gap in self._gaps]
        return list(map(sentence, [*size, *gaps]))

    @property
    def oddities(self) -> list[str]:
        """What looked odd in the table before the fit, in sentences."""
        return [sentence(str(each)) for each in self.findings]

    @property
    def choice(self) -> list[str]:
        """The chosen candidate, and why it was chosen, in sentences."""
        if self.gap is None:  # there was nothing to choose from
            model = f"Model for {self.metric.label}: {self.chosen}."
            return [model, f"{self.why} Measured on {self.rows}."]
        return [f"Chosen for {self.metric.label}: {self.chosen}.", self.why]

    @property
    def expected_text(self) -> str:
        """What to expect on new rows, in words."""
        value = self.expected
        if np.isnan(value.value):
            return (
                "what to expect on new rows is not known: one class has fewer than two rows, by "
                "weight, so none could be held out"
            )
        ends = f"95 % interval {value.low:.4f} to {value.high:.4f}"
        return f"expected on new rows: {value.value:.4f} ({ends})"

    def summary(self) -> str:
        """Return the report without its table of candidates: the choice, and what to expect."""
        return "\n".join([*([self.verdict] if self.verdict else []), *self._sentences])

    @property
    def _sentences(self) -> list[str]:
        """All that the report says below its verdict, one or two sentences a line."""
        weighted = [f"Rates are weighted by {self.weighted_by}."] if self.weighted_by else []
        screened = []
        if self.columns_tried is not None:
            n_tried, n_known = self.columns_tried
            screened = [f"Only the {n_tried} most informative of {n_known:,} columns were tried."]
        return [
            *self.oddities,
            *self.choice,
            *([sentence(self.caught)] if self.caught else []),
            sentence(self.expected_text),
            *weighted,
            *self.comparisons,
            *screened,
            *map(str, self.directions),
        ]

    def __str__(self) -> str:
        segments = [] if self.segments is None else ["", "by segment", str(self.segments)]
        if self.gap is None:
            return "\n".join([self.summary(), *segments])
        width = max(len(tried.name) for tried in self._shown)
        header = f"{'candidate':<{width + 2}}{'metric':>9}  standard error over folds"
        lines = [self.summary(), "", header]
        for tried in self._shown:
            mark = "*" if tried.name == self.chosen else " "
            lines.append(f"{mark} {tried.name:<{width}}{tried.metric:9.4f}  {_error_text(tried)}")
        if len(self.tried) > len(self._shown):
            lines.append(f"  and {len(self.tried) - len(self._shown)} more in .tried")
        return "\n".join([*lines, *segments])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [(tried.name, f"{tried.metric:.4f}", _error_text(tried)) for tried in self._shown]
        table = html_table(
            ["candidate", "metric", "standard error"],
            rows,
            cell=lambda text: f"<b>{escape(text)}</b>" if text == self.chosen else escape(text),
        )
        verdict = f"<p><b>{escape(self.verdict)}</b></p>" if self.verdict else ""
        rates = "" if self.segments is None else f"<p>by segment</p>{self.segments.to_html()}"
        return f"{verdict}<p>{'<br>'.join(map(escape, self._sentences))}</p>{table}{rates}"


def constant_text(label: str, value: Estimate, where: str, chance: float) -> str:
    """Return the sentence that a metric, on rows that `where` names, is no better than chance."""
    measured = f"{label} {where}".rstrip()
    ends = f"{value.low:.4f} to {value.high:.4f}"
    return (
        f"No better than a constant prediction: {measured} is {value.value:.4f} ({ends}), and "
        f"chance is {round(chance, 4) + 0.0:g}."
    )


def sentence(text: str) -> str:
    """Return a text as a sentence: with a capital first letter, and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def _error_text(tried: CandidateResult) -> str:
    return "" if np.isnan(tried.error) else f"{tried.error:.4f}"
