"""ScorecardClassifier: points for the bins of a raw table, by one penalised likelihood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.card import Card, IntegerPoints, PointsToDoubleOdds, scale_of
from directrix.cards.judged import CardSettings, FittedCard, JudgedCard
from directrix.cards.reasons import Reasons, find_reasons
from directrix.cards.risk_bands import HeldOutPoints
from directrix.estimators.base import raise_missing_columns, two_classes
from directrix.estimators.card_state import card_to_arrays, card_to_facts, restored_card
from directrix.estimators.given_card import typed_card_on_rows
from directrix.estimators.scoring import ScoringFormula
from directrix.estimators.state import ModelMetadata, ModelState
from directrix.estimators.threshold import ThresholdClassifier
from directrix.estimators.training_table import BinnedTable, TrainingTable
from directrix.exceptions import CardSizeError
from directrix.fit.baseline import warn_about_baseline
from directrix.fit.compare import MOST_ROWS
from directrix.fit.directions import directions_of
from directrix.fit.finish import FitResult
from directrix.fit.guarantee import Guarantee, Limits
from directrix.fit.operating_point import Calibration, OperatingPoint
from directrix.fit.progress import Progress
from directrix.fit.report import CardSizes, SizeResult
from directrix.metrics.base import Metric
from directrix.metrics.table import resolve
from directrix.rows.classes import ending_with
from directrix.rows.frames import in_memory
from directrix.tables.bins import Bins
from directrix.tables.profile import TableProfile
from directrix.tables.table import has_names

if TYPE_CHECKING:  # only fit_summary needs counts
    from directrix.moments import BinCounts


def _with_held_out(card: Card, fitted: FitResult) -> Card:
    """Return a card that knows the held-out rows of its fit by their points."""
    held_out = fitted.held_out
    if held_out is None or held_out.seen:
        return card
    scores, weights, effective = held_out.decisions
    points = HeldOutPoints.of_scores(
        scores,
        weights,
        fitted.calibration,
        cutoff=card.cutoff,
        rises=card.higher_is_positive,
        whole=card.is_whole,
        effective=effective,
    )
    return replace(card, held_out=points)


def _lines_of(sizes: Sequence[FittedCard]) -> list[int]:
    return [fit.card.n_lines for fit in sizes]


def _by_lines(fit: FittedCard) -> tuple[bool, int]:
    """Return the order of the sizes of a card: the full card is last."""
    return fit.report.size is None, fit.card.n_lines


class ScorecardClassifier(ThresholdClassifier):
    r"""A scorecard from a table as it is, judged by the metric that is reported.

    .. math:: s(x) = b + \sum_j p_j[\mathrm{bin}_j(x_j)] +
              \sum_{(j, k)} p_{jk}[\mathrm{bin}_j(x_j), \mathrm{bin}_k(x_k)]

    Every column (numbers, texts, booleans, dates, with missing values) is cut into bins, a few
    pairs of columns are crossed, and a penalised logistic likelihood gives points to each bin, with
    a variance for each column. The card is the same for every metric, which sets the threshold, the
    rates and the report. Everything that looks at labels is chosen on held-out rows.

    Fit it by `fit`, by `fit_source` to rows that are elsewhere, or by `fit_summary` to counts. Read
    ``card_``, ``report_`` and ``operating_point_``; use `predict`, `predict_proba`,
    `predict_points` and `reasons`; change it by `compact`, `with_threshold` and a
    `directrix.editing.CardEditor`.

    Parameters
    ----------
    metric : str or Metric
        Metric to report and to set the threshold by: "auc", ``RecallAtFPR(0.01)``,
        ``Cost(fp=1, fn=20)`` and so on; see `directrix.metrics`.
    positive : label, optional
        Label to catch, of two: the metric counts it as positive. By default the last of the sorted
        labels, which scores above zero predict in any case.
    binner : "auto" or Binner
        How columns are cut; it is cloned and fitted. To keep a fitted one, give
        ``sklearn.frozen.FrozenEstimator(binner)``.
    cv : int, splitter or splits
        Folds of held-out rows, as in `DirectClassifier`.
    max_lines : int, "auto" or None
        Largest number of lines of the printed card: one for each bin with points of its own, or
        cell of a cross. "auto" takes the smallest card of at most 100 lines whose AUC on held-out
        rows is at most .001 behind that of the full card, and no lines at all if that one is not
        better than chance; None keeps the full card. `sizes` shows other sizes, and `compact`
        returns them.
    max_crosses : int, optional
        Largest number of pairs of columns with points of their own; 0 for an additive card. By
        default all that are beyond chance, if they help on held-out rows.
    max_columns : int or "auto", optional
        Largest number of columns with points. "auto" drops the columns that held-out rows do not
        miss. By default all columns have points; of a wide table, only the most informative are
        tried.
    points : "integer", "pdo", "log-odds", IntegerPoints or PointsToDoubleOdds
        What a point is worth. "integer": whole numbers from 0 to 100. "pdo": so many points double
        the odds, as banks use. "log-odds": the log-odds as they are, with all their decimals.
    monotone : dict, optional
        Directions that points of the positive class keep: from names or positions of columns to
        "increasing", "decreasing" or, for texts, a list of levels whose points may not fall in this
        order. Such columns are in no cross; ``report_.directions`` says what each direction costs.
    guarantee, limits, class_weight : as in `DirectClassifier`
    verbose : int
        1 prints a line for each stage of a fit, 0 nothing.
    warn_baseline : bool
        Whether a fit warns by a `ShortCardWarning` if the full card is clearly better, else as in
        `DirectClassifier` if the card is no better than logistic regression without bins. With a
        number as ``max_lines`` it must be clearly worse: such a card is made to be short.

    Attributes
    ----------
    card_ : Card
        Points of each bin and cross.
    binner_ : Binner
        The bins.
    classes_ : array of shape (2,)
    report_ : DirectReport
        How the card was made, what to expect of it on new rows, and the gaps to the full card and
        to logistic regression without bins.
    operating_point_ : OperatingPoint
        The threshold, and the rates to expect there.
    calibration_ : Calibration
        From scores to probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import ScorecardClassifier
    >>> rng = np.random.default_rng(0)
    >>> age, home = rng.integers(18, 80, 2000).astype(float), rng.choice(["own", "rent"], 2000)
    >>> risk = np.abs(age - 45) / 6 + (home == "rent") + rng.normal(size=2000)
    >>> age[::50] = np.nan
    >>> table = np.column_stack([age.astype(object), home.astype(object)])
    >>> card = ScorecardClassifier("recall@fpr=0.05").fit(table, risk > 4)
    >>> card.predict([[75, "rent"], [45, "own"], [None, "never seen"]])
    array([ True, False, False])
    """

    card_: Card
    binner_: Any
    #: The fits of all known sizes, the smallest first; none if the card was read from a file.
    _sizes: tuple[FittedCard, ...] = ()
    #: Whether a fit keeps what an editor begins with.
    _editable = False

    def __init__(  # noqa: PLR0913 - those of DirectClassifier, and three of cards
        self,
        metric: str | Metric = "auc",
        *,
        positive: Any = None,
        binner: Any = "auto",
        cv: Any = 5,
        max_lines: int | str | None = "auto",
        max_crosses: int | None = None,
        max_columns: int | str | None = None,
        points: str | PointsToDoubleOdds | IntegerPoints = "integer",
        monotone: Mapping[Any, Any] | None = None,
        guarantee: float | None = None,
        limits: Limits | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        warn_baseline: bool = True,
        verbose: int = 0,
    ) -> None:
        self.metric = metric
        self.positive = positive
        self.binner = binner
        self.cv = cv
        self.max_lines = max_lines
        self.max_crosses = max_crosses
        self.max_columns = max_columns
        self.points = points
        self.monotone = monotone
        self.guarantee = guarantee
        self.limits = limits
        self.class_weight = class_weight
        self.warn_baseline = warn_baseline
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **columns: Any
    ) -> Self:
        """Fit to rows in memory.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix or list of rows, of shape (n, d)
            Numbers, texts, booleans, dates and missing values.
        y, sample_weight, groups, **columns : as in `DirectClassifier.fit`
        """
        rows = X, y, sample_weight, groups
        self._fit_metrics([resolve(self.metric)], rows, columns)
        return self

    def fit_each(
        self,
        metrics: Sequence[str | Metric],
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
    ) -> list[Self]:
        """Return a classifier for each of several metrics; they share one card.

        Parameters
        ----------
        metrics : sequence of str or Metric
        X, y, sample_weight, groups : as in `fit`
        """
        return self._fit_metrics(list(map(resolve, metrics)), (X, y, sample_weight, groups))

    def fit_source(
        self,
        source: Any,
        *,
        target: Any,
        features: Sequence[Any] | None = None,
        weight: Any = None,
        fold: Any = None,
        segment: Any = None,
        engine: str = "auto",
        progress: bool = True,
    ) -> Self:
        """Fit to rows wherever they are, in two passes over them.

        The first pass samples rows, from which come bins and the card in all its sizes. The second
        counts their held-out scores on all rows, for the size, the threshold and the rates.

        Parameters
        ----------
        source : whatever `summarize` reads
        target : str, int or array
        features : sequence, optional
            Columns of the card; by default all that have no other role.
        weight : str, int or array, optional
            Sample weights.
        fold : HashFolds, optional
            How rows are held out; by default each row independently, in as many folds as `cv`.
        segment : str, int or array, optional
            Segment of each row, as in `fit`; no feature unless `features` names it.
        engine : str
        progress : bool
            As in `summarize`.
        """
        from directrix.cards.in_passes import SourceCardFit
        from directrix.fit.fit_source import SourceFit

        self._check_parameters()
        log = Progress(self)
        roles = {"target": target, "features": features, "weight": weight, "fold": fold}
        roles |= {"segment": segment}
        reading = {"engine": engine, "progress": progress}
        fit = SourceFit.asked(self, source, roles, reading, raw=True)
        how = self._settings, self.binner, self._two_labels, self._check_table
        made = SourceCardFit(fit, *how).run()
        self._set_classes(made.classes)
        self._set_binner(made.binner)
        self._seen = made.seen
        self._set_model(made.fit)
        log.report_choice(self.report_)
        warn_about_baseline([self])
        return self

    def fit_summary(self, counts: BinCounts) -> Self:
        """Fit to counts of bins alone: an additive card in closed form, from no row.

        The ridge and the trade-off are chosen by the risk of normal scores on folds of the counts;
        without folds the ridge is a cautious one. The rates of the operating point are predicted,
        without what the card gains by fitting errors of its counts, and there is no report.

        Parameters
        ----------
        counts : BinCounts
            Its bins are those of the card.
        """
        metric = resolve(self.metric)
        self._check_parameters()
        if Guarantee.asked(metric, self.limits, self.guarantee) is not None:
            msg = "guarantee= needs rows to set a threshold, and counts have none: leave it out"
            raise ValueError(msg)
        if self.max_columns is not None:
            msg = "max_columns= needs rows to choose by: use counts.rebin(drop=[...]), or fit"
            raise ValueError(msg)
        progress = Progress(self)
        progress.stage(f"{counts.count:,} rows, {counts.n_cells:,} bins; {metric.label}")
        labels = counts.classes
        present = [label for label in labels.tolist() if counts.class_moments(label).weight > 0]
        self._set_classes(two_classes(np.array(present)))
        self._set_binner(counts.binner)
        directions, scale = directions_of(self.monotone, counts.bins), scale_of(self.points)
        from directrix.cards.counted import card_of_counts

        made = card_of_counts(metric, counts, self.positive_, directions, scale, self.max_lines)
        self._set_card(made.card, made.fitted)
        return self

    @classmethod
    def from_card(
        cls,
        card: Card,
        X: Any,
        y: Any,
        *,
        metric: str | Metric = "error",
        positive: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Return a classifier of an existing card: its points and cutoff are kept as they are.

        Rows that had no part in the card say what to expect of it: rates at its cutoff with
        intervals, and probabilities. Then it is a classifier like any other, to be exported, saved,
        watched, and challenged (`directrix.monitoring.challenge`).

        Parameters
        ----------
        card : Card
            Most often from `Card.from_points`.
        X, y, sample_weight : as in `fit`
            Labelled rows; other columns are ignored.
        metric : str or Metric
            What the card is judged by.
        positive : label, optional
            As in ``ScorecardClassifier``.
        """
        made = cls(metric, positive=positive, max_lines=None, max_crosses=0)
        return typed_card_on_rows(made, card, (X, y, sample_weight))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row: how far its points are on the positive side of the cutoff.

        Rows with a score above zero are predicted to be of the last class.

        Parameters
        ----------
        X : data frame, Arrow table, array or list of rows, of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        cells = self._cells(X)
        return self.card_.scores(cells)

    def export_state(self) -> ModelState:
        """Return all that scores rows; of ``binner``, the fitted bins and not the parameter."""
        state = super().export_state()
        return replace(state, params=state.params | {"binner": "auto"})

    def scoring_formula(self) -> ScoringFormula:
        """Return what this classifier computes for a row, as numbers that an export writes."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        return ScoringFormula(
            classes=tuple(self.classes_.tolist()),
            features=None if names is None else tuple(map(str, names)),
            card=self.card_,
            response=self._response,
            positive=self.positive_,
        )

    def predict_points(self, X: Any) -> FloatArray:
        """Return the points of each row: what one gets by adding up the card by hand.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        array of shape (n,)
        """
        cells = self._cells(X)
        return self.card_.points(cells)

    def reasons(
        self,
        X: Any,
        k: int = 4,
        reference: str | Mapping[Any, Any] = "best",
        texts: Mapping[Any, str] | None = None,
        *,
        label: Any = None,
    ) -> Reasons:
        """Return the columns that cost each row most points: they speak for the positive class.

        Parameters
        ----------
        X : as in `fit`
        k : int
            Largest number of reasons for a row.
        reference : "best", "average" or dict
            Bin that a column is compared with; crosses count, all other columns stay as they are.
            "best": the best for the row, of those with training rows. "average": the mean over the
            training rows. A dict gives a bin or value for each column that may be a reason.
        texts : dict, optional
            Texts to show, by column or by pairs of column and bin. By default "column: bin".
        label : optional
            The class that reasons speak for; by default the positive one.
        """
        cells = self._cells(X)
        classes = self.classes_.tolist()
        label = self.positive_ if label is None else label
        if label not in classes:
            shown = ", ".join(map(repr, classes))
            msg = f"label must be the class that reasons speak for, one of {shown}, not {label!r}"
            raise ValueError(msg)
        toward = label == self.positive_
        return find_reasons(self.card_, self.binner_, cells, k, reference, texts, toward=toward)

    def sizes(self) -> CardSizes:
        """Return the sizes that the card is known in, with what to expect of each on new rows.

        Held-out rows are scored by compressed cards of the folds, so that expected values,
        intervals and gaps are those of the card of each size. A card that was read from a file has
        no other sizes: `CardSizeError`.
        """
        check_is_fitted(self)
        known = self._sizes
        if not known:
            raise CardSizeError(None, ())
        return CardSizes(
            SizeResult(
                n_lines,
                sum(bool(np.ptp(points)) for points in fit.card.columns),
                len(fit.card.crosses),
                fit.fitted.operating_point.estimate,
                None if fit.report.size is None else fit.report.size.gap,
                fit.report.size == self.report_.size,
            )
            for fit, n_lines in zip(known, _lines_of(known), strict=True)
        )

    def compact(self, max_lines: int | None) -> Self:
        """Return a classifier with the largest known card of at most so many lines.

        Nothing is fitted again: see `sizes` for the cards that are known. Its operating point,
        probabilities and report are those of the smaller card.

        Parameters
        ----------
        max_lines : int or None
            None for the full card.
        """
        check_is_fitted(self)
        known = self._sizes
        if len(known) < 2:
            raise CardSizeError(max_lines, ())
        lines = _lines_of(known)
        fitting = [k for k, n in enumerate(lines) if max_lines is None or n <= max_lines]
        if not fitting:
            raise CardSizeError(max_lines, tuple(lines))
        chosen = known[fitting[-1]]
        made = copy(self)
        made.set_params(max_lines=max_lines)
        chosen = replace(chosen, fitted=replace(chosen.fitted, cautions=()))
        made._set_model(chosen)  # noqa: SLF001 - likewise
        made._sizes = known  # noqa: SLF001 - likewise
        return made

    def with_threshold(self, point: OperatingPoint, calibration: Calibration | None = None) -> Self:
        """Return a copy of this model with another threshold.

        With another calibration its card has no bands: what held-out rows showed was predicted
        by the old one.

        Parameters
        ----------
        point : OperatingPoint
            From `operating_points`, or from ``retune`` of `directrix.monitoring`.
        calibration : Calibration, optional
            Of the new scores, in favour of the last class. By default probabilities are those of
            the old scores at the threshold, with the old slopes on either side.
        """
        changed = super().with_threshold(point, calibration)
        changed._sizes = ()  # noqa: SLF001 - of a copy: other sizes have the threshold of the fit
        if calibration is not None:
            changed.card_ = replace(changed.card_, held_out=None)
        return changed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _set_binner(self, binner: Any) -> None:
        """Store the binner, and the number and names of its columns."""
        self.binner_ = binner
        self.n_features_in_ = binner.n_features_in_
        if hasattr(binner, "feature_names_in_"):
            self.feature_names_in_ = binner.feature_names_in_

    def _two_labels(self, labels: AnyArray) -> AnyArray:
        """Return both labels, the positive one last; refuse any other number of labels."""
        return ending_with(self.positive, two_classes(labels))

    def _fit_metrics(
        self,
        metrics: list[Metric],
        rows: tuple[Any, Any, Any, Any],
        columns: Mapping[str, Any] | None = None,
    ) -> list[Self]:
        """Fit one classifier per metric to the same rows, labels, weights and groups.

        With ``columns`` there is one metric, and this classifier is fitted; else copies of it.
        """
        progress = Progress(self)
        self._check_parameters()
        asked = self.limits, self.guarantee, rows[3]
        guarantees = [Guarantee.asked(metric, *asked) for metric in metrics]
        table = self._binned(TrainingTable.of(self, *rows))
        weighted = table.table.rows.weighted(self.class_weight, self._labels)
        models = [self]
        if columns is None:
            models = [copy(self).set_params(metric=metric) for metric in metrics]
        priced, trained = self._priced(metrics, weighted, rows[:3], columns or {})
        n_folds = self._begin(priced, ", ".join(metric.label for metric in trained), progress)
        seen, apart = priced, None
        if guarantees[0] is not None:
            seen, apart = guarantees[0].set_apart(priced)
            apart = apart._replace(X=table.cells(apart.X))
        raw = seen.in_folds(n_folds, MOST_ROWS)
        settings = table.in_order(self._settings(self.binner_.bins_))
        judged = JudgedCard.of(raw._replace(X=table.cells(raw.X)), table.kinds, settings)
        held_out = judged.on_rows(apart)
        for model, metric, guarantee in zip(models, trained, guarantees, strict=True):
            made = judged.fitted(metric, guarantee, held_out)
            if self._editable:
                made = replace(made, start=judged.edit_start(raw.X, made.report.size))
            model._set_model(table.completed(made))  # noqa: SLF001 - a copy of this very classifier
            progress.report_choice(model.report_)
        warn_about_baseline(models)
        return models

    def _binned(self, table: TrainingTable) -> BinnedTable:
        """Check a table and cut it into bins; set classes, bins and columns."""
        self._set_classes(table.classes)
        columns = [table.table.columns[k] for k in table.order]
        self._check_table(columns, table.rows.X, table.rows.positive, table.rows.keys)
        binned = BinnedTable.of(table, self.binner)
        self.binner_ = binned.binner
        if hasattr(self.binner_, "feature_names_in_"):
            self._set_binner(self.binner_)  # a frozen one may have another order
        kept = self.binner_.table_of(table.restored(table.rows.X))
        self._seen = TableProfile.of_bins(self.binner_, kept)
        return binned

    def _check_parameters(self) -> None:
        """Refuse parameters that are wrong or do not go together."""
        if isinstance(self.binner, Mapping) or (
            isinstance(self.binner, str) and self.binner != "auto"
        ):
            msg = f"binner must be 'auto' or a Binner, not {self.binner!r}"
            if isinstance(self.binner, Mapping):
                msg += ": give Binner(**binner)"
            raise ValueError(msg)
        for name, least in (("max_crosses", 0), ("max_columns", 1), ("max_lines", 2)):
            value = getattr(self, name)
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            fits = value is None or (whole and value >= least)
            may_be_auto = name != "max_crosses"
            if not fits and not (may_be_auto and isinstance(value, str) and value == "auto"):
                allowed = "'auto' or None" if may_be_auto else "or None"
                msg = f"{name} must be a whole number, {least} or more, {allowed}, not {value!r}"
                raise ValueError(msg)
        scale_of(self.points)

    def _settings(self, bins: Sequence[Bins]) -> CardSettings:
        """Return how a card of these bins is made."""
        return CardSettings(
            self.max_lines,
            self.max_crosses,
            directions_of(self.monotone, bins),
            self.max_columns,
            scale_of(self.points),
        )

    def _set_model(self, fit: FittedCard) -> None:
        self._sizes = tuple(sorted((*fit.sizes, replace(fit, sizes=())), key=_by_lines))
        remedy = "Ask max_lines for more: the full card is better."
        fitted = replace(fit.fitted, report=fit.report)
        self._set_card(fit.card, fitted, remedy if fit.report.too_short else "")

    def _set_card(self, card: Card, fitted: FitResult, remedy: str = "") -> None:
        """Store a card of points in favour of the positive class; see `_keep`."""
        is_last, calibration = not self._catches_first, fitted.calibration
        self.card_ = _with_held_out(card.with_positive(self.positive_, is_last=is_last), fitted)
        calibration = calibration if is_last else calibration.sign_flipped()
        self._keep(replace(fitted, calibration=calibration), remedy=remedy)

    @property
    def _columns_without_points(self) -> list[Any]:
        """Names of the columns of the fit that the card does not use."""
        names = getattr(self, "feature_names_in_", ())
        return [name for k, name in enumerate(names) if not self._has_effect[k]]

    @property
    def _has_effect(self) -> AnyArray:
        crossed = {k for cross in self.card_.crosses for k in cross.columns}
        columns = enumerate(self.card_.columns)
        return np.array([k in crossed or points.any() for k, points in columns])

    @property
    def _score_rises(self) -> bool:
        return self.card_.higher_is_positive

    def _stated_threshold(self, threshold: float) -> float:
        if not self.card_.is_whole:
            return threshold
        return float(np.floor(threshold) + 0.5 if self._score_rises else np.ceil(threshold) - 0.5)

    def _move_threshold(self, by: float) -> None:
        card = self.card_
        cutoff = card.cutoff + (by if card.higher_is_positive else -by)
        self.card_ = replace(card, cutoff=cutoff)

    def _cells(self, X: Any) -> IntArray:
        """Return the cells of a table of the columns that the classifier was fitted to.

        Columns with names are matched by name, in any order; other columns are ignored.
        """
        check_is_fitted(self)
        X = in_memory(X)
        if hasattr(self, "feature_names_in_") and has_names(X):
            raise_missing_columns(self, X)
        elif not isinstance(X, Mapping) and len(getattr(X, "shape", (0, 0))) == 2:
            # A table refuses others in better words.
            validate_data(self, X, reset=False, skip_check_array=True)
        table = self.binner_.table_of(X)
        cells: IntArray = self.binner_.cells_of_table(table)
        self._warn_about_changes(table.values, table.columns.__getitem__, cells)
        return cells

    def _state_arrays(self) -> dict[str, Any]:
        return card_to_arrays(self.card_)

    def _state_facts(self) -> ModelMetadata:
        return card_to_facts(self.card_, self.binner_)

    @classmethod
    def _restored_scoring(cls, state: ModelState) -> dict[str, Any]:
        return restored_card(state)

    @classmethod
    def _restored_facts(cls, facts: ModelMetadata) -> dict[str, Any]:  # noqa: ARG003 - read with the arrays
        return {}
