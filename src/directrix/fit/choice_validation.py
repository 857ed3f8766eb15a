r"""Cross-validation of a choice: the rates that a chosen candidate will have on new rows.

The best of many candidates, at its best threshold, looks better on the rows that chose it than it
is on new ones. To measure how it does on new rows, repeat the choice without some rows and judge it
on these:

1. Split the rows at random into ten parts.
2. Leave one part out; choose candidate and threshold on the other nine, by the rule of the fit.
3. Predict the rows that were left out, and count true and false positives.
4. Repeat for every part, and for four random splits; the rates are those of all predictions.

The held-out scores of all candidates are known, so no model is fitted again. The parts are drawn
anew, whatever the folds of the fit; only where rows are known by fold are the folds the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.fit.criterion import Criterion
from directrix.metrics.base import Curve, CurveStack, Metric

#: From the losses of candidates to the index of the selected one.
Rule = Callable[[FloatArray], int]
_PARTS, _SPLITS = 10, 4
#: Thresholds of each candidate to choose among; with fewer rows, every score is one.
_THRESHOLDS = 300


class HeldOutRates(NamedTuple):
    """True- and false-positive rate of rows predicted by a choice, or differences of these."""

    tpr: float
    fpr: float


@dataclass(frozen=True)
class PartCurves:
    """Positives and negatives of each part of the rows above each threshold of each candidate.

    `above`, of shape (splits, parts, k, 2, m), is the weight of the rows of a part with scores
    above a threshold: for each of k candidates, negatives first, and m falling thresholds, the last
    of them below all scores.
    """

    above: FloatArray

    @classmethod
    def of(
        cls,
        scores: FloatArray,
        positive: AnyArray,
        weight: FloatArray,
        group: IntArray | None = None,
    ) -> PartCurves:
        """Split the rows at random into ten parts, four times, and count those above thresholds.

        `scores` are held out, of shape (n, k). Rows of one group are in the same part.
        """
        splits = np.stack([_random_parts(positive, group, seed) for seed in range(_SPLITS)])
        n_parts = int(splits.max()) + 1
        m = min(len(positive) + 1, _THRESHOLDS)
        weights = np.empty((_SPLITS, n_parts, scores.shape[1], 2, m))
        cells = (splits * 2 + positive) * m
        for k, column in enumerate(scores.T):
            index = _threshold_index(column, positive, m)
            for split, cell in enumerate(cells):
                totals = np.bincount(cell + index, weight, n_parts * 2 * m)
                weights[split, :, k] = totals.reshape(n_parts, 2, m)
        return cls(np.cumsum(weights, axis=-1))

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.above[0, :, 0, :, -1].sum())

    def without_part(self, candidate: IntArray | None = None) -> CurveStack:
        """Return, for each part, the curves of the other rows, scaled to the weight of all.

        They are those of one candidate of each part, if it is given, else of all candidates.
        """
        whole, above = self.above.sum(axis=1, keepdims=True), self.above
        if candidate is not None:
            whole = _of_candidate(np.broadcast_to(whole, above.shape), candidate)
            above = _of_candidate(above, candidate)
        others = whole - above
        # If a part holds all rows of a class, nothing can be chosen without it: it stays in.
        lacking = (others[..., -1] <= 0).any(axis=-1)[..., None, None]
        others = np.where(lacking, whole, others)
        # The difference of two sums may be outside by rounding; the root of G-mean is then NaN.
        others = np.clip(others, 0.0, others[..., -1:])
        # A metric may count rows, such as the k highest: these rows stand for all.
        total = whole[..., -1].sum(axis=-1)[..., None, None]
        factor = total / others[..., -1].sum(axis=-1)[..., None, None]
        others *= factor
        return CurveStack(others[..., 1, :], others[..., 0, :])

    def whole(self, candidate: int) -> Curve:
        """Return the curve of a candidate on all rows; its scores are ranks of thresholds."""
        negatives, positives = self.above[0, :, candidate].sum(axis=0)
        if negatives[0] or positives[0]:  # the first threshold may have rows above it
            negatives, positives = (np.append(0.0, above) for above in (negatives, positives))
        return Curve(np.arange(len(positives) - 1, 0.0, -1.0), positives, negatives)

    def of_part(self, candidate: IntArray) -> CurveStack:
        """Return the curves of the rows of each part, of one candidate of each."""
        above = _of_candidate(self.above, candidate)
        return CurveStack(above[..., 1, :], above[..., 0, :])


def _of_candidate(above: FloatArray, candidate: IntArray) -> FloatArray:
    """Return the part of an array of shape (splits, parts, k, 2, m) that is of one candidate."""
    return np.take_along_axis(above, candidate[..., None, None, None], axis=2)


class JudgedWithoutPart(NamedTuple):
    """How rows without each part judge every candidate; arrays of shape (splits, parts, k).

    ``losses`` decide; ``threshold_index`` is the threshold that these rows would set.
    """

    losses: FloatArray
    threshold_index: IntArray

    @classmethod
    def of(
        cls,
        curves: PartCurves,
        criterion: Criterion,
        threshold_metric: Metric,
        loss_offset: FloatArray | float = 0.0,
    ) -> JudgedWithoutPart:
        """Judge all candidates without each part.

        `criterion` compares the candidates; `threshold_metric` sets the threshold: its metric, or
        the same with a stricter limit. `loss_offset` is added to the loss of each candidate: by how
        much the loss that decided, which includes the mean over folds, exceeded the loss on all
        rows together.
        """
        others = curves.without_part()
        thresholds = threshold_metric.best_of_each(others)[1]
        return cls(criterion.joined(*criterion.terms(others)) + loss_offset, thresholds)

    def repeat(self, rule: Rule) -> RepeatedChoice:
        """Choose candidate and threshold again without each part."""
        candidate = np.apply_along_axis(rule, -1, self.losses).astype(np.int64)
        index = np.take_along_axis(self.threshold_index, candidate[..., None], -1)[..., 0]
        return RepeatedChoice(candidate, index)


class RepeatedChoice(NamedTuple):
    """The candidate chosen without each part, and the index of its threshold."""

    candidate: IntArray
    threshold_index: IntArray


def held_out_rates(curves: PartCurves, choice: RepeatedChoice) -> HeldOutRates:
    """Return the rates of all rows, each predicted by the choice made without its part."""
    index = choice.threshold_index[..., None, None]
    chosen = _of_candidate(curves.above, choice.candidate)[:, :, 0]
    above = np.take_along_axis(chosen, index, axis=-1)[..., 0].sum(axis=(0, 1))
    total = chosen[..., -1].sum(axis=(0, 1))
    return HeldOutRates(float(above[1] / total[1]), float(above[0] / total[0]))


def optimism_of_rates(curves: PartCurves, choice: RepeatedChoice) -> HeldOutRates:
    """Return by how much rates are higher on the rows that chose a threshold than on others.

    Each choice is judged twice: on the rows that made it, and on the part that was left out.
    """
    index = choice.threshold_index[..., None, None]
    others, part = curves.without_part(choice.candidate), curves.of_part(choice.candidate)
    seen = []
    for rates, rows in ((others.tpr, part.positives), (others.fpr, part.negatives)):
        at_threshold = np.take_along_axis(rates, index, axis=-1)
        seen.append(float((at_threshold * rows).sum() / rows.sum()))
    unseen = held_out_rates(curves, choice)
    return HeldOutRates(seen[0] - unseen.tpr, seen[1] - unseen.fpr)


def optimism_of_ranking(
    curves: PartCurves, metric: Metric, choice: RepeatedChoice, candidate: int
) -> float:
    """Return by how much a ranking is better on the rows that chose it than on others.

    On each part, the candidate chosen on all rows is compared with the one chosen without the part;
    both rank the same rows, so how difficult these are cancels out.
    """
    values = []
    for judged in (np.full_like(choice.candidate, candidate), choice.candidate):
        parts = curves.of_part(judged)
        n_pairs = parts.positives * parts.negatives
        # A part without one of the classes has no pairs: it has no weight, but needs a value.
        defined = CurveStack(
            parts.true_positives + (parts.positives == 0),
            parts.false_positives + (parts.negatives == 0),
        )
        values.append(metric.best_values(defined)[..., None])
    return float((n_pairs * (values[0] - values[1])).sum() / n_pairs.sum())


def most_promising(
    losses: FloatArray, complexities: Sequence[float], most: int, per_complexity: int
) -> IntArray:
    """Return the indices of the candidates that some of the rows might choose, in order.

    These are the `most` best of all, and the best few of each complexity: a rule may prefer the
    simpler.
    """
    order = np.argsort(losses, kind="stable")
    kept = set(order[:most].tolist())
    for complexity in set(complexities):
        alike = [k for k in order.tolist() if complexities[k] == complexity]
        kept.update(alike[:per_complexity])
    return np.array(sorted(kept))


def _random_parts(positive: AnyArray, group: IntArray | None, seed: int) -> IntArray:
    rng = np.random.default_rng(seed)
    if group is not None:
        groups, member = np.unique(group, return_inverse=True)
        return (rng.permutation(len(groups)) % min(_PARTS, len(groups)))[member]
    part = np.empty(len(positive), dtype=np.int64)
    for side in (positive, ~positive):
        rows = np.flatnonzero(side)
        part[rows] = (rng.permutation(len(rows)) + seed) % _PARTS
    return part


def _threshold_index(scores: FloatArray, positive: AnyArray, m: int) -> IntArray:
    """Return for each score the first of m falling thresholds that it is above.

    All thresholds but the last are scores, densest where few negatives are above; a score that
    equals a threshold is not above it.
    """
    thresholds = np.sort(scores)[::-1]
    if len(thresholds) >= m:
        negatives = np.sort(scores[~positive])[::-1]
        few = np.unique(np.geomspace(1, len(negatives), 2 * m // 3).astype(np.intp)) - 1
        dense = np.searchsorted(-thresholds, -negatives[few])
        even = np.linspace(0, len(thresholds) - 1, m - 1 - len(dense)).astype(np.intp)
        thresholds = thresholds[np.unique(np.concatenate([dense, even]))]
    return np.minimum(np.searchsorted(-thresholds, -scores, side="right"), m - 1)
