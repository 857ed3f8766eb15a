"""The verdict on one claim of a paper, and a table of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.harness.markdown import header, holds, line

#: Share of the cases in which a claim must be true to hold.
MOST = 0.75


class Claim(NamedTuple):
    """A claim of a paper, whether it holds when measured again, and the figure that shows it."""

    paper: str
    claim: str
    verdict: str
    figure: str

    @classmethod
    def of_cases(cls, paper: str, claim: str, good: int, of: int, figure: str) -> Claim:
        """Judge a claim that is true in some of the cases."""
        return cls(paper, claim, holds(good >= MOST * of), figure)

    @classmethod
    def of_times(
        cls, paper: str, claim: str, ratios: Sequence[float], rival: str, ours: str = ""
    ) -> Claim:
        """Judge whether a method is faster than a rival, by the ratios of their CPU times."""
        faster = sum(ratio > 1.0 for ratio in ratios)
        figure = (
            f"{f'{ours} is ' * bool(ours)}faster than {rival} on {faster} of {len(ratios)} real "
            f"sets, {np.median(ratios):.2g} times in the median"
        )
        return cls.of_cases(paper, claim, faster, len(ratios), figure)


def claim_table(claims: list[Claim]) -> list[str]:
    """Return the claims of one paper as a table of Markdown."""
    return [*header("claim", "verdict", "figure"), *(line(*claim[1:]) for claim in claims)]
