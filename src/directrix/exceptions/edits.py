"""Errors and warnings about edits of a card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class EditError(ValueError):
    """An edit of a card cannot be made.

    Parameters
    ----------
    problem : str
        What is wrong with it, and what to do instead.
    edit : dict, optional
        The edit, as ``log()`` would have it.
    """

    def __init__(self, problem: str, edit: Mapping[str, Any] | None = None) -> None:
        self.problem, self.edit = problem, None if edit is None else dict(edit)
        super().__init__(problem, self.edit)

    def __str__(self) -> str:
        if self.edit is None:
            return self.problem
        given = ", ".join(f"{key}={value!r}" for key, value in self.edit.items() if key != "edit")
        return f"{self.edit.get('edit', 'edit')}({given}): {self.problem}"


class NearestCutsWarning(UserWarning):
    """Cuts that were asked for are replaced by the nearest that a card without its rows has.

    Parameters
    ----------
    column : str
    asked, used : tuple of float
    """

    def __init__(self, column: str, asked: tuple[float, ...], used: tuple[float, ...]) -> None:
        self.column, self.asked, self.used = column, asked, used
        super().__init__(column, asked, used)

    def __str__(self) -> str:
        return (
            f"column {self.column!r} is cut at {list(self.used)}, the nearest cuts to "
            f"{list(self.asked)} that are available without the rows; to cut it anywhere, edit "
            "the card with its rows: ScorecardClassifier().edit(X, y)"
        )


class LockboxReadWarning(UserWarning):
    """The lockbox of an editor is read again, after edits that may have been chosen by it.

    Parameters
    ----------
    read_after : int
        Number of edits after which it was read first.
    """

    def __init__(self, read_after: int) -> None:
        self.read_after = read_after
        super().__init__(read_after)

    def __str__(self) -> str:
        return (
            f"the lockbox was already read, after {self.read_after} edits: if that result led to "
            "other edits, this one is too optimistic. Keep the first card, or evaluate on new rows"
        )
