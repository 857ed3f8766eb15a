"""LossDisplay: losses and their slopes against the margin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from directrix.displays import style
from directrix.losses import Loss

if TYPE_CHECKING:
    from directrix._typing import FloatArray

_SIDES = ("positive", "negative", "both")
_REACH, _POINTS = 3.0, 401


class Drawn(NamedTuple):
    """A loss of one row, against its score.

    Parameters
    ----------
    name : str
    positive : bool
        Whether the row is.
    values, slopes : array
    """

    name: str
    positive: bool
    values: FloatArray
    slopes: FloatArray


@dataclass(eq=False)
class LossDisplay:
    r"""What one row costs, against its margin, and how hard it pulls.

    .. math:: z \mapsto \phi(z), \quad \phi'(z), \qquad z = s \text{ of a positive row},
              -s \text{ of a negative one}

    as in Figures 1–5 of Hasan and Pal 2015. Losses whose plateaus differ between the classes are
    drawn against the score, with ``side="both"``. Make one with `from_losses`.

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
            Without names, the legend has the losses as they are written.
        margins : array, optional
            Where to draw; by default from -3 to 3.
        side : "positive", "negative" or "both"
            Of which class the row is; of both, against the score.
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
                own = _drawn(name, loss, grid if positive else -grid, positive=positive)
                # By the margin, not by the score, which falls as the margin rises.
                drawn.append(own if positive else own._replace(slopes=-own.slopes))
        return cls(grid, tuple(drawn), side).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw what is stored.

        Parameters
        ----------
        ax : one or two matplotlib axes, optional
            For the loss, and for its derivative where there are two. By default two, of a new
            figure.
        """
        one = ax is not None and np.size(np.array(ax, dtype=object)) == 1
        axes = style.panels(ax, (1, 1) if one else (2, 1), 5.0, **({} if one else {"sharex": True}))
        self.ax_ = axes[0] if one else axes
        self.figure_ = axes[0].figure
        self.lines_, self.slopes_ = [], []
        for k, own in enumerate(self.drawn):
            turn, place = divmod(k, len(style.CYCLE))
            how = {"color": style.CYCLE[place], "linestyle": style.DASHES[turn % 4]}
            if self.side == "both":
                how["color"] = style.CYCLE[k // 2 % len(style.CYCLE)]
                how["linestyle"] = "-" if own.positive else "--"
            self.lines_ += axes[0].plot(self.margins, own.values, label=own.name, lw=1.6, **how)
            if not one:
                self.slopes_ += axes[1].plot(self.margins, own.slopes, lw=1.6, **how)
        xlabel = "score" if self.side == "both" else "margin"
        # Names of both classes are too long for two columns of a narrow panel.
        columns = 1 if one and self.side == "both" else 2
        style.finish(axes[0], xlabel if one else "", "loss of a row", columns=columns)
        if not one:
            style.finish(axes[1], xlabel, "derivative")
        return self


def _named(losses: Any) -> dict[str, Loss]:
    if isinstance(losses, Loss):
        losses = [losses]
    if not isinstance(losses, Mapping):
        losses = {str(each): each for each in losses}
    if not losses or not all(isinstance(each, Loss) for each in losses.values()):
        msg = "losses must be one or more of directrix.losses, such as Logistic() or Hinge()"
        raise TypeError(msg)
    return dict(losses)


def _require_of_rows(loss: Loss) -> None:
    """Refuse a loss of all rows together, of which one row has no share."""
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
            f"{loss} is of all rows together, so that one row has no loss of its own: give losses "
            "of single rows, such as Logistic(), Hinge() or BetaBernoulli()"
        )
        raise ValueError(msg)


def _drawn(name: str, loss: Loss, scores: FloatArray, *, positive: bool) -> Drawn:
    label, one = np.array([positive]), np.ones(1)
    found = [loss.value_and_grad(label, scores[k : k + 1], one) for k in range(len(scores))]
    values = np.array([value for value, _ in found])
    slopes = np.array([float(slope[0]) for _, slope in found])
    return Drawn(name, positive, values, slopes)
