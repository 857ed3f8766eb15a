"""CardEditor: a card that is edited by hand, with the price of each edit on held-out rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Self
from warnings import warn

import numpy as np

from directrix.cards.card import Card
from directrix.cards.card_printing import cells_label
from directrix.cards.judged import FittedCard
from directrix.cards.points import finished, in_scores
from directrix.editing.base import (
    Block,
    EditBase,
    Lockbox,
    base_of_rows,
    base_of_state,
    read_state,
    state_of,
    with_finer_bins,
    write_state,
)
from directrix.editing.edited import (
    Arrangement,
    EditedCard,
    EditPrice,
    named_by_least,
)
from directrix.editing.log import EditLine, EditLog, EditPrices, edit_text
from directrix.editing.page import card_page, framed
from directrix.estimators.scorecard import ScorecardClassifier
from directrix.exceptions import (
    BinNotFoundError,
    ColumnNotFoundError,
    EditError,
    LockboxReadWarning,
    NearestCutsWarning,
    find_stacklevel,
)
from directrix.files.atomic import atomic_file
from directrix.fit.finish import assess_unseen_rows, finish_at_zero
from directrix.fit.report import DirectReport, Estimate
from directrix.tables.bins import number_of

_DIRECTIONS = ("increasing", "decreasing")


# ── CardEditor ────────────────────────────────────────────────────────────────────────────────────


class CardEditor:
    """A card that is edited by hand; every edit returns a new editor, and none is lost.

    `of` makes one from a classifier and rows, `load` from a file. The full card of the fit stays
    the yardstick: after an edit the points are those nearest to it in its curvature, for the card
    of all rows and for the card made without each fold, so that held-out rows show at once what the
    edit costs (`price`).

    People edit until that number is good, so that it stops being held out. One part of the rows,
    the lockbox, is seen by no edit: it is in no count, and `fit` reads it once and reports it.

    Lines of a column are numbered from 0, as `lines` shows them; methods take such a number, or a
    bin as it is printed.

    Examples
    --------
    >>> import numpy as np
    >>> from directrix import ScorecardClassifier
    >>> from directrix.editing import CardEditor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1500, 3))
    >>> y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=1500) > 1
    >>> asked = {"max_lines": 12, "max_crosses": 0, "warn_baseline": False}
    >>> edit = CardEditor.of(ScorecardClassifier("auc", **asked), X, y)
    >>> shorter = edit.drop("x2").merge("x0", 0, 1)
    >>> print(shorter.log())
    edit = edit.drop('x2')
    edit = edit.merge('x0', 0, 1)
    >>> len(shorter.price()), len(edit.price())
    (3, 1)
    """

    def __init__(
        self, base: EditBase, cards: Sequence[EditedCard], log: Sequence[Mapping[str, Any]] = ()
    ) -> None:
        self._base, self._cards, self._log = base, tuple(cards), EditLog(map(dict, log))

    @classmethod
    def of(
        cls,
        classifier: ScorecardClassifier,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        lockbox: Any = 0.2,
    ) -> Self:
        """Return an editor of the card that a classifier makes of these rows.

        A card with the parameters of the classifier is fitted to the rows outside the lockbox, and
        its edits are priced on their held-out rows. The classifier stays as it is.

        Parameters
        ----------
        classifier : ScorecardClassifier
            Fitted or not; only its parameters count.
        X, y, sample_weight, groups : as in ``ScorecardClassifier.fit``
        lockbox : float, array of bool of shape (n,) or None
            Share of the rows of each class, or which rows (such as those of the last months), that
            no edit sees. None for no lockbox: what is reported after edits promises too much.
        """
        given = X, y, sample_weight, groups
        base, start = base_of_rows(copy(classifier), given, lockbox)
        return cls(base, [base.card_of(start)])

    @classmethod
    def load(cls, path: Any) -> Self:
        """Return an editor that was saved, with its edits.

        Parameters
        ----------
        path : str, path or dict
            A file of `save`, or what `state` returned.
        """
        state = read_state(path)
        base, start = base_of_state(state)
        return cls(base, [base.card_of(start)]).apply(state["edits"])

    # ── Edits ─────────────────────────────────────────────────────────────────────────────────────

    def merge(self, column: Any, first: Any, last: Any) -> Self:
        """Merge lines of a column: all from the first to the last, if they are in an order.

        Levels, missing and special values are in none: then only the two lines are merged.

        Parameters
        ----------
        column : str or int
        first, last : int or str
            Lines, by number or as printed.
        """
        block = self._block(column)
        lines = self._line(block, first), self._line(block, last)
        return self._edited(
            {"edit": "merge", "column": block.name, "from": lines[0], "to": lines[1]}
        )

    def cuts(self, column: Any, cuts: Sequence[Any]) -> Self:
        """Cut a column of numbers or dates anew.

        With rows in memory these are the cuts. Without, as after
        ``ScorecardClassifier.load_editor``, the nearest cuts that the full card has are used, with
        a warning that names them.

        Parameters
        ----------
        column : str or int
        cuts : sequence of numbers or dates
            A value equal to a cut is in the bin below it. None at all make one bin.
        """
        block = self._block(column)
        edit = {"edit": "cuts", "column": block.name, "cuts": list(cuts)}
        if not block.n_ordered or block.kind == "boolean":
            msg = f"column {block.name!r} has no cuts: merge its lines instead"
            raise EditError(msg, edit)
        try:
            numbers = sorted({float(number_of(cut, block.kind)) for cut in cuts})
        except (TypeError, ValueError) as error:
            msg = f"cuts must be numbers, or dates if the column has dates: {error}"
            raise EditError(msg, edit) from None
        if not np.isfinite(numbers).all():
            msg = "cuts must be finite"
            raise EditError(msg, edit)
        edit["cuts"] = numbers
        return self._edited(edit)

    def join_missing(self, column: Any, where: Any = None) -> Self:
        """Let missing values share the points of a line; None gives them a line of their own.

        Parameters
        ----------
        column : str or int
        where : int or str, optional
            The line, by number or as printed.
        """
        block = self._block(column)
        line = None if where is None else self._line(block, where)
        return self._edited({"edit": "join_missing", "column": block.name, "to": line})

    def drop(self, column: Any) -> Self:
        """Take the points of a column, or of a cross (``"age x income"``), away.

        Parameters
        ----------
        column : str or int
        """
        return self._edited({"edit": "drop", "column": self._block(column).name})

    def monotone(self, column: Any, direction: Any) -> Self:
        """Let the risk of the positive class only rise, or only fall, with a column.

        Neighbours that the rows have in the other order get the same points.

        Parameters
        ----------
        column : str or int
        direction : "increasing", "decreasing", sequence of levels or None
            Levels, or lines, of a column of texts are given in the order in which their risk may
            rise. None takes a direction back.
        """
        block = self._block(column)
        if direction is not None and not isinstance(direction, str):
            known = self._present.arrangement.lines(block.atoms)
            of_line = {line.label: known[line.index] for line in self.lines(block.name)}
            direction = [
                name
                for level in direction
                for name in [block.labels[k - block.atoms.start] for k in of_line.get(level, ())]
                or [level]
            ]
        return self._edited({"edit": "monotone", "column": block.name, "direction": direction})

    def points(self, column: Any, points: Mapping[Any, float | None]) -> Self:
        """Fix points of a column as they are printed; all others are fitted around them.

        Points of a column are relative to each other. So that the points of one line have an
        effect, another line keeps its present ones: in a card of whole numbers that with the
        lowest, else that with the most rows. It is named in the log. With two lines or more, what
        they differ by is given, and none is added.

        Parameters
        ----------
        column : str or int
        points : dict
            From lines, by number or as printed, to points; None lets points be fitted again.
        """
        block = self._block(column)
        given: dict[int, float | None] = {}
        for line, value in points.items():
            index = self._line(block, line)
            if index in given and given[index] != value:
                msg = (
                    f"column {block.name!r} has both {given[index]!r} and {value!r} points for the "
                    f"line of {line!r}: split the line first, or give it one number"
                )
                raise EditError(msg)
            given[index] = value
        pairs = [[line, None if value is None else float(value)] for line, value in given.items()]
        reference = self._reference(block, given)
        if reference is not None:
            pairs.append(reference)
        edit = {"edit": "points", "column": block.name, "points": pairs}
        return self._edited(edit)

    def _reference(self, block: Block, given: Mapping[int, float | None]) -> list[Any] | None:
        """Return a line that keeps its points, if no points of the column are fixed yet."""
        lines = self.lines(block.name)
        unnamed = [line for line in lines if line.index not in given]
        n_fixed = sum(value is not None for value in given.values())
        if not unnamed or n_fixed != 1 or any(line.is_fixed for line in lines):
            return None
        if self._base.scale.is_whole and self._base.scale.kappa > 0:
            best = min(unnamed, key=lambda line: (line.points, line.index))
        else:
            mass = self._base.rows.curvatures[0].mass
            atoms = self._present.arrangement.lines(block.atoms)
            best = min(
                unnamed, key=lambda line: (-float(mass[atoms[line.index]].sum()), line.index)
            )
        return [best.index, best.points]

    def apply(self, edits: Any) -> Self:
        """Make edits from a log, as the page of the editor saves it.

        Parameters
        ----------
        edits : EditLog, sequence of dicts, JSON text, or path of a JSON file
        """
        editor = self
        for edit in EditLog.read(edits):
            editor = editor._edited(edit)
        return editor

    def _edited(self, edit: dict[str, Any]) -> Self:
        """Return the editor after an edit of the log."""
        kind = edit.get("edit")
        changed = _EDITS.get(str(kind))
        if changed is None:
            msg = f"edits are {', '.join(_EDITS)}, not {kind!r}"
            raise EditError(msg, edit)
        try:
            finer = self._with_cuts(edit) if kind == "cuts" else self
            return finer._after(changed, edit)  # noqa: SLF001 - another editor
        except EditError as error:
            raise EditError(error.problem, edit) from None
        except (KeyError, IndexError) as error:
            if isinstance(error, ColumnNotFoundError):
                raise
            msg = f"it lacks {error}" if isinstance(error, KeyError) else "there is no such line"
            raise EditError(msg, edit) from None

    def _after(self, changed: Any, edit: Mapping[str, Any]) -> Self:
        base, block = self._base, self._block(edit["column"])
        made = base.card_of(changed(base, block, self._present.arrangement, edit))
        return type(self)(base, (*self._cards, made), (*self._log, edit))

    def _with_cuts(self, edit: Mapping[str, Any]) -> Self:
        """Return this editor with atoms that end at all cuts, if it has the rows."""
        base, block = self._base, self._block(edit["column"])
        cuts = [cut for cut in edit["cuts"] if cut not in block.upper]
        if not cuts or not block.n_ordered:
            return self
        if base.start is None or base.table is None:
            used = tuple(sorted({nearest(block.upper, cut) for cut in edit["cuts"]}))
            warning = NearestCutsWarning(block.name, tuple(edit["cuts"]), used)
            warn(warning, stacklevel=find_stacklevel())
            return self
        base, parent = with_finer_bins(base, base.blocks.index(block), cuts)
        first = self._cards[0].arrangement
        start = Arrangement(
            named_by_least(first.group[parent]), first.fixed[parent], first.directions
        )
        return type(self)(base, [base.card_of(start)]).apply(self._log)

    # ── What edits have made ──────────────────────────────────────────────────────────────────────

    @property
    def _present(self) -> EditedCard:
        return self._cards[-1]

    @property
    def n_edits(self) -> int:
        """Number of edits so far."""
        return len(self._log)

    @property
    def card(self) -> Card:
        """The card after all edits, with its cutoff."""
        template = self._base.template
        is_last = template.positive_ == template.classes_[-1]
        return self._fitted[0].with_positive(template.positive_, is_last=bool(is_last))

    @property
    def expected(self) -> Estimate:
        """Metric of the current card on held-out rows, with an interval; as in `price`."""
        return self._present.assessment.estimate

    def lines(self, column: Any) -> tuple[EditLine, ...]:
        """Return the lines of a column, as edits number them.

        Parameters
        ----------
        column : str or int
        """
        block, card = self._block(column), self._present
        made, place = card.whole, card.whole.made.place(card.rows.atoms.count)
        found = []
        for number, atoms in enumerate(card.arrangement.lines(block.atoms)):
            cells = sorted(k for atom in atoms for k in block.cells[atom - block.atoms.start])
            group = place[atoms[0]]
            points = float(made.printed[group]) + 0.0 if group >= 0 else 0.0
            rows = rate = float("nan")
            if cells:
                counts = self._base.counts[self._base.blocks.index(block)][:, cells].sum(axis=1)
                rows = float(counts.sum())
                rate = float(counts[1]) / rows if rows else rate
            label = self._label(block, atoms, cells)
            fixed = not np.isnan(card.arrangement.fixed[atoms[0]])
            found.append(EditLine(number, label, rows, rate, points, fixed))
        return tuple(found)

    def _label(self, block: Block, atoms: Sequence[int], cells: Sequence[int]) -> str:
        if not cells:
            return ", ".join(block.labels[atom - block.atoms.start] for atom in atoms)
        return cells_label(self._base.binner.bins_[self._base.blocks.index(block)], cells)

    def price(self) -> EditPrices:
        """Return the metric of the unedited card on held-out rows, and its change by each edit.

        These rows chose the edits, if whoever edits looks at this table: `fit` reads the lockbox.
        """
        texts = ["the card before all edits", *map(edit_text, self._log)]
        cards = self._cards
        return EditPrices(
            EditPrice.of(text, card, cards[max(k - 1, 0)], cards[0])
            for k, (text, card) in enumerate(zip(texts, cards, strict=True))
        )

    def log(self) -> EditLog:
        """Return the edits so far: they print as code, and are saved as JSON."""
        return self._log

    def fit(self) -> Any:
        """Return a ``ScorecardClassifier`` with the card as it is now.

        It is like any other: it predicts, explains, exports and saves. The lockbox, if there is
        one, says what to expect of it on new rows; it is read here and nowhere else.
        """
        base = self._base
        card, fitted = self._fitted
        if base.lockbox is not None:
            found = self._read_lockbox(card, base.lockbox)
            point = replace(
                fitted.operating_point, expected=found.expected, intervals=found.intervals
            )
            fitted = replace(fitted, operating_point=point)
        made = copy(base.template)
        made._set_binner(base.binner)  # noqa: SLF001 - a copy that is made here
        made._set_model(FittedCard(fitted, self._report, card))  # noqa: SLF001 - likewise
        return made

    @cached_property
    def _fitted(self) -> tuple[Card, Any]:
        """The card with its cutoff, and the line of its points."""
        base, present = self._base, self._present
        rows = present.rows.rows
        card = present.card()
        line = present.line(card.intercept)
        scores = present.held_out - present.threshold
        fitted = finish_at_zero(rows, line, scores, present.assessment)
        make = in_scores if base.scale.scale is None else finished
        if base.scale.scale is None:
            line = np.array([1.0, 0.0])
            unit = abs(base.scale.kappa)
            fitted = replace(
                fitted,
                line=line,
                calibration=_restated(fitted.calibration, unit),
                held_out=fitted.held_out.restated(0.0, unit) if fitted.held_out else None,
            )
        card, fitted = make(card, fitted)
        return card.with_rows(base.binner.bins_, base.counts), fitted

    def _read_lockbox(self, card: Card, lockbox: Lockbox) -> Any:
        log = list(self._log)
        read = [edits for edits in lockbox.read_after if edits != log]
        if read:
            warn(LockboxReadWarning(len(read[0])), stacklevel=find_stacklevel())
        if log not in lockbox.read_after:
            lockbox.read_after.append(log)
        scores = card.points(lockbox.cells) - card.cutoff
        scores = scores if card.higher_is_positive else -scores
        rows = lockbox.positive, scores, lockbox.weight
        return assess_unseen_rows(self._present.metric, *rows, "the lockbox")

    @property
    def _report(self) -> DirectReport:
        present, lockbox = self._present, self._base.lockbox
        edits = f"{self.n_edits} edit{'' if self.n_edits == 1 else 's'}"
        why = f"After {edits} it is {present.gap_to(self._cards[0]).text('the card before them')}."
        rows = f"{present.rows.rows.name}, which the edits have seen"
        if lockbox is not None:
            shown = present.assessment.estimate.value
            why = f"{why} Held-out rows, which the edits have seen, show {shown:.4f}."
            rows = f"the lockbox of {len(lockbox.positive):,} rows that no edit has seen"
        return DirectReport(present.metric, rows, (), "edited card", why)

    def state(self) -> dict[str, Any]:
        """Return all that this editor knows, as plain values and NumPy arrays, for a page.

        The lockbox is not in it. Edits so far are; ``ScorecardClassifier.load_editor`` takes it.
        """
        return state_of(self._base, self._cards[0].arrangement, self._log)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write this editor, with its lockbox and its edits, to a JSON file.

        It holds bins, labels and weights of the rows, but none of their values.

        Parameters
        ----------
        path : str or path
        """
        state, box = self.state(), self._base.lockbox
        if box is not None:
            rows = {"cells": box.cells, "positive": box.positive, "weight": box.weight}
            state["lockbox"] = {**rows, "read": box.read_after}
        write_state(path, state)

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str = "Scorecard",
        hide_below: int | None = None,
    ) -> str:
        """Return a page on which the card is edited in a browser, and write it to a file.

        The page has its data inside and loads nothing: people can move the cutoff, merge bins, move
        cuts, fix directions and points, see what each edit costs, and save the edits as a file that
        `apply` takes. It holds the bins and the labels of all held-out rows, but none of their
        values, and nothing of the lockbox: give it to people who may see these.

        Parameters
        ----------
        path : str or path, optional
            Where to write it.
        title : str
            Title of the page.
        hide_below : int, optional
            The page does not show counts of fewer rows than this. It still holds the rows.

        Raises
        ------
        EditError
            If the page does not have the metric, such as a precision of the top k rows.
        """
        page = card_page(self.state(), title, hide_below)
        if path is not None:
            with atomic_file(path) as file:
                file.write(page.encode())
        return page

    def _repr_html_(self) -> str:
        """Return the page in a frame, for notebooks."""
        return framed(self.to_html())

    def _block(self, column: Any) -> Block:
        blocks = self._base.blocks
        if isinstance(column, int | np.integer) and not isinstance(column, bool):
            if 0 <= column < len(blocks):
                return blocks[column]
        else:
            for block in blocks:
                if block.name == column:
                    return block
        raise ColumnNotFoundError(column, [block.name for block in blocks])

    def _line(self, block: Block, where: Any) -> int:
        """Return the number of a line, given by it, as it is printed, or by a bin in it."""
        lines = self._present.arrangement.lines(block.atoms)
        if isinstance(where, int | np.integer) and not isinstance(where, bool):
            if not 0 <= where < len(lines):
                msg = f"column {block.name!r} has lines 0 to {len(lines) - 1}, not {where}"
                raise EditError(msg)
            return int(where)
        shown = self.lines(block.name)
        for same in (str, _without_rows):  # a level may end like a printed line
            for line in shown:
                if isinstance(where, str) and same(line.label) == same(where):
                    return line.index
        if block.kind != "cross":
            bins = self._base.binner.bins_[self._base.blocks.index(block)]
            cell = 0 if where == "missing" else bins.cell_of(where)
            for number, atoms in enumerate(lines):
                local = [atom - block.atoms.start for atom in atoms]
                if any(cell in block.cells[k] for k in local):
                    return number
        raise BinNotFoundError(block.name, where, tuple(line.label for line in shown))

    def __str__(self) -> str:
        lockbox = self._base.lockbox
        rows = f"made of {self._base.counts[0].sum():,.0f} rows"
        if lockbox is not None:
            rows += f", without the lockbox of {len(lockbox.positive):,} rows, which only fit reads"
        return f"{self.card}\n\n{rows}\n\n{self.price()}"

    def __repr__(self) -> str:
        lines = len(self._present.whole.printed)
        return f"<CardEditor: {self.n_edits} edits, {lines} lines>"


def _without_rows(label: str) -> str:
    """Return a printed line without "other" and "missing" at its end.

    A card prints them where their points are, also if no training row has them.
    """
    return label.removesuffix("; missing").removesuffix("; other")


def _restated(calibration: Any, unit: float) -> Any:
    """Return a calibration of scores in units of points, each worth so many log-odds."""
    return replace(calibration, below=unit * calibration.below, above=unit * calibration.above)


# ── Edits of an arrangement, from the dicts of a log ──────────────────────────────────────────────


def nearest(upper: Sequence[float], cut: float) -> float:
    """Return the upper bound of an atom that is nearest to a cut; of two, the lower."""
    return min(upper, key=lambda end: (abs(end - cut), end))


def _merge(base: EditBase, block: Block, present: Arrangement, edit: Any) -> Arrangement:  # noqa: ARG001
    first, last = sorted((int(edit["from"]), int(edit["to"])))
    lines = present.lines(block.atoms)
    if first < 0 or last >= len(lines):
        msg = f"the column has lines 0 to {len(lines) - 1}"
        raise EditError(msg)
    ordered = block.atoms[: block.n_ordered]
    between = all(line[0] in ordered for line in (lines[first], lines[last]))
    return present.merged(block.atoms, range(first, last + 1) if between else (first, last))


def _cuts(base: EditBase, block: Block, present: Arrangement, edit: Any) -> Arrangement:  # noqa: ARG001
    if not block.n_ordered:
        msg = f"column {block.name!r} has no cuts: merge its lines instead"
        raise EditError(msg)
    used = {nearest(block.upper, cut) for cut in edit["cuts"]} if block.upper else set()
    starts = sorted(1 + block.upper.index(end) for end in used)
    return present.regrouped(block.atoms, block.n_ordered, starts)


def _join_missing(base: EditBase, block: Block, present: Arrangement, edit: Any) -> Arrangement:  # noqa: ARG001
    if block.missing < 0:
        msg = (
            f"no training row of column {block.name!r} has missing values in a bin of their own: "
            "use Binner(missing_with=...)"
        )
        raise EditError(msg)
    line = edit["to"]
    if line is not None and not 0 <= line < len(present.lines(block.atoms)):
        msg = f"the column has lines 0 to {len(present.lines(block.atoms)) - 1}"
        raise EditError(msg)
    return present.moved(block.atoms, block.atoms[block.missing], line)


def _drop(base: EditBase, block: Block, present: Arrangement, edit: Any) -> Arrangement:  # noqa: ARG001
    return present.dropped(block.atoms, base.blocks.index(block))


def _monotone(base: EditBase, block: Block, present: Arrangement, edit: Any) -> Arrangement:
    direction, index = edit["direction"], base.blocks.index(block)
    if direction is None:
        return present.directed(index, None)
    if isinstance(direction, str):
        if not block.n_ordered:
            msg = (
                f"the bins of column {block.name!r} have no order: give its levels from the least "
                f"risk to the greatest, not {direction!r}"
            )
            raise EditError(msg)
        if direction not in _DIRECTIONS:
            msg = f"direction must be 'increasing' or 'decreasing', not {direction!r}"
            raise EditError(msg)
        return present.directed(index, direction)
    if block.kind != "text":
        msg = f"column {block.name!r} has no levels: give 'increasing' or 'decreasing'"
        raise EditError(msg)
    bins, atoms = base.binner.bins_[index], []
    for level in direction:
        cell = bins.cell_of(level)
        named = [k for k, label in enumerate(block.labels) if label == level]
        held = named or [k for k, cells in enumerate(block.cells) if cell in cells]
        if not held:
            raise BinNotFoundError(block.name, level, block.labels)
        atoms += [k for k in held if k not in atoms]
    return present.directed(index, tuple(atoms))


def _points(base: EditBase, block: Block, present: Arrangement, edit: Any) -> Arrangement:
    given = {int(line): value for line, value in edit["points"]}
    n_lines = len(present.lines(block.atoms))
    for line, value in given.items():
        if not 0 <= line < n_lines:
            msg = f"the column has lines 0 to {n_lines - 1}"
            raise EditError(msg)
        if value is not None and not np.isfinite(value):
            msg = f"points must be finite, not {value!r}"
            raise EditError(msg)
        if value is not None and base.scale.is_whole and not float(value).is_integer():
            msg = f"points of this card are whole numbers, and {value!r} is none"
            raise EditError(msg)
    return present.with_points(block.atoms, given)


_EDITS = {
    "merge": _merge,
    "cuts": _cuts,
    "join_missing": _join_missing,
    "drop": _drop,
    "monotone": _monotone,
    "points": _points,
}
