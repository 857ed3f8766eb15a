"""Three small real tables to try things out on; they ship with the package."""

from directrix.datasets.load import load_bank, load_credit, load_heart

__all__ = ["load_bank", "load_credit", "load_heart"]


def __dir__() -> list[str]:
    return __all__
