"""SegmentRates: the rates of a classifier in each segment of the rows, and what chance explains."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from directrix._printing import html_table, text_table
from directrix._typing import AnyArray, FloatArray
from directrix.exceptions.columns import listed
from directrix.fit.shares import wilson
from directrix.metrics.segment_scores import SegmentCounts
from directrix.metrics.segments import Segments

#: Rates of a segment, by the names that users give them.
RATES = ("alerts", "recall", "fpr", "precision")
_DRAWS = 2000
#: Below so many rows a segment moves by chance more than most gaps, and hides those of the others.
_FEW_ROWS = 30


class Share(NamedTuple):
    """A rate with its 95 % interval, and the effective number of rows that it is a share of."""

    value: float
    low: float
    high: float
    rows: float

    @classmethod
    def of(cls, part: float, whole: float, squares: float) -> Share:
        """Return the share of a sum of weights; NaN without rows.

        ``squares`` is the sum of the squares of the weights of the whole.
        """
        if not whole > 0:
            return cls(float("nan"), 0.0, 1.0, 0.0)
        value, n_rows = min(float(part / whole), 1.0), float(whole**2 / squares)
        return cls(value, *wilson(value, n_rows), n_rows)

    def __str__(self) -> str:
        return (
            "" if np.isnan(self.value) else f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"
        )


class SegmentRate(NamedTuple):
    """What a classifier does in one segment.

    Parameters
    ----------
    name : object
        The segment.
    rows, positives : float
        Weight of its rows, and of the positives among them.
    alerts, recall, fpr, precision : Share
        Share of its rows that are predicted positive, of its positives, of its negatives, and share
        of positives among those that are predicted positive.
    """

    name: Any
    rows: float
    positives: float
    alerts: Share
    recall: Share
    fpr: Share
    precision: Share


class SegmentGap(NamedTuple):
    """How far apart the segments are in one rate, and how far chance alone would put them.

    Parameters
    ----------
    rate : str
    value : float
        Largest rate of a segment less the smallest.
    lowest, highest : object
        These two segments; None if fewer than two have rows of which the rate is a share.
    by_chance, at_most_by_chance : float
        Mean and 95 % quantile of the same difference if all segments had the same rate.
    few : tuple
        Segments with fewer than 30 rows that the rate is a share of.
    """

    rate: str
    value: float
    lowest: Any
    highest: Any
    by_chance: float
    at_most_by_chance: float
    few: tuple[Any, ...] = ()

    @property
    def is_real(self) -> bool:
        """Whether the gap is wider than chance alone makes it in 95 % of samples."""
        return self.value > self.at_most_by_chance

    @property
    def advice(self) -> str:
        """What to do about segments of few rows; empty if there are none."""
        if not self.few:
            return ""
        verb = "has" if len(self.few) == 1 else "have"
        return (
            f"{listed(self.few)} {verb} fewer than {_FEW_ROWS} rows here, and may hide a gap "
            "between the others: make them part of another segment, or leave them out"
        )

    def __str__(self) -> str:
        verdict = "more than chance" if self.is_real else "no clear difference"
        if self.advice and not self.is_real:
            verdict += f" ({self.advice})"
        return (
            f"{self.rate}: {self.lowest} and {self.highest} are {self.value:.3f} apart; chance "
            f"alone makes {self.by_chance:.3f}, and up to {self.at_most_by_chance:.3f}: {verdict}"
        )


class SegmentRates(tuple[SegmentRate, ...]):
    """Rates by segment, one entry for each; for ``print``, notebooks and data frames."""

    __slots__ = ()

    @classmethod
    def of(
        cls, positive: AnyArray, flagged: AnyArray, weight: FloatArray, segments: Segments
    ) -> SegmentRates:
        """Return the rates of rows, some of them flagged; segments without rows are left out."""
        n_segments = len(segments.names)
        cell = (segments.number * 2 + np.asarray(positive)) * 2 + np.asarray(flagged)
        sums: Any = [np.bincount(cell, each, 4 * n_segments) for each in (weight, weight**2)]
        shape = n_segments, 2, 2
        return cls.of_sums(segments.names, *(each.reshape(shape) for each in sums))

    @classmethod
    def of_histograms(
        cls, segments: Iterable[SegmentCounts], index: int, factors: tuple[float, float]
    ) -> SegmentRates:
        """Return the rates of histograms of scores whose ``index`` highest bins are flagged.

        ``factors`` are the class weights of the negatives and of the positives.
        """
        by_class, names, sums = np.array(factors)[:, None], [], []
        for name, counts, squares in segments:
            cut = counts.shape[1] - index
            both = np.stack([counts * by_class, squares * by_class**2])
            sums.append(np.stack([both[..., :cut].sum(axis=-1), both[..., cut:].sum(axis=-1)], -1))
            names.append(name)
        return cls.of_sums(names, *np.stack(sums, axis=1)) if sums else cls()

    @classmethod
    def of_sums(cls, names: Iterable[Any], weight: FloatArray, squares: FloatArray) -> SegmentRates:
        """Return the rates from sums over the rows of each segment.

        ``weight`` and ``squares`` of shape (segments, 2, 2) are sums of weights and of their
        squares, by class and by whether rows are flagged.
        """
        found = []
        for name, mass, square in zip(names, weight, squares, strict=True):
            if not mass.sum() > 0:
                continue
            (_, false), (_, true) = mass
            shares = (
                Share.of(false + true, mass.sum(), square.sum()),
                Share.of(true, mass[1].sum(), square[1].sum()),
                Share.of(false, mass[0].sum(), square[0].sum()),
                Share.of(true, false + true, square[:, 1].sum()),
            )
            found.append(SegmentRate(name, float(mass.sum()), float(mass[1].sum()), *shares))
        return cls(found)

    def __getitem__(self, name: Any) -> Any:
        """Return an entry by its position, or the segment of this name."""
        if isinstance(name, int | slice) and name not in [each.name for each in self]:
            return super().__getitem__(name)
        found = [each for each in self if each.name == name]
        if not found:
            msg = f"there is no segment {name!r}: there are {', '.join(repr(e.name) for e in self)}"
            raise KeyError(msg)
        return found[0]

    def gap(self, rate: str = "fpr") -> SegmentGap:
        """Return the gap between the segments in a rate, beside the one that chance makes.

        Chance draws every segment from the rate of all rows together, with its own number of rows.

        Parameters
        ----------
        rate : "alerts", "recall", "fpr" or "precision"

        Returns
        -------
        SegmentGap
        """
        if rate not in RATES:
            msg = f"rate must be one of {', '.join(RATES)}, not {rate!r}"
            raise ValueError(msg)
        named = [(each.name, getattr(each, rate)) for each in self]
        known = [(name, share) for name, share in named if share.rows > 0]
        if len(known) < 2:
            return SegmentGap(rate, 0.0, None, None, 0.0, 0.0)
        values = np.array([share.value for _, share in known])
        sizes = np.array([share.rows for _, share in known])
        counts = np.maximum(np.rint(sizes), 1.0).astype(np.int64)
        pooled = float(values @ sizes / sizes.sum())
        drawn = np.random.default_rng(0).binomial(counts, pooled, (_DRAWS, len(counts))) / counts
        ranges = np.ptp(drawn, axis=1)
        least, most = int(values.argmin()), int(values.argmax())
        ends = known[least][0], known[most][0]
        chance = float(ranges.mean()), float(np.quantile(ranges, 0.95))
        few = tuple(name for name, share in known if share.rows < _FEW_ROWS)
        return SegmentGap(rate, float(np.ptp(values)), *ends, *chance, few)

    @property
    def impact_ratio(self) -> float:
        """The adverse impact ratio: least share of rows that are not flagged over the largest.

        Not to be flagged is the favourable outcome here. Below 0.8 is where the "four fifths rule"
        asks questions; it says nothing of chance, which `gap` does.
        """
        spared = [1.0 - each.alerts.value for each in self]
        return min(spared) / max(spared) if spared and max(spared) > 0 else float("nan")

    _HEADER = ("segment", "rows", "positives", *RATES)

    def table(self) -> list[tuple[str, ...]]:
        """Return the rates as rows of texts with a header."""
        rows = [
            (
                str(each.name),
                f"{each.rows:,.10g}",
                f"{each.positives:,.10g}",
                *(str(getattr(each, rate)) for rate in RATES),
            )
            for each in self
        ]
        return [self._HEADER, *rows]

    @property
    def notes(self) -> list[str]:
        """The gaps in recall and false-positive rate, and the adverse impact ratio; a line each."""
        if len(self) < 2:
            return []
        ratio = f"adverse impact ratio (least share not flagged / largest): {self.impact_ratio:.3f}"
        return [*(str(self.gap(rate)) for rate in ("fpr", "recall")), ratio]

    def __str__(self) -> str:
        return "\n".join([*text_table(self.table()), *self.notes])

    __repr__ = __str__

    def to_html(self) -> str:
        """Return the table as HTML, with the numbers of ``str``."""
        header, *rows = self.table()
        return html_table(header, rows, "; ".join(self.notes))

    _repr_html_ = to_html

    def to_dict(self) -> dict[str, Any]:
        """Return rates, gaps and the adverse impact ratio for JSON."""
        ends = ("value", "low", "high")
        rates = [
            {"segment": each.name, "rows": each.rows, "positives": each.positives}
            | {rate: {end: getattr(getattr(each, rate), end) for end in ends} for rate in RATES}
            for each in self
        ]
        gaps = {rate: self.gap(rate)._asdict() for rate in RATES}
        return {"rates": rates, "gaps": gaps, "adverse_impact_ratio": self.impact_ratio}

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame, with columns for the ends of intervals."""
        import pandas as pd

        columns: dict[str, list[Any]] = {
            name: [getattr(each, field) for each in self]
            for name, field in (("segment", "name"), ("rows", "rows"), ("positives", "positives"))
        }
        for rate in RATES:
            for part in ("value", "low", "high"):
                name = rate if part == "value" else f"{rate}_{part}"
                columns[name] = [getattr(getattr(each, rate), part) for each in self]
        return pd.DataFrame(columns)
