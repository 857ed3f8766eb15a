"""The verdict on one claim of a paper, and a table of several.

One rule for all: a claim holds where it is true in 85 % of the cases, in part where in 60 %, as
`verdict` says; test metrics that are no farther apart than `LEVEL` are level, and what the papers
print is counted in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Self

import numpy as np

from benchmarks.harness.markdown import header, line, verdict

#: Test metrics that are no farther apart are level.
LEVEL = 0.01


def word(gap: float) -> str:
    """Return whether a metric less that of a rival makes it better, level or worse."""
    return "level" if abs(gap) <= LEVEL else "better" if gap > 0 else "worse"


class Counts(NamedTuple):
    """On how many sets a method is better than a rival, level, and worse."""

    better: int
    level: int
    worse: int

    @classmethod
    def of(cls, gaps: Iterable[float]) -> Self:
        """Count differences of a test metric."""
        words = [word(gap) for gap in gaps]
        return cls(*(words.count(name) for name in cls._fields))

    @property
    def kept(self) -> int:
        """On how many sets it is not worse."""
        return self.better + self.level

    @property
    def judged(self) -> str:
        """The counts, and the verdict on being not worse."""
        return f"{self}, which {verdict(self.kept, sum(self)).lower()}"

    def __str__(self) -> str:
        return f"better on {self.better}, level on {self.level}, worse on {self.worse}"


class Claim(NamedTuple):
    """A claim of a paper, whether it holds when measured again, and the figure that shows it."""

    paper: str
    claim: str
    verdict: str
    figure: str

    @classmethod
    def of_cases(cls, paper: str, claim: str, good: int, of: int, figure: str) -> Claim:
        """Judge a claim that is true in some of the cases."""
        return cls(paper, claim, verdict(good, of).lower(), figure)

    @classmethod
    def of_times(
        cls,
        paper: str,
        claim: str,
        ratios: Sequence[float],
        printed: Sequence[float],
        rival: str,
        ours: str = "",
    ) -> Claim:
        """Judge whether a method is faster than a rival, by the ratios of their times."""
        faster, said = (sum(ratio > 1.0 for ratio in of) for of in (ratios, printed))
        figure = (
            f"{f'{ours} is ' * bool(ours)}faster than {rival} on {faster} of {len(ratios)} real "
            f"sets (printed: {said}), {np.median(ratios):.2g} times in the median"
        )
        return cls.of_cases(paper, claim, faster, len(ratios), figure)


def claim_table(claims: list[Claim]) -> list[str]:
    """Return the claims of one paper as a table of Markdown."""
    return [*header("claim", "verdict", "figure"), *(line(*claim[1:]) for claim in claims)]
