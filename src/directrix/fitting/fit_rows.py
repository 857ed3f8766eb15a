"""The fit of cards to rows in memory: candidates of a design, and one choice for each metric.

A `Design` says what the features of rows are and what candidates there are; which of them is
chosen, and how it is fitted to all rows, is said here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from directrix._typing import FloatArray
from directrix.fitting.choice import Choice, Selection
from directrix.fitting.finalize import Lines, finalize, finalize_on_rows
from directrix.fitting.finish import FitResult
from directrix.fitting.guarantee import Guarantee, threshold_from_rows
from directrix.fitting.training_rows import Rows
from directrix.fitting.trials import Trials
from directrix.frontier.compare import (
    Candidate,
    Comparison,
    OneStandardError,
    curve_maker,
    scores_of,
)
from directrix.frontier.curves import round_scores
from directrix.frontier.row_frontier import ReportCandidates, RowFrontier
from directrix.frontier.search import Search
from directrix.linear.recipes import DEFAULT_SWEEP, Sweep
from directrix.metrics.base import Curve, Metric
from directrix.models.card import Card
from directrix.models.report import DirectReport

#: How many standard errors of the paired difference a simpler candidate may be behind the best.
STANDARD_ERRORS = 1.0
#: Complexity of logistic regression with another ridge than the plain one.
_OTHER_RIDGE = 0.5


class Compared(NamedTuple):
    """Candidates, and their comparison on held-out rows."""

    candidates: Sequence[Candidate]
    comparison: Comparison

    @classmethod
    def of(
        cls,
        metric: Metric,
        frontier: RowFrontier,
        summary: Sequence[Candidate] = (),
        sweep: Sweep = DEFAULT_SWEEP,
    ) -> Compared:
        """Compare candidates of the rows, and those of their ``summary``, for a metric."""
        search = Search(frontier, metric, summary, sweep)
        comparison = search.run()
        return cls(search.candidates, comparison)


class Fitted(NamedTuple):
    """A fit; ``card`` if the design makes cards.

    ``sizes`` are the same fit with cards of other sizes, and ``start`` what an editor of the card
    begins with, if the design was asked for it.
    """

    fitted: FitResult
    report: DirectReport
    card: Card | None = None
    sizes: tuple[Fitted, ...] = ()
    start: Any = None


class BestFit(NamedTuple):
    """The chosen candidate, fitted to all rows, with what it was chosen from.

    ``scores`` are the held-out scores less the threshold, and ``curve`` is theirs; ``lines`` are in
    the units of the rows. Without held-out rows there is no ``choice``. ``simple_folds``: losses of
    the best candidate of complexity zero, by fold.
    """

    fitted: FitResult
    report: DirectReport
    curve: Curve
    scores: FloatArray
    selection: Selection
    lines: Lines
    choice: Choice | None = None
    simple_folds: FloatArray | None = None


class Draft(NamedTuple):
    """A fit whose threshold rows that are set apart may still move.

    ``features`` turns rows, as they were given to the design, into what the line is a line of, and
    ``card_of`` the line into a card, and the line of its points. ``sizes`` and ``start`` are as in
    `Fitted`.
    """

    fitted: FitResult
    report: DirectReport
    curve: Curve
    features: Callable[[Any], Any] = lambda X: X
    card_of: Callable[[FitResult], tuple[Card, FitResult]] | None = None
    sizes: tuple[Draft, ...] = ()
    start: Any = None

    def guaranteed(self, rows: Rows, guarantee: Guarantee) -> Draft:
        """Return the fit with a threshold and a calibration from rows set apart."""
        sizes = tuple(draft.guaranteed(rows, guarantee) for draft in self.sizes)
        rows = rows._replace(X=self.features(rows.X))
        metric, line = self.fitted.operating_point.metric, self.fitted.line.copy()
        scores = round_scores(scores_of(rows.X, line[None])[:, 0])
        grid = guarantee.grid(self.curve)
        threshold, assessment = threshold_from_rows(metric, guarantee, rows, scores, grid)
        line[-1] -= threshold
        fitted = finalize_on_rows(metric, rows, line, scores - threshold, assessment)
        fitted = replace(fitted, cautions=self.fitted.cautions)
        return self._replace(fitted=fitted, sizes=sizes)

    def finished(self) -> Fitted:
        """Return the fit with its card, if it has one."""
        if self.card_of is None:
            return Fitted(self.fitted, self.report)
        card, fitted = self.card_of(self.fitted)
        sizes = tuple(draft.finished() for draft in self.sizes)
        return Fitted(fitted, self.report, card, sizes, self.start)


class LearnedDesign(NamedTuple):
    """What a design has learned from rows.

    Candidates are compared on the rows ``seen``, as features, and the chosen one is fitted to all
    ``rows``; these are the same unless they are too many. ``compared`` compares candidates for a
    metric, and ``draft`` adds to the chosen one what its report says about the design.
    ``plain_ridge`` is the ridge of the simplest logistic regression, and ``trials`` are what was
    compared before, if the design has chosen already.
    """

    seen: Rows
    rows: Rows
    compared: Callable[[Metric], Compared]
    draft: Callable[[Metric, BestFit], Draft]
    plain_ridge: float | None = None
    trials: Trials | None = None


class Design(Protocol):
    """What turns rows into features, what signs these keep, and what candidates there are."""

    def learn(self, rows: Rows, n_folds: int, progress: ReportCandidates) -> LearnedDesign:
        """Learn from rows, without each fold and from all; ``n_folds`` if they have no folds."""
        ...


@dataclass(frozen=True)
class Ask:
    """What a fit to rows in memory is asked for; several metrics share their candidates.

    ``guarantees`` are, for each metric, the limits to keep on new rows. ``n_folds`` is the number
    of folds, if the rows have none.
    """

    metrics: Sequence[Metric]
    rows: Rows
    n_folds: int
    guarantees: Sequence[Guarantee] | None
    progress: ReportCandidates


def fit_design(ask: Ask, design: Design) -> list[Fitted]:
    """Fit a card for each metric; metrics share what the design learns."""
    rows, apart = (ask.rows, None) if not ask.guarantees else ask.guarantees[0].set_apart(ask.rows)
    learned = design.learn(rows, ask.n_folds, ask.progress)
    drafts = [learned.draft(metric, fit_best(metric, learned)) for metric in ask.metrics]
    if apart is not None:
        pairs = zip(drafts, ask.guarantees or (), strict=True)
        drafts = [draft.guaranteed(apart, limits) for draft, limits in pairs]
    return [draft.finished() for draft in drafts]


def fit_best(metric: Metric, learned: LearnedDesign) -> BestFit:
    """Choose a candidate, fit it to all rows and set its threshold."""
    seen, rows = learned.seen, learned.rows
    candidates, comparison = learned.compared(metric)
    complexities = [_complexity(each, learned.plain_ridge) for each in candidates]
    rule = OneStandardError.of(comparison, complexities, STANDARD_ERRORS)
    index = rule(comparison.deciding)
    chosen = candidates[index]
    selection = Selection.of(seen, candidates, comparison, index, rule)
    selection = replace(selection, trials=learned.trials)
    lines = Lines(chosen.refit(rows.X, rows.positive, rows.weight), chosen.fold_lines)
    lines = lines.without_rounding(seen.X)
    final = finalize(metric, selection, lines)
    gap, choice = 0.0, final.assessment.choice
    if complexities[index] > 0.0 and choice is not None:
        gap = choice.ahead_of(np.flatnonzero(selection.rule.complexities == 0.0))
    report = DirectReport.of(
        metric,
        seen.name,
        candidates,
        comparison,
        index,
        final.assessment.estimate,
        gap,
        complexities=complexities,
        chance=final.assessment.chance,
    )
    curve = curve_maker(seen.positive, seen.weight)(final.scores)
    simple = np.flatnonzero(np.equal(complexities, 0.0))
    best_simple = simple[np.argmin(comparison.losses[simple])]
    return BestFit(
        final.fitted,
        report,
        curve,
        final.scores,
        selection,
        lines,
        choice,
        comparison.fold_losses[best_simple],
    )


def _complexity(candidate: Candidate, plain_ridge: float | None) -> float:
    """Return the complexity of a candidate; without a plain ridge all ridges are as simple."""
    if plain_ridge is None or candidate.complexity > 0.0:
        return candidate.complexity
    return 0.0 if candidate.ridge == plain_ridge else _OTHER_RIDGE
