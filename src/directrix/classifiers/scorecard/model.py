"""CardModel: what a classifier whose model is a card does with rows, once it is fitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.classifiers.base import only_entry, raise_missing_columns
from directrix.classifiers.labels import positive_label
from directrix.classifiers.metric_classifier import MetricClassifier
from directrix.classifiers.scoring import ScoringFormula
from directrix.classifiers.state import ModelMetadata, ModelState, StateArrays, require
from directrix.exceptions import CardSizeError, StateError
from directrix.exceptions.files import BinnerFileError
from directrix.files.layout import is_count
from directrix.fitting.finalize import FittedLine
from directrix.fitting.fit_rows import Fitted
from directrix.fitting.training_rows import TRAINING_ROWS
from directrix.models.card import Card, Cross
from directrix.models.gap import Gap
from directrix.models.operating_point import Calibration, OperatingPoint
from directrix.models.reasons import Reasons, card_for_label, find_reasons
from directrix.models.report import CardSizes, DirectReport, SizeResult
from directrix.models.risk_bands import HeldOutPoints
from directrix.rows.rows import in_memory
from directrix.tables import Binner
from directrix.tables.table import has_names

# ── Columns that tell the label by themselves, and so may hold what was known only afterwards ─────

#: Share of the rarer class that the bins of a column may call wrong.
_WRONG = 0.001
#: Least number of rows for each bin in use: fewer tell their labels by chance.
_ROWS_PER_BIN = 20


def columns_that_tell(card: Card) -> list[str]:
    """Return the columns whose bins alone call nearly every training row right.

    A card without the counts of its training rows gives none.
    """
    names = []
    for bins, counts in zip(card.bins, card.counts, strict=bool(card.counts)):
        rows = counts.sum(axis=0)
        rarer, used = counts.sum(axis=1).min(), (rows > 0).sum()
        enough = rows.sum() >= _ROWS_PER_BIN * used
        if enough and counts.min(axis=0).sum() <= _WRONG * rarer:
            names.append(bins.name)
    return names


def _with_held_out(card: Card, fitted: FittedLine) -> Card:
    """Return a card that knows the held-out rows of its fit by their points."""
    held_out, point = fitted.held_out, fitted.operating_point
    # Rows without folds have trained the card, unless they were set apart for a guarantee.
    seen = held_out is None or (held_out.rows == TRAINING_ROWS and point.guarantee is None)
    if held_out is None or seen:
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


# ── The cards of a fitted classifier as arrays and facts of a model state, and back ───────────────


def cards_to_arrays(cards: Sequence[Card]) -> dict[str, AnyArray]:
    """Return points and counts of all cells one after another, and how crosses merge cells."""
    points = [block.ravel() for card in cards for block in card.blocks]
    merged = [part for card in cards for cross in card.crosses for part in cross.merged]
    return {
        "intercept": np.array([card.intercept for card in cards]),
        "points": np.concatenate(points),
        "merged": np.concatenate([np.empty(0, dtype=np.int64), *merged]),
        "cutoff": np.array([card.cutoff for card in cards]),
        "counts": np.concatenate([part.ravel() for card in cards for part in card.counts]),
        **_held_out_arrays([card.held_out for card in cards]),
    }


def _held_out_arrays(held_out: Sequence[HeldOutPoints | None]) -> dict[str, AnyArray]:
    """Return the held-out rows of all cards by their points, if all cards know them."""
    known = [points for points in held_out if points is not None]
    if len(known) < len(held_out):
        return {}
    sizes = [[len(points.points), points.effective, points.slope] for points in known]
    return {
        "held_out": np.concatenate([points.table for points in known]),
        "held_out_sizes": np.array(sizes, dtype=np.float64),
    }


def _restored_held_out(arrays: StateArrays, n_cards: int) -> list[HeldOutPoints | None]:
    """Return the held-out rows of each card; files may have none."""
    if "held_out" not in arrays:
        return [None] * n_cards
    table = arrays.take("held_out", (None, 4), "float64")
    sizes = arrays.take("held_out_sizes", (n_cards, 3), "float64")
    lengths = sizes[:, 0]
    fits = (lengths >= 1).all() and (lengths % 1 == 0).all() and lengths.sum() == len(table)
    fits = fits and (sizes > 0).all()
    require(bool(fits), "its held-out rows are not those of its cards")
    ends = np.cumsum(lengths).astype(np.int64)
    made: list[HeldOutPoints | None] = []
    for part, numbers in zip(np.split(table, ends[:-1]), sizes[:, 1:].tolist(), strict=True):
        points, negatives, positives, probability = part.T.copy()
        valid = (np.diff(points) > 0).all() and (part[:, 1:] >= 0).all()
        valid = valid and (probability <= 1).all() and (negatives + positives > 0).all()
        require(bool(valid), "its held-out rows are not weights by points")
        made.append(HeldOutPoints(points, negatives, positives, probability, *numbers))
    return made


def cards_to_facts(cards: Sequence[Card], binner: Any) -> ModelMetadata:
    """Return the bins as JSON text, the columns of every cross, and the side of the last class."""
    crosses = [[[*cross.columns, *cross.points.shape] for cross in card.crosses] for card in cards]
    rising = [card.higher_is_last for card in cards]
    return ModelMetadata(binner=binner.to_json(), crosses=crosses, higher_is_positive=rising)


def restored_cards(state: ModelState) -> dict[str, Any]:
    """Return ``cards_`` and ``binner_`` of a state, after checking it."""
    state.facts.require_names("binner", "crosses", "higher_is_positive")
    binner = _restored_binner(state)
    sizes = [bins.n_cells for bins in binner.bins_]
    arrays = StateArrays(state.arrays)
    intercepts = arrays.take("intercept", (state.n_lines,), "float64")
    points = _Reader(arrays.take("points", (None,), "float64"), "points")
    merged = _Reader(arrays.take("merged", (None,), "int64"), "merged cells")
    cutoffs = arrays.take("cutoff", (state.n_lines,), "float64")
    counts = _Reader(arrays.take("counts", (None,), "float64"), "counts")
    held_out = _restored_held_out(arrays, state.n_lines)
    arrays.require_empty()
    listed = state.facts["crosses"]
    complete = isinstance(listed, list) and len(listed) == state.n_lines
    require(complete, "it does not list the crosses of each card")
    rising = state.facts["higher_is_positive"]
    complete = isinstance(rising, list) and len(rising) == state.n_lines
    known = complete and all(isinstance(side, bool) for side in rising)
    require(known, "it does not say which side of each cutoff is positive")
    positive = positive_label(state.params.get("positive"), state.classes)
    is_last = positive is None or positive == state.classes.tolist()[-1]
    labels = state.classes.tolist() if positive is None else [positive]
    cards = []
    for k, crosses in enumerate(listed):
        columns = tuple(points.take(size) for size in sizes)
        require(isinstance(crosses, list), "it does not list the crosses of each card")
        of_card = tuple(_cross(cross, sizes, points, merged) for cross in crosses)
        card = Card(
            float(intercepts[k]),
            columns,
            of_card,
            tuple(binner.bins_),
            float(cutoffs[k]),
            rising[k] == is_last,
            tuple(counts.take(2 * size).reshape(2, size) for size in sizes),
            held_out=held_out[k],
        )
        require(all((part >= 0).all() for part in card.counts), "it has negative counts")
        cards.append(card.with_positive(labels[k], is_last=is_last))
    points.require_empty()
    counts.require_empty()
    merged.require_empty()
    return {"cards_": tuple(cards), "binner_": binner}


def _restored_binner(state: ModelState) -> Binner:
    text = state.facts["binner"]
    require(isinstance(text, str), "its bins are not a text")
    try:
        binner = Binner.from_json(text)
    except BinnerFileError as error:
        msg = f"its bins cannot be read: {error.reason}"
        raise StateError(msg) from None
    require(len(binner.bins_) == state.n_features, "it does not have bins for each column")
    names = getattr(binner, "feature_names_in_", None)
    same = names is None or (
        state.feature_names is not None and tuple(names) == state.feature_names
    )
    require(same, "its bins are of other columns")
    return binner


def _cross(listed: Any, sizes: list[int], points: _Reader, merged: _Reader) -> Cross:
    valid = isinstance(listed, list) and len(listed) == 4 and all(map(is_count, listed))
    require(valid and max(listed[:2]) < len(sizes), "a cross is not one of two columns")
    first, second, rows, columns = listed
    require(rows > 0 and columns > 0, "a cross has no cells")
    maps = []
    for column, length in ((first, rows), (second, columns)):
        part = merged.take(sizes[column])
        inside = part.size == 0 or (part.min() >= 0 and part.max() < length)
        require(inside, "a cross merges cells into some that it does not have")
        maps.append(part)
    block = points.take(rows * columns).reshape(rows, columns)
    return Cross((first, second), (maps[0], maps[1]), block)


class _Reader:
    """Takes consecutive parts of an array.

    ``noun`` is what they are called in messages.
    """

    def __init__(self, values: AnyArray, noun: str) -> None:
        self._values, self._noun, self._start = values, noun, 0

    def take(self, length: int) -> AnyArray:
        """Return the next values."""
        start, self._start = self._start, self._start + length
        require(self._start <= len(self._values), f"it has too few {self._noun}")
        return self._values[start : self._start].copy()

    def require_empty(self) -> None:
        """Check that all values have been taken."""
        require(self._start == len(self._values), f"it has too many {self._noun}")


def _lines_of(sizes: Sequence[Fitted]) -> list[int]:
    """Return the lines of the sizes of a card, the full card last.

    The full card has points as scores; on the scale of the others it may have more lines.
    """
    lines = [fit.card.n_lines if fit.card else 0 for fit in sizes]
    if len(sizes) == 1:
        return lines
    known = [fit.report.size.full_lines for fit in sizes if fit.report.size]
    return [*lines[:-1], max([*lines[-1:], *known])] if lines else []


# ── CardModel: what a classifier whose model is a card does with rows, once it is fitted ──────────


class CardModel(MetricClassifier):
    """Base class for classifiers that bin the columns of a table and add up points.

    Attributes
    ----------
    cards_ : tuple of Card
    binner_ : Binner
    """

    cards_: tuple[Card, ...]
    binner_: Any
    _sizes: tuple[tuple[Fitted, ...], ...]

    @property
    def card_(self) -> Card:
        """The card of a classifier of two classes."""
        card: Card = only_entry(self, "card")
        return card

    def decision_function(self, X: Any) -> FloatArray:
        """Return the score of each row: how far its points are on the positive side of the cutoff.

        Rows with a score above zero are predicted to be of the last class. With more than two
        classes: the log-odds of each class against the others.

        Parameters
        ----------
        X : data frame, Arrow table, array or list of rows, of shape (n, d)

        Returns
        -------
        array of shape (n,), or (n, k) for k > 2 classes
        """
        cells = self._cells(X)
        scores = [card.scores(cells) for card in self.cards_]
        return scores[0] if len(self.classes_) == 2 else self._log_odds(scores)

    def export_state(self) -> ModelState:
        """Return all that scores rows; of ``binner``, the fitted bins and not the parameter."""
        state = super().export_state()
        return replace(state, params=state.params | {"binner": "auto"})

    def scoring_formula(self) -> ScoringFormula:
        """Return what this classifier computes for a row, as numbers that an export writes."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        formula = ScoringFormula(
            classes=tuple(self.classes_.tolist()),
            features=None if names is None else tuple(map(str, names)),
            cards=self.cards_,
            positive=self.positive_,
        )
        return self._with_responses(formula)

    def predict_points(self, X: Any) -> FloatArray:
        """Return the points of each row: what one gets by adding up the card by hand.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        array of shape (n,), or (n, k) for k > 2 classes
        """
        cells = self._cells(X)
        points = [card.points(cells) for card in self.cards_]
        return points[0] if len(self.classes_) == 2 else np.column_stack(points)

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
            Another class that reasons speak for; needed for more than two classes.
        """
        cells = self._cells(X)
        classes = self.classes_.tolist()
        card, toward = card_for_label(self.cards_, classes, label, self.positive_)
        return find_reasons(card, self.binner_, cells, k, reference, texts, toward=toward)

    def sizes(self, label: Any = None) -> CardSizes:
        """Return the sizes that the card is known in, with what to expect of each on new rows.

        Held-out rows are scored by compressed cards of the folds, so that expected values,
        intervals and gaps are those of the card of each size. A card that was read from a file has
        no other sizes: `CardSizeError`.

        Parameters
        ----------
        label : optional
            Class of the card; needed for more than two classes.
        """
        check_is_fitted(self)
        classes = self.classes_.tolist()
        if len(classes) > 2 and label not in classes:
            shown = ", ".join(map(repr, classes))
            msg = f"label must be the class of a card, one of {shown}, not {label!r}"
            raise ValueError(msg)
        index = 0 if len(classes) == 2 else classes.index(label)
        known = self._known_sizes[index]
        if not known:
            raise CardSizeError(None, ())
        return CardSizes(
            SizeResult(
                n_lines,
                sum(bool(np.ptp(points)) for points in fit.card.columns),
                len(fit.card.crosses),
                fit.report.expected,
                None if fit.report.size is None else fit.report.size.gap,
                fit.report.size == self.reports_[index].size,
            )
            for fit, n_lines in zip(known, _lines_of(known), strict=True)
            if fit.card is not None
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
        known = self._known_sizes
        if not all(len(sizes) > 1 for sizes in known):
            raise CardSizeError(max_lines, ())
        chosen = []
        for sizes in known:
            lines = _lines_of(sizes)
            fitting = [k for k, n in enumerate(lines) if max_lines is None or n <= max_lines]
            if not fitting:
                raise CardSizeError(max_lines, tuple(lines))
            chosen.append(sizes[fitting[-1]])
        made = copy(self)
        made.set_params(max_lines=max_lines)
        made._weighted_by = self.operating_points_[0].weighted_by  # noqa: SLF001 - a copy of itself
        made._set_models(chosen)  # noqa: SLF001 - likewise
        made.reports_ = made._final_reports(fit.report for fit in chosen)  # noqa: SLF001 - likewise
        made._sizes = known  # noqa: SLF001 - likewise
        return made

    @property
    def _known_sizes(self) -> tuple[tuple[Fitted, ...], ...]:
        """The fits of each card, the smallest first; none if it was read from a file."""
        return getattr(self, "_sizes", ((),) * len(self.cards_))

    def _set_cards(self, cards: Sequence[Card], fitted: Sequence[FittedLine]) -> None:
        """Store cards of points in favour of the positive class, one for each score."""
        is_last = not self._catches_first
        self.cards_ = tuple(
            card.with_positive(label, is_last=is_last)
            for card, label in zip(cards, self._positives, strict=True)
        )
        self._set_points(fitted)
        self.calibrations_ = tuple(
            entry.calibration if is_last else entry.calibration.sign_flipped() for entry in fitted
        )
        self.cards_ = tuple(map(_with_held_out, self.cards_, fitted))

    def _final_reports(self, reports: Iterable[DirectReport]) -> tuple[DirectReport, ...]:
        """Return reports that also name the columns that tell the label by themselves."""
        cards = zip(super()._final_reports(reports), self.cards_, strict=True)
        return tuple(
            replace(report, suspects=tuple(columns_that_tell(card))) for report, card in cards
        )

    @property
    def _baseline_gaps(self) -> list[Gap | None]:
        return [report.unbinned_baseline for report in self.reports_]

    @property
    def _columns_without_points(self) -> list[Any]:
        """Names of the columns of the fit that no card uses."""
        used = {k for card in self.cards_ for k, points in enumerate(card.columns) if points.any()}
        used |= {k for card in self.cards_ for cross in card.crosses for k in cross.columns}
        names = getattr(self, "feature_names_in_", ())
        return [name for k, name in enumerate(names) if k not in used]

    @property
    def _is_behind(self) -> bool:
        # A card is cut to a number of lines because it has to be short, which logistic regression
        # with all columns is not; the report has the comparison.
        is_cut = isinstance(self.max_lines, int | np.integer)
        return not is_cut and super()._is_behind

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
        self.cards_ = (replace(card, cutoff=cutoff),)

    def with_threshold(self, point: OperatingPoint, calibration: Calibration | None = None) -> Self:
        """Return a copy of this model with another threshold; for two classes.

        With another calibration its cards have no bands: what held-out rows showed was predicted
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
        if calibration is not None:
            changed.cards_ = tuple(replace(card, held_out=None) for card in changed.cards_)
        return changed

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
        cells: IntArray = self.binner_.cells(X)
        return cells

    def _state_arrays(self) -> dict[str, Any]:
        return cards_to_arrays(self.cards_)

    def _state_facts(self) -> ModelMetadata:
        return cards_to_facts(self.cards_, self.binner_)

    @classmethod
    def _restored_scoring(cls, state: ModelState) -> dict[str, Any]:
        return restored_cards(state)

    @classmethod
    def _restored_facts(cls, facts: ModelMetadata) -> dict[str, Any]:  # noqa: ARG003 - read with the arrays
        return {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
