"""Candidate linear classifiers, and the choice among them.

A *line* is a linear classifier: coefficients, and an intercept last. A *frontier* is a set of lines
among which every metric has its optimum, or nearly: `Frontier` makes them from class moments,
`RowFrontier` from rows. `Search` decides which candidates to try for a metric, the rules of
`select` choose one by its loss on held-out rows, and `choice_validation` estimates how it does on
new rows.
"""

from directrix.frontier.candidates import Candidate
from directrix.frontier.choice_validation import (
    PartCurves,
    Rule,
    held_out_rates,
    most_promising,
    optimism_of_ranking,
    repeat_choice,
)
from directrix.frontier.compare import (
    FIRST_ROWS,
    MOST_ROWS,
    Chosen,
    Comparison,
    choose,
    choose_line,
    compare,
    curve_maker,
    first_rows_per_class,
    held_out_curves,
    held_out_scores,
    rescaled_weights,
    round_scores,
    scores_of,
)
from directrix.frontier.moment_candidates import MomentCandidate, MomentLines, moment_candidates
from directrix.frontier.moment_frontier import Frontier, LinearModel, require_rows_of_both
from directrix.frontier.recipes import (
    GAMMAS,
    RIDGES,
    Recipe,
    cost_sweep,
    path,
    ranking_continuation,
)
from directrix.frontier.row_frontier import RowCandidate, RowFrontier
from directrix.frontier.search import MOST_FEATURES, Search
from directrix.frontier.select import LeastLoss, OneStandardError
from directrix.frontier.shrinkage import usable_folds, validated_shrinkage

__all__ = [
    "FIRST_ROWS",
    "GAMMAS",
    "MOST_FEATURES",
    "MOST_ROWS",
    "RIDGES",
    "Candidate",
    "Chosen",
    "Comparison",
    "Frontier",
    "LeastLoss",
    "LinearModel",
    "MomentCandidate",
    "MomentLines",
    "OneStandardError",
    "PartCurves",
    "Recipe",
    "RowCandidate",
    "RowFrontier",
    "Rule",
    "Search",
    "choose",
    "choose_line",
    "compare",
    "cost_sweep",
    "curve_maker",
    "first_rows_per_class",
    "held_out_curves",
    "held_out_rates",
    "held_out_scores",
    "moment_candidates",
    "most_promising",
    "optimism_of_ranking",
    "path",
    "ranking_continuation",
    "repeat_choice",
    "require_rows_of_both",
    "rescaled_weights",
    "round_scores",
    "scores_of",
    "usable_folds",
    "validated_shrinkage",
]
