"""DirectClassifier: candidates of both frontiers, chosen by the exact metric on held-out rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from directrix._typing import FloatArray
from directrix.estimators.base import two_classes
from directrix.estimators.state import ModelState
from directrix.estimators.threshold import ThresholdClassifier
from directrix.fit.baseline import warn_about_baseline
from directrix.fit.directions import Signs
from directrix.fit.evidence import RowEvidence
from directrix.fit.finish import End, finish
from directrix.fit.guarantee import Guarantee, Limits
from directrix.fit.progress import Progress
from directrix.fit.report import DirectReport
from directrix.fit.training_rows import FOLDS, Rows, sampled_rows
from directrix.linear.line_search import LineSearch
from directrix.linear.pencil import require_rows_of_both
from directrix.metrics.base import Metric
from directrix.metrics.table import resolve
from directrix.moments import Moments

if TYPE_CHECKING:  # only fit_source needs engines
    from directrix.engines.tasks import Surveyed


class DirectClassifier(ThresholdClassifier):
    r"""A linear classifier trained for the metric that is reported.

    .. math:: \hat w = \text{the simplest of}\ \{w \in \mathcal F_{\text{moments}} \cup
              \mathcal F_{\text{rows}} : M(w) \ge \max M - \mathrm{SE}\}

    Candidates come from both frontiers: lines of the class moments with several shrinkages
    (Fisher's direction and shrunk linear discriminants among them), and lines of a cost sweep over
    the rows, from logistic regression to robust losses; for rankings, pairwise losses too. All are
    compared by the exact metric on the same held-out rows, first coarsely, then again around the
    best. Of the candidates within one standard error of the best, by paired differences over
    folds, the simplest is chosen and fitted to all rows; its threshold and its probabilities come
    from held-out scores.

    Parameters
    ----------
    metric : str or Metric
        Metric to optimise: "error", "auc", "f1", ``RecallAtFPR(0.01)``,
        ``PrecisionAtRecall(0.9)``, ``Cost(fp=1, fn=20)`` and so on; see `directrix.metrics`. Costs
        of single rows are their ``sample_weight``.
    positive : label, optional
        Label to catch, of two: the metric counts it as positive. By default the last of
        ``classes_``, which are sorted. Scores above zero predict the last of ``classes_`` in any
        case, as in scikit-learn.
    cv : int, splitter or splits
        Folds of held-out rows. A number stratifies by class and assigns copies of equal rows like
        independent rows. Or a splitter of scikit-learn or its splits, which test each row once.
    guarantee : float, optional
        Confidence with which limits are kept on new rows, by exact binomial bounds: the limit of
        the metric (`RecallAtFPR`, `FPRAtRecall`, `PrecisionAtRecall`, `RecallAtPrecision`), or
        those of `limits`. A third of the rows then sets the threshold and nothing else; each row
        counts once, whatever its weight.
    limits : dict, optional
        Limits that are kept together, instead of the metric's own: ``{"fpr": 0.01, "alerts":
        0.02}`` at most (``alerts`` is the share of rows predicted positive), ``{"recall": 0.9,
        "precision": 0.6}`` at least; in all segments of the rows by `InEverySegment`. Needs
        `guarantee`.
    class_weight : dict, "balanced" or None
        Weight of each class, as in scikit-learn.
    monotone : dict, optional
        Directions that scores keep: from names or positions of features to "increasing" or
        "decreasing". The score is that of the positive class. In `fit` only.
    n_jobs : int, optional
        Threads of the search, as in scikit-learn: -1 for one per processor. The classifier does
        not depend on it. It pays from some ten thousand rows on.
    warn_baseline : bool
        Whether a fit warns by a `NotBetterThanBaselineWarning` if it chose a more complex model
        than logistic regression that is expected to be no better. If logistic regression is the
        choice, or neither is clearly better than a constant, the report says so without a warning;
        nor is there one inside scikit-learn's searches and cross-validations.
    verbose : int
        What a fit prints to stdout: 0 nothing, 1 a line for each stage, 2 also one for each
        candidate. The model is the same. See "Progress and threads" in the user guide.

    Attributes
    ----------
    coef_, intercept_ : arrays of shape (1, d) and (1,)
    classes_ : array of shape (2,)
    report_ : DirectReport
        The candidates that were tried, which was chosen and why, and the gap to logistic
        regression.
    operating_point_ : OperatingPoint
        The threshold, and the rates to expect there.
    calibration_ : Calibration
        From scores to probabilities.

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
    >>> print(classifier.report_)  # doctest: +ELLIPSIS
    Chosen for recall at FPR 1 %: ...
    Better than logistic regression by 0...
    """

    def __init__(
        self,
        metric: str | Metric = "error",
        *,
        positive: Any = None,
        cv: Any = 5,
        guarantee: float | None = None,
        limits: Limits | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        monotone: Mapping[Any, str] | None = None,
        n_jobs: int | None = None,
        warn_baseline: bool = True,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.positive = positive
        self.cv = cv
        self.guarantee = guarantee
        self.limits = limits
        self.class_weight = class_weight
        self.monotone = monotone
        self.n_jobs = n_jobs
        self.warn_baseline = warn_baseline
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **columns: Any
    ) -> Self:
        """Fit to rows in memory.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix or list of rows, of shape (n, d)
            Numbers.
        y : array of shape (n,)
            Labels.
        sample_weight : array of shape (n,), optional
            How much each row counts. Whatever its weight, a row is one row: it is in one fold.
        groups : array of shape (n,), optional
            Group of each row (a customer, a patient): all rows of a group are in one fold. With
            `guarantee`, whole groups are set apart, and one row of each of them counts.
        **columns : arrays of shape (n,)
            Costs of the rows, by the names that the metric gives them: ``amount=`` for
            ``Cost(fp=5, fn="amount")``; days and teams, by those of a `Budget`. By default they
            are columns of the table. ``segment=``: the segment of each row, such as a country, for
            ``operating_point_.segments`` and `InEverySegment`; not needed to predict.
        """
        metric, log = resolve(self.metric), Progress(self)
        guarantee = Guarantee.asked(metric, self.limits, self.guarantee, groups)
        rows = self._prepared(X, y, sample_weight, groups)
        rows, (metric,) = self._priced([metric], rows, (X, y, sample_weight), columns)
        n_folds = self._begin(rows, metric.label, log)
        rows, apart = (rows, None) if guarantee is None else guarantee.set_apart(rows)
        search = LineSearch.of(rows, n_folds, self._signs, self.n_jobs, log.report_candidate)
        self._fit_best(search, metric, guarantee, apart, log)
        warn_about_baseline([self])
        return self

    def fit_each(
        self,
        metrics: Sequence[str | Metric],
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> list[Self]:
        """Return a classifier for each of several metrics; they share their candidates.

        Parameters
        ----------
        metrics : sequence of str or Metric
        X, y, sample_weight, groups : as in `fit`
        """
        asked, log = list(map(resolve, metrics)), Progress(self)
        limits = [Guarantee.asked(metric, self.limits, self.guarantee, groups) for metric in asked]
        rows = self._prepared(X, y, sample_weight, groups)
        rows, trained = self._priced(asked, rows, (X, y, sample_weight), {})
        n_folds = self._begin(rows, ", ".join(metric.label for metric in trained), log)
        first = next(iter(limits), None)
        rows, apart = (rows, None) if first is None else first.set_apart(rows)
        search = LineSearch.of(rows, n_folds, self._signs, self.n_jobs, log.report_candidate)
        models = [copy(self).set_params(metric=metric) for metric in asked]
        for model, metric, guarantee in zip(models, trained, limits, strict=True):
            model._fit_best(search, metric, guarantee, apart, log)  # noqa: SLF001 - a copy of itself
        warn_about_baseline(models)
        return models

    def _fit_best(
        self,
        search: LineSearch,
        metric: Metric,
        guarantee: Guarantee | None,
        apart: Rows | None,
        log: Progress,
    ) -> None:
        """Choose a candidate for a metric, fit it to all rows, set its threshold and keep it."""
        chosen = search.choose(metric)
        line, evidence = search.refit(chosen.candidate)
        reserved = None if apart is None else RowEvidence.of_line(apart, line)
        end = finish(metric, chosen.choice, evidence, guarantee, reserved)
        report = replace(chosen.report(evidence.name), directions=search.directions(metric, line))
        self._keep_line(end, line, report, log)

    def fit_summary(self, summary: Moments) -> Self:
        """Fit to the sample of rows in a summary: the whole search, without the other rows.

        With a guarantee, the last fold of the sample is set apart.

        Parameters
        ----------
        summary : Moments
            Of two classes, with a sample: from `summarize`, `Moments.of` or a file.
        """
        metric, log = resolve(self.metric), Progress(self)
        guarantee = Guarantee.asked(metric, self.limits, self.guarantee)
        rows = sampled_rows(self._open_summary(summary), self.class_weight).with_folds(FOLDS)
        log.report_rows(rows.X, FOLDS, metric.label)
        apart = None
        if guarantee is not None:
            guarantee.require_of_classes()
            rows, apart = rows.last_fold_apart()
        search = LineSearch.of(rows, FOLDS, self._signs, self.n_jobs, log.report_candidate)
        self._fit_best(search, metric, guarantee, apart, log)
        warn_about_baseline([self])
        return self

    def fit_source(
        self,
        source: Any,
        *,
        target: Any,
        features: Sequence[Any] | None = None,
        weight: Any = None,
        fold: Any = None,
        segment: Any = None,
        transform: Any = None,
        engine: str = "auto",
        progress: bool = True,
    ) -> Self:
        """Fit to rows wherever they are, in two passes over them.

        The first pass summarises folds and samples rows of each class, from which both frontiers
        are built. The second counts held-out scores of the best candidates, over all rows, in
        histograms, which give the line, the threshold, the rates and the probabilities. With a
        guarantee, one more fold is set apart in both passes: nothing is built from it or chosen by
        it, and it sets the threshold.

        Parameters
        ----------
        source : whatever `summarize` reads
        target : str, int or array
        features : sequence, optional
            Feature columns; by default all that have no other role.
        weight : str, int or array, optional
            Sample weights.
        fold : HashFolds, optional
            How rows are held out; by default each row independently, in as many folds as `cv`.
        segment : str, int or array, optional
            Segment of each row, such as a country: ``operating_point_.segments`` has the rates in
            each, and limits may be kept in all (`InEverySegment`). It is counted in the same
            passes, and no feature unless `features` names it.
        transform, engine, progress : as in `summarize`
        """
        from directrix.engines.tasks import NumberFeatures
        from directrix.fit.fit_source import CandidateGroup, SourceFit, profile_of_source
        from directrix.linear.lines_to_count import ROWS_OF_COUNTS, ROWS_OF_LINES, lines_to_count

        if self.monotone is not None:
            msg = "fit_source has no monotone= for lines: leave it out, or use fit"
            raise ValueError(msg)
        log = Progress(self)
        roles = {"target": target, "features": features, "weight": weight, "fold": fold}
        roles |= {"segment": segment, "transform": transform}
        reading = {"engine": engine, "progress": progress}
        fit = SourceFit.asked(self, source, roles, reading)
        surveyed = self._known_source(fit.passes.survey(ROWS_OF_LINES, fit.apart))
        self._seen = profile_of_source(fit, surveyed)
        log.stage(
            f"first pass: {surveyed.moments.count:,} rows, {self.n_features_in_:,} features, "
            f"{fit.passes.fold.n_folds} folds; {fit.metric.label}"
        )
        moments = fit.moments(surveyed)
        rows, factors = fit.sampled_rows(surveyed, moments.classes)
        candidates = lines_to_count(fit.metric, moments, rows, self.n_jobs)
        group = CandidateGroup(candidates, [None] * (fit.n_folds + 1))
        numbers = NumberFeatures(moments.n_features)
        counted = fit.count(group, numbers, moments.classes[-1], factors)
        chosen = counted.choose(fit.metric, candidates)
        evidence, reserved = counted.evidence(chosen.index)
        end = finish(fit.metric, chosen.choice, evidence, fit.guarantee, reserved)
        self._keep_line(end, chosen.candidate.line, chosen.report(ROWS_OF_COUNTS), log)
        warn_about_baseline([self])
        return self

    def _known_source(self, surveyed: Surveyed) -> Surveyed:
        """Set classes and features of a survey, and return it with the positive class last."""
        self._set_classes(two_classes(surveyed.moments.classes))
        surveyed = surveyed.with_positive(self.positive_)
        require_rows_of_both(surveyed.moments)
        self._set_feature_names(surveyed.moments)
        if surveyed.sample is not None:
            self._check_numbers(surveyed.sample.X, surveyed.sample.y == self.positive_)
        return surveyed

    def _prepared(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Rows:
        """Validate rows; set classes and features, and return the rows with class weights."""
        rows = self._prepare_rows(X, y, sample_weight, groups, cv=self.cv)
        self._set_feature_scales(rows)
        return rows.weighted(self.class_weight, self._labels)

    @property
    def _signs(self) -> Signs | None:
        """The signs that coefficients keep."""
        names = getattr(self, "feature_names_in_", None)
        return Signs.of(self.monotone, names, self.n_features_in_)

    @property
    def coef_(self) -> FloatArray:  # type: ignore[override]
        """The coefficients, of shape (1, d), in favour of the last class."""
        line: FloatArray = self._kept("line")
        return line[None, :-1].copy()

    @property
    def intercept_(self) -> FloatArray:  # type: ignore[override]
        """The intercept, of shape (1,): the threshold is at zero."""
        line: FloatArray = self._kept("line")
        return line[-1:].copy()

    def _move_threshold(self, by: float) -> None:
        result: Any = self._result
        line = result.line.copy()
        line[-1] -= -by if self._catches_first else by
        self._result = replace(result, line=line)

    @classmethod
    def _restored_attributes(cls, state: ModelState) -> dict[str, Any]:
        attributes = super()._restored_attributes(state)
        del attributes["coef_"], attributes["intercept_"]  # the line has them
        return attributes

    def _keep_line(self, end: End, line: FloatArray, report: DirectReport, log: Progress) -> None:
        """Keep the end of a fit of a line in favour of the positive class."""
        line[-1] -= end.point.threshold
        fitted = end.result(line)
        fitted = fitted.sign_flipped() if self._catches_first else fitted
        self._keep(replace(fitted, report=report, metric=self.metric))
        log.report_choice(self.report_)
