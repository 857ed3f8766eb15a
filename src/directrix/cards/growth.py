"""The growth of a card: strengths of one likelihood, columns and crosses, by held-out log loss.

Every choice is made on scores of cards that did not see the rows: the strength of the prior, how
many columns there are, and whether crosses help. Crosses, and columns that are kept, are found anew
without each fold. No metric is known here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from directrix._typing import AnyArray, FloatArray
from directrix.cards.basis import Basis
from directrix.cards.card import Card, Cross
from directrix.cards.crosses import CrossSearch, FoundCross, indicators_of
from directrix.cards.likelihood import (
    RIDGE,
    Features,
    Likelihood,
    Problem,
    fold_losses,
    variances,
)
from directrix.cards.prior import CellKinds
from directrix.cards.screening import WIDE, directions_of_column, screened
from directrix.cards.sizes import deviations, smallest, widened
from directrix.fit.curves import ScoreCurves
from directrix.fit.directions import Direction
from directrix.fit.training_rows import Rows
from directrix.metrics import AUC

#: Factors of the inverse variances; without held-out rows the first.
_STRENGTHS = (3.0, 1.0, 0.3)
#: Numbers of columns that are tried where the rows say how many.
_COLUMNS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
#: Largest inverse variance, of a column that is left out.
_NONE = 1e10
#: Factors of the inverse variances of crosses, and their largest variance: that of one row.
_CROSS_FACTORS, _MOST_VARIANCE = (3.0, 1.0), 1.0


Grams = Mapping[int | None, FloatArray]
#: Which columns may have points, of all rows (None) and without each fold.
Passed = Mapping[int | None, AnyArray]


class CardAsk(NamedTuple):
    """What is asked of a card.

    ``max_columns`` is a number, "auto" or None.
    """

    max_crosses: int | None = None
    max_columns: int | str | None = None
    directions: Sequence[Direction] = ()


class Tried(NamedTuple):
    """Something that was compared, and the log-odds of rows by its cards without their fold."""

    name: str
    held_out: FloatArray


@dataclass(frozen=True, eq=False)
class Grown:
    """A full card whose points are log-odds, made from all rows (None) and without each fold.

    ``tried`` is all that was compared on held-out rows, and ``chosen`` the index of the full card.
    ``passed`` says which columns of a wide table were looked at, of all rows and without each fold.
    """

    cards: Mapping[int | None, Card]
    tried: Sequence[Tried] = ()
    chosen: int = 0
    passed: Passed | None = None


@dataclass(eq=False)
class _Fits:
    """Coefficients of all rows and without each fold, with what they were penalised by."""

    coef: dict[int | None, FloatArray]
    penalty: dict[int | None, FloatArray]
    held_out: FloatArray = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, eq=False)
class _Crossed:
    """Crosses of all rows and without each fold, and coefficients for each factor."""

    found: Mapping[int | None, Sequence[FoundCross]]
    curvature: FloatArray
    coef: dict[int | None, FloatArray] = field(default_factory=dict)
    factor: int = 0
    held_out: FloatArray = field(default_factory=lambda: np.empty(0))

    def solve(
        self,
        growth: _Growth,
        without: int | None,
        start: FloatArray,
        penalty: FloatArray,
        gram: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        """Return coefficients with crosses, one column for each factor, and the scores of rows.

        The penalty of columns stays, and crosses have variances by the marginal likelihood.
        """
        plain, crosses = growth.likelihood, self.found[without]
        if not crosses:  # the rows outside this fold have none
            coef = np.repeat(start[:, None], len(_CROSS_FACTORS), axis=1)
            return coef, plain.features.scores(coef).astype(np.float64)
        sizes = [rows * columns for rows, columns in (each.shape for each in crosses)]
        n_columns = len(growth.kinds)
        block = np.repeat(n_columns + np.arange(len(crosses)), sizes)
        features = replace(plain.features, crossed=indicators_of(crosses, growth.rows.X))
        likelihood = replace(
            plain,
            features=features,
            block=np.concatenate([plain.block, block]),
            signs=np.concatenate([plain.signs, np.zeros_like(block)]),
        )
        kept = np.flatnonzero(plain.rows_without(without))
        both = features.bordered(gram, self.curvature, kept)
        coef = np.concatenate([start, np.zeros(len(block))])
        gradient = likelihood.gradient(features.scores(coef[:, None])[:, 0], without)
        linear = both @ coef - gradient
        n, inner = len(start), both[: len(start), : len(start)] + np.diag(penalty)
        explained = cho_solve(cho_factor(inner), np.column_stack([both[:n, n:], linear[:n]]))
        rest = both[n:, n:] - both[n:, :n] @ explained[:, :-1]
        off = linear[n:] - both[n:, :n] @ explained[:, -1]
        signs, number = np.zeros_like(block), block - n_columns
        own = 1.0 / np.minimum(variances(rest, off, number, signs, 1.0), _MOST_VARIANCE)[number]
        problems = [
            Problem(without, np.concatenate([penalty, factor * own]), both, coef)
            for factor in _CROSS_FACTORS
        ]
        made = likelihood.descend(problems)
        return made, features.scores(made).astype(np.float64)


def grow_card(rows: Rows, kinds: Sequence[CellKinds], ask: CardAsk) -> Grown:
    """Grow a card from rows in the order of their keys, with folds and with cells as features."""
    if sum(map(directions_of_column, kinds)) <= WIDE:
        return _Growth.of(rows, kinds, ask).run()
    passed = screened(rows, kinds)
    index = np.flatnonzero(np.logical_or.reduce(list(passed.values())))
    place = {int(column): k for k, column in enumerate(index)}
    directions = [
        each._replace(column=place[each.column]) for each in ask.directions if each.column in place
    ]
    growth = _Growth.of(
        rows._replace(X=np.ascontiguousarray(rows.X[:, index])),
        [kinds[k] for k in index.tolist()],
        ask._replace(directions=directions),
        {without: each[index] for without, each in passed.items()},
    )
    grown = growth.run()
    cards = {without: widened(card, index, kinds) for without, card in grown.cards.items()}
    return replace(grown, cards=cards, passed=passed)


@dataclass(frozen=True, eq=False)
class _Growth:
    rows: Rows
    kinds: Sequence[CellKinds]
    ask: CardAsk
    basis: Basis
    likelihood: Likelihood
    passed: Passed | None

    @classmethod
    def of(
        cls, rows: Rows, kinds: Sequence[CellKinds], ask: CardAsk, passed: Passed | None = None
    ) -> _Growth:
        basis = Basis.of(kinds, rows.X, rows.weight, ask.directions)
        likelihood = Likelihood(
            Features(basis.rows(rows.X)),
            basis.block,
            basis.signs,
            rows.positive,
            rows.weight / rows.weight.mean(),
            rows.fold,
        )
        return cls(rows, kinds, ask, basis, likelihood, passed)

    @property
    def folds(self) -> range:
        return range(self.likelihood.n_folds)

    def run(self) -> Grown:
        likelihood = self.likelihood
        first = likelihood.first_fit()
        scores = likelihood.features.scores(first[:, None])[:, 0]
        curvature = likelihood.curvature(scores)
        grams = likelihood.grams(curvature)
        starts = self._starts(first, grams)
        penalty = {
            without: self._penalty(without, start, grams[without])
            for without, start in starts.items()
        }
        if not self.folds:
            fits = _Fits({}, {None: np.minimum(_STRENGTHS[0] * penalty[None], _NONE)})
            return Grown({None: self._card(self._refit(fits, grams, first))})
        strengths = self._strengths(starts, penalty, grams)
        best = self._least(strengths)
        fits = strengths[best]
        named = zip(_STRENGTHS, strengths, strict=True)
        tried = [
            Tried(f"a prior of strength {strength:g}", each.held_out) for strength, each in named
        ]
        if self.ask.max_columns is not None:
            fewer, counts = self._fewer_columns(fits, grams)
            areas = np.array([mean_area(each.held_out, self.rows) for each in (*fewer, fits)])
            count = smallest(areas, range(len(fewer) + (len(fewer) > 1)))
            of_counts = zip(counts, fewer, strict=True)
            tried += [Tried(f"{number} columns", each.held_out) for number, each in of_counts]
            if count < len(fewer):
                best, fits = len(_STRENGTHS) + count, fewer[count]
        crossed = self._crossed(fits, grams, curvature)
        if crossed is not None:
            tried.append(Tried("crosses of columns", crossed.held_out))
            cards = self._crossed_cards(crossed, fits, grams, first)
            return Grown(cards, tried, len(tried) - 1)
        fits.coef[None] = self._refit(fits, grams, first)
        cards = {without: self._card(coef) for without, coef in fits.coef.items()}
        return Grown(cards, tried, best)

    def _kept(self, without: int | None) -> AnyArray:
        """Return which coefficients a card may have, in a wide table."""
        block = self.basis.block
        if self.passed is None:
            return np.ones(len(block), dtype=bool)
        kept: AnyArray = np.append(self.passed[without], True)[block]
        return kept

    def _penalty(self, without: int | None, start: FloatArray, gram: FloatArray) -> FloatArray:
        """Return the inverse variance of each coefficient, by the marginal likelihood."""
        likelihood, block, kept = self.likelihood, self.basis.block, self._kept(without)
        at = likelihood.features.scores(start[:, None])[:, 0]
        linear = gram @ start - likelihood.gradient(at, without)
        total = float(likelihood.weight[likelihood.rows_without(without)].sum())
        own = np.unique(block[kept], return_inverse=True)[1] - 1  # the intercept is the first
        parabola = gram[np.ix_(kept, kept)], linear[kept], own, self.basis.signs[kept]
        penalty = np.full(len(block), _NONE)
        penalty[kept] = np.append(1.0 / variances(*parabola, 1.0 / (RIDGE * total)), 0.0)[own]
        return penalty

    def _starts(self, first: FloatArray, grams: Grams) -> dict[int | None, FloatArray]:
        """Return the fits at one ridge; those without a fold begin with nothing."""
        nothing, likelihood = np.zeros_like(first), self.likelihood
        nothing[likelihood.block < 0] = first[likelihood.block < 0]
        problems = [
            Problem(k, np.where(self._kept(k), likelihood.ridge(k), _NONE), grams[k], nothing)
            for k in self.folds
        ]
        coef = likelihood.descend(problems) if problems else np.empty((len(first), 0))
        return {None: first, **dict(enumerate(coef.T))}

    def _strengths(
        self,
        starts: Mapping[int | None, FloatArray],
        penalty: Mapping[int | None, FloatArray],
        grams: Grams,
    ) -> list[_Fits]:
        """Return the fits without each fold, for each strength."""
        every = [
            {k: np.minimum(by * each, _NONE) for k, each in penalty.items()} for by in _STRENGTHS
        ]
        problems = [Problem(k, each[k], grams[k], starts[k]) for each in every for k in self.folds]
        return self._fitted(problems, every)

    def _fewer_columns(self, fits: _Fits, grams: Grams) -> tuple[list[_Fits], list[int]]:
        """Return the fits with the columns whose points move most, in several numbers of them."""
        asked = self.ask.max_columns
        counts = [asked] if isinstance(asked, int) else [k for k in _COLUMNS if k < len(self.kinds)]
        every: list[dict[int | None, FloatArray]] = []
        orders = {}
        coef = fits.coef | {None: np.mean(list(fits.coef.values()), axis=0)}
        for without, each in coef.items():
            points = self.basis.points(each)
            spread = deviations(points, self.rows.X, self.rows.weight)
            orders[without] = np.argsort(-spread, kind="stable")
        for count in counts:
            by_fold = {}
            for without, order in orders.items():
                left_out = np.isin(self.basis.block, order[count:])
                by_fold[without] = np.where(left_out, _NONE, fits.penalty[without])
            every.append(by_fold)
        problems = [
            Problem(k, each[k], grams[k], np.where(each[k] >= _NONE, 0.0, coef[k]))
            for each in every
            for k in self.folds
        ]
        return self._fitted(problems, every), counts

    def _fitted(
        self, problems: Sequence[Problem], penalties: Sequence[dict[int | None, FloatArray]]
    ) -> list[_Fits]:
        """Solve problems of every fold, for several penalties."""
        coef, n_folds, made = self.likelihood.descend(problems), len(self.folds), []
        coef = np.where(np.column_stack([each.penalty for each in problems]) >= _NONE, 0.0, coef)
        for number, penalty in enumerate(penalties):
            own = coef[:, number * n_folds : (number + 1) * n_folds]
            made.append(_Fits(dict(enumerate(own.T)), penalty, self.likelihood.held_out(own)))
        return made

    def _least(self, tried: Sequence[_Fits]) -> int:
        """Return the index of the fits of least held-out log loss."""
        assert self.rows.fold is not None  # noqa: S101 - there are folds
        of_rows = self.rows.positive, self.rows.weight, self.rows.fold
        return int(np.argmin([fold_losses(each.held_out, *of_rows).mean() for each in tried]))

    def _refit(self, fits: _Fits, grams: Grams, first: FloatArray) -> FloatArray:
        """Return the coefficients of all rows."""
        problem = Problem(None, fits.penalty[None], grams[None], first)
        coef: FloatArray = self.likelihood.descend([problem])[:, 0]
        return np.where(fits.penalty[None] >= _NONE, 0.0, coef)

    def _crossed(self, fits: _Fits, grams: Grams, curvature: FloatArray) -> _Crossed | None:
        """Return the fits with crosses, if they are better on held-out rows; else None."""
        rows, likelihood, ask = self.rows, self.likelihood, self.ask
        assert rows.fold is not None  # noqa: S101 - there are folds
        directed = [each.column for each in ask.directions]
        usable = {}
        for without, penalty in fits.penalty.items():
            used = np.unique(self.basis.block[penalty < _NONE])
            usable[without] = np.isin(np.arange(len(self.kinds)), np.setdiff1d(used, directed))
        labels = rows.positive, likelihood.weight, rows.fold
        search = CrossSearch(rows.X, self.kinds, *labels, fits.held_out, usable, ask.max_crosses)
        found = search.run()
        if not found:
            return None
        made = _Crossed(found, curvature)
        held_out = np.empty((len(rows.positive), len(_CROSS_FACTORS)))
        for k in self.folds:
            coef, scores = made.solve(self, k, fits.coef[k], fits.penalty[k], grams[k])
            made.coef[k], tested = coef, np.flatnonzero(rows.fold == k)
            held_out[tested] = scores[tested]
        of_rows = rows.positive, rows.weight, rows.fold
        before = fold_losses(fits.held_out, *of_rows)
        losses = np.stack([fold_losses(each, *of_rows) for each in held_out.T])
        best = int(np.argmin(losses.mean(axis=1)))
        gain = before - losses[best]
        # A standard error of folds that share training rows (Nadeau and Bengio 2003).
        error = gain.std(ddof=1) * np.sqrt(1.0 / len(gain) + 1.0 / max(len(gain) - 1, 1))
        if not gain.mean() > error:
            return None
        return replace(made, factor=best, held_out=held_out[:, best])

    def _crossed_cards(
        self, crossed: _Crossed, fits: _Fits, grams: Grams, first: FloatArray
    ) -> dict[int | None, Card]:
        crossed.coef[None], _ = crossed.solve(self, None, first, fits.penalty[None], grams[None])
        size = len(self.basis.block)
        cards = {}
        for without, both in crossed.coef.items():
            coef = np.where(fits.penalty[without] >= _NONE, 0.0, both[:size, crossed.factor])
            shapes = [each.shape for each in crossed.found[without]]
            ends = np.cumsum([a * b for a, b in shapes], dtype=np.int64)
            parts = np.split(both[size:, crossed.factor], ends)[:-1]
            crosses = [
                Cross(each.columns, each.merged, part.reshape(shape))
                for each, part, shape in zip(crossed.found[without], parts, shapes, strict=True)
            ]
            cards[without] = replace(self._card(coef), crosses=tuple(crosses))
        return cards

    def _card(self, coef: FloatArray) -> Card:
        return Card(float(coef[self.basis.block < 0][0]), self.basis.points(coef))


def mean_area(scores: FloatArray, rows: Rows) -> float:
    """Return the mean over folds of the area under the ROC curve."""
    curves = ScoreCurves(rows.positive, scores, rows.weight, rows.fold).folds
    return float(np.mean([AUC().best_value(curve) for curve in curves]))
