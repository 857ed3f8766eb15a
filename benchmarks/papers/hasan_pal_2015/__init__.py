"""Hasan and Pal 2015: Beta-Bernoulli logistic regression, its kernels and its probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.papers.claims import Claim


def claims() -> list[Claim]:
    """Return the verdict on each claim of the abstract, from the records."""
    from benchmarks.papers.hasan_pal_2015 import results  # noqa: PLC0415 - it reads all records

    return results.claims()
