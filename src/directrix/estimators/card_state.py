"""The card of a fitted classifier as arrays and facts of a model state, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from directrix._typing import AnyArray
from directrix.cards.card import Card, Cross
from directrix.cards.risk_bands import HeldOutPoints
from directrix.estimators.state import ModelMetadata, ModelState, StateArrays, require
from directrix.exceptions import StateError
from directrix.exceptions.files import BinnerFileError
from directrix.files.layout import is_count
from directrix.rows.classes import positive_label
from directrix.tables import Binner


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
