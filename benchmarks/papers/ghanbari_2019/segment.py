"""How many rows of segment the printed figures are of: 210, as Table 4.4 says, or all 2,310.

A fold of 210 rows has 42 to test on, so its accuracy is a multiple of 1/42. Of 20 folds with m
errors between them, the mean is 1 - m / 840 and the deviation is least where no fold has more than
one error above another. A printed mean and deviation that no m has are not of 210 rows.
"""

from __future__ import annotations

import numpy as np

from benchmarks.harness.markdown import header, line
from benchmarks.papers.ghanbari_2019.results import Paper, Results

_FOLDS, _TEST_ROWS = 20, 42
FEW, MANY = "segment", "segment, 2310 rows"
_CELLS = {
    "accuracy": (("4.5", "F_n01"), ("4.5", "F_log"), ("4.7", "LDA"), ("4.7", "ADAM")),
    "AUC": (("4.6", "F_nrank"), ("4.6", "F_hinge")),
}


def least_deviation(mean: float, *, half_unit: float = 0.5e-4) -> float:
    """Return the least deviation of 20 accuracies of 42 rows whose mean is printed so.

    Infinite if no number of errors has that mean to the printed digits.
    """
    least = np.inf
    for errors in range(_FOLDS * _TEST_ROWS + 1):
        if abs(1.0 - errors / (_FOLDS * _TEST_ROWS) - mean) <= half_unit:
            common, more = divmod(errors, _FOLDS)
            folds = np.repeat([common + 1, common], [more, _FOLDS - more]) / _TEST_ROWS
            least = min(least, float(folds.std()))
    return least


def possible(mean: float, deviation: float) -> bool:
    """Return whether 20 folds of 42 test rows can have this mean and deviation as printed.

    The mean is allowed two digits in the fourth place, since folds of other sizes would move it.
    """
    return least_deviation(mean, half_unit=6.5e-4) <= deviation + 0.5e-4


def lines(results: Results, paper: Paper) -> list[str]:
    """Return the part of ``tables.md`` on the rows of segment."""
    if not results.has(MANY, "accuracy", "F_n01"):
        return []
    text = ["", "## How many rows has segment?", ""]
    text += header(
        *("table", "method", "printed", "210 rows", "2,310 rows"), "can folds of 42 have it?"
    )
    impossible = []
    for metric, cells in _CELLS.items():
        for table, method in cells:
            printed = paper.cell(table, "segment", method)
            mean, deviation = map(float, printed.split("±"))
            can = "-"
            if metric == "accuracy":
                can = "yes" if possible(mean, deviation) else "no"
                impossible += [method] * (can == "no")
            both = (results.cell(name, metric, method) for name in (FEW, MANY))
            text.append(line(table, method, printed, *both, can))
    text += [
        "",
        (
            f"Table 4.4 says 210 rows. The accuracies of {' and '.join(impossible)} cannot be of "
            "210 rows: twenty folds of 42 test rows with so few errors have a deviation of at "
            f"least {least_deviation(0.9978, half_unit=6.5e-4):.4f}. That of LDA is of 210 rows: "
            "all LDA figures of Table 4.7 are those of Table 12 of the report of 2018. So the "
            "row mixes both. The tables above have the 210 rows that the paper names, as the "
            "report of 2018 has, and all 2,310 stand here."
        ),
    ]
    return text
