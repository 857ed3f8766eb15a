"""ReleasedCounts: what sites may show of their counts, and the counts that a fit makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np
from scipy import sparse

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.exceptions import BinsOfTheseRowsError, NotReleasableError
from directrix.exceptions.files import BinnerFileError, FileContentError
from directrix.files.layout import Array, Arrays, Layout, classes_of, require
from directrix.moments.release import (
    MIN_CELL,
    NONE,
    PARTS,
    PRIVATE,
    LedgerNumbers,
    Part,
    Release,
    checked_min_cell,
    joined_parts,
    note_release,
    require_names,
    rows_to_release,
)
from directrix.rows.labels import as_labels, distinct
from directrix.tables.binner import Binner
from directrix.tables.bins import Bins
from directrix.tables.counts.bin_counts import BinCounts, require_same_bins
from directrix.tables.counts.disclosure import (
    CODE_RANGE,
    HIDDEN_SHARE,
    PublicCodes,
    PublishedClass,
    Queries,
    estimate_pairs,
    hidden_halves,
    identity_groups,
    publish,
    rounding_base,
)
from directrix.tables.counts.pair_counts import PairCounts
from directrix.tables.counts.private import (
    NoisyClass,
    is_statement,
    private_vectors,
    require_rows_of_weight_one,
)
from directrix.tables.counts.storage import contradiction

#: Shares of a column that are told apart in the bins of a release.
_SHARES = 128


#: Rows by which the weights of bins must differ from the counted rows.
_NEARLY = 10


@dataclass(frozen=True, eq=False)
class CountsPart(Part):
    """What one site releases of its counts for one period.

    With disclosure control, ``cells`` and ``groups`` have the shape (classes, cells), and ``cross``
    (classes, pairs of codes): see `Published`. The variances are those of the error of one number.
    Without, ``counts`` are the counts of each class, and the other arrays are empty.
    """

    cells: IntArray
    groups: IntArray
    cross: IntArray
    cross_variance: float = 0.0
    counts: tuple[PairCounts, ...] = field(default=(), repr=False)

    def arrays(self) -> dict[str, AnyArray]:  # noqa: D102 - inherited
        numbers = super().arrays()
        for k, group in enumerate(self.counts):
            pairs = group.pairs
            totals = np.array([group.count, group.weight, float(group.weight_sq)])
            numbers |= {f"totals{k}": totals, f"indptr{k}": pairs.indptr.astype(np.int64)}
            numbers |= {f"indices{k}": pairs.indices.astype(np.int64), f"data{k}": pairs.data + 0.0}
        return numbers

    @property
    def cell_noise(self) -> float:
        """Variance of the error of a cell: that of noise, or of rounding the rows of a group."""
        if self.control["kind"] == PRIVATE:
            return float(self.control["scale_cells"] ** 2)
        if self.control["kind"] == MIN_CELL:
            return rounding_base(int(self.control["min_cell"])) ** 2 / 12.0
        return 0.0

    def of_class(
        self, label: Any, codes: PublicCodes, bins: Sequence[Bins]
    ) -> PublishedClass | None:
        """Return what the part says of a class as expected numbers; None if it has none."""
        index = np.flatnonzero(self.classes == label)
        if not len(index):
            return None
        k = int(index[0])
        n_codes = codes.matrix.shape[1]
        upper = codes.of_two_columns.astype(bool)
        cross = np.zeros((n_codes, n_codes))
        if self.counts:
            queries = Queries.of([self.counts[k]], codes)
            cells, total = queries.cells[0].astype(np.float64), float(self.counts[k].weight)
            groups = np.arange(len(cells))
            return PublishedClass(total, cells, groups, queries.cross[0].astype(np.float64), 0.0)
        cross[upper] = self.cross[k]
        cells, total = self.cells[k].astype(np.float64), float(self.rows[k])
        published = PublishedClass(total, cells, self.groups[k], cross, self.cross_variance)
        if self.control["kind"] != MIN_CELL:
            return published
        least = int(self.control["min_cell"])
        return published._replace(
            cells=_expected_cells(self, k, codes, least),
            step=least * CODE_RANGE**2,
            halves=hidden_halves(self.groups[k], bins, codes, self.site),
            most_hidden=HIDDEN_SHARE * (least - 1),
        )


def _expected_cells(part: CountsPart, k: int, codes: PublicCodes, least: int) -> FloatArray:
    """Return the expected rows of groups, with equal parts of what rounding took off a column."""
    column = np.repeat(np.arange(len(codes.starts) - 1), np.diff(codes.starts))
    first = part.groups[k] == np.arange(len(column))
    lost = float(part.rows[k]) - np.bincount(column, part.cells[k])
    each = np.clip(lost / np.bincount(column, first), 0.0, rounding_base(least) - 1.0)
    cells: FloatArray = np.where(first, part.cells[k] + each[column], 0.0)
    return cells


@dataclass(frozen=True, eq=False, repr=False)
class ReleasedCounts(Release):
    """Counts of bins that sites have released, under disclosure control.

    Made by ``BinCounts.release``. Releases of several sites are joined with ``+``; a part that
    comes twice counts once, and two different parts of one site and period are refused. A
    ``ScorecardClassifier`` takes a release in ``fit_summary`` as it takes counts.

    Parameters
    ----------
    parts : tuple of CountsPart
        What each site released, sorted by site and period.
    bins : tuple of NumberBins and LevelBins
        The bins that the sites have agreed on.
    named : bool
        Whether the columns of the binner have names.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import Binner
    >>> from directrix.tables import BinCounts
    >>> X, y = np.arange(1000.0)[:, None] % 50, np.arange(1000) % 7 == 0
    >>> binner = Binner(max_bins=8).fit(X[:700])  # bins that were not fitted to these rows
    >>> release = BinCounts.of(binner, X, y).release(min_cell=10, site="north", period="2026")
    >>> release
    <ReleasedCounts: 1 part of 1 site; about 999 rows, classes {False: 857, True: 142}; 1 columns;
     no group below 10 rows>
    >>> release + release == release
    True
    """

    bins: tuple[Bins, ...]
    named: bool = False

    @classmethod
    def of(
        cls,
        counts: BinCounts,
        *,
        min_cell: int,
        site: str,
        period: str = "",
        ledger: str | PathLike[str] | None = None,
    ) -> ReleasedCounts:
        """Release counts under control of their cells; see ``BinCounts.release``."""
        require_names(site, period)
        min_cell = checked_min_cell(min_cell)
        whole = rows_to_release(counts, min_cell)
        (groups,) = whole.parts
        present = [k for k, group in enumerate(groups) if group.count]
        groups, classes = tuple(groups[k] for k in present), whole.classes[present]
        if min_cell == 1:
            bins = counts.bins
            part = _exact_part(site, period, classes, groups)
        else:
            _require_agreed_bins(counts, min_cell)
            bins = public_bins(counts.bins)
            part = _controlled_part(site, period, classes, groups, bins, min_cell)
        if ledger is not None:
            note_release(part, ledger, _exact_cells(whole), 2 * min_cell)
        return cls((part,), bins, counts.named)

    @classmethod
    def private(
        cls,
        counts: BinCounts,
        *,
        epsilon: float,
        delta: float,
        content: str = "auto",
        classes: Any = None,
        site: str,
        period: str = "",
        ledger: str | PathLike[str] | None = None,
    ) -> ReleasedCounts:
        """Release counts with the noise of differential privacy; see ``BinCounts.release``."""
        require_names(site, period)
        require_rows_of_weight_one(counts)
        _require_agreed_bins(counts, _NEARLY)
        whole, bins = _of_named_classes(counts.unfolded(), classes), public_bins(counts.bins)
        codes = PublicCodes.of(bins)
        queries = Queries.of(whole.parts[0], codes)
        made = private_vectors(queries, codes, epsilon, delta, content)
        part = CountsPart(
            site,
            period,
            made.control,
            whole.classes,
            made.rows.astype(np.float64),
            made.cells,
            identity_groups(*made.cells.shape),
            made.cross[:, codes.of_two_columns.astype(bool)],
        )
        if ledger is not None:
            note_release(part, ledger, LedgerNumbers(), 0.0)
        return cls((part,), bins, counts.named)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ReleasedCounts:
        """Read a file written by `save`; raise `MomentsFileError` for any other file."""
        return cls(**_LAYOUT.read(path)[2])

    def save(self, path: str | PathLike[str]) -> None:
        """Write the release to a safetensors file, replaced atomically."""
        _write(self, path)

    @property
    def binner(self) -> Binner:
        """A fitted ``Binner`` with the agreed bins."""
        return BinCounts(self.bins, np.empty(0, np.int64), ((),), named=self.named).binner

    def estimate(self, *, shrunk: bool = True) -> BinCounts:
        """Return counts that a fit uses in place of those of all rows.

        Without control they are the sums of the counts of the sites. With control, groups of cells
        are divided by what all sites together show of their cells, and pairs of cells follow from
        the cross sums. Their differences say nothing about rows.

        Parameters
        ----------
        shrunk : bool
            Whether correlations are shrunk by the error that rounding or noise has left in them: a
            fit needs that. Without, they have no bias, as the variance of scores needs it.
        """
        classes = self.classes
        nothing = BinCounts(self.bins, classes[:0], ((),), named=self.named)
        if _is_exact(self):
            for part in self.parts:
                nothing = nothing + BinCounts(
                    self.bins, part.classes, (part.counts,), named=self.named
                )
            return nothing
        codes = PublicCodes.of(self.bins)
        by_class = [self._of_class(label, codes) for label in classes]
        groups = tuple(estimate_pairs(by_class, codes, shrunk=shrunk))
        return BinCounts(self.bins, classes, (groups,), named=self.named)

    @property
    def cell_noise(self) -> dict[Any, float]:
        """Variance of the error of each cell of a class, by noise or rounding; empty without."""
        noise: dict[Any, float] = {}
        for part in self.parts:
            for label in part.classes.tolist() if part.cell_noise else ():
                noise[label] = noise.get(label, 0.0) + part.cell_noise
        return noise

    @property
    def budgets(self) -> dict[str, tuple[float, float]]:
        """What the private parts of each site cost a person whose row is in all: ε and δ, added."""
        spent: dict[str, tuple[float, float]] = {}
        for part in self.parts:
            if part.control["kind"] == PRIVATE:
                epsilon, delta = spent.get(part.site, (0.0, 0.0))
                cost = epsilon + part.control["epsilon"], delta + part.control["delta"]
                spent[part.site] = cost
        return spent

    def _of_class(self, label: Any, codes: PublicCodes) -> list[PublishedClass]:
        """Return what sites published of a class; noisy numbers are added up before they are used.

        What makes them possible, such as cells that are not negative, would leave a bias in each.
        """
        published, noisy = [], []
        for part in self.parts:
            made = part.of_class(label, codes, self.bins)
            if made is None:
                continue
            if part.control["kind"] == PRIVATE:
                noisy.append((made.total, made.cells, made.cross, part.control))
            else:
                published.append(made)
        return [*published, *([NoisyClass.of(noisy).expected(codes)] if noisy else [])]

    def __add__(self, other: ReleasedCounts) -> ReleasedCounts:
        """Join releases; beside controlled parts, bins show coarse shares of their rows only."""
        if not isinstance(other, ReleasedCounts):
            return NotImplemented
        first, second = self, other
        if _is_exact(first) != _is_exact(second):
            first, second = map(_beside_controlled, (first, second))
        return super(ReleasedCounts, first).__add__(second)

    def _require_same_kind(self, other: ReleasedCounts) -> None:
        require_same_bins(self.bins, other.bins)

    def _n_columns(self) -> int:
        return len(self.bins)


def _is_exact(release: ReleasedCounts) -> bool:
    return all(part.counts for part in release.parts)


def _beside_controlled(release: ReleasedCounts) -> ReleasedCounts:
    """Return a release whose bins are those that a controlled release of the same bins has."""
    return replace(release, bins=public_bins(release.bins)) if _is_exact(release) else release


def public_bins(bins: Sequence[Bins]) -> tuple[Bins, ...]:
    """Return bins with coarse shares in place of the rows that they were fitted to.

    Shares are rounded so that they add up, which makes those of public bins their own.
    """
    public = []
    for column in bins:
        weights = np.array(column.weights or np.zeros(column.n_cells))
        exact = _SHARES * weights / (weights.sum() or 1.0)
        shares = np.floor(exact)
        left = round(float(exact.sum() - shares.sum()))
        shares[np.argsort(shares - exact, kind="stable")[:left]] += 1.0
        public.append(replace(column, weights=tuple(shares.tolist())))
    return tuple(public)


def _require_agreed_bins(counts: BinCounts, min_cell: int) -> None:
    """Refuse bins whose weights are nearly the counted rows: they were fitted to them."""
    for k, bins in enumerate(counts.bins):
        if not bins.weights:
            continue
        away = np.abs(counts.cells(k).sum(axis=0) - np.array(bins.weights))
        if away.max() < min_cell and len(bins.weights) > 3:
            raise BinsOfTheseRowsError(bins.name)


def _of_named_classes(counts: BinCounts, classes: Any) -> BinCounts:
    """Return counts of exactly these classes, empty ones where no row has them."""
    if classes is None:
        problem = (
            "a private release has all classes that rows may have, not those that occur: a class "
            "that is in it because of one row discloses that row. Name them all, such as "
            "classes=[0, 1]"
        )
        raise NotReleasableError(problem)
    named = distinct(as_labels(classes))
    nothing = PairCounts.empty(counts.n_cells)
    whole = counts + replace(counts, classes=named, parts=((nothing,) * len(named),))
    others = sorted(set(whole.classes.tolist()) - set(named.tolist()))
    if others:
        problem = (
            f"rows have the classes {', '.join(map(repr, others))}, which classes= does not name: "
            "name all classes that rows may have"
        )
        raise NotReleasableError(problem)
    return whole


def _exact_cells(counts: BinCounts) -> LedgerNumbers:
    """Return the exact rows of each class and in all its cells, which a ledger keeps."""
    (groups,) = counts.parts
    present = [k for k, group in enumerate(groups) if group.count]
    bins = [asdict(replace(column, weights=())) for column in counts.bins]
    cells = [[groups[k].count, *groups[k].cells().tolist()] for k in present]
    return LedgerNumbers.of(bins, counts.classes[present], cells)


def _exact_part(
    site: str, period: str, classes: AnyArray, groups: tuple[PairCounts, ...]
) -> CountsPart:
    nothing = np.empty((0, 0), dtype=np.int64)
    rows = np.array([group.weight for group in groups], dtype=np.float64)
    return CountsPart(
        site, period, {"kind": NONE}, classes, rows, nothing, nothing, nothing, counts=groups
    )


def _controlled_part(
    site: str,
    period: str,
    classes: AnyArray,
    groups: Sequence[PairCounts],
    bins: Sequence[Bins],
    min_cell: int,
) -> CountsPart:
    codes = PublicCodes.of(bins)
    made = publish(Queries.of(groups, codes), bins, codes, min_cell, site)
    base = rounding_base(min_cell)
    rows = np.array([group.count // base * base + (base - 1) / 2.0 for group in groups])
    upper = codes.of_two_columns.astype(bool)
    unit = min_cell * CODE_RANGE**2
    return CountsPart(
        site,
        period,
        {"kind": MIN_CELL, "min_cell": min_cell},
        classes,
        rows,
        made.cells,
        made.groups,
        made.cross[:, upper],
        cross_variance=unit**2 / 12.0,
    )


# ── The file of a release ─────────────────────────────────────────────────────────────────────────


def _fields(header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Return the constructor arguments of `ReleasedCounts`, after checking all of them."""
    try:
        binner = Binner.from_json(arrays["binner"].tobytes().decode())
    except (UnicodeDecodeError, BinnerFileError) as error:
        msg = f"its binner cannot be read: {error}"
        raise FileContentError(msg) from None
    require(not binner.crosses_, "its binner has crosses")
    classes, codes = classes_of(header), PublicCodes.of(binner.bins_)
    n_cells, n_cross = len(codes.weights), int(codes.of_two_columns.sum())
    fits = arrays["cells"].shape[1] == n_cells and arrays["cross"].shape[1] == n_cross
    require(fits, "its arrays are not those of its bins")
    require(len(set(map(_key, header["parts"]))) == len(header["parts"]), "a part occurs twice")
    parts, controlled, exact, entry = [], 0, 0, 0
    for named in header["parts"]:
        of_part = sorted(set(named["classes"]))
        valid = of_part == named["classes"] and max(of_part, default=0) < max(len(classes), 1)
        require(valid, "a part names a class that there is not")
        size, labels = len(of_part), classes[of_part]
        if named["control"]["kind"] == NONE:
            groups, entry = _exact_groups(arrays, slice(exact, exact + size), entry, codes)
            parts.append(_exact_part(named["site"], named["period"], labels, groups))
            exact += size
            continue
        own = slice(controlled, controlled + size)
        require(arrays["rows"][own].shape == (size,), "a part has too few arrays")
        numbers = {name: arrays[name][own].copy() for name in ("rows", "cells", "groups", "cross")}
        parts.append(_read_part(named, labels, numbers, codes))
        controlled += size
    complete = controlled == len(arrays["rows"]) and exact == len(arrays["totals"])
    require(complete and entry == len(arrays["data"]), "it has arrays of no part")
    named_columns = hasattr(binner, "feature_names_in_")
    return {"parts": joined_parts(parts), "bins": binner.bins_, "named": named_columns}


def _key(part: dict[str, Any]) -> tuple[str, str]:
    return part["site"], part["period"]


def _read_part(
    named: dict[str, Any], labels: AnyArray, numbers: Arrays, codes: PublicCodes
) -> CountsPart:
    """Return a part under control, after checking its groups and what its control promises."""
    control, first = named["control"], np.arange(len(codes.weights))
    cells, groups, cross = (numbers[name] for name in ("cells", "groups", "cross"))
    column = np.repeat(np.arange(len(codes.starts) - 1), np.diff(codes.starts))
    require((groups >= 0).all() and (groups <= first).all(), "a group has no first cell")
    grouped = [(each[each] == each).all() and (column[each] == column).all() for each in groups]
    require(all(grouped), "its groups are not cells of one column")
    require((numbers["rows"] >= 0).all(), "a class has fewer than no rows")
    if control["kind"] == MIN_CELL:
        least = int(control["min_cell"])
        unit, base = least * CODE_RANGE**2, rounding_base(least)
        enough = (cells[groups == first] >= least // base * base).all()
        kept = enough and not cells[groups != first].any() and not (cells % base).any()
        require(kept, "its groups have other numbers of rows than its control admits")
        kept = (cross >= 0).all() and not (cross % unit).any()
        require(kept, "its cross sums are not rounded as its control says")
        variance = unit**2 / 12.0
    else:
        require(is_statement(control), "its control does not say what its noise is")
        variance = 0.0
    site, period, rows = named["site"], named["period"], numbers["rows"]
    return CountsPart(site, period, control, labels, rows, cells, groups, cross, variance)


def _exact_groups(
    arrays: Arrays, own: slice, entry: int, codes: PublicCodes
) -> tuple[tuple[PairCounts, ...], int]:
    """Return the counts of the classes of a part, and the number of the next entry."""
    groups = []
    n_cells = len(codes.weights)
    require(len(arrays["totals"][own]) == own.stop - own.start, "a part has too few arrays")
    for totals, pointers in zip(arrays["totals"][own], arrays["pointers"][own], strict=True):
        increasing = pointers[0] == 0 and (np.diff(pointers) >= 0).all()
        require(increasing, "its pointers are not those of a sparse matrix")
        stop = entry + int(pointers[-1])
        require(stop <= len(arrays["data"]), "its pointers are not those of a sparse matrix")
        data, indices = (arrays[name][entry:stop].copy() for name in ("data", "indices"))
        row = np.repeat(np.arange(n_cells), np.diff(pointers))
        upper = (indices >= row).all() and indices.max(initial=0) < n_cells
        ordered = ((np.diff(indices) > 0) | (np.diff(row) > 0)).all()
        require(upper and ordered, "its pairs are not an upper triangle in order")
        whole = (data % 1.0 == 0).all() and (totals % 1.0 == 0).all()
        number: Any = int if whole else float
        pairs = sparse.csr_array((data, indices, pointers), shape=(n_cells, n_cells))
        pairs = pairs.astype(np.int64) if whole else pairs
        groups.append(PairCounts(int(totals[0]), number(totals[1]), number(totals[2]), pairs))
        problem = contradiction(groups[-1], codes.starts)
        require(problem is None, str(problem))
        entry = stop
    return tuple(groups), entry


_LAYOUT = Layout(
    format="directrix.released_counts",
    noun="release of counts",
    entries={"parts": PARTS},
    arrays={
        "binner": Array("uint8", ("letters",)),
        "rows": Array("float64", ("controlled",)),
        "cells": Array("int64", ("controlled", "cells")),
        "groups": Array("int32", ("controlled", "cells")),
        "cross": Array("int64", ("controlled", "pairs of codes")),
        "totals": Array("float64", ("exact", "three")),
        "pointers": Array("int64", ("exact", "pointers")),
        "indices": Array("int32", ("pairs",)),
        "data": Array("float64", ("pairs",)),
    },
    laws=_fields,
)


def _write(release: ReleasedCounts, path: str | PathLike[str]) -> None:
    codes = PublicCodes.of(release.bins)
    n_cells, n_cross = len(codes.weights), int(codes.of_two_columns.sum())
    classes = release.classes
    controlled = [part for part in release.parts if not part.counts]
    groups = [group for part in release.parts for group in part.counts]

    def stacked(name: str, dtype: Any, *shape: int) -> AnyArray:
        empty = np.empty((0, *shape), dtype=dtype)
        return np.concatenate([empty, *(getattr(part, name) for part in controlled)]).astype(dtype)

    def flat(name: str, dtype: Any) -> AnyArray:
        return np.concatenate(
            [np.empty(0, dtype), *(getattr(group.pairs, name) for group in groups)]
        ).astype(dtype)

    totals = [[group.count, group.weight, group.weight_sq] for group in groups]
    arrays = {
        "binner": np.frombuffer(release.binner.to_json().encode(), dtype=np.uint8),
        "rows": stacked("rows", np.float64),
        "cells": stacked("cells", np.int64, n_cells),
        "groups": stacked("groups", np.int32, n_cells),
        "cross": stacked("cross", np.int64, n_cross),
        "totals": np.array(totals, dtype=np.float64).reshape(len(groups), 3),
        "pointers": flat("indptr", np.int64).reshape(len(groups), n_cells + 1),
        "indices": flat("indices", np.int32),
        "data": flat("data", np.float64),
    }
    entries = {
        "parts": [
            {
                "site": part.site,
                "period": part.period,
                "control": dict(part.control),
                "classes": np.flatnonzero(np.isin(classes, part.classes)).tolist(),
            }
            for part in release.parts
        ]
    }
    _LAYOUT.write(path, classes, entries, arrays)
