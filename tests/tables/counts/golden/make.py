"""How the golden files were made: rows that were counted and saved once.

A golden file is never written again: every later version must read it. The script refuses to
overwrite.
"""

from pathlib import Path

import pandas as pd

from directrix import Binner
from directrix.tables import BinCounts
from directrix.tables.counts.storage import LAYOUT

ROWS = pd.DataFrame(
    {
        "age": [18, 25, None, 41, 41, 67, 33, 52, None, 29, 71, 38],
        "income": [-999, 1200.5, 3100, None, 0, 0, 2750, 980, -999, 4100, 1500, 2000],
        "town": [
            "Graz",
            "Wien",
            None,
            "Linz",
            "Wien",
            "Graz",
            "Wels",
            "Wien",
            "Linz",
            "",
            "Graz",
            "Wien",
        ],
        "since": pd.date_range("2020-02-27", periods=12, freq="36h"),
        "member": [True, False, None, True, True, False, False, True, None, False, True, True],
    }
)
LABELS = ["paid", "default"] * 6
WEIGHT = [1, 2, 1, 3, 1, 1, 0, 4, 1, 1, 2, 2**40]
FOLD = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]


def main() -> None:
    """Write the file beside this one."""
    binner = Binner(
        max_bins=4, min_rows=1, min_level_rows=1, special_values={"income": [-999]}
    ).fit(ROWS)
    counts = BinCounts.of(binner, ROWS, LABELS, WEIGHT, fold=FOLD)
    coarse = counts.rebin(merge={"town": [("Graz", "Wels")], "age": [(1, 2)]})
    path = Path(__file__).parent / f"v{LAYOUT.version}.counts"
    if path.exists():
        msg = f"{path} exists, and golden files are never written again"
        raise FileExistsError(msg)
    coarse.save(path)


if __name__ == "__main__":
    main()
