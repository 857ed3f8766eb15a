"""MomentClassifier: candidates from class moments, chosen on rows or by the predicted risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self
from warnings import warn

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.classifiers.base import two_classes
from directrix.classifiers.state import ModelMetadata, require
from directrix.classifiers.threshold_classifier import ThresholdClassifier
from directrix.exceptions import FewRowsWarning, find_stacklevel
from directrix.files.layout import is_number
from directrix.fitting.choice import Selection
from directrix.fitting.copies import warn_about_copies
from directrix.fitting.finalize import Lines, finalize, finalize_on_moments
from directrix.fitting.finish import FitResult
from directrix.fitting.progress import Progress
from directrix.fitting.training_rows import (
    Rows,
    checked_weight,
    class_factors,
    reweighted,
    unit_of,
    whole_unit_of,
)
from directrix.frontier import Frontier, validated_shrinkage
from directrix.frontier.compare import MOST_ROWS, choose_line, compare
from directrix.frontier.curves import Curves
from directrix.frontier.moment_frontier import MomentLines, usable_folds
from directrix.frontier.pencil import require_rows_of_both
from directrix.metrics.base import Metric
from directrix.metrics.table import resolve
from directrix.models.operating_point import Calibration
from directrix.moments import Moments
from directrix.rows import labels
from directrix.rows.keys import CopyCounter, folds_by_key, hash_with_label, row_hash
from directrix.rows.labels import WeightUnit
from directrix.rows.rows import as_rows, require_same_index

#: All rows, which set the threshold, and those on which candidates are compared.
GivenRows = tuple[Rows, Rows]

# ── The line of least risk, from a summary alone ──────────────────────────────────────────────────


def best_by_risk(
    moments: Moments, metric: Metric, shrinkage: str | float, progress: Progress
) -> tuple[Frontier, FitResult]:
    """Return the line of least risk, and its frontier; the last class is the positive one."""
    if shrinkage == "cv" and moments.folded and len(usable_folds(moments)) < 2:
        shrinkage = "oas"
        warn(
            "too few rows of both classes so far for shrinkage='cv': 'oas' is used",
            FewRowsWarning,
            stacklevel=find_stacklevel(),
        )
    if shrinkage == "cv":
        shrinkage = validated_shrinkage(moments, metric).share
    frontier = Frontier(moments, shrinkage)
    model = frontier.best(metric)
    fitted = finalize_on_moments(metric, model.line, model.scores, moments.weight)
    progress.stage(
        f"{moments.count:,} rows, {moments.n_features:,} features in the summary; chosen by "
        f"the {metric.label} if scores are normal, {metric.of_loss(model.risk):.4f}"
    )
    return frontier, fitted


def report_choice(
    progress: Progress, lines: MomentLines, metric: Metric, values: FloatArray, index: int
) -> None:
    """Print the metric of each candidate on rows, and which was chosen."""
    for number, value in enumerate(values):
        progress.detail(f"{lines.name(number)}: {metric.label} {value:.4f}")
    progress.stage(
        f"chosen from {len(values)} candidates: {lines.name(index)}; {metric.label} "
        f"{values[index]:.4f} on rows"
    )


# ── Validation of the parameters and summaries of MomentClassifier ────────────────────────────────

#: Features beyond which a fit to rows keeps them instead of matrices (measured: dense rows take
#: the same time either way at 1,000 features and five rows per feature, or 2,000 and eight).
WIDE_FEATURES = 1_000
#: Values of the rows, for each element of a matrix, beyond which matrices are better after all.
VALUES_PER_ELEMENT = 4


def checked_metric(classifier: MomentClassifier) -> Metric:
    """Return the metric; refuse invalid parameters."""
    if classifier.learn_from not in ("rows", "moments"):
        msg = f"learn_from must be 'rows' or 'moments', not {classifier.learn_from!r}"
        raise ValueError(msg)
    if isinstance(classifier.shrinkage, str) and classifier.shrinkage not in ("oas", "cv"):
        msg = f"shrinkage must be 'oas', 'cv' or a share from 0 to 1, not {classifier.shrinkage!r}"
        raise ValueError(msg)
    return resolve(classifier.metric)


def keeps_rows(X: Any) -> bool:
    """Return whether the summary should keep the rows: it is then smaller, and faster to fit."""
    d = X.shape[1]
    n_values = X.nnz if sparse.issparse(X) else X.shape[0] * d
    return d > WIDE_FEATURES and bool(n_values <= VALUES_PER_ELEMENT * d * d)


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


def require_rows_in_folds(moments: Moments) -> None:
    """Refuse a summary in which one fold has all rows of a class."""
    require_rows_of_both(moments)
    for number in range(len(moments.folds)):
        rest = moments.without_fold(number)
        if not (rest.positive.count and rest.negative.count):
            msg = (
                f"all rows of one class are in fold {number}: there are too few for these "
                "folds. Give fold=HashFolds(2), or read the rows and use fit."
            )
            raise ValueError(msg)


# ── MomentClassifier: candidates from class moments, chosen on rows or by the predicted risk ──────

_FOLDS = 5
#: With fewer rows of the smaller class per feature, a line fits its training rows too well.
_MIN_ROWS_PER_FEATURE = 100
#: Shrinkages that are compared on rows.
_SHRINKAGES = tuple(float(share) for share in np.geomspace(1e-3, 1.0, 7))


class MomentClassifier(ThresholdClassifier):
    r"""A linear classifier trained for a metric from the moments of the classes.

    .. math:: w(\theta) = (\cos\theta\, \Sigma_+ + \sin\theta\, \Sigma_-)^{-1} (\mu_+ - \mu_-)

    contains the best line for every metric if the scores of each class are normal. The moments
    give this family in one pass over the rows; the exact metric on the rows chooses θ and the
    threshold.

    Parameters
    ----------
    metric : str or Metric
        Metric to optimise: "error", "auc", "f1", ``RecallAtFPR(0.01)``, ``Cost(fp=1, fn=20)`` and
        so on; see `directrix.metrics`.
    positive : label, optional
        Label to catch, of two: the metric counts it as positive. By default the last of
        ``classes_``, which are sorted. Scores above zero predict the last of ``classes_`` in any
        case, as in scikit-learn.
    shrinkage : "oas", "cv" or float
        Share of a multiple of the identity in each covariance of the standardised features. "oas"
        estimates it from the moments, "cv" chooses it on held-out folds.
    learn_from : "rows" or "moments"
        What chooses the line. "rows": the exact metric of some 25 lines, on held-out folds if the
        smaller class has fewer than 100 rows per feature. "moments": the metric as a risk of
        normal scores, from the summary alone.
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
    frontier_ : Frontier
        The family of lines.
    operating_point_ : OperatingPoint
        The threshold, and the rates: measured on rows, or predicted from a summary without rows.
    calibration_ : Calibration
        From scores to probabilities.
    shrinkage_ : "oas" or float
        The shrinkage that was used.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from directrix import MomentClassifier
    >>> from directrix.metrics import RecallAtFPR
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> classifier = MomentClassifier(RecallAtFPR(0.01)).fit(X, y)
    >>> bool(classifier.operating_point_.empirical.fpr <= 0.01)  # on held-out rows
    True
    """

    moments_: Moments
    frontier_: Frontier
    shrinkage_: str | float

    def __init__(
        self,
        metric: str | Metric = "error",
        *,
        positive: Any = None,
        shrinkage: str | float = "oas",
        learn_from: str = "rows",
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.positive = positive
        self.shrinkage = shrinkage
        self.learn_from = learn_from
        self.class_weight = class_weight
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Summarise the rows, make the family of lines, and choose one.

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
        metric = checked_metric(self)
        progress = Progress(self)
        given = rows = self._prepare_rows(X, y, sample_weight, groups)
        unit_in = whole_unit_of
        if self._holds_out(rows):
            if self.learn_from == "rows":  # a row is one row, whatever its weight
                unit_in = unit_of
                rows = rows._replace(weight=unit_of(rows.weight).relative(rows.weight))
            warn_about_copies(rows, self._labels)
            rows = rows.in_folds(_FOLDS)
        n_folds = None if rows.fold is None else int(rows.fold.max()) + 1
        progress.report_rows(rows.X, n_folds, metric.label)
        labels_of_rows = self._labels[rows.positive.astype(np.intp)]
        moments = self._summary(
            rows.X, labels_of_rows, rows.weight, rows.fold, keep_rows=keeps_rows(rows.X)
        )
        moments = moments.with_positive(self.positive_)
        negative, positive = class_factors(self.class_weight, moments)
        seen = given.weighted(self.class_weight, self._labels)
        weight = rows.weight * np.where(rows.positive, positive, negative)
        rows = rows._replace(weight=weight, weighted_by=seen.weighted_by)
        seen = seen.in_folds(1, MOST_ROWS) if rows.fold is None else rows
        by_rows = (rows, seen) if self.learn_from == "rows" else None
        unit = None
        if sample_weight is not None and self.learn_from == "rows":
            unit = unit_in(np.asarray(sample_weight, np.float64))
        self._learn(moments, metric, by_rows, progress, unit)
        return self

    def fit_summary(self, moments: Moments) -> Self:
        """Learn from a summary alone: the risk of normal scores chooses the line.

        Parameters
        ----------
        moments : Moments
            Of two classes; with folds, if ``shrinkage="cv"``.
        """
        metric = checked_metric(self)
        require_rows_of_both(moments)
        _, last = labels.negative_and_positive(moments.classes)
        self._set_classes(moments.classes, last)
        self._set_feature_names(moments)
        self._learn(moments.with_positive(self.positive_), metric, None, Progress(self))
        return self

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
        metric = checked_metric(self)
        progress = Progress(self)
        first = not hasattr(self, "moments_")
        require_same_classes(self, classes)
        require_same_index(X=X, y=y, sample_weight=sample_weight)
        X, y = self._validated(X, y, reset=first)
        if first:
            self._set_classes(two_classes(y if classes is None else np.asarray(classes)))
        weight = checked_weight(sample_weight, X)
        fold = None
        if self.shrinkage == "cv":
            self._copies = deepcopy(getattr(self, "_copies", None)) or CopyCounter()
            fold = folds_by_key(self._copies.keys(hash_with_label(row_hash(as_rows(X)), y)), _FOLDS)
        moments = self._summary(X, y, weight, fold)
        moments = moments if first else self.moments_ + moments
        if moments.positive.count and moments.negative.count:
            self._learn(moments.with_positive(self.positive_), metric, None, progress)
        else:
            self._wait(moments)
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
        """Learn from rows wherever they are, in two passes over them.

        The first summarises folds; the second counts held-out scores of all candidates in
        histograms, which give the line, the threshold, the rates and the probabilities.

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
        from directrix.fitting.fit_source import SourcePasses, source_folds, weighted_by
        from directrix.fitting.histogram_choice import finish_counts, select_from_histograms

        metric = checked_metric(self)
        log = Progress(self)
        roles = {"target": target, "features": features, "weight": weight}
        roles |= {"fold": source_folds(fold, _FOLDS), "transform": transform}
        passes = SourcePasses.of(source, engine=engine, progress=progress, **roles)
        surveyed = passes.survey()
        self._set_classes(two_classes(surveyed.moments.classes))
        surveyed = surveyed.with_positive(self.positive_)
        moments = surveyed.moments
        require_rows_in_folds(moments)
        self._set_feature_names(moments)
        self._keep_summary(moments, passes.unit)
        factors = class_factors(self.class_weight, moments)
        weighted = reweighted(moments, factors)
        lines = self._lines(weighted, metric)
        rows = f"{moments.count:,} rows, {moments.n_features:,} features"
        log.stage(f"first pass: {rows}, {len(lines.fold_lines)} folds; {metric.label}")
        folds = passes.histograms(lines.fold_lines, moments.classes[-1])
        chosen = select_from_histograms(metric, folds, factors)
        report_choice(log, lines, metric, chosen.comparison.values, chosen.index)
        evidence = replace(chosen.evidence, weighted_by=weighted_by(weight, self.class_weight))
        fitted = finish_counts(chosen.choice, evidence, lines.lines[chosen.index])
        self._set_fit(lines.frontier(chosen.index), fitted)
        return self

    def _checked_weight(self, sample_weight: Any, X: Any) -> FloatArray:
        """Return the weights of rows; in a summary that is all a fit sees, they stay as given."""
        weight = checked_weight(sample_weight, X)
        return whole_unit_of(weight).relative(weight) if self.learn_from == "rows" else weight

    def _summary(
        self,
        X: Any,
        y: AnyArray,
        weight: FloatArray,
        fold: IntArray | None,
        *,
        keep_rows: bool = False,
    ) -> Moments:
        names = getattr(self, "feature_names_in_", None)
        return Moments.of(
            *(X, y, weight),
            classes=self.classes_,
            feature_names=names,
            fold=fold,
            keep_rows=keep_rows,
        )

    def _holds_out(self, rows: Rows) -> bool:
        """Whether rows must be held out: they are few, or they choose the shrinkage."""
        smaller = min(np.count_nonzero(rows.positive), np.count_nonzero(~rows.positive))
        few = self.learn_from == "rows" and smaller < _MIN_ROWS_PER_FEATURE * rows.X.shape[1]
        return few or self.shrinkage == "cv"

    def _learn(
        self,
        moments: Moments,
        metric: Metric,
        rows: GivenRows | None,
        progress: Progress,
        unit: WeightUnit | None = None,
    ) -> None:
        """Choose a line by rows or, without them, by the risk; the last class is the positive."""
        self._keep_summary(moments, unit)
        weighted = reweighted(moments, class_factors(self.class_weight, moments))
        if rows is None:
            self._set_fit(*best_by_risk(weighted, metric, self.shrinkage, progress))
        else:
            self._set_fit(*self._by_rows(weighted, metric, rows, progress))

    def _keep_summary(self, moments: Moments, unit: WeightUnit | None = None) -> None:
        """Store the summary, in weights as they were given, with its classes sorted."""
        kept = moments if self.shrinkage == "cv" else moments.unfolded()
        kept = kept if unit is None else kept.scaled(unit.mean)
        self.moments_ = kept.with_positive(self.classes_.tolist()[-1])
        self.feature_scales_ = kept.feature_scales()

    def _set_fit(self, frontier: Frontier, fitted: FitResult) -> None:
        """Store the line and the frontier that it lies on."""
        self.frontier_, self.shrinkage_ = frontier, frontier.shrinkage
        self._set_line(fitted)

    def _by_rows(
        self, moments: Moments, metric: Metric, given: GivenRows, progress: Progress
    ) -> tuple[Frontier, FitResult]:
        """Return the line of the family that is best on rows, and its frontier."""
        rows, seen = given
        held_out = rows.fold is not None
        lines = self._lines(moments if held_out else moments.unfolded(), metric)
        scores = lines.held_out(seen.X, seen.fold)
        curves = [Curves.of_scores(seen.positive, each, seen.weight, None) for each in scores.T]
        candidates, comparison = lines.candidates(curves), compare(metric, curves)
        index = comparison.best
        if not held_out:
            index = choose_line(metric, seen.X, seen.positive, seen.weight, lines.lines)
            # A ranking has no threshold that all rows would have to set.
            rows = rows if metric.uses_threshold else seen
        report_choice(progress, lines, metric, comparison.values, index)
        selection = Selection.of(seen, candidates, comparison, index)
        chosen = candidates[index]
        refit = Lines(chosen.line, chosen.fold_lines if held_out else ())
        final = finalize(metric, selection, refit, rows=rows)
        return lines.frontier(index), final.fitted

    def _lines(self, moments: Moments, metric: Metric) -> MomentLines:
        shrinkages = _SHRINKAGES if self.shrinkage == "cv" else (self.shrinkage,)
        return MomentLines.of(moments, metric.risk(moments.weight), shrinkages)

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

    def _state_facts(self) -> ModelMetadata:
        return ModelMetadata(shrinkage=getattr(self, "shrinkage_", None))

    @classmethod
    def _restored_facts(cls, facts: ModelMetadata) -> dict[str, Any]:
        facts.require_names("shrinkage")
        shrinkage = facts["shrinkage"]
        if shrinkage is None:
            return {}
        is_share = is_number(shrinkage) and 0 <= shrinkage <= 1
        named = isinstance(shrinkage, str) and shrinkage == "oas"
        require(named or is_share, "its shrinkage is not a share")
        return {"shrinkage_": shrinkage}
