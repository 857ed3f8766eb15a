"""PathDisplay: the objective and the exact metric while a loss sharpens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from directrix._typing import FloatArray
from directrix.classifiers.smooth import CandidateRecord, start_of
from directrix.displays import style
from directrix.displays.style import BinaryScores, before_last_step, last_step
from directrix.fitting.solvers import solver_for
from directrix.fitting.training_rows import Standardization, weights_by_class
from directrix.frontier.compare import round_scores
from directrix.frontier.recipes import Recipe
from directrix.metrics.base import Curve, Metric
from directrix.metrics.table import resolve

#: Most tick labels that fit below an axis 600 dots wide.
_TICKS = 7


@dataclass(eq=False)
class PathDisplay:
    r"""The objective and the exact metric along the sharpening of a loss.

    .. math:: w_k = \arg\min_w L_{\gamma_k}(X w + b) + \frac{\alpha}{2} \|w\|^2
              \text{ from } w_{k-1}, \qquad \gamma_1 < \gamma_2 < \dots

    (graduated non-convexity, as in Nguyen and Sanner 2013 and Hasan and Pal 2015, Algorithm 1):
    the smooth loss is easy to minimise and far from the metric, the sharp one is near it and hard.
    Create one with `from_estimator`.

    Parameters
    ----------
    steps : tuple of str
        Label of the loss at every level, or number of every iteration.
    objective : array
        Mean loss plus ridge penalty.
    on_rows : array
        The exact metric at its best threshold on the rows of the fit.
    held_out : array or None
        The same on rows that were held out in the fit.
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
            Fitted with several ``levels``, or by a sweep, of which the levels of the chosen ridge
            and cost ratio are drawn.
        X, y : arrays of shapes (n, d) and (n,), optional
            The rows it was fitted to, on which the path is fitted again; not needed for
            iterations.
        against : "level" or "iteration"
            Levels of sharpness, or the iterations in ``history_``. With ``solver="sla"`` and
            ``"slam"`` the iterations sharpen the loss.
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
        rows = BinaryScores.by_estimator(estimator, X, y, sample_weight)
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
    def _of_levels(cls, fitted: Any, X: Any, rows: BinaryScores) -> Self:
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
        for candidate in path:
            recipe = Recipe(candidate.loss, candidate.alpha, candidate.ratio)
            objective = recipe.objective(X, rows.positive, weight)
            seed = check_random_state(fitted.random_state).randint(2**31)
            solver = solver_for(fitted.solver, candidate.loss)
            with catch_warnings():  # the fit itself has warned already
                simplefilter("ignore", ConvergenceWarning)
                line = solver.run(objective, line, np.random.default_rng(seed), None).coef
            values.append(objective(line)[0])
            curve = Curve.of(rows.positive, round_scores(X @ line[:-1]), weight)
            exact.append(metric.best_value(curve))
        held_out = np.array([candidate.metric for candidate in path])
        names = tuple(candidate.loss.level_label for candidate in path)
        return cls(names, np.array(values), np.array(exact), held_out, metric, "level")

    def plot(self, ax: Any = None) -> Self:
        """Draw the stored path.

        Parameters
        ----------
        ax : two matplotlib axes, optional
            For the objective and for the metric. By default those of a new figure.
        """
        self.ax_ = style.panels(ax, (2, 1), 4.4, sharex=True)
        self.figure_ = self.ax_[0].figure
        above, below = self.ax_
        position = np.arange(len(self.steps))
        few = len(position) <= 4 * _TICKS
        line = {"linewidth": 1.6, "markersize": 5, "marker": "o" if few else None}
        (self.objective_,) = above.plot(position, self.objective, color=style.BLUE, **line)
        text = "rows it was fitted to"
        (self.on_rows_,) = below.plot(
            position, self.on_rows, color=style.VERMILION, label=text, **line
        )
        self.held_out_ = None
        if self.held_out is not None:
            line["marker"] = "^"
            (self.held_out_,) = below.plot(
                position, self.held_out, color=style.GREEN, label="held-out rows", **line
            )
        kept = position[:: -(-len(position) // _TICKS)]
        below.set_xticks(kept, [self.steps[k] for k in kept])
        style.finish(above, "", "objective")
        sharper = "loss, sharper to the right"
        xlabel = "iteration" if self.against == "iteration" else sharper
        style.finish(below, xlabel, self.metric.label)
        return self


def _levels(fitted: Any) -> list[CandidateRecord]:
    """Return the candidates of the chosen ridge and cost ratio, from the smoothest on."""
    same = [candidate for candidate in fitted.candidates_ if candidate.alpha == fitted.alpha_]
    sign = 1.0 if resolve(fitted.metric).greater_is_better else -1.0
    chosen = max(
        (candidate for candidate in same if candidate.loss == fitted.loss_),
        key=lambda candidate: sign * candidate.metric,
    )
    return [candidate for candidate in same if candidate.ratio == chosen.ratio]


def _start(
    fitted: Any, metric: Metric, units: Standardization, rows: tuple[Any, Any, FloatArray]
) -> FloatArray:
    """Return the start of the path, as in the fit; "previous" would be the end of the path."""
    zero = np.zeros(len(units.mean) + 1)
    if fitted.loss is None:
        return zero
    given = fitted.start
    first = "moments" if isinstance(given, str) and given == "previous" else given
    start = start_of(first, fitted, metric, units)
    return zero if start is None else start(*rows)
