"""MomentClassifier: make a summary of rows, learn from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any, Self
from warnings import warn

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray
from directrix.estimators.base import two_classes
from directrix.estimators.threshold import ThresholdClassifier
from directrix.exceptions import FewRowsWarning, find_stacklevel
from directrix.fit.copies import warn_about_copies
from directrix.fit.evidence import RowEvidence
from directrix.fit.finish import FitResult, finish
from directrix.fit.guarantee import Guarantee, Limits
from directrix.fit.normal_scores import finish_on_moments
from directrix.fit.operating_point import Calibration
from directrix.fit.progress import Progress
from directrix.fit.training_rows import (
    Rows,
    checked_weight,
    reweighted,
    sampled_rows,
    unit_of,
)
from directrix.linear import Frontier
from directrix.linear.sample_search import WIDE_FEATURES, SampleSearch, is_small, must_hold_out
from directrix.metrics.base import Metric
from directrix.metrics.table import resolve
from directrix.moments import Moments
from directrix.rows.frames import require_same_index
from directrix.rows.keys import CopyCounter, folds_by_key, hash_with_label, row_hash
from directrix.rows.rows import as_rows

_FOLDS = 5
#: Rows of each class in a sample.
_SAMPLE = 10_000
#: Values of the rows, for each element of a matrix, beyond which matrices are better after all.
VALUES_PER_ELEMENT = 4
#: Rows of the rarer class below which rates at a limit look too good (recall by .08, measured).
_FEW_ROWS = 50


def keeps_rows(X: Any) -> bool:
    """Return whether the summary should keep the rows: it is then smaller, and faster to fit."""
    d = X.shape[1]
    n_values = X.nnz if sparse.issparse(X) else X.shape[0] * d
    return d > WIDE_FEATURES and bool(n_values <= VALUES_PER_ELEMENT * d * d)


def knows_folds(moments: Moments) -> bool:
    """Return whether moments have folds, and rows of both classes without each of them."""
    rest = [moments.without_fold(number) for number in range(moments.n_folds)]
    return bool(rest) and all(part.positive.count and part.negative.count for part in rest)


def require_same_classes(classifier: MomentClassifier, classes: Any) -> None:
    """Refuse to add rows to a fit that has no summary, or that has other classes."""
    if not hasattr(classifier, "coef_"):
        return
    if not hasattr(classifier, "moments_"):
        msg = (
            "this classifier comes from a file, which keeps no summary to add rows to: call "
            "fit_summary(Moments.load(...)) with the saved moments_ first, or begin anew with "
            "sklearn.base.clone"
        )
        raise ValueError(msg)
    known = classifier.classes_.tolist()
    given = known if classes is None else np.ravel(classes).tolist()
    if set(given) != set(known):
        msg = (
            f"classes must be those of the first call, {known}, not {given}: leave them out, "
            "or begin anew with sklearn.base.clone"
        )
        raise ValueError(msg)


class MomentClassifier(ThresholdClassifier):
    r"""A linear classifier trained for a metric from a summary of the rows.

    .. math:: w(\theta) = (\cos\theta\, \Sigma_+ + \sin\theta\, \Sigma_-)^{-1} (\mu_+ - \mu_-)

    contains the best line for every metric if the scores of each class are normal. The moments of a
    summary give this family for several shrinkages of the covariances, whatever the number of
    rows; the sample of rows in it adds two logistic regressions. The exact metric on the sample
    chooses one of some sixty candidates and its threshold, and says what to expect on new rows. If
    the smaller class has fewer than 100 rows per feature in the sample, by effective sample size,
    or the classes are hardly apart, scores are held out.

    Every fit makes a summary and learns from it. A summary without a sample has no rows to choose
    by: the line and the threshold are then best if scores are normal, and so are the rates, which
    say so.

    Parameters
    ----------
    metric : str or Metric
        Metric to optimise: "error", "auc", "f1", ``RecallAtFPR(0.01)``, ``Cost(fp=1, fn=20)`` and
        so on; see `directrix.metrics`.
    positive : label, optional
        Label to catch, of two: the metric counts it as positive. By default the last of
        ``classes_``, which are sorted. Scores above zero predict the last of ``classes_`` in any
        case, as in scikit-learn.
    sample : int
        Largest number of rows of each class that a summary keeps; 0 if no row may be kept. The
        default is enough: 20,000 gain next to nothing. `fit_summary` takes the sample it is given.
    guarantee : float, optional
        Confidence with which limits are kept on new rows, by exact binomial bounds: the limit of
        the metric, or those of `limits`. One fold of the rows then sets the threshold and nothing
        else.
    limits : dict, optional
        Limits that are kept together, instead of the metric's own, such as ``{"fpr": 0.01}`` or
        ``{"recall": 0.9}``. Needs `guarantee`, and a sample.
    class_weight : dict, "balanced" or None
        Weight of each class, as in scikit-learn. It changes the prior, never the moments of a
        class.
    verbose : int
        What a fit prints to stdout: 0 nothing, 1 a line for each stage, 2 also one for each
        candidate. The model is the same. See "Progress and threads" in the user guide.

    Attributes
    ----------
    coef_ : array of shape (1, d)
    intercept_ : array of shape (1,)
    classes_ : array of shape (2,)
    moments_ : Moments
        Summary of the rows, without class weights: save it, add tomorrow's to it, and call
        `fit_summary`.
    operating_point_ : OperatingPoint
        The threshold, and the rates to expect there; predicted, if the summary has no sample.
    calibration_ : Calibration
        From scores to probabilities.
    report_ : DirectReport
        The best candidates, which was chosen, and the gap to logistic regression; there is none
        without a sample.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from directrix import MomentClassifier
    >>> from directrix.metrics import RecallAtFPR
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = MomentClassifier(RecallAtFPR(0.01)).fit(X, y)
    >>> bool(classifier.operating_point_.empirical.fpr <= 0.01)  # on held-out rows
    True
    >>> other = MomentClassifier("error").fit_summary(classifier.moments_)  # without the rows
    """

    moments_: Moments

    def __init__(
        self,
        metric: str | Metric = "error",
        *,
        positive: Any = None,
        sample: int = _SAMPLE,
        guarantee: float | None = None,
        limits: Limits | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.positive = positive
        self.sample = sample
        self.guarantee = guarantee
        self.limits = limits
        self.class_weight = class_weight
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Summarise the rows, and learn from the summary.

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
        metric, progress = resolve(self.metric), Progress(self)
        rows = self._prepare_rows(X, y, sample_weight, groups).with_folds(_FOLDS)
        progress.report_rows(rows.X, _FOLDS, metric.label)
        moments = self._summary(
            *(rows.X, self._labels[rows.positive.astype(np.intp)], rows.weight, rows.fold),
            keep_rows=keeps_rows(rows.X),
        )
        self._keep_summary(moments)
        seen = None
        if self.sample:
            seen = rows.first(self.sample, rows.order).weighted(self.class_weight, self._labels)
            if must_hold_out(moments.with_positive(self.positive_), seen):
                warn_about_copies(seen, self._labels)
        moments = moments.with_positive(self.positive_)
        (result,) = self._learn([metric], moments, seen, progress)
        self._set_line(result)
        if self.sample and sample_weight is not None:  # their unit changes no fit, but is kept
            unit = unit_of(np.asarray(sample_weight, dtype=np.float64))
            self.moments_ = self.moments_.scaled(unit.mean)
        return self

    def fit_summary(self, summary: Moments) -> Self:
        """Learn from a summary.

        Parameters
        ----------
        summary : Moments
            Of two classes: from `summarize`, `Moments.of`, a file, or sums and differences of
            these. With a sample of rows, if rows are to choose.
        """
        (result,) = self._learn_summary([resolve(self.metric)], summary)
        self._set_line(result)
        return self

    def fit_summary_each(self, metrics: Sequence[str | Metric], summary: Moments) -> list[Self]:
        """Return a classifier for each of several metrics; they share their candidates.

        Parameters
        ----------
        metrics : sequence of str or Metric
        summary : Moments
            As in `fit_summary`.
        """
        resolved = [resolve(metric) for metric in metrics]
        results = self._learn_summary(resolved, summary)
        classifiers = [copy(self).set_params(metric=metric) for metric in resolved]
        for classifier, result in zip(classifiers, results, strict=True):
            classifier._set_line(result)  # noqa: SLF001 - a copy of this very classifier
        return classifiers

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the summary and learn from it; the order of the calls does not matter.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
        classes : array of shape (2,), optional
            Both labels; needed at the first call if its rows are of one class. Later calls may
            repeat them, not change them.
        sample_weight : array of shape (n,), optional
        """
        first = not hasattr(self, "moments_")
        require_same_classes(self, classes)
        require_same_index(X=X, y=y, sample_weight=sample_weight)
        X, y = self._validated(X, y, reset=first)
        if first:
            self._set_classes(two_classes(y if classes is None else np.asarray(classes)))
        self._copies = deepcopy(getattr(self, "_copies", None)) or CopyCounter()
        fold = folds_by_key(self._copies.keys(hash_with_label(row_hash(as_rows(X)), y)), _FOLDS)
        moments = self._summary(X, y, checked_weight(sample_weight, X), fold)
        self.moments_ = moments if first else self.moments_ + moments
        if self.moments_.positive.count and self.moments_.negative.count:
            return self.fit_summary(self.moments_)
        self._wait(self.moments_)
        return self

    def fit_source(
        self,
        source: Any,
        *,
        target: Any,
        features: Sequence[Any] | None = None,
        weight: Any = None,
        fold: Any = None,
        transform: Any = None,
        engine: str = "auto",
        progress: bool = True,
    ) -> Self:
        """Summarise rows wherever they are, in one pass, and learn from the summary.

        Parameters
        ----------
        source : whatever `summarize` reads
        target : str, int or array
        features : sequence, optional
            Feature columns; by default all that have no other role.
        weight : str, int or array, optional
        fold : HashFolds, optional
            How rows are held out; by default each row independently, in five folds.
        transform, engine, progress : as in `summarize`
        """
        from directrix.engines import HashFolds, summarize

        roles = {"target": target, "features": features, "weight": weight, "transform": transform}
        roles |= {"fold": HashFolds(_FOLDS) if fold is None else fold, "sample": self.sample}
        summary: Any = summarize(source, engine=engine, progress=progress, **roles)
        two_classes(summary.classes)
        return self.fit_summary(summary)

    def _checked_weight(self, sample_weight: Any, X: Any) -> FloatArray:
        """Return the weights of rows; without a sample they count as repetitions of a row."""
        weight = checked_weight(sample_weight, X)
        return unit_of(weight).relative(weight) if self.sample else weight

    def _summary(
        self, X: Any, y: AnyArray, weight: FloatArray, fold: Any, **options: Any
    ) -> Moments:
        """Return the moments and the sample of rows."""
        names = getattr(self, "feature_names_in_", None)
        options |= {"classes": self.classes_, "feature_names": names, "sample": self.sample}
        return Moments.of(X, y, weight, fold=fold, **options)

    def _keep_summary(self, summary: Moments) -> None:
        """Store the summary, with its classes sorted."""
        self.moments_ = summary.with_positive(self.classes_.tolist()[-1])
        self.feature_scales_ = summary.feature_scales()

    def _learn_summary(self, metrics: Sequence[Metric], summary: Moments) -> list[FitResult]:
        """Take classes and features from a summary, and learn from it."""
        moments = self._open_summary(summary)
        self._keep_summary(summary)
        seen = None
        if summary.sample is not None:  # weights have no unit
            moments = moments.scaled(moments.count / moments.weight)
            seen = sampled_rows(moments, self.class_weight)
        progress = Progress(self)
        rows = f"{moments.count:,} rows, {moments.n_features:,} features in the summary"
        progress.stage(f"{rows}; {', '.join(metric.label for metric in metrics)}")
        return self._learn(metrics, moments, seen, progress)

    def _learn(
        self, metrics: Sequence[Metric], moments: Moments, seen: Rows | None, progress: Progress
    ) -> list[FitResult]:
        """Learn from moments for each metric: by the rows of their sample, if there are any.

        Results score in favour of the positive class, which is the last.
        """
        asked = [Guarantee.asked(metric, self.limits, self.guarantee) for metric in metrics]
        moments = reweighted(moments, self.class_weight)
        if seen is None:
            if self.guarantee is not None:
                msg = "guarantee= needs rows: give a summary with a sample, sample=10_000"
                raise ValueError(msg)
            return [_by_risk(metric, moments, progress) for metric in metrics]
        sets = None if moments.map is None else moments.map.sets
        held_out = must_hold_out(moments, seen) or (sets is not None and len(sets) > 1)
        if (held_out or self.guarantee is not None) and not knows_folds(moments):
            # The moments of all rows are not known without each fold: those of the sample are.
            seen = seen._replace(fold=None).with_folds(_FOLDS)
            moments = Moments.of(*seen[:3], classes=[False, True], fold=seen.fold, sample=0)
        apart = None
        if self.guarantee is not None:
            for guarantee in filter(None, asked):
                guarantee.require_of_classes()
            seen, apart = seen.last_fold_apart()
            moments = replace(moments, parts=moments.parts[: moments.n_folds - 1])
        if not (held_out or is_small(seen)):
            seen = seen._replace(fold=None)
        if sparse.issparse(seen.X) and seen.X.shape[1] <= WIDE_FEATURES:
            seen = seen._replace(X=seen.X.toarray())
        search = SampleSearch.of_sets(moments, seen, sets)
        return [
            _by_sample(metric, search, progress, guarantee, apart)
            for metric, guarantee in zip(metrics, asked, strict=True)
        ]

    def _wait(self, moments: Moments) -> None:
        """Predict the one class there is, until rows of the other come."""
        side = int(moments.positive.count > 0)
        label, sign = self.classes_[side], 2.0 * side - 1.0
        warn(
            f"all rows so far are of class {label!r}: give rows of the other too",
            FewRowsWarning,
            stacklevel=find_stacklevel(),
        )
        self.moments_ = moments
        self.coef_, self.intercept_ = np.zeros((1, moments.n_features)), np.array([sign])
        calibration = Calibration(0.0, 1.0, 1.0, "rows of one class only")
        none: Any = None  # rows of one class have no operating point
        self._result = FitResult(np.append(self.coef_[0], sign), none, calibration)


def _by_risk(metric: Metric, moments: Moments, progress: Progress) -> FitResult:
    """Return the line of least risk, if the scores of each class are normal."""
    model = Frontier(moments).best(metric)
    value = metric.of_loss(model.risk)
    progress.stage(f"chosen without a sample; {metric.label} if scores are normal {value:.4f}")
    return finish_on_moments(metric, model.line, model.scores, moments.weight)


def _by_sample(
    metric: Metric,
    search: SampleSearch,
    progress: Progress,
    guarantee: Guarantee | None,
    apart: Rows | None,
) -> FitResult:
    """Return the candidate that is best on the sample, with its threshold.

    Rows ``apart`` keep the limits of a guarantee.
    """
    chosen = search.choose(metric)
    line, evidence = search.evidence(chosen)
    reserved = None if apart is None else RowEvidence.of_line(apart, line)
    end = finish(metric, chosen.choice, evidence, guarantee, reserved)
    line[-1] -= end.point.threshold
    report = chosen.report(evidence.name)
    fewest = min(chosen.choice.sizes)
    if metric.limit is not None and fewest < _FEW_ROWS:
        unknown = f"With {fewest:.3g} rows of one class, rates at this limit are not known."
        report = replace(report, why=f"{report.why} {unknown}")
    for tried in report.tried:
        progress.detail(f"{tried.name}: {metric.label} {tried.metric:.4f}")
    shown: Any = end.point.empirical
    progress.stage(
        f"chosen from {len(search.candidates)} candidates: {report.chosen}; {metric.label} "
        f"{shown.metric:.4f} on {end.point.rows}"
    )
    return replace(end.result(line), report=report)
