"""Errors about what sites release: too few rows, bins that disclose, files that contradict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from directrix.exceptions.fields import Fields


class TooFewRowsError(Fields, ValueError):
    """A class has too few rows to be released."""

    #: The class; None for all rows.
    label: Any
    #: How many there are.
    rows: int
    #: Least number of rows that can be released.
    needed: int

    def __str__(self) -> str:
        whose = "there are" if self.label is None else f"class {self.label!r} has"
        return (
            f"{whose} {self.rows:,} rows, and a release needs {self.needed:,}: "
            "wait for more rows, or add up the counts of several sites that trust each other, and "
            "release their sum"
        )


class NotReleasableError(Fields, ValueError):
    """A summary cannot be released, whatever its number of rows."""

    #: What would be disclosed, and what to do instead.
    problem: str


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


class ConflictingReleaseError(Fields, ValueError):
    """Two releases of one site and period differ."""

    site: str
    period: str

    def __str__(self) -> str:
        return (
            f"there are two different releases of site {self.site!r} for the period "
            f"{self.period!r}: ask the site which one is valid, and leave the other out"
        )


class ReleasedBeforeError(Fields, ValueError):
    """A site has already released something else for this period."""

    site: str
    period: str
    #: File in which releases are noted.
    ledger: str

    def __str__(self) -> str:
        return (
            f"{self.ledger} records another release of site {self.site!r} for the period "
            f"{self.period!r}: the difference of two releases discloses rows. Send the first one "
            "again, or release the rows of a new period that the first did not have"
        )


class DifferentKindsError(Fields, ValueError):
    """A column is of different kinds at different sites."""

    column: str
    #: The kind of the column at each site.
    kinds: Mapping[str, str]

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} at {site!r}" for site, kind in self.kinds.items())
        return (
            f"column {self.column!r} is of different kinds: {kinds}. Let these sites sketch it "
            f"again as one kind, with kinds={{{self.column!r}: 'text'}} for instance"
        )


class ColumnsLeftOutWarning(Fields, UserWarning):
    """Columns that some sites lack are left out of the bins for all."""

    #: The columns that each site lacks.
    lacking: Mapping[str, Sequence[str]]

    def __str__(self) -> str:
        sites = "; ".join(f"{site!r}: {', '.join(names)}" for site, names in self.lacking.items())
        return (
            f"columns that a site lacks are left out ({sites}): rename them there if they have "
            "other names, or add them with missing values"
        )
