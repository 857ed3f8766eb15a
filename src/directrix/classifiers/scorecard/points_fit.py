"""The points of a fitted card on a scale, with the cutoff and probabilities that go with them.

Points that are rounded score rows differently. So they are rounded in the cards of all folds, and
held-out rows set the cutoff, the probabilities and the price of rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from directrix.classifiers.direct.gap import Gap
from directrix.classifiers.direct.report import Estimate, TiesSplit
from directrix.classifiers.fitting.finalize import FittedLine, Lines, centre_and_scale, finalize
from directrix.classifiers.scorecard.card.rounding import RoundingSearch, largest_unit, rounded_card
from directrix.classifiers.scorecard.card.scales import PointsToDoubleOdds, Scale
from directrix.frontier.compare import Curves, compare, curve_maker
from directrix.frontier.fold_designs import FoldDesigns
from directrix.metrics import AUC

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.classifiers.direct.fit import BestFit
    from directrix.classifiers.direct.report import DirectReport
    from directrix.classifiers.fitting.training_rows import TrainingRows
    from directrix.classifiers.scorecard.card.card import Card
    from directrix.classifiers.scorecard.directions import Direction
    from directrix.metrics.base import Metric
    from directrix.metrics.curve import Curve
    from directrix.tables.coding.prior import CellKinds

    #: From the card made without a fold, and that fold, to its points.
    Restate = Callable[[Card, int | None], Card]

#: Ridge of the regression from scores to log-odds, for scores that separate the classes.
_SLIGHT = 1e-6


class ScaledFit(NamedTuple):
    """A card on a scale.

    Parameters
    ----------
    card : Card
        Its cutoff is yet to be set, by `finished`.
    fitted : FittedLine
        One coefficient, of points in favour of the positive class.
    curve : Curve
        Of held-out points.
    report : DirectReport
    """

    card: Card
    fitted: FittedLine
    curve: Curve
    report: DirectReport


@dataclass(frozen=True)
class PointsFit:
    """Puts a card on a scale.

    Parameters
    ----------
    scale : Scale
    metric : Metric
    seen : TrainingRows
        Rows that the candidates were compared on, with cells as their features.
    directions : sequence of Direction
        Of columns whose points may only rise.
    out_of_time : callable, optional
        Asked before each card is rounded in other ways than the plain one.
    kinds : sequence of CellKinds
        What the cells of each column are: neighbouring bins of equal points stay equal.
    """

    scale: Scale
    metric: Metric
    seen: TrainingRows
    directions: Sequence[Direction] = ()
    out_of_time: Callable[[], bool] | None = None
    kinds: Sequence[CellKinds] = ()

    def run(self, best: BestFit, cards: Mapping[int | None, Card]) -> ScaledFit:
        """Return the best card on the scale.

        Parameters
        ----------
        best : BestFit
        cards : mapping
            The fitted card (None), and those made without each fold.
        """
        aligned = {fold: self._aligned(card, fold) for fold, card in cards.items()}
        aligned[None] = cards[None]  # with the threshold of the fit at zero
        plain, *others = self._ways(best)
        tried = [self._designs({fold: plain(card, fold) for fold, card in aligned.items()})]
        skipped = []
        for restate in others:
            restated = self._restated(restate, aligned)
            if restated is None:
                skipped.append("the search for better points")
                break
            tried.append(self._designs(restated))
        lines = Lines(np.array([1.0, 0.0]), [np.array([1.0, 0.0])] * (len(cards) - 1))
        held_out = [lines.aligned(rows).held_out for _, rows in tried]
        rows = self.seen
        curves = [
            Curves(rows.positive, scores, rows.weight, rows.fold)
            for scores in (best.scores, *held_out)
        ]
        comparison = compare(self.metric, curves)
        chosen = _best_rounding(comparison.losses[1:], compare(AUC(), curves).losses[1:])
        card, design = tried[chosen]
        final = finalize(self.metric, replace(best.selection, rows=design), lines)
        folds = comparison.fold_losses
        gap = float(comparison.losses[0] - comparison.losses[1 + chosen])
        assessment = final.assessment
        report = replace(
            best.fit.report,
            expected=Estimate(assessment.expected.metric, *assessment.intervals.metric),
            rounding=Gap.of_folds(gap, folds[0] - folds[1 + chosen]) if self._rounds else None,
            skipped=(*best.fit.report.skipped, *skipped),
            ties=self._ties(curves[1 + chosen]) if self._rounds else None,
        )
        curve = curve_maker(rows.positive, rows.weight)(final.scores)
        return ScaledFit(card, final.fitted, curve, report)

    def _ties(self, held_out: Curves) -> TiesSplit | None:
        """Return the metric of held-out folds with ties as they are, and split at random."""
        if self.metric.limit is None or not held_out.folds:
            return None
        values = [
            (self.metric.best_value(curve), self.metric.ties_split(curve))
            for curve in held_out.folds
        ]
        strict, split = np.mean(values, axis=0)
        return TiesSplit(float(strict), float(split))

    def _restated(
        self, restate: Restate, cards: Mapping[int | None, Card]
    ) -> dict[int | None, Card] | None:
        """Return the points of all cards; None if there is no time for them."""
        made = {}
        for fold, card in cards.items():
            if self.out_of_time is not None and self.out_of_time():
                return None
            made[fold] = restate(card, fold)
        return made

    @property
    def _rounds(self) -> bool:
        return not isinstance(self.scale, PointsToDoubleOdds) or self.scale.rounded

    def _ways(self, best: BestFit) -> list[Restate]:
        """Return the ways to restate cards, the plainest first."""
        scale, rows = self.scale, self.seen
        if isinstance(scale, PointsToDoubleOdds):
            slope, offset = _log_odds(best.scores, rows)
            return [lambda card, _: to_double_odds(card, scale, slope, offset)]
        search = RoundingSearch(self.metric, scale.largest, self.directions, self.kinds)
        nearest: dict[int | None, Card] = {}

        def plain(card: Card, fold: int | None) -> Card:
            return search.plain(card, *self._training_rows(fold))

        def near(card: Card, fold: int | None) -> Card:
            nearest[fold] = search.nearest(card, *self._training_rows(fold))
            return nearest[fold]

        def searched(card: Card, fold: int | None) -> Card:
            return search.searched(card, *self._training_rows(fold), start=nearest[fold])

        return [plain, near, searched]

    def _training_rows(self, fold: int | None) -> tuple[IntArray, AnyArray, FloatArray]:
        """Return the cells, labels and weights of the rows outside a fold."""
        rows = self.seen
        kept = slice(None) if fold is None else np.flatnonzero(rows.fold != fold)
        return rows.X[kept], rows.positive[kept], rows.weight[kept]

    def _aligned(self, card: Card, fold: int | None) -> Card:
        """Return a card whose scores on its training rows have the scale of all others."""
        cells, positive, weight = self._training_rows(fold)
        centre, scale = centre_and_scale(card.scores(cells), positive, weight)
        return card.affine(1.0 / scale, -centre / scale)

    def _designs(self, cards: Mapping[int | None, Card]) -> tuple[Card, TrainingRows]:
        """Return the card of all rows, and rows whose one feature are their points."""
        whole = points_as_rows(cards[None], self.seen.X)
        without = {
            fold: points_as_rows(card, self.seen.X)
            for fold, card in cards.items()
            if fold is not None
        }
        X = FoldDesigns(whole, without) if without else whole
        return cards[None], self.seen._replace(X=X)


def _best_rounding(losses: FloatArray, areas: FloatArray) -> int:
    """Return which rounding is best by metric and AUC, of those that are not behind the plain one.

    Parameters
    ----------
    losses, areas : arrays of shape (k,)
        By the metric and by the AUC, on held-out rows; less is better.
    """
    together = np.where(losses <= losses[0], losses + areas, np.inf)
    return int(np.argmin(together))


def points_as_rows(card: Card, cells: IntArray) -> FloatArray:
    """Return points in favour of the positive class as the one feature of rows."""
    points = card.points(cells)
    return (points if card.higher_is_positive else -points)[:, None]


def finished(card: Card, fitted: FittedLine) -> tuple[Card, FittedLine]:
    """Return a card with its cutoff, and probabilities of its scores.

    Parameters
    ----------
    card : Card
    fitted : FittedLine
        Of points in favour of the positive class: one coefficient, and the intercept.
    """
    slope, intercept = fitted.line.tolist()
    cutoff = -intercept / slope
    if card.is_whole:  # between two whole numbers, so that no sum is on it
        cutoff = float(np.floor(cutoff)) + 0.5
    calibration = fitted.calibration
    shift = float(calibration.log_odds(slope * cutoff + intercept))
    calibration = replace(
        calibration,
        offset=shift,
        below=slope * calibration.below,
        above=slope * calibration.above,
    )
    stated = cutoff if card.higher_is_positive else -cutoff
    point = replace(fitted.operating_point, threshold=stated)
    made = replace(card, cutoff=stated)
    held_out = fitted.held_out
    if held_out is not None:
        held_out = held_out.restated(slope * cutoff + intercept, slope)
    return made, FittedLine(np.array([1.0, -cutoff]), point, calibration, held_out)


def scaled_without_rows(scale: Scale, card: Card, fitted: FittedLine) -> tuple[Card, FittedLine]:
    """Return a card on a scale, plainly rounded, with the cutoff where the card had zero.

    Parameters
    ----------
    scale : Scale
    card : Card
        With more points for the positive class, and a cutoff of zero.
    fitted : FittedLine
        Of the card: its log-odds are a straight line.
    """
    if isinstance(scale, PointsToDoubleOdds):
        slope, offset = fitted.calibration.above, fitted.calibration.offset
        made = to_double_odds(card, scale, slope, offset)
        exact = to_double_odds(card, replace(scale, rounded=False), slope, offset)
        unit = scale.pdo / np.log(2.0) * slope
        at_zero = -(exact.intercept + unit * card.intercept)
    else:
        unit = largest_unit(card, scale.largest)
        made = rounded_card(card, unit)
        lowest = sum(float(points.min()) for points in card.blocks if points.size)
        at_zero = -unit * (card.intercept + lowest)
    line = np.array([1.0, -at_zero]) / unit
    return finished(made, fitted._replace(line=line))


def to_double_odds(card: Card, scale: PointsToDoubleOdds, slope: float, offset: float) -> Card:
    """Return a card whose points double the odds of the negative class.

    Parameters
    ----------
    card : Card
        With more points for the positive class, and a cutoff of zero.
    scale : PointsToDoubleOdds
    slope, offset : float
        Log-odds of the positive class are the slope times the points of the card, and the offset.
    """
    unit = scale.pdo / np.log(2.0)
    base = scale.base_points - unit * (offset + np.log(scale.base_odds))
    made = replace(card.affine(-unit * slope, base), higher_is_positive=False)
    return made.rounded() if scale.rounded else made


def _log_odds(scores: FloatArray, rows: TrainingRows) -> tuple[float, float]:
    """Return slope and offset of the log-odds of the positive class as a line of the scores."""
    spread = float(scores.std()) or 1.0
    model = LogisticRegression(C=1.0 / (_SLIGHT * len(scores)))
    weight = rows.weight / rows.weight.mean()
    model.fit(scores[:, None] / spread, rows.positive, weight)
    return float(model.coef_[0, 0]) / spread, float(model.intercept_[0])
