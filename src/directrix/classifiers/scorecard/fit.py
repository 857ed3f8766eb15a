"""The fit of ScorecardClassifier to rows in memory: bins, structure, candidates, choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.classifiers.direct.fit import APART, FALL, fit_best, guaranteed
from directrix.classifiers.scorecard.directions import direction_prices, flat_columns
from directrix.classifiers.scorecard.points_fit import PointsFit, finished, points_as_rows
from directrix.classifiers.scorecard.screening import ScreenedColumns, is_wide, screened
from directrix.classifiers.scorecard.straight_lines import StraightLines
from directrix.classifiers.scorecard.structure import StructureSearch
from directrix.classifiers.scorecard.structure_choice import Structure
from directrix.classifiers.scorecard.trainers import CountTrainer, RowTrainer, Trainer
from directrix.designs.card import CardDesign, Direction
from directrix.frontier.compare import MOST_ROWS, Candidate, Comparison, compare
from directrix.frontier.moment_candidates import SummaryCandidate, ridge_candidates
from directrix.frontier.recipes import Sweep
from directrix.frontier.row_frontier import RowFrontier
from directrix.frontier.search import Search
from directrix.models.card import Card
from directrix.tables.coding.prior import CellKinds

if TYPE_CHECKING:
    from directrix._typing import FloatArray, IntArray
    from directrix.classifiers.direct.fit import BestFit
    from directrix.fitting.finalize import FittedLine
    from directrix.fitting.guarantee import Guarantee
    from directrix.fitting.progress import Clock
    from directrix.fitting.training_rows import KeyedRows, TrainingRows
    from directrix.fitting.trials import Trials
    from directrix.metrics.base import Metric
    from directrix.metrics.curve import Curve
    from directrix.models.card import Scale
    from directrix.models.report import DirectReport

#: Factors of the ridge of a structure with which closed-form cards are compared. Those of rows
#: begin with the ridge itself; others are neighbours of good candidates.
_NEAR = (3.0, 1.0, 1.0 / 3.0)
#: Relative decrease that ends a descent of the structure search: areas under curves need no more.
_COARSE_FALL = 1e-4
#: The same for closed-form candidates among those of the rows, whose loss is flatter.
_NEAR_CLOSED = (30.0, 10.0, 3.0)
#: With more features, closed-form candidates cost more than those of the rows.
_MOST_FEATURES = 300
#: What a report compares cards with, by `train_on`.
BASELINES = {
    "rows": "the logistic card of the same bins",
    "counts": "the closed-form card of equal trade-off",
}


class FittedCard(NamedTuple):
    """The fit of one class against the others.

    Parameters
    ----------
    fitted : FittedLine
        In the features of the card's design.
    report : DirectReport
    card : Card
    structure : Structure
    """

    fitted: FittedLine
    report: DirectReport
    card: Card
    structure: Structure


class Unfinished(NamedTuple):
    """A fit whose threshold rows that are set apart may still move.

    Parameters
    ----------
    fitted : FittedLine
        Of the features of the design or, with a scale, of points.
    curve : Curve
        Of held-out scores.
    report : DirectReport
    structure : Structure
    design : CardDesign
    card : Card, optional
        The card on its scale.
    columns : ScreenedColumns, optional
        The columns of the design, if the table was screened.
    """

    fitted: FittedLine
    curve: Curve
    report: DirectReport
    structure: Structure
    design: CardDesign
    card: Card | None = None
    columns: ScreenedColumns | None = None

    def features(self, cells: IntArray) -> Any:
        """Return what the line is of, for rows with these cells."""
        cells = cells if self.columns is None else cells[:, self.columns.positions]
        return self.design.rows(cells) if self.card is None else points_as_rows(self.card, cells)

    def finished(self) -> FittedCard:
        """Return the fit with its card."""
        if self.card is None:
            card, fitted = Card.of(self.design, self.fitted.line), self.fitted
        else:
            card, fitted = finished(self.card, self.fitted)
        card = card if self.columns is None else self.columns.widened(card)
        return FittedCard(fitted, self.report, card, self.structure)


@dataclass(frozen=True)
class CardSettings:
    """How a card is made, whatever it is trained for.

    Parameters
    ----------
    train_on : "rows" or "counts"
    max_crosses : int, optional
    directions : sequence of Direction
        Of columns whose points may only rise.
    max_columns : int or "auto", optional
    scale : Scale, optional
        What a point is worth; by default points are those of the trained line.
    n_jobs : int, optional
    """

    train_on: str
    max_crosses: int | None = None
    directions: Sequence[Direction] = ()
    max_columns: int | str | None = None
    scale: Scale | None = None
    n_jobs: int | None = None

    def structure_search(
        self,
        kinds: Sequence[CellKinds],
        rows: TrainingRows,
        clock: Clock,
        screen: Mapping[int | None, Sequence[int]] | None = None,
    ) -> StructureSearch:
        """Return the search for the structure of a card.

        Parameters
        ----------
        kinds : sequence of CellKinds
        rows : TrainingRows
            With cells as their features.
        clock : Clock
        screen : mapping of fold to columns, optional
            As in `StructureSearch`.
        """
        trainer: Trainer = RowTrainer(rows, _COARSE_FALL, clock.is_over, self.n_jobs)
        if self.train_on == "counts":
            trainer = CountTrainer(rows, clock.is_over)
        return StructureSearch(
            kinds,
            rows,
            trainer,
            clock.is_over,
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
class CardFit:
    """A fit to rows in memory.

    Parameters
    ----------
    metrics : sequence of Metric
        Each gets a card of its own; they share bins, structure and candidates.
    n_folds : int
        Number of folds, if the rows come without folds.
    kinds : sequence of CellKinds
        What the cells of each column are.
    to_cells : callable
        From values of rows, as `Table` has them, to their cells.
    settings : CardSettings
    guarantees : sequence of Guarantee, optional
        For each metric the limits to keep on new rows.
    """

    metrics: Sequence[Metric]
    n_folds: int
    kinds: Sequence[CellKinds]
    to_cells: Callable[[FloatArray], IntArray]
    settings: CardSettings
    guarantees: Sequence[Guarantee] | None = None

    def run(self, keyed: KeyedRows, label: Any, clock: Clock) -> list[FittedCard]:
        """Fit a card for each metric, with one class against the others."""
        if self.guarantees is None:
            return [unfinished.finished() for unfinished in self._fits(keyed, label, clock)]
        # Rows that set a guaranteed threshold must not have been seen before.
        kept, apart = keyed.set_apart(label, APART)
        rows = apart.training_rows(label, 1)
        cells = self.to_cells(rows.X)
        fits = []
        for unfinished, guarantee in zip(
            self._fits(kept, label, clock), self.guarantees, strict=True
        ):
            fitted = guaranteed(
                unfinished.fitted,
                unfinished.curve,
                rows._replace(X=unfinished.features(cells)),
                guarantee,
            )
            fits.append(unfinished._replace(fitted=fitted).finished())
        return fits

    def _fits(self, keyed: KeyedRows, label: Any, clock: Clock) -> list[Unfinished]:
        seen = keyed.training_rows(label, self.n_folds, MOST_ROWS)
        seen = seen._replace(X=self.to_cells(seen.X))
        if not is_wide(len(self.kinds), clock):
            search = self.settings.structure_search(self.kinds, seen, clock)
            return self._fits_of(search, keyed, label, clock)

        def search_of(index: IntArray, by_fold: Mapping[int | None, Any]) -> StructureSearch:
            kinds, rows = [self.kinds[k] for k in index], seen._replace(X=seen.X[:, index])
            return self.settings.with_columns(index).structure_search(kinds, rows, clock, by_fold)

        columns, search, note = screened(self.kinds, seen, clock, search_of)
        narrow = replace(
            self,
            kinds=search.kinds,
            to_cells=lambda values: self.to_cells(values)[:, columns.positions],
            settings=self.settings.with_columns(columns.positions),
        )
        search.skipped.extend([note] if note else [])
        fits = narrow._fits_of(search, keyed, label, clock)  # noqa: SLF001 - of this very class
        return [fit._replace(columns=columns) for fit in fits]

    def _fits_of(
        self, search: StructureSearch, keyed: KeyedRows, label: Any, clock: Clock
    ) -> list[Unfinished]:
        seen, settings = search.rows, self.settings
        structure = search.run()
        design = search.design(structure, None)
        folds = [] if seen.fold is None else range(int(seen.fold.max()) + 1)
        coded = seen._replace(X=search.designs(structure, [None, *folds]))
        rows = coded
        if len(seen.positive) < len(keyed.index):  # the design is learned from a sample
            rows = keyed.all_rows(label)
            rows = rows._replace(X=design.rows(self.to_cells(rows.X)))
        trials = search.trials if search.tried else None
        candidates = Candidates(
            coded, structure.ridge, settings.train_on, clock, settings.n_jobs, trials
        )
        # All of the budget is used up: better points are worth the time kept for the end of a fit.
        used_up = partial(clock.is_over, -1.0)
        straight = StraightLines(self.kinds, seen, settings.n_jobs, search.screen, used_up)
        prices = direction_prices(search, structure.ridge)
        kept = search.kept(structure.n_columns, None)
        followed = [each for each in settings.directions if each.column in kept]
        fits = []
        for metric in self.metrics:
            best = candidates.best(metric, rows)
            fit = best.fit
            card = Card.of(design, fit.fitted.line)
            directions = prices.of(metric, flat_columns(followed, card.columns))
            gap = straight.gap(best)
            report = replace(
                fit.report,
                straight=gap,
                baseline=BASELINES[settings.train_on],
                skipped=(
                    *search.skipped,
                    *fit.report.skipped,
                    *prices.skipped,
                    *straight.skipped,
                ),
                directions=directions,
            )
            best = best._replace(fit=fit._replace(report=report))
            if settings.scale is None:
                fits.append(Unfinished(fit.fitted, best.curve, report, structure, design))
                continue
            cards: dict[int | None, Card] = {None: card}
            for fold, line in enumerate(best.lines.without):
                cards[fold] = Card.of(search.design(structure, fold), line)
            points = PointsFit(
                settings.scale, metric, seen, settings.directions, used_up, self.kinds
            )
            scaled = points.run(best, cards)
            fits.append(
                Unfinished(
                    scaled.fitted, scaled.curve, scaled.report, structure, design, scaled.card
                )
            )
        return fits


class Compared(NamedTuple):
    """Candidates, and their comparison.

    Parameters
    ----------
    candidates : sequence of Candidate
    comparison : Comparison
    skipped : sequence of str
        Steps of the search for which there was no time.
    """

    candidates: Sequence[Candidate]
    comparison: Comparison
    skipped: Sequence[str] = ()


@dataclass(frozen=True)
class Candidates:
    """Candidates of one structure, trained for metrics and compared on the same held-out rows.

    Parameters
    ----------
    rows : TrainingRows
        With coded features.
    ridge : float
        Of the structure.
    train_on : "rows" or "counts"
    clock : Clock
    n_jobs : int, optional
    trials : Trials, optional
        Structures that were compared on the same rows.
    """

    rows: TrainingRows
    ridge: float
    train_on: str
    clock: Clock
    n_jobs: int | None
    trials: Trials | None = None

    def best(self, metric: Metric, rows: TrainingRows) -> BestFit:
        """Choose a candidate for a metric, and fit it to all rows; see `fit_best`."""
        compared = self.compared(metric)
        return fit_best(
            metric,
            compared.candidates,
            compared.comparison,
            self.rows,
            rows,
            skipped=compared.skipped,
            plain_ridge=self.ridge,
            trials=self.trials,
        )

    def compared(self, metric: Metric) -> Compared:
        """Compare candidates for a metric."""
        if self.train_on == "counts":
            comparison = compare(metric, [candidate.curves for candidate in self._closed])
            few = len({candidate.ridge for candidate in self._closed}) < len(_NEAR)
            return Compared(self._closed, comparison, ["cards of other ridges"] if few else [])
        moments = None
        if self.rows.X.shape[1] <= _MOST_FEATURES:
            moments = lambda: self._closed  # noqa: E731 - not before the search has time for it
        search = Search(self._frontier, metric, moments, Sweep((self.ridge,), np.inf))
        comparison = search.run()
        return Compared(search.candidates, comparison, search.skipped)

    @cached_property
    def _closed(self) -> list[SummaryCandidate]:
        counts = self.train_on == "counts"
        near: tuple[float, ...] = _NEAR if counts else _NEAR_CLOSED
        if counts and self.clock.is_over():  # they cannot be interrupted, and one is needed
            near = (1.0,)
        ridges = [factor * self.ridge for factor in near]
        return ridge_candidates(*self.rows[:4], ridges, baseline=counts)

    @cached_property
    def _frontier(self) -> RowFrontier:
        return RowFrontier(
            *self.rows[:4],
            progress=self.clock,
            fall=FALL,
            out_of_time=self.clock.is_over,
            n_jobs=self.n_jobs,
        )
