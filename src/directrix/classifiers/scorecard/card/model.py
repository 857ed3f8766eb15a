"""CardModel: what a classifier whose model is a card does with rows, once it is fitted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from directrix.classifiers.base import only_entry, raise_missing_columns
from directrix.classifiers.metric_classifier import MetricClassifier
from directrix.classifiers.scorecard.card.leakage import columns_that_tell
from directrix.classifiers.scorecard.card.reasons import Reasons, card_for_label, find_reasons
from directrix.classifiers.scorecard.card.state import (
    cards_to_arrays,
    cards_to_facts,
    restored_cards,
)
from directrix.classifiers.scoring import CardFormula
from directrix.moments.rows import refuse_lazy
from directrix.tables.reading.table import has_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from directrix._typing import FloatArray, IntArray
    from directrix.classifiers.direct.gap import Gap
    from directrix.classifiers.direct.report import DirectReport
    from directrix.classifiers.fitting.finalize import FittedLine
    from directrix.classifiers.scorecard.card.card import Card
    from directrix.classifiers.scoring import ScoringFormula
    from directrix.classifiers.state import Facts, ModelState


class CardModel(MetricClassifier):
    """Base class for classifiers that bin the columns of a table and add up points.

    Attributes
    ----------
    cards_ : tuple of Card
    binner_ : Binner
    """

    cards_: tuple[Card, ...]
    binner_: Any

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
        formula = CardFormula(
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
        self, X: Any, k: int = 4, reference: Any = "best", texts: Any = None, *, label: Any = None
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

    def _set_cards(self, cards: Sequence[Card], fitted: Sequence[FittedLine]) -> None:
        """Store cards of points in favour of the positive class, one for each score."""
        is_last = not self._catches_first
        self.cards_ = tuple(
            card.with_positive(label, is_last=is_last)
            for card, label in zip(cards, self._positives, strict=True)
        )
        self._set_points(fitted)
        self.calibrations_ = tuple(
            entry.calibration if is_last else entry.calibration.turned() for entry in fitted
        )

    def _final_reports(self, reports: Iterable[DirectReport]) -> tuple[DirectReport, ...]:
        """Return reports that also name the columns that tell the label by themselves."""
        cards = zip(super()._final_reports(reports), self.cards_, strict=True)
        return tuple(
            replace(report, suspects=tuple(columns_that_tell(card))) for report, card in cards
        )

    @property
    def _baseline_gaps(self) -> list[Gap | None]:
        return [report.straight for report in self.reports_]

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

    def _cells(self, X: Any) -> IntArray:
        """Return the cells of a table of the columns that the classifier was fitted to.

        Columns with names are matched by name, in any order; other columns are ignored.
        """
        check_is_fitted(self)
        refuse_lazy(X)
        if hasattr(self, "feature_names_in_") and has_names(X):
            raise_missing_columns(self, X)
        elif len(getattr(X, "shape", (0, 0))) == 2:  # a table refuses others in better words
            validate_data(self, X, reset=False, skip_check_array=True)
        cells: IntArray = self.binner_.cells(X)
        return cells

    def _state_arrays(self) -> dict[str, Any]:
        return cards_to_arrays(self.cards_)

    def _state_facts(self) -> Facts:
        return cards_to_facts(self.cards_, self.binner_)

    @classmethod
    def _restored_scoring(cls, state: ModelState) -> dict[str, Any]:
        return restored_cards(state)

    @classmethod
    def _restored_facts(cls, facts: Facts) -> dict[str, Any]:  # noqa: ARG003 - read with the arrays
        return {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
