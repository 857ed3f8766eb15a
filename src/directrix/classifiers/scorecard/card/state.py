"""The cards of a fitted classifier as arrays and facts of a model state, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.classifiers.positive import positive_label
from directrix.classifiers.scorecard.card.card import Card, Cross
from directrix.classifiers.state import Facts, StateArrays, is_count, require
from directrix.exceptions import StateError
from directrix.exceptions.files import BinnerFileError
from directrix.tables import Binner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray
    from directrix.classifiers.state import ModelState


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
    }


def cards_to_facts(cards: Sequence[Card], binner: Any) -> Facts:
    """Return the bins as JSON text, the columns of every cross, and the side of the last class."""
    crosses = [[[*cross.columns, *cross.points.shape] for cross in card.crosses] for card in cards]
    rising = [card.higher_is_last for card in cards]
    return Facts(binner=binner.to_json(), crosses=crosses, higher_is_positive=rising)


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

    Parameters
    ----------
    values : array of shape (n,)
    noun : str
        What they are called in messages.
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
