"""Errors and warnings about edits of a card."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from directrix.exceptions.fields import Fields


class EditError(Fields, ValueError):
    """An edit of a card cannot be made."""

    #: What is wrong with it, and what to do instead.
    problem: str
    #: The edit, as ``log()`` would have it.
    edit: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        if self.edit is None:
            return self.problem
        given = ", ".join(f"{key}={value!r}" for key, value in self.edit.items() if key != "edit")
        return f"{self.edit.get('edit', 'edit')}({given}): {self.problem}"


class NearestCutsWarning(Fields, UserWarning):
    """Cuts that were asked for are replaced by the nearest that a card without its rows has."""

    column: str
    asked: tuple[float, ...]
    used: tuple[float, ...]

    def __str__(self) -> str:
        return (
            f"column {self.column!r} is cut at {list(self.used)}, the nearest cuts to "
            f"{list(self.asked)} that are available without the rows; to cut it anywhere, edit "
            "the card with its rows: CardEditor.of(classifier, X, y)"
        )


class LockboxReadWarning(Fields, UserWarning):
    """The lockbox of an editor is read again, after edits that may have been chosen by it."""

    #: Number of edits after which it was read first.
    read_after: int

    def __str__(self) -> str:
        return (
            f"the lockbox was already read, after {self.read_after} edits: if that result led to "
            "other edits, this one is too optimistic. Keep the first card, or evaluate on new rows"
        )
