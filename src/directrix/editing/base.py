"""What an editor of a card begins with: the rows by their atoms, the full cards, the lockbox."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from directrix._typing import AnyArray, FloatArray, IntArray
from directrix.cards.card import IntegerPoints, PointsToDoubleOdds, scale_of
from directrix.cards.card_printing import cells_label
from directrix.cards.judged import EditStart
from directrix.cards.merging import Atoms, Grid
from directrix.cards.prior import CellKinds
from directrix.editing.edited import Arrangement, EditedCard, EditRows, EditScale, Finer
from directrix.editing.log import LAYOUT, require_version
from directrix.estimators.scorecard import ScorecardClassifier
from directrix.estimators.training_table import TrainingTable
from directrix.exceptions import EditError
from directrix.files.atomic import atomic_file
from directrix.fit.choice import limit_by_order, sizes_of
from directrix.fit.directions import directions_of
from directrix.fit.operating_point import OF_LINES
from directrix.fit.training_rows import Rows, class_folds, group_folds, relative_weight
from directrix.metrics.segments import InEverySegment
from directrix.metrics.table import TABLE, resolve, written
from directrix.tables import Binner
from directrix.tables.bins import Bins, NumberBins
from directrix.tables.table import Column, date_text

# ── What an editor begins with ────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class EditTable:
    """Rows in memory: values of columns in the order of the binner, labels and weights."""

    values: FloatArray
    positive: AnyArray
    weight: FloatArray

    def counts(self, cells: AnyArray, n_cells: int) -> FloatArray:
        """Return the weight of the negatives and of the positives in each cell of a column."""
        sides = (~self.positive, self.positive)
        return np.stack([np.bincount(cells, self.weight * side, n_cells) for side in sides])


@dataclass(frozen=True, eq=False)
class Lockbox:
    """Rows that no edit sees: their cells, and after which edits they were read."""

    cells: IntArray
    positive: AnyArray
    weight: FloatArray
    values: FloatArray | None = None
    read_after: list[Any] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Block:
    """A column or cross of an editor: its atoms, with their cells and labels.

    ``upper`` are the upper ends of ordered atoms; the last has none.
    """

    name: str
    kind: str
    atoms: range
    n_ordered: int
    cells: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...]
    upper: tuple[float, ...] = ()
    missing: int = -1


@dataclass(frozen=True, eq=False)
class EditBase:
    """All that edits do not change.

    ``template`` is a classifier with the parameters and the classes of the card. ``counts`` are
    those of its training rows, by class and cell. ``start`` and ``table`` have the rows in memory,
    if they are at hand.
    """

    template: Any
    rows: EditRows
    scale: EditScale
    metric: Any
    binner: Any
    counts: tuple[FloatArray, ...]
    lockbox: Lockbox | None = None
    start: EditStart | None = None
    table: EditTable | None = None

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Columns and crosses, with their atoms."""
        made = []
        atoms = self.rows.atoms
        ranges = self.rows.blocks
        for k, bins in enumerate(self.binner.bins_):
            made.append(_column_block(bins, ranges[k], atoms.cells[k], len(atoms.lines[k])))
        for grid, atoms_of in zip(atoms.grids, ranges[len(made) :], strict=True):
            both = [self.binner.bins_[k] for k in grid.columns]
            sides = [
                [
                    cells_label(bins, np.flatnonzero(index == number).tolist())
                    for number in range(size)
                ]
                for bins, index, size in zip(both, grid.index, grid.atoms.shape, strict=True)
            ]
            labels = tuple(f"{one} x {other}" for one in sides[0] for other in sides[1])
            name = " x ".join(bins.name for bins in both)
            made.append(Block(name, "cross", atoms_of, 0, ((),) * len(labels), labels))
        return tuple(made)

    def card_of(self, arrangement: Arrangement) -> EditedCard:
        """Return the card of an arrangement."""
        self.rows.require_order(arrangement, self.scale.kappa)
        return EditedCard(self.rows, arrangement, self.scale, self.metric)


def _column_block(bins: Bins, atoms: range, of_cell: IntArray, n_ordered: int) -> Block:
    """Return a column with its atoms; ordered bins without rows are those of the atom before."""
    filled = filled_cells(bins, of_cell)
    cells = tuple(tuple(np.flatnonzero(filled == atom).tolist()) for atom in atoms)
    upper: tuple[float, ...] = ()
    if n_ordered and isinstance(bins, NumberBins):
        upper = tuple(bins.cuts[min(part) - 2] for part in cells[1:n_ordered])
    alone = [k for k, part in enumerate(cells) if part == (0,)]
    labels = tuple(cells_label(bins, part) for part in cells)
    return Block(
        bins.name, bins.kind, atoms, n_ordered, cells, labels, upper, alone[0] if alone else -1
    )


def filled_cells(bins: Bins, of_cell: IntArray) -> IntArray:
    """Return the atom of each cell; an ordered bin without rows has that of the one before it."""
    filled, ordered = of_cell.copy(), np.arange(1, 1 + bins.n_ordered)
    known = ordered[filled[ordered] >= 0]
    if len(known):
        before = np.clip(np.searchsorted(known, ordered, side="right") - 1, 0, None)
        filled[ordered] = filled[known[before]]
    return filled


# ── Cuts that the full card does not have: rows are counted again ─────────────────────────────────


def with_finer_bins(
    base: EditBase, column: int, cuts: Sequence[float]
) -> tuple[EditBase, IntArray]:
    """Return an editor's base with more cuts of a column, and the atom that each atom was part of.

    All rows are counted again in the finer bins; the full card stays the same.
    """
    start, table = base.start, base.table
    assert start is not None  # noqa: S101 - only editors with rows cut anew
    assert table is not None  # noqa: S101 - likewise
    bins = base.binner.bins_[column]
    made = _finer_bins(bins, table, column, cuts)
    begins = frozenset(2 + k for k, cut in enumerate(made.cuts) if cut in cuts)
    before = _cells_before(bins, made, table.values[:, column])
    finer = Finer(column, before, begins)
    kinds = [CellKinds.of(each) for each in base.binner.bins_]
    kinds[column] = CellKinds.of(made)
    cells = start.rows.X.copy()
    cells[:, column] = made.cells(start.values[:, column])
    held = np.bincount(cells[:, column], minlength=made.n_cells) > 0
    atoms, parent = finer.atoms(base.rows.atoms, kinds[column], held)
    cards = {fold: finer.card(card) for fold, card in start.cards.items()}
    start = replace(start, cards=cards, rows=start.rows._replace(X=cells))
    every = list(base.binner.bins_)
    every[column] = made
    counts = list(base.counts)
    counts[column] = table.counts(made.cells(table.values[:, column]), made.n_cells)
    lockbox = base.lockbox
    if lockbox is not None and lockbox.values is not None:
        kept = lockbox.cells.copy()
        kept[:, column] = made.cells(lockbox.values[:, column])
        lockbox = replace(lockbox, cells=kept)
    changed = replace(
        base,
        rows=EditRows.of(start, kinds, atoms),
        binner=binner_with(base.binner, every),
        counts=tuple(counts),
        lockbox=lockbox,
        start=start,
    )
    return changed, parent


def _cells_before(bins: NumberBins, made: NumberBins, values: FloatArray) -> IntArray:
    """Return the cell of each finer cell before: that of its rows, or of its upper end."""
    ends = np.searchsorted(np.array(bins.cuts), [*made.cuts, np.inf])
    special = range(1 + bins.n_ordered, bins.n_cells)
    before = np.array([0, *(1 + ends).tolist(), *special])
    before[made.cells(values)] = bins.cells(values)
    return before


def _finer_bins(
    bins: NumberBins, table: EditTable, column: int, cuts: Sequence[float]
) -> NumberBins:
    """Return bins with more cuts, and missing values where they were.

    A cut of the full card goes if no row is between it and a cut that is asked for.
    """
    values = np.sort(table.values[:, column][~np.isnan(table.values[:, column])])
    every = sorted({*bins.cuts, *cuts})
    below = np.searchsorted(values, every, side="right")
    asked = set(below[np.isin(every, cuts)].tolist())
    every = [
        cut
        for cut, rows in zip(every, below.tolist(), strict=True)
        if cut in cuts or rows not in asked
    ]
    made = NumberBins.of(
        Column(bins.name, bins.kind, ()),
        table.values[:, column],
        table.weight,
        max_bins=len(every) + 1,
        min_rows=0,
        special_values=bins.special_values,
        cuts=every,
    )
    joined = bins.missing_cell
    if not joined:
        return made
    cell = joined + made.n_ordered - bins.n_ordered
    if joined <= bins.n_ordered:
        end = bins.cuts[joined - 1] if joined < bins.n_ordered else np.inf
        cell = 1 + int(np.searchsorted(every, end))
    weights = np.array(made.weights)
    weights[cell], weights[0] = weights[cell] + weights[0], 0.0
    return replace(made, missing_cell=cell, weights=tuple(weights.tolist()))


def binner_with(binner: Any, bins: Sequence[Bins]) -> Any:
    """Return a copy of a binner with other bins of the same columns."""
    made = copy(getattr(binner, "estimator", binner))
    made.bins_ = tuple(bins)
    return made


# ── An editor's base from rows in memory ──────────────────────────────────────────────────────────


def base_of_rows(
    classifier: Any, given: tuple[Any, Any, Any, Any], lockbox: Any
) -> tuple[EditBase, Arrangement]:
    """Fit a classifier to the rows outside the lockbox; return what an editor of its card needs.

    ``given`` are rows, labels, sample weights and groups.
    """
    _refuse(classifier)
    X, _, sample_weight, groups = given
    table = TrainingTable.of(classifier, *given)
    weight = relative_weight(sample_weight, table.table.values)
    used = np.flatnonzero(weight > 0)
    apart = np.zeros(len(weight), dtype=bool)
    apart[used] = _set_apart(table, lockbox, used, len(weight))
    if apart.any():
        sample_weight = np.where(apart, 0.0, weight)
    classifier._editable = True  # noqa: SLF001 - a copy that is made for the editor
    classifier.fit(X, given[1], sample_weight, groups)
    start = next(fit.start for fit in classifier._sizes if fit.start is not None)  # noqa: SLF001
    if start.rows.fold is None:
        msg = "an editor prices edits on held-out rows: give two rows of each class or more"
        raise EditError(msg)
    binner = classifier.binner_
    kinds = [CellKinds.of(bins) for bins in binner.bins_]
    rows = EditRows.of(start, kinds)
    directions = _directions(classifier, binner.bins_, rows)
    arrangement = rows.start(start.n_lines, directions)
    scale = EditScale.of(scale_of(classifier.points), rows, arrangement)
    values = binner.table_of(table.table).values[used]
    positive, weight = table.rows.positive, weight[used]
    boxed = apart[used]
    box = None
    if boxed.any():
        cells = binner.cells(table.table)[used][boxed]
        box = Lockbox(cells, positive[boxed], weight[boxed], values[boxed])
    seen = EditTable(values[~boxed], positive[~boxed], weight[~boxed])
    base = EditBase(
        classifier,
        rows,
        scale,
        resolve(classifier.metric),
        binner,
        classifier.card_.counts,
        box,
        start,
        seen,
    )
    return base, arrangement


def _refuse(classifier: Any) -> None:
    """Refuse parameters that edits do not go with."""
    given = {
        "guarantee=": classifier.guarantee is not None,
        "class_weight=": classifier.class_weight is not None,
        "costs or days of single rows": classifier.takes_costs_or_days,
        "limits in every segment": isinstance(classifier.limits, InEverySegment),
    }
    for what, is_given in given.items():
        if is_given:
            msg = f"an editor does not go with {what}: leave it out"
            raise EditError(msg)


def _set_apart(table: TrainingTable, lockbox: Any, used: IntArray, n_rows: int) -> AnyArray:
    """Return which rows of weight above zero are in the lockbox."""
    if lockbox is None:
        return np.zeros(len(used), dtype=bool)
    if not isinstance(lockbox, float | int):
        mask = np.asarray(lockbox)
        if mask.shape != (n_rows,) or mask.dtype != bool:
            msg = f"lockbox must be a share of the rows, None, or {n_rows} booleans, one for a row"
            raise EditError(msg)
        if len(np.unique(table.rows.positive[mask[used]])) < 2:
            msg = "the lockbox must have rows of both classes"
            raise EditError(msg)
        return mask[used]
    if not 0.0 < lockbox <= 0.5:
        msg = f"lockbox must be a share of the rows above 0 and at most one half, not {lockbox!r}"
        raise EditError(msg)
    rows, parts = table.rows, round(1.0 / lockbox)
    if rows.group is not None:
        fold = group_folds(rows.group, rows.positive, parts)
    else:
        by_key = class_folds(np.asarray(rows.keys), rows.positive, parts)
        if by_key is None or by_key.max() < parts - 1:
            msg = f"a lockbox of one in {parts} rows of each class needs {parts} rows of each class"
            raise EditError(msg)
        fold = by_key
    apart: AnyArray = fold == 0
    return apart


def _directions(
    classifier: Any, bins: Sequence[Bins], rows: EditRows
) -> dict[int, str | tuple[int, ...]]:
    """Return the directions that a classifier was asked for, in the words of an arrangement."""
    found: dict[int, str | tuple[int, ...]] = {}
    for each in directions_of(classifier.monotone, bins):
        if bins[each.column].n_ordered:
            rises = len(each.rising) < 2 or each.rising[0] < each.rising[-1]
            found[each.column] = "increasing" if rises else "decreasing"
        else:
            first = rows.blocks[each.column].start
            atoms = rows.atoms.cells[each.column][each.rising]
            local = dict.fromkeys((atoms[atoms >= 0] - first).tolist())
            found[each.column] = tuple(local)
    return found


# ── An editor's base as plain values and arrays, for a page and for files ─────────────────────────


def state_of(
    base: EditBase, start: Arrangement, edits: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return all that an editor knows but the lockbox, as plain values and NumPy arrays."""
    rows, metric, scale = base.rows, base.metric, base.scale
    names = {type(row.example): row.name for row in TABLE}
    sizes = sizes_of(rows.rows)
    limited = metric.uses_threshold and metric.limit is not None
    blocks = base.blocks
    return {
        "layout": LAYOUT,
        "metric": {
            "text": written(metric),
            "label": metric.label,
            "name": names.get(type(metric), "other"),
            "parameters": {
                name: getattr(metric, name)
                for name in getattr(metric, "__dataclass_fields__", {})
                if isinstance(getattr(metric, name), int | float)
            },
            "at": limit_by_order(metric.limit, sizes) if limited else None,
            "greater_is_better": metric.greater_is_better,
        },
        "positive": _plain(base.template.positive_),
        "classes": [_plain(label) for label in base.template.classes_.tolist()],
        "scale": _scale_state(scale),
        "blocks": [_block_state(base, index) for index in range(len(blocks))],
        "n_atoms": rows.atoms.count,
        "n_folds": rows.n_folds,
        "atoms": rows.of_rows.T.astype(np.uint16),
        "positive_rows": rows.rows.positive,
        "weight": None if np.ptp(rows.rows.weight) == 0 else rows.rows.weight,
        "fold": np.asarray(rows.rows.fold, dtype=np.uint8),
        "curvature": rows.curve,
        "first": rows.first,
        "bins": base.binner.to_json(),
        "cell_atom": [
            filled_cells(bins, cells).tolist()
            for bins, cells in zip(base.binner.bins_, rows.atoms.cells, strict=True)
        ],
        "cell_weights": [part.tolist() for part in rows.cell_weights],
        "counts": [part.tolist() for part in base.counts],
        "start": {
            "group": start.group,
            "directions": {
                blocks[index].name: direction
                if isinstance(direction, str)
                else [blocks[index].labels[atom] for atom in direction]
                for index, direction in start.directions.items()
            },
            "fixed": {},
        },
        "sizes": list(sizes),
        "spread": OF_LINES.of(metric),
        "edits": [dict(edit) for edit in edits],
    }


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def _scale_state(scale: EditScale) -> dict[str, Any]:
    given = scale.scale
    if isinstance(given, IntegerPoints):
        return {"kind": "integer", "largest": given.largest, "kappa": scale.kappa}
    if isinstance(given, PointsToDoubleOdds):
        names = ("pdo", "base_points", "base_odds", "rounded")
        numbers = {name: getattr(given, name) for name in names}
        return {"kind": "pdo", **numbers, "kappa": scale.kappa}
    return {"kind": "scores", "kappa": scale.kappa}


def _block_state(base: EditBase, index: int) -> dict[str, Any]:
    block = base.blocks[index]
    text = date_text if block.kind == "date" else None
    made = {
        "name": block.name,
        "kind": block.kind,
        "first": block.atoms.start,
        "n_atoms": len(block.atoms),
        "n_ordered": block.n_ordered,
        "missing": block.missing,
        "labels": list(block.labels),
        "upper": [*block.upper, None] if block.n_ordered else [],
        "upper_text": [f"{end:g}" if text is None else text(end) for end in block.upper],
    }
    n_columns = len(base.binner.bins_)
    if index >= n_columns:
        grid = base.rows.atoms.grids[index - n_columns]
        made["columns"], made["shape"] = list(grid.columns), list(grid.atoms.shape)
        made["merged"] = [part.tolist() for part in grid.index]
        made["ordered"] = [list(part) for part in grid.ordered]
    return made


def base_of_state(state: Mapping[str, Any]) -> tuple[EditBase, Arrangement]:
    """Return an editor's base without rows in memory."""
    require_version(state.get("layout"), "this is an editor")
    binner, classes = Binner.from_json(state["bins"]), np.array(state["classes"])
    scale = _scale_of_state(state["scale"])
    positive = None if state["positive"] == classes.tolist()[-1] else state["positive"]
    metric, points = resolve(state["metric"]["text"]), scale.scale or "log-odds"
    template = ScorecardClassifier(metric, positive=positive, points=points)
    template._set_classes(classes)  # noqa: SLF001 - an empty one that is made here
    template._set_binner(binner)  # noqa: SLF001 - likewise
    atoms = _atoms_of_state(state, binner)
    n = len(state["positive_rows"])
    weight = np.ones(n) if state["weight"] is None else np.asarray(state["weight"], dtype=float)
    fold = np.asarray(state["fold"], dtype=np.int64)
    training = Rows(None, np.asarray(state["positive_rows"], dtype=bool), weight, fold)
    rows = EditRows(
        atoms,
        training,
        np.asarray(state["atoms"]).T.astype(np.int64),
        np.asarray(state["curvature"], dtype=np.uint8),
        np.asarray(state["first"], dtype=np.float64),
        [CellKinds.of(bins) for bins in binner.bins_],
        [np.array(part) for part in state["cell_weights"]],
    )
    box = state.get("lockbox")
    lockbox = None
    if box is not None:
        cells, side, weights = (np.asarray(box[key]) for key in ("cells", "positive", "weight"))
        lockbox = Lockbox(cells.astype(np.int64), side.astype(bool), weights, None, box["read"])
    counts = tuple(np.array(part) for part in state["counts"])
    base = EditBase(template, rows, scale, metric, binner, counts, lockbox)
    directions: dict[int, str | tuple[int, ...]] = {}
    for index, block in enumerate(base.blocks):
        given = state["start"]["directions"].get(block.name)
        if given is not None:
            found = given if isinstance(given, str) else tuple(map(block.labels.index, given))
            directions[index] = found
    group = np.asarray(state["start"]["group"], dtype=np.int64)
    return base, Arrangement(group, np.full(len(group), np.nan), directions)


def _scale_of_state(state: Mapping[str, Any]) -> EditScale:
    kind, kappa = state["kind"], float(state["kappa"])
    if kind == "integer":
        return EditScale(kappa, IntegerPoints(state["largest"]))
    if kind == "pdo":
        names = ("pdo", "base_points", "base_odds", "rounded")
        return EditScale(kappa, PointsToDoubleOdds(**{name: state[name] for name in names}))
    return EditScale(kappa)


def _atoms_of_state(state: Mapping[str, Any], binner: Any) -> Atoms:
    blocks, n_columns = state["blocks"], len(binner.bins_)
    cells = tuple(np.array(part, dtype=np.int64) for part in state["cell_atom"])
    lines, loose = [], []
    for block in blocks[:n_columns]:
        atoms = list(range(block["first"], block["first"] + block["n_atoms"]))
        lines.append(atoms[: block["n_ordered"]])
        loose.append(atoms[block["n_ordered"] :])
    grids = []
    for block in blocks[n_columns:]:
        first, second = (np.array(part, dtype=np.int64) for part in block["merged"])
        rows, columns = block["ordered"]
        atoms = block["first"] + np.arange(block["n_atoms"]).reshape(block["shape"])
        pair = block["columns"][0], block["columns"][1]
        grids.append(Grid(pair, (first, second), (rows, columns), atoms))
    return Atoms(cells, tuple(lines), tuple(loose), tuple(grids), state["n_atoms"])


def write_state(path: str | os.PathLike[str], state: Mapping[str, Any]) -> None:
    """Write a state as JSON; arrays are base64 of their bytes with a type and a shape."""
    with atomic_file(path) as file:
        file.write(json.dumps(state, default=_packed).encode())


def read_state(path: Any) -> dict[str, Any]:
    """Read a state from a file of `write_state`; a dict is returned as it is."""
    if isinstance(path, Mapping):
        return dict(path)
    try:
        state = json.loads(Path(path).read_text(encoding="utf-8"), object_hook=_unpacked)
    except (UnicodeDecodeError, json.JSONDecodeError):
        state = None
    if not isinstance(state, dict):
        msg = f"{os.fspath(path)!r} is not a saved editor"
        raise EditError(msg)
    return state


def _packed(array: Any) -> Any:
    array = np.ascontiguousarray(array)
    text = base64.b64encode(array.tobytes()).decode()
    return {"dtype": array.dtype.str, "shape": list(array.shape), "base64": text}


def _unpacked(found: dict[str, Any]) -> Any:
    if set(found) != {"dtype", "shape", "base64"}:
        return found
    content = base64.b64decode(found["base64"])
    return np.frombuffer(content, dtype=found["dtype"]).reshape(found["shape"]).copy()
