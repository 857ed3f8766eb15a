"""The check that every part of a model file must pass."""

from __future__ import annotations

from directrix.exceptions.files import ModelFileError


def require(condition: object, otherwise: str) -> None:
    """Raise `ModelFileError` with a message unless a condition holds."""
    if not condition:
        raise ModelFileError(otherwise)
