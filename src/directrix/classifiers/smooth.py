"""SmoothClassifier: candidates of a cost sweep, or of one loss, chosen on held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from math import inf
from time import perf_counter
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.classifiers.kernels import (
    Kernel,
    KernelExpansion,
    KernelScoring,
    identity_units,
    kernel_facts,
    kernel_units,
)
from directrix.classifiers.labels import toward_positive
from directrix.classifiers.state import ModelMetadata, restored_loss_fit
from directrix.classifiers.threshold_classifier import ThresholdClassifier
from directrix.fitting.choice import Selection
from directrix.fitting.copies import warn_about_copies
from directrix.fitting.finalize import Lines, finalize, finalize_on_rows
from directrix.fitting.progress import Progress
from directrix.fitting.solvers import keeps_intercept, solver_for
from directrix.fitting.training_rows import Prepared, Rows, Standardization, prepare
from directrix.frontier import Frontier
from directrix.frontier.compare import FIRST_ROWS, MOST_ROWS, compare, curve_maker
from directrix.frontier.curves import round_scores
from directrix.frontier.row_frontier import RowCandidate, RowFrontier
from directrix.linear.loss import Loss
from directrix.linear.objectives import DataObjective
from directrix.linear.recipes import (
    GAMMAS,
    RIDGES,
    Recipe,
    cost_sweep,
    path,
    ranking_continuation,
)
from directrix.linear.table import resolve_loss
from directrix.metrics.base import Metric
from directrix.metrics.table import resolve
from directrix.moments import Moments
from directrix.solve import Callback, Solution

Start = Callable[[Any, AnyArray, FloatArray], FloatArray]

#: What to do if every row is predicted to be of one class and no threshold was searched for.
_FOLDS_REMEDY = (
    "Give a number of folds as cv, so that held-out rows set the threshold, or "
    "class_weight='balanced'."
)
_LOSS_REMEDY = "Give a loss whose threshold held-out rows set, or class_weight='balanced'."

# ── Where descents start, and the grids of ``alpha`` and ``levels`` ───────────────────────────────


def start_of(start: Any, classifier: Any, metric: Metric, units: Standardization) -> Start | None:
    """Return a function from rows to where their descent starts; None for zero.

    `start` is "moments", "zero", "previous" (the last line of the classifier) or a line; `units`
    are those of the descents.
    """
    if not isinstance(start, str):
        line = np.asarray(start, dtype=np.float64)
        if line.shape != (len(units.mean) + 1,):
            msg = (
                f"start must have {len(units.mean) + 1} numbers, the intercept last, not shape "
                f"{line.shape}"
            )
            raise ValueError(msg)
    elif start not in ("moments", "zero", "previous"):
        msg = (
            f"start must be 'moments', 'zero', 'previous' or a line, intercept last, not {start!r}"
        )
        raise ValueError(msg)
    elif start == "moments":
        return lambda *rows: _moment_line(metric, Moments.of(*rows))
    elif start == "zero" or not hasattr(classifier, "coef_"):
        return None
    else:
        line = np.append(classifier.coef_[0], classifier.intercept_)
    given = units.line_there(toward_positive(classifier, line))
    return lambda *_: given


def _moment_line(metric: Metric, moments: Moments) -> FloatArray:
    """Return the best line for normal scores; `Frontier.best` would warn if it is constant."""
    return Frontier(moments).minimize_risk(metric.risk(moments.weight)).line


def validate_grid(given: Any, default: Sequence[float], name: str) -> tuple[float, ...]:
    """Return a number or several as a tuple; "auto" is the default."""
    if isinstance(given, str):
        if given == "auto":
            return tuple(default)
    else:
        values = tuple(np.atleast_1d(np.asarray(given, dtype=np.float64)).tolist())
        if values and all(0 <= value < inf for value in values):
            return values
    msg = f"{name} must be 'auto' or numbers from zero up, not {given!r}"
    raise ValueError(msg)


# ── What a fit to rows records: its candidates, its iterations, and how near to optimal it is ─────


class CandidateRecord(NamedTuple):
    """A candidate that was tried, and its metric on held-out rows.

    ``alpha`` is the strength of the ridge penalty. ``ratio`` is the cost of a false positive; with
    1 both classes have equal weight.
    """

    loss: Loss
    alpha: float
    ratio: float | None
    metric: float


class Step(NamedTuple):
    """One iteration of the final fit.

    ``value`` is the objective. ``metric`` is the exact metric on the training rows, or on a sample
    of them, at its best threshold. ``seconds`` is the time since the fit began.
    """

    value: float
    metric: float
    seconds: float


class History:
    """Records the iterations of a solver, as its callback, with their metric on some rows."""

    def __init__(self, metric: Metric, rows: Rows) -> None:
        self.steps: list[Step] = []
        self._metric, self._X = metric, rows.X
        self._curve = curve_maker(rows.positive, rows.weight)
        self._began = perf_counter()

    def __call__(self, coef: FloatArray, value: float) -> None:
        """Record an iteration, unless it changed nothing, as most of a search do not."""
        if self.steps and self.steps[-1].value == value:
            return
        exact = self._metric.best_value(self._curve(round_scores(self._X @ coef[:-1])))
        self.steps.append(Step(value, exact, perf_counter() - self._began))


def certified_gap(objective: DataObjective, solution: Solution) -> float | None:
    r"""Return an upper bound of the distance of the unsmoothed objective to its minimum.

    .. math:: J(w) - J^* \le J(w) - J_\kappa(w) + \frac{\|\nabla J_\kappa(w)\|^2}{2 \alpha}

    for a smoothed :math:`J_\kappa \le J`, strongly convex in all that it depends on.
    """
    if not objective.loss.convex:
        return None
    exact = replace(objective, loss=objective.loss.sharpen(inf))
    if solution.lower_bound > -inf:
        return float(exact(solution.coef)[0] - solution.lower_bound)
    if not (objective.loss.shift_invariant and objective.ridge > 0):
        return None
    value, gradient = objective(solution.coef)
    slack = float(gradient[:-1] @ gradient[:-1]) / (2.0 * objective.ridge)
    return exact(solution.coef)[0] - value + slack


# ── Candidates of SmoothClassifier from its parameters, and parameters that do not go together ────


def recipes_for(classifier: Any) -> list[Recipe]:
    """Return how the candidates are made; refuse parameters that do not go together."""
    solver, with_kernel = classifier.solver, classifier.kernel is not None
    ridges = validate_grid(classifier.alpha, RIDGES, "alpha")
    if classifier.loss is None:
        if solver not in ("auto", "lbfgs"):
            msg = (
                f"solver={solver!r} needs a loss: without one, lines of a sweep are made "
                "with 'lbfgs'. For the least training error give loss='zero_one' and "
                "solver='vertex'."
            )
            raise ValueError(msg)
        return cost_sweep(ridges, gammas=validate_grid(classifier.levels, GAMMAS, "levels"))
    loss = resolve_loss(classifier.loss)
    solver_for(solver, loss, kernel=with_kernel)
    if not loss.penalized:
        if with_kernel:
            msg = (
                f"loss={loss.name!r} has no ridge, without which a kernel separates any rows: "
                "give a loss with a ridge, or no kernel"
            )
            raise ValueError(msg)
        ridges = (0.0,)
    return path(loss, ridges, validate_grid(classifier.levels, (1.0,), "levels"))


def check_without_folds(classifier: Any, recipes: Sequence[Recipe], groups: Any) -> None:
    """Raise ValueError if ``cv=None`` holds no rows out and there is something to choose."""
    n_ridges = len({recipe.ridge for recipe in recipes})
    if classifier.loss is None:
        reason = "cannot choose from a cost sweep: give a loss"
    elif n_ridges > 1:
        reason = f"cannot choose from {n_ridges} values of alpha: give one number"
    elif groups is not None:
        reason = "has no folds to keep groups together in: do not give groups"
    else:
        return
    msg = f"cv=None holds no rows out and {reason}, or a number of folds as cv"
    raise ValueError(msg)


# ── Kernel expansions: coordinates before the fit, coefficients of rows after it ──────────────────


def check_kernel_start(start: Any) -> None:
    """Raise ValueError for a start that is a line of the features."""
    if not (isinstance(start, str) and start in ("moments", "zero")):
        shown = repr(start) if isinstance(start, str) else "a line"
        msg = (
            f"start={shown} is for classifiers without a kernel; with one every descent starts "
            "from zero: do not give a start"
        )
        raise ValueError(msg)


def expansion_model(
    space: KernelExpansion, solution: Solution, line: FloatArray, rows: Rows
) -> tuple[FloatArray, IntArray]:
    """Return the coefficients of rows that are not zero, and the indices of these rows.

    The solution's coefficients of the rows are used if it has them: those of stochastic gradients.
    `line` is a multiple of the solution's coefficients, without intercept.
    """
    if solution.dual is None:
        coefficients = space.coefficients(line)
    else:
        weight = solution.coef[:-1]
        length = float(weight @ weight)
        factor = float(line @ weight) / length if length else 0.0
        center = space.center_index[rows.order]
        sums = np.bincount(center, solution.dual, len(space.centers))
        coefficients = factor * sums.astype(np.float64)
    kept = np.flatnonzero(coefficients)
    kept = kept[np.argsort(space.centers[kept])]
    return coefficients[kept], space.centers[kept]


# ── SmoothClassifier: candidates of a cost sweep, or of one loss, chosen on held-out rows ─────────


class _Sweep(NamedTuple):
    """A frontier with its fitted candidates, the rows in standardised units, and their kernels."""

    prepared: Prepared
    frontier: RowFrontier
    given: Rows
    space: KernelExpansion | None


class SmoothClassifier(KernelScoring, ThresholdClassifier):
    r"""A classifier, linear or with a kernel, trained for a metric on the scores of all rows.

    .. math:: \min_{w, b}\ L_\rho(X w + b) + \frac{\alpha}{2} \|w\|^2

    for a robust loss L at several costs ρ of a false positive: among these lines is a good one
    for every metric with a threshold. For rankings, pairwise losses continue from the best of
    them. The exact metric on held-out rows chooses the line and its threshold.

    Or give a loss, which alone is then minimised. The threshold still comes from held-out rows,
    with one exception: for the error, ``loss="zero_one"`` is the metric itself and its minimum
    includes the intercept, so the intercept of the solver is kept and `predict` makes the training
    errors that the solver reports. ``operating_point_`` has the rates of such lines on held-out
    rows. With ``cv=None`` no rows are held out, and the model is the minimum of the loss as it is.

    With a kernel the score is :math:`f(x) = \sum_j a_j K(x, x_j) + b` and the penalty
    :math:`\frac\alpha2 a^\top K a`, the norm of f: by the representer theorem (Chuang 2017) the
    best of all functions. ``SmoothClassifier(loss="hinge", kernel="rbf", alpha=..., cv=None)`` is
    the support vector machine; `directrix.classifiers.alpha_from_svc` converts its C to alpha.

    Parameters
    ----------
    metric : str or Metric
        Metric to optimise: "error", "auc", "f1", ``RecallAtFPR(0.01)``, ``Cost(fp=1, fn=20)`` and
        so on; see `directrix.metrics`.
    positive : label, optional
        Label to catch, of two: the metric counts it as positive. By default the last of
        ``classes_``, which are sorted. Scores above zero predict the last of ``classes_`` in any
        case, as in scikit-learn.
    loss : str, Loss or None
        None is the cost sweep. A loss of `directrix.linear` is a paper's method: "break_even",
        "pairwise_hinge", "sigmoid", "ramp", ...; see the table of metrics.
    alpha : "auto", float or sequence of float
        Ridge of the mean loss, for standardised features. Of several, held-out rows choose one.
    levels : "auto" or sequence of float
        Factors by which the loss is sharpened, one after the other. For the cost sweep: the
        sharpness of its robust loss, which follows the logistic loss.
    kernel : None, "linear", "rbf", "polynomial", "min" or callable
        None is a linear classifier. "min" is the intersection kernel, the sum of the lesser of both
        features, for features that are never negative. Features are not standardised for it and for
        functions of two vectors.
    kernel_params : dict, optional
        Parameters of scikit-learn's kernel, such as ``{"gamma": 0.1}``, or of the function. For
        "rbf" the bandwidth τ may be given instead, ``{"bandwidth": 2.0}``: gamma is 1 / (2 τ²).
    start : "moments", "zero", "previous" or array of shape (d + 1,)
        Where the descent of a loss starts: the best line of the moments, zero, the line of the
        last fit, or a line, intercept last. The cost sweep begins with a convex loss, for which
        the start does not matter. With a kernel every descent starts from zero.
    solver : str
        "auto", "lbfgs", "nesterov", "bundle", "descent", "sgd", "sla", "slam" or "vertex". "auto",
        the default, is "vertex" for the zero-one loss, else "lbfgs".
    cv : int, splitter, splits or None
        Folds of held-out rows, which choose the candidate and the threshold. A number stratifies
        by class and assigns copies of equal rows like independent rows. Or a splitter of
        scikit-learn or its splits, which test each row once. With None no rows are held out: give a
        loss and one alpha. Scores are then those of the minimum with its intercept, unscaled (a
        loss without an intercept has the best threshold of the training rows), and the rates are
        those of the training rows, which are too good for new ones.
    class_weight : dict, "balanced" or None
        Weight of each class, as in scikit-learn.
    random_state : int, RandomState or None
        Seed of the solvers "sgd" and "vertex".
    verbose : int
        What a fit prints to stdout: 0 nothing, 1 a line for each stage, 2 also one for each
        candidate. The model is the same. See "Progress and threads" in the user guide.

    Attributes
    ----------
    coef_ : array of shape (1, d)
        Without a kernel.
    intercept_ : array of shape (1,)
    dual_coef_, support_vectors_ : arrays of shape (1, m) and (m, d)
        With a kernel: the coefficients a, and the rows they belong to.
    support_, n_support_ : array of int and int
        With a kernel: indices of these rows, among those of weight above zero, and their number.
    classes_ : array of shape (2,)
    loss_, alpha_ : Loss and float
        Of the chosen candidate.
    candidates_ : tuple of CandidateRecord
        All candidates that were tried, with their metric on held-out rows.
    history_ : tuple of Step
        Objective, metric and seconds of each iteration of the final fit.
    certified_gap_ : float or None
        Upper bound of the distance between the line's objective and its minimum, at infinite
        sharpness; None where the objective is not convex, or does not depend on the intercept.
    operating_point_ : OperatingPoint
        The threshold, and the rates to expect there.
    calibration_ : Calibration
        From scores to probabilities.

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
    candidates_: tuple[CandidateRecord, ...]
    history_: tuple[Step, ...]
    certified_gap_: float | None

    def __init__(  # noqa: PLR0913 - parameters of an estimator
        self,
        metric: str | Metric = "error",
        *,
        positive: Any = None,
        loss: str | Loss | None = None,
        alpha: str | float | Sequence[float] = "auto",
        levels: str | Sequence[float] = "auto",
        kernel: Any = None,
        kernel_params: dict[str, Any] | None = None,
        start: Any = "moments",
        solver: str = "auto",
        cv: Any = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.positive = positive
        self.loss = loss
        self.alpha = alpha
        self.levels = levels
        self.kernel = kernel
        self.kernel_params = kernel_params
        self.start = start
        self.solver = solver
        self.cv = cv
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit candidates, and choose one by the metric on held-out rows.

        If a class has more than 25,000 rows, a sample chooses; the chosen line is then fitted to
        all rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels of two classes.
        sample_weight : array of shape (n,), optional
            How much each row counts. Whatever its weight, a row is one row: it is in one fold.
        groups : array of shape (n,), optional
            Group of each row (a customer, a patient): all rows of a group are in one fold.
        """
        metric = resolve(self.metric)
        progress = Progress(self)
        self._choose(metric, self._sweep(metric, (X, y, sample_weight, groups), progress), progress)
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
        resolved = [resolve(metric) for metric in metrics]
        progress = Progress(self)
        sweep = self._sweep(resolve(self.metric), (X, y, sample_weight, groups), progress)
        classifiers = [copy(self).set_params(metric=metric) for metric in resolved]
        # Rankings last: they add candidates that the other metrics would not have on their own.
        pairs = zip(resolved, classifiers, strict=True)
        for metric, classifier in sorted(pairs, key=lambda pair: not pair[0].uses_threshold):
            classifier._choose(metric, sweep, progress)  # noqa: SLF001 - a copy of this very classifier
        return classifiers

    @property
    def _starts_from(self) -> tuple[str, ...]:  # type: ignore[override]
        previous = isinstance(self.start, str) and self.start == "previous"
        return ("coef_", "intercept_") if previous else ()

    def _sweep(self, metric: Metric, rows: tuple[Any, Any, Any, Any], progress: Progress) -> _Sweep:
        """Fit the candidates to rows, labels, weights and groups."""
        kernel, held_out = Kernel.of(self.kernel, self.kernel_params), self.cv is not None
        recipes = recipes_for(self)
        if not held_out:
            check_without_folds(self, recipes, rows[-1])
        given = self._prepare_rows(*rows, **({"cv": self.cv} if held_out else {}))
        weighted = given.weighted(self.class_weight, self._labels)
        if held_out:
            warn_about_copies(given, self._labels)
        n_folds = int(self.cv) if given.fold is None and held_out else 0
        used_folds = n_folds if given.fold is None else int(given.fold.max()) + 1
        purpose = "a cost sweep" if self.loss is None else metric.label
        progress.report_rows(given.X, used_folds or None, purpose)
        space, most = None, MOST_ROWS if held_out else None
        if kernel is None:
            prepared = prepare(weighted, n_folds, most)
            start = start_of(self.start, self, metric, prepared.units)
        else:
            check_kernel_start(self.start)
            # The coordinates of all rows serve for the fits without a fold too: a ridge keeps
            # coefficients in the span of the rows of the fit, by the representer theorem.
            self._units = kernel_units(kernel, given.X, weighted.weight)
            space = KernelExpansion.from_rows(kernel, self._units.rows(given.X))
            units, start = identity_units(space.X), None
            prepared = prepare(weighted._replace(X=space.X), n_folds, None, units)
        self._kernel = kernel
        if kernel is None:
            self._set_feature_scales(given)
        seen = prepared.seen
        frontier = RowFrontier(
            seen.X,
            seen.positive,
            seen.weight,
            seen.fold,
            start=None if self.loss is None else start,
            solver=self._solver(),
            progress=progress.report_candidate,
            keep_intercept=keeps_intercept(self.loss, metric),
        )
        for candidate in frontier.plan(recipes):
            candidate.fit()
        return _Sweep(prepared, frontier, given, space)

    def _choose(self, metric: Metric, sweep: _Sweep, progress: Progress) -> None:
        """Choose a candidate, fit it to all rows, and set its threshold."""
        frontier, (units, rows, seen) = sweep.frontier, sweep.prepared
        candidates = self._candidates(metric, frontier)
        comparison = compare(metric, [candidate.curves for candidate in candidates])
        self.candidates_ = tuple(
            CandidateRecord(*candidate.recipe.key, float(value))
            for candidate, value in zip(candidates, comparison.values, strict=True)
        )
        chosen = candidates[comparison.best if self.cv is not None else -1]
        history = History(metric, rows.first(FIRST_ROWS))
        refit = chosen.traced_refit(rows.X, rows.positive, rows.weight, history)
        self.history_, self.n_iter_ = tuple(history.steps), refit.solution.n_iter
        self.loss_, self.alpha_ = chosen.recipe.loss, chosen.recipe.ridge
        self.certified_gap_ = certified_gap(refit.objective, refit.solution)
        if self.cv is None and not self.loss_.shift_invariant:
            line, scores = refit.solution.coef, refit.objective.scores(refit.solution.coef)
            fitted = finalize_on_rows(metric, seen, units.line_back(line), scores)
            remedy = _FOLDS_REMEDY
        elif frontier.keep_intercept:
            line = units.line_back(refit.line)
            fitted = finalize_on_rows(metric, seen, line, chosen.curves.scores)
            remedy = _LOSS_REMEDY
        else:
            selection = Selection.of(seen, candidates, comparison, comparison.best)
            lines = Lines(refit.line, chosen.fold_lines)
            fitted = finalize(metric, selection, lines, units=units).fitted
            remedy = ""
        self._set_line(fitted, remedy)
        if sweep.space is not None:  # the coefficients of rows replace the line of the coordinates
            given = sweep.space, refit.solution, self.coef_[0], sweep.given
            dual, self.support_ = expansion_model(*given)
            del self.coef_
            self.dual_coef_, self.n_support_ = dual[None], len(self.support_)
            self.support_vectors_ = sweep.given.X[self.support_]
        progress.stage(
            f"chosen from {len(candidates)} candidates: {chosen.name}; {metric.label} "
            f"{comparison.values[comparison.best]:.4f} on held-out rows"
        )

    def _candidates(self, metric: Metric, frontier: RowFrontier) -> list[RowCandidate]:
        """Return all candidates; for a ranking the cost sweep continues with pairwise losses."""
        fitted = frontier.fitted
        if self.loss is None and not metric.uses_threshold:
            best = fitted[compare(metric, [candidate.curves for candidate in fitted]).best]
            ridges = sorted({candidate.recipe.ridge for candidate in fitted}, reverse=True)
            for candidate in frontier.plan(ranking_continuation(ridges, best.recipe)):
                candidate.fit()
        return frontier.fitted

    def _solver(self) -> Callable[[DataObjective, FloatArray, Callback | None], Solution] | None:
        """Return the solver of a given loss; None for the cost sweep."""
        if self.loss is None:
            return None
        seed = check_random_state(self.random_state).randint(2**31)

        def solve(
            objective: DataObjective, start: FloatArray, callback: Callback | None = None
        ) -> Solution:
            solver = solver_for(self.solver, objective.loss, kernel=self.kernel is not None)
            return solver.run(objective, start, np.random.default_rng(seed), callback)

        return solve

    def _state_facts(self) -> ModelMetadata:
        facts = ModelMetadata(alpha=self.alpha_, loss=self.loss_, n_iter=self.n_iter_)
        if self._kernel is None:
            return facts
        return ModelMetadata(facts, kernel=kernel_facts(self._kernel))

    @classmethod
    def _restored_facts(cls, facts: ModelMetadata) -> dict[str, Any]:
        facts.require_names("alpha", "loss", "n_iter", *({"kernel"} & set(facts)))
        return restored_loss_fit(facts)
