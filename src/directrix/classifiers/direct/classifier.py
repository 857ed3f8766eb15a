"""DirectClassifier: the one to use. Lines of moments and of rows; held-out rows choose."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self
from warnings import warn

import numpy as np
from scipy.special import log_expit, softmax
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from directrix.classifiers.base import LinearClassifier, two_classes
from directrix.classifiers.direct.fit import DirectFit, Fitted
from directrix.classifiers.direct.fit_source import DirectSource
from directrix.classifiers.fitting.class_weights import checked_weight
from directrix.classifiers.fitting.folds import folds_given
from directrix.classifiers.fitting.guarantee import Guarantee
from directrix.classifiers.fitting.progress import CallbackSupportMixin, Fits, with_callbacks
from directrix.classifiers.fitting.training_rows import KeyedRows
from directrix.classifiers.fitting.two_passes import TwoPasses
from directrix.engines import HashFolds
from directrix.frontier.moment_frontier import require_rows_of_both
from directrix.metrics import resolve

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.classifiers.direct.report import DirectReport
    from directrix.classifiers.fitting.operating_point import OperatingPoint
    from directrix.metrics import Metric

_FOLDS = 5


class DirectClassifier(CallbackSupportMixin, LinearClassifier):
    r"""A linear classifier trained for the metric that is reported.

    .. math:: \hat w = \text{the smoothest of}\ \{w \in \mathcal F_{\text{moments}} \cup
              \mathcal F_{\text{rows}} : M(w) \ge \max M - \mathrm{SE}\}

    Lines of both frontiers are candidates: those of the class moments with several shrinkages
    (Fisher's direction and shrunk LDA among them), and those of a cost sweep over the rows, from
    logistic regression to losses with plateaus; for rankings, pairwise losses too. The exact
    metric on held-out rows, all candidates on the same, chooses: first coarsely, then once more
    around the best. Of those within one standard error of the best, by paired differences over
    folds, the smoothest is taken, and fitted to all rows; threshold and probabilities come from
    held-out scores.

    With more than two classes, each against the others: the metric is then the mean over classes.

    Parameters
    ----------
    metric : str or Metric
        What to be good at: "error", "auc", "f1", ``RecallAtFPR(0.01)``, ``PrecisionAtRecall(0.9)``,
        ``Cost(fp=1, fn=20)`` and so on; see `directrix.metrics`. Costs of single rows are their
        ``sample_weight``.
    cv : int, splitter or splits
        Folds of rows held out. A number shares out each class, copies of equal rows as
        independent rows are. Or a splitter of scikit-learn or its splits, where each row is
        tested once.
    guarantee : float, optional
        Confidence with which limits are kept on new rows, by exact binomial bounds: that of the
        metric (`RecallAtFPR`, `FPRAtRecall`, `PrecisionAtRecall`, `RecallAtPrecision`), or those
        of `limits`. A third of the rows then sets the threshold and nothing else; each counts
        once, whatever its weight.
    limits : dict, optional
        Limits that are kept together, instead of the metric's own: ``{"fpr": 0.01, "alerts":
        0.02}`` at most (``alerts`` is the share of rows predicted positive), ``{"recall": 0.9,
        "precision": 0.6}`` at least. Needs `guarantee`.
    time_budget : float, optional
        Seconds. Fewer candidates are tried where they would not do.
    class_weight : dict, "balanced" or None
        Weight of each class, as in scikit-learn.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,), or (k, d) and (k,) for k > 2 classes
        Of more than two classes: the score of each against the others.
    classes_ : array
    report_ : DirectReport, or list of them
        What was tried, what was chosen and why, and the gap to logistic regression.
    operating_point_ : OperatingPoint, or list of them
    calibration_ : Calibration, or list of them

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import DirectClassifier
    >>> from directrix.metrics import RecallAtFPR
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.3
    >>> X = rng.normal(size=(2000, 4))
    >>> X[:, 0] = np.where(y, 3 + 0.3 * X[:, 0], 4 * X[:, 0])
    >>> X[:, 1] += 1.5 * y
    >>> classifier = DirectClassifier(RecallAtFPR(0.01)).fit(X, y)
    >>> bool(classifier.report_.gap.mean > 0)  # better than logistic regression
    True
    """

    report_: DirectReport | list[DirectReport]
    operating_point_: OperatingPoint | list[OperatingPoint]
    calibration_: Any

    def __init__(
        self,
        metric: str | Metric = "error",
        *,
        cv: Any = 5,
        guarantee: float | None = None,
        limits: Mapping[str, float] | None = None,
        time_budget: float | None = None,
        class_weight: Any = None,
    ) -> None:
        self.metric = metric
        self.cv = cv
        self.guarantee = guarantee
        self.limits = limits
        self.time_budget = time_budget
        self.class_weight = class_weight

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit to rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        y : array of shape (n,)
            Labels.
        sample_weight : array of shape (n,), optional
            A row of whole weight k counts as k rows, which may be in different folds. A row of any
            other weight stays whole.
        groups : array of shape (n,), optional
            Who a row belongs to (a customer, a patient): all rows of a group are in one fold.
        """
        fits = Fits(self, X, y)
        self._fit_all([resolve(self.metric)], [self], (X, y, sample_weight, groups), fits.one_more)
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
        """Return a classifier for each of several metrics, which share the lines of the rows.

        Parameters
        ----------
        metrics : sequence of str or Metric
        X, y, sample_weight, groups : as in `fit`
        """
        each = [resolve(metric) for metric in metrics]
        own = [copy(self).set_params(metric=metric) for metric in each]
        self._fit_all(each, own, (X, y, sample_weight, groups), None)
        return own

    def fit_source(self, source: Any, *, target: Any, fold: Any = None, **options: Any) -> Self:
        """Fit to rows wherever they are, in two passes over them.

        The first summarises folds and takes a sample of the rows of each class: both frontiers
        are built from these. The second counts held-out scores of the
        best candidates, over all rows, in histograms, from which the line, the threshold, the
        rates and the probabilities come. For two classes. With a guarantee one more fold is set
        apart in both passes: it builds and chooses nothing, and sets the threshold.

        Parameters
        ----------
        source : whatever `summarize` reads
        target : str, int or array
        fold : HashFolds, optional
            How rows are held out; by default each row on its own, in as many folds as `cv`. Rows
            of whole weight k stay in one fold here.
        **options
            ``features``, ``weight``, ``transform``, ``engine`` and ``progress``, as in
            `summarize`.
        """
        metric = resolve(self.metric)
        self._check([metric])
        if self.time_budget is not None:
            msg = "fit_source has no time_budget=: leave it out, or use fit"
            raise ValueError(msg)
        guarantees = self._guarantees([metric])
        folds = (
            HashFolds(int(self.cv) if isinstance(self.cv, int | np.integer) else _FOLDS)
            if fold is None
            else fold
        )
        if guarantees is not None:
            if options.get("weight") is not None:
                msg = "guarantee= counts rows, each once: leave weight= out"
                raise ValueError(msg)
            folds = replace(folds, n_folds=folds.n_folds + 1)
        two = TwoPasses(source, target, folds, options)
        how = DirectSource(metric, two, self.class_weight, guarantees[0] if guarantees else None)
        surveyed = how.survey()
        moments = surveyed.grouped.by_group[None]
        self.classes_ = two_classes(moments.classes)
        require_rows_of_both(moments)
        self._take_names(moments)
        self._keep([how.fitted(surveyed)])
        return self

    def _fit_all(
        self,
        metrics: list[Metric],
        own: list[Self],
        rows: tuple[Any, Any, Any, Any],
        told: Callable[[int, int], bool | None] | None,
    ) -> None:
        """Fit a classifier to each metric, of rows, labels, weights and groups."""
        self._check(metrics)
        X, y, sample_weight, groups = rows
        X, y = self._validated(X, y)
        check_classification_targets(y)
        weight = checked_weight(sample_weight, X)
        if groups is not None and self.guarantee is not None:
            msg = (
                "guarantee= counts independent rows, and rows of one group are not: give one row "
                "of each group and no groups=, or leave guarantee= out"
            )
            raise ValueError(msg)
        folds = folds_given(self.cv, X, y, groups)
        keyed = KeyedRows.of(X, y, weight, folds, groups)
        classes = np.unique(keyed.y)
        classes = two_classes(keyed.y) if len(classes) < 3 else classes
        keyed = keyed.weighted(self.class_weight, classes)
        positives = classes[1:] if len(classes) == 2 else classes
        seconds = None if self.time_budget is None else self.time_budget / len(positives)
        n_folds = _FOLDS if folds is not None else int(self.cv)
        how = DirectFit(metrics, n_folds, self._guarantees(metrics), seconds, told)
        by_class = [how.run(keyed, label) for label in positives]
        for one, fitted in zip(own, zip(*by_class, strict=True), strict=True):
            one.classes_, one.n_features_in_ = classes, self.n_features_in_
            if hasattr(self, "feature_names_in_"):
                one.feature_names_in_ = self.feature_names_in_
            one._keep(fitted)  # noqa: SLF001

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row: above zero is predicted the last class.

        Of more than two classes: the log-odds of each against the others.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)

        Returns
        -------
        array of shape (n,), or (n, k) for k > 2 classes
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return super().decision_function(X)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        scores = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        odds = [
            own.log_odds(column) for own, column in zip(self.calibration_, scores.T, strict=True)
        ]
        return np.column_stack(odds)

    def predict(self, X: Any) -> AnyArray:
        """Return the class of each row: at the operating point, or of several the most probable.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return super().predict(X)
        labels: AnyArray = self.classes_[self.decision_function(X).argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class, from held-out scores.

        Of more than two classes: the sigmoids of their log-odds, divided by their sum.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n, d)

        Returns
        -------
        array of shape (n, k)
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return super().predict_proba(X)
        # Far out all sigmoids may be too small for a float; their ratios are not.
        shared: FloatArray = softmax(log_expit(self.decision_function(X)), axis=1)
        return shared

    def _check(self, metrics: list[Metric]) -> None:
        if self.limits is not None and self.guarantee is None:
            msg = "limits= are kept with a confidence: give guarantee=0.95, or leave them out"
            raise ValueError(msg)
        self._guarantees(metrics)
        if self.time_budget is not None and not self.time_budget > 0:
            msg = f"time_budget must be seconds above zero, not {self.time_budget!r}"
            raise ValueError(msg)

    def _guarantees(self, metrics: list[Metric]) -> list[Guarantee] | None:
        """Return what is guaranteed for each metric."""
        if self.guarantee is None:
            return None
        return [Guarantee.of(metric, self.limits, self.guarantee) for metric in metrics]

    def _keep(self, each: Sequence[Fitted]) -> None:
        """Keep the lines, and what is known of them: one, or one for each class."""
        lines = np.stack([own.line for own in each])
        self.coef_, self.intercept_ = lines[:, :-1].copy(), lines[:, -1].copy()
        calibrations = [own.calibration for own in each]
        points = [own.operating_point for own in each]
        reports = [own.report for own in each]
        one = len(each) == 1
        self.calibration_ = calibrations[0] if one else calibrations
        self.operating_point_ = points[0] if one else points
        self.report_ = reports[0] if one else reports
        if all(own.report.gap.mean <= 0 for own in each):
            warn(
                "nothing beat logistic regression on held-out rows: it is the simpler choice. See "
                "report_ for what was tried; other features help more than other lines here.",
                stacklevel=4,
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags
