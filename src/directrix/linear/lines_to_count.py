"""Lines of rows that live elsewhere: which candidates of a sample are counted on all rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from directrix._typing import FloatArray
from directrix.fit.compare import Candidate
from directrix.fit.training_rows import Rows, Standardization
from directrix.linear.moment_frontier import moment_candidates
from directrix.linear.row_frontier import RowFrontier
from directrix.linear.search import FTOL, MOST_FEATURES, Search
from directrix.metrics.base import Metric
from directrix.moments import Moments

#: Rows of each class in the sample of a fit of lines, however many partitions there are.
ROWS_OF_LINES = 20_000
#: What reports call the rows whose scores are counted.
ROWS_OF_COUNTS = "all rows, each held out once"
#: How many candidates are counted, where each costs time on every row.
_FEWEST, _MOST = 4, 32
#: Standard errors of its difference to the best on the sample up to which a candidate is counted:
#: one that is worse by more is hardly the best on all rows.
_STANDARD_ERRORS = 2.0


def lines_to_count(
    metric: Metric, moments: Moments, rows: Rows, n_jobs: int | None
) -> list[Candidate]:
    """Compare lines of the moments of all rows with those of sampled rows; return the best.

    The best logistic regression is the first of them. ``moments`` have class weights, and folds
    that are held out.
    """
    units = Standardization.of(rows.X, rows.weight)
    frontier = RowFrontier(
        units.rows(rows.X),
        *rows[1:4],
        ftol=FTOL,
        to_features=units.line_back,
        n_jobs=n_jobs,
    )
    narrow = rows.X.shape[1] <= MOST_FEATURES
    search = Search(frontier, metric, moment_candidates(moments, *rows[:4]) if narrow else ())
    comparison, candidates = search.run(), search.candidates
    losses, best = comparison.deciding, comparison.best
    errors = comparison.standard_errors(best)
    simple = [each.complexity == 0.0 for each in candidates]
    return [candidates[k] for k in near_the_best(losses - losses[best], errors, simple)]


def near_the_best(behind: FloatArray, errors: FloatArray, simple: Sequence[bool]) -> list[int]:
    """Return the candidates that are hardly behind, the best ones first; the best simple one leads.

    ``behind`` says by how much each is worse than the best, and ``errors`` how well that is known.
    """
    order = np.argsort(behind, kind="stable")
    near = (behind <= _STANDARD_ERRORS * errors)[order]
    count = min(max(int(near.sum()), _FEWEST), _MOST)
    counted = [*order[near], *order[~near]][:count]
    first = [k for k in order if simple[k]][:1]
    return [int(k) for k in dict.fromkeys([*first, *counted])]
