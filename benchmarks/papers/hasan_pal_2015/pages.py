"""What the documentation says of the paper's tables and claims, written from the records.

``python -m benchmarks.papers.hasan_pal_2015.pages`` writes the block between two comments in
``docs/theory/beta-bernoulli.md``; so does a run of the tables. It measures nothing. A test compares
the page with what it would write.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.harness.markdown import header, line
from benchmarks.papers.hasan_pal_2015.methods import REVIEWS, expected
from benchmarks.papers.hasan_pal_2015.noise import SETS
from benchmarks.papers.hasan_pal_2015.report import LOGISTIC, SVM, Measured, judged

PAGE = Path(__file__).parents[3] / "docs" / "theory" / "beta-bernoulli.md"
_BEGIN = "<!-- tables of the paper: made by benchmarks.papers.hasan_pal_2015.pages -->\n"
_END = "<!-- tables of the paper: end -->"
_PRINTED = ("LR", "SVM", "SLA", "BBLR1", "BBLR2", "BBLR3", "BBLR4")
_OURS = (
    *("BBLR1, lbfgs", "BBLR2, lbfgs", "BBLR4, lbfgs", "BBLR4, lbfgs, tuned"),
    *("robust", "robust, tuned"),
)
#: Description, protocol, table of the printed figures, its sets, digits.
_ROWS = (
    ("training errors, sum of four sets (table 3)", "train", 3, SETS, 0),
    ("test error, clean, mean of four sets, % (table 5)", "clean", 5, SETS, 1),
    ("test error, far outliers, % (table 7)", "outl", 7, SETS, 1),
    ("test error, flipped labels, %", "flip", 0, SETS, 1),
    ("test error, w8a, % (table 10)", "large", 10, ("w8a",), 2),
    ("test error, mean of four sets of reviews, % (table 12)", "reviews", 12, REVIEWS, 1),
)


def block(measured: Measured) -> list[str]:
    """Return the block: figures by table, then the claims of the abstract."""
    columns = "printed", f"{LOGISTIC}; {SVM}", "the paper's methods", "ours"
    lines = header("", *columns)
    for words, protocol, table, sets, digits in _ROWS:
        cells = (
            _printed(table, sets, digits),
            *(
                "; ".join(_measured(measured, protocol, sets, names, digits)) or "not measured"
                for names in ((LOGISTIC, SVM), _PRINTED[2:], _OURS)
            ),
        )
        lines.append(line(words, *cells))
    lines += ["", *header("claim of the abstract", "here", "figure")]
    return lines + [line(one.claim, one.verdict, one.figure) for one in judged(measured)]


def _printed(table: int, sets: Sequence[str], digits: int) -> str:
    known = expected()
    parts = []
    for method in _PRINTED:
        values = [float(known[table, s, method]) for s in sets if (table, s, method) in known]
        if len(values) == len(sets):
            value = sum(values) if table == 3 else np.mean(values)
            parts.append(f"{method} {value:.{digits}f}")
    return "; ".join(parts) or "-"


def _measured(
    measured: Measured, protocol: str, sets: Sequence[str], methods: Sequence[str], digits: int
) -> Iterator[str]:
    most = max(len(measured.repeats(protocol, sets, m)) for m in (LOGISTIC, SVM))
    for method in methods:
        repeats = measured.repeats(protocol, sets, method)
        if repeats:
            mean = measured.total if protocol == "train" else measured.mean
            value = f"{method} {mean(protocol, sets, method, repeats):.{digits}f}"
            fewer = f" ({len(repeats)} of {most} repeats)" if len(repeats) < most else ""
            yield f"{value}{fewer}"


def embedded(measured: Measured) -> str:
    """Return the text of the page with its block made anew."""
    before, rest = PAGE.read_text(encoding="utf-8").split(_BEGIN)
    made = "\n".join(block(measured))
    return f"{before}{_BEGIN}\n{made}\n\n{_END}{rest.split(_END)[1]}"


def main() -> None:
    """Write the block."""
    PAGE.write_text(embedded(Measured()), encoding="utf-8")


if __name__ == "__main__":
    main()
