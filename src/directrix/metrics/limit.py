"""Limit: what a metric demands of the operating point."""

from __future__ import annotations

from typing import Any, NamedTuple

_RATE_NAMES = {"fpr": "FPR", "tpr": "recall", "precision": "precision"}


class Limit(NamedTuple):
    """A bound on one rate of the predictions.

    Parameters
    ----------
    rate : "fpr", "tpr", "precision" or "alerts"
        Which rate is limited; "alerts" is the share of all rows that are predicted positive.
    value : float
    at_most : bool
        Whether the rate may not be above the value; otherwise it may not be below.

    Examples
    --------
    >>> from directrix.metrics import RecallAtFPR
    >>> RecallAtFPR(0.01).limit.label
    'FPR at most 1 %'
    """

    rate: str
    value: float
    at_most: bool

    @property
    def label(self) -> str:
        """The limit in words."""
        bound = f"{'at most' if self.at_most else 'at least'} {percent(self.value)}"
        if self.rate == "alerts":
            return f"{bound} of the rows flagged"
        return f"{_RATE_NAMES[self.rate]} {bound}"

    def slack(self, tpr: Any, fpr: Any, prior: float) -> Any:
        r"""Return a linear function of the rates that is at least zero where the limit is kept.

        Parameters
        ----------
        tpr, fpr : float or array
        prior : float
            π, the share of positives.
        """
        match self.rate:
            case "fpr":
                excess = fpr - self.value
            case "tpr":
                excess = tpr - self.value
            case "precision":
                excess = (1.0 - self.value) * prior * tpr - self.value * (1.0 - prior) * fpr
            case _:
                excess = prior * tpr + (1.0 - prior) * fpr - self.value
        return -excess if self.at_most else excess


def percent(share: float) -> str:
    """Return a share in per cent."""
    return f"{100.0 * share:.3g} %"
