"""Documents: pages about a card that people read, print and sign."""

from directrix.documents.document import to_document

__all__ = ["to_document"]


def __dir__() -> list[str]:
    return __all__
