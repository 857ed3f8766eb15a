"""Columns that tell the label by themselves, and so may hold what was known only afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from directrix.classifiers.scorecard.card.card import Card

#: Share of the rarer class that the bins of a column may call wrong.
_WRONG = 0.001
#: Least number of rows for each bin in use: fewer tell their labels by chance.
_ROWS_PER_BIN = 20


def columns_that_tell(card: Card) -> list[str]:
    """Return the columns whose bins alone call nearly every training row right.

    Parameters
    ----------
    card : Card
        With the counts of its training rows.
    """
    names = []
    for bins, counts in zip(card.bins, card.counts, strict=bool(card.counts)):
        rows = counts.sum(axis=0)
        rarer, used = counts.sum(axis=1).min(), (rows > 0).sum()
        enough = rows.sum() >= _ROWS_PER_BIN * used
        if enough and counts.min(axis=0).sum() <= _WRONG * rarer:
            names.append(bins.name)
    return names
