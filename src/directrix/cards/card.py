"""Card: the points of every bin and cross, which score rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix._typing import FloatArray, IntArray
from directrix.cards.card_printing import (
    CardRow,
    CrossTable,
    card_document,
    card_html,
    card_markdown,
    card_text,
    column_rows,
    cross_runs,
    half_widths,
    line_groups,
    printed_points,
    unlisted_cells,
)
from directrix.cards.prior import CellKinds
from directrix.cards.risk_bands import HeldOutPoints, RiskBands
from directrix.cards.typed_card import typed_bins
from directrix.exceptions import NoHeldOutPointsError
from directrix.tables.bins import Bins

if TYPE_CHECKING:  # only comparisons with later rows need them
    from directrix.cards.stability import CardStability
    from directrix.moments import BinCounts


# ── Scales of points: what a point of a card is worth ─────────────────────────────────────────────


def _require(scale: Scale, name: str, holds: Any, expected: str) -> None:
    if not holds:
        msg = f"{name} of {type(scale).__name__} must be {expected}, not {getattr(scale, name)!r}"
        raise ValueError(msg)


@dataclass(frozen=True)
class PointsToDoubleOdds:
    r"""Points as banks use them: so many points double the odds of the negative class.

    .. math:: \text{points} = b + \frac{d}{\log 2} \Bigl(\log\frac{1 - p}{p} - \log o\Bigr)

    with probability p of the positive class, base points b at base odds o, and d points to double
    the odds. More points are safer.

    Parameters
    ----------
    pdo : float
        Points to double the odds.
    base_points, base_odds : float
        Rows with so many points have so many negatives to one positive.
    rounded : bool
        Whether points of bins are rounded to whole numbers.
    """

    pdo: float = 20.0
    base_points: float = 600.0
    base_odds: float = 50.0
    rounded: bool = True

    def __post_init__(self) -> None:
        for name in ("pdo", "base_odds"):
            _require(self, name, getattr(self, name) > 0, "above zero")
        _require(self, "base_points", np.isfinite(self.base_points), "a finite number")


@dataclass(frozen=True)
class IntegerPoints:
    """Whole numbers: the lowest bin of every column has none, and more are riskier.

    Parameters
    ----------
    largest : int
        Points of any bin at most.
    """

    largest: int = 100

    def __post_init__(self) -> None:
        largest: Any = self.largest
        whole = isinstance(largest, int | np.integer) and largest >= 1
        _require(self, "largest", whole, "a whole number, 1 or more")


Scale = PointsToDoubleOdds | IntegerPoints
_NAMES: dict[str, Scale | None] = {
    "integer": IntegerPoints(),
    "pdo": PointsToDoubleOdds(),
    "log-odds": None,
}


def scale_of(points: Any) -> Scale | None:
    """Return the scale that a user gave, by its name or itself; None if points are log-odds."""
    if isinstance(points, Scale):
        return points
    if isinstance(points, str) and points in _NAMES:
        return _NAMES[points]
    msg = (
        f"points must be {', '.join(map(repr, _NAMES))}, PointsToDoubleOdds(...) or "
        f"IntegerPoints(...), not {points!r}"
    )
    raise ValueError(msg)


# ── Card: the points of every bin and cross, which score rows ─────────────────────────────────────


@dataclass(frozen=True, eq=False)
class Cross:
    """Points for the combinations of the cells of two columns, given by their positions.

    `merged` has for each cell of either column its row or column in `points`.
    """

    columns: tuple[int, int]
    merged: tuple[IntArray, IntArray]
    points: FloatArray

    def scores(self, cells: IntArray) -> FloatArray:
        """Return the points that this cross adds to each row, from its cells in all columns."""
        return self.points[self._index(cells)]

    def weights(self, cells: IntArray, weight: FloatArray) -> FloatArray:
        """Return the weight of the rows in each combination, from their cells in all columns."""
        total = np.zeros(self.points.shape)
        np.add.at(total, self._index(cells), weight)
        return total

    def _index(self, cells: IntArray) -> tuple[IntArray, IntArray]:
        """Return where the points of rows are, from their cells in all columns."""
        (left, right), (rows, columns) = self.columns, self.merged
        return rows[cells[:, left]], columns[cells[:, right]]


def mean_points(points: FloatArray, rows: FloatArray) -> float:
    """Return the mean of the points of cells over their rows; rounded, if points are whole."""
    held = points[rows > 0]
    mean = float(rows @ points) / (float(rows.sum()) or 1.0)
    return float(np.floor(mean + 0.5)) if (held == np.rint(held)).all() else mean


@dataclass(frozen=True, eq=False)
class Card:
    """Points of every cell: those of a row are summed, and the sum is compared with a cutoff.

    Parameters
    ----------
    intercept : float
        Points that every row has.
    columns : tuple of arrays
        Points of the cells of each column.
    crosses : tuple of Cross
    bins : tuple of NumberBins and LevelBins
        Of each column; they say what the cells are.
    cutoff : float
        Points at the threshold.
    higher_is_positive : bool
        Whether rows above the cutoff are predicted positive; otherwise those below it are.
    counts : tuple of arrays of shape (2, cells)
        For each column the weight of the negatives and of the positives in its cells among the
        training rows.
    positive_is_last : bool
        Whether the positive label is the last of two; scores above zero predict the last.
    label : str, optional
        The positive label, to be printed.
    held_out : HeldOutPoints, optional
        Held-out rows by their points, for `bands`.
    """

    intercept: float
    columns: tuple[FloatArray, ...]
    crosses: tuple[Cross, ...] = ()
    bins: tuple[Bins, ...] = ()
    cutoff: float = 0.0
    higher_is_positive: bool = True
    counts: tuple[FloatArray, ...] = ()
    positive_is_last: bool = True
    label: str | None = None
    held_out: HeldOutPoints | None = None

    @classmethod
    def from_points(
        cls,
        points: Mapping[str, Mapping[Any, float]],
        *,
        base: float = 0.0,
        cutoff: float,
        higher_is_positive: bool = True,
    ) -> Card:
        """Return an existing card that is typed in; see ``ScorecardClassifier.from_card``.

        Parameters
        ----------
        points : dict
            For each column its bins as they are printed, with their points. Numbers:
            ``"<= 25"``, ``"25 to 40"``, ``"> 40"``; a number is a special value with a bin of its
            own. Texts: levels, or tuples of levels that share points. Booleans: True and False.
            ``"missing"`` and, for texts, ``"other"`` have no points if they are not given.
        base : float
            Points that every row has.
        cutoff : float
            Rows with more points in all are predicted positive.
        higher_is_positive : bool
            False if those with fewer points are.

        Raises
        ------
        TypedCardError
            If bins overlap, leave gaps or cannot be read.

        Examples
        --------
        >>> from directrix.estimators import Card
        >>> age = {"<= 25": 20, "25 to 40": 10, "> 40": 0, "missing": 10}
        >>> print(Card.from_points({"age": age}, base=5, cutoff=22.5))
        base points 5; a total above 22.5 points is predicted positive
        <BLANKLINE>
        age: points from 0 to 20
          points  rows  share  rate of positive  95 % interval  bin
              20     -      -                 -              -  <= 25
              10     -      -                 -              -  25 to 40
               0     -      -                 -              -  > 40
              10     -      -                 -              -  missing
        <BLANKLINE>
        A range includes its upper end, not its lower one.
        """
        typed = [typed_bins(name, given) for name, given in points.items()]
        bins, columns = tuple(each for each, _ in typed), tuple(values for _, values in typed)
        return cls(float(base), columns, (), bins, float(cutoff), higher_is_positive)

    def with_rows(self, bins: Sequence[Bins], counts: Sequence[FloatArray]) -> Card:
        """Return the card with its bins and the counts of its training rows.

        What no row had, as missing values and levels, gets the mean points of its column.
        """
        made = self.with_means([part.sum(axis=0) for part in counts], bins)
        return replace(made, bins=tuple(bins), counts=tuple(counts))

    def with_means(self, weights: Sequence[FloatArray], kinds: Sequence[Bins | CellKinds]) -> Card:
        """Return the card with the mean points of a column for what no row had, bins excepted.

        ``weights`` are those of the rows in each cell of each column.
        """
        columns = tuple(points.copy() for points in self.columns)
        for points, rows, of_column in zip(columns, weights, kinds, strict=True):
            empty = np.flatnonzero(rows == 0)
            empty = empty[(empty == 0) | (empty > of_column.n_ordered)]
            points[empty] = mean_points(points, rows)
        return replace(self, columns=columns)

    def mean_points(self, index: int) -> float:
        """Return the mean points of the training rows in a column; rounded, if points are whole."""
        rows, points = self._rows(index), self.columns[index]
        return 0.0 if rows is None else mean_points(points, rows)

    def with_positive(self, label: Any, *, is_last: bool) -> Card:
        """Return the card as one for this label, the last of two labels or not."""
        text = label if isinstance(label, str) else None
        return replace(self, positive_is_last=is_last, label=text)

    @property
    def higher_is_last(self) -> bool:
        """Whether rows above the cutoff are predicted to be of the last class."""
        return self.higher_is_positive == self.positive_is_last

    @property
    def blocks(self) -> tuple[FloatArray, ...]:
        """The points of each column, then those of each cross."""
        return (*self.columns, *(cross.points for cross in self.crosses))

    def table(self, decimals: int | None = None) -> list[CardRow]:
        """Return the points, training rows and evidence of each bin of each column.

        Neighbouring ordered bins, and levels, of equal points are one row, unless somebody has
        stated them; `unlisted` values have none. The column whose points vary most over the
        training rows is first. Points are rounded to so many decimals first; by default they are
        exact.
        """
        return [row for index in self.ranked_columns for row in self.column_table(index, decimals)]

    def column_table(self, index: int, decimals: int | None = None) -> list[CardRow]:
        """Return the rows of `table` for the column at a position."""
        key = index, decimals
        if key not in self._column_tables:
            counts = self.counts[index] if self.counts else None
            rounded = printed_points(self.columns[index], decimals)
            self._column_tables[key] = column_rows(self.bins[index], rounded, counts)
        return [*self._column_tables[key]]

    @cached_property
    def _column_tables(self) -> dict[tuple[int, int | None], list[CardRow]]:
        """Rows of columns by position and decimals: reasons of single rows ask for them often."""
        return {}

    @property
    def n_lines(self) -> int:
        """Number of printed points: one a line of a column, and one a cell of a cross."""
        return self.count_lines(self.bins)

    def count_lines(self, kinds: Sequence[Bins | CellKinds]) -> int:
        """Return the number of printed points: one a line of a column, and one a cell of a cross.

        Columns and crosses that are printed as zero everywhere have no lines.

        Parameters
        ----------
        kinds : sequence
            Bins of each column, or what its cells are.
        """
        lines = 0
        for k, (points, of_column) in enumerate(zip(self.columns, kinds, strict=True)):
            printed, rows = printed_points(points), self._rows(k)
            lines += len(line_groups(of_column, printed, rows)) if printed.any() else 0
        for cross in self.crosses:
            runs = cross_runs(cross.merged, printed_points(cross.points))
            lines += len(runs[0]) * len(runs[1])
        return lines

    @property
    def ranked_columns(self) -> list[int]:
        """Positions of the columns, the one whose points vary most over the training rows first."""
        return sorted(range(len(self.columns)), key=lambda k: -self._deviation(self.columns[k], k))

    def _rows(self, index: int) -> FloatArray | None:
        return self.counts[index].sum(axis=0) if self.counts else None

    def _deviation(self, points: FloatArray, *columns: int) -> float:
        """Return the deviation of points over the rows; crossed columns count as independent."""
        share = np.ones(())
        for k in columns:
            rows = self.counts[k].sum(axis=0) if self.counts else np.ones(len(self.columns[k]))
            share = np.multiply.outer(share, rows)
        share /= share.sum() or 1.0
        return float(np.sqrt(np.sum(share * (points - np.sum(share * points)) ** 2)))

    def unlisted(self, index: int) -> list[int]:
        """Return the cells of a column without a row in `table`: what training never had."""
        cells = unlisted_cells(self.bins[index], self.columns[index], self._rows(index))
        return [k for k in cells if k or not self.bins[index].missing_cell]

    def cross_tables(self, decimals: int | None = None) -> list[CrossTable]:
        """Return the points of each cross as a table, the one that varies most first.

        Neighbouring rows that are equal are one, and so are neighbouring columns. Points are
        rounded as in `table`.
        """

        def of_cross(cross: Cross) -> float:
            return self._deviation(cross.points[np.ix_(*cross.merged)], *cross.columns)

        return [
            CrossTable.of(
                (self.bins[cross.columns[0]], self.bins[cross.columns[1]]),
                cross.merged,
                printed_points(cross.points, decimals),
            )
            for cross in sorted(self.crosses, key=of_cross, reverse=True)
        ]

    def to_frame(self, decimals: int | None = None) -> Any:
        """Return the card as a pandas data frame: `table`, then a row for each cell of each cross.

        Crosses have no counts: those columns are missing there. Points are rounded as in `table`.
        ``low`` and ``high`` are the ends of a 95 % interval of the points of a bin: how well the
        training rows of that bin alone tell them (see `ScorecardDisplay`). They are missing where
        the card does not know what a point is worth, as one that was fitted to a summary.
        """
        import pandas as pd

        nothing, unknown = (float("nan"),) * 4, (float("nan"),) * 2
        rows: list[tuple[Any, ...]] = []
        for index in self.ranked_columns:
            table = self.column_table(index, decimals)
            reaches = self._reaches(index, table)
            pairs = zip(table, reaches, strict=True)
            rows += [(*row[:-1], row.points - reach, row.points + reach) for row, reach in pairs]
        for cross in self.cross_tables(decimals):
            for first, points in zip(cross.bins[0], cross.points.tolist(), strict=True):
                rows += [
                    (cross.name, f"{first} x {second}", *nothing, p, *unknown)
                    for second, p in zip(cross.bins[1], points, strict=True)
                ]
        return pd.DataFrame(rows, columns=[*CardRow._fields[:-1], "low", "high"])

    def _reaches(self, index: int, table: Sequence[CardRow]) -> list[float]:
        """Return half the width of the interval of the points of each row of a column."""
        bins, reach = self.bins[index], np.full(len(table), np.nan)
        if self.held_out is None or not self.counts:
            return reach.tolist()
        is_step = [1 <= row.cells[0] <= bins.n_ordered for row in table]
        order = sorted(range(len(table)), key=lambda k: not is_step[k])
        n_steps = sum(is_step)
        rows = [table[k] for k in order]
        widths = half_widths(self.counts[index], rows[:n_steps], rows[n_steps:])
        reach[order] = widths / self.held_out.slope
        return reach.tolist()

    def bands(self, bands: int | Sequence[float] = 10, level: float = 0.95) -> RiskBands:
        """Return what total points mean: rows and rates of positives in bands of points.

        All rates are those of held-out rows: the part of the training rows that each fold's card
        had not seen, or rows that were set apart.

        Parameters
        ----------
        bands : int or sequence of numbers
            How many bands of about as many held-out rows each, or the increasing points that
            separate them; points equal to such a cut are in the band below it.
        level : float
            Level of the intervals.

        Raises
        ------
        NoHeldOutPointsError
            If the card knows no held-out rows, as one that was fitted to a summary.
        """
        if self.held_out is None:
            raise NoHeldOutPointsError
        if not 0.0 < level < 1.0:
            msg = f"level must be between 0 and 1, not {level!r}"
            raise ValueError(msg)
        if isinstance(bands, int | np.integer):
            if bands < 1:
                msg = f"there must be one band at least, not {bands!r}"
                raise ValueError(msg)
            return self.held_out.bands(self.held_out.cuts(int(bands)), level)
        cuts = [float(cut) for cut in bands]
        if not np.isfinite(cuts).all() or any(low >= high for low, high in pairwise(cuts)):
            msg = f"points between bands must be finite and increase, not {bands!r}"
            raise ValueError(msg)
        return self.held_out.bands(cuts, level)

    def stability(
        self,
        later: BinCounts | Mapping[str, BinCounts],
        base: BinCounts | None = None,
        smoothing: float = 0.5,
    ) -> CardStability:
        """Compare the rows of later periods with those that the card was trained on, from counts.

        Parameters
        ----------
        later : BinCounts, or dict of them by name
            Counts of later months, or of other segments, in the bins of the card:
            ``BinCounts.of(classifier.binner_, X, y)``. Labels do not matter.
        base : BinCounts, optional
            Base rows; by default the training rows. Counts of pairs are needed for what crosses do,
            and for the deviation of the base scores, and the card does not have them.
        smoothing : float
            As in `directrix.tables.stability`.
        """
        from directrix.cards.stability import card_stability

        return card_stability(self, later, base, smoothing)

    def to_markdown(self) -> str:
        """Return the card as Markdown, with the numbers of ``str(card)``."""
        return card_markdown(card_document(self))

    def to_html(self) -> str:
        """Return the card as HTML with small pictures, and with the numbers of ``str(card)``."""
        return card_html(card_document(self))

    _repr_html_ = to_html

    def __str__(self) -> str:
        return card_text(card_document(self))

    __repr__ = __str__

    @property
    def is_whole(self) -> bool:
        """Whether all points are whole numbers."""
        whole = all(bool((points == np.rint(points)).all()) for points in self.blocks)
        return whole and float(self.intercept).is_integer()

    def affine(self, factor: float, shift: float) -> Card:
        """Return the card with all points times a factor, and a shift of the sum."""
        return self._mapped(lambda points: factor * points, factor * self.intercept + shift)

    def rounded(self) -> Card:
        """Return the card with all points rounded to whole numbers."""
        return self._mapped(np.rint, float(np.rint(self.intercept)))

    def _mapped(self, function: Callable[[FloatArray], FloatArray], intercept: float) -> Card:
        crosses = tuple(replace(cross, points=function(cross.points)) for cross in self.crosses)
        columns = tuple(map(function, self.columns))
        return replace(self, intercept=intercept, columns=columns, crosses=crosses, held_out=None)

    def scores(self, cells: IntArray) -> FloatArray:
        """Return the scores of rows from their cells in all columns, of shape (n, columns).

        A score is how far the points are beyond the cutoff, in favour of the last class.
        """
        above = self.points(cells) - self.cutoff
        return above if self.higher_is_last else -above

    def points(self, cells: IntArray) -> FloatArray:
        """Return the sum of the points of rows with these cells, of shape (n, columns)."""
        total = np.full(len(cells), self.intercept)
        for k, points in enumerate(self.columns):
            total += points[cells[:, k]]
        for cross in self.crosses:
            total += cross.scores(cells)
        return total
