r"""Total points to risk: rows, observed rate and rate to expect in bands of a card's points.

Held-out rows of a fit were scored by cards that had not seen them, so their rate of positives in a
band is what new rows would show, up to chance. With n rows and k positives in a band whose mean
predicted probability is p, the rate of new rows has the distribution

.. math:: \theta \sim \mathrm{Beta}\Bigl(k + m p + \frac12,\; n - k + m (1 - p) + \frac12\Bigr),
          \qquad m = \min\Bigl(\frac1\rho - 1, \frac n2\Bigr), \qquad
          \rho = \frac{\max(\chi^2 - J, \sqrt{2 J})}{\sum_j (n_j - 1)}

where m says how many rows the probabilities are worth, never more than half of those of the band.
:math:`\chi^2` sums :math:`(k - n p)^2 / (n p (1 - p))` over the J bands; it is about J, give or
take its deviation :math:`\sqrt{2 J}`, if the probabilities are true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from directrix._printing import html_table, text_table
from directrix._typing import AnyArray, FloatArray
from directrix.cards.card_printing import count_text, share_text
from directrix.fit.operating_point import Calibration
from directrix.tables.bins import NumberBins, number_text

_LEVEL = 0.95
#: Probabilities nearer to zero and one are not believed.
_LEAST_PROBABILITY = 1e-6
#: Rows that probabilities are worth at most, as a share of those of the band.
_MOST_WORTH = 0.5
#: Added to the positives and to the negatives of a band.
_JEFFREYS = 0.5
#: Digits of cuts between bands of points that are not whole.
_DIGITS = 3
_HEADINGS = ("points", "rows", "share", "observed", "predicted", "expected on new rows", "interval")


class RiskBand(NamedTuple):
    """A band of points: its held-out rows, and the rate of positives among them and new ones.

    Parameters
    ----------
    points : str
        The band: of whole points the lowest and the highest in it, otherwise its ends, of which
        it includes the upper one.
    above, up_to : float
        Its ends; infinite for the first and the last band.
    rows, positives : float
        Weight of the held-out rows in it, and of the positives among them.
    share : float
        Share of all held-out rows.
    observed : float
        Share of positives among the held-out rows; NaN without rows.
    predicted : float
        Mean predicted probability of the held-out rows; NaN without rows.
    expected, low, high : float
        Rate to expect among new rows, with its interval: between what was observed and what is
        predicted, the nearer to the former the more rows there are; NaN without rows.
    alpha, beta : float
        Parameters of the beta distribution that they are from.
    """

    points: str
    above: float
    up_to: float
    rows: float
    positives: float
    share: float
    observed: float
    predicted: float
    expected: float
    low: float
    high: float
    alpha: float
    beta: float

    def interval_among(self, n_rows: int, level: float = _LEVEL) -> tuple[float, float]:
        """Return the interval of the rate that so many new rows in the band will show.

        It is wider than that of the rate itself: few rows show another rate by chance.
        """
        if not n_rows or not self.rows:
            return 0.0, 1.0
        ends = (1.0 - level) / 2.0, (1.0 + level) / 2.0
        low, high = (float(stats.betabinom.ppf(q, n_rows, self.alpha, self.beta)) for q in ends)
        return low / n_rows, high / n_rows


@dataclass(frozen=True, eq=False)
class HeldOutPoints:
    """Held-out rows by their total points, which bands are made of.

    ``points`` are distinct and increasing; ``negatives`` and ``positives`` are weights of rows,
    ``probability`` is that of the positive label at these points. ``effective`` is the effective
    number of rows of a unit of weight, and ``slope`` the log-odds of a point, the mean of both
    sides of the cutoff.
    """

    points: FloatArray
    negatives: FloatArray
    positives: FloatArray
    probability: FloatArray
    effective: float
    slope: float

    @classmethod
    def of_scores(
        cls,
        scores: FloatArray,
        weights: FloatArray,
        calibration: Calibration,
        *,
        cutoff: float,
        rises: bool,
        whole: bool,
        effective: float,
    ) -> HeldOutPoints:
        """Return the points of scores in favour of the positive label, with weights by class.

        ``weights`` of shape (2, n) has negatives first. ``rises`` says whether more points are more
        positive, and ``whole`` whether the points of the card are whole numbers.
        """
        points = cutoff + scores if rises else cutoff - scores
        points = np.rint(points) if whole else points
        levels, place = np.unique(points, return_inverse=True)
        negatives, positives = (_sums(place, weight, len(levels)) for weight in weights)
        above = levels - cutoff if rises else cutoff - levels
        slope = (calibration.below + calibration.above) / 2.0
        return cls(levels, negatives, positives, calibration(above), effective, slope)

    @property
    def table(self) -> FloatArray:
        """Points, weights of both classes and probabilities, as the columns of one array."""
        return np.column_stack([self.points, self.negatives, self.positives, self.probability])

    def cuts(self, n_bands: int) -> tuple[float, ...]:
        """Return cuts between bands of about as many held-out rows each."""
        share = np.cumsum(self.negatives + self.positives)
        targets = np.arange(1, n_bands) / n_bands * share[-1]
        index = np.searchsorted(share, targets * (1.0 - 1e-12))
        spread = float(np.ptp(self.points)) or 1.0
        decimals = max(_DIGITS - 1 - int(np.floor(np.log10(spread))), 0)
        cuts = np.unique(np.round(self.points[index], decimals) + 0.0)
        return tuple(cuts[(cuts >= self.points[0]) & (cuts < self.points[-1])].tolist())

    def bands(self, cuts: Sequence[float], level: float) -> RiskBands:
        """Return the bands between cuts."""
        index = np.searchsorted(np.array(cuts, dtype=np.float64), self.points, side="left")
        n_bands = len(cuts) + 1
        weight = self.negatives + self.positives
        rows, positives, total = (
            _sums(index, each, n_bands)
            for each in (weight, self.positives, weight * self.probability)
        )
        with np.errstate(invalid="ignore"):  # nothing is known of a band without rows
            observed, predicted = positives / rows, total / rows
        alpha, beta = _posterior(self.effective * rows, self.effective * positives, predicted)
        ends = stats.beta.ppf([[(1.0 - level) / 2.0], [(1.0 + level) / 2.0]], alpha, beta)
        edges = (-np.inf, *map(float, cuts), np.inf)
        expected = alpha / (alpha + beta), *ends, alpha, beta
        numbers = rows, positives, rows / rows.sum(), observed, predicted, *expected
        columns = self._labels(edges), edges[:-1], edges[1:], *np.array(numbers).tolist()
        return RiskBands(tuple(RiskBand(*each) for each in zip(*columns, strict=True)), level)

    def _labels(self, edges: tuple[float, ...]) -> list[str]:
        """Return the names of the bands: if points are whole, by the lowest and highest in each."""
        inner = edges[1:-1]
        ends = [int(np.floor(cut)) for cut in inner]
        is_whole = bool((self.points == np.rint(self.points)).all())
        if not inner or not is_whole or any(low == high for low, high in pairwise(ends)):
            return list(NumberBins("points", "number", inner, (0.0,) * len(edges[1:])).labels[1:])
        between = (
            f"{high}" if high == low + 1 else f"{low + 1} to {high}" for low, high in pairwise(ends)
        )
        return [f"<= {ends[0]}", *between, f">= {ends[-1] + 1}"]


def _posterior(
    rows: FloatArray, positives: FloatArray, probability: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the parameters of the beta distribution of each band's rate; NaN without rows."""
    known = rows > 0
    p = np.clip(probability, _LEAST_PROBABILITY, 1.0 - _LEAST_PROBABILITY)
    n, k, q = rows[known], positives[known], p[known]
    chi_squared = float(np.sum((k - n * q) ** 2 / (n * q * (1.0 - q))))
    beyond = max(chi_squared - len(n), np.sqrt(2.0 * len(n)))
    spread = beyond / max(float(np.sum(n - 1.0)), beyond)
    worth = np.minimum(1.0 / spread - 1.0, _MOST_WORTH * rows)
    return positives + worth * p + _JEFFREYS, rows - positives + worth * (1.0 - p) + _JEFFREYS


def _sums(index: AnyArray, weight: FloatArray, length: int) -> FloatArray:
    return np.bincount(index, weight, length).astype(np.float64)


@dataclass(frozen=True)
class RiskBands(Sequence[RiskBand]):
    """Bands of total points with rows and rates, the lowest points first; prints as a table.

    Parameters
    ----------
    bands : tuple of RiskBand
    level : float
        Level of the intervals.
    """

    bands: tuple[RiskBand, ...]
    level: float = _LEVEL

    def __len__(self) -> int:
        return len(self.bands)

    def __getitem__(self, index: Any) -> Any:
        return self.bands[index]

    @property
    def cuts(self) -> tuple[float, ...]:
        """Points between the bands."""
        return tuple(band.up_to for band in self[:-1])

    def positions(self, points: Any) -> AnyArray:
        """Return the position of the band of each number of points, such as `predict_points` has.

        Parameters
        ----------
        points : array of numbers
        """
        return np.searchsorted(np.array(self.cuts), np.asarray(points, dtype=float))

    def to_frame(self) -> Any:
        """Return the bands as a pandas data frame, with all numbers."""
        import pandas as pd

        return pd.DataFrame(list(self), columns=list(RiskBand._fields))

    def to_sql(self, points: str = "points", value: str = "expected") -> str:
        """Return an SQL expression for the band of a row, or for a rate of that band.

        Parameters
        ----------
        points : str
            An SQL expression for the points of a row, such as ``to_sql(classifier).points``.
        value : {"expected", "observed", "predicted", "low", "high", "points"}
            What the expression gives; "points" is the name of the band. Rates of a band without
            rows are NULL.
        """
        allowed = ("expected", "observed", "predicted", "low", "high", "points")
        if value not in allowed:
            msg = f"value must be one of {', '.join(map(repr, allowed))}, not {value!r}"
            raise ValueError(msg)
        results = [_sql_value(getattr(band, value)) for band in self]
        lines = ["CASE", f"  WHEN {points} IS NULL THEN NULL"]
        for band, result in zip(self[:-1], results, strict=False):
            lines.append(f"  WHEN {points} <= {number_text(band.up_to)} THEN {result}")
        return "\n".join([*lines, f"  ELSE {results[-1]} END"])

    def to_markdown(self) -> str:
        """Return the table as Markdown, with the numbers of ``str``."""
        header, *rows = self._texts()
        lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

    def to_html(self) -> str:
        """Return the table as HTML, with the numbers of ``str``."""
        header, *rows = self._texts()
        return html_table(header, rows, "total points and risk, on held-out rows")

    _repr_html_ = to_html

    def __str__(self) -> str:
        return "\n".join(text_table(self._texts()))

    __repr__ = __str__

    def _texts(self) -> list[list[str]]:
        header = [*_HEADINGS[:-1], f"{100 * self.level:g} % interval"]
        rows = [
            [
                band.points,
                count_text(band.rows),
                share_text(band.share),
                *map(share_text, (band.observed, band.predicted, band.expected)),
                f"{share_text(band.low)} to {share_text(band.high)}" if band.rows else "-",
            ]
            for band in self
        ]
        return [header, *rows]


def _sql_value(value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    text = repr(float(value))  # with an exponent, which makes it a double and not a decimal
    return "NULL" if np.isnan(value) else text if "e" in text else f"{text}e0"
