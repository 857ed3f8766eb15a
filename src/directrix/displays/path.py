"""PathDisplay: what a loss and the metric it stands for do while the loss sharpens."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from directrix.classifiers.fitting.class_weights import weights_by_class
from directrix.classifiers.fitting.solvers import solver_for
from directrix.classifiers.fitting.standardization import Standardization
from directrix.classifiers.smooth.initialization import start_of
from directrix.displays import style
from directrix.displays.scored import Scored, before_last_step, last_step
from directrix.displays.words import words
from directrix.frontier.compare import round_scores
from directrix.frontier.recipes import Recipe
from directrix.metrics import Curve, resolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray
    from directrix.classifiers.smooth.history import CandidateRecord
    from directrix.losses import Loss
    from directrix.metrics import Metric

#: Ticks that 600 dots have room for.
_TICKS = 7
_GREEK = {"gamma": "\N{GREEK SMALL LETTER GAMMA}", "kappa": "\N{GREEK SMALL LETTER KAPPA}"}


@dataclass(eq=False)
class PathDisplay:
    r"""The objective and the exact metric along the sharpening of a loss.

    .. math:: w_k = \arg\min_w L_{\gamma_k}(X w + b) + \frac{\alpha}{2} \|w\|^2
              \text{ from } w_{k-1}, \qquad \gamma_1 < \gamma_2 < \dots

    (graduated non-convexity, as in Nguyen and Sanner 2013 and Hasan and Pal 2015, Algorithm 1):
    the smooth loss is easy and far from the metric, the sharp one near it and hard. Make one with
    `from_estimator`.

    Parameters
    ----------
    steps : tuple of str
        The loss of each level, or the number of each iteration.
    objective : array
        Mean loss and ridge.
    on_rows : array
        The exact metric on rows at its best threshold.
    held_out : array or None
        The same on the rows held out in the fit.
    metric : Metric
    against : "level" or "iteration"

    Attributes
    ----------
    ax_ : array of two matplotlib axes
    figure_ : matplotlib figure
    objective_, on_rows_, held_out_ : matplotlib artists
    """

    steps: tuple[str, ...]
    objective: FloatArray
    on_rows: FloatArray
    held_out: FloatArray | None
    metric: Metric
    against: str

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        against: str = "level",
        sample_weight: Any = None,
        ax: Any = None,
    ) -> Self:
        """Draw the path that a `SmoothClassifier` took.

        Parameters
        ----------
        estimator : fitted SmoothClassifier
            With several ``levels``; or of a sweep, of which the levels of the chosen ridge and
            cost ratio are drawn.
        X, y : arrays of shapes (n, d) and (n,), optional
            The rows it was fitted to, on which the path is walked again. Iterations need none.
        against : "level" or "iteration"
            Levels of sharpness; or iterations of the last fit, as ``history_`` has them. With
            ``solver="sla"`` and ``"slam"`` these are what sharpens.
        sample_weight : array of shape (n,), optional
            A row of weight k counts as k rows.
        ax : as in `plot`
        """
        style.pyplot()
        check_is_fitted(estimator)
        fitted = last_step(estimator)
        if not (hasattr(fitted, "history_") and hasattr(fitted, "candidates_")):
            msg = f"a path is that of a SmoothClassifier, and this is a {type(fitted).__name__}"
            raise TypeError(msg)
        if against == "iteration":
            return cls._of_history(fitted).plot(ax)
        if against != "level":
            msg = f"against must be 'level' or 'iteration', not {against!r}"
            raise ValueError(msg)
        if X is None or y is None:
            msg = (
                "the path over levels is walked again on rows: give X and y as they were fitted, "
                "or against='iteration'"
            )
            raise ValueError(msg)
        rows = Scored.by_estimator(estimator, X, y, sample_weight)
        X = check_array(before_last_step(estimator, X), accept_sparse="csr", dtype=np.float64)
        if sample_weight is not None:
            X = X[np.flatnonzero(np.asarray(sample_weight) > 0)]
        return cls._of_levels(fitted, X, rows).plot(ax)

    @classmethod
    def _of_history(cls, fitted: Any) -> Self:
        history = fitted.history_
        return cls(
            tuple(str(number) for number in range(len(history))),
            np.array([step.value for step in history]),
            np.array([step.metric for step in history]),
            None,
            resolve(fitted.metric),
            "iteration",
        )

    @classmethod
    def _of_levels(cls, fitted: Any, X: Any, rows: Scored) -> Self:
        path = _levels(fitted)
        if len(path) < 2:
            msg = (
                f"the path has one level, {path[0].loss}: fit with levels=(1, 2, 4, 8), or ask for "
                "against='iteration'"
            )
            raise ValueError(msg)
        metric = resolve(fitted.metric)
        weight = weights_by_class(fitted.class_weight, fitted.classes_, rows.positive, rows.weight)
        units = Standardization.of(X, weight)
        X = units.rows(X)
        line = _start(fitted, metric, units, (X, rows.positive, weight))
        values, exact = [], []
        for each in path:
            recipe = Recipe(each.loss, each.alpha, each.ratio)
            objective = recipe.objective(X, rows.positive, weight)
            seed = check_random_state(fitted.random_state).randint(2**31)
            solver = solver_for(fitted.solver, each.loss)
            with catch_warnings():  # the fit itself has said so
                simplefilter("ignore", ConvergenceWarning)
                line = solver.run(objective, line, np.random.default_rng(seed), None).coef
            values.append(objective(line)[0])
            curve = Curve.of(rows.positive, round_scores(X @ line[:-1]), weight)
            exact.append(metric.best_value(curve))
        held_out = np.array([each.metric for each in path])
        names = tuple(_name(each.loss) for each in path)
        return cls(names, np.array(values), np.array(exact), held_out, metric, "level")

    def plot(self, ax: Any = None) -> Self:
        """Draw what is stored.

        Parameters
        ----------
        ax : two matplotlib axes, optional
            For the objective and for the metric. By default those of a new figure.
        """
        self.ax_ = style.panels(ax, (2, 1), 4.4, sharex=True)
        self.figure_ = self.ax_[0].figure
        above, below = self.ax_
        place = np.arange(len(self.steps))
        few = len(place) <= 4 * _TICKS
        line = {"linewidth": 1.6, "markersize": 5, "marker": "o" if few else None}
        (self.objective_,) = above.plot(place, self.objective, color=style.BLUE, **line)
        text = "rows it was fitted to"
        (self.on_rows_,) = below.plot(
            place, self.on_rows, color=style.VERMILLION, label=text, **line
        )
        self.held_out_ = None
        if self.held_out is not None:
            line["marker"] = "^"
            (self.held_out_,) = below.plot(
                place, self.held_out, color=style.GREEN, label="held-out rows", **line
            )
        kept = place[:: -(-len(place) // _TICKS)]
        below.set_xticks(kept, [self.steps[k] for k in kept])
        style.finish(above, "", "objective")
        sharper = "loss, sharper to the right"
        xlabel = "iteration" if self.against == "iteration" else sharper
        style.finish(below, xlabel, words(self.metric))
        return self


def _levels(fitted: Any) -> list[CandidateRecord]:
    """Return the candidates of the chosen ridge and cost ratio, from the smoothest on."""
    same = [each for each in fitted.candidates_ if each.alpha == fitted.alpha_]
    sign = 1.0 if resolve(fitted.metric).greater_is_better else -1.0
    chosen = max(
        (each for each in same if each.loss == fitted.loss_), key=lambda each: sign * each.metric
    )
    return [each for each in same if each.ratio == chosen.ratio]


def _start(
    fitted: Any, metric: Metric, units: Standardization, rows: tuple[Any, Any, FloatArray]
) -> FloatArray:
    """Return where the path begins, as the fit does; the last line would be its end."""
    zero = np.zeros(len(units.mean) + 1)
    if fitted.loss is None:
        return zero
    given = fitted.start
    first = "moments" if isinstance(given, str) and given == "previous" else given
    start = start_of(first, fitted, metric, units)
    return zero if start is None else start(*rows)


def _name(loss: Loss) -> str:
    """Return the sharpness of a loss, or what it is called where it has none."""
    own: Sequence[Any] = fields(loss)  # type: ignore[arg-type]
    for each in own:
        if each.name in _GREEK:
            return f"{_GREEK[each.name]} = {getattr(loss, each.name):.4g}"
    return loss.name
