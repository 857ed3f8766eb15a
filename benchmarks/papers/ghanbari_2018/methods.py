"""Algorithm 1 of the paper on its objectives, and the methods it is compared with.

Lines have no intercept, as the paper writes them, but where a name ends in ``intercept``: there the
rows have one more feature, which is 1 in all of them. ‖∇F‖ falls to 1e-7 of its first value or 250
steps are made; c = 1e-4, β = 0.5, every step is first tried at α = 1 (§4).

* ``moments``: F_error (9) or 1 − AUC (14, with its sign mended), from the paper's start.
* ``as printed``: the same with the test of Algorithm 1 as printed, F(trial) > F(w) + c α ‖∇F‖²,
  which lets a value rise.
* ``exact``: the same as ``moments``, of the moments that artificial rows were drawn from.
* ``surrogate``: F_log (3) with r = ½‖w‖² and λ = 1/n, or F_hinge (6) with its sign mended, from a
  random direction of length 1.
* ``LDA``: scikit-learn's, with its intercept.
* ``ours``: `MomentClassifier` with its defaults, with an intercept.

Moments of more features than rows are taken in the span of the rows. The paper's descent makes the
same steps there, as its start and all gradients are sums of rows. Ours does not stay the same,
since it standardises the features of the span.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from benchmarks.harness.data import Split
from directrix import MomentClassifier, Moments
from directrix._typing import FloatArray
from directrix.losses import Logistic, PairwiseHinge
from directrix.metrics import AUC, Error, Metric
from directrix.objectives import DataObjective, MomentObjective
from directrix.risks import CostRisk, RankingRisk
from directrix.solve import descent, part_of_mean

#: What is measured on test rows, by name.
METRICS = {"accuracy": Error(), "AUC": AUC()}
#: Iterations after which the test metric is noted.
CHECKPOINTS = (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 250)
_STEPS, _TOL, _SHARE, _SHRINK = 250, 1e-7, 1e-4, 0.5
_METHODS = {
    "accuracy": (
        *("moments", "as printed", "surrogate", "moments, intercept", "surrogate, intercept"),
        *("LDA", "ours"),
    ),
    "AUC": ("moments", "as printed", "surrogate", "ours"),
}


class Outcome(NamedTuple):
    """The test metric at the end and at the checkpoints, and what it took.

    ``time`` is CPU seconds; it is made a ratio before it is written.
    """

    value: float
    iterations: int
    evaluations: int
    time: float
    curve: tuple[float, ...]


class Counted:
    """An objective that counts its calls and keeps the lines it passes.

    ``objective``: of a line, intercept last. ``intercept``: false holds the intercept at zero.
    """

    def __init__(
        self, objective: Callable[[FloatArray], tuple[float, FloatArray]], *, intercept: bool
    ) -> None:
        self._objective, self._free = objective, float(intercept)
        self.evaluations = 0
        self.lines: list[FloatArray] = []

    def __call__(self, coef: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient."""
        self.evaluations += 1
        value, gradient = self._objective(coef)
        gradient[-1] *= self._free
        return value, gradient

    def keep(self, coef: FloatArray, value: float) -> None:  # noqa: ARG002
        """Note a line."""
        self.lines.append(coef)


def outcomes_of(
    metric: str, split: Split, rng: np.random.Generator, exact: Moments | None = None
) -> dict[str, Outcome]:
    """Return what every method reaches on the test rows of a split."""
    names = _METHODS[metric] if exact is None else ("exact", *_METHODS[metric])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # descents that 250 steps do not finish are measured too
        return {
            name: _fitted(name, metric, split)
            if name in {"LDA", "ours"}
            else _descended(name, metric, split, rng, exact)
            for name in names
        }


def _fitted(name: str, metric: str, split: Split) -> Outcome:
    """Fit what needs no descent."""
    begun = process_time()
    model: Any = LinearDiscriminantAnalysis()
    if name == "ours":
        model = MomentClassifier("error" if metric == "accuracy" else "auc")
        split = _in_span(split)
    model.fit(split.X, split.y)
    spent = process_time() - begun
    value = value_on_test_rows(METRICS[metric], split, model.decision_function(split.X_test))
    return Outcome(value, 0, 0, spent, ())


def _descended(
    name: str, metric: str, split: Split, rng: np.random.Generator, exact: Moments | None
) -> Outcome:
    """Descend, then score the lines that were passed."""
    begun = process_time()
    n, d = split.X.shape
    method, _, intercept = name.partition(", ")
    if method == "surrogate":
        loss, ridge = (Logistic(), 1.0 / n) if metric == "accuracy" else (PairwiseHinge(0.0), 0.0)
        on_rows = DataObjective(split.X, split.y, np.ones(n), loss, ridge)
        objective = Counted(on_rows, intercept=bool(intercept))
        start = rng.standard_normal(d + 1)
        start[-1] *= bool(intercept)
        start /= np.linalg.norm(start)
    else:
        split = _in_span(split)
        moments = exact if name == "exact" and exact is not None else Moments.of(split.X, split.y)
        risk = CostRisk() if metric == "accuracy" else RankingRisk()
        objective = Counted(MomentObjective(moments, risk), intercept=bool(intercept))
        means = (moments.positive.mean, moments.negative.mean)
        start = part_of_mean(*means)
        if intercept:
            start = part_of_mean(*(np.append(mean, 1.0) for mean in means))[:-1]
    objective.lines.append(start)
    if name == "as printed":
        _descent_as_printed(objective, start)
    else:
        descent(
            objective,
            start,
            max_iter=_STEPS,
            tol=_TOL,
            c=_SHARE,
            beta=_SHRINK,
            callback=objective.keep,
        )
    spent = process_time() - begun
    lines = objective.lines
    at = [min(step, len(lines) - 1) for step in CHECKPOINTS]
    values = {
        k: value_on_test_rows(METRICS[metric], split, split.X_test @ lines[k][:-1] + lines[k][-1])
        for k in sorted(set(at))
    }
    curve = tuple(values[k] for k in at)
    return Outcome(curve[-1], len(lines) - 1, objective.evaluations, spent, curve)


def _in_span(split: Split) -> Split:
    """Return the rows in coordinates of their span, where they have more features than that."""
    if split.X.shape[1] <= len(split.X):
        return split
    basis = np.linalg.qr(split.X.T)[0]
    return split._replace(X=split.X @ basis, X_test=split.X_test @ basis)


def _descent_as_printed(objective: Counted, coef: FloatArray) -> None:
    """Follow Algorithm 1 to the letter: a trial is refused where it rises by c α ‖∇F‖² or more."""
    value, gradient = objective(coef)
    first = float(np.linalg.norm(gradient))
    for _ in range(_STEPS):
        square = float(gradient @ gradient)
        if np.sqrt(square) < _TOL * first:
            return
        step = 1.0
        trial = objective(coef - step * gradient)
        while trial[0] > value + _SHARE * step * square:
            step *= _SHRINK
            trial = objective(coef - step * gradient)
        coef = coef - step * gradient
        value, gradient = trial
        objective.keep(coef, value)


def value_on_test_rows(metric: Metric, split: Split, scores: FloatArray) -> float:
    """Return the accuracy or the AUC of test rows."""
    value = metric.score(split.y_test, scores)
    return value if metric.greater_is_better else 1.0 - value
