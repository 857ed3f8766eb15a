"""API reference: a page that lists all public names and THE TABLE, and a page for each name.

The lists are generated: a name is listed because it is in the ``__all__`` of its package, and a
metric because it is in THE TABLE.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from tables import metric_cells

PAGE = Path(__file__).parents[1] / "api" / "index.rst"
#: Packages in the order of the page, with a title and a sentence.
ROOMS = {
    "directrix": ("Main package", "The classifiers and summaries that most users need."),
    "directrix.metrics": ("Metrics", "What a classifier is trained for and evaluated by."),
    "directrix.datasets": ("Data sets", "Three small real tables, which ship with the package."),
    "directrix.displays": ("Displays", "Figures; they need matplotlib."),
    "directrix.documents": ("Documents", "Pages about a card, to read, print and sign."),
    "directrix.monitoring": ("Monitoring", "Models in use: summaries of days, checks, repair."),
    "directrix.export": ("Exports", "A fitted model as a file, and for use without Python."),
    "directrix.engines": ("Engines", "Summaries of rows wherever they are stored."),
    "directrix.editing": ("Editing", "Cards that are edited by hand, with the price of each edit."),
    "directrix.estimators": ("Results of classifiers", "Attributes of fitted classifiers."),
    "directrix.moments": ("Moments", "Score histograms, and what summaries raise."),
    "directrix.tables": ("Tables", "Raw tables, and the bins of their columns."),
    "directrix.linear": ("Frontier", "Candidates of linear models from class moments."),
    "directrix.moments.risks": (
        "Risks",
        "Metrics as functions of the means and variances of scores.",
    ),
    "directrix.papers": ("Papers", "Classifiers of five papers, in their units."),
}
#: Names without a docstring.
_LEFT_OUT = {"__version__", "TABLE", "Callback", "Objective"}


def page() -> str:
    """Return the page, in reStructuredText."""
    lines = ["API", "===", "", "All public names, by package.", ""]
    listed: set[int] = set()
    for room, (title, sentence) in ROOMS.items():
        names = list(_names(room, listed))
        lines += [title, "-" * len(title), "", f".. module:: {room}", ""]
        lines += [f"``{room}``. {sentence}", ""]
        if room == "directrix.metrics":
            lines += [*_table(), ""]
        lines += [".. autosummary::", "   :toctree: .", f"   :caption: {title}", ""]
        lines += [*(f"   {name}" for name in names), ""]
    return "\n".join(lines)


def _names(room: str, listed: set[int]) -> Iterator[str]:
    """Yield the public names of a package that no package before it has."""
    module = import_module(room)
    for name in module.__all__:
        member = getattr(module, name)
        if name not in _LEFT_OUT and id(member) not in listed:
            listed.add(id(member))
            yield name


def _table() -> Iterator[str]:
    """Yield THE TABLE: every metric by name."""
    yield from (".. list-table::", "   :header-rows: 1", "   :widths: auto", "")
    for cells in metric_cells():
        for k, cell in enumerate(cells):
            # A literal of Markdown is one backtick, a literal of reStructuredText two.
            text = f"`{cell}`" if cell.startswith("`") else cell
            yield f"   {' ' if k else '*'} - {text}"


def _write(_: Sphinx, __: Any) -> None:
    PAGE.parent.mkdir(exist_ok=True)
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page():
        PAGE.write_text(page(), encoding="utf-8")


def _skip(_: Sphinx, __: str, ___: str, member: Any, *____: Any) -> bool | None:
    """Leave out the members that scikit-learn adds, which its own pages describe."""
    return True if (getattr(member, "__module__", "") or "").startswith("sklearn") else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the page before Sphinx looks for pages."""
    app.connect("config-inited", _write)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
