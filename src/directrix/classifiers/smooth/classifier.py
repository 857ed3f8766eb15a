"""SmoothClassifier: lines of a cost sweep over the rows, or of one loss; held-out rows choose."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from directrix.classifiers.base import LinearClassifier, two_classes
from directrix.classifiers.fitting.choice import Selection
from directrix.classifiers.fitting.class_weights import checked_weight
from directrix.classifiers.fitting.finalize import Finalized, calibrated, finalize
from directrix.classifiers.fitting.folds import folds_given
from directrix.classifiers.fitting.lines import Lines
from directrix.classifiers.fitting.operating_point import OperatingPoint, predicted_rates
from directrix.classifiers.fitting.progress import CallbackSupportMixin, Fits, with_callbacks
from directrix.classifiers.fitting.solvers import keeps_intercept, solver_for
from directrix.classifiers.fitting.training_rows import KeyedRows, Prepared, TrainingRows, prepare
from directrix.classifiers.smooth.history import Candidate, History, Step, certified_gap
from directrix.classifiers.smooth.initialization import numbers, start_of
from directrix.frontier.compare import FIRST_ROWS, MOST_ROWS, compared
from directrix.frontier.recipes import GAMMAS, RIDGES, Recipe, cost_sweep, path
from directrix.frontier.row_frontier import RowFrontier, comparable
from directrix.losses import Loss, ZeroOne
from directrix.metrics import resolve, resolve_loss
from directrix.moments.projection import ScoreMoments

if TYPE_CHECKING:
    from collections.abc import Callable

    from directrix._typing import FloatArray
    from directrix.metrics import Metric
    from directrix.objectives import DataObjective
    from directrix.solve import Callback, Solution

_MOST_ITERATIONS = 500


class _Swept(NamedTuple):
    """Candidate lines, and the rows in standardised units."""

    prepared: Prepared
    frontier: RowFrontier


class SmoothClassifier(CallbackSupportMixin, LinearClassifier):
    r"""A linear classifier trained for a metric on all scores of the rows.

    .. math:: \min_{w, b}\ L_\rho(X w + b) + \frac{\alpha}{2} \|w\|^2

    for a robust loss L at several costs ρ of a false positive: among these lines is a good one
    for every metric with a threshold. For rankings, pairwise losses go on from the best of them.
    The exact metric on held-out rows chooses the line and its threshold.

    Or give a loss, and that alone is minimised. The threshold still comes from held-out rows, with
    one exception: for the error, ``loss="zero_one"`` is the metric itself and its minimum includes
    the intercept, so the intercept of the solver is kept and `predict` makes the training errors
    that the solver found. ``operating_point_`` has the rates of such lines on held-out rows.

    Parameters
    ----------
    metric : str or Metric
        What to be good at: "error", "auc", "f1", ``RecallAtFPR(0.01)``, ``Cost(fp=1, fn=20)`` and
        so on; see `directrix.metrics`.
    loss : str, Loss or None
        None is the sweep. A loss of `directrix.losses` is a paper's method: "break_even",
        "pairwise_hinge", "sigmoid", "ramp", ...; see the table of metrics.
    alpha : "auto", float or sequence of float
        Ridge of the mean loss, for standardised features. Of several, held-out rows choose.
    levels : "auto" or sequence of float
        How many times as sharp as given the loss becomes, one after the other. Of the sweep: the
        sharpness of its loss with plateaus, after the logistic loss.
    start : "moments", "zero", "previous" or array of shape (d + 1,)
        Where a loss is descended from: the line of the moments' frontier, zero, the line of the
        last fit, or a line, intercept last. The sweep begins with a convex loss, at any start.
    solver : str
        "lbfgs", "nesterov", "bundle", "descent", "sla", "slam", "cccp" or "vertex"; the sweep is
        solved with "lbfgs".
    cv : int, splitter or splits
        Folds of rows held out to choose a candidate and the threshold. A number shares out each
        class, copies of equal rows as independent rows are. Or a splitter of scikit-learn or its
        splits, where each row is tested once.
    class_weight : dict, "balanced" or None
        Weight of each class, as in scikit-learn.
    random_state : int, RandomState or None
        Of the vertex search.

    Attributes
    ----------
    coef_ : array of shape (1, d)
    intercept_ : array of shape (1,)
    classes_ : array of shape (2,)
    loss_, alpha_ : Loss and float
        Of the chosen line.
    candidates_ : tuple of Candidate
        All that were tried, with their metric on held-out rows.
    history_ : tuple of Step
        Value, metric and seconds of the iterations that led to the line.
    certified_gap_ : float or None
        How far at most the line's objective is from the least there is, at infinite sharpness;
        None where the objective is not convex, or says nothing of the intercept.
    operating_point_ : OperatingPoint
    calibration_ : Calibration

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from directrix import SmoothClassifier
    >>> from directrix.metrics import RecallAtFPR
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = SmoothClassifier(RecallAtFPR(0.05)).fit(X, y)
    >>> bool(classifier.operating_point_.empirical.fpr <= 0.05)  # on held-out rows
    True
    """

    loss_: Loss
    alpha_: float
    candidates_: tuple[Candidate, ...]
    history_: tuple[Step, ...]
    certified_gap_: float | None
    operating_point_: OperatingPoint

    def __init__(
        self,
        metric: str | Metric = "error",
        *,
        loss: str | Loss | None = None,
        alpha: str | float | Sequence[float] = "auto",
        levels: str | Sequence[float] = "auto",
        start: Any = "moments",
        solver: str = "lbfgs",
        cv: Any = 5,
        class_weight: Any = None,
        random_state: Any = None,
    ) -> None:
        self.metric = metric
        self.loss = loss
        self.alpha = alpha
        self.levels = levels
        self.start = start
        self.solver = solver
        self.cv = cv
        self.class_weight = class_weight
        self.random_state = random_state

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Make candidate lines, and choose one by the metric on held-out rows.

        Of more than 25,000 rows of a class, a sample chooses; the line chosen is then fitted to
        all.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        sample_weight : array of shape (n,), optional
            A row of whole weight k counts as k rows, which may be in different folds. A row of any
            other weight stays whole.
        groups : array of shape (n,), optional
            Who a row belongs to (a customer, a patient): all rows of a group are in one fold.
        """
        metric = resolve(self.metric)
        fits = Fits(self, X, y)
        self._choose(metric, self._sweep(metric, (X, y, sample_weight, groups), fits))
        fits.end()
        return self

    def fit_each(
        self,
        metrics: Sequence[str | Metric],
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> list[Self]:
        """Return a classifier for each of several metrics, all from one sweep.

        Parameters
        ----------
        metrics : sequence of str or Metric
        X, y, sample_weight, groups : as in `fit`
        """
        if self.loss is not None:
            msg = "a loss stands for one metric: give loss=None to sweep for several"
            raise ValueError(msg)
        each = [resolve(metric) for metric in metrics]
        swept = self._sweep(resolve(self.metric), (X, y, sample_weight, groups), None)
        classifiers = [copy(self).set_params(metric=metric) for metric in each]
        # Rankings last: they add candidates that the others would not have, alone.
        for metric, one in sorted(
            zip(each, classifiers, strict=True), key=lambda pair: not pair[0].uses_threshold
        ):
            one._choose(metric, swept)  # noqa: SLF001
        return classifiers

    def _sweep(self, metric: Metric, given: tuple[Any, Any, Any, Any], fits: Fits | None) -> _Swept:
        """Make the candidate lines, of rows, labels, weights and groups."""
        X, y, sample_weight, groups = given
        X, y = self._validated(X, y)
        weight = checked_weight(sample_weight, X)
        folds = folds_given(self.cv, X, y, groups)
        keyed = KeyedRows.of(X, y, weight, folds, groups)
        self.classes_ = two_classes(keyed.y)
        keyed = keyed.weighted(self.class_weight, self.classes_)
        n_folds = int(self.cv) if folds is None else 0
        prepared = prepare(keyed, self.classes_[1], n_folds, MOST_ROWS)
        start = start_of(self.start, self, metric, prepared.units)
        seen = prepared.seen
        frontier = RowFrontier(
            seen.X,
            seen.positive,
            seen.weight,
            seen.fold,
            start=None if self.loss is None else start,
            solver=self._solver(),
            progress=None if fits is None else fits.one_more,
            keep_intercept=keeps_intercept(self.loss, metric),
        )
        frontier.extend(self._recipes(metric))
        return _Swept(prepared, frontier)

    def _choose(self, metric: Metric, swept: _Swept) -> None:
        """Choose a candidate, fit it to all rows, and set its threshold."""
        frontier = swept.frontier
        place, values = frontier.best(metric)
        self.candidates_ = tuple(
            Candidate(recipe.loss, recipe.ridge, recipe.ratio, float(value))
            for recipe, value in zip(
                (frontier.recipes[made] for made in frontier.made), values, strict=True
            )
        )
        line = self._last_fit(metric, frontier, place, swept.prepared.rows)
        self._settle(metric, swept, line, place)

    def _recipes(self, metric: Metric) -> tuple[Recipe, ...]:
        """Return how the candidates are made; refuse what does not go together."""
        ridges = numbers(self.alpha, RIDGES, "alpha")
        if self.loss is None:
            if self.solver != "lbfgs":
                msg = (
                    f"solver={self.solver!r} needs a loss: without one, lines of a sweep are made "
                    "with 'lbfgs'. For the least training error give loss='zero_one' and "
                    "solver='vertex'."
                )
                raise ValueError(msg)
            return cost_sweep(ridges, gammas=numbers(self.levels, GAMMAS, "levels"))
        loss = resolve_loss(self.loss, metric)
        solver_for(self.solver, loss)
        if isinstance(loss, ZeroOne):
            ridges = (0.0,)
        return path(loss, ridges, numbers(self.levels, (1.0,), "levels"))

    def _solver(
        self,
    ) -> Callable[[DataObjective, FloatArray, Callback | None], Solution] | None:
        """Return how one objective is minimised; None for that of the sweep."""
        if self.loss is None:
            return None
        seed = check_random_state(self.random_state).randint(2**31)

        def solve(
            objective: DataObjective, start: FloatArray, callback: Callback | None = None
        ) -> Solution:
            solver = solver_for(self.solver, objective.loss)
            return solver.run(objective, start, np.random.default_rng(seed), callback)

        return solve

    def _last_fit(
        self, metric: Metric, frontier: RowFrontier, place: int, rows: TrainingRows
    ) -> FloatArray:
        """Fit the chosen candidate once more, to all rows, and keep what happened."""
        recipe = frontier.recipes[place]
        objective = recipe.objective(rows.X, rows.positive, rows.weight)
        whole = len(rows.positive) == len(frontier.positive)
        start = frontier.start_of(place) if whole else frontier.solved(place)
        seen = History(metric, rows.first(FIRST_ROWS))
        seen(start, objective(start)[0])
        solution = frontier.solve(objective, start, seen, None if whole else _MOST_ITERATIONS)
        self.history_, self.n_iter_ = tuple(seen.steps), solution.n_iter
        self.loss_, self.alpha_ = recipe.loss, recipe.ridge
        self.certified_gap_ = certified_gap(objective, solution)
        keep = frontier.keep_intercept
        return comparable(solution.coef, *rows[:3], keep_intercept=keep)

    def _settle(self, metric: Metric, swept: _Swept, line: FloatArray, place: int) -> None:
        """Set the threshold from held-out scores, or keep the solver's; note what they say."""
        frontier, (units, _, rows) = swept.frontier, swept.prepared
        scores = [frontier.scores[made] for made in frontier.made]
        found = compared(metric, [frontier.curves[made] for made in frontier.made])
        selection = Selection.of(rows, scores, found, frontier.made.index(place))
        if frontier.keep_intercept:
            held_out = frontier.scores[place]
            final = Finalized.at_zero(metric, rows, held_out)
        else:
            folds = [k for k in frontier.folds if k is not None]
            lines = Lines(line, [frontier.line(place, k) for k in folds])
            line, held_out, final = finalize(metric, selection, lines)
        numbers = ScoreMoments.of_scores(rows.positive, held_out, rows.weight)
        self.calibration_ = calibrated(rows, held_out, metric.break_even(numbers.prior))
        line = units.line_back(line)
        self.coef_, self.intercept_ = line[None, :-1].copy(), line[-1:].copy()
        self.operating_point_ = OperatingPoint(
            metric,
            -float(line[-1]),
            predicted_rates(numbers, metric, float(rows.weight.sum())),
            final.empirical,
            rows.name,
            final.expected,
            final.intervals,
        )
