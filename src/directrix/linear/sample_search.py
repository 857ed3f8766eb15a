"""SampleSearch: linear models of a summary, among which its sample of rows chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.fit.choice import Chosen, choose, limit_by_order, sizes_of
from directrix.fit.compare import (
    FIRST_ROWS,
    Candidate,
    OneStandardError,
    compare,
    first_rows_per_class,
    on_one_scale,
    rescaled_weights,
    scores_of,
)
from directrix.fit.curves import ScoreCurves, round_scores
from directrix.fit.evidence import RowEvidence
from directrix.fit.training_rows import Rows, Standardization
from directrix.linear.margin import Logistic
from directrix.linear.moment_frontier import SHRINKAGES, Frontier, MomentLines
from directrix.linear.recipes import Recipe
from directrix.linear.row_frontier import RowCandidate, RowFrontier
from directrix.linear.search import FTOL
from directrix.moments import Moments
from directrix.moments.risks import RankingRisk

#: With fewer rows of the smaller class per feature, a line fits its training rows too well.
_MIN_ROWS_PER_FEATURE = 100
#: Positions on the arc of the lines of each shrinkage. Where rows are few, those at its ends are
#: other lines in every fold; of many features, the lines of AUC and of Fisher suffice.
_LOGITS, _LOGITS_OF_FEW, _NONE = np.linspace(-6, 6, 13), np.linspace(-4, 4, 5), np.empty(0)
#: Least correlation, in every fold, of the scores of a line with those of its copy without the
#: fold: less, and a threshold of the copies is none of the line.
_STABLE = 0.9
_FISHER = 1
#: Ridges of the logistic regressions, which make up for heavy tails: there, moments alone are
#: far behind.
_RIDGES = (3e-2, 1e-3)
#: Features beyond which a summary may keep all rows instead of matrices (measured: dense rows take
#: the same time either way at 1,000 features and five rows per feature, or 2,000 and eight). There
#: is one shrinkage then, as each takes the solution of large systems.
WIDE_FEATURES = 1_000
_FINALISTS = 5
#: Complexity of the lines of moments, the largest of the smallest set of features.
_FEWEST_FEATURES = 1.0


def is_small(rows: Rows) -> bool:
    """Return whether rows are so few that lines must be judged by rows they were not made from.

    Rows are counted by their effective sample size: with heavy-tailed weights a few decide.
    """
    return bool(min(sizes_of(rows)) < _MIN_ROWS_PER_FEATURE * rows.X.shape[1])


def must_hold_out(moments: Moments, rows: Rows) -> bool:
    r"""Return whether lines must be judged by rows they were not made from.

    So it is if rows are few, or classes so close that noise pulls them apart by more than one
    standard error of the area under the ROC curve. Of d features noise adds

    .. math:: d \left(\frac1{n_+} + \frac1{n_-}\right) = d \sigma^2

    to the squared distance D² of the classes, which makes the distance of their scores on the same
    rows larger than on new rows by dσ²/D; a standard error of it is about σ.
    """
    if is_small(rows):
        return True
    area = 1.0 - Frontier(moments).minimize_risk(RankingRisk()).risk
    n_features, variance = rows.X.shape[1], sum(1.0 / size for size in sizes_of(rows))
    return bool(2.0 * ndtri(area) ** 2 < n_features**2 * variance)


@dataclass(frozen=True, eq=False)
class NestedCandidate:
    """A candidate that sees some of the features; its lines are zero for the others.

    ``features`` are its columns of ``n_features``. ``number`` counts the feature sets that are
    contained in its own, and ``added`` names what it has beyond the smallest.
    """

    candidate: Candidate
    features: IntArray
    n_features: int
    number: int
    added: str

    @property
    def name(self) -> str:
        """Name of the candidate in reports."""
        return f"{self.candidate.name}, with {self.added}" if self.number else self.candidate.name

    @property
    def complexity(self) -> float:
        """Order of preference: more features come after all candidates that have fewer."""
        return self.candidate.complexity if self.number == 0 else _FEWEST_FEATURES + self.number

    @property
    def curves(self) -> Any:
        """Curves of the held-out scores of the rows."""
        return self.candidate.curves

    @property
    def line(self) -> FloatArray:
        """The line of all rows."""
        return self._widened(self.candidate.line)

    @property
    def fold_lines(self) -> list[FloatArray]:
        """For each fold the line made without it."""
        return [self._widened(line) for line in self.candidate.fold_lines]

    def refit(self, X: Any, positive: AnyArray, weight: FloatArray) -> FloatArray:
        """Return the line of these rows."""
        return self._widened(self.candidate.refit(X[:, self.features], positive, weight))

    def _widened(self, line: FloatArray) -> FloatArray:
        wide = np.zeros(self.n_features + 1)
        wide[[*self.features, -1]] = line
        return wide


@dataclass(frozen=True, eq=False)
class SampleSearch:
    """Candidates of a summary and the sample of rows in it, which all metrics share.

    Candidates are lines of the moments of all rows, with several shrinkages and trade-offs, and two
    logistic regressions of the sample. ``scores`` of shape (n, k) are those of the sampled rows:
    held out where the rows have folds. ``nested`` says that candidates see several sets of
    features, which are compared by fold.
    """

    rows: Rows
    candidates: Sequence[Candidate]
    scores: FloatArray
    nested: bool = False
    _curves: dict[int, ScoreCurves] = field(default_factory=dict)

    @classmethod
    def of_sets(
        cls, moments: Moments, rows: Rows, sets: Mapping[str, IntArray] | None = None
    ) -> SampleSearch:
        """Make the candidates for nested feature sets, each of which is contained in the next.

        ``sets`` has the columns of each, by what it adds to the first; without it there is one, of
        all features. The rows need folds if there are several.
        """
        if sets is None or len(sets) < 2:
            return cls.of(moments, rows)
        bare, candidates, scores = moments.without_sample(), [], []
        for number, (added, features) in enumerate(sets.items()):
            search = cls.of(bare.select(features), rows._replace(X=rows.X[:, features]))
            about = features, moments.n_features, number, added
            candidates += [NestedCandidate(each, *about) for each in search.candidates]
            scores.append(search.scores)
        return cls(rows, candidates, np.column_stack(scores), nested=True)

    @classmethod
    def of(cls, moments: Moments, rows: Rows) -> SampleSearch:
        """Make the candidates; ``rows`` are in random order, with folds if these are held out.

        The folds of the moments are those of the rows.
        """
        few, wide = rows.fold is not None, rows.X.shape[1] > WIDE_FEATURES
        of_moments = MomentLines.of(
            moments if few else moments.unfolded(),
            SHRINKAGES[:1] if wide else SHRINKAGES,
            _NONE if wide else _LOGITS_OF_FEW if few else _LOGITS,
        )
        parts = [*of_moments.fold_lines, of_moments.lines]
        *fold_lines, whole = on_one_scale(rows.X, parts, rows.positive, rows.weight, rows.fold)
        of_moments = MomentLines(of_moments.frontiers, whole, fold_lines)
        scores = of_moments.held_out(rows.X, rows.fold)
        kept = np.arange(scores.shape[1])
        if rows.fold is not None:
            of_all = round_scores(scores_of(rows.X, of_moments.lines))
            stable = least_correlation(of_all, scores, rows.fold) >= _STABLE
            stable[_FISHER] = True
            kept = np.flatnonzero(stable)
        logistic = [] if wide else _logistic_regressions(rows)
        lines = of_moments.candidates()
        return cls(
            rows,
            [*logistic, *(lines[k] for k in kept)],
            np.column_stack([*(each.curves.scores for each in logistic), scores[:, kept]]),
        )

    def choose(self, metric: Any) -> Chosen:
        """Choose the best candidate by the exact metric, at a limit that new rows keep on average.

        All are compared on the first rows of each class; the best of each set of features, and the
        best logistic regression, on all rows. More features are chosen if they gain more than one
        standard error over folds.
        """
        sizes, at = sizes_of(self.rows), metric
        if metric.limit is not None:
            at = metric.with_limit(limit_by_order(metric.limit, sizes))
        order = np.argsort(compare(at, self._first).deciding, kind="stable")
        complexities = np.array([candidate.complexity for candidate in self.candidates])
        numbers = np.maximum(complexities, _FEWEST_FEATURES)
        best = [order[numbers[order] == number][:_FINALISTS] for number in np.unique(numbers)]
        simple = order[complexities[order] == 0.0][:1]
        finalists = np.unique(np.concatenate([*best, simple]))
        curves = [self._all_rows(k) for k in finalists.tolist()]
        candidates = [self.candidates[k] for k in finalists]
        comparison, rule = compare(at, curves), None
        if self.nested:
            rule = OneStandardError.of(comparison, numbers[finalists].tolist())
            differ = rule.complexities[:, None] != rule.complexities  # of one set, the best
            rule = replace(rule, errors=np.where(differ, rule.errors, 0.0))
        return choose(metric, candidates, comparison, sizes, curves, rule=rule)

    def evidence(self, chosen: Chosen) -> tuple[FloatArray, RowEvidence]:
        """Return the line of the chosen candidate, and its scores."""
        candidate, rows = chosen.candidate, self.rows
        lines = np.stack([candidate.line, *candidate.fold_lines])
        every = round_scores(scores_of(rows.X, lines))
        held_out = every[:, 0]
        if len(lines) > 1:
            held_out = self.scores[:, self.candidates.index(candidate)]
        return lines[0].copy(), RowEvidence(rows, held_out, every)

    @cached_property
    def _first(self) -> list[ScoreCurves]:
        rows = self.rows
        index = first_rows_per_class(rows.positive, FIRST_ROWS)
        if len(index) == len(rows.positive):
            return [self._all_rows(k) for k in range(len(self.candidates))]
        weight = rescaled_weights(rows.positive, rows.weight, index)
        positive, scores = rows.positive[index], self.scores[index]
        return [ScoreCurves(positive, column, weight, None) for column in scores.T]

    def _all_rows(self, index: int) -> ScoreCurves:
        if index not in self._curves:
            self._curves[index] = self._of(self.scores[:, index])
        return self._curves[index]

    def _of(self, scores: FloatArray) -> ScoreCurves:
        # Without folds, unless errors are asked for: the scores of all folds have one threshold.
        rows = self.rows
        fold = rows.fold if self.nested else None
        return ScoreCurves(rows.positive, scores, rows.weight, fold, rows.group)


def _logistic_regressions(rows: Rows) -> list[RowCandidate]:
    units = Standardization.of(rows.X, rows.weight)
    frontier = RowFrontier(units.rows(rows.X), *rows[1:5], ftol=FTOL, to_features=units.line_back)
    candidates = frontier.plan(Recipe(Logistic(), ridge) for ridge in _RIDGES)
    frontier.solve_together(candidates, frontier.folds)
    for candidate in candidates:
        candidate.fit()
    return candidates


def least_correlation(whole: FloatArray, held_out: FloatArray, fold: IntArray) -> AnyArray:
    """Return the least correlation over folds between two scores of the rows of a fold.

    Both have the shape (n, k). Scores that are all equal correlate with none.
    """
    least = np.ones(whole.shape[1])
    for number in range(int(fold.max()) + 1):
        inside = fold == number
        if np.count_nonzero(inside) > 1:
            ours, theirs = (part[inside] - part[inside].mean(axis=0) for part in (whole, held_out))
            squares = np.square(ours).sum(axis=0) * np.square(theirs).sum(axis=0)
            products = (ours * theirs).sum(axis=0)
            least = np.minimum(least, products / np.sqrt(np.where(squares > 0, squares, np.inf)))
    return least
