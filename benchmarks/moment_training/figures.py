"""The figures of Ghanbari, Li and Scheinberg 2019, drawn again.

``python -m benchmarks.moment_training.figures`` draws ``figure_4_1.png`` to ``figure_4_4.png``,
writes what they show to ``figures.csv``, and brings ``tables.md`` up to date. See `margins` and
`segments`. The paper names the sets of Figures 4.1 and 4.2; of 4.3 it names svm3 and colon.
"""

from __future__ import annotations

from benchmarks.moment_training import margins, report, report_of_figures, segments
from benchmarks.moment_training.report_of_figures import Shown
from benchmarks.moment_training.segments import Segment

SETS_OF_MARGINS = {"4.1": ("a9a",), "4.2": ("diabetes", "poker", "svm3", "segment")}
SETS_OF_PATHS = ("diabetes", "svm3", "segment", "colon")
PATHS = {"4.3": "accuracy", "4.4": "AUC"}


def shown_by_margins(figure: str) -> list[Shown]:
    """Return the distances from normal of a figure."""
    return [
        Shown(figure, name, f"{when}, {kind}", value)
        for name in SETS_OF_MARGINS[figure]
        for (when, kind), value in margins.measured(name).items()
    ]


def shown_by_paths(figure: str, found: dict[str, tuple[Segment, Segment]]) -> list[Shown]:
    """Return the closeness of risk and loss of a figure."""
    return [
        Shown(figure, name, f"{model}, {what}", getattr(own, what))
        for name, both in found.items()
        for model, own in zip(("risk", "loss"), both, strict=True)
        for what in ("gap", "correlation")
    ]


def main() -> None:
    """Draw, write and report."""
    shown: list[Shown] = []
    for figure, names in SETS_OF_MARGINS.items():
        margins.draw(names, f"figure_{figure.replace('.', '_')}.png")
        shown += shown_by_margins(figure)
    for figure, metric in PATHS.items():
        found = {name: segments.segments(name, metric) for name in SETS_OF_PATHS}
        segments.draw(found, metric, f"figure_{figure.replace('.', '_')}.png")
        shown += shown_by_paths(figure, found)
    report_of_figures.write(shown)
    report.main()


if __name__ == "__main__":
    main()
