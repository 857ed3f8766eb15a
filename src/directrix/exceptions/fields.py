"""Fields: errors and warnings that carry what they are about as attributes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, dataclass_transform


@dataclass_transform(eq_default=False)
class Fields:
    """Base class for errors and warnings with fields, which are annotated in the class.

    The fields are also the arguments of the class, so that an error survives pickling on its way
    out of a worker process.
    """

    args: tuple[Any, ...]

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the fields of a class be its arguments."""
        super().__init_subclass__(**options)
        dataclass(eq=False, repr=False)(cls)

    def __post_init__(self) -> None:
        """Store the fields as the arguments of the exception."""
        self.args = tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
