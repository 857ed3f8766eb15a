"""The structure of a card: how strong its ridge is, and how many crosses it has.

Both are chosen by the area under the ROC curve of plain cards on held-out rows: it is steadier than
a metric at one operating point, for which the chosen structure is then trained. Everything that
looks at labels (the order of levels in crosses, which pairs are crossed, the variance of a block's
points) is learned without the fold it is tested on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import FloatArray, IntArray
from directrix.designs.trainers import Solved, Trainer
from directrix.fitting.training_rows import Rows
from directrix.fitting.trials import HeldOutArea, Trials
from directrix.frontier.compare import FoldDesigns, design_without
from directrix.models.shares import effective_rows
from directrix.tables.coding.card_coding import CardCoding, Direction, column_codings
from directrix.tables.coding.coded_rows import CodedRows, Coding
from directrix.tables.coding.crosses import CrossGrid, CrossSearch, cross_cells
from directrix.tables.coding.prior import CellKinds, cell_weights

# ── Structures of a card, and the rule that chooses among those that were tried ───────────────────

#: A richer card must gain so much, and so many standard errors of the difference: with reweighted
#: blocks, and with crosses, each of which is beyond chance already.
_MARGIN, _CAUTION, _CAUTION_OF_CROSSES = 1e-3, 2.0, 1.0


class Structure(NamedTuple):
    """What makes a card, apart from what it is trained for.

    ``reweighted`` says whether columns and crosses with larger effects have a larger prior
    variance. ``auc`` is the mean area under the curve on the folds it was compared on; NaN if no
    rows were held out. ``n_columns`` says how many columns have points; all by default.
    """

    ridge: float
    n_crosses: int = 0
    reweighted: bool = False
    auc: float = float("nan")
    n_columns: int | None = None

    @property
    def is_label_free(self) -> bool:
        """Whether the features are the same without any fold."""
        return not self.n_crosses and not self.reweighted and self.n_columns is None


@dataclass(frozen=True)
class StructureRule:
    """Chooses among structures by their held-out areas; a richer one must gain beyond doubt.

    Of structures that differ in the ridge alone the best is taken. A step to crosses must gain more
    than `_MARGIN` and than one standard error of the paired difference, a step to reweighted blocks
    more than two.

    ``tried`` are in the order in which they were tried. ``errors`` of shape (k, k) are the standard
    errors of the differences between each two areas. ``fewest_columns`` says whether the smallest
    card is taken of those that are as good as the best.
    """

    tried: tuple[Structure, ...]
    errors: FloatArray
    fewest_columns: bool = False

    def __call__(self, losses: FloatArray) -> int:
        """Return the index of the chosen structure; losses are areas, negated."""
        steps: dict[Structure, list[int]] = {}
        for k, structure in enumerate(self.tried):
            steps.setdefault(structure._replace(ridge=np.inf, auc=np.inf), []).append(k)
        best_ridges = {step: min(alike, key=losses.__getitem__) for step, alike in steps.items()}
        plain = [k for step, k in best_ridges.items() if not step.n_crosses | step.reweighted]
        plain = plain[1:] or plain  # cards of fewer columns are compared with one another only
        best = min(plain, key=losses.__getitem__)
        if self.fewest_columns:
            good = [k for k in plain if losses[k] <= losses[best] + _MARGIN]
            best = min(good, key=lambda k: self.tried[k].n_columns or 0)
        for step, k in best_ridges.items():
            if not step.n_crosses | step.reweighted:
                continue
            caution = _CAUTION if step.reweighted else _CAUTION_OF_CROSSES
            if losses[best] - losses[k] > max(_MARGIN, caution * self.errors[k, best]):
                best = k
        return best


# ── Crosses of a card, found without the fold it is tested on ─────────────────────────────────────


def find_crosses(
    kinds: Sequence[CellKinds],
    rows: Rows,
    chance: FloatArray,
    fold: int | None,
    kept: Collection[int],
    most: int,
    least: int = 0,
) -> list[CrossGrid]:
    """Return crosses of pairs of columns, the most certain first; see `CrossSearch`.

    ``rows`` have cells as their features. ``chance`` is the probability of the positive class by a
    card without crosses. Rows of ``fold`` are not looked at. ``kept`` are the columns that may be
    crossed. There are ``most`` crosses at most, and the ``least`` first need not be beyond chance.
    """
    used = np.flatnonzero(rows.weight if fold is None else (rows.fold != fold) & (rows.weight > 0))
    cells, positive, weight = rows.X[used], rows.positive[used], rows.weight[used]
    group = None if rows.group is None else rows.group[used]
    weight = weight * (effective_rows(weight, group) / weight.sum())
    places = {}
    for k in kept:
        total, of_positives = (
            cell_weights(kinds[k], cells[:, k], part) for part in (weight, weight * positive)
        )
        places[k] = cross_cells(kinds[k], total, of_positives)
    loose = [k for k in kept if not kinds[k].n_ordered]
    return CrossSearch(places, loose, cells, positive, chance[used], weight).run(most, least)


# ── Which columns a small card keeps: those that are left when the weakest are dropped in turn ────

#: Share of the columns that are kept at each step, before a card is trained again.
_KEPT = 0.8


@dataclass
class Elimination:
    """Backward elimination of columns, which goes only as far as it is asked.

    A card of all columns is trained; those whose points differ least over the rows are dropped, a
    fifth at a time; the rest is trained again.

    ``columns`` are those that can be kept. ``design_of`` maps columns to the additive design that
    has only these. ``rows`` have cells as their features. Rows of ``fold`` are not looked at.
    """

    columns: InitVar[Sequence[int]]
    design_of: Callable[[Sequence[int]], CardCoding]
    rows: Rows
    trainer: Trainer
    ridge: float
    fold: int | None
    _kept: list[int] = field(init=False)
    #: In the order in which they were dropped.
    _dropped: list[int] = field(default_factory=list, init=False)

    def __post_init__(self, columns: Sequence[int]) -> None:
        self._kept = list(columns)

    def best(self, n_columns: int) -> list[int]:
        """Return the columns that are left when all but so many are dropped."""
        while len(self._kept) > n_columns:
            self._drop()
        return self._kept + self._dropped[::-1][: n_columns - len(self._kept)]

    def _drop(self) -> None:
        rows, kept, fold, ridge = self.rows, self._kept, self.fold, self.ridge
        used = slice(None) if fold is None else np.flatnonzero(rows.fold != fold)
        design = self.design_of(kept)
        coded = design.rows(rows.X)
        line = self.trainer.solve(coded, [ridge], [fold])[ridge, fold]
        points = design.coding.block_points(line[:-1])
        weight = rows.weight[used]
        effects = [_spread(points[k][rows.X[used, k]], weight) for k in kept]
        order = np.argsort(effects, kind="stable")
        going = [kept[k] for k in order[: len(kept) - int(_KEPT * len(kept))]]
        self._dropped += going
        self._kept = [k for k in kept if k not in going]


def numbers_to_try(n_columns: int, most: int) -> list[int]:
    """Return numbers of columns to compare, from the largest on.

    ``n_columns`` is the number of columns that there are. ``most`` is the largest number of columns
    of a card.
    """
    numbers, number = list[int](), min(n_columns, most)
    while number >= 1:
        numbers.append(number)
        number = min(number - 1, int(_KEPT * number))
    return numbers


def _spread(points: FloatArray, weight: FloatArray) -> float:
    """Return the standard deviation of the points of rows."""
    share = weight / weight.sum()
    return float(np.sqrt(share @ np.square(points - share @ points)))


# ── The structure of a card: how strong its ridge is, and how many crosses it has ─────────────────

#: Factors of the best ridge for cards with crosses, and for reweighted ones.
_RIDGE_FACTORS = (3.0, 1.0)
#: Least ridge of the points of crosses, in rows.
_LEAST_RIDGE = 10.0
#: Index of the ridge among those of a trainer if no rows can be held out.
_CAUTIOUS = 2
#: Columns of a wide table that are crossed, the best by its screen or by their effects.
_MOST_CROSSED = 32
#: A card of fewer columns that loses so much ends the search for smaller ones.
_HOPELESS = 1e-2
#: Held-out rows of the smaller class with which structures are compared; more folds give more.
_MIN_CLASS_ROWS = 300
#: Exponent from the size of a block's coefficients to its prior variance, and its bounds.
_POWER, _LEAST, _MOST = 1.5, 0.05, 20.0


@dataclass
class StructureSearch:
    """Finds the structure of a card, and makes the designs of its folds.

    ``kinds`` are those of each column. ``rows`` have cells as their features. ``max_crosses`` is
    the largest number of crosses; by default as many as help. ``directions`` are those of columns
    whose points may only rise. They are in no cross: their points are the same for every row.
    ``max_columns`` is the largest number of columns with points; "auto" keeps the fewest columns
    that lose nothing on held-out rows. ``screen`` has the columns that may have points, best first,
    without each fold and (None) of all rows; by default all may.
    """

    kinds: Sequence[CellKinds]
    rows: Rows
    trainer: Trainer
    max_crosses: int | None = None
    directions: Sequence[Direction] = ()
    max_columns: int | str | None = None
    screen: Mapping[int | None, Sequence[int]] | None = None
    #: All structures that were compared, in order.
    tried: list[Structure] = field(default_factory=list, init=False)
    _areas: list[HeldOutArea] = field(default_factory=list, init=False)
    _crossed: dict[int | None, list[CrossGrid]] = field(default_factory=dict, init=False)
    _additive_lines: Solved = field(default_factory=dict, init=False)
    _reweighted: dict[int | None, CardCoding] = field(default_factory=dict, init=False)
    _eliminations: dict[int | None, Elimination] = field(default_factory=dict, init=False)
    #: The structure without crosses, from which others are made.
    _base: Structure = field(default=Structure(np.nan), init=False)

    def run(self) -> Structure:
        """Return the structure of best held-out AUC; fewer crosses unless more gain enough."""
        cautious = Structure(self.trainer.ridges[_CAUTIOUS])
        self._base = cautious
        if self.rows.fold is None:  # nothing is compared; with as many columns as it may have
            most = self.max_columns
            return self._limited(cautious, most) if isinstance(most, int) else cautious
        best, lines = self._additive_choice
        self._base = best
        best, lines = self._small(best, lines)
        self._base = best
        self._additive_lines = dict(lines)
        self._cross()
        self._reweigh(self._chosen())
        return self._chosen()

    def _cross(self) -> None:
        """Try the structure with all crosses that are beyond chance."""
        most = self.trainer.most_crosses
        most = most if self.max_crosses is None else min(most, self.max_crosses)
        if not most or len(self._crossable(None)) - len(self.directions) < 2:
            return
        count = min(len(self._crosses(None)), most)
        if not count:
            return
        tried = self._base._replace(n_crosses=count)
        X = self.designs(tried, self.folds)
        starts: dict[int | None, FloatArray] = {
            fold: _padded(self._additive_lines[self._base.ridge, fold], design_without(X, fold))
            for fold in self.folds
        }
        ridges = [factor * self._base.ridge for factor in _RIDGE_FACTORS]
        self._best(X, self.trainer.solve(X, ridges, self.folds, starts), tried)

    def _chosen(self) -> Structure:
        """Return the best of the structures that were tried so far."""
        trials = self.trials
        return self.tried[trials.rule(-trials.areas)]

    @cached_property
    def _additive_choice(self) -> tuple[Structure, Solved]:
        """The structure without crosses whose ridge is best, and the lines of all ridges."""
        X = self.designs(Structure(np.nan), self.folds)
        lines = self.trainer.solve(X, self.trainer.ridges, self.folds)
        return self._best(X, lines, Structure(np.nan)), lines

    @property
    def additive_auc(self) -> float:
        """Held-out AUC of the best card without crosses; NaN if no rows are held out."""
        return float("nan") if self.rows.fold is None else self._additive_choice[0].auc

    def _limited(self, structure: Structure, n_columns: int) -> Structure:
        return structure._replace(n_columns=min(n_columns, len(self._usable(None))))

    def _small(self, best: Structure, lines: Solved) -> tuple[Structure, Solved]:
        """Return the structure with fewer columns: the best, or the smallest that is as good."""
        if self.max_columns is None:
            return best, lines
        most = len(self.kinds) if isinstance(self.max_columns, str) else self.max_columns
        of_number: dict[int | None, Solved] = {}
        for number in numbers_to_try(len(self._usable(None)), most):
            tried = self._limited(best, number)
            X = self.designs(tried, self.folds)
            ridges = [factor * best.ridge for factor in _RIDGE_FACTORS]
            of_number[tried.n_columns] = self.trainer.solve(X, ridges, self.folds)
            structure = self._best(X, of_number[tried.n_columns], tried)
            best_area = max(each.auc for each in self.tried if each.n_columns is not None)
            if structure.auc < best_area - _HOPELESS:
                break
        chosen = self._chosen()
        return chosen, of_number[chosen.n_columns]

    def _usable(self, fold: int | None) -> list[int]:
        """Return the columns that can have points without a fold: those whose cells differ."""
        return [k for k in self.kept(None, fold) if self._bases[0][k].shape[1]]

    def kept(self, n_columns: int | None, fold: int | None) -> list[int]:
        """Return the columns of a card of so many, chosen without a fold."""
        if n_columns is None:
            return list(range(len(self.kinds)) if self.screen is None else self.screen[fold])
        if fold not in self._eliminations:
            self._eliminations[fold] = Elimination(
                self._usable(fold),
                lambda columns: CardCoding(self._coding(columns)),
                self.rows,
                self.trainer,
                self._base.ridge,
                fold,
            )
        return self._eliminations[fold].best(n_columns)

    def _reweigh(self, best: Structure) -> None:
        """Try the structure with reweighted blocks."""
        again = best._replace(reweighted=True)
        self._weighing_ridge = best.ridge
        X = self.designs(again, self.folds)
        ridges = [factor * best.ridge for factor in _RIDGE_FACTORS]
        self._best(X, self.trainer.solve(X, ridges, self.folds), again)

    def designs(self, structure: Structure, folds: Iterable[int | None]) -> CodedRows | FoldDesigns:
        """Return the rows as cards of a structure see them, without each of some folds."""
        if structure.is_label_free and self.screen is None:
            return self.additive
        designs: dict[Any, CodedRows] = {
            fold: self.design(structure, fold).rows(self.rows.X) for fold in folds
        }
        return FoldDesigns(designs.pop(None, None), designs)

    def design(self, structure: Structure, fold: int | None) -> CardCoding:
        """Return the design that is learned without a fold."""
        if structure.reweighted:
            return self._reweighted_design(structure._replace(reweighted=False), fold)
        kept = self.kept(structure.n_columns, fold)
        if not structure.n_crosses:
            return CardCoding(self._coding(kept))
        crosses = tuple(self._crosses(fold)[: structure.n_crosses])
        bases = [(np.eye(cross.shape[0]), np.eye(cross.shape[1])) for cross in crosses]
        coding = self._coding(kept, bases)
        scale = np.ones(len(coding.scale))
        scale[len(self.kinds) :] = self._scale_of_crosses
        return CardCoding(coding.scaled(scale), crosses)

    @cached_property
    def _scale_of_crosses(self) -> float:
        """Prior deviation of the points of crosses, for which a weak ridge is too weak.

        Their cells are the ones that depart most, so that less than they show is true.
        """
        rows = self.rows
        n_rows = effective_rows(rows.weight, rows.group)
        return float(np.sqrt(min(1.0, self._base.ridge * n_rows / _LEAST_RIDGE)))

    def _reweighted_design(self, structure: Structure, fold: int | None) -> CardCoding:
        """Return the design whose blocks have variances after the size of their effects."""
        if fold not in self._reweighted:
            plain = self.design(structure, fold)
            X = plain.rows(self.rows.X)
            ridge = self._weighing_ridge  # one for all folds, whichever the reweighted card has
            line = self.trainer.solve(X, [ridge], [fold])[ridge, fold]
            coding = plain.coding
            block = np.repeat(np.arange(len(coding.scale)), np.diff(coding.feature_starts))
            squares = np.bincount(block, np.square(line[:-1]), len(coding.scale))
            variance = (np.sqrt(squares) * coding.scale) ** _POWER
            used = np.diff(coding.feature_starts) > 0
            mean = float(variance[used].mean()) if used.any() else 0.0
            scale = np.ones(len(variance))
            if mean > 0:
                scale = np.sqrt(np.clip(variance / mean, _LEAST, _MOST))
            self._reweighted[fold] = plain._replace(coding=coding.scaled(scale))
        return self._reweighted[fold]

    @cached_property
    def folds(self) -> list[int]:
        """The folds on which structures are compared: as many as have enough held-out rows."""
        rows = self.rows
        if rows.fold is None:
            return []
        n_folds = int(rows.fold.max()) + 1
        n_pos = int(rows.positive.sum())
        used = int(np.ceil(_MIN_CLASS_ROWS * n_folds / min(n_pos, len(rows.positive) - n_pos)))
        return list(range(min(max(used, 1), n_folds)))

    @cached_property
    def additive(self) -> CodedRows:
        """The rows of cards without crosses; their coding looks at no label."""
        return CardCoding(self._coding(range(len(self.kinds)))).rows(self.rows.X)

    def _coding(
        self, columns: Iterable[int], pairs: Sequence[tuple[FloatArray, FloatArray]] = ()
    ) -> Coding:
        """Return the coding in which some columns have points."""
        chosen = set(columns)
        bases, signs = self._bases
        kept = [basis if k in chosen else basis[:, :0] for k, basis in enumerate(bases)]
        of_kept = [sign for k, sign in enumerate(signs) if k in chosen]
        return Coding(kept, pairs, signs=np.concatenate([np.empty(0, dtype=np.int64), *of_kept]))

    @cached_property
    def _bases(self) -> tuple[list[Any], list[IntArray]]:
        """The codings of columns, and the signs of their coefficients."""
        # Rows, not weights: a class weight would tell the labels of the rows to be tested on.
        ones = np.ones(len(self.rows.X))
        weights = [
            cell_weights(kinds, cells, ones)
            for kinds, cells in zip(self.kinds, self.rows.X.T, strict=True)
        ]
        rank = self.trainer.rank_of(len(self.kept(None, None)))
        return column_codings(self.kinds, weights, rank, self.directions)

    def _best(
        self,
        X: CodedRows | FoldDesigns,
        lines: Solved,
        structure: Structure,
    ) -> Structure:
        """Return a structure with the best of the ridges that were solved."""
        rows = self.rows
        held_out: dict[float, FloatArray] = {}
        for (ridge, fold), line in lines.items():
            tested = np.flatnonzero(rows.fold == fold)
            scores = held_out.setdefault(ridge, np.full(len(rows.positive), np.nan))
            scores[tested] = design_without(X, fold)[tested] @ line[:-1]
        tried = []
        for ridge, scores in held_out.items():
            area = HeldOutArea.of(scores, rows, self.folds)
            self._areas.append(area)
            tried.append(structure._replace(ridge=ridge, auc=area.area))
        self.tried += tried
        return max(tried, key=lambda structure: structure.auc)

    @property
    def trials(self) -> Trials:
        """All structures that were compared, to repeat their choice."""
        influence = np.stack([area.influence for area in self._areas])
        covariance = influence @ influence.T
        variance = np.diag(covariance)
        errors = np.sqrt(np.maximum(variance[:, None] + variance - 2.0 * covariance, 0.0))
        rule = StructureRule(tuple(self.tried), errors, isinstance(self.max_columns, str))
        return Trials(np.array([area.area for area in self._areas]), covariance, rule)

    def _crossable(self, fold: int | None) -> list[int]:
        """Return the columns of which pairs may be crossed: the best ones of a wide table."""
        return self.kept(self._base.n_columns, fold)[: _MOST_CROSSED if self.screen else None]

    def _crosses(self, fold: int | None) -> list[CrossGrid]:
        """Return crosses found without a fold, in the residuals of an additive card.

        There are as many as of all rows: fewer rows are beyond chance less often, and what is
        compared is a card of so many crosses.
        """
        if fold not in self._crossed:
            kept = {*self._crossable(fold)} - {each.column for each in self.directions}
            chance, most = self._additive_probability(fold), self.trainer.most_crosses
            least = 0
            if fold is not None:
                least = most = len(self._crosses(None))
            self._crossed[fold] = find_crosses(
                self.kinds, self.rows, chance, fold, kept, most, least
            )
        return self._crossed[fold]

    def _additive_probability(self, fold: int | None) -> FloatArray:
        """Return the probability of the positive class by a card without crosses.

        Its ridge is no weaker than a cautious one: residuals of a card that has learned its rows by
        heart show nothing.
        """
        ridge = max(self._base.ridge, self.trainer.ridges[_CAUTIOUS])
        X = self.design(self._base, fold).rows(self.rows.X)
        if (ridge, fold) not in self._additive_lines:
            self._additive_lines |= self.trainer.solve(X, [ridge], [fold])
        line = self._additive_lines[ridge, fold]
        return self.trainer.probability(X @ line[:-1] + line[-1], fold)


def _padded(line: FloatArray, X: CodedRows) -> FloatArray:
    """Return a line with zeros for the features that come after its own."""
    start = np.zeros(X.shape[1] + 1)
    start[: len(line) - 1] = line[:-1]
    start[-1] = line[-1]
    return start
