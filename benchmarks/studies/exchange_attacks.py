"""Attacks on releases of one site: differencing, integer programming, and membership of a row.

The attacker knows the agreed bins, the public codes, the rules of merging and rounding, and every
file that was released. Membership also grants all rows but one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array
from scipy.stats import beta, norm

from benchmarks.harness.data import Rows
from benchmarks.studies.exchange_sites import rows_of, sites_of, split
from directrix import Binner
from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.tables import BinCounts, TableSketch
from directrix.tables.counts.disclosure import (
    CODE_RANGE,
    PublicCodes,
    Queries,
    _order,
    halves_below,
    rounding_base,
    shown_levels,
)
from directrix.tables.counts.private import (
    Budget,
    centred_codes,
    centred_cross,
    released_pairs,
)
from directrix.tables.counts.release import public_bins

BINS, MIN_CELL, SECONDS = 8, 10, 5.0


def site_rows(name: str, site: int) -> tuple[Binner, Rows]:
    """Return the bins that twelve sites agreed on, and the rows of one of them."""
    train, _ = split(name, 0)
    return Binner(max_bins=BINS).fit(train.X), sites_of(train)[site]


def part_of(binner: Binner, X: Any, y: AnyArray, site: str = "site", period: str = "one") -> Any:
    """Return what a site publishes of its rows."""
    counts = BinCounts.of(binner, X, y)
    return counts.release(min_cell=MIN_CELL, site=site, period=period).parts[0]


def codes_of(binner: Binner) -> PublicCodes:
    """Return the public codes of agreed bins."""
    return PublicCodes.of(public_bins(binner.bins_))


# ── differencing ──────────────────────────────────────────────────────────────────────────────────


class Difference(NamedTuple):
    """What two releases tell about the rows between them.

    ``columns``: columns in which groups have changed. ``told``: those whose changed group has the
    cell of the row. ``cross``: cross sums that have changed.
    """

    columns: int
    told: int
    cross: int


def difference(binner: Binner, rows: Rows, left_out: IntArray) -> Difference:
    """Compare the releases with and without some rows; what they tell about the first of them."""
    kept = np.setdiff1d(np.arange(len(rows.y)), left_out)
    with_it = part_of(binner, rows.X, rows.y)
    without = part_of(binner, rows.X.iloc[kept], rows.y[kept], period="two")
    starts = np.cumsum([0, *(bins.n_cells for bins in binner.bins_)])
    k = int(np.flatnonzero(with_it.classes == rows.y[left_out[0]])[0])
    same_classes = np.array_equal(with_it.classes, without.classes)
    if not same_classes:
        return Difference(len(binner.bins_), 0, 0)
    cell = binner.cells(rows.X.iloc[left_out[:1]])[0]
    columns = told = 0
    for column in range(len(binner.bins_)):
        part = slice(starts[column], starts[column + 1])
        groups = with_it.groups[k, part]
        moved = (groups != without.groups[k, part]) | (
            with_it.cells[k][groups] != without.cells[k][without.groups[k, part]]
        )
        columns += bool(moved.any())
        told += bool(moved[cell[column]] and moved.sum() < len(moved))
    return Difference(columns, told, int((with_it.cross[k] != without.cross[k]).sum()))


# ── integer programs ──────────────────────────────────────────────────────────────────────────────


class Program(NamedTuple):
    """Whole numbers from zero, and bounds of sums of them."""

    n: int
    rows: list[AnyArray]
    low: list[float]
    high: list[float]

    def add(self, sums: AnyArray, low: float, high: float) -> None:
        """Bound a sum; ``sums`` has the factor of each number."""
        self.rows.append(np.asarray(sums, dtype=np.float64))
        self.low.append(low)
        self.high.append(high)

    def range(self, goal: AnyArray) -> tuple[float, float]:
        """Return the least and the largest value of a sum; infinite if time ran out."""
        matrix = csr_array(np.array(self.rows))
        limits = LinearConstraint(matrix, np.array(self.low), np.array(self.high))
        ends = []
        for sign in (1.0, -1.0):
            found = milp(
                sign * np.asarray(goal, dtype=np.float64),
                constraints=limits,
                integrality=np.ones(self.n),
                bounds=Bounds(0, np.inf),
                options={"time_limit": SECONDS},
            )
            # The bound of the search holds also where it was stopped.
            bound = getattr(found, "mip_dual_bound", None)
            ends.append(sign * bound if bound is not None else -sign * np.inf)
        low, high = ends
        return float(np.ceil(low - 1e-6)), float(np.floor(high + 1e-6))


def group_bounds(program: Program, part: Any, k: int, cells: IntArray, of: AnyArray) -> None:
    """Bound the sums of groups of some cells; ``of`` maps cells to the numbers of a program."""
    base = rounding_base(MIN_CELL)
    for group in np.unique(part.groups[k, cells]):
        members = part.groups[k, cells] == group
        rows = float(part.cells[k, group])
        program.add(of[members].sum(axis=0), max(rows, MIN_CELL), rows + base - 1)


def add_column(
    program: Program, part: Any, k: int, binner: Binner, column: int, of: AnyArray
) -> None:
    """Bound the cells of a column by its groups, and by the halves that would have been groups.

    The rule of merging splits a group where both halves have rows enough.
    """
    codes = codes_of(binner)
    cells = np.arange(codes.starts[column], codes.starts[column + 1])
    group_bounds(program, part, k, cells, of)
    order, share = _order(binner.bins_[column], part.site)
    for below in halves_below(part.groups[k, cells], codes.weights[cells], order, share):
        program.add(of[below].sum(axis=0), 0, MIN_CELL - 1)


class Reconstruction(NamedTuple):
    """Small cells, and what integer programs find out about them.

    ``pinned``: the number of rows is known. ``occupied``: it is known that there is one. ``width``:
    mean number of values that are possible, less one; ``least``: the smallest.
    """

    small: int
    pinned: int
    occupied: int
    width: float
    least: float


def judged(true: Sequence[int], ranges: Sequence[tuple[float, float]]) -> Reconstruction:
    """Compare the ranges of cells with their rows; an error if a range is wrong."""
    for rows, (low, high) in zip(true, ranges, strict=True):
        assert low <= rows <= high, (rows, low, high)
    widths = [high - low for low, high in ranges]
    occupied = sum(low >= 1 for low, _ in ranges)
    mean = float(np.mean(widths)) if widths else float("nan")
    pinned = sum(width == 0 for width in widths)
    return Reconstruction(len(true), pinned, occupied, mean, min(widths, default=float("nan")))


def other_names(binner: Binner, rows: Rows, names: int) -> Reconstruction:
    """Reconstruct small cells from releases of the same rows under several names of the site."""
    parts = [part_of(binner, rows.X, rows.y, site=f"name {k}") for k in range(names)]
    counts = BinCounts.of(binner, rows.X, rows.y)
    true: list[int] = []
    ranges: list[tuple[float, float]] = []
    for k, column in product(range(len(parts[0].classes)), range(len(binner.bins_))):
        each_cell = np.eye(binner.bins_[column].n_cells)
        program = Program(len(each_cell), [], [], [])
        for part in parts:
            add_column(program, part, k, binner, column, each_cell)
        rows_of_class = counts.cells(column)[k]
        for cell in np.flatnonzero(rows_of_class < MIN_CELL):
            true.append(int(rows_of_class[cell]))
            ranges.append(program.range(each_cell[cell]))
    return judged(true, ranges)


def sketch_and_release(binner: Binner, rows: Rows) -> Reconstruction:
    """Reconstruct small cells of texts from a release and a sketch of the same rows.

    A sketch has the rows of all classes together, by level: less those of one class in the
    release, they leave the others.
    """
    part = part_of(binner, rows.X, rows.y)
    (sketch,) = TableSketch.of(rows.X, min_cell=MIN_CELL, site="site").parts
    counts = BinCounts.of(binner, rows.X, rows.y)
    n_classes, base = len(part.classes), rounding_base(MIN_CELL)
    true: list[int] = []
    ranges: list[tuple[float, float]] = []
    for column, (bins, shown) in enumerate(zip(binner.bins_, sketch.columns, strict=True)):
        if bins.kind != "text":
            continue
        n = n_classes * bins.n_cells
        of_class = np.eye(n).reshape(n_classes, bins.n_cells, n)
        program = Program(n, [], [], [])
        for k in range(n_classes):
            add_column(program, part, k, binner, column, of_class[k])
        totals = {"missing": shown.missing, **dict(zip(shown.values, shown.rows, strict=True))}
        for cell, level in enumerate(bins.labels):
            if level != "other" and totals.get(level, 0.0) > 0.0:
                total = totals[level]
                program.add(of_class[:, cell].sum(axis=0), total, total + base - 1)
        of_cells = counts.cells(column)
        for k, cell in np.argwhere(of_cells < MIN_CELL):
            true.append(int(of_cells[k, cell]))
            ranges.append(program.range(of_class[k, cell]))
    return judged(true, ranges)


def other_bins(train: Rows, rows: Rows, releases: int) -> Reconstruction:
    """Reconstruct small ranges of numbers from releases of the same rows in several binnings.

    The numbers of a program are the rows between neighbouring cuts of all binnings.
    """
    binners = [Binner(max_bins=BINS + m).fit(train.X) for m in range(releases)]
    parts = [part_of(binner, rows.X, rows.y, period=str(m)) for m, binner in enumerate(binners)]
    true: list[int] = []
    ranges: list[tuple[float, float]] = []
    for column, bins in enumerate(binners[0].bins_):
        if bins.kind == "text" or bins.n_cells != bins.n_ordered + 1:
            continue
        of_binners = [np.asarray(binner.bins_[column].cuts) for binner in binners]
        cuts = np.unique(np.concatenate(of_binners))
        values = rows.X.iloc[:, column].to_numpy(dtype=np.float64)
        atom = np.where(np.isnan(values), 0, 1 + np.searchsorted(cuts, values))
        first = np.append(cuts, np.inf)
        for k in range(len(parts[0].classes)):
            program = Program(len(cuts) + 2, [], [], [])
            for part, binner, own in zip(parts, binners, of_binners, strict=True):
                start = sum(each.n_cells for each in binner.bins_[:column])
                cell = np.concatenate([[0], 1 + np.searchsorted(own, first)])
                of = (cell[None, :] == np.arange(len(own) + 2)[:, None]).astype(np.float64)
                group_bounds(program, part, k, start + np.arange(len(of)), of)
            rows_of_class = np.bincount(atom[rows.y == parts[0].classes[k]], minlength=program.n)
            for each in np.flatnonzero(rows_of_class < MIN_CELL):
                true.append(int(rows_of_class[each]))
                ranges.append(program.range(np.eye(program.n)[each]))
    return judged(true, ranges)


def steps_lowered(
    cross: IntArray, cells: IntArray, groups: IntArray, codes: PublicCodes
) -> IntArray:
    """Return by how many steps each pair count may have been lowered to leave a rest of a level.

    Pair counts of a level with a column are lowered until they leave nine rows, so that lowered
    ones leave fewer than nineteen, and by at most two steps.
    """
    indicator, shown = shown_levels(groups, codes)
    pairs = np.where(indicator & indicator[:, None], cross + cross.T, 0) // CODE_RANGE**2
    of_column = np.eye(len(codes.code_starts) - 1, dtype=np.int64)[codes.column]
    rest = cells[codes.matrix.argmax(axis=0)][:, None] - pairs @ of_column
    near = shown[:, None] & (rest < 2 * MIN_CELL - 1)
    may = near[:, codes.column]
    steps: IntArray = 2 * (may.astype(np.int64) + may.T) * (indicator & indicator[:, None])
    return steps


class JointCells(NamedTuple):
    """All joint cells of some columns: the numbers of an integer program.

    ``joint``, of shape (joint cells, columns), has the cell of each column.
    """

    binner: Binner
    columns: Sequence[int]
    joint: IntArray

    @classmethod
    def of(cls, binner: Binner, columns: Sequence[int]) -> JointCells:
        """Return the joint cells of some columns."""
        sizes = [range(binner.bins_[column].n_cells) for column in columns]
        return cls(binner, columns, np.array(list(product(*sizes))))

    def program(self, part: Any, k: int) -> Program:
        """Return what a release says of a class: groups, the rule of merging, and cross sums."""
        program = Program(len(self.joint), [], [], [])
        codes = codes_of(self.binner)
        for j, column in enumerate(self.columns):
            n_cells = self.binner.bins_[column].n_cells
            add_column(
                program,
                part,
                k,
                self.binner,
                column,
                (self.joint[:, j] == np.arange(n_cells)[:, None]).astype(np.float64),
            )
        upper = codes.of_two_columns.astype(bool)
        cross = np.zeros(upper.shape, dtype=np.int64)
        cross[upper] = part.cross[k]
        unit = MIN_CELL * CODE_RANGE**2
        widths = unit * (1 + steps_lowered(cross, part.cells[k], part.groups[k], codes))
        for i, j in combinations(range(len(self.columns)), 2):
            for a, b in product(self._codes(codes, i), self._codes(codes, j)):
                values = self._coded(codes, i, a) * self._coded(codes, j, b)
                program.add(values, cross[a, b], cross[a, b] + widths[a, b] - 1)
        return program

    def _codes(self, codes: PublicCodes, j: int) -> range:
        return range(*codes.code_starts[self.columns[j] : self.columns[j] + 2])

    def _coded(self, codes: PublicCodes, j: int, code: int) -> IntArray:
        coded: IntArray = codes.matrix[codes.starts[self.columns[j]] + self.joint[:, j], code]
        return coded


def from_cross_sums(binner: Binner, rows: Rows, columns: Sequence[int], k: int) -> Reconstruction:
    """Reconstruct small cells of columns from their groups and cross sums, by all joint cells."""
    cells = JointCells.of(binner, columns)
    program = cells.program(part_of(binner, rows.X, rows.y), k)
    counts = BinCounts.of(binner, rows.X, rows.y)
    true: list[int] = []
    ranges: list[tuple[float, float]] = []
    for j, column in enumerate(columns):
        of_class = counts.cells(column)[k]
        for cell in np.flatnonzero(of_class < MIN_CELL):
            true.append(int(of_class[cell]))
            ranges.append(program.range((cells.joint[:, j] == cell).astype(np.float64)))
    return judged(true, ranges)


def pairs_of_cells(binner: Binner, rows: Rows, columns: Sequence[int], k: int) -> Reconstruction:
    """Reconstruct small pairs of cells of two columns from their groups and cross sums."""
    cells = JointCells.of(binner, columns)
    program = cells.program(part_of(binner, rows.X, rows.y), k)
    counts = BinCounts.of(binner, rows.X, rows.y)
    names = [binner.bins_[column].name for column in columns]
    together = counts.pair(*names, label=counts.classes[k]).ravel()
    small = np.flatnonzero(together < MIN_CELL)
    ranges = [program.range(np.eye(len(together))[pair]) for pair in small]
    return judged([int(together[pair]) for pair in small], ranges)


# ── membership ────────────────────────────────────────────────────────────────────────────────────

DELTA = 1e-6
Numbers = dict[str, AnyArray]


def exact_numbers(counts: BinCounts, codes: PublicCodes) -> Numbers:
    """Return the numbers that a private release adds noise to."""
    queries = Queries.of(counts.parts[0], codes)
    upper = codes.of_two_columns.astype(bool)
    rows = queries.cells[:, : int(codes.starts[1])].sum(axis=1)
    cross = centred_cross(queries, codes)[:, upper & released_pairs(codes)]
    return {"rows": rows, "cells": queries.cells, "cross": cross}


def membership_scores(binner: Binner, rows: Rows, epsilon: float, trials: int) -> list[FloatArray]:
    """Return log-likelihood ratios of noisy numbers without and with the row that is attacked.

    It is the row that changes the released numbers most, as seen by their noise. Scales are those
    of a release, which the noise of the trials is drawn with.
    """
    counts = BinCounts.of(binner, rows.X, rows.y, classes=[False, True])
    budget = {"epsilon": epsilon, "delta": DELTA, "content": "cross"}
    release = counts.release(**budget, classes=[False, True], site="site")
    codes, control = PublicCodes.of(release.bins), release.parts[0].control
    names = [name for name in ("rows", "cells", "cross") if f"scale_{name}" in control]
    scales = {name: float(control[f"scale_{name}"]) for name in names}
    row = largest_row(binner, rows, codes)
    kept = np.arange(len(rows.y)) != row
    without = BinCounts.of(binner, rows.X[kept], rows.y[kept], classes=[False, True])
    numbers = [exact_numbers(each, codes) for each in (without, counts)]
    budget = Budget(epsilon, DELTA, {}, scales)
    return [
        np.array([log_ratio(budget, world, *numbers) for _ in range(trials // 2)])
        for world in numbers
    ]


def largest_row(binner: Binner, rows: Rows, codes: PublicCodes) -> int:
    """Return the row with the largest sum of squared products of centred codes."""
    squares = (centred_codes(codes) ** 2).sum(axis=1)
    norms = squares[codes.starts[:-1] + binner.cells(rows.X)]
    return int(np.argmax(norms.sum(axis=1) ** 2 - (norms**2).sum(axis=1)))


def log_ratio(budget: Budget, world: Numbers, without: Numbers, with_it: Numbers) -> float:
    """Release numbers of a world; return the log-likelihood ratio of "the row is in"."""
    total = 0.0
    for name, scale in budget.scale.items():
        shown = budget.noisy(name, world[name]).astype(np.float64)
        errors = [((shown - exact[name]) ** 2).sum() for exact in (without, with_it)]
        total += float(errors[0] - errors[1]) / (2.0 * scale**2)
    return total


def membership_figures(scores: Sequence[FloatArray], epsilon: float) -> dict[str, float]:
    """Return the advantage at a ratio of one, its interval, and the least ε that trials prove."""
    out, member = scores
    suspected, found = int((out > 0).sum()), int((member > 0).sum())
    n = len(out)
    rates = suspected / n, found / n
    error = 1.96 * float(np.sqrt(sum(rate * (1.0 - rate) / n for rate in rates)))
    advantage = rates[1] - rates[0]
    # The ratio of normal scores with unit noise has the variance of twice its mean.
    gap = float(np.sqrt(max(member.mean() - out.mean(), 0.0)))
    return {
        "trials": 2 * n,
        "advantage": advantage,
        "low": advantage - error,
        "high": advantage + error,
        "noise allows": 2.0 * float(norm.cdf(gap / 2.0)) - 1.0,
        "allowed": (np.exp(epsilon) - 1.0 + 2.0 * DELTA) / (np.exp(epsilon) + 1.0),
        "epsilon": proven_epsilon(out, member),
    }


def proven_epsilon(out: FloatArray, member: FloatArray) -> float:
    """Return the least ε that (ε, δ) must have, at a threshold chosen on one half of the trials.

    The other half judges it, by Clopper-Pearson bounds of both rates, each at 97.5 %.
    """
    half = len(out) // 2
    best, least = 0.0, 0.0
    for threshold in np.quantile(np.concatenate([out[:half], member[:half]]), (0.5, 0.8, 0.9)):
        rates = [(part[:half] > threshold).mean() for part in (out, member)]
        ratio = float(np.log(max(rates[1], 1e-9) / max(rates[0], 1e-9)))
        if ratio > best:
            others = [int((part[half:] > threshold).sum()) for part in (out, member)]
            n = len(out) - half
            high = float(beta.ppf(0.975, others[0] + 1, n - others[0]))
            low = float(beta.ppf(0.025, max(others[1], 1), n - others[1] + 1))
            best, least = ratio, float(np.log(max(low - DELTA, 1e-9) / high))
    return max(least, 0.0)


# ── the attacks of the study ──────────────────────────────────────────────────────────────────────

#: Table, and the site that is attacked.
ATTACKED = {"hmda_boston": 1, "credit_data": 0}
TRIALS, MEMBERSHIP_TRIALS, MEMBERSHIP_COLUMNS = 100, 2_000, 6
Figures = dict[str, float]


def run_difference(name: str, setting: str) -> Figures:
    """Leave out some rows, many times."""
    binner, rows = site_rows(name, ATTACKED[name])
    rng = np.random.default_rng(0)
    found = [
        difference(binner, rows, rng.choice(len(rows.y), int(setting), replace=False))
        for _ in range(TRIALS)
    ]
    return {
        "trials": TRIALS,
        "rows": len(rows.y),
        "all columns": len(binner.bins_),
        "changed": float(np.mean([each.columns + each.cross > 0 for each in found])),
        **{
            figure: float(np.mean([getattr(each, figure) for each in found]))
            for figure in Difference._fields
        },
    }


def run_other_names(name: str, setting: str) -> Figures:
    """Release the same rows under several names."""
    found = other_names(*site_rows(name, ATTACKED[name]), int(setting))
    return dict(found._asdict())


def run_other_bins(name: str, setting: str) -> Figures:
    """Release the same rows in several binnings."""
    train, _ = split(name, 0)
    found = other_bins(train, sites_of(train)[ATTACKED[name]], int(setting))
    return dict(found._asdict())


def run_sketch(name: str, _setting: str) -> Figures:
    """Release rows, and sketch them as well."""
    found = sketch_and_release(*site_rows(name, ATTACKED[name]))
    return dict(found._asdict())


def run_cross_sums(name: str, setting: str) -> Figures:
    """Solve the integer programs of one release for all sets of neighbouring columns."""
    binner, rows = site_rows(name, ATTACKED[name])
    n = int(setting)
    sets = [range(first, first + n) for first in range(0, len(binner.bins_) - n + 1, n)]
    return summed(from_cross_sums(binner, rows, *each) for each in product(sets, range(2)))


def run_pairs(name: str, _setting: str) -> Figures:
    """Solve the integer programs of one release for pairs of cells of all columns of texts."""
    binner, rows = site_rows(name, ATTACKED[name])
    texts = [k for k, bins in enumerate(binner.bins_) if bins.kind == "text"]
    pairs = combinations(texts, 2)
    return summed(pairs_of_cells(binner, rows, *each) for each in product(pairs, range(2)))


def summed(found: Iterable[Reconstruction]) -> Figures:
    """Return the sums of several reconstructions, and the mean of their widths."""
    kept = [each for each in found if each.small]
    small = sum(each.small for each in kept)
    width = sum(each.width * each.small for each in kept) / max(small, 1)
    sums = {name: sum(getattr(each, name) for each in kept) for name in ("pinned", "occupied")}
    return {"small": small, **sums, "width": width, "least": min(each.least for each in kept)}


def run_membership(name: str, setting: str) -> Figures:
    """Release rows with and without one of them, many times."""
    binner, rows = site_rows(name, ATTACKED[name])
    binner = Binner(max_bins=BINS).fit(rows_of(name).X.iloc[:, :MEMBERSHIP_COLUMNS])
    rows = Rows(rows.X.iloc[:, :MEMBERSHIP_COLUMNS], rows.y)
    scores = membership_scores(binner, rows, float(setting), MEMBERSHIP_TRIALS)
    return membership_figures(scores, float(setting))


class Attack(NamedTuple):
    """Settings of an attack, the library that it needs, and what runs it."""

    settings: Sequence[str]
    needs: str
    run: Callable[[str, str], Figures]


ATTACKS = {
    "membership": Attack(("1",), "opendp", run_membership),
    "cross sums": Attack(("2",), "", run_cross_sums),
    "pairs of cells": Attack(("texts",), "", run_pairs),
    "difference": Attack(("1", "20"), "", run_difference),
    "other names": Attack(("1", "5"), "", run_other_names),
    "sketch": Attack(("texts",), "", run_sketch),
    "other bins": Attack(("1", "5"), "", run_other_bins),
}
