"""What a candidate is: one linear model to choose among, whatever it is made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import AnyArray, FloatArray
    from directrix.frontier.compare import Curves


class Candidate(Protocol):
    """A line made from all rows and, fold by fold, from the rows of the other folds.

    Lines are coefficients with the intercept last. `MomentCandidate` and `RowCandidate` implement
    the protocol; comparison, selection and the final fit treat them alike.
    """

    @property
    def name(self) -> str:
        """What a report calls the candidate."""
        ...

    @property
    def complexity(self) -> float:
        """Order of preference among candidates of equal quality: logistic regression has 0."""
        ...

    @property
    def ridge(self) -> float:
        """Ridge penalty of the fit; zero if shrinkage takes its part."""
        ...

    @property
    def scores(self) -> FloatArray:
        """Held-out scores of the rows, of shape (n,)."""
        ...

    @property
    def curves(self) -> Curves:
        """Rates of the held-out scores at every threshold."""
        ...

    @property
    def line(self) -> FloatArray:
        """The line of all rows, of shape (d + 1,)."""
        ...

    @property
    def fold_lines(self) -> Sequence[FloatArray]:
        """For each fold the line made without it; empty if no rows are held out."""
        ...

    def refit(self, X: Any, positive: AnyArray, weight: FloatArray) -> FloatArray:
        """Return the line of these rows: all there are, if the candidate was made from a sample."""
        ...
