"""The error raised for a model file that cannot be read."""

from __future__ import annotations

from directrix.exceptions import ModelFileError

__all__ = ["ModelFileError", "require"]


def require(condition: object, otherwise: str) -> None:
    """Raise `ModelFileError` with a message unless a condition holds."""
    if not condition:
        raise ModelFileError(otherwise)
