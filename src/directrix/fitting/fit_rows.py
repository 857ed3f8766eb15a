"""The fit to rows in memory: candidates of a design, one choice for each metric, one threshold.

Lines and cards are fitted alike. A `Design` says what the features of rows are and what candidates
there are; which of them is chosen, how it is fitted to all rows, what sets its threshold, what to
expect of it and what rows set apart guarantee is said here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import starmap
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import ndtri

from directrix._typing import FloatArray, IntArray
from directrix.exceptions import OutOfReachError
from directrix.fitting.choice import Assessment, Choice, Selection, Trials
from directrix.fitting.finalize import FittedLine, Lines, finalize, finalize_on_rows
from directrix.fitting.guarantee import Guarantee, threshold_from_rows
from directrix.fitting.parity import ParitySearch, PathSearch, Point, contrasts_of, frontier
from directrix.fitting.progress import Clock
from directrix.fitting.training_rows import KeyedRows, Standardization, TrainingRows
from directrix.frontier.compare import (
    Candidate,
    Comparison,
    OneStandardError,
    curve_maker,
    design_without,
    round_scores,
    scores_of,
)
from directrix.frontier.recipes import DEFAULT_SWEEP, Sweep
from directrix.frontier.row_frontier import RowFrontier
from directrix.frontier.search import Search
from directrix.metrics.base import Curve, Metric
from directrix.metrics.segments import Parity
from directrix.models.alternatives import Alternative, Alternatives, Carrier
from directrix.models.card import Card
from directrix.models.gap import Gap
from directrix.models.report import DirectReport
from directrix.models.segment_rates import SegmentGap
from directrix.models.shares import LEVEL

#: How many standard errors of the paired difference a simpler candidate may be behind the best.
STANDARD_ERRORS = 1.0
#: Complexity of logistic regression with another ridge than the plain one.
_OTHER_RIDGE = 0.5
#: One in so many rows sets the threshold of a guarantee, and does nothing else.
THRESHOLD_SHARE = 3
#: L-BFGS stops when one iteration lowers the objective by less than this share: the rows do not
#: tell such lines apart.
FTOL = 1e-5


class Compared(NamedTuple):
    """Candidates, their comparison on held-out rows, and steps that there was no time for."""

    candidates: Sequence[Candidate]
    comparison: Comparison
    skipped: Sequence[str] = ()


class Candidates(NamedTuple):
    """Candidates of the rows and of their summary, which are compared for any metric.

    ``summary`` returns the candidates of the summary; it is not called before the search has time
    for them.
    """

    frontier: RowFrontier
    summary: Callable[[], Sequence[Candidate]] | None = None
    sweep: Sweep = DEFAULT_SWEEP

    def compared(self, metric: Metric) -> Compared:
        """Compare candidates for a metric."""
        search = Search(self.frontier, metric, self.summary, self.sweep)
        comparison = search.run()
        return Compared(search.candidates, comparison, search.skipped)


class Fitted(NamedTuple):
    """The fit of one class against the others; ``card`` if the design makes cards.

    ``sizes`` are the same fit with cards of other sizes, and ``start`` what an editor of the card
    begins with, if the design was asked for it. ``alternatives`` are the fits that the report's
    alternatives are about, or why there is none.
    """

    fitted: FittedLine
    report: DirectReport
    card: Card | None = None
    sizes: tuple[Fitted, ...] = ()
    start: Any = None
    alternatives: tuple[Fitted | OutOfReachError, ...] = ()


class BestFit(NamedTuple):
    """The chosen candidate, fitted to all rows, with what it was chosen from.

    ``scores`` are the held-out scores less the threshold, and ``curve`` is theirs; ``lines`` are in
    the units of the rows. Without held-out rows there is no ``choice``. ``simple_folds``: losses of
    the best candidate of complexity zero, by fold.
    """

    fitted: FittedLine
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
    ``card_of`` the line into a card, and the line of its points. ``sizes``, ``start`` and
    ``alternatives`` are as in `Fitted`; ``movable`` is what alternatives are made from.
    ``guaranteed_line`` returns the line for a guarantee, if the rows set apart are not in memory.
    """

    fitted: FittedLine
    report: DirectReport
    curve: Curve
    features: Callable[[Any], Any] = lambda X: X
    card_of: Callable[[FittedLine], tuple[Card, FittedLine]] | None = None
    sizes: tuple[Draft, ...] = ()
    start: Any = None
    alternatives: tuple[Draft | OutOfReachError, ...] = ()
    movable: CanMove | None = None
    guaranteed_line: Callable[[Guarantee], FittedLine] | None = None

    def guaranteed(self, rows: TrainingRows | None, guarantee: Guarantee) -> Draft:
        """Return the fit with a threshold and a calibration from rows set apart."""
        sizes = tuple(draft.guaranteed(rows, guarantee) for draft in self.sizes)
        alternatives = tuple(_guaranteed(each, rows, guarantee) for each in self.alternatives)
        if self.guaranteed_line is not None:
            fitted = self.guaranteed_line(guarantee)
            return self._replace(fitted=fitted, sizes=sizes, alternatives=alternatives)
        assert rows is not None  # noqa: S101 - else there is a line
        rows = rows._replace(X=self.features(rows.X))
        metric, line = self.fitted.operating_point.metric, self.fitted.line.copy()
        scores = round_scores(scores_of(rows.X, line[None])[:, 0])
        grid = guarantee.grid(self.curve)
        threshold, assessment = threshold_from_rows(metric, guarantee, rows, scores, grid)
        line[-1] -= threshold
        fitted = finalize_on_rows(metric, rows, line, scores - threshold, assessment)
        return self._replace(fitted=fitted, sizes=sizes, alternatives=alternatives)

    def finished(self) -> Fitted:
        """Return the fit with its card, if it has one."""
        others = tuple(
            each if isinstance(each, OutOfReachError) else each.finished()
            for each in self.alternatives
        )
        if self.card_of is None:
            return Fitted(self.fitted, self.report, alternatives=others)
        card, fitted = self.card_of(self.fitted)
        sizes = tuple(draft.finished() for draft in self.sizes)
        return Fitted(fitted, self.report, card, sizes, self.start, others)


def _guaranteed(
    draft: Draft | OutOfReachError, rows: TrainingRows | None, guarantee: Guarantee
) -> Draft | OutOfReachError:
    """Return an alternative with its threshold, or why it has none: another one is delivered."""
    if isinstance(draft, OutOfReachError):
        return draft
    try:
        return draft.guaranteed(rows, guarantee)
    except OutOfReachError as error:
        return error


class CanMove(Protocol):
    """What alternatives of a fit are made from: its lines, which move, and what becomes of them."""

    def search(self, parity: Parity, metric: Metric) -> PathSearch:
        """Return the search for alternatives."""
        ...

    def moved(self, metric: Metric, point: Point) -> Draft:
        """Return the fit of a point of the search."""
        ...

    def carriers(self, parity: Parity, lines: Sequence[FloatArray]) -> list[tuple[Any, ...]]:
        """Return columns, and what each line's score owes to them between the furthest segments.

        Lines are of all rows. The largest of the first line come first.
        """
        ...


class Movable(NamedTuple):
    """What alternatives of a fit to rows in memory are made from; see `CanMove`.

    ``best`` is the fit, in whose selection are the rows with its features; ``draft`` makes the fit
    of other lines. ``columns`` returns, for rows of a design, the columns of each block of features
    and where the blocks begin and end. ``signs``, ``ridge`` and ``units`` are those of the fit.
    """

    best: BestFit
    draft: Callable[[BestFit], Draft]
    columns: Callable[[Any], list[tuple[tuple[int, ...], slice]]]
    signs: Callable[[Any], IntArray | None]
    ridge: float
    units: Standardization | None = None

    def search(self, parity: Parity, metric: Metric) -> ParitySearch:
        """Return the search for alternatives."""
        best = self.best
        at = metric if best.choice is None else best.choice.at
        rows = best.selection.rows
        return ParitySearch(
            parity, metric, at, rows, best.lines, best.scores, self.signs, self.ridge
        )

    def moved(self, metric: Metric, point: Point) -> Draft:
        """Return the fit of a point of the search."""
        best = self.best
        lines, scaled, fold_losses = point.model
        final = finalize(
            metric, best.selection, lines, units=self.units, choice=best.choice, scaled=scaled
        )
        report = moved_report(best.report, point, final.assessment)
        if report.gap is not None and best.simple_folds is not None:
            gap = Gap.of_folds(report.gap.mean, best.simple_folds - fold_losses)
            report = replace(report, gap=gap)
        rows = best.selection.rows
        curve = curve_maker(rows.positive, rows.weight)(final.scores)
        return self.draft(
            best._replace(
                fitted=final.fitted, report=report, curve=curve, scores=final.scores, lines=lines
            )
        )

    def carriers(self, parity: Parity, lines: Sequence[FloatArray]) -> list[tuple[Any, ...]]:
        """Return columns, and what each line's score owes to them; see `CanMove`."""
        rows = self.best.selection.rows
        assert rows.segments is not None  # noqa: S101 - parity asks for them
        X = design_without(rows.X, None)
        base = np.where(parity.rows(rows.positive), rows.unpriced.weight, 0.0)
        names = rows.segments.names
        contrasts = contrasts_of(X, base, base, rows.segments.number, len(names))
        rates = self.best.fitted.operating_point.segments
        assert rates is not None  # noqa: S101 - likewise
        between = furthest_apart(contrasts, names, rates.gap(parity.rate))
        return carried(between, lines, self.columns(X))


def furthest_apart(contrasts: FloatArray, names: Sequence[Any], gap: SegmentGap) -> FloatArray:
    """Return the difference of contrasts between the two segments that are furthest apart."""
    highest, lowest = (names.index(name) for name in (gap.highest, gap.lowest))
    return contrasts[:, highest] - contrasts[:, lowest]


def carried(
    between: FloatArray,
    lines: Sequence[FloatArray],
    columns: Sequence[tuple[tuple[int, ...], slice]],
) -> list[tuple[Any, ...]]:
    """Return columns, and by what each moves the mean score of lines between two segments.

    ``between`` is the difference of the mean features. The largest of the first line come first.
    """
    found = [
        (column, *(float(between[part] @ line[:-1][part]) for line in lines))
        for column, part in columns
    ]
    return sorted(found, key=lambda each: -abs(each[1]))


class LearnedDesign(NamedTuple):
    """What a design has learned from rows of one class against the others.

    Candidates are compared on the rows ``seen``, as features, and the chosen one is fitted to all
    ``rows`` are the same unless they are too many. ``compared`` compares candidates for a metric,
    and ``draft`` adds to the chosen one what its report says about the design. ``units`` are those
    of the rows, if they are not the features' own; ``plain_ridge`` is the ridge of the simplest
    logistic regression, and ``trials`` what was compared before, if the design has chosen already.
    """

    seen: TrainingRows
    rows: TrainingRows
    compared: Callable[[Metric], Compared]
    draft: Callable[[Metric, BestFit], Draft]
    units: Standardization | None = None
    plain_ridge: float | None = None
    trials: Trials | None = None


class Design(Protocol):
    """What turns rows into features, what signs these keep, and what candidates there are."""

    def learn(self, keyed: KeyedRows, label: Any, n_folds: int, clock: Clock) -> LearnedDesign:
        """Learn from rows, without each fold and from all; ``n_folds`` if they have no folds."""
        ...


@dataclass(frozen=True)
class FitRows:
    """A fit to rows in memory; metrics share what the design learns, and the candidates.

    ``guarantees`` are, for each metric, the limits to keep on new rows. ``parity`` is a rate that
    is to agree between segments.
    """

    metrics: Sequence[Metric]
    n_folds: int
    design: Design
    guarantees: Sequence[Guarantee] | None = None
    parity: Parity | None = None

    def run(self, keyed: KeyedRows, label: Any, clock: Clock) -> list[Fitted]:
        """Fit a line or card for each metric, with one class against the others."""
        threshold_rows = None
        if self.guarantees is not None:
            # Rows that set a guaranteed threshold must not have been seen before.
            by_segment = any(limits.in_segments for limits in self.guarantees)
            keyed, apart = keyed.set_apart(label, THRESHOLD_SHARE, by_segment=by_segment)
            threshold_rows = apart.training_rows(label, 1)
        learned = self.design.learn(keyed, label, self.n_folds, clock)
        drafts = [learned.draft(metric, fit_best(metric, learned)) for metric in self.metrics]
        if self.parity is not None:
            fitted = zip(self.metrics, drafts, strict=True)
            drafts = [with_alternatives(self.parity, metric, draft) for metric, draft in fitted]
        if threshold_rows is not None:
            pairs = zip(drafts, self.guarantees or (), strict=True)
            drafts = [draft.guaranteed(threshold_rows, limits) for draft, limits in pairs]
        return [draft.finished() for draft in drafts]


def with_alternatives(parity: Parity, metric: Metric, plain: Draft) -> Draft:
    """Return the alternative that the parity asks for, with all others; or the plain fit."""
    movable = plain.movable
    assert movable is not None  # noqa: S101 - the design was asked for it
    search = movable.search(parity, metric)
    chosen, why = None, search.guard
    points: list[Point] = []
    if not why:
        points = search.points()
        chosen, why = search.choice(points, search.error)
        points = [point for point in points if point.gap < search.plain.value]
        points = frontier(points, chosen)
    drafts = [plain, *(movable.moved(metric, each) for each in points)]
    index = next((k for k, each in enumerate(points, start=1) if each is chosen), 0)
    entries = [_entry(parity, plain)]
    pairs = zip(drafts[1:], points, strict=True)
    entries += [_entry(parity, draft, each) for draft, each in pairs]
    lines = [search.line, points[index - 1].model.line if index else search.line]
    known = search.plain.lowest is not None  # two segments are apart
    carriers = tuple(starmap(Carrier, movable.carriers(parity, lines))) if known else ()
    table = Alternatives(parity, metric, tuple(entries), index, search.error, why, carriers)
    drafts = [
        draft._replace(report=replace(draft.report, alternatives=replace(table, chosen=k)))
        for k, draft in enumerate(drafts)
    ]
    return drafts[index]._replace(alternatives=tuple(drafts), movable=None)


def moved_report(report: DirectReport, point: Point, assessment: Assessment) -> DirectReport:
    """Return the report for a point of the path of a fit, by whose loss it is behind the fit."""
    by, size = -point.loss, report.size
    return replace(
        report,
        expected=assessment.estimate,
        gap=_shifted(report.gap, by),
        unbinned_baseline=_shifted(report.unbinned_baseline, by),
        size=None if size is None else size._replace(gap=_shifted(size.gap, by)),
    )


def _shifted(gap: Gap | None, by: float) -> Any:
    """Return a gap that is larger by a difference; its interval is as wide."""
    return None if gap is None else Gap(*(end + by for end in gap))


def _entry(parity: Parity, draft: Draft, point: Point | None = None) -> Alternative:
    """Return what held-out rows say about an alternative; without a point, about the plain fit."""
    at = draft.fitted.operating_point
    assert at.empirical is not None  # noqa: S101 - a fit to rows
    assert at.segments is not None  # noqa: S101 - parity asks for them
    seen = at.empirical.metric, at.segments.gap(parity.rate), at.segments
    if point is None:
        return Alternative("", 0.0, seen[0], Gap(0.0, 0.0, 0.0), 0.0, *seen[1:])
    reach = float(ndtri(0.5 + LEVEL / 2.0)) * point.error
    change = Gap(-point.loss, -point.loss - reach, -point.loss + reach)
    return Alternative(point.direction, point.strength, seen[0], change, point.error, *seen[1:])


def fit_best(metric: Metric, learned: LearnedDesign) -> BestFit:
    """Choose a candidate, fit it to all rows and set its threshold."""
    seen, rows = learned.seen, learned.rows
    candidates, comparison, skipped = learned.compared(metric)
    complexities = [_complexity(each, learned.plain_ridge) for each in candidates]
    rule = OneStandardError.of(comparison, complexities, STANDARD_ERRORS)
    index = rule(comparison.deciding)
    chosen = candidates[index]
    selection = Selection.of(seen, candidates, comparison, index, rule)
    selection = replace(selection, trials=learned.trials)
    lines = Lines(chosen.refit(rows.X, rows.positive, rows.weight), chosen.fold_lines)
    final = finalize(metric, selection, lines, units=learned.units)
    gap = 0.0
    if complexities[index] > 0.0:
        gap = gap_to_logistic(final.assessment, selection.with_complexity(0.0))
    report = DirectReport.of(
        metric,
        seen.name,
        candidates,
        comparison,
        index,
        final.assessment.estimate,
        gap,
        skipped=skipped,
        complexities=complexities,
        chance=final.assessment.chance,
    )
    curve = curve_maker(seen.positive, seen.weight)(final.scores)
    choice = final.assessment.choice
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


def gap_to_logistic(assessment: Assessment, logistic: IntArray) -> float:
    """Return how much better than the best logistic regression the choice is on new rows.

    ``logistic`` are the indices of the candidates that are logistic regressions.
    """
    choice = assessment.choice
    if choice is None:
        return 0.0

    def best_logistic(losses: FloatArray) -> int:
        return int(logistic[np.argmin(losses[logistic])])

    gap = choice.expected().metric - choice.expected(best_logistic).metric
    return gap if choice.metric.greater_is_better else -gap
