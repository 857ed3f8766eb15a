"""Long sums in SQL."""

from __future__ import annotations

#: Terms in a pair of brackets: databases parse a long sum into a tree as deep as the sum is long,
#: and some have a limit of a thousand.
_MOST_TERMS = 50


def sum_sql(terms: list[str]) -> str:
    """Return a sum with brackets that keep its parse tree shallow.

    Examples
    --------
    >>> sum_sql(["1", "x", "y"])
    '(1 + x + y)'
    """
    while len(terms) > _MOST_TERMS:
        starts = range(0, len(terms), _MOST_TERMS)
        groups = [terms[start : start + _MOST_TERMS] for start in starts]
        terms = [f"({' + '.join(group)})" for group in groups]
    return f"({' + '.join(terms)})"
