"""LossDisplay: losses of one row and their derivatives, against the margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from directrix._typing import FloatArray
from directrix.displays import style
from directrix.losses.base import Loss

_SIDES = ("positive", "negative", "both")
_REACH, _POINTS = 3.0, 401


class Drawn(NamedTuple):
    """Loss of one row, positive or negative, against its score."""

    name: str
    positive: bool
    values: FloatArray
    slopes: FloatArray


@dataclass(eq=False)
class LossDisplay:
    r"""Loss of one row and its derivative, against the margin.

    .. math:: z \mapsto \phi(z), \quad \phi'(z), \qquad z = s \text{ of a positive row},
              -s \text{ of a negative one}

    as in Figures 1–5 of Hasan and Pal 2015. Losses whose plateaus differ between the classes are
    drawn against the score, with ``side="both"``. Create one with `from_losses`.

    Parameters
    ----------
    margins : array
    drawn : tuple of Drawn
    side : "positive", "negative" or "both"

    Attributes
    ----------
    ax_ : matplotlib axes, or array of two
    figure_ : matplotlib figure
    lines_, slopes_ : lists of matplotlib artists
    """

    margins: FloatArray
    drawn: tuple[Drawn, ...]
    side: str = "positive"

    @classmethod
    def from_losses(
        cls,
        losses: Loss | Sequence[Loss] | Mapping[str, Loss],
        *,
        margins: Any = None,
        side: str = "positive",
        ax: Any = None,
    ) -> Self:
        """Draw losses of single rows.

        Parameters
        ----------
        losses : Loss, sequence of them, or dict of them by name
            Without names, the legend shows the constructor calls of the losses.
        margins : array, optional
            Margins at which to evaluate; by default from -3 to 3.
        side : "positive", "negative" or "both"
            Class of the row; "both" draws both classes, against the score.
        ax : as in `plot`
        """
        style.pyplot()
        if side not in _SIDES:
            msg = f"side must be one of {', '.join(map(repr, _SIDES))}, not {side!r}"
            raise ValueError(msg)
        grid = np.linspace(-_REACH, _REACH, _POINTS) if margins is None else margins
        grid = np.atleast_1d(np.asarray(grid, dtype=np.float64))
        named = _named(losses)
        drawn: list[Drawn] = []
        for name, loss in named.items():
            _require_of_rows(loss)
            if side == "both":
                drawn += [_drawn(f"{name}, positive", loss, grid, positive=True)]
                drawn += [_drawn(f"{name}, negative", loss, grid, positive=False)]
            else:
                positive = side == "positive"
                curve = _drawn(name, loss, grid if positive else -grid, positive=positive)
                # The derivative by the margin, which is minus the score of a negative row.
                drawn.append(curve if positive else curve._replace(slopes=-curve.slopes))
        return cls(grid, tuple(drawn), side).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the stored losses.

        Parameters
        ----------
        ax : one or two matplotlib axes, optional
            For the loss and, if there are two, for its derivative. By default two axes of a new
            figure.
        """
        single = ax is not None and np.size(np.array(ax, dtype=object)) == 1
        shape, shared = ((1, 1), {}) if single else ((2, 1), {"sharex": True})
        axes = style.panels(ax, shape, 5.0, **shared)
        self.ax_ = axes[0] if single else axes
        self.figure_ = axes[0].figure
        self.lines_, self.slopes_ = [], []
        for k, curve in enumerate(self.drawn):
            dashes, color = divmod(k, len(style.CYCLE))
            how = {"color": style.CYCLE[color], "linestyle": style.DASHES[dashes % 4]}
            if self.side == "both":
                how["color"] = style.CYCLE[k // 2 % len(style.CYCLE)]
                how["linestyle"] = "-" if curve.positive else "--"
            self.lines_ += axes[0].plot(self.margins, curve.values, label=curve.name, lw=1.6, **how)
            if not single:
                self.slopes_ += axes[1].plot(self.margins, curve.slopes, lw=1.6, **how)
        xlabel = "score" if self.side == "both" else "margin"
        # Names of both classes are too long for two columns of a narrow panel.
        columns = 1 if single and self.side == "both" else 2
        style.finish(axes[0], xlabel if single else "", "loss per row", columns=columns)
        if not single:
            style.finish(axes[1], xlabel, "derivative")
        return self


def _named(losses: Any) -> dict[str, Loss]:
    if isinstance(losses, Loss):
        losses = [losses]
    if not isinstance(losses, Mapping):
        losses = {str(loss): loss for loss in losses}
    if not losses or not all(isinstance(loss, Loss) for loss in losses.values()):
        msg = "losses must be one or more of directrix.losses, such as Logistic() or Hinge()"
        raise TypeError(msg)
    return dict(losses)


def _require_of_rows(loss: Loss) -> None:
    """Raise ValueError for a loss that is not a mean over rows."""
    scores, both = np.array([0.3, -0.7]), np.array([True, False])
    try:
        single = [
            loss.value_and_grad(both[k : k + 1], scores[k : k + 1], np.ones(1))[0] for k in (0, 1)
        ]
        whole = loss.value_and_grad(both, scores, np.ones(2))[0]
    except ValueError:  # it needs rows of both classes
        single, whole = [0.0, 0.0], np.inf
    if not np.isclose(whole, np.mean(single), rtol=1e-9, atol=1e-12):
        msg = (
            f"{loss} is of all rows together, so a single row has no loss: give losses of single "
            "rows, such as Logistic(), Hinge() or BetaBernoulli()"
        )
        raise ValueError(msg)


def _drawn(name: str, loss: Loss, scores: FloatArray, *, positive: bool) -> Drawn:
    label, weight = np.array([positive]), np.ones(1)
    pairs = [loss.value_and_grad(label, scores[k : k + 1], weight) for k in range(len(scores))]
    values = np.array([value for value, _ in pairs])
    slopes = np.array([float(slope[0]) for _, slope in pairs])
    return Drawn(name, positive, values, slopes)
