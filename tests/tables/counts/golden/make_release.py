"""How the golden file of a release was made: rows of two sites that were released and saved once.

A golden file is never written again: every later version must read it. The script refuses to
overwrite.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from directrix.tables import BinCounts, TableSketch


def rows(n: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows that depend on no generator of random numbers."""
    k = np.arange(n)
    town = np.array(["Graz", "Linz", "Wels", "Wien"])[k * k % 7 % 4]
    return pd.DataFrame({"age": 18 + 7 * k % 61, "town": town}), k * 5 % 11 < 3


def main() -> None:
    """Write the file beside this one."""
    path = Path(__file__).parent / "v1.release"
    if path.exists():
        msg = f"{path} exists, and golden files are never written again"
        raise FileExistsError(msg)
    agreed = TableSketch.of(rows(1000)[0], site="agreed").binner(max_bins=6)
    first = BinCounts.of(agreed, *rows(600)).release(min_cell=10, site="north", period="2026")
    second = BinCounts.of(agreed, *rows(400)).release(min_cell=5, site="south", period="2026")
    (first + second).save(path)


if __name__ == "__main__":
    main()
