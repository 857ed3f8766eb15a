"""Search for the angle of the family of lines at which a risk is least."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.frontier._pencil import angle_at
from directrix.risks.base import vertex

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.frontier._pencil import Pencil
    from directrix.risks.base import Risk

#: Largest logit: closer to the end of an arc an angle would round to it.
_END = 30.0
#: Half the width, in logits, of a parabola: its square is the error of the vertex, and rounding
#: over it the noise.
_WIDTH = 5e-3
#: Risks that differ by less are equal up to rounding.
_FLAT = 1e-12


class _Valley(NamedTuple):
    """A local minimum of the risk on a grid.

    Parameters
    ----------
    value : float
        The risk there.
    low, high : float
        Ends of its arc.
    logit : float
        Its position on the arc.
    step : float
        Logits between neighbouring angles of the grid.
    """

    value: float
    low: float
    high: float
    logit: float
    step: float


def best_angle(pencil: Pencil, risk: Risk, prior: float) -> float:
    """Return the angle of the line of least risk.

    All arcs are searched on a grid that is finer towards their ends; the lowest local minima are
    then refined together, on ever finer grids.
    """
    if risk.angle is not None:
        return risk.angle
    valleys = _valleys(pencil, risk, prior)
    angles = np.array([np.pi / 4, _refined_angle(pencil, risk, prior, valleys)])
    values = _risks(pencil, risk, prior, angles)
    # If all lines are equally good (all separate the classes, or none does better than a constant)
    # rounding decides where the minimum is: take the line of AUC.
    return float(angles[0] if values[0] <= values[1] + _FLAT else angles[1])


def _valleys(pencil: Pencil, risk: Risk, prior: float) -> list[_Valley]:
    """Return the lowest local minima of the risk on the first grid."""
    valleys: list[_Valley] = []
    arcs, grids, scores = pencil.grid
    ends = np.cumsum([len(logits) for logits in grids])[:-1]
    by_arc = np.split(risk.sketch(*scores, prior), ends)
    for (low, high), logits, values in zip(arcs, grids, by_arc, strict=True):
        step = float(logits[1] - logits[0])
        local = np.r_[True, values[1:] <= values[:-1]] & np.r_[values[:-1] <= values[1:], True]
        valleys += [
            _Valley(float(values[k]), low, high, float(logits[k]), step)
            for k in np.flatnonzero(local)
        ]
    return sorted(valleys)[: pencil.search.valleys]


def _refined_angle(pencil: Pencil, risk: Risk, prior: float, valleys: list[_Valley]) -> float:
    """Return the angle of least risk near some local minima of the first grid."""
    _, low, high, logit, step = np.array(valleys).T
    least = np.full(len(valleys), np.inf)
    unit = np.linspace(-1.0, 1.0, pencil.search.points)
    for _ in range(pencil.search.rounds):
        logits = np.clip(logit[:, None] + step[:, None] * unit, -_END, _END)
        angles = angle_at(low[:, None], high[:, None], logits)
        values = _risks(pencil, risk, prior, angles.ravel()).reshape(logits.shape)
        lowest = np.arange(len(values)), values.argmin(axis=1)
        better = values[lowest] <= least
        logit = np.where(better, logits[lowest], logit)
        least = np.where(better, values[lowest], least)
        step = step * (2.0 / (len(unit) - 1))
        # The minimum of a parabola is below the lowest of its known points by an eighth of the
        # rise beside it at most: where even the whole rise would not suffice, drop the valley.
        kept = least - np.abs(np.diff(values, axis=1)).max(axis=1) <= least.min()
        low, high, logit, step, least = (a[kept] for a in (low, high, logit, step, least))
    best = int(least.argmin())
    valley = _Valley(*(float(a[best]) for a in (least, low, high, logit, step)))
    return float(
        angle_at(valley.low, valley.high, _interpolated_logit(pencil, risk, prior, valley))
    )


def _interpolated_logit(pencil: Pencil, risk: Risk, prior: float, valley: _Valley) -> float:
    """Return the position of a minimum by parabolas, so that rounding errors hardly move it.

    About a minimum a risk is equal in all its digits for about the root of the last one. Rounding
    decides which of many values there is the lowest, but hardly moves the vertex of a parabola
    that is wider than that.
    """
    logit = valley.logit
    for _ in range(pencil.search.parabolas):
        stencil = logit + _WIDTH * np.array([-1.0, 0.0, 1.0])
        values = _risks(pencil, risk, prior, angle_at(valley.low, valley.high, stencil))
        logit = vertex(stencil[0], stencil[2], *values)
    angle = np.array([angle_at(valley.low, valley.high, logit)])
    value = float(_risks(pencil, risk, prior, angle)[0])
    return logit if value <= valley.value + _FLAT else valley.logit


def _risks(pencil: Pencil, risk: Risk, prior: float, angles: FloatArray) -> FloatArray:
    """Return the risk of the line at each angle, at its best threshold."""
    return risk.profile(*pencil.scores(angles), prior)[0]
