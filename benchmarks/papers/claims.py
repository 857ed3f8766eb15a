"""The verdict on one claim of a paper."""

from __future__ import annotations

from typing import NamedTuple


class Claim(NamedTuple):
    """A claim of a paper, whether it holds when measured again, and the figure that shows it."""

    paper: str
    claim: str
    verdict: str
    figure: str
