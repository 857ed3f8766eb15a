"""Merged bins and dropped columns: counts without the rows against counts of the rows.

For random tables with random binners, bins are merged and columns dropped in counts and in a second
pass over the rows. Counts, and the moments made of them, must be equal to the last bit.
``python -m benchmarks.studies.rebinning`` prints how many of them differ; ``--tables 50`` tries
fewer.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np

from benchmarks.studies.random_frames import draw_binner, draw_rows
from directrix.tables import BinCounts, LevelBins, NumberBins

TABLES = 1000


class Comparison(NamedTuple):
    """How many rebinnings were compared, and how many differ.

    Parameters
    ----------
    tables, rebinnings, cells_before, cells_after : int
    counts, thermometer, onehot : int
        Differences of counts, and of the moments of each encoding.
    """

    tables: int
    rebinnings: int
    cells_before: int
    cells_after: int
    counts: int
    thermometer: int
    onehot: int


def draw_rebinning(rng: np.random.Generator, bins: Any) -> dict[str, Any]:
    """Return random arguments of `BinCounts.rebin`; at least one column is kept."""
    cuts: dict[str, Any] = {}
    merge: dict[str, Any] = {}
    other: dict[str, Any] = {}
    drop = [column.name for column in bins[1:] if rng.random() < 0.15]
    for column in bins:
        if column.name in drop or rng.random() < 0.2:
            continue
        if isinstance(column, NumberBins):
            if rng.random() < 0.5:
                cuts[column.name] = [cut for cut in column.cuts if rng.random() < 0.5]
            else:
                ends = np.sort(rng.integers(1, column.n_ordered + 1, size=4))
                merge[column.name] = [tuple(ends[:2].tolist()), tuple(ends[2:].tolist())]
        elif isinstance(column, LevelBins):
            group = rng.integers(-2, 3, size=len(column.levels))
            levels = np.array(column.levels, dtype=object)
            merge[column.name] = [levels[group == k].tolist() for k in range(3)]
            other[column.name] = levels[group == -1].tolist()
    return {"cuts": cuts, "merge": merge, "other": other, "drop": drop}


def compare(n_tables: int, seed: int = 0) -> Comparison:
    """Return the comparison of some random tables, three rebinnings each."""
    totals = np.zeros(6, dtype=np.int64)
    for table in range(n_tables):
        rng = np.random.default_rng([seed, table])
        rows = draw_rows(rng, int(rng.integers(20, 400)))
        counts = BinCounts.of(draw_binner(rng, rows.X), rows.X, rows.y, rows.weight, fold=rows.fold)
        for _ in range(3):
            coarse = counts.rebin(**draw_rebinning(rng, counts.bins))
            again = BinCounts.of(coarse.binner, rows.X, rows.y, rows.weight, fold=rows.fold)
            totals += [
                1,
                counts.n_cells,
                coarse.n_cells,
                coarse != again,
                coarse.moments("thermometer") != again.moments("thermometer"),
                coarse.moments("onehot") != again.moments("onehot"),
            ]
    return Comparison(n_tables, *totals.tolist())


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=TABLES)
    result = compare(parser.parse_args().tables)
    print(f"tables                    {result.tables:>9,}")
    print(f"rebinnings                {result.rebinnings:>9,}")
    print(f"cells before              {result.cells_before:>9,}")
    print(f"cells after               {result.cells_after:>9,}")
    print(f"different counts          {result.counts:>9,}")
    print("different moments")
    print(f"  of thermometers         {result.thermometer:>9,}")
    print(f"  of one-hot indicators   {result.onehot:>9,}")


if __name__ == "__main__":
    main()
