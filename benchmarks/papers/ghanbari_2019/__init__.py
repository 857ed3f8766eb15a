"""Ghanbari, Li and Scheinberg 2019: training from class moments, measured again."""

from benchmarks.papers.claims import Claim


def claims() -> list[Claim]:
    """Return the verdict on each claim of the abstract, from the records."""
    from benchmarks.papers.ghanbari_2019 import report  # noqa: PLC0415 - it needs this package

    return report.claims()
