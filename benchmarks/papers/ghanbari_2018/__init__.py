"""Ghanbari and Scheinberg 2018: Algorithm 1, gradient descent on moments, and its rivals."""

from benchmarks.papers.claims import Claim


def claims() -> list[Claim]:
    """Return the verdict on each claim of the abstract, from the records."""
    from benchmarks.papers.ghanbari_2018 import report  # noqa: PLC0415 - it needs this package

    return report.claims()
