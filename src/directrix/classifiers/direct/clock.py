"""Clock of a fit with a time budget: whether there is time for more, and progress on the way."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: Share of the budget that is kept for the end of the fit: at least, and at most.
_LEAST_KEPT, _MOST_KEPT = 0.1, 0.4


class Clock:
    """Tells whether a search has time left within a budget of wall time.

    What comes after the search (the final fit, its threshold, what to expect on new rows) takes
    about as long as the first candidate, logistic regression on all folds. So does, on a busy
    machine, anything else that cannot be interrupted: that time is measured, and kept for the end.

    Parameters
    ----------
    seconds : float, optional
        Time budget; without one the time is never up.
    progress : callable, optional
        Called with (n_done, n_planned) after each candidate; a true result stops the search.
    start : float, optional
        When the budget began, by `time.monotonic`; now by default.
    """

    def __init__(
        self,
        seconds: float | None = None,
        progress: Callable[[int, int], bool | None] | None = None,
        start: float | None = None,
    ) -> None:
        self._seconds, self._progress = seconds, progress
        self._start = monotonic() if start is None else start
        self._begun = monotonic()
        self._unit: float | None = None
        self._done = 0

    @property
    def has_budget(self) -> bool:
        """Whether there is a time budget."""
        return self._seconds is not None

    @property
    def seconds_left(self) -> float:
        """Seconds until the time for the search is up; infinity without a budget."""
        if self._seconds is None:
            return inf
        return self._start + self._seconds - self._kept(self._seconds) - monotonic()

    def part(self, index: int, of: int) -> Clock:
        """Return the clock of one of several fits that share the budget."""
        if self._seconds is None:
            return Clock(None, self._progress)
        share = self._seconds / of
        return Clock(share, self._progress, self._start + index * share)

    def __call__(self, done: int, planned: int) -> bool:
        """Report progress; return whether to stop."""
        if self._unit is None:
            self._unit = monotonic() - self._begun
        more, self._done = done > self._done, done
        asked = more and self._progress is not None and bool(self._progress(done, planned))
        return asked or self.is_over()

    def is_over(self, ahead: float = 0.0) -> bool:
        """Whether the time for the search is up.

        Parameters
        ----------
        ahead : float
            How much longer it must last, in units of the time that the first candidate took; with
            -1, whether the whole budget is used up.
        """
        if self._seconds is None:
            return False
        return ahead * self._kept(self._seconds) > self.seconds_left

    def _kept(self, seconds: float) -> float:
        """Return how much of the budget is kept for the end of the fit."""
        most = _MOST_KEPT * seconds
        return min(max(_LEAST_KEPT * seconds, most if self._unit is None else self._unit), most)
