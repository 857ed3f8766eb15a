"""A card that was not fitted here: rows say what to expect of it, at its own cutoff."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import column_or_1d

from directrix.cards.card import Card
from directrix.cards.judged import FittedCard
from directrix.cards.points import finished, points_as_rows
from directrix.estimators.base import two_classes
from directrix.fit.finish import assess_unseen_rows, finish_at_zero
from directrix.fit.report import DirectReport
from directrix.fit.training_rows import Rows, relative_weight
from directrix.metrics.table import resolve
from directrix.rows.classes import dates_in_microseconds, plain_labels
from directrix.rows.frames import require_same_index
from directrix.tables import Binner
from directrix.tables.profile import TableProfile

Classifier = TypeVar("Classifier", bound=Any)

#: What a report calls rows that had no part in a card.
_ROWS = "rows that had no part in the card"
#: Parts of these rows, without each of which other thresholds are set again.
_PARTS = 10


def typed_card_on_rows(
    classifier: Classifier, card: Card, given: tuple[Any, Any, Any]
) -> Classifier:
    """Give a classifier a card, and what rows, labels and weights show of it."""
    X, y, sample_weight = given
    require_same_index(X=X, y=y, sample_weight=sample_weight)
    binner = Binner.of_bins(card.bins)
    classifier._set_binner(binner)  # noqa: SLF001 - an empty one that is made for the card
    table = binner.table_of(X)
    cells = binner.cells(table)
    labels = dates_in_microseconds(column_or_1d(plain_labels(y), warn=True))
    weight = relative_weight(sample_weight, cells)
    kept = weight > 0
    classifier._set_classes(two_classes(labels[kept]))  # noqa: SLF001 - likewise
    cells, weight = cells[kept], weight[kept]
    seen = table.take(kept)
    positive = labels[kept] == classifier.positive_
    sides = [weight * side for side in (~positive, positive)]
    counts = tuple(
        np.stack([np.bincount(column, side, bins.n_cells) for side in sides]).astype(np.float64)
        for bins, column in zip(card.bins, cells.T, strict=True)
    )
    metric = resolve(classifier.metric)
    cutoff = card.cutoff if card.higher_is_positive else -card.cutoff
    scores = points_as_rows(card, cells)[:, 0] - cutoff
    assessment = assess_unseen_rows(metric, positive, scores, weight, _ROWS)
    part = np.empty(len(positive), dtype=np.int64)
    for side in (positive, ~positive):
        part[side] = np.arange(np.count_nonzero(side)) % _PARTS
    rows = Rows(None, positive, weight, part)
    line = np.array([1.0, -cutoff])
    fitted = finish_at_zero(rows, line, scores, assessment)
    made, fitted = finished(card, fitted)
    bins = tuple(
        replace(each, weights=tuple(part.sum(axis=0).tolist()))
        for each, part in zip(card.bins, counts, strict=True)
    )
    binner = Binner.of_bins(bins)
    classifier._set_binner(binner)  # noqa: SLF001 - likewise
    classifier._seen = TableProfile.of_bins(binner, seen)  # noqa: SLF001 - likewise
    made = replace(made, bins=bins, counts=counts)
    why = f"Its points and its cutoff of {card.cutoff:g} were given."
    report = DirectReport(metric, _ROWS, (), "existing card", why)
    classifier._set_model(FittedCard(fitted, report, made))  # noqa: SLF001 - likewise
    return classifier
