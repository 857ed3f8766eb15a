r"""Cross-choice: what to expect on new rows of a candidate and a threshold that rows have chosen.

The best of many candidates, at the threshold that is best for it, looks better on the rows that
chose it than it is. All held-out scores of all candidates are there, so the choice can be made
again without some rows and judged on these: one tenth of the rows is left out, candidate and
threshold are chosen on the other nine, and the tenth is predicted; so for each tenth, and four
times with other tenths. The rates of all rows so predicted are those of a choice that has not seen
them. It is a cross-validation of the choice alone; nothing is fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from directrix.metrics import CurveStack

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from directrix._typing import AnyArray, FloatArray, IntArray
    from directrix.metrics import Metric

    #: Of the losses of all candidates: which one is chosen.
    Rule = Callable[[FloatArray], int]

_PARTS, _REPEATS = 10, 4
#: Thresholds of a candidate that are tried again; of fewer rows, all there are.
_THRESHOLDS = 300


class Rates(NamedTuple):
    """Rates of predictions."""

    tpr: float
    fpr: float


@dataclass(frozen=True)
class ScoresInParts:
    """How many positives and negatives of each part are above each threshold of each candidate.

    Parameters
    ----------
    above : array of shape (repeats, parts, k, 2, m)
        Weight of the rows of a part above a threshold, negatives first; the last threshold is
        below all rows.
    """

    above: FloatArray

    @classmethod
    def of(
        cls,
        scores: FloatArray,
        positive: AnyArray,
        weight: FloatArray,
        group: IntArray | None = None,
    ) -> ScoresInParts:
        """Share out rows, in an order of their own, into ten parts, four times.

        Parameters
        ----------
        scores : array of shape (n, k)
            Held-out scores of each of k candidates.
        positive : array of bool of shape (n,)
        weight : array of shape (n,)
        group : array of int of shape (n,), optional
            Rows of one group are in the same part.
        """
        parts = np.stack([_dealt_out(positive, group, seed) for seed in range(_REPEATS)])
        n_parts = int(parts.max()) + 1
        m = min(len(positive) + 1, _THRESHOLDS)
        counts = np.empty((_REPEATS, n_parts, scores.shape[1], 2, m))
        cells = (parts * 2 + positive) * m
        for k, column in enumerate(scores.T):
            bins = _bins(column, positive, m)
            for repeat, cell in enumerate(cells):
                found = np.bincount(cell + bins, weight, n_parts * 2 * m)
                counts[repeat, :, k] = found.reshape(n_parts, 2, m)
        return cls(np.cumsum(counts, axis=-1))

    def others(self) -> CurveStack:
        """Return the curves of all rows but those of a part, which stand for all rows."""
        whole = self.above.sum(axis=1, keepdims=True)
        left = whole - self.above
        # Without a part that holds all rows of a class nothing can be chosen: it stays in.
        lacking = (left[..., -1] <= 0).any(axis=-1)[..., None, None]
        left = np.where(lacking, whole, left)
        # A quota may be a count of all rows.
        total = whole[..., -1].sum(axis=-1)[..., None, None]
        factor = total / left[..., -1].sum(axis=-1)[..., None, None]
        left *= factor
        return CurveStack(left[..., 1, :], left[..., 0, :])

    def part(self) -> CurveStack:
        """Return the curves of the rows of each part."""
        return CurveStack(self.above[..., 1, :], self.above[..., 0, :])


class CrossChosen(NamedTuple):
    """What was chosen without each part.

    Parameters
    ----------
    candidate, place : array of int of shape (repeats, parts)
        Which candidate, and which of its thresholds.
    """

    candidate: IntArray
    place: IntArray


def choose_without_parts(
    parts: ScoresInParts, metric: Metric, at: Metric, shift: FloatArray, rule: Rule
) -> CrossChosen:
    """Choose candidate and threshold without each part.

    Parameters
    ----------
    parts : ScoresInParts
    metric : Metric
        By which candidates are compared.
    at : Metric
        By which the threshold is set: the same, or with a stricter limit.
    shift : array of shape (k,)
        Of the loss of each candidate, from what all rows together say: what folds on their own
        say besides.
    rule : callable
    """
    curves = parts.others()
    values, places = metric.best_of_each(curves)
    if at != metric:
        places = at.best_of_each(curves)[1]
    losses = (-values if metric.greater_is_better else values) + shift
    candidate = np.apply_along_axis(rule, -1, losses).astype(np.int64)
    return CrossChosen(candidate, np.take_along_axis(places, candidate[..., None], -1)[..., 0])


def judged(parts: ScoresInParts, chosen: CrossChosen) -> Rates:
    """Return the rates of all rows, each predicted by what was chosen without its part."""
    own = np.take_along_axis(parts.above, chosen.candidate[..., None, None, None], axis=2)[:, :, 0]
    above = np.take_along_axis(own, chosen.place[..., None, None], axis=-1)[..., 0].sum(axis=(0, 1))
    total = own[..., -1].sum(axis=(0, 1))
    return Rates(float(above[1] / total[1]), float(above[0] / total[0]))


def optimism_of_ranking(
    parts: ScoresInParts, metric: Metric, chosen: CrossChosen, candidate: int
) -> float:
    """Return how much better a ranking looks on the rows that chose it than on others.

    The candidate chosen on all rows and that chosen without a part are compared on the part, so
    that what is hard about its rows is the same for both.
    """
    curves = parts.part()
    pairs = (curves.positives * curves.negatives)[..., 0, 0]
    safe = CurveStack(
        curves.true_positives + (curves.positives == 0),
        curves.false_positives + (curves.negatives == 0),
    )
    values = metric.best_of_each(safe)[0]
    other = np.take_along_axis(values, chosen.candidate[..., None], axis=-1)[..., 0]
    return float((pairs * (values[..., candidate] - other)).sum() / pairs.sum())


def most_promising(losses: FloatArray, kinds: Sequence[float], most: int, of_kind: int) -> IntArray:
    """Return the candidates that some of the rows could choose: the best, and those of each kind.

    Parameters
    ----------
    losses : array of shape (k,)
    kinds : sequence of float
        What the rule that chooses prefers them by, besides their losses.
    most, of_kind : int
        How many of all, and of each kind.
    """
    order = np.argsort(losses, kind="stable")
    kept = set(order[:most].tolist())
    for kind in set(kinds):
        kept.update([k for k in order.tolist() if kinds[k] == kind][:of_kind])
    return np.array(sorted(kept))


def _dealt_out(positive: AnyArray, group: IntArray | None, seed: int) -> IntArray:
    """Return parts that share out each class, or groups, evenly."""
    rng = np.random.default_rng(seed)
    if group is not None:
        names, member = np.unique(group, return_inverse=True)
        return (rng.permutation(len(names)) % min(_PARTS, len(names)))[member]
    part = np.empty(len(positive), dtype=np.int64)
    n_parts = _PARTS
    for side in (positive, ~positive):
        rows = np.flatnonzero(side)
        part[rows] = (rng.permutation(len(rows)) + seed) % n_parts
    return part


def _bins(scores: FloatArray, positive: AnyArray, m: int) -> IntArray:
    """Return the first threshold, of m falling ones, that each score is above.

    Thresholds are scores, finest where few negatives are above; a row on one is not above it.
    """
    ranked = np.sort(scores)[::-1]
    if len(ranked) >= m:
        negatives = np.sort(scores[~positive])[::-1]
        few = np.unique(np.geomspace(1, len(negatives), 2 * m // 3).astype(np.intp)) - 1
        fine = np.searchsorted(-ranked, -negatives[few])
        even = np.linspace(0, len(ranked) - 1, m - 1 - len(fine)).astype(np.intp)
        ranked = ranked[np.unique(np.concatenate([fine, even]))]
    return np.minimum(np.searchsorted(-ranked, -scores, side="right"), m - 1)
