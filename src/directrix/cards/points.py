"""The points of a card on a scale, with the cutoff and probabilities that go with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from directrix._typing import FloatArray, IntArray
from directrix.cards.card import Card, PointsToDoubleOdds, Scale
from directrix.fit.finish import FitResult
from directrix.fit.money import stated_metric


def rounded_card(card: Card, unit: float) -> Card:
    """Return the card in units, rounded: the lowest bin of every column and cross has none.

    ``card`` has more points for the positive class, and a cutoff of zero. ``unit`` is the number of
    points of the rounded card for one point of the card.
    """
    columns = tuple(_rounded(points, unit) for points in card.columns)
    crosses = tuple(replace(cross, points=_rounded(cross.points, unit)) for cross in card.crosses)
    return replace(card, intercept=0.0, columns=columns, crosses=crosses)


def _rounded(points: FloatArray, unit: float) -> FloatArray:
    if not points.size:
        return points
    whole: FloatArray = np.rint(unit * (points - points.min()))
    return whole


def largest_unit(card: Card, largest: int) -> float:
    """Return the unit in which the widest column or cross has so many points."""
    widest = max((float(np.ptp(points)) for points in card.blocks if points.size), default=0.0)
    return largest / widest if widest > 0 else 1.0


def points_as_rows(card: Card, cells: IntArray) -> FloatArray:
    """Return points in favour of the positive class as the one feature of rows."""
    points = card.points(cells)
    return (points if card.higher_is_positive else -points)[:, None]


def finished(card: Card, fitted: FitResult) -> tuple[Card, FitResult]:
    """Return a card with its cutoff, and probabilities of its scores.

    ``fitted`` has the coefficient of points in favour of the positive class, and the intercept.
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
    point = fitted.operating_point
    kept = point.budget
    if kept is not None and not getattr(stated_metric(point.metric), "by_row", False):
        kept = kept.moved(slope * cutoff + intercept, slope)
    point = replace(point, threshold=stated, budget=kept)
    made = replace(card, cutoff=stated)
    held_out = fitted.held_out
    if held_out is not None:
        held_out = held_out.restated(slope * cutoff + intercept, slope)
    return made, replace(
        fitted,
        line=np.array([1.0, -cutoff]),
        operating_point=point,
        calibration=calibration,
        held_out=held_out,
    )


def in_scores(card: Card, fitted: FitResult) -> tuple[Card, FitResult]:
    """Return a card whose points are scores, with the threshold at zero."""
    slope, intercept = fitted.line.tolist()
    made = card.affine(slope, intercept)
    point = replace(fitted.operating_point, threshold=-made.intercept)
    return made, replace(fitted, line=np.array([1.0, 0.0]), operating_point=point)


def scaled_without_rows(scale: Scale, card: Card, fitted: FitResult) -> tuple[Card, FitResult]:
    """Return a card on a scale, plainly rounded, with the cutoff where the card had zero.

    ``card`` has more points for the positive class, and a cutoff of zero. ``fitted`` is that of the
    card, whose log-odds are a straight line.
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
    return finished(made, replace(fitted, line=line))


def to_double_odds(card: Card, scale: PointsToDoubleOdds, slope: float, offset: float) -> Card:
    """Return a card whose points double the odds of the negative class.

    ``card`` has more points for the positive class, and a cutoff of zero. The log-odds of the
    positive class are ``slope`` times the points of the card, plus ``offset``.
    """
    unit = scale.pdo / np.log(2.0)
    base = scale.base_points - unit * (offset + np.log(scale.base_odds))
    made = replace(card.affine(-unit * slope, base), higher_is_positive=False)
    return made.rounded() if scale.rounded else made
