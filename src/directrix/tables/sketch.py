"""TableSketch: what sites show of their columns, so that all can agree on the same bins.

A sketch holds no row. Of a column of numbers it holds the values that many rows share, and for all
others how many rows lie between round numbers; of a column of texts its frequent levels.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from directrix._typing import FloatArray
from directrix.exceptions import (
    BinnerFileError,
    ColumnsLeftOutWarning,
    DifferentKindsError,
    TooFewRowsError,
    find_stacklevel,
)
from directrix.files.atomic import atomic_file
from directrix.files.layout import (
    Entry,
    Header,
    check_entries,
    is_flag,
    is_list_of,
    is_number,
    is_text,
    parse_json,
    refusing,
    require,
)
from directrix.moments.release import (
    MIN_CELL,
    NONE,
    checked_min_cell,
    describe_control,
    is_control,
    joined_parts,
    require_names,
)
from directrix.tables.binner import Binner
from directrix.tables.bins import distinct_values
from directrix.tables.counts.disclosure import rounding_base
from directrix.tables.counts.release import public_bins
from directrix.tables.table import Column, Table

#: Intervals of the values that few rows share, at most.
_INTERVALS = 128
#: Different values of a column that are kept without control; of more, only the frequent ones.
_MOST_VALUES = 1 << 16
#: Points that stand for the rows of an interval.
_POINTS = 4


@dataclass(frozen=True)
class ColumnSketch:
    """What a site shows of one column.

    ``missing`` is the number of rows without a value. ``values`` are numbers, or texts, with their
    ``rows``; ``edges`` are round numbers, and ``between`` the rows below the first, between two and
    above the last whose values are not listed; ``other`` the rows of texts that are not listed.
    """

    name: str
    kind: str
    missing: float
    values: tuple[Any, ...]
    rows: tuple[float, ...]
    edges: tuple[float, ...] = ()
    between: tuple[float, ...] = ()
    other: float = 0.0


@dataclass(frozen=True)
class SketchPart:
    """What one site shows of its columns for one period."""

    site: str
    period: str
    control: Mapping[str, Any]
    rows: float
    columns: tuple[ColumnSketch, ...]

    @property
    def key(self) -> tuple[str, str]:
        """The site and the period."""
        return self.site, self.period

    @property
    def id(self) -> str:
        """Digest of the content: equal for two copies of a part, different otherwise."""
        return sha256(json.dumps(_plain(self), sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class TableSketch:
    """Sketches of the columns of several sites, from which bins for all of them are made.

    Sketches are joined with ``+``; one that comes twice counts once.

    Parameters
    ----------
    parts : tuple of SketchPart
        The sketch of each site, sorted by site and period.
    named : bool
        Whether the columns have names.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix.tables import TableSketch
    >>> rng = np.random.default_rng(0)
    >>> north, south = (TableSketch.of(rng.normal(size=(500, 2)), site=s) for s in ("N", "S"))
    >>> north + south
    <TableSketch: 2 parts of 2 sites; about 1,000 rows; 2 columns; no group below 10 rows>
    >>> (north + south).binner(max_bins=4).bins_[0].labels
    ('missing', '<= -0.7', '-0.7 to 0.005625', '0.005625 to 0.70625', '> 0.70625')
    """

    parts: tuple[SketchPart, ...]
    named: bool = False

    @classmethod
    def of(
        cls,
        X: Any,
        *,
        min_cell: int = 10,
        site: str,
        period: str = "",
        kinds: Mapping[str, str] | None = None,
    ) -> TableSketch:
        """Sketch the columns of a table, under disclosure control.

        Parameters
        ----------
        X : data frame, Arrow table, array, list of rows, or Table
            Without the labels: no label is needed to agree on bins.
        min_cell : int
            Least number of rows of whatever is shown. 1 for no control: then bins are those of
            the pooled rows.
        site, period : str
            Whose rows they are, and of when.
        kinds : dict, optional
            Kinds of columns, where they are read as others than at other sites: "number", "text",
            "boolean" or "date", by column name.
        """
        require_names(site, period)
        least = checked_min_cell(min_cell)
        table = Table.of_kinds(X, kinds or {})
        if least > 1 and len(table) < 4 * least:
            raise TooFewRowsError(None, len(table), 4 * least)
        columns = tuple(
            _sketch(column, values, least)
            for column, values in zip(table.columns, table.values.T, strict=True)
        )
        control = {"kind": NONE} if least == 1 else {"kind": MIN_CELL, "min_cell": least}
        rows = float(_shown(len(table), least))
        return cls((SketchPart(site, period, control, rows, columns),), table.named)

    def __add__(self, other: TableSketch) -> TableSketch:
        if not isinstance(other, TableSketch):
            return NotImplemented
        return replace(self, parts=joined_parts([*self.parts, *other.parts]))

    def __repr__(self) -> str:
        n_parts, n_sites = len(self.parts), len({part.site for part in self.parts})
        n_columns = len({column.name for part in self.parts for column in part.columns})
        shown = [
            f"{n_parts} part{'s' * (n_parts != 1)} of {n_sites} site{'s' * (n_sites != 1)}",
            f"about {sum(part.rows for part in self.parts):,.0f} rows",
            f"{n_columns:,} columns",
            *dict.fromkeys(describe_control(part.control) for part in self.parts),
        ]
        return f"<TableSketch: {'; '.join(shown)}>"

    def binner(self, **params: Any) -> Binner:
        """Return a fitted binner for all sites, the same whoever computes it.

        Columns that a site lacks are left out, with a `ColumnsLeftOutWarning`. Where all sketches
        are under control, bins have coarse shares of rows, which show no more of a site than its
        sketch does, even if it is the only one.

        Parameters
        ----------
        **params : parameters of ``Binner``
        """
        by_name = [{column.name: column for column in part.columns} for part in self.parts]
        names = [name for name in by_name[0] if all(name in each for each in by_name)]
        lacking = {
            part.site: sorted({name for each in by_name for name in each} - set(own))
            for part, own in zip(self.parts, by_name, strict=True)
        }
        if any(lacking.values()):
            left_out = {site: names for site, names in lacking.items() if names}
            warnings.warn(ColumnsLeftOutWarning(left_out), stacklevel=find_stacklevel())
        if not names:
            msg = "the sites have no column in common: rename columns that are the same"
            raise ValueError(msg)
        columns, others = [], []
        for name in names:
            sketches = [each[name] for each in by_name]
            found = {sketch.kind for sketch in sketches}
            if len(found) > 1:
                sites = {p.site: s.kind for p, s in zip(self.parts, sketches, strict=True)}
                raise DifferentKindsError(name, sites)
            columns.append(_pooled(sketches))
            others.append(sum(sketch.other for sketch in sketches))
        binner = Binner(**params).fit_columns(columns, others, named=self.named)
        if all(part.control["kind"] != NONE for part in self.parts):
            binner.bins_ = public_bins(binner.bins_)
        return binner

    def save(self, path: str | PathLike[str]) -> None:
        """Write the sketch to a JSON file, completely or not at all."""
        content = {
            **_HEADER.stamp(),
            "named": self.named,
            "parts": [_plain(part) for part in self.parts],
        }
        with atomic_file(path) as file:
            file.write((json.dumps(content, indent=1, sort_keys=True) + "\n").encode())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a file written by `save`; raise `BinnerFileError` for any other file."""
        with refusing(BinnerFileError, path):
            try:
                content = parse_json(Path(path).read_bytes().decode(), "it")
            except UnicodeDecodeError:
                msg = "it is not UTF-8"
                raise BinnerFileError(msg) from None
            _HEADER.check_header(content)
            return cls(joined_parts([_part(each) for each in content["parts"]]), content["named"])


# ── One column of one site, and of all ────────────────────────────────────────────────────────────


def _shown(rows: float, least: int) -> float:
    """Return a number of rows as it is shown: zero below the least, and rounded down above."""
    base = rounding_base(least)
    return 0.0 if rows < least else float(rows // base * base)


def _sketch(column: Column, values: FloatArray, least: int) -> ColumnSketch:
    present = values[~np.isnan(values)]
    missing = _shown(len(values) - len(present), least)
    if column.kind == "text":
        codes = Counter(column.levels[int(code)] for code in present.tolist())
        frequent = sorted(level for level, rows in codes.items() if rows >= least)
        rare = sum(rows for rows in codes.values() if rows < least)
        shown = tuple(_shown(codes[level], least) for level in frequent)
        return ColumnSketch(
            column.name, "text", missing, tuple(frequent), shown, other=_shown(rare, least)
        )
    distinct, rows = distinct_values(present, None)
    if len(distinct) > _MOST_VALUES:
        least = max(least, -(-len(present) // _MOST_VALUES))
    often = rows >= least
    shown = tuple(_shown(each, least) for each in rows[often].tolist())
    edges, between = _intervals(distinct[~often], rows[~often], least)
    return ColumnSketch(
        column.name, column.kind, missing, tuple(distinct[often].tolist()), shown, edges, between
    )


def _intervals(
    distinct: FloatArray, rows: FloatArray, least: int
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return round numbers between values that few rows share, and the rows between them.

    An edge is the number of fewest digits in a range that holds the values of twice the least rows,
    so that it tells no value; at least as many rows are between two edges and beyond the last.
    """
    distinct, rows = distinct[np.isfinite(distinct)], rows[np.isfinite(distinct)]
    total = float(rows.sum())
    if total < 8 * least:
        return (), ()
    step = max(4.0 * least, total / _INTERVALS)
    below = np.cumsum(rows)
    ranks = np.arange(step, total - step / 2.0, step)
    lowest, highest = (
        distinct[np.minimum(np.searchsorted(below, ranks + by), len(distinct) - 1)]
        for by in (-float(least), float(least))
    )
    edges = np.unique([_simplest(*ends) for ends in zip(lowest, highest, strict=True)])
    counted = np.bincount(np.searchsorted(edges, distinct), rows, len(edges) + 1)
    shown = tuple(_shown(each, least) for each in counted.tolist())
    return tuple(edges.tolist()), shown


def _simplest(low: float, high: float) -> float:
    """Return the number of fewest digits near the middle of a range."""
    middle = low / 2.0 + high / 2.0
    for digits in range(1, 17):
        number = float(f"{middle:.{digits}g}")
        if low <= number <= high:
            return number + 0.0
    return middle


def _pooled(sketches: Sequence[ColumnSketch]) -> tuple[Column, FloatArray, FloatArray]:
    """Return a column with the values and weights that stand for the rows of all sites."""
    first = sketches[0]
    values = [np.full(1, np.nan)]
    weights = [np.array([sum(sketch.missing for sketch in sketches)])]
    levels: tuple[str, ...] = ()
    if first.kind == "text":
        levels = tuple(sorted({level for sketch in sketches for level in sketch.values}))
        code = {level: float(k) for k, level in enumerate(levels)}
    for sketch in sketches:
        listed = [code[level] for level in sketch.values] if levels else sketch.values
        values.append(np.array(listed, dtype=np.float64))
        weights.append(np.array(sketch.rows, dtype=np.float64))
        points, of_points = _points(sketch.edges, sketch.between)
        values.append(points)
        weights.append(of_points)
    return Column(first.name, first.kind, levels), np.concatenate(values), np.concatenate(weights)


def _points(edges: Sequence[float], between: Sequence[float]) -> tuple[FloatArray, FloatArray]:
    """Return points that stand for the rows between edges: four in each interval."""
    if not edges:
        return np.empty(0), np.empty(0)
    places = np.array(edges)
    last = places[-1] - places[-2] if len(places) > 1 else abs(places[-1]) or 1.0
    lower, upper = places[:-1], places[1:]
    inner = lower + (upper - lower) * (np.arange(_POINTS)[:, None] + 0.5) / _POINTS
    values = np.concatenate([places[:1], inner.ravel(), [places[-1] + last / 2.0]])
    rows = np.array(between)
    weights = np.concatenate([rows[:1], np.tile(rows[1:-1] / _POINTS, _POINTS), rows[-1:]])
    return values, weights


# ── Files ─────────────────────────────────────────────────────────────────────────────────────────

_HEADER = Header(
    format="directrix.table_sketch",
    noun="sketch",
    entries={
        "named": Entry(is_flag, "it does not say whether the columns have names"),
        "parts": Entry(lambda parts: isinstance(parts, list) and parts, "it has no parts"),
    },
)
_KINDS = ("number", "boolean", "date", "text")
_ROWS = Entry(lambda rows: is_number(rows) and rows >= 0, "a number of rows is not one")
_LIST_OF_ROWS = Entry(
    lambda rows: is_list_of(rows, is_number) and min(rows, default=0) >= 0,
    "a list of numbers of rows is not one",
)
_PART = {
    "site": Entry(is_text, "a site has no name"),
    "period": Entry(is_text, "a period is not a text"),
    "control": Entry(is_control, "a part does not say how it was controlled"),
    "rows": _ROWS,
    "columns": Entry(lambda each: isinstance(each, list) and each, "a part has no columns"),
}
_COLUMN = {
    "name": Entry(is_text, "a column has no name"),
    "kind": Entry(lambda kind: kind in _KINDS, "a column has no kind"),
    "missing": _ROWS,
    "values": Entry(lambda values: isinstance(values, list), "values are not a list"),
    "rows": _LIST_OF_ROWS,
    "edges": Entry(lambda edges: is_list_of(edges, is_number), "edges are not numbers"),
    "between": _LIST_OF_ROWS,
    "other": _ROWS,
}


#: Numbers that JSON does not have, as texts.
_INFINITE = {"-inf": -np.inf, "inf": np.inf}


def _plain(part: SketchPart) -> dict[str, Any]:
    columns = []
    for column in map(asdict, part.columns):
        if column["kind"] != "text":
            values = [value if np.isfinite(value) else str(value) for value in column["values"]]
            column["values"] = values
        columns.append(column)
    return {**asdict(part), "control": dict(part.control), "columns": columns}


def _part(plain: Any) -> SketchPart:
    check_entries(plain, _PART, "a part lacks an entry or has one too many")
    columns = tuple(map(_column, plain["columns"]))
    require(len({c.name for c in columns}) == len(columns), "two columns have the same name")
    return SketchPart(
        plain["site"], plain["period"], plain["control"], float(plain["rows"]), columns
    )


def _column(plain: Any) -> ColumnSketch:
    check_entries(plain, _COLUMN, "a column lacks an entry or has one too many")
    values = plain["values"]
    if plain["kind"] != "text":
        values = [_INFINITE.get(v, v) if is_text(v) else v for v in values]
    valid = is_list_of(values, is_text if plain["kind"] == "text" else _is_value)
    require(valid and len(set(values)) == len(values), "values are not different")
    require(len(values) == len(plain["rows"]), "values have not one number of rows each")
    edges, between = plain["edges"], plain["between"]
    increase = sorted(set(edges)) == edges
    fits = increase and len(between) == (len(edges) + 1 if edges else 0)
    require(fits, "edges do not increase, or have not the rows between them")
    lists = {name: tuple(plain[name]) for name in ("rows", "edges", "between")}
    return ColumnSketch(**{**plain, **lists, "values": tuple(values)})


def _is_value(value: Any) -> bool:
    return is_number(value) or value in _INFINITE.values()
