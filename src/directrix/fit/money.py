"""Money: costs of single rows, what decisions cost and save, and intervals that long tails survive.

A cost may differ from row to row: the amount of a payment, the limit of a loan. `RowCosts` has the
costs of both errors for each row; training weighs a row by the cost of its own error, a decision
compares expected costs, and `Money` says what decisions cost on rows. Rates stay rates of rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from directrix._printing import text_table
from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions import CostColumnError
from directrix.fit.report import Estimate
from directrix.fit.shares import LEVEL
from directrix.metrics.at_threshold import Cost
from directrix.metrics.base import Metric
from directrix.rows.frames import feature_names_of

# ── RowCosts: the cost of a false positive and of a miss, row by row ──────────────────────────────

#: Names of the two ways to decide: one threshold for all rows, or by the costs of each row.
BY_THRESHOLD, BY_ROW = "one threshold", "row by row"
#: Least weight of a row in training, relative to the mean: an error that costs nothing still counts
#: as a row, so that no fold is without one.
_LEAST = 1e-9


class RowCosts(NamedTuple):
    """Costs of both errors for each row: of flagging it in vain, and of missing it."""

    fp: FloatArray
    fn: FloatArray

    @classmethod
    def of(cls, cost: Cost, n_rows: int, given: Mapping[str, Any], X: Any = None) -> RowCosts:
        """Return the costs of rows; columns are given by name, or columns of the table.

        Raises CostColumnError if a column is in neither.
        """
        sides = []
        for value in (cost.fp, cost.fn):
            if isinstance(value, str):
                sides.append(_checked(value, given_column(value, X, given), n_rows))
            else:
                sides.append(np.full(n_rows, float(value)))
        return cls(*sides)

    def take(self, index: Any) -> RowCosts:
        """Return the costs of some rows, by a mask or by their positions."""
        return RowCosts(self.fp[index], self.fn[index])

    def of_own_error(self, positive: AnyArray) -> FloatArray:
        """Return the cost of a wrong decision about each row, which is its weight in training."""
        return np.where(positive, self.fn, self.fp)

    def expected_saving(self, probability: FloatArray) -> FloatArray:
        r"""Return the expected saving from flagging each row.

        .. math:: p\, c_{fn} - (1 - p)\, c_{fp}

        with calibrated probabilities p: it pays to flag a row where this is above zero.
        """
        return probability * self.fn - (1.0 - probability) * self.fp

    def of_decisions(self, positive: AnyArray, flagged: AnyArray) -> FloatArray:
        """Return the cost of the decision about each row; zero where it is right."""
        return np.where(positive != flagged, self.of_own_error(positive), 0.0)


def given_column(name: str, X: Any, given: Mapping[str, Any]) -> Any:
    """Return a column by its name: as it was given, or of the table.

    Raises CostColumnError if it is neither.
    """
    if given.get(name) is not None:
        return given[name]
    names = tuple(feature_names_of(X) or ())
    if name not in names:
        raise CostColumnError(name, names)
    return X[name]


def _checked(name: str, values: Any, n_rows: int) -> FloatArray:
    try:
        costs = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        msg = f"{name} must be a number for each row: it has values that are none"
        raise ValueError(msg) from None
    if costs.shape != (n_rows,):
        msg = f"{name} must have one cost for each of {n_rows} rows, not shape {costs.shape}"
        raise ValueError(msg)
    wrong = np.flatnonzero(~(np.isfinite(costs) & (costs >= 0)))
    if len(wrong):
        msg = (
            f"{name} must be finite and not negative, and is {costs[wrong[0]]} in row {wrong[0]}: "
            "correct it, or leave the row out"
        )
        raise ValueError(msg)
    return costs


def training_weights(costs: FloatArray, weight: FloatArray) -> tuple[FloatArray, float]:
    """Return the factor of each row's weight in training, of mean one, and the mean cost.

    The share of the weight that is decided wrongly, times the mean cost, is the mean cost of the
    decisions: exactly, as long as no cost is next to nothing. ``costs`` are those of the own error
    of each row.
    """
    mean = float(weight @ costs) / float(weight.sum())
    if not mean > 0:
        msg = "every error costs nothing, so that there is nothing to learn: check the costs"
        raise ValueError(msg)
    return np.maximum(costs / mean, _LEAST), mean


@dataclass(frozen=True)
class CostOfRows(Cost):
    """Mean cost of a row in training, where the costs of rows differ.

    Parameters
    ----------
    fp, fn : float
        The mean cost of an error of each class; or the mean of both, if the weight of a row is the
        cost of its own error.
    cost : Cost
        As it was asked for, by columns.
    """

    cost: Cost | None = None

    @classmethod
    def of(
        cls, cost: Cost, costs: RowCosts, positive: AnyArray, weight: FloatArray
    ) -> tuple[CostOfRows, FloatArray]:
        """Return the metric to train for, and a factor for the weight of each row.

        Where costs are known when rows are decided about, rows are not weighted: probabilities are
        wanted. Otherwise the cost of a row's own error is its weight.
        """
        own = costs.of_own_error(positive)
        factor, mean = training_weights(own, weight)
        if not cost.known:
            return cls(mean, mean, cost=cost), factor
        fp, fn = (
            float(weight[side] @ own[side]) / float(weight[side].sum())
            for side in (~positive, positive)
        )
        return cls(fp, fn, cost=cost), np.ones(len(own))

    @property
    def decides_by(self) -> str:
        """`BY_ROW` if each row is decided about by its own costs, otherwise `BY_THRESHOLD`."""
        return BY_ROW if self.cost is not None and self.cost.by_row else BY_THRESHOLD

    @property
    def label(self) -> str:
        """The metric in words."""
        return super().label if self.cost is None else self.cost.label

    def break_even(self, prior: float) -> float | None:  # noqa: ARG002
        """Return None: probabilities are those of rows, and no single one is that of all costs."""
        return None


def stated_metric(metric: Metric) -> Metric:
    """Return a metric as it was asked for, where training had it in other words."""
    return getattr(metric, "cost", None) or metric


# ── Intervals of means of which few rows decide most ──────────────────────────────────────────────

_DRAWS = 1000
#: Rows at each end of a distribution that tell how long its tail is: so many times the root of all
#: on that side, at least and at most.
_TAIL_ROWS, _FEWEST, _MOST = 2.0, 8, 250
#: Heaviest tail that an interval allows for: at one, no mean exists.
_HEAVIEST = 0.8


def long_tailed_interval(values: FloatArray) -> tuple[float, float]:
    r"""Return an interval of the mean of values of which few may be most of the sum.

    The bootstrap of rows covered 65 to 80 % of such means in simulations: the rows that would make
    a sample's mean too large are not among the rows at hand. So rows beyond a high quantile u are
    drawn from a Pareto distribution,

    .. math:: P(V > v) = \frac kn \left(\frac uv\right)^{1/\xi}, \qquad
              \hat\xi = \frac1k \sum_{i \le k} \log \frac{v_i}{u},

    with :math:`\xi` from its posterior, :math:`\hat\xi\, k / \mathrm{Gamma}(k)`, and at most 0.8;
    all others as they are. The mean minus that of the distribution drawn from, in units of its
    standard error, has the quantiles of the interval (bootstrap-t), on the side of the tail if they
    are further out than those of the plain bootstrap-t.
    """
    n, mean = len(values), float(np.mean(values))
    error = float(np.std(values)) / np.sqrt(max(n - 1, 1))
    if not error > 0:
        return mean, mean
    rng = np.random.default_rng(0)
    ends = [_LongEnd.of(values, side) for side in (1.0, -1.0)]
    tails = [end for end in ends if end is not None]
    inside = np.ones(n, dtype=bool)
    for tail in tails:
        inside[tail.rows] = False
    counts = [rng.binomial(n, len(tail.rows) / n, _DRAWS) for tail in tails]
    left = np.maximum(n - sum(counts, np.zeros(_DRAWS, dtype=np.int64)), 0)
    plain = _drawn_sums(values[inside], n, left, rng)
    drawn = plain.copy()
    for tail, count in zip(tails, counts, strict=True):
        plain += tail.sums(tail.resampled(count, rng))
        drawn += tail.sums(*tail.drawn(count, n, rng))
    share = (1.0 - LEVEL) / 2.0
    least, most = np.quantile(_studentized(plain, n, mean), [share, 1.0 - share]).tolist()
    wide = np.quantile(_studentized(drawn, n), [share, 1.0 - share]).tolist()
    if ends[0] is not None:
        least = min(least, wide[0])
    if ends[1] is not None:
        most = max(most, wide[1])
    return min(mean - most * error, mean), max(mean - least * error, mean)


class _LongEnd(NamedTuple):
    """Rows at one end of a distribution: their positions and sizes beyond ``start``."""

    side: float
    rows: IntArray
    sizes: FloatArray
    start: float
    shape: float

    @classmethod
    def of(cls, values: FloatArray, side: float) -> _LongEnd | None:
        """Return the rows of the end on one side of zero; None if there are too few."""
        index = np.flatnonzero(side * values > 0)
        index = index[np.argsort(side * values[index], kind="stable")]
        k = int(min(max(_TAIL_ROWS * np.sqrt(len(index)), _FEWEST), len(index) // 2, _MOST))
        if k < _FEWEST // 2:
            return None
        start, sizes = side * values[index[-k - 1]], side * values[index[-k:]]
        shape = float(np.log(sizes / start).mean())
        return cls(side, index[-k:], sizes, float(start), shape) if shape > 0 else None

    def sums(self, sizes: FloatArray, mean: FloatArray | float = 0.0) -> FloatArray:
        """Return sums, sums of squares and what is added to the mean; see `_drawn_sums`."""
        added = np.broadcast_to(mean, len(sizes))
        return np.stack([self.side * sizes.sum(axis=1), (sizes**2).sum(axis=1), self.side * added])

    def resampled(self, count: IntArray, rng: np.random.Generator) -> FloatArray:
        """Return these sizes drawn with replacement: ``count`` of them in each draw, then zeros."""
        which = rng.integers(0, len(self.sizes), (len(count), int(count.max())))
        return np.where(np.arange(which.shape[1]) < count[:, None], self.sizes[which], 0.0)

    def drawn(
        self, count: IntArray, n_rows: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Return sizes from Pareto distributions, and what these add to the mean of all rows."""
        k = len(self.sizes)
        shape = np.minimum(self.shape * k / rng.gamma(k, size=len(count)), _HEAVIEST)
        uniform = 1.0 - rng.random((len(count), int(count.max())))
        sizes = self.start * uniform ** -shape[:, None]
        inside = np.arange(sizes.shape[1]) < count[:, None]
        return np.where(inside, sizes, 0.0), k / n_rows * self.start / (1.0 - shape)


def _drawn_sums(body: FloatArray, n: int, count: IntArray, rng: np.random.Generator) -> FloatArray:
    """Draw ``count`` of the rows between both ends in each sample, by the central limit theorem.

    Returns sums, sums of squares and the part of the mean of all ``n`` rows, of shape (3, draws).
    """
    both = np.stack([body, body**2])
    scatter = np.cov(both, bias=True) if len(body) > 1 else np.zeros((2, 2))
    noise = rng.multivariate_normal([0.0, 0.0], scatter, _DRAWS, method="svd")
    means = both.mean(axis=1) if len(body) else np.zeros(2)
    first, second = (count[:, None] * means + np.sqrt(count)[:, None] * noise).T
    return np.stack([first, np.maximum(second, 0.0), np.full(_DRAWS, len(body) / n * means[0])])


def _studentized(sums: FloatArray, n: int, mean: float | None = None) -> FloatArray:
    # The means of samples less the true mean, by default that of what was drawn from.
    of_samples, square = sums[0] / n, sums[1] / n
    variance = np.maximum(square - of_samples**2, 1e-9 * square.mean())
    true = sums[2] if mean is None else mean
    studentized: FloatArray = (of_samples - true) / np.sqrt(variance / max(n - 1, 1))
    return studentized


# ── Money: what decisions about rows cost, and what they save ─────────────────────────────────────

#: Half of the money in fewer rows than this is said in words.
_FEW_ROWS = 30


@dataclass(frozen=True)
class DecisionMoney:
    """Cost and saving of one way to decide about rows.

    Parameters
    ----------
    name : str
    flagged : float
        Share of the rows that are flagged.
    cost : Estimate
        Mean cost of a row.
    saved_on_none, saved_on_all : Estimate
        Money saved for each row, against flagging no row, and against flagging every row.
    """

    name: str
    flagged: float
    cost: Estimate
    saved_on_none: Estimate
    saved_on_all: Estimate


@dataclass(frozen=True)
class Money:
    """Cost and saving of decisions about rows; all amounts are means over rows.

    Parameters
    ----------
    rows : str
        Which rows.
    n_rows : int
    decisions : tuple of DecisionMoney
    cost_of_none, cost_of_all : float
        Mean cost of a row if no row, or every row, is flagged.
    half : int
        Number of rows whose misses make half of what all misses would cost.
    """

    rows: str
    n_rows: int
    decisions: tuple[DecisionMoney, ...]
    cost_of_none: float
    cost_of_all: float
    half: int

    @classmethod
    def of(
        cls,
        costs: RowCosts,
        positive: AnyArray,
        weight: FloatArray,
        decisions: Mapping[str, AnyArray],
        rows: str = "these rows",
        *,
        group: IntArray | None = None,
        optimism: float = 0.0,
        spread: float = 1.0,
    ) -> Money:
        """Compute the costs of decisions on labelled rows.

        ``decisions`` say by name which rows are flagged, and ``rows`` is what the rows are called.
        Rows of one ``group`` are dependent: intervals take their sum as one. ``optimism`` is how
        much less decisions by one threshold cost on these rows than on new ones, and ``spread`` the
        variance of the means about what new rows show, relative to that of as many rows.
        """
        of_none, of_all = (
            costs.of_decisions(positive, np.full(len(positive), flag)) for flag in (False, True)
        )

        def estimate(values: FloatArray, shift: float) -> Estimate:
            return _estimate(values, weight, group, shift, spread)

        found = []
        for name, flagged in decisions.items():
            spent = costs.of_decisions(positive, flagged)
            shift = optimism if name == BY_THRESHOLD else 0.0
            found.append(
                DecisionMoney(
                    name,
                    float(weight @ flagged) / float(weight.sum()),
                    estimate(spent, shift),
                    estimate(of_none - spent, -shift),
                    estimate(of_all - spent, -shift),
                )
            )
        share = np.cumsum(np.sort(weight * of_none)[::-1])
        half = int(np.searchsorted(share, share[-1] / 2.0)) + 1 if share[-1] > 0 else 0
        none, every = (float(weight @ each) / float(weight.sum()) for each in (of_none, of_all))
        return cls(rows, len(positive), tuple(found), none, every, half)

    def __getitem__(self, name: str) -> DecisionMoney:
        """Return one way to decide by its name."""
        return next(each for each in self.decisions if each.name == name)

    @property
    def few_rows(self) -> str:
        """Words about few rows that carry most of the money; empty if they are many."""
        if self.half >= _FEW_ROWS:
            return ""
        rows = "one row is" if self.half == 1 else f"{self.half} rows are"
        return (
            f"{rows} half of all that misses would cost, of {self.n_rows:,} rows: what is saved "
            "hangs on such rows, and another sample may have larger ones"
        )

    def table(self) -> list[list[str]]:
        """Return the decisions as rows of texts, with a header."""
        headers = ("flagged", "mean cost of a row", "saved on flagging none", "on flagging all")
        table = [[f"money on {self.rows}", *headers]]
        for each in self.decisions:
            estimates = (each.cost, each.saved_on_none, each.saved_on_all)
            shown = [f"{e.value:.4g} ({e.low:.4g} to {e.high:.4g})" for e in estimates]
            table.append([each.name, f"{100 * each.flagged:.2f} %", *shown])
        table.append(["flag none", "0 %", f"{self.cost_of_none:.4g}", "", ""])
        table.append(["flag all", "100 %", f"{self.cost_of_all:.4g}", "", ""])
        return table

    def __str__(self) -> str:
        notes = [self.few_rows] if self.few_rows else []
        return "\n".join([*text_table(self.table()), *notes])


def _estimate(
    values: FloatArray, weight: FloatArray, group: IntArray | None, shift: float, spread: float
) -> Estimate:
    share = weight / weight.sum()
    mean = float(share @ values)
    parts = share * values
    if group is not None:
        parts = np.bincount(group, parts).astype(np.float64)
    low, high = long_tailed_interval(len(parts) * parts)
    factor = float(np.sqrt(spread))
    return Estimate(
        mean + shift,
        mean + shift - factor * (mean - min(low, mean)),
        mean + shift + factor * (max(high, mean) - mean),
    )
