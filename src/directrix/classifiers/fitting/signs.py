"""Signs that users ask coefficients to keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from directrix.exceptions.columns import ColumnNotFoundError

if TYPE_CHECKING:
    from directrix._typing import IntArray


@dataclass(frozen=True)
class Signs:
    """Signs of some coefficients.

    Parameters
    ----------
    n_features : int
    positions : tuple of pairs of str and int
        Name and position of each feature whose coefficient keeps a sign.
    signs : tuple of int
        1 where it may not be negative, −1 where it may not be positive.
    """

    n_features: int
    positions: tuple[tuple[str, int], ...]
    signs: tuple[int, ...]

    @classmethod
    def of(cls, signs: Any, names: Sequence[str] | None, n_features: int) -> Signs | None:
        """Return the signs that a user gave; None if there are none.

        Parameters
        ----------
        signs : mapping or None
            From names or positions of features to 1 or −1.
        names : sequence of str, optional
            Of the features, if they have some.
        n_features : int
        """
        if signs is None:
            return None
        if not isinstance(signs, Mapping):
            msg = f"signs must be a dict from features to 1 or -1, not {signs!r}"
            raise TypeError(msg)
        known = [""] * n_features if names is None else list(names)
        found: dict[int, int] = {}
        for key, sign in signs.items():
            position = column_position(key, known)
            if isinstance(sign, bool) or sign not in (1, -1):
                msg = f"the sign of feature {key!r} must be 1 or -1, not {sign!r}"
                raise ValueError(msg)
            if position in found:
                msg = f"signs names feature {key!r} twice: give it one sign"
                raise ValueError(msg)
            found[position] = int(sign)
        if not found:
            return None
        labels = tuple((known[k] or f"feature {k}", k) for k in sorted(found))
        return cls(n_features, labels, tuple(found[k] for _, k in labels))

    @property
    def array(self) -> IntArray:
        """The sign of each coefficient, and a zero for the intercept last."""
        return self.only(range(len(self.signs)))

    @property
    def wishes(self) -> list[tuple[str, str]]:
        """Name and direction of each feature."""
        words = {1: "increasing", -1: "decreasing"}
        pairs = zip(self.positions, self.signs, strict=True)
        return [(name, words[sign]) for (name, _), sign in pairs]

    def only(self, kept: Iterable[int]) -> IntArray:
        """Return the array of some of the signs, by their numbers."""
        array = np.zeros(self.n_features + 1, dtype=np.int64)
        for number in kept:
            array[self.positions[number][1]] = self.signs[number]
        return array


def column_position(key: Any, names: Sequence[str]) -> int:
    """Return the position of a column that is given by its name or by its position.

    Parameters
    ----------
    key : str or int
    names : sequence of str
        Of all columns; empty texts for columns without names.
    """
    if isinstance(key, str) and key and key in names:
        return list(names).index(key)
    whole = isinstance(key, int | np.integer) and not isinstance(key, bool)
    if whole and 0 <= key < len(names):
        return int(key)
    raise ColumnNotFoundError(key, [name for name in names if name])
