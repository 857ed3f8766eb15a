"""The reference: one page of all public names and of THE TABLE, and a page for each name.

Nothing is listed by hand: a name is here because it is in the ``__all__`` of its room, and a metric
because it is in THE TABLE.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from directrix.metrics import TABLE, FromRates

PAGE = Path(__file__).parents[1] / "api" / "index.rst"
#: Rooms, from the names that most will need to those that few will, and what they are about.
ROOMS = {
    "directrix": ("The ten names", "Enough for most work. The tenth is ``__version__``."),
    "directrix.metrics": ("Metrics", "What a classifier is trained for, and told by."),
    "directrix.displays": ("Displays", "Pictures; they need matplotlib."),
    "directrix.export": ("Exports", "A fitted model as a file, and where there is no Python."),
    "directrix.engines": ("Engines", "Where the rows live."),
    "directrix.classifiers": ("What classifiers tell", "Beside the classifiers themselves."),
    "directrix.moments": ("Moments", "What can go wrong with a summary, and very wide ones."),
    "directrix.frontier": ("The frontier", "Lines, and the choice among them."),
    "directrix.losses": ("Losses", "A metric of all scores, smoothed."),
    "directrix.risks": ("Risks", "A metric of four numbers."),
    "directrix.solve": ("Solvers", "How we descend."),
}
#: Names that are no object with a docstring of its own.
_LEFT_OUT = {"__version__", "TABLE", "Callback", "Objective"}


def page() -> str:
    """Return the page, in reStructuredText."""
    lines = ["API", "===", "", "Everything that is public, by room.", ""]
    seen: set[int] = set()
    for room, (title, words) in ROOMS.items():
        names = list(_names(room, seen))
        lines += [title, "-" * len(title), "", f".. module:: {room}", ""]
        lines += [f"``{room}``. {words}", ""]
        if room == "directrix.metrics":
            lines += [*_table(), ""]
        lines += [".. autosummary::", "   :toctree: .", f"   :caption: {title}", ""]
        lines += [*(f"   {name}" for name in names), ""]
    return "\n".join(lines)


def _names(room: str, seen: set[int]) -> Iterator[str]:
    """Give the public names of a room that no room before it has."""
    module = import_module(room)
    for name in module.__all__:
        found = getattr(module, name)
        if name not in _LEFT_OUT and id(found) not in seen:
            seen.add(id(found))
            yield name


def _table() -> Iterator[str]:
    """Give THE TABLE: what stands for each metric, and how it is trained for."""
    yield from (".. list-table::", "   :header-rows: 1", "   :widths: auto", "")
    yield from _row("name", "example", "what it is", "better", "from moments")
    for row in TABLE:
        example = "FromRates(function)" if isinstance(row.example, FromRates) else repr(row.example)
        better = "higher" if row.example.greater_is_better else "lower"
        yield from _row(
            f"``{row.name}``", f"``{example}``", _first_line(row.example), better, row.from_moments
        )
    yield from ("", "Losses of papers that stand for them on all scores:", "")
    for row in TABLE:
        if row.losses:
            named = ", ".join(
                f"``{loss.name}`` (`~directrix.losses.{_class(loss)}`)" for loss in row.losses
            )
            yield f"- ``{row.name}``: {named}"


def _row(*cells: str) -> Iterator[str]:
    for place, cell in enumerate(cells):
        yield f"   {' ' if place else '*'} - {cell}"


def _class(of: Any) -> str:
    return type(of).__name__


def _first_line(described: Any) -> str:
    return (getdoc(type(described)) or "").splitlines()[0]


def _write(_: Sphinx, __: Any) -> None:
    PAGE.parent.mkdir(exist_ok=True)
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page():
        PAGE.write_text(page(), encoding="utf-8")


def _skip(_: Sphinx, __: str, ___: str, found: Any, *____: Any) -> bool | None:
    """Leave out what scikit-learn adds to each class: its own pages describe it."""
    return True if (getattr(found, "__module__", "") or "").startswith("sklearn") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before Sphinx looks for pages."""
    app.connect("config-inited", _write)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
