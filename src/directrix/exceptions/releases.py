"""Errors about what sites release: too few rows, bins that disclose, files that contradict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class TooFewRowsError(ValueError):
    """A class has too few rows to be released.

    Parameters
    ----------
    label : label
        The class; None for all rows.
    rows : int
        How many there are.
    needed : int
        Least number of rows that can be released.
    """

    def __init__(self, label: Any, rows: int, needed: int) -> None:
        self.label, self.rows, self.needed = label, rows, needed
        super().__init__(label, rows, needed)

    def __str__(self) -> str:
        whose = "there are" if self.label is None else f"class {self.label!r} has"
        return (
            f"{whose} {self.rows:,} rows, and a release needs {self.needed:,}: "
            "wait for more rows, or add up the counts of several sites that trust each other, and "
            "release their sum"
        )


class NotReleasableError(ValueError):
    """A summary cannot be released, whatever its number of rows.

    Parameters
    ----------
    problem : str
        What would be disclosed, and what to do instead.
    """

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(problem)


class BinsOfTheseRowsError(NotReleasableError):
    """Counts of bins that were fitted to the same rows: the bins themselves disclose values.

    Parameters
    ----------
    column : str
        The first column whose bins have nearly the counted rows.
    """

    def __init__(self, column: str) -> None:
        self.column = column
        super().__init__(column)

    def __str__(self) -> str:
        return (
            f"the bins of column {self.column!r} seem to have been fitted to the rows that are "
            "counted, and may disclose single values: count the rows in bins of several sites, "
            "from the sum of their sketches (TableSketch), or of an earlier period"
        )


class ConflictingReleaseError(ValueError):
    """Two releases of one site and period differ.

    Parameters
    ----------
    site, period : str
    """

    def __init__(self, site: str, period: str) -> None:
        self.site, self.period = site, period
        super().__init__(site, period)

    def __str__(self) -> str:
        return (
            f"there are two different releases of site {self.site!r} for the period "
            f"{self.period!r}: ask the site which one is valid, and leave the other out"
        )


class ReleasedBeforeError(ValueError):
    """A site has already released something else for this period.

    Parameters
    ----------
    site, period : str
    ledger : str
        File in which releases are noted.
    """

    def __init__(self, site: str, period: str, ledger: str) -> None:
        self.site, self.period, self.ledger = site, period, ledger
        super().__init__(site, period, ledger)

    def __str__(self) -> str:
        return (
            f"{self.ledger} records another release of site {self.site!r} for the period "
            f"{self.period!r}: the difference of two releases discloses rows. Send the first one "
            "again, or release the rows of a new period that the first did not have"
        )


class DifferentKindsError(ValueError):
    """A column is of different kinds at different sites.

    Parameters
    ----------
    column : str
    kinds : dict of str by str
        The kind of the column at each site.
    """

    def __init__(self, column: str, kinds: Mapping[str, str]) -> None:
        self.column, self.kinds = column, dict(kinds)
        super().__init__(column, self.kinds)

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} at {site!r}" for site, kind in self.kinds.items())
        return (
            f"column {self.column!r} is of different kinds: {kinds}. Let these sites sketch it "
            f"again as one kind, with kinds={{{self.column!r}: 'text'}} for instance"
        )


class ColumnsLeftOutWarning(UserWarning):
    """Columns that some sites lack are left out of the bins for all.

    Parameters
    ----------
    lacking : dict of lists of str by str
        The columns that each site lacks.
    """

    def __init__(self, lacking: Mapping[str, Sequence[str]]) -> None:
        self.lacking = {site: list(names) for site, names in lacking.items()}
        super().__init__(self.lacking)

    def __str__(self) -> str:
        sites = "; ".join(f"{site!r}: {', '.join(names)}" for site, names in self.lacking.items())
        return (
            f"columns that a site lacks are left out ({sites}): rename them there if they have "
            "other names, or add them with missing values"
        )
