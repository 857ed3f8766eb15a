"""FoldDesigns: rows whose features are learned from labels, without the fold they are tested on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FoldDesigns:
    """The same rows in several designs: one per fold, learned without it, and one of all rows.

    A feature that looks at labels (levels ordered by their rate, crosses chosen by residuals) and
    sees the rows it is tested on makes every candidate look better than it is on new rows.

    Parameters
    ----------
    whole : matrix of shape (n, d)
        The design learned from all rows, for the final fit.
    without : mapping of int to matrix
        For each fold all rows in the design learned without it; designs may differ in their
        features.
    """

    whole: Any
    without: Mapping[int, Any]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows, and of features of the design of all rows."""
        rows, features = self.whole.shape
        return int(rows), int(features)


def design_without(X: Any, fold: int | None) -> Any:
    """Return rows as a line that is made without a fold sees them; None for all rows."""
    if not isinstance(X, FoldDesigns):
        return X
    return X.whole if fold is None else X.without[fold]
