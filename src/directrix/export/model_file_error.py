"""The error raised for a model file that cannot be read."""

from __future__ import annotations


class ModelFileError(ValueError):
    """The file is not a model that this version can read, or it is damaged."""


def require(condition: object, otherwise: str) -> None:
    """Raise `ModelFileError` with a message unless a condition holds."""
    if not condition:
        raise ModelFileError(otherwise)
