"""Vectors that are compared between days: features, indicators of bins, and bins of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from directrix.metrics import ScoreHistogram
from directrix.moments import BinCounts, Moments
from directrix.monitoring.mixture import ClassMeans, MixtureFit, chi_squared, fit_mixture
from directrix.tables import NumberBins

if TYPE_CHECKING:
    from directrix._typing import AnyArray, FloatArray
    from directrix.moments import ClassMoments

#: Fewest rows that a day should have in a cell, so that its share is nearly normal.
_FEWEST = 8.0
#: Groups of cells of a column: each has at least such a part of the rows.
_COLUMN_GROUPS = 5
#: Cells of scores, of equal weight in a mixture of both classes in equal parts.
_SCORE_CELLS = 16


class DayComparison(NamedTuple):
    """Means of a vector over the rows of a day, and in both classes of the reference rows.

    ``names`` has the column of each component. ``n_rows`` is the effective number of rows of the
    day. ``combination`` has the components that add up to the share of alerts.
    """

    names: tuple[str, ...]
    mean: FloatArray
    n_rows: float
    reference: ClassMeans
    combination: FloatArray | None = None

    def fit(self, dispersion: float = 1.0, share_dispersion: float = 1.0) -> MixtureFit:
        """Fit the share of positives; the parameters are those of `fit_mixture`."""
        return fit_mixture(
            self.mean,
            self.n_rows,
            self.reference,
            dispersion=dispersion,
            share_dispersion=share_dispersion,
            combination=self.combination,
        )

    def chi_squared(self, share: float) -> float:
        """Return the distance from a mixture with a given share of positives, as `chi_squared`."""
        return chi_squared(self.mean, self.n_rows, self.reference, share)


def compare_columns(day: Moments | BinCounts, reference: Moments | BinCounts) -> DayComparison:
    """Compare the columns of a day with those of the reference.

    The labels of ``day`` do not matter. ``reference`` has two classes, the positive one last, and
    the type and columns of the day.
    """
    if isinstance(day, Moments) and isinstance(reference, Moments):
        return _compare_moments(day.unlabelled(), reference)
    if isinstance(day, BinCounts) and isinstance(reference, BinCounts):
        return _compare_counts(day.unlabelled(), reference)
    kinds = type(day).__name__, type(reference).__name__
    msg = f"the day has {kinds[0]} and the reference {kinds[1]}: they must be of one type"
    raise TypeError(msg)


def _compare_moments(day: Moments, reference: Moments) -> DayComparison:
    if day.n_features != reference.n_features:
        msg = f"the day has {day.n_features} features and the reference {reference.n_features}"
        raise ValueError(msg)
    both = zip(day.feature_names or (), reference.feature_names or (), strict=False)
    for name, other in both:
        if name != other:
            msg = (
                f"the day has feature {name!r} where the reference has {other!r}: give the columns "
                "of all days in the same order"
            )
            raise ValueError(msg)
    rows: ClassMoments = day.by_class[None].with_matrix()
    groups = [g.with_matrix() for g in (reference.negative, reference.positive)]
    names = reference.feature_names or tuple(f"x{k}" for k in range(reference.n_features))
    # Differences of means keep their digits if the means are far from zero.
    center = groups[0]
    means = [_gap(center, group) for group in groups]
    return DayComparison(
        names,
        _gap(center, rows),
        rows.effective_count,
        ClassMeans(
            np.stack(means),
            np.stack([group.scatter / group.weight for group in groups]),
            np.array([group.effective_count for group in groups]),
        ),
    )


def _gap(center: ClassMoments, group: ClassMoments) -> FloatArray:
    return (group.mean - center.mean) + (group.mean_tail - center.mean_tail)


def _compare_counts(day: BinCounts, reference: BinCounts) -> DayComparison:
    negative, positive = (reference.class_moments(label) for label in reference.classes.tolist())
    rows = day.class_moments()
    n_rows = _effective(day, 0)
    share = positive.weight / (positive.weight + negative.weight)
    expected = n_rows * (share * positive.mean + (1.0 - share) * negative.mean)
    matrix, names = _cell_groups(reference, np.asarray(expected))
    covariances, means = [], []
    for group in (negative, positive):
        mean = matrix @ group.mean
        second = matrix @ (group.second @ matrix.T)
        means.append(mean)
        covariances.append(second - np.multiply.outer(mean, mean))
    sizes = [_effective(reference, k) for k in range(2)]
    reference_means = ClassMeans(np.stack(means), np.stack(covariances), np.array(sizes))
    return DayComparison(names, matrix @ rows.mean, n_rows, reference_means)


def _effective(counts: BinCounts, k: int) -> float:
    groups = [part[k] for part in counts.parts]
    weight = float(sum(group.weight for group in groups))
    squares = float(sum(group.weight_sq for group in groups))
    return weight**2 / squares if squares else 0.0


def _cell_groups(reference: BinCounts, expected: FloatArray) -> tuple[FloatArray, tuple[str, ...]]:
    """Return indicators of groups of cells, and the name of the column of each.

    Few groups make the test of drift quicker and more powerful: neighbouring bins of numbers are
    joined to about a fifth of the rows, and so are rare levels of texts. The most frequent group
    of each column is left out, because the groups add up to one.
    """
    rows: list[FloatArray] = []
    names: list[str] = []
    for bins, start in zip(reference.bins, reference.starts[:-1].tolist(), strict=True):
        cells = np.arange(start, start + bins.n_cells)
        fewest = max(_FEWEST, expected[cells].sum() / _COLUMN_GROUPS)
        if isinstance(bins, NumberBins):
            # The first cell is that of missing values.
            groups = [[start], *_neighbours(cells[1:].tolist(), expected, fewest)]
        else:
            often = expected[cells] >= fewest
            groups = [[cell] for cell in cells[often].tolist()] + [cells[~often].tolist()]
        groups = [group for group in groups if expected[group].sum() >= _FEWEST]
        groups.sort(key=lambda group: -expected[group].sum())
        for group in groups[1:]:
            row = np.zeros(len(expected))
            row[group] = 1.0
            rows.append(row)
            names.append(bins.name)
    if not rows:
        return np.zeros((0, len(expected))), ()
    return np.stack(rows), tuple(names)


def _neighbours(cells: list[int], expected: FloatArray, fewest: float) -> list[list[int]]:
    """Return runs of neighbouring cells that are each expected to have some rows."""
    groups: list[list[int]] = [[]]
    for cell in cells:
        groups[-1].append(cell)
        if expected[groups[-1]].sum() >= fewest:
            groups.append([])
    return [group for group in groups if group]


def compare_scores(
    day: ScoreHistogram, reference: ScoreHistogram, threshold: float = 0.0
) -> DayComparison:
    """Compare the scores of a day with those of the reference, in cells that a threshold divides.

    The labels of ``day`` do not matter. ``reference`` is of the same model and bins, and of two
    classes. Rows with scores above ``threshold`` are alerts.
    """
    one, other = ((each.center, each.scale, each.model) for each in (day, reference))
    if one != other:
        msg = f"the histograms are not of one model in the same bins: {day} and {reference}"
        raise ValueError(msg)
    rows = day.unlabelled()
    weight, total = reference.weight, float(rows.weight[0])
    n_rows = total**2 / float(rows.weight_sq[0]) if total else 0.0
    shares = reference.counts / weight[:, None]
    cells, above = _score_cells(shares, weight / weight.sum(), n_rows, reference, threshold)
    means = np.add.reduceat(shares, cells, axis=1)
    covariances = [np.diag(mean) - np.multiply.outer(mean, mean) for mean in means]
    sizes = weight**2 / reference.weight_sq
    mean = np.add.reduceat(rows.counts[0] / total, cells)
    return DayComparison(
        tuple(f"{reference.edges[cell]:.4g}" for cell in cells.tolist()),
        mean,
        n_rows,
        ClassMeans(means, np.stack(covariances), sizes),
        above.astype(np.float64),
    )


def _score_cells(
    shares: FloatArray,
    priors: FloatArray,
    n_rows: float,
    reference: ScoreHistogram,
    threshold: float,
) -> tuple[AnyArray, AnyArray]:
    """Return the first bin of each cell of scores, and whether the cell is above the threshold."""
    first_alert = int(np.searchsorted(reference.edges, threshold, side="left"))
    mixed = np.cumsum(shares.mean(axis=0))
    expected = np.concatenate([[0.0], np.cumsum(n_rows * (priors @ shares))])
    wanted = np.searchsorted(mixed, np.arange(1, _SCORE_CELLS) / _SCORE_CELLS) + 1
    kept: list[int] = []
    last = len(mixed)
    for low, high in ((0, first_alert), (first_alert, last)):
        if low == high:
            continue
        starts = [low]
        for start in np.unique(wanted[(wanted > low) & (wanted < high)]).tolist():
            if expected[start] - expected[starts[-1]] >= _FEWEST:
                starts.append(start)
        # The last cell of a side must have rows enough as well.
        while len(starts) > 1 and expected[high] - expected[starts[-1]] < _FEWEST:
            starts.pop()
        kept += starts
    cells = np.array(kept)
    return cells, cells >= first_alert


def labelled_pair(summary: Any, positive: Any) -> Any:
    """Return a summary of two classes with the positive label last."""
    if isinstance(summary, Moments):
        return summary.with_positive(positive)
    if summary.classes.tolist()[-1] == positive:
        return summary
    return summary.one_vs_rest(positive)
