"""Stability of a card: what the rows of a later period change in its scores, from counts alone.

With the shares p_k and q_k of base and later rows in the cells of a column, the column shifts the
mean score by sum_k (q_k - p_k) points_k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import FloatArray
from directrix.cards.card_printing import named_lines
from directrix.moments import BinCounts, Stability, stability
from directrix.moments.counts.stability import LATER, compare_cells

#: Columns that are printed before the rest is only counted.
_PRINTED = 20
_FIELDS = ("period", "column", "psi", "expected", "noise", "reading", "shift")


class ColumnShift(NamedTuple):
    """What a column, or a cross of two, does to the mean score of a later period.

    `psi`, `expected`, `noise` and `reading` are the population stability index, its expectation if
    nothing has changed, the level that it stays below in 19 of 20 such cases, and a word for it, as
    in `directrix.tables.stability`; NaN and empty for a cross. `shift` are the points by which the
    mean score has changed through it.
    """

    period: str
    column: str
    psi: float
    expected: float
    noise: float
    reading: str
    shift: float


class ScoreShift(NamedTuple):
    """Mean and standard deviation of the points of a period; NaN where counts do not tell them.

    `psi` is the stability index of the score if it is normal in both periods, in arbitrarily fine
    bins.
    """

    period: str
    base_mean: float
    later_mean: float
    base_deviation: float
    later_deviation: float
    psi: float


@dataclass(frozen=True, eq=False)
class CardStability:
    """Stability of the columns of a card and of its score, the least stable column first.

    There is an entry of `scores` for each later period; `population` has the shares of all bins.
    The population stability of the score itself needs scores.
    """

    columns: tuple[ColumnShift, ...]
    scores: tuple[ScoreShift, ...]
    population: Stability

    def to_frame(self) -> Any:
        """Return a pandas data frame with a line for each period and column or cross."""
        import pandas as pd

        return pd.DataFrame(self.columns, columns=list(_FIELDS))

    def __str__(self) -> str:
        several = len(self.scores) > 1
        lines = str(self.population).splitlines()[:2]
        rows = [("PSI", "noise", "points", "reading", "column")]
        for column in self.columns[:_PRINTED]:
            where = f"{column.column} in {column.period}" if several else column.column
            numbers = (
                _text(column.psi, 4),
                _text(column.noise, 4),
                f"{round(column.shift, 2) + 0.0:+.2f}",
            )
            rows.append((*numbers, column.reading, where))
        lines += named_lines(rows)
        if len(self.columns) > _PRINTED:
            lines.append(f"  and {len(self.columns) - _PRINTED} more in .columns")
        lines += map(_score_text, self.scores)
        return "\n".join([*lines, "the PSI of the score itself needs the scores of both periods"])

    __repr__ = __str__


def card_stability(
    card: Any,
    later: BinCounts | Mapping[str, BinCounts],
    base: BinCounts | None,
    smoothing: float,
) -> CardStability:
    """Compare later rows with the base rows of a card; the parameters are those of the method."""
    periods = dict(later) if isinstance(later, Mapping) else {LATER: later}
    if base is not None:
        population = stability(base, periods, smoothing)
        first = [base.cells(k).sum(axis=0) for k in range(len(base.bins))]
    elif card.counts:
        first = [counts.sum(axis=0) for counts in card.counts]
        n_base = float(first[0].sum())
        population = compare_cells(card.bins, first, n_base, periods, smoothing)
    else:
        msg = "this card has no counts of its training rows: give base="
        raise ValueError(msg)
    names = [bins.name for bins in card.bins]
    columns = []
    for found in population.columns:
        index = names.index(found.column)
        shares = _shares(periods[found.period].cells(index).sum(axis=0)) - _shares(first[index])
        shift = float(shares @ card.columns[index])
        columns.append(ColumnShift(*found[:6], shift))
    scores = []
    for period, counts in periods.items():
        crosses = [] if base is None else _cross_shifts(card, period, base, counts)
        columns += crosses
        scores.append(_score_shift(card, period, base, counts, columns))
    return CardStability(tuple(columns), tuple(scores), population)


def _shares(counts: Any) -> FloatArray:
    return np.asarray(counts, dtype=np.float64) / float(counts.sum())


def _cross_shifts(card: Any, period: str, base: BinCounts, later: BinCounts) -> list[ColumnShift]:
    """Return what each cross does to the mean score, from counts of pairs."""
    found, nothing = [], float("nan")
    for cross in card.crosses:
        points = cross.points[np.ix_(*cross.merged)]
        shares = [_shares(counts.pair(*cross.columns).sum(axis=0)) for counts in (base, later)]
        shift = float(((shares[1] - shares[0]) * points).sum())
        name = " x ".join(card.bins[k].name for k in cross.columns)
        found.append(ColumnShift(period, name, nothing, nothing, nothing, "", shift))
    return found


def _score_shift(
    card: Any,
    period: str,
    base: BinCounts | None,
    later: BinCounts,
    columns: Sequence[ColumnShift],
) -> ScoreShift:
    """Return the moments of the score: those of pairs of cells tell them for an additive card."""
    after = _score_moments(card, later)
    before = float("nan"), float("nan")
    if base is not None:
        before = _score_moments(card, base)
    elif not card.crosses:
        shift = sum(column.shift for column in columns if column.period == period)
        before = after[0] - shift, float("nan")
    return ScoreShift(
        period, before[0], after[0], before[1], after[1], _normal_index(before, after)
    )


def _score_moments(card: Any, counts: BinCounts) -> tuple[float, float]:
    """Return the mean and the standard deviation of points; the latter is NaN with crosses."""
    _, mean, second = counts.class_moments()
    points = np.concatenate(card.columns)
    additive = float(mean @ points)
    if card.crosses:
        for cross in card.crosses:
            shares = _shares(counts.pair(*cross.columns).sum(axis=0))
            additive += float((shares * cross.points[np.ix_(*cross.merged)]).sum())
        return card.intercept + additive, float("nan")
    variance = float(points @ (second @ points)) - additive**2
    return card.intercept + additive, float(np.sqrt(max(variance, 0.0)))


def _normal_index(before: tuple[float, float], after: tuple[float, float]) -> float:
    """Return the sum of both Kullback-Leibler divergences between two normal distributions.

    They are given by their means and standard deviations.
    """
    first, second = before[1] ** 2, after[1] ** 2
    if not (first > 0 and second > 0):
        return float("nan")
    gap = (before[0] - after[0]) ** 2
    return 0.5 * (first / second + second / first - 2.0 + gap * (1.0 / first + 1.0 / second))


def _score_text(score: ScoreShift) -> str:
    parts = [f"mean score {_text(score.base_mean, 2)} to {_text(score.later_mean, 2)}"]
    if not np.isnan(score.later_deviation):
        ends = _text(score.base_deviation, 2), _text(score.later_deviation, 2)
        parts.append(f"standard deviation {ends[0]} to {ends[1]}")
    if not np.isnan(score.psi):
        parts.append(f"PSI {score.psi:.4f} if scores are normal")
    return f"{score.period}: {', '.join(parts)}"


def _text(value: float, decimals: int) -> str:
    return "-" if np.isnan(value) else f"{value:.{decimals}f}"
