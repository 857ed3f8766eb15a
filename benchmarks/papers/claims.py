"""The verdict on one claim of a paper, and a table of several."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.harness.markdown import header, line


class Claim(NamedTuple):
    """A claim of a paper, whether it holds when measured again, and the figure that shows it."""

    paper: str
    claim: str
    verdict: str
    figure: str


def claim_table(claims: list[Claim]) -> list[str]:
    """Return the claims of one paper as a table of Markdown."""
    return [*header("claim", "verdict", "figure"), *(line(*claim[1:]) for claim in claims)]
