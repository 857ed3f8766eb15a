"""CardModel: what a classifier whose model is a card does with rows, once it is fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.card import Card, Cross
from directrix.cards.judged import FittedCard
from directrix.cards.reasons import Reasons, find_reasons
from directrix.cards.risk_bands import HeldOutPoints
from directrix.estimators.base import raise_missing_columns
from directrix.estimators.scoring import ScoringFormula
from directrix.estimators.state import ModelMetadata, ModelState, StateArrays, require
from directrix.estimators.threshold_classifier import ThresholdClassifier
from directrix.exceptions import CardSizeError, StateError
from directrix.exceptions.files import BinnerFileError
from directrix.files.layout import is_count
from directrix.fit.finish import FitResult
from directrix.fit.operating_point import Calibration, OperatingPoint
from directrix.fit.report import CardSizes, SizeResult
from directrix.rows.classes import positive_label
from directrix.rows.frames import in_memory
from directrix.tables import Binner
from directrix.tables.table import has_names


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


# ── The card of a fitted classifier as arrays and facts of a model state, and back ───────────────


def card_to_arrays(card: Card) -> dict[str, AnyArray]:
    """Return points and counts of all cells one after another, and how crosses merge cells."""
    merged = [part for cross in card.crosses for part in cross.merged]
    arrays = {
        "intercept": np.array([card.intercept]),
        "points": np.concatenate([block.ravel() for block in card.blocks]),
        "merged": np.concatenate([np.empty(0, dtype=np.int64), *merged]),
        "cutoff": np.array([card.cutoff]),
        "counts": np.concatenate([part.ravel() for part in card.counts]),
    }
    held_out = card.held_out
    if held_out is not None:
        size = [len(held_out.points), held_out.effective, held_out.slope]
        arrays["held_out"] = held_out.table
        arrays["held_out_sizes"] = np.array(size, dtype=np.float64)
    return arrays


def _restored_held_out(arrays: StateArrays) -> HeldOutPoints | None:
    """Return the held-out rows of a card; files may have none."""
    if "held_out" not in arrays:
        return None
    table = arrays.take("held_out", (None, 4), "float64")
    sizes = arrays.take("held_out_sizes", (3,), "float64")
    fits = len(table) >= 1 and sizes[0] == len(table) and (sizes > 0).all()
    require(bool(fits), "its held-out rows are not those of its card")
    points, negatives, positives, probability = table.T.copy()
    valid = (np.diff(points) > 0).all() and (table[:, 1:] >= 0).all()
    valid = valid and (probability <= 1).all() and (negatives + positives > 0).all()
    require(bool(valid), "its held-out rows are not weights by points")
    return HeldOutPoints(points, negatives, positives, probability, *sizes[1:].tolist())


def card_to_facts(card: Card, binner: Any) -> ModelMetadata:
    """Return the bins as JSON text, the columns of every cross, and the side of the last class."""
    crosses = [[*cross.columns, *cross.points.shape] for cross in card.crosses]
    rising = card.higher_is_last
    return ModelMetadata(binner=binner.to_json(), crosses=crosses, higher_is_positive=rising)


def restored_card(state: ModelState) -> dict[str, Any]:
    """Return ``card_`` and ``binner_`` of a state, after checking it."""
    state.facts.require_names("binner", "crosses", "higher_is_positive")
    binner = _restored_binner(state)
    sizes = [bins.n_cells for bins in binner.bins_]
    arrays = StateArrays(state.arrays)
    intercept = arrays.take("intercept", (1,), "float64")
    points = _Reader(arrays.take("points", (None,), "float64"), "points")
    merged = _Reader(arrays.take("merged", (None,), "int64"), "merged cells")
    cutoff = arrays.take("cutoff", (1,), "float64")
    counts = _Reader(arrays.take("counts", (None,), "float64"), "counts")
    held_out = _restored_held_out(arrays)
    arrays.require_empty()
    listed, rising = state.facts["crosses"], state.facts["higher_is_positive"]
    require(isinstance(listed, list), "it does not list the crosses of its card")
    require(isinstance(rising, bool), "it does not say which side of its cutoff is positive")
    positive = positive_label(state.params.get("positive"), state.classes)
    is_last = bool(positive == state.classes.tolist()[-1])
    columns = tuple(points.take(size) for size in sizes)
    card = Card(
        float(intercept[0]),
        columns,
        tuple(_cross(cross, sizes, points, merged) for cross in listed),
        tuple(binner.bins_),
        float(cutoff[0]),
        rising == is_last,
        tuple(counts.take(2 * size).reshape(2, size) for size in sizes),
        held_out=held_out,
    )
    require(all((part >= 0).all() for part in card.counts), "it has negative counts")
    points.require_empty()
    counts.require_empty()
    merged.require_empty()
    return {"card_": card.with_positive(positive, is_last=is_last), "binner_": binner}


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


def _lines_of(sizes: Sequence[FittedCard]) -> list[int]:
    return [fit.card.n_lines for fit in sizes]


# ── CardModel: what a classifier whose model is a card does with rows, once it is fitted ──────────


class CardModel(ThresholdClassifier):
    """Base class for classifiers that bin the columns of a table and add up points.

    Attributes
    ----------
    card_ : Card
    binner_ : Binner
    """

    card_: Card
    binner_: Any
    #: The fits of all known sizes, the smallest first; none if the card was read from a file.
    _sizes: tuple[FittedCard, ...] = ()

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
