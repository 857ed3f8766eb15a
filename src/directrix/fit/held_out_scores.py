"""Held-out scores of any model, cross-fitted or given, and the end of a fit that starts from them.

What follows a score (threshold, rates to expect, guarantee, calibration) does not ask where the
score comes from: `finish_scores` takes those of any model as the only candidate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple
from warnings import warn

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, check_is_fitted

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions import (
    ChangedColumnsWarning,
    MissingScoresError,
    RefitDiffersWarning,
    ReversedScoresWarning,
    TableWarning,
    find_stacklevel,
    silenced,
)
from directrix.fit.choice import Choice, RefitScores, sizes_of
from directrix.fit.compare import centre_and_scale
from directrix.fit.curves import round_scores
from directrix.fit.evidence import RowEvidence
from directrix.fit.finish import End, finish
from directrix.fit.guarantee import THRESHOLD_SHARE, Guarantee
from directrix.fit.operating_point import (
    OF_CROSS_FITTED,
    OF_GIVEN_SCORES,
    ClaimVariance,
    OperatingPoint,
)
from directrix.fit.report import CandidateResult, DirectReport
from directrix.fit.training_rows import (
    Rows,
    checked_groups,
    class_folds,
    group_folds,
    splits_given,
)
from directrix.metrics import AUC
from directrix.metrics.base import Curve, Metric
from directrix.rows.frames import feature_names_of, is_frame
from directrix.rows.keys import copy_keys, copy_numbers, hash_with_label, position_keys, row_hash
from directrix.rows.rows import as_rows

# ── The scale of scores: probabilities become log-odds, and the unit is their spread ──────────────

#: Least distance from zero and one at which probabilities are still told apart.
_SMALLEST = 1e-9
#: Spreads of the scores by which a threshold that predicts one class is beyond those it was set on:
#: scores of new rows, and those of the final estimator, reach further than held-out ones.
_BEYOND = 1000.0


@dataclass(frozen=True)
class ScoreScale:
    r"""Increasing map from the scores of a model to the positions at which thresholds are set.

    .. math:: z = \frac1u \log\frac{p + \varepsilon}{1 - p + \varepsilon}, \qquad z = \frac su

    for probabilities p and for any other scores s. On log-odds one calibration fits rare and
    frequent positives, and histograms tell small probabilities apart. It changes no threshold:
    whatever the scale, thresholds lie between the same two scores.

    ``smallest`` is ε, zero if the scores are not probabilities. ``unit`` is u, the spread of the
    scores within the classes. A threshold of probabilities may lie outside of them, by ε / 2: below
    zero all rows are predicted positive, above one none.
    """

    smallest: float
    unit: float

    @classmethod
    def of(
        cls, scores: FloatArray, positive: AnyArray, weight: FloatArray, *, probabilities: bool
    ) -> ScoreScale:
        """Take ε as half the least probability that is not zero, and the unit from held-out rows.

        Frequencies in a hundred trees, which may be zero, have another ε than a logistic model.
        """
        scale = cls.without_unit(scores, probabilities=probabilities)
        unit = centre_and_scale(scale.positions(scores), positive, weight)[1]
        return cls(scale.smallest, unit if np.isfinite(unit) else 1.0)

    @classmethod
    def without_unit(cls, scores: FloatArray, *, probabilities: bool) -> ScoreScale:
        """Return the scale whose positions are log-odds of probabilities, or scores themselves."""
        smallest = 0.0
        if probabilities:
            ends = np.concatenate([scores[scores > 0], 1.0 - scores[scores < 1]])
            smallest = max(float(ends.min(initial=1.0)) / 2.0, _SMALLEST)
        return cls(smallest, 1.0)

    def positions(self, scores: Any) -> FloatArray:
        """Return z for each score."""
        scores = np.asarray(scores, dtype=np.float64)
        if self.smallest:
            inside = np.clip(scores, -self.smallest / 2.0, 1.0 + self.smallest / 2.0)
            scores = np.log(inside + self.smallest) - np.log(1.0 - inside + self.smallest)
        positions: FloatArray = scores / self.unit
        return positions

    def score_at(self, position: float) -> float:
        """Return the score of a position."""
        return float(self.scores_at(np.float64(position)))

    def scores_at(self, positions: Any) -> Any:
        """Return the score of each position."""
        values = positions * self.unit
        if not self.smallest:
            return values
        return (1.0 + self.smallest) * expit(values) - self.smallest * expit(-values)

    def threshold_at(self, position: float, scores: FloatArray) -> float:
        """Return a position as a threshold of scores, with these on the same side as before.

        If that is one side, scores of all other rows are on it too.
        """
        above = self.positions(scores) > position
        if above.all() or not above.any():
            position = self.beyond(position, below=bool(above.all()))
        threshold = self.score_at(position)
        lower = float(scores[~above].max(initial=-np.inf))
        upper = float(scores[above].min(initial=np.inf))
        if lower <= threshold < upper:
            return threshold
        return lower if np.isfinite(lower) else float(np.nextafter(upper, -np.inf))

    def of_both(self, refit: RefitScores) -> RefitScores:
        """Return the positions of the scores of an estimator and its copies."""
        final, copies = (round_scores(self.positions(s)) for s in (refit.final, refit.copies))
        return refit._replace(final=final, copies=copies)

    def beyond(self, position: float, *, below: bool) -> float:
        """Return a position below all scores, or above them, if another is on the same side."""
        if self.smallest:
            return float(self.positions(-np.inf if below else np.inf))
        return position - _BEYOND if below else position + _BEYOND


def are_probabilities(scores: FloatArray) -> bool:
    """Return whether all scores lie between zero and one."""
    return bool(scores.min() >= 0.0 and scores.max() <= 1.0)


# ── Scores in favour of the positive class, from a fitted estimator ───────────────────────────────

_METHODS = ("predict_proba", "decision_function")


def given_scores(X: Any) -> FloatArray:
    """Return scores that were given in place of rows, as an array."""
    try:
        scores = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        msg = (
            "without an estimator, X is one score for each row, and these are not numbers: give "
            "scores, or take rows by model.around(estimator)"
        )
        raise TypeError(msg) from None
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim != 1:
        msg = (
            f"without an estimator, X is one score for each row, not an array of shape "
            f"{scores.shape}: of predict_proba give the column of the positive class, and take "
            "rows of a table by model.around(estimator)"
        )
        raise ValueError(msg)
    return finite_scores(scores, "the scores")


def require_cloneable(estimator: Any) -> None:
    """Raise TypeError for a model that cannot be fitted again as scikit-learn does."""
    if isinstance(estimator, type):
        msg = f"the estimator is a class: give an instance, {estimator.__name__}(...)"
        raise TypeError(msg)
    if not hasattr(estimator, "get_params"):
        msg = (
            f"{type(estimator).__name__} is not a classifier in the style of scikit-learn: give "
            "the scores themselves, with estimator=None"
        )
        raise TypeError(msg)


def is_fitted(estimator: Any) -> bool:
    """Return whether an estimator that is to be fitted was fitted before."""
    try:
        check_is_fitted(estimator)
        return bool(get_tags(estimator).requires_fit)
    except (AttributeError, NotFittedError, TypeError):  # not all models follow scikit-learn
        return False


def response_method(estimator: Any, asked: str) -> str:
    """Return the method of an estimator that scores rows: by default its probabilities."""
    if asked not in (*_METHODS, "auto"):
        names = ", ".join(map(repr, _METHODS))
        msg = f"response_method must be 'auto' or one of {names}, not {asked!r}"
        raise ValueError(msg)
    able = [name for name in _METHODS if asked in ("auto", name) and hasattr(estimator, name)]
    if not able:
        wanted = " nor ".join(_METHODS) if asked == "auto" else asked
        msg = (
            f"{type(estimator).__name__} has {'neither ' if asked == 'auto' else 'no '}{wanted}: "
            "give the scores themselves, with estimator=None"
        )
        raise TypeError(msg)
    return able[0]


def positive_response(estimator: Any, X: Any, method: str, positive: Any) -> FloatArray:
    """Return scores of rows in favour of the positive label, by a fitted estimator.

    Raises MissingScoresError if one is not finite.
    """
    rows = known_columns(estimator, X)
    scores = np.asarray(getattr(estimator, method)(rows), dtype=np.float64)
    classes = np.asarray(estimator.classes_).tolist()
    if method == "predict_proba":
        scores = scores[:, classes.index(positive)]
    elif classes.index(positive) == 0:
        scores = -scores
    return finite_scores(scores, f"{method} of {type(estimator).__name__}")


def known_columns(estimator: Any, X: Any) -> Any:
    """Return the columns of a data frame that an estimator was fitted to, in their order.

    Some libraries take columns by position: others in their places would be scored in silence. Rows
    without names, or without one of these, are returned as they are.
    """
    names = getattr(estimator, "feature_names_in_", None)
    given = feature_names_of(X) if is_frame(X) else None
    if names is None or given is None or given == tuple(names) or not {*names} <= {*given}:
        return X
    return X[list(names)]


def finite_scores(scores: FloatArray, source: str) -> FloatArray:
    """Return the scores; raise MissingScoresError if one is NaN or infinite."""
    finite = np.isfinite(scores)
    if not finite.all():
        raise MissingScoresError(source, int(np.sum(~finite)), int(np.argmin(finite)))
    return scores


# ── Cross-fitting: each row is scored by an estimator that was fitted without it ──────────────────

#: Splitters that test a row once at most, for messages.
_ONCE = (
    "StratifiedKFold and GroupKFold test each row once, PredefinedSplit(period) each period by all "
    "others, and TimeSeriesSplit later rows by those before them"
)


class Split(NamedTuple):
    """Positions of the rows that an estimator is fitted to, and of those that it scores."""

    train: IntArray
    test: IntArray


def splits_of(
    cv: Any, X: Any, y: AnyArray, positive: AnyArray, groups: Any, *, apart: bool
) -> list[Split]:
    """Return the splits of ``cv``, after checking them.

    A number of folds divides rows by their content, whatever their order, if X is numbers; by their
    position otherwise. ``apart``: one split only, whose test rows guarantee a limit: a third of the
    rows, or the last split of a splitter.
    """
    given = splits_given(cv, X, y, groups)
    if given is None:
        fold = _folds(THRESHOLD_SHARE if apart else int(cv), X, positive, groups)
        used = [0] if apart else range(int(fold.max()) + 1)
        splits = [Split(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in used]
    else:
        splits = [Split(np.asarray(train), np.asarray(test)) for train, test in given]
        _require_once(splits, len(y), type(cv).__name__)
        splits = splits[-1:] if apart else splits
    for number, split in enumerate(splits):
        inside = positive[split.train]
        if not inside.any() or inside.all():
            msg = f"cv trains split {number} on one class only: give fewer splits, or more rows"
            raise ValueError(msg)
    return splits


def _folds(n_folds: int, X: Any, positive: AnyArray, groups: Any) -> IntArray:
    """Return folds of rows, stratified by class, or of whole groups."""
    if groups is not None:
        return group_folds(checked_groups(groups, len(positive)), positive, n_folds)
    fold = class_folds(_row_keys(X, positive), positive, n_folds)
    if fold is None:
        msg = (
            "one class has one row only, so that no estimator can be fitted without it: give more "
            "rows, or a FrozenEstimator and rows that it was not fitted to"
        )
        raise ValueError(msg)
    return fold


def _row_keys(X: Any, positive: AnyArray) -> AnyArray:
    """Return a key for each row: of its content if that is numbers, else of its position."""
    try:
        hashes = hash_with_label(row_hash(as_rows(X)), positive.astype(np.int64))
    except (TypeError, ValueError, AttributeError, OverflowError):
        return position_keys(len(positive), 0, 0)
    return copy_keys(hashes, copy_numbers(hashes))


def _require_once(splits: Sequence[Split], n_rows: int, name: str) -> None:
    tested = np.zeros(n_rows, dtype=np.int64)
    for split in splits:
        tested[split.test] += 1
        if np.isin(split.test, split.train).any():
            msg = f"cv must test rows that it does not train on, and {name} trains on some; {_ONCE}"
            raise ValueError(msg)
    if tested.max() > 1:
        msg = (
            f"cv must test each row at most once, and {name} tests one {tested.max()} times; "
            f"{_ONCE}"
        )
        raise ValueError(msg)


class HeldOutScores(NamedTuple):
    """Scores of rows that an estimator was not fitted to, in favour of the positive label.

    ``tested`` are the positions of the rows, of weight above zero. ``probabilities`` says whether
    the scores are such, and ``why`` how they came about, in a report. ``variance`` is that of
    claims about new rows. ``refit`` compares the copies that gave the scores with the estimator,
    on its scale; None if it gave them itself. Scores that were given have no estimator.
    """

    estimator: Any
    scores: FloatArray
    tested: IntArray
    probabilities: bool
    why: str
    variance: ClaimVariance = OF_GIVEN_SCORES
    refit: RefitScores | None = None

    @property
    def name(self) -> str:
        """What the model is called in reports and messages."""
        return "the scores" if self.estimator is None else type(self.estimator).__name__


class _PartFit(NamedTuple):
    """A fitted estimator, and its scores of rows to test, and of some that it was fitted to."""

    estimator: Any
    test: FloatArray
    seen: FloatArray


@dataclass(frozen=True)
class CrossFitting:
    """Fits of one estimator to several parts of the same rows.

    ``weight`` has the weights of the rows. ``params`` are further arguments of its `fit`; arrays
    with one entry per row are divided like the rows. ``asked`` is the method that scores rows, or
    "auto".
    """

    estimator: Any
    X: Any
    y: AnyArray
    weight: FloatArray
    positive: Any
    params: Mapping[str, Any]
    asked: str
    n_jobs: int | None = None

    def run(self, splits: Sequence[Split], rows: IntArray, *, refit: bool) -> HeldOutScores:
        r"""Score each test row by an estimator fitted without it, and fit one to all rows.

        The scale of scores depends on the training rows, that of probabilities too: an estimator
        that follows its rows closely is the surer of itself the fewer they are. With the class
        means :math:`m_\pm` of rows that the estimator of a split and the final one were both
        fitted to, its scores s, log-odds of probabilities, become

        .. math:: m' + (s - m) \frac{m'_+ - m'_-}{m_+ - m_-}, \qquad m = \frac{m_+ + m_-}{2}

        with a prime for the final estimator.

        ``rows`` are the positions of all rows that count. With ``refit`` the final estimator is
        fitted to them; else it is that of the only split.
        """
        seen = _seen_before(splits) if refit else [rows[:0]]
        parts = [*zip(splits, seen, strict=True), *([(Split(rows, rows[:0]), rows)] * refit)]
        fit_part = partial(self._fit, refit=refit)
        fits: list[_PartFit]
        if effective_n_jobs(self.n_jobs) == 1:  # that of scikit-learn sets the filters of warnings
            fits = [fit_part(*part) for part in parts]
        else:
            fits = Parallel(n_jobs=self.n_jobs)(delayed(fit_part)(*part) for part in parts)
        probabilities = response_method(fits[-1].estimator, self.asked) == "predict_proba"
        scores = np.concatenate([fit.test for fit in fits])
        tested = np.concatenate([split.test for split in splits])
        why, variance, compared = "Fitted to the other rows.", OF_GIVEN_SCORES, None
        if refit:
            why, variance = f"Cross-fitted in {len(splits)} folds.", OF_CROSS_FITTED
            is_positive = self.y == self.positive
            scale = ScoreScale.without_unit(scores, probabilities=probabilities)
            by_final = np.full(len(self.y), np.nan)
            by_final[rows] = fits[-1].seen
            rescaled = [
                _on_scale_of(by_final[own], fit, is_positive[own], self.weight[own], scale)
                for fit, own in zip(fits, seen, strict=False)
            ]
            scores = np.concatenate([fit.test for fit in rescaled])
            own, copies = np.concatenate(seen), np.concatenate([fit.seen for fit in rescaled])
            compared = RefitScores(is_positive[own], self.weight[own], by_final[own], copies)
        given = scores, tested, probabilities, why, variance
        return HeldOutScores(fits[-1].estimator, *given, refit=compared)

    def _fit(self, split: Split, seen: IntArray, *, refit: bool) -> _PartFit:
        """Fit a copy of the estimator to the training rows of a split, and score rows.

        ``seen`` are the positions of training rows to be scored too. With ``refit``, copies leave
        what is odd about the table to the final fit.
        """
        params = _check_method_params(self.X, dict(self.params), indices=split.train)
        train = _safe_indexing(self.X, split.train)
        with silenced(TableWarning) if refit and len(split.test) else nullcontext():
            estimator = clone(self.estimator).fit(train, self.y[split.train], **params)
        method = response_method(estimator, self.asked)
        scores = [np.empty(0), np.empty(0)]
        for number, index in enumerate((split.test, seen)):
            if len(index):
                rows = _safe_indexing(self.X, index)
                with silenced(ChangedColumnsWarning):
                    scores[number] = positive_response(estimator, rows, method, self.positive)
        return _PartFit(estimator, *scores)


def _seen_before(splits: Sequence[Split]) -> list[IntArray]:
    """Return training rows of each split that show its scale: those that the one before tests.

    If it was not fitted to these, as the first of time folds was not to the last, all of them.
    """
    before = [splits[number - 1].test for number in range(len(splits))]
    return [
        tested if np.isin(tested, split.train).all() else split.train
        for tested, split in zip(before, splits, strict=True)
    ]


def _on_scale_of(
    final: FloatArray, fit: _PartFit, positive: AnyArray, weight: FloatArray, scale: ScoreScale
) -> _PartFit:
    """Return the scores of rows on the scale of the final estimator.

    ``final`` are the scores that the final estimator gives to the rows that ``fit`` has seen. They
    stay as they are if the rows are of one class, or the scores do not separate the classes.
    """
    sides = positive & (weight > 0), ~positive & (weight > 0)
    if not all(side.any() for side in sides):
        return fit
    ends = [
        [float(np.average(scale.positions(scores)[side], weights=weight[side])) for side in sides]
        for scores in (fit.seen, final)
    ]
    (high, low), (final_high, final_low) = ends
    if high <= low or final_high <= final_low:
        return fit
    factor = (final_high - final_low) / (high - low)

    def rescaled(scores: FloatArray) -> FloatArray:
        positions = scale.positions(scores) - (high + low) / 2.0
        moved: FloatArray = scale.scores_at(factor * positions + (final_high + final_low) / 2.0)
        return np.clip(moved, 0.0, 1.0) if scale.smallest else moved

    return fit._replace(test=rescaled(fit.test), seen=rescaled(fit.seen))


# ── The end of a fit that starts from held-out scores ─────────────────────────────────────────────

#: Parts of held-out rows, without each of which a threshold is set again.
PARTS = 10
#: Of these, how many order the thresholds at which a precision is tested.
_GRID_PARTS = 3
#: Standard errors by which an AUC below one half is no chance.
_REVERSED = 4.0
#: Standard errors of a rate by which that of the final estimator is another one.
_OTHER = 2.0


def finish_scores(
    metric: Metric,
    rows: Rows,
    guarantee: Guarantee | None = None,
    *,
    variance: ClaimVariance = OF_GIVEN_SCORES,
    refit: RefitScores | None = None,
) -> End:
    """Set the threshold of held-out scores, and assess it, as those of a chosen candidate.

    The only feature of ``rows`` is the score. ``variance`` is that of claims about new rows.
    ``refit`` compares the copies that gave the scores with the final estimator.
    """
    fold = rows.fold
    if fold is None:  # a class of one row
        fold = np.zeros(len(rows.positive), dtype=np.int64)
        rows = rows._replace(fold=fold)
    scores = round_scores(np.asarray(rows.X)[:, 0])
    if guarantee is None:
        evidence = RowEvidence(rows, scores, refit=refit)
        return finish(metric, Choice.only(metric, evidence, variance), evidence)
    suggesting, apart = None, RowEvidence(rows, scores)
    if any(limit.rate == "precision" for limit in guarantee.limits):
        # Other rows than the testing ones suggest an order of thresholds.
        n_parts = max(_GRID_PARTS * (int(fold.max()) + 1) // PARTS, 1)
        first, rest = (np.flatnonzero(side) for side in (fold < n_parts, fold >= n_parts))
        suggesting = RowEvidence(rows.take(first), scores[first])
        rows = rows._replace(fold=fold - n_parts).take(rest)
        apart = RowEvidence(rows, scores[rest])
    return finish(metric, None, suggesting, guarantee, apart)


def report_on_scores(metric: Metric, rows: Rows, given: HeldOutScores) -> DirectReport:
    """Report a model that was compared with no other."""
    curve = Curve.of(rows.positive, np.asarray(rows.X)[:, 0], rows.weight)
    tried = (CandidateResult(given.name, metric.best_value(curve), float("nan")),)
    chance = metric.chance(curve.prior, curve.positives + curve.negatives)
    return DirectReport(metric, "held-out rows", tried, given.name, given.why, chance=chance)


def warn_about_refit(
    refit: RefitScores | None, rows: Rows, point: OperatingPoint, name: str
) -> None:
    """Warn if copies flag other rows than the final estimator, far beyond what rows vary by.

    ``point`` has the threshold on the scale of ``refit``.
    """
    rates = point.expected
    if refit is None or rates is None:
        return
    gap = refit.gap(point.threshold)
    for rate, by, n_rows in zip(rates[:2], (gap.tpr, gap.fpr), sizes_of(rows), strict=True):
        if abs(by) > _OTHER * np.sqrt(max(rate * (1.0 - rate), 1.0 / n_rows) / n_rows):
            levels = len(np.unique(refit.final))
            warning = RefitDiffersWarning(name, gap.tpr, gap.fpr, levels)
            warn(warning, stacklevel=find_stacklevel())
            return


def warn_about_reversed(rows: Rows, positive: Any, other: Any) -> None:
    """Warn if scores rank the positive class below the other beyond chance."""
    scores = np.asarray(rows.X)[:, 0]
    auc = AUC().best_value(Curve.of(rows.positive, scores, rows.weight))
    error = float(np.sqrt(sizes_of(rows).variance_by_chance))
    if auc + _REVERSED * error < 0.5:
        warn(ReversedScoresWarning(auc, positive, other), stacklevel=find_stacklevel())
