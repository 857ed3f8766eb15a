"""The choice among candidates, and what to expect of it on rows that had no part in it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any
from warnings import warn

import numpy as np

from directrix.exceptions import FewRowsWarning, find_stacklevel
from directrix.fitting.trials import label_noise
from directrix.frontier.choice_validation import (
    PartCurves,
    most_promising,
    optimism_of_ranking,
    optimism_of_rates,
    repeat_choice,
)
from directrix.frontier.compare import LeastLoss, OneStandardError
from directrix.metrics import AUC
from directrix.models.intervals import (
    Rates,
    Sizes,
    effective_rows,
    rates_of,
    slope_on_area,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from directrix._typing import FloatArray, IntArray
    from directrix.fitting.training_rows import TrainingRows
    from directrix.fitting.trials import Trials
    from directrix.frontier.choice_validation import Rule
    from directrix.frontier.compare import Candidate, Comparison
    from directrix.metrics.base import Metric
    from directrix.metrics.limit import Limit

#: Candidates among which the choice is repeated without some rows: in all, and per complexity.
_CANDIDATES, _PER_COMPLEXITY = 24, 3
#: Least share that a limit may be tightened to; zero is not a valid limit.
_NONE = 1e-12
#: Optimism of a ranking that a repeated choice does not show near chance, relative to what it
#: shows: labels of the rows left out have trained the lines of other folds (see `trials`). Where
#: structures were compared before, part of it is in their excess, because both choose a ridge.
_HIDDEN, _HIDDEN_AFTER_TRIALS = 1.1, 0.5
_RATES = {"fpr": "false-positive rate", "tpr": "recall"}


@dataclass(frozen=True)
class Selection:
    """The candidates that were compared, and which of them was chosen by what rule.

    ``rows``: rows on which they were compared. ``scores`` (n, k): held-out scores of these rows by
    each candidate. ``losses``, ``values``: what decided, and the metric on all rows together.
    ``chosen``: index of the chosen candidate. ``trials``: what was chosen on the same rows before
    the candidates were made.
    """

    rows: TrainingRows
    scores: FloatArray
    losses: FloatArray
    values: FloatArray
    chosen: int
    rule: LeastLoss | OneStandardError
    trials: Trials | None = None

    @classmethod
    def of(
        cls,
        rows: TrainingRows,
        candidates: Sequence[Candidate],
        comparison: Comparison,
        chosen: int,
        rule: LeastLoss | OneStandardError | None = None,
    ) -> Selection:
        """Keep the candidates that might have been chosen without some of the rows."""
        rule = LeastLoss() if rule is None else rule
        complexities = [0.0] * len(candidates)
        if rule.complexities is not None:
            complexities = rule.complexities.tolist()
        kept = most_promising(comparison.losses, complexities, _CANDIDATES, _PER_COMPLEXITY)
        kept = np.union1d(kept, [chosen])
        return cls(
            rows,
            np.column_stack([candidates[k].scores for k in kept]),
            comparison.losses[kept],
            comparison.values[kept],
            int(np.searchsorted(kept, chosen)),
            rule.among(kept),
        )

    def with_scores(self, scores: FloatArray) -> Selection:
        """Return the selection with other held-out scores of the chosen candidate."""
        columns = self.scores.copy()
        columns[:, self.chosen] = scores
        return replace(self, scores=columns)

    def with_complexity(self, complexity: float) -> IntArray:
        """Return the indices of the candidates of this complexity."""
        return np.flatnonzero(self.rule.complexities == complexity)


@dataclass(frozen=True)
class Choice:
    """A choice among candidates, with what is needed to repeat it without some of the rows.

    ``losses``, ``values``: what decided, and the metric on all rows together. ``rule``: from the
    losses to the index of the chosen candidate. ``sizes``: effective sample sizes of the rows that
    set the threshold. ``prior``: share of positives. ``trials``: what was chosen on the same rows
    before.
    """

    metric: Metric
    parts: PartCurves
    losses: FloatArray
    values: FloatArray
    rule: Rule
    sizes: Sizes
    prior: float
    trials: Trials | None = None

    @classmethod
    def of(cls, metric: Metric, selection: Selection, sizes: Sizes) -> Choice:
        """Divide the rows of a selection into parts."""
        rows = selection.rows
        parts = PartCurves.of(selection.scores, rows.positive, rows.weight, rows.group)
        return cls(
            metric,
            parts,
            selection.losses,
            selection.values,
            selection.rule,
            sizes,
            prior_of(rows),
            selection.trials,
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

    def expected(self, rule: Rule | None = None, shown: Rates | None = None) -> Rates:
        """Return the rates and the metric to expect on new rows.

        These are what the rows show that chose candidate and threshold, less the optimism of such
        choices.

        ``rule``: another rule of choice. ``shown``: of the model that was chosen, on these rows; by
        default of the candidate that the rule chooses, at its best threshold.
        """
        rule, at, metric = self.rule if rule is None else rule, self.at, self.metric
        pooled = -self.values if metric.greater_is_better else self.values
        repeated = repeat_choice(self.parts, metric, at, self.losses - pooled, rule)
        candidate = rule(self.losses)
        curve = self.parts.whole(candidate)
        if shown is None:
            index = at.best(curve).index
            rates = float(curve.tpr[index]), float(curve.fpr[index])
            shown = rates_of(metric, *rates, self.prior, float(self.values[candidate]))
        tpr, fpr, value = shown.tpr, shown.fpr, None
        if 0.0 < tpr + fpr < 2.0:  # else one class is predicted for every row
            optimism = optimism_of_rates(self.parts, repeated)
            tpr = float(np.clip(tpr - optimism.tpr, 0.0, 1.0))
            fpr = float(np.clip(fpr - optimism.fpr, 0.0, 1.0))
            # At a limit the repeated choice shows all of the excess (measured on noise).
            if self.trials is not None and metric.limit is None:
                tpr, fpr = self.trials.without_excess(tpr, fpr)
        if not metric.uses_threshold:
            hidden = _HIDDEN if self.trials is None else _HIDDEN_AFTER_TRIALS
            hidden *= label_noise(AUC().best_value(curve), self.sizes.variance_by_chance)
            of_ranking = optimism_of_ranking(self.parts, metric, repeated, candidate)
            value = shown.metric - (1.0 + hidden) * of_ranking
            if self.trials is not None:
                value -= self.trials.excess * slope_on_area(metric, curve, self.sizes)
        return rates_of(metric, tpr, fpr, self.prior, value)


def limit_by_order(limit: Limit, sizes: Sizes) -> float:
    r"""Return the stricter limit for the rows at hand with which new rows keep a limit on average.

    .. math:: \frac{k + 1}{n + 1} \le \alpha \iff \frac kn \le \alpha - \frac{1 - \alpha}{n}

    for k of n negatives above the threshold, and likewise for the positives below it. With fewer
    than :math:`1/\alpha - 1` rows no threshold suffices: none may then be above, with a warning.
    """
    value = limit.value
    n_rows, share = sizes.n_neg, value if limit.at_most else 1.0 - value
    if limit.rate == "tpr":
        n_rows = sizes.n_pos
    elif limit.rate != "fpr":
        return value
    needed = 1.0 / share - 1.0
    if n_rows < needed - 0.5:
        name = "negatives" if limit.rate == "fpr" else "positives"
        warn(
            f"a limit of {value:g} on the {_RATES[limit.rate]} needs {np.ceil(needed - 1e-9):.0f} "
            f"{name} to be kept in expectation, and there are {np.floor(n_rows):.0f}: give more "
            "rows, or a looser limit",
            FewRowsWarning,
            stacklevel=find_stacklevel(),
        )
    strict = max(share - (1.0 - share) / n_rows, _NONE)
    return strict if limit.at_most else 1.0 - strict


def sizes_of(rows: TrainingRows) -> Sizes:
    """Return the effective sample size of each class; a group counts as one row."""
    sizes = []
    for side in (rows.positive, ~rows.positive):
        group, copies = (
            None if given is None else given[side] for given in (rows.group, rows.copies)
        )
        sizes.append(effective_rows(rows.weight[side], group, copies))
    return Sizes(*sizes)


def prior_of(rows: TrainingRows) -> float:
    """Return the share of positives."""
    return float(rows.weight @ rows.positive) / float(rows.weight.sum())
