"""Candidate linear classifiers, and the choice among them.

A *line* is a linear classifier: coefficients, and an intercept last. A *frontier* is a set of lines
among which every metric has its optimum, or nearly: `Frontier` makes them from class moments,
`RowFrontier` from rows. `Search` decides which candidates to try for a metric, the rules of
`select` choose one by its loss on held-out rows, and `choice_validation` estimates how it does on
new rows.

Names that are imported here and not listed in ``__all__`` are for other rooms of the library.
"""

from directrix.frontier._standard_space import require_rows_of_both as require_rows_of_both
from directrix.frontier.candidates import Candidate as Candidate
from directrix.frontier.choice_validation import PartCurves as PartCurves
from directrix.frontier.choice_validation import Rule as Rule
from directrix.frontier.choice_validation import held_out_rates as held_out_rates
from directrix.frontier.choice_validation import most_promising as most_promising
from directrix.frontier.choice_validation import optimism_of_ranking as optimism_of_ranking
from directrix.frontier.choice_validation import optimism_of_rates as optimism_of_rates
from directrix.frontier.choice_validation import repeat_choice as repeat_choice
from directrix.frontier.compare import FIRST_ROWS as FIRST_ROWS
from directrix.frontier.compare import MOST_ROWS as MOST_ROWS
from directrix.frontier.compare import Chosen, choose
from directrix.frontier.compare import Comparison as Comparison
from directrix.frontier.compare import Curves as Curves
from directrix.frontier.compare import best_values as best_values
from directrix.frontier.compare import choose_line as choose_line
from directrix.frontier.compare import compare as compare
from directrix.frontier.compare import compare_values as compare_values
from directrix.frontier.compare import curve_maker as curve_maker
from directrix.frontier.compare import first_rows_per_class as first_rows_per_class
from directrix.frontier.compare import held_out_scores as held_out_scores
from directrix.frontier.compare import rescaled_weights as rescaled_weights
from directrix.frontier.compare import round_scores as round_scores
from directrix.frontier.compare import scores_of as scores_of
from directrix.frontier.corrected_candidate import CorrectedCandidate as CorrectedCandidate
from directrix.frontier.fold_designs import FoldDesigns as FoldDesigns
from directrix.frontier.fold_designs import design_without as design_without
from directrix.frontier.moment_candidates import MomentCandidate as MomentCandidate
from directrix.frontier.moment_candidates import MomentLines as MomentLines
from directrix.frontier.moment_candidates import moment_candidates as moment_candidates
from directrix.frontier.moment_frontier import Frontier, LinearModel
from directrix.frontier.recipes import GAMMAS as GAMMAS
from directrix.frontier.recipes import RIDGES as RIDGES
from directrix.frontier.recipes import Recipe as Recipe
from directrix.frontier.recipes import Sweep as Sweep
from directrix.frontier.recipes import balance_factor as balance_factor
from directrix.frontier.recipes import cost_sweep as cost_sweep
from directrix.frontier.recipes import path as path
from directrix.frontier.recipes import ranking_continuation as ranking_continuation
from directrix.frontier.ridge_candidates import RidgeCandidate as RidgeCandidate
from directrix.frontier.ridge_candidates import ridge_candidates as ridge_candidates
from directrix.frontier.ridge_candidates import ridge_name as ridge_name
from directrix.frontier.ridge_candidates import ridge_settings as ridge_settings
from directrix.frontier.ridge_moments import RidgeMoments as RidgeMoments
from directrix.frontier.row_candidate import RowCandidate as RowCandidate
from directrix.frontier.row_frontier import RowFrontier as RowFrontier
from directrix.frontier.search import MOST_FEATURES as MOST_FEATURES
from directrix.frontier.search import Search as Search
from directrix.frontier.select import LeastLoss as LeastLoss
from directrix.frontier.select import OneStandardError as OneStandardError
from directrix.frontier.shrinkage import usable_folds as usable_folds
from directrix.frontier.shrinkage import validated_shrinkage

__all__ = ["Chosen", "Frontier", "LinearModel", "choose", "validated_shrinkage"]
