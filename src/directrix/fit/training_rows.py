"""Training rows in a canonical order, with folds: the beginning of every fit to rows.

Rows are identified by keys (`directrix.rows.keys`) and sorted by them, so that no result
depends on the order in which rows were given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import check_cv
from sklearn.utils.validation import _check_sample_weight

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions import MissingGroupsError
from directrix.fit.compare import first_rows_per_class, rescaled_weights
from directrix.fit.money import CostOfRows, RowCosts
from directrix.metrics.at_threshold import Cost
from directrix.metrics.budget import Periods
from directrix.metrics.segments import Segments
from directrix.rows.keys import (
    copy_keys,
    copy_numbers,
    hash_with_label,
    key_hash,
    mix_bits,
    row_hash,
    stratified_folds,
)
from directrix.rows.labels import (
    WeightUnit,
    missing_in,
    refuse_texts,
    require_moderate_weight,
)
from directrix.rows.rows import as_rows

if TYPE_CHECKING:  # rows of a summary come with it
    from directrix.moments import Moments

# ── Sample weights and class weights ──────────────────────────────────────────────────────────────


def checked_weight(sample_weight: Any, X: Any) -> FloatArray:
    """Return one finite weight per row; refuse negative and extreme weights.

    With a ``sample_weight`` of None, each row has weight one.
    """
    refuse_texts(sample_weight)
    weight: FloatArray = _check_sample_weight(sample_weight, X, dtype=np.float64)
    row = int(weight.argmin())
    if weight[row] < 0:
        msg = (
            f"sample_weight must not be negative, and is {weight[row]:g} in row {row}: give zero "
            "to leave a row out"
        )
        raise ValueError(msg)
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if total > 0:
        require_moderate_weight(total, "all rows")
    return weight


def relative_weight(sample_weight: Any, X: Any) -> FloatArray:
    """Return checked weights of mean one, leaving out rows of weight zero."""
    weight = checked_weight(sample_weight, X)
    return unit_of(weight).relative(weight)


def unit_of(weight: FloatArray) -> WeightUnit:
    """Return the unit of the weights of all rows."""
    return WeightUnit.of(float(weight.sum()), int(np.count_nonzero(weight)))


def class_factors(
    class_weight: Any, labels: Sequence[Any], weights: Sequence[float]
) -> tuple[float, ...]:
    """Return the weight of each class; refuse extreme ones.

    scikit-learn's ``compute_class_weight`` counts rows; here "balanced" sums their weights, so
    that a row of weight k counts as k rows.

    ``class_weight`` is by label; a label that is not given has weight 1. ``weights`` are those of
    the rows of each class.
    """
    if class_weight is None:
        factors = (1.0,) * len(labels)
    elif isinstance(class_weight, str) and class_weight == "balanced":
        known = all(weights)
        factors = tuple(sum(weights) / (len(labels) * each) if known else 1.0 for each in weights)
    elif not isinstance(class_weight, Mapping) or set(class_weight) - set(labels):
        msg = (
            f"class_weight must be 'balanced' or a dict with the labels {labels} as keys, not "
            f"{class_weight!r}"
        )
        raise ValueError(msg)
    else:
        factors = tuple(float(class_weight.get(label, 1.0)) for label in labels)
        if not all(0 < factor < float("inf") for factor in factors):
            msg = f"class weights must be positive and finite, not {class_weight!r}"
            raise ValueError(msg)
    for weight, factor in zip(weights, factors, strict=True):
        if weight:
            require_moderate_weight(weight * factor)
    return factors


def factors_of_moments(class_weight: Any, moments: Moments) -> tuple[float, float]:
    """Return the class weights of the negatives and of the positives of a summary."""
    weights = moments.negative.weight, moments.positive.weight
    negative, positive = class_factors(class_weight, moments.classes.tolist(), weights)
    return negative, positive


def reweighted(moments: Moments, class_weight: Any) -> Moments:
    """Return the moments with the prior that class weights give; the classes stay the same."""
    factors = factors_of_moments(class_weight, moments)
    if factors[0] == factors[1] or not (moments.positive.count and moments.negative.count):
        return moments
    odds = moments.prior / (1.0 - moments.prior) * factors[1] / factors[0]
    return moments.with_prior(odds / (1.0 + odds))


# ── Standardised features, and lines converted between the two units ──────────────────────────────


@dataclass(frozen=True)
class Standardization:
    """Mean and scale of each feature; sparse features are only scaled, and stay sparse.

    Unlike scikit-learn's StandardScaler it also converts lines between the two units.
    """

    mean: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, X: Any, weight: FloatArray) -> Standardization:
        """Return the standardisation by mean and standard deviation."""
        share, is_sparse = weight / weight.sum(), sparse.issparse(X)
        mean: FloatArray = np.zeros(X.shape[1]) if is_sparse else share @ X
        with np.errstate(over="ignore", invalid="ignore"):  # values close to the largest float
            deviation = _root_mean_square(share, X.astype(np.float64) if is_sparse else X - mean)
            # In a constant column of 1e12 the deviation is nothing but rounding.
            deviation[deviation <= 1e-13 * np.abs(mean)] = 0.0
            scale = np.where(deviation == 0, 1.0, deviation)
            _require_finite(1.0 / scale + scale, scale)
        return cls(mean, scale)

    def rows(self, X: Any) -> Any:
        """Return the rows standardised, as float64."""
        if sparse.issparse(X):
            return sparse.csr_array(X) @ sparse.diags_array(1.0 / self.scale)
        return (X - self.mean) / self.scale

    def line_back(self, line: FloatArray) -> FloatArray:
        """Convert a line of standardised features to the line of the features with equal scores."""
        with np.errstate(over="ignore"):
            weight = line[:-1] / self.scale
        _require_finite(weight, self.scale)
        return np.append(weight, line[-1] - weight @ self.mean)


def _root_mean_square(share: FloatArray, X: Any) -> FloatArray:
    # In units of a power of two, nothing but over- and underflow of squares is different.
    largest = abs(X).max(axis=0)
    largest = largest.toarray().ravel() if sparse.issparse(X) else largest
    unit = np.ldexp(1.0, np.clip(np.frexp(largest)[1], -1021, 1023))
    if sparse.issparse(X):
        squares = np.asarray(share @ (X @ sparse.diags_array(1.0 / unit)).power(2)).ravel()
    else:
        squares = share @ np.square(X / unit)
    root: FloatArray = unit * np.sqrt(squares)
    return root


def _require_finite(coefficients: FloatArray, scale: FloatArray) -> None:
    bad = np.flatnonzero(~np.isfinite(coefficients))
    if bad.size:
        msg = (
            f"column {bad[0]} varies by {scale[bad[0]]:.3g}: in its units the coefficient is "
            "beyond the range of floats. Rescale it, for instance with StandardScaler or by a "
            "power of ten."
        )
        raise ValueError(msg)


# ── Folds from the user: a splitter of scikit-learn, or groups of rows that stay together ─────────


#: Remedy for splitters that leave rows out, such as TimeSeriesSplit and ShuffleSplit.
_SPLITTERS = (
    "StratifiedKFold, GroupKFold and PredefinedSplit(fold) do: number periods of time as folds in "
    "PredefinedSplit, or give them as groups=, and judge later rows with evaluate()"
)


def folds_given(cv: Any, X: Any, y: AnyArray, groups: Any = None) -> IntArray | None:
    """Return the fold in which a splitter of scikit-learn, or its splits, test each row.

    None if ``cv`` is a number of folds.

    ``groups`` are for splitters that need them.
    """
    splits = splits_given(cv, X, y, groups)
    if splits is None:
        return None
    fold = np.empty(len(y), dtype=np.int64)
    tested = np.zeros(len(y), dtype=np.int64)
    for number, (train, test) in enumerate(splits):
        fold[test] = number
        tested[test] += 1
        if len(train) + len(test) != len(y) or np.isin(train, test).any():
            msg = (
                "cv must train each split on all rows that it does not test, and "
                f"{type(cv).__name__} does not; {_SPLITTERS}"
            )
            raise ValueError(msg)
    if not (tested == 1).all():
        times = int(tested[tested != 1][0])
        name = type(cv).__name__
        msg = f"cv must test each row once, and {name} tests one {times} times; {_SPLITTERS}"
        raise ValueError(msg)
    return fold


def splits_given(
    cv: Any, X: Any, y: AnyArray, groups: Any = None
) -> list[tuple[IntArray, IntArray]] | None:
    """Return the training and test rows of each split of ``cv``; None if it is a number of folds.

    ``groups`` are for splitters that need them.
    """
    if isinstance(cv, int | np.integer) and cv >= 2:
        return None
    if cv is None or isinstance(cv, int | float | np.number):
        msg = (
            "cv must be a number of folds, 2 or more, or a splitter of scikit-learn or its "
            f"splits, not {cv!r}"
        )
        raise ValueError(msg)
    return list(check_cv(cv).split(X, y, groups))


def require_both_classes(fold: IntArray, positive: AnyArray) -> IntArray:
    """Return the folds; refuse a fold without rows of both classes."""
    number = _first_one_class_fold(fold, positive, int(fold.max()) + 1)
    if number is not None:
        msg = f"cv must hold out rows of both classes, of weight above zero, in split {number}"
        raise ValueError(msg)
    return fold


def require_all_folds(fold: AnyArray, positive: AnyArray, n_folds: int) -> None:
    """Refuse so few rows that a fold has none of a class."""
    number = _first_one_class_fold(fold, positive, n_folds)
    if number is not None:
        msg = (
            f"fold {number} has no rows of one class: there are too few for these folds. "
            "Give fold=HashFolds(2), or read the rows and use fit."
        )
        raise ValueError(msg)


def checked_groups(groups: Any, n_rows: int) -> IntArray:
    """Return the number of each row's group.

    Numbers are in the order of a hash of the names, and so do not depend on the order of rows.
    """
    names = np.asarray(groups)
    if names.shape != (n_rows,):
        msg = f"groups must name one group for each of {n_rows} rows, not {names.shape}"
        raise ValueError(msg)
    missing = missing_in(names)
    if missing.any():
        raise MissingGroupsError(int(missing.sum()), int(missing.argmax()))
    _, numbers = np.unique(mix_bits(key_hash([names])), return_inverse=True)
    return numbers.astype(np.int64)


def group_folds(group: IntArray, positive: AnyArray, n_folds: int) -> IntArray:
    """Return folds of whole groups, stratified by the classes that a group contains.

    ``group`` comes from `checked_groups`. ``n_folds`` is the largest number of folds; there are
    fewer if groups are few.
    """
    names, member = np.unique(group, return_inverse=True)
    has = [np.bincount(member, side, len(names)) > 0 for side in (positive, ~positive)]
    for number in range(n_folds, 1, -1):
        of_groups = stratified_folds(names.astype(np.uint64), has[0] + 2 * has[1], number)
        fold: IntArray = of_groups[member]
        if _first_one_class_fold(fold, positive, number) is None:
            return fold
    msg = (
        f"groups leave no two folds with rows of both classes: {int(has[0].sum())} groups have "
        f"positives and {int(has[1].sum())} have negatives. Give more groups, or finer ones"
    )
    raise ValueError(msg)


def _first_one_class_fold(fold: AnyArray, positive: AnyArray, n_folds: int) -> int | None:
    for number in range(n_folds):
        inside = positive[fold == number]
        if not inside.any() or inside.all():
            return number
    return None


# ── Training rows in a canonical order, with folds: the beginning of every fit to rows ────────────

#: Folds, where ``cv`` does not say how many.
FOLDS = 5


class Rows(NamedTuple):
    """Rows of two classes, with all that stands beside them.

    A row is one row, whatever its weight: the weight says how much it counts. ``fold`` is None if
    no rows are held out. Rows of one ``group`` are dependent, and always in one fold. ``costs`` are
    those of the errors, where they differ between rows: ``weight`` may then be the cost of a row's
    own error, and ``counted`` is its weight as a row. ``periods`` are the days of the rows, where a
    budget of alerts is kept, and ``segments`` the segment of each row, where rates are told by
    segment. ``keys`` order the rows at random, the same way in whatever order they were given.
    ``weighted_by`` says what makes rows count differently: sample_weight, class_weight or both.
    """

    X: Any
    positive: AnyArray
    weight: FloatArray
    fold: IntArray | None = None
    group: IntArray | None = None
    costs: RowCosts | None = None
    counted: FloatArray | None = None
    periods: Periods | None = None
    segments: Segments | None = None
    keys: AnyArray | None = None
    weighted_by: str = ""

    @classmethod
    def of(
        cls,
        X: Any,
        y: AnyArray,
        label: Any,
        weight: FloatArray,
        fold: IntArray | None = None,
        groups: Any = None,
    ) -> Rows:
        """Return the rows of weight above zero, in the order given, with keys.

        ``label`` is the positive class. ``weight`` has the sample weights, not yet multiplied by
        class weights. ``fold`` has the folds given by the user.
        """
        group = None if groups is None else checked_groups(groups, len(y))
        if (weight == 0).any():
            kept = np.flatnonzero(weight > 0)
            X, y, weight = X[kept], y[kept], weight[kept]
            fold = None if fold is None else fold[kept]
            group = None if group is None else group[kept]
        # By the number of the class, so that the names of labels do not matter.
        code = np.unique(y, return_inverse=True)[1]
        hashes = hash_with_label(row_hash(as_rows(X)), code)
        keys = copy_keys(hashes, copy_numbers(hashes, weight))
        by = "sample_weight" if np.ptp(weight) > 0 else ""
        return cls(X, y == label, weight, fold, group, keys=keys, weighted_by=by)

    def take(self, index: Any) -> Rows:
        """Return some of the rows, by index or mask, with all that stands beside them."""
        return Rows(*(_taken(part, index) for part in self))

    @property
    def unpriced(self) -> Rows:
        """The rows with the weights of rows, not of the costs of their errors."""
        if self.counted is None:
            return self
        return self._replace(weight=self.counted, costs=None, counted=None)

    @property
    def name(self) -> str:
        """Name of the rows on which rates are measured."""
        return "the training rows" if self.fold is None else "held-out rows"

    @property
    def order(self) -> IntArray:
        """The positions of the rows in the order of their keys."""
        return np.argsort(np.asarray(self.keys), kind="stable")

    def weighted(self, class_weight: Any, labels: AnyArray) -> Rows:
        """Return the rows with class weights, as defined by scikit-learn.

        ``labels`` are the negative and the positive one.
        """
        totals = np.bincount(self.positive, self.weight, minlength=2).tolist()
        factors = class_factors(class_weight, labels.tolist(), totals)
        weight = self.weight * np.array(factors)[self.positive.astype(np.intp)]
        names = [self.weighted_by, "class_weight" if np.ptp(weight / self.weight) > 0 else ""]
        return self._replace(weight=weight, weighted_by=" and ".join(filter(None, names)))

    def priced(self, cost: Cost, costs: RowCosts) -> tuple[Rows, CostOfRows]:
        """Return the rows with the costs of their errors, and the metric of training."""
        metric, factor = CostOfRows.of(cost, costs, self.positive, self.weight)
        priced = self._replace(weight=self.weight * factor, costs=costs, counted=self.weight)
        return priced, metric

    def first(self, most: int, order: IntArray | None = None) -> Rows:
        """Return the first rows of each class, with the weight of all of its rows.

        In the order of their keys, the first rows are a random sample. ``order`` has the positions
        of all rows in their order; by default they are in order.
        """
        order = np.arange(len(self.positive)) if order is None else order
        positive = self.positive[order]
        chosen = first_rows_per_class(positive, most)
        weight = rescaled_weights(positive, self.weight[order], chosen)
        rows = self.take(order[chosen])._replace(weight=weight)
        if self.counted is None:
            return rows
        return rows._replace(counted=rescaled_weights(positive, self.counted[order], chosen))

    def in_folds(self, n_folds: int, most: int | None = None) -> Rows:
        """Return the rows in the order of their keys, with folds, or only the first of each class.

        ``n_folds`` is the number of folds, if none were given; there are fewer if a class is small.
        ``most`` is the largest number of rows of each class.
        """
        rows = self.first(len(self.positive) if most is None else most, self.order)
        return rows.with_folds(n_folds)

    def with_folds(self, n_folds: int) -> Rows:
        """Return the rows, in the order that they have, with at most so many folds."""
        if self.fold is not None:
            fold: IntArray | None = require_both_classes(self.fold, self.positive)
        elif self.group is not None and n_folds > 1:
            fold = group_folds(self.group, self.positive, n_folds)
        else:
            fold = class_folds(np.asarray(self.keys), self.positive, n_folds)
        return self._replace(fold=fold)

    def last_fold_apart(self) -> tuple[Rows, Rows]:
        """Return the rows of all folds but the last, and those of the last, without folds."""
        fold = self.fold
        if fold is None or len(np.unique(self.positive[fold == fold.max()])) < 2:
            msg = (
                "guarantee= sets one fold apart, and it has no rows of both classes: give more rows"
            )
            raise ValueError(msg)
        last = fold == fold.max()
        return self.take(~last), self.take(last)._replace(fold=None)

    def set_apart(self, share: int, *, by_segment: bool = False) -> tuple[Rows, Rows]:
        """Set one in `share` rows of each class apart; return the others, and these.

        One in `share` groups is set apart as a whole, and so are days where a budget is kept. By
        segment, the same number of each segment is set apart, or half of a small one
        (`level_shares`): each has limits of its own, however few its rows are. Rows then have the
        weight of all of their class and segment.
        """
        positive, counted, rows = self.positive, self.counted, self
        fold: IntArray | None
        if self.group is not None:
            fold = group_folds(self.group, positive, share)
        elif by_segment and self.segments is not None:
            order, plain = self.order, self.unpriced.weight
            segments = self.segments.take(order)
            fold, factor = segments.set_apart(positive[order], plain[order], share)
            fold, factor = fold[np.argsort(order)], factor[np.argsort(order)]
            counted = None if counted is None else counted * factor
            rows = self._replace(weight=self.weight * factor, counted=counted)
        elif self.periods is None:
            fold = class_folds(np.asarray(self.keys), positive, share)
        else:
            fold = group_folds(checked_groups(self.periods.day, len(positive)), positive, share)
        if fold is None or fold.max() < share - 1 or len(np.unique(positive[fold == 0])) < 2:
            msg = (
                f"guarantee= sets one in {share} of the rows of each class apart: give {share} "
                "rows of each class or more, in as many groups if there are groups"
            )
            raise ValueError(msg)
        return rows.take(fold != 0), rows.take(fold == 0)


def _taken(part: Any, index: Any) -> Any:
    if part is None or isinstance(part, str):
        return part
    return part.take(index) if isinstance(part, RowCosts | Periods | Segments) else part[index]


def sampled_rows(moments: Moments, class_weight: Any = None) -> Rows:
    """Return the sample of a summary of two classes, in random order, with class weights.

    The last class is the positive one. Rows have folds if the summary has. The weights of the rows
    have the mean one over all rows of the summary, and give each class the weight of all its rows.
    """
    sample = moments.sample
    if sample is None:
        msg = "this summary has no rows: make it with sample=10_000"
        raise ValueError(msg)
    positive = sample.y == moments.classes.tolist()[-1]
    shares = np.array([1.0 - moments.prior, moments.prior])
    totals = moments.count * shares * factors_of_moments(class_weight, moments)
    sampled = np.bincount(positive, sample.weight, minlength=2)
    weight = sample.weight * (totals / sampled)[positive.astype(np.intp)]
    names = sample.segment
    segments = None if names is None else Segments.of(names, len(sample))
    rows = Rows(sample.X, positive, weight, sample.fold, keys=sample.hashes, segments=segments)
    given = {"sample_weight": np.ptp(sample.weight) > 0, "class_weight": class_weight is not None}
    by = " and ".join(name for name, weighted in given.items() if weighted)
    return rows._replace(weighted_by=by, fold=sample.fold if moments.folded else None)


def class_folds(keys: AnyArray, positive: AnyArray, n_folds: int) -> IntArray | None:
    """Return folds stratified by class; None if a class has one row only."""
    n_pos = int(np.count_nonzero(positive))
    n_folds = min(n_folds, n_pos, len(positive) - n_pos)
    return stratified_folds(keys, positive, n_folds) if n_folds > 1 else None
