"""Where on the family of lines a risk is least."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.frontier._pencil import angle_of
from directrix.risks.base import vertex

if TYPE_CHECKING:
    from directrix._typing import FloatArray
    from directrix.frontier._pencil import Pencil
    from directrix.risks import Risk

_END = 30.0  # logits: closer to the end of an arc an angle would round to it
_WIDTH = 5e-3  # logits: its square is the error of a vertex, and rounding over it the noise
_FLAT = 1e-12


def best_angle(pencil: Pencil, risk: Risk, prior: float) -> float:
    """Return the angle of the line of least risk.

    All arcs are searched on grids that are finer towards their ends; the lowest places found are
    then looked at together, on ever finer grids.
    """
    if risk.angle is not None:
        return risk.angle
    found: list[tuple[float, float, float, float, float]] = []
    arcs, grids, lines = pencil.grid
    ends = np.cumsum([len(logits) for logits in grids])[:-1]
    sketched = np.split(risk.sketch(*lines, prior), ends)
    for (low, high), logits, values in zip(arcs, grids, sketched, strict=True):
        step = float(logits[1] - logits[0])
        valley = np.r_[True, values[1:] <= values[:-1]] & np.r_[values[:-1] <= values[1:], True]
        found += [
            (float(values[k]), low, high, float(logits[k]), step) for k in np.flatnonzero(valley)
        ]
    places = np.array(sorted(found)[: pencil.search.places])
    angles = np.array([np.pi / 4, _refined(pencil, risk, prior, places)])
    values = risk.profile(*pencil.lines(angles), prior)[0]
    # Where all lines are as good (all separate the classes, or none does better than a constant)
    # the place found is a matter of rounding: take the line of AUC.
    return float(angles[0] if values[0] <= values[1] + _FLAT else angles[1])


def _refined(pencil: Pencil, risk: Risk, prior: float, places: FloatArray) -> float:
    """Return the angle of least risk around some places."""
    _, low, high, logit, step = places.T
    least = np.full(len(places), np.inf)
    unit = np.linspace(-1.0, 1.0, pencil.search.points)
    for _ in range(pencil.search.rounds):
        logits = np.clip(logit[:, None] + step[:, None] * unit, -_END, _END)
        angles = angle_of(low[:, None], high[:, None], logits)
        values = risk.profile(*pencil.lines(angles.ravel()), prior)[0].reshape(logits.shape)
        every, k = np.arange(len(values)), values.argmin(axis=1)
        better = values[every, k] <= least
        logit = np.where(better, logits[every, k], logit)
        least = np.where(better, values[every, k], least)
        step = step * (2.0 / (len(unit) - 1))
        # A parabola falls below its lowest known point by an eighth of the rise beside it at
        # most: where the whole rise would not be enough, the least risk is elsewhere.
        kept = least - np.abs(np.diff(values, axis=1)).max(axis=1) <= least.min()
        low, high, logit, step, least = (a[kept] for a in (low, high, logit, step, least))
    best = int(least.argmin())
    low, high, logit = low[best], high[best], logit[best]
    logit = _settled(pencil, risk, prior, low, high, logit, float(least[best]))
    return float(angle_of(low, high, logit))


def _settled(
    pencil: Pencil, risk: Risk, prior: float, low: Any, high: Any, logit: Any, least: float
) -> Any:
    """Return the logit of a minimum in a way that rounding in the moments hardly moves.

    Where a risk is flat to its last digit the lowest of many values is a matter of rounding, for
    about the root of that digit around; the vertex of a parabola of some width is not.
    """
    settled = logit
    for _ in range(pencil.search.settle):
        stencil = settled + _WIDTH * np.array([-1.0, 0.0, 1.0])
        values = risk.profile(*pencil.lines(angle_of(low, high, stencil)), prior)[0]
        settled = vertex(stencil[0], stencil[2], *values)
    at = np.array([angle_of(low, high, settled)])
    return settled if risk.profile(*pencil.lines(at), prior)[0][0] <= least + _FLAT else logit
