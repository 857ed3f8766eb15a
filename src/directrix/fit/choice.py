"""The choice among candidates: rates on held-out rows, and what to expect of new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions import FewRowsWarning
from directrix.fit.choice_validation import (
    HeldOutRates,
    JudgedWithoutPart,
    PartCurves,
    Rule,
    most_promising,
    optimism_of_ranking,
    optimism_of_rates,
)
from directrix.fit.compare import (
    Candidate,
    Comparison,
    OneStandardError,
)
from directrix.fit.criterion import Criterion
from directrix.fit.curves import Curves
from directrix.fit.gap import Gap
from directrix.fit.operating_point import (
    OF_LINES,
    ClaimVariance,
    EffectiveCounts,
    Rates,
    rates_of,
    slope_on_area,
)
from directrix.fit.report import CandidateResult, DirectReport
from directrix.fit.shares import effective_rows
from directrix.fit.training_rows import Rows
from directrix.fit.trials import Trials, label_noise
from directrix.metrics import AUC
from directrix.metrics.base import Curve, Metric
from directrix.metrics.limit import Limit

#: Factor from which standard errors that few rows widen are not printed as such.
_CAUTIOUS = 2.0
#: Candidates among which the choice is repeated without some rows: in all, and per complexity.
_CANDIDATES, _PER_COMPLEXITY = 24, 3
#: Least share that a limit may be tightened to; zero is not a valid limit.
_NONE = 1e-12
#: A class without rows has this weight, so that shares of it are zero.
_LEAST_WEIGHT = 1e-10
#: Optimism of a ranking that a repeated choice does not show near chance, relative to what it
#: shows: labels of the rows left out have trained the lines of other folds (see `trials`). Where
#: structures were compared before, part of it is in their excess, because both choose a ridge.
_HIDDEN, _HIDDEN_AFTER_TRIALS = 1.1, 0.5
_RATES = {"fpr": "false-positive rate", "tpr": "recall"}


@dataclass(frozen=True)
class Choice:
    """A choice among candidates, with what is needed to repeat it without some of the rows.

    ``criterion`` is what decided. ``losses`` are what decided, with the mean over
    folds, ``pooled`` and ``values`` the criterion and the metric on all rows together.
    ``rule`` maps the losses to the index of the chosen candidate. ``sizes`` are the effective
    sample sizes of the rows that set the threshold. ``prior`` is the share of positives. ``trials``
    are what was chosen on the same rows before. ``variance`` is that of claims about the choice.
    """

    metric: Metric
    criterion: Criterion
    parts: PartCurves
    losses: FloatArray
    pooled: FloatArray
    values: FloatArray
    rule: Rule
    sizes: EffectiveCounts
    prior: float
    trials: Trials | None = None
    variance: ClaimVariance = OF_LINES

    @classmethod
    def only(cls, metric: Metric, evidence: Any, variance: ClaimVariance) -> Choice:
        """Return the choice of the only candidate, whose threshold alone is chosen.

        ``evidence`` are its held-out scores.
        """
        whole, zero = evidence.whole, np.zeros(1)
        return cls(
            metric,
            Criterion(metric),
            evidence.curves.parts([evidence.curves]),
            zero,
            zero,
            np.array([metric.best_value(whole)]),
            OneStandardError(zero, zero[None]),
            evidence.sizes,
            whole.prior,
            variance=variance,
        )

    @cached_property
    def at(self) -> Metric:
        """The metric by which the threshold is set: its limit is kept in expectation on new rows.

        Of new rows, k in n + 1 are expected above the k-th highest of n scores, not k − 1 in n.
        """
        metric: Any = self.metric
        if metric.limit is None:
            return self.metric
        stricter: Metric = metric.with_limit(limit_by_order(metric.limit, self.sizes))
        return stricter

    @property
    def chance(self) -> float:
        """The metric of scores that know nothing."""
        return self.metric.chance(self.prior, self.parts.weight)

    def expected(self, rule: Rule | None = None, shown: Rates | None = None) -> Rates:
        """Return the rates and the metric to expect on new rows.

        These are what the rows show that chose candidate and threshold, less the optimism of such
        choices.

        ``rule`` is another rule of choice. ``shown`` are the rates of the chosen model on these
        rows; by default those of the candidate that the rule chooses, at its best threshold.
        """
        at, metric = self.at, self.metric
        optimism, of_ranking = self._optimism if rule is None else self._optimism_of(rule)
        candidate = (self.rule if rule is None else rule)(self.losses)
        curve = self.parts.whole(candidate)
        if shown is None:
            index = at.best(curve).index
            rates = float(curve.tpr[index]), float(curve.fpr[index])
            shown = rates_of(metric, *rates, self.prior, float(self.values[candidate]))
        tpr, fpr, value = shown.tpr, shown.fpr, None
        if 0.0 < tpr + fpr < 2.0:  # else one class is predicted for every row
            tpr = float(np.clip(tpr - optimism.tpr, 0.0, 1.0))
            fpr = float(np.clip(fpr - optimism.fpr, 0.0, 1.0))
            # At a limit the repeated choice shows all of the excess (measured on noise).
            if self.trials is not None and metric.limit is None:
                tpr, fpr = self.trials.without_excess(tpr, fpr)
        if not metric.uses_threshold:
            hidden = _HIDDEN if self.trials is None else _HIDDEN_AFTER_TRIALS
            hidden *= label_noise(AUC().best_value(curve), self.sizes.variance_by_chance)
            value = shown.metric - (1.0 + hidden) * of_ranking
            if self.trials is not None:
                value -= self.trials.excess * slope_on_area(metric, curve, self.sizes)
        return rates_of(metric, tpr, fpr, self.prior, value)

    def ahead_of(self, others: IntArray) -> float:
        """Return how much better the choice is on new rows than the best of some candidates."""

        def best_of_others(losses: FloatArray) -> int:
            return int(others[np.argmin(losses[others])])

        gap = self.expected().metric - self.expected(best_of_others).metric
        return gap if self.metric.greater_is_better else -gap

    @cached_property
    def _optimism(self) -> tuple[HeldOutRates, float]:
        return self._optimism_of(self.rule)

    @cached_property
    def _without_part(self) -> JudgedWithoutPart:
        """How rows without each part judge the candidates; the same whatever the rule."""
        return JudgedWithoutPart.of(self.parts, self.criterion, self.at, self.losses - self.pooled)

    def _optimism_of(self, rule: Rule) -> tuple[HeldOutRates, float]:
        metric, parts = self.metric, self.parts
        repeated = self._without_part.repeat(rule)
        ranking = 0.0
        if not metric.uses_threshold:
            ranking = optimism_of_ranking(parts, metric, repeated, rule(self.losses))
        return optimism_of_rates(parts, repeated), ranking


@dataclass(frozen=True, eq=False)
class Chosen:
    """The candidate that was chosen for a metric, those it was compared with, and the choice."""

    candidates: Sequence[Candidate]
    comparison: Comparison
    index: int
    choice: Choice
    kept: IntArray

    @property
    def candidate(self) -> Candidate:
        """The chosen candidate."""
        return self.candidates[self.index]

    def report(self, rows: str) -> DirectReport:
        """Report the comparison on named rows; what to expect is said by the operating point."""
        choice, deciding, folds = self.choice, self.comparison.deciding, self.comparison.fold_losses
        metric, names = choice.metric, [each.name for each in self.candidates]
        sign = -1.0 if metric.greater_is_better else 1.0
        values = sign * self.comparison.losses, sign * folds, sign * deciding
        tried = tuple(
            CandidateResult.of(names[k], *(each[k] for each in values))
            for k in np.argsort(deciding, kind="stable")
        )
        gap = None
        simple = [k for k, each in enumerate(self.candidates) if each.complexity == 0.0]
        if simple:
            others = np.flatnonzero(np.isin(self.kept, simple))
            better = choice.ahead_of(others) if self.candidate.complexity > 0.0 else 0.0
            best = min(simple, key=lambda k: deciding[k])
            gap = Gap.of_folds(better, folds[best] - folds[self.index], metric.largest_gap)
        known = metric, rows, tried, self.candidate.name, self._reason(rows)
        return DirectReport(*known, gap=gap, chance=choice.chance)

    def _reason(self, rows: str) -> str:
        comparison, best, n_candidates = self.comparison, self.comparison.best, len(self.candidates)
        if n_candidates == 1:
            return "There was no other candidate."
        if self.index == best:
            return f"It was the best of {n_candidates} candidates on {rows}."
        behind = comparison.deciding[self.index] - comparison.deciding[best]
        error, caution = comparison.standard_errors(best)[self.index], comparison.criterion.caution
        noise = f"standard error {error:.4f}"
        if caution > _CAUTIOUS:
            noise = (
                f"standard error {error / caution:.4f}, taken {caution:.1f} times because one "
                "class has few rows"
            )
        on = f"{rows}," if "," in rows else rows
        return (
            f"The best of {n_candidates} candidates on {on} was ahead by {behind:.4f}, "
            f"within noise ({noise}), so the simpler one was kept."
        )


def choose(
    metric: Metric,
    candidates: Sequence[Candidate],
    comparison: Comparison,
    sizes: EffectiveCounts,
    curves: Sequence[Curves],
    rule: OneStandardError | None = None,
) -> Chosen:
    """Choose the simplest candidate within one standard error of the best.

    ``curves`` are those of the held-out scores of the candidates, and ``sizes`` the effective
    sample sizes of the rows. ``rule`` is another one-standard-error rule than that of the
    comparison.
    """
    complexities = [candidate.complexity for candidate in candidates]
    if rule is None:
        rule = OneStandardError.of(comparison, complexities)
    index = rule(comparison.deciding)
    promising = most_promising(comparison.deciding, complexities, _CANDIDATES, _PER_COMPLEXITY)
    kept = np.union1d(promising, [index, *comparison.criterion.needed])
    choice = Choice(
        metric,
        comparison.criterion.among(kept),
        curves[0].parts([curves[k] for k in kept]),
        comparison.deciding[kept],
        comparison.pooled[kept],
        comparison.values[kept],
        rule.among(kept),
        sizes,
        curves[0].whole.prior,
    )
    return Chosen(candidates, comparison, index, choice, kept)


def limit_by_order(limit: Limit, sizes: EffectiveCounts) -> float:
    r"""Return the stricter limit for the rows at hand with which new rows keep a limit on average.

    .. math:: \frac{k + 1}{n + 1} \le \alpha \iff \frac kn \le \alpha - \frac{1 - \alpha}{n}

    for k of n negatives above the threshold, and likewise for the positives below it. With fewer
    than :math:`1/\alpha - 1` rows no threshold suffices: none may then be above (`limit_caution`).
    """
    if limit.rate not in _RATES:
        return limit.value
    share, n_rows = _share_and_rows(limit, sizes)
    strict = max(share - (1.0 - share) / n_rows, _NONE)
    return strict if limit.at_most else 1.0 - strict


def limit_caution(metric: Any, sizes: EffectiveCounts) -> FewRowsWarning | None:
    """Return a warning if there are too few rows to keep the limit of a metric in expectation."""
    limit: Limit | None = metric.limit
    if limit is None or limit.rate not in _RATES:
        return None
    share, n_rows = _share_and_rows(limit, sizes)
    needed = 1.0 / share - 1.0
    if n_rows >= needed - 0.5:
        return None
    name = "negatives" if limit.rate == "fpr" else "positives"
    return FewRowsWarning(
        f"a limit of {limit.value:g} on the {_RATES[limit.rate]} needs "
        f"{np.ceil(needed - 1e-9):.0f} {name} to be kept in expectation, and there are "
        f"{np.floor(n_rows):.0f}: give more rows, or a looser limit"
    )


def _share_and_rows(limit: Limit, sizes: EffectiveCounts) -> tuple[float, float]:
    """Return the share of a class that may be on the wrong side, and the rows of the class."""
    share = limit.value if limit.at_most else 1.0 - limit.value
    return share, sizes.n_neg if limit.rate == "fpr" else sizes.n_pos


def sizes_of(rows: Rows) -> EffectiveCounts:
    """Return the effective sample size of each class; a group counts as one row."""
    sizes = []
    for side in (rows.positive, ~rows.positive):
        group = None if rows.group is None else rows.group[side]
        sizes.append(effective_rows(rows.weight[side], group))
    return EffectiveCounts(*sizes)


def prior_of(rows: Rows) -> float:
    """Return the share of positives."""
    return float(rows.weight @ rows.positive) / float(rows.weight.sum())


# ── What the final model, fitted to all rows, has that those without a fold have not ──────────────


class RefitChange(NamedTuple):
    r"""Difference between the refitted line and the lines of the folds, all on all rows.

    .. math:: R_n(\hat f) - \frac1K \sum_k R_n(\hat f_{-k})

    The lines of the folds are fitted to fewer rows, and are worse for it than the refitted line.
    Burman 1989 adds this difference to the cross-validated estimate.

    ``growth`` is the factor by which the distance of the classes' scores can grow with the rows of
    one more fold: the root of the ratio of rows, as where noise prevails. ``chance`` is the area of
    scores that know nothing.
    """

    gap: RateGap
    area: float
    growth: float = np.inf
    chance: float = 0.0

    @classmethod
    def of(cls, metric: Metric, rows: Rows, every: FloatArray, threshold: float) -> RefitChange:
        """Compare the scores of the refitted line with those of the folds' lines.

        ``every`` has the scores of all rows by the refitted line, first, and by the line of each
        fold, of shape (n, 1 + folds).
        """
        above = every > threshold
        more = above[:, 0] - above[:, 1:].mean(axis=1)
        gap = RateGap.of(more, rows.positive, rows.weight)
        area = chance = 0.0
        if not metric.uses_threshold:
            positive, weight = rows.positive, rows.weight
            areas = [metric.best_value(Curve.of(positive, each, weight)) for each in every.T]
            area = float(areas[0] - np.mean(areas[1:]))
            chance = metric.best_value(Curve.of(positive, np.zeros(len(every)), weight))
        folds = every.shape[1] - 1
        growth = float(np.sqrt(folds / (folds - 1))) if folds > 1 else np.inf
        return cls(gap, area, growth, chance)

    def applied(self, metric: Metric, rates: Rates, prior: float) -> Rates:
        """Return the rates with the difference added, as far as more rows can make it.

        The refitted line knows all labels of these rows, and those of the folds most of them. If it
        has learned them by heart the difference is large even where nothing can be learned. What
        more rows cannot add they cannot take away either: a bound on one side only would be a bias.
        """
        tpr, fpr = self.gap.times(self._share(rates)).added_to(rates)
        value = None
        if not metric.uses_threshold:
            most = (self.growth - 1.0) * max(rates.metric - self.chance, 0.0)
            change = float(np.clip(self.area, -most, most))
            value = float(np.clip(rates.metric + change, 0.0, 1.0))
        return rates_of(metric, tpr, fpr, prior, value)

    def rest(self, rates: Rates) -> RateGap:
        """Return the part of the difference that is not applied to rates."""
        return self.gap.times(1.0 - self._share(rates))

    def _share(self, rates: Rates) -> float:
        """Return the share of the changes that moves the classes apart, or together, no further."""
        before = rates.tpr - rates.fpr
        change = abs(self.gap.tpr - self.gap.fpr)
        most = (self.growth - 1.0) * max(before, 0.0)
        return 1.0 if change <= most else most / change


class RefitScores(NamedTuple):
    """Scores of rows that the final estimator and the copy of a fold were both fitted to.

    ``final`` are those of the final estimator, ``copies`` those of the copies, on its scale.
    """

    positive: AnyArray
    weight: FloatArray
    final: FloatArray
    copies: FloatArray

    def gap(self, threshold: float) -> RateGap:
        """Return by how much the final estimator flags more of each class than the copies."""
        more = (self.final > threshold).astype(np.float64) - (self.copies > threshold)
        return RateGap.of(more, self.positive, self.weight)


class RateGap(NamedTuple):
    """Difference of the rates of two models at one threshold, and the variances of both."""

    tpr: float
    fpr: float
    variances: tuple[float, float]

    @classmethod
    def of(cls, more: FloatArray, positive: AnyArray, weight: FloatArray) -> RateGap:
        """Return the gap of two models; ``more`` is one for a row that only the first flags."""
        gaps, variances = [], []
        for side in (positive, ~positive):
            share = weight[side] / max(float(weight[side].sum()), _LEAST_WEIGHT)
            gaps.append(float(share @ more[side]))
            variances.append(float(share**2 @ (more[side] - gaps[-1]) ** 2))
        return cls(gaps[0], gaps[1], (variances[0], variances[1]))

    def times(self, share: float) -> RateGap:
        """Return a share of the gap, as well known as the whole."""
        return self._replace(tpr=share * self.tpr, fpr=share * self.fpr)

    def added_to(self, rates: Rates) -> tuple[float, float]:
        """Return the true- and the false-positive rate with the gap added."""
        tpr, fpr = np.clip([rates.tpr + self.tpr, rates.fpr + self.fpr], 0.0, 1.0).tolist()
        return tpr, fpr
