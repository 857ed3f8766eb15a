"""CardDesign: bins as features, with a structure and candidates that are learned from rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from directrix._typing import FloatArray, IntArray
from directrix.designs.compact import Behind, CompactFit, teacher_odds
from directrix.designs.editing import EditStart
from directrix.designs.points import PointsFit
from directrix.designs.screening import WIDE, ScreenedColumns, screened
from directrix.designs.structure import Structure, StructureSearch
from directrix.designs.trainers import CountTrainer, RowTrainer, Trainer
from directrix.fitting.choice import Choice, Selection
from directrix.fitting.directions import DirectionPrices, flat_columns
from directrix.fitting.finish import FitResult
from directrix.fitting.fit_rows import BestFit, Compared, Draft, LearnedDesign
from directrix.fitting.training_rows import Rows
from directrix.frontier.compare import MOST_ROWS, FoldDesigns, compare, design_without
from directrix.frontier.curves import Curves
from directrix.frontier.moment_frontier import SummaryCandidate, ridge_candidates
from directrix.frontier.row_frontier import ReportCandidates, RowCandidate, RowFrontier
from directrix.frontier.search import FTOL
from directrix.linear.margin import Logistic
from directrix.linear.recipes import Recipe, Sweep
from directrix.metrics.base import Metric
from directrix.models.card import Card, Scale
from directrix.models.gap import Gap
from directrix.models.report import CardSize
from directrix.tables.coding.card_coding import CardCoding, Direction
from directrix.tables.coding.coded_rows import Coding
from directrix.tables.coding.prior import CellKinds, cell_weights, straight_basis

#: Factors of the ridge of a structure with which closed-form cards are compared. Those of rows
#: begin with the ridge itself; others are neighbours of good candidates.
_RIDGE_FACTORS = (3.0, 1.0, 1.0 / 3.0)
#: The same for closed-form candidates among those of the rows, whose loss is flatter.
_CLOSED_RIDGE_FACTORS = (30.0, 10.0, 3.0)
#: Relative decrease that ends a descent of the structure search: areas under curves need no more.
_COARSE_FTOL = 1e-4
#: With more features, closed-form candidates cost more than those of the rows.
_MOST_FEATURES = 300
#: What a report compares cards with, by `learn_from`.
BASELINES = {
    "rows": "the logistic card of the same bins",
    "counts": "the closed-form card of equal trade-off",
}


@dataclass(frozen=True)
class CardSettings:
    """How a card is made, whatever it is trained for.

    ``learn_from`` is "rows" or "counts"; ``max_lines`` is "auto", the largest number of printed
    lines, or None for the full card; ``scale`` says what a point is worth, by default what the
    trained line says; ``editable`` whether a fit keeps what an editor begins with.
    """

    learn_from: str
    max_lines: int | str | None = None
    max_crosses: int | None = None
    directions: Sequence[Direction] = ()
    max_columns: int | str | None = None
    scale: Scale | None = None
    n_jobs: int | None = None
    editable: bool = False

    def structure_search(
        self,
        kinds: Sequence[CellKinds],
        rows: Rows,
        screen: Mapping[int | None, Sequence[int]] | None = None,
    ) -> StructureSearch:
        """Return the search for the structure of a card; rows have cells as their features."""
        trainer: Trainer = RowTrainer(rows, _COARSE_FTOL, self.n_jobs)
        if self.learn_from == "counts":
            trainer = CountTrainer(rows)
        return StructureSearch(
            kinds,
            rows,
            trainer,
            self.max_crosses,
            self.directions,
            self.max_columns,
            screen,
        )

    def with_columns(self, index: IntArray) -> CardSettings:
        """Return the settings for a table of some of the columns, at sorted positions."""
        place = {int(column): k for k, column in enumerate(index)}
        kept = [each for each in self.directions if each.column in place]
        return replace(self, directions=[each._replace(column=place[each.column]) for each in kept])


@dataclass(frozen=True)
class CardDesign:
    """Bins as features: which columns and crosses have points is learned from rows.

    ``kinds`` say what the cells of each column are. ``to_cells`` maps values of rows, as `Table`
    has them, to their cells.
    """

    kinds: Sequence[CellKinds]
    to_cells: Callable[[FloatArray], IntArray]
    settings: CardSettings

    def learn(self, rows: Rows, n_folds: int, progress: ReportCandidates) -> LearnedDesign:
        """Learn a structure; of a wide table, which columns are looked at."""
        raw = rows.in_folds(n_folds, MOST_ROWS)
        seen = raw._replace(X=self.to_cells(raw.X))
        values = raw.X if self.settings.editable else None
        if len(self.kinds) <= WIDE:
            search = self.settings.structure_search(self.kinds, seen)
            return _learned(self, search, rows, progress, edited=(seen, values))

        def search_of(index: IntArray, by_fold: Mapping[int | None, Any]) -> StructureSearch:
            kinds, cells = [self.kinds[k] for k in index], seen._replace(X=seen.X[:, index])
            return self.settings.with_columns(index).structure_search(kinds, cells, by_fold)

        columns, search = screened(self.kinds, seen, search_of)
        narrow = CardDesign(
            search.kinds,
            lambda values: self.to_cells(values)[:, columns.positions],
            self.settings.with_columns(columns.positions),
        )
        return _learned(narrow, search, rows, progress, columns, edited=(seen, values))


def _learned(
    design: CardDesign,
    search: StructureSearch,
    given: Rows,
    progress: ReportCandidates,
    columns: ScreenedColumns | None = None,
    *,
    edited: tuple[Rows, FloatArray | None],
) -> LearnedDesign:
    """Choose the structure on held-out rows, and code the rows by it.

    ``edited`` are rows with cells of all columns, and their values if an editor needs them.
    """
    cells, settings = search.rows, design.settings
    structure = search.run()
    folds = [] if cells.fold is None else range(int(cells.fold.max()) + 1)
    seen = rows = cells._replace(X=search.designs(structure, [None, *folds]))
    if len(cells.positive) < len(given.positive):  # the structure is learned from a sample
        coding = search.design(structure, None)
        rows = given._replace(X=coding.rows(design.to_cells(given.X)))
    ridge, n_jobs = structure.ridge, settings.n_jobs
    end = CardEnd(
        design,
        search,
        structure,
        UnbinnedBaseline(design.kinds, cells, n_jobs, search.screen),
        _direction_prices(search, ridge),
        columns,
        edited,
    )
    candidates = CardCandidates(seen, ridge, settings.learn_from, progress, n_jobs)
    return LearnedDesign(
        seen,
        rows,
        candidates.compared,
        end.draft,
        plain_ridge=ridge,
        trials=search.trials if search.tried else None,
    )


@dataclass(frozen=True)
class CardEnd:
    """The end of the fit of a card, whatever metric it is trained for.

    ``columns`` are those of the design, if the table was screened. ``edited`` are rows with cells
    of all columns, and their values if an editor needs them.
    """

    design: CardDesign
    search: StructureSearch
    structure: Structure
    unbinned: UnbinnedBaseline
    prices: DirectionPrices
    columns: ScreenedColumns | None
    edited: tuple[Rows, FloatArray | None]

    def draft(self, metric: Metric, best: BestFit) -> Draft:
        """Return the chosen card, on its scale if it has one.

        Its report says what directions cost, and how much better it is than without bins.
        """
        search, structure, settings = self.search, self.structure, self.design.settings
        coding = search.design(structure, None)
        card = Card.of(coding, best.fitted.line)
        kept = search.kept(structure.n_columns, None)
        followed = [each for each in settings.directions if each.column in kept]
        directions = self.prices.of(metric, flat_columns(followed, card.columns))
        unbinned, of_wide = self.unbinned.behind(best), self.columns
        report = replace(
            best.report,
            unbinned_baseline=None if unbinned is None else unbinned.gap,
            baseline=BASELINES[settings.learn_from],
            directions=directions,
            columns_tried=None if of_wide is None else (of_wide.n_tried, len(of_wide.n_cells)),
        )
        best = best._replace(report=report)
        if settings.scale is None and settings.max_lines is None and not settings.editable:
            return self._full_draft(metric, best, {None: card})[0]
        cards: dict[int | None, Card] = {None: card}
        for fold, line in enumerate(best.lines.without):
            cards[fold] = Card.of(search.design(structure, fold), line)
        draft, full_lines = self._full_draft(metric, best, cards)
        compact = CompactFit(
            settings.scale,
            metric,
            search.rows,
            search.kinds,
            settings.directions,
            2 if settings.max_lines is None else settings.max_lines,
            self._of_cells,
        )
        if settings.max_lines is not None:
            draft = compact.run(best, cards, draft, full_lines, unbinned)
        if not settings.editable:
            return draft
        teachers = compact.teachers(cards, teacher_odds(best.scores, search.rows))
        return draft._replace(start=self._start(teachers, draft.report.size))

    def _start(self, teachers: Mapping[int | None, Card], size: CardSize | None) -> EditStart:
        """Return what an editor begins with: full cards of all columns, and their rows."""
        rows, values = self.edited
        assert values is not None  # noqa: S101 - the settings ask for an editor
        cards = {fold: self._widened(card) for fold, card in teachers.items()}
        return EditStart(cards, rows, values, None if size is None else size.lines)

    def _full_draft(
        self,
        metric: Metric,
        best: BestFit,
        cards: Mapping[int | None, Card],
    ) -> tuple[Draft, int]:
        """Return the full card, on its scale if it has one, and the number of its lines.

        ``cards`` are the fitted card (None) and, for a scale, those made without each fold.
        """
        scale, kinds = self.design.settings.scale, self.search.kinds
        if scale is None:
            coding = self.search.design(self.structure, None)
            card_of = partial(_card_of_line, coding)
            draft = Draft(best.fitted, best.report, best.curve, coding.rows, card_of)
            return self._of_cells(draft), cards[None].count_lines(kinds)
        points = PointsFit(
            scale,
            metric,
            self.search.rows,
            self.design.settings.directions,
            kinds,
        )
        card, draft = points.run(best, cards)
        return self._of_cells(draft), card.count_lines(kinds)

    def _of_cells(self, draft: Draft) -> Draft:
        """Return the draft of a card of the cells of this design as one of raw rows."""
        features, card_of = partial(self._features, draft.features), draft.card_of
        assert card_of is not None  # noqa: S101 - it is the fit of a card
        return draft._replace(features=features, card_of=partial(self._card_of, card_of))

    def _features(self, of_cells: Callable[[IntArray], Any], values: FloatArray) -> Any:
        return of_cells(self.design.to_cells(values))

    def _card_of(
        self, made: Callable[[FitResult], tuple[Card, FitResult]], fitted: FitResult
    ) -> tuple[Card, FitResult]:
        card, fitted = made(fitted)
        return self._widened(card), fitted

    def _widened(self, card: Card) -> Card:
        return card if self.columns is None else self.columns.widened(card)


def _card_of_line(coding: CardCoding, fitted: FitResult) -> tuple[Card, FitResult]:
    return Card.of(coding, fitted.line), fitted


@dataclass(frozen=True)
class CardCandidates:
    """Candidates of one structure, compared on the same held-out rows; rows are coded.

    With ``learn_from="counts"`` all of them are in closed form.
    """

    rows: Rows
    ridge: float
    learn_from: str
    progress: ReportCandidates | None = None
    n_jobs: int | None = None

    def compared(self, metric: Metric) -> Compared:
        """Compare candidates for a metric."""
        if self.learn_from == "counts":
            curves = [candidate.curves for candidate in self._closed]
            complexities = [candidate.complexity for candidate in self._closed]
            comparison = compare(metric, curves, curves[0].criterion(metric), complexities)
            return Compared(self._closed, comparison)
        narrow = self.rows.X.shape[1] <= _MOST_FEATURES
        summary = self._closed if narrow else ()
        return Compared.of(metric, self._frontier, summary, Sweep((self.ridge,), np.inf))

    @cached_property
    def _closed(self) -> list[SummaryCandidate]:
        counts = self.learn_from == "counts"
        factors = _RIDGE_FACTORS if counts else _CLOSED_RIDGE_FACTORS
        ridges = [factor * self.ridge for factor in factors]
        return ridge_candidates(*self.rows[:4], ridges, baseline=counts)

    @cached_property
    def _frontier(self) -> RowFrontier:
        return RowFrontier(*self.rows[:4], progress=self.progress, ftol=FTOL, n_jobs=self.n_jobs)


def _direction_prices(search: StructureSearch, ridge: float) -> DirectionPrices:
    """Return what the directions of a search cost.

    The cards are additive, and trained by the likelihood or in closed form: they tell what a
    direction takes away, whatever is trained on top.

    ``search`` has all directions. ``ridge`` is that of all cards.
    """
    rows, every = search.rows, search.directions
    fold = rows.fold
    if fold is None:
        every = ()
    folds = [] if fold is None else range(int(fold.max()) + 1)

    def held_out(kept: Sequence[int]) -> Curves:
        X = replace(search, directions=[every[k] for k in kept]).designs(Structure(ridge), folds)
        lines = search.trainer.solve(X, [ridge], folds)
        scores = np.empty(len(rows.positive))
        for number in folds:
            tested, line = np.flatnonzero(fold == number), lines[ridge, number]
            scores[tested] = design_without(X, number)[tested] @ line[:-1] + line[-1]
        return Curves.of_scores(rows.positive, scores, rows.weight, fold)

    requested = [(each.name, each.requested) for each in every]
    return DirectionPrices(requested, held_out)


@dataclass
class UnbinnedBaseline:
    """Logistic regression without bins, on the same held-out rows as a card.

    A number is the mean of its bin, so that missing values and long tails do it no harm.

    ``screen`` has the columns that are used, as in `StructureSearch`; by default all are.
    """

    kinds: Sequence[CellKinds]
    rows: Rows
    n_jobs: int | None
    screen: Mapping[int | None, Sequence[int]] | None = None

    def behind(self, card: BestFit) -> Behind | None:
        """Return how much better a card is expected to be on new rows.

        None if no rows are held out.
        """
        if self.rows.fold is None or card.choice is None:
            return None
        metric, report = card.choice.metric, card.report
        comparison = compare(metric, [candidate.curves for candidate in self._candidates])
        best, sign = comparison.best, -1.0 if metric.greater_is_better else 1.0
        chosen = next(tried for tried in report.tried if tried.name == report.chosen)
        mean = float(comparison.losses[best]) - sign * chosen.metric
        if metric.limit is None:  # with a limit, both promise too much alike: of their thresholds
            lines = Selection.of(self.rows, self._candidates, comparison, best)
            without_bins = Choice.of(metric, lines, card.choice.sizes).expected().metric
            mean = sign * (without_bins - card.choice.expected().metric)
        folds = comparison.fold_losses[best]
        return Behind(Gap.of_folds(mean, folds - sign * np.array(chosen.folds)), folds)

    @cached_property
    def _candidates(self) -> list[RowCandidate]:
        """Lines of several ridges."""
        frontier = RowFrontier(
            self._designs(),
            *self.rows[1:4],
            ftol=FTOL,
            n_jobs=self.n_jobs,
        )
        candidates = frontier.plan(Recipe(Logistic(), ridge) for ridge in Sweep().ridges)
        frontier.solve_together(candidates, frontier.folds)
        for candidate in candidates:
            candidate.fit()
        return candidates

    def _designs(self) -> Any:
        """Return the rows as straight lines see them."""
        rows = self.rows
        bases = [
            straight_basis(kinds, cell_weights(kinds, cells, rows.weight))
            for kinds, cells in zip(self.kinds, rows.X.T, strict=True)
        ]
        if self.screen is None:
            return CardCoding(Coding(bases)).rows(rows.X)
        designs: dict[Any, Any] = {
            fold: CardCoding(
                Coding([basis if k in columns else basis[:, :0] for k, basis in enumerate(bases)])
            ).rows(rows.X)
            for fold, columns in self.screen.items()
        }
        return FoldDesigns(designs.pop(None), designs)
