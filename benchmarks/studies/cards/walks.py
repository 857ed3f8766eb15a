"""Whether scores keep a direction: walks along one column with all others held at real rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from benchmarks.studies.cards.directions import DOWN
from directrix._typing import FloatArray

#: Real rows that are walked from, and values of a number that are visited, at most.
MOST_ROWS, MOST_VALUES = 50, 200
#: A step back below this share of the greatest score is rounding.
_ROUNDING = 1e-9


class Kept(NamedTuple):
    """How well directions are kept.

    ``violated``: columns in which a walk goes back. ``wrong_share``: share of all walks that go
    back somewhere.
    """

    violated: int
    wrong_share: float


class Walks(NamedTuple):
    """Rows to be scored, walk after walk, in the order in which scores must not fall.

    ``shapes``: by column how many walks there are, and of how many steps.
    """

    frame: Any
    shapes: dict[str, tuple[int, int]]

    @classmethod
    def of(cls, frame: Any, directions: Mapping[str, Any]) -> Walks:
        """Walk along each column that has a direction, from a sample of rows.

        ``frame``: the values of its numbers are visited, all of them if they are few.
        ``directions``: as `ScorecardClassifier` takes them.
        """
        import pandas as pd  # noqa: PLC0415 - reports need none

        sample = np.random.default_rng(0).permutation(len(frame))[:MOST_ROWS]
        rows = frame.iloc[np.sort(sample)]
        parts, shapes = [], {}
        for column, direction in directions.items():
            values = _values(frame[column], direction)
            steps = rows.loc[rows.index.repeat(len(values))].reset_index(drop=True)
            steps[column] = pd.Series(
                [*values] * len(rows), dtype=frame[column].dtype, index=steps.index
            )
            parts.append(steps)
            shapes[column] = len(rows), len(values)
        return cls(pd.concat(parts, ignore_index=True), shapes)

    def kept(self, scores: FloatArray) -> Kept:
        """Return how well the scores of the rows of all walks keep the directions."""
        rounding = _ROUNDING * float(np.abs(scores).max())
        start, violated, wrong, total = 0, 0, 0, 0
        for walks, steps in self.shapes.values():
            part = scores[start : start + walks * steps].reshape(walks, steps)
            back = int((np.diff(part, axis=1) < -rounding).any(axis=1).sum())
            start, violated = start + walks * steps, violated + (back > 0)
            wrong, total = wrong + back, total + walks
        return Kept(violated, wrong / total)


def _values(column: Any, direction: Any) -> Any:
    """Return the values of a column in the order in which scores must not fall."""
    if not isinstance(direction, str):
        return list(direction)
    distinct = np.unique(column.dropna().to_numpy())
    if len(distinct) > MOST_VALUES:
        index = np.linspace(0, len(distinct) - 1, MOST_VALUES).round().astype(int)
        distinct = distinct[index]
    return distinct[::-1] if direction == DOWN else distinct
