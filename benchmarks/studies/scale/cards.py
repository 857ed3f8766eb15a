"""Scorecards in three passes over 20,000,000 rows of a table with texts and missing values.

Rows are those of census_income, drawn with replacement; a little noise is added to its numbers, so
that rows are not all copies. Test rows come from people that no training row comes from, without
noise. Each fit runs in a process of its own. ``python -m benchmarks.studies.scale.cards FOLDER``
writes the rows into a folder, measures what ``cards.csv`` does not have of this commit, and writes
``cards.md``; ``--quick`` takes few rows and tracks nothing; ``--report`` writes the report only.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from benchmarks.harness.markdown import header, line, write_report
from benchmarks.harness.record import Record, commit
from benchmarks.harness.tables import table_folder
from benchmarks.studies.scale.card_fit import TARGET, TEST

FILES, PER_FILE, TEST_ROWS = 40, 500_000, 100_000
#: Share of people whose rows are training rows, and noise in standard deviations.
SHARE, NOISE = 0.8, 0.02
RECORD = Record(
    Path(__file__).with_suffix(".csv"),
    (
        *("commit", "task", "rows", "AUC", "recall at FPR 5 %", "megabytes"),
        *("times the bytes were read", "CPU us a row", "chosen"),
    ),
    key=("commit", "task", "rows"),
)
REPORT = Path(__file__).with_suffix(".md")
#: Each task, and the number of files that it reads.
PLAN = (
    ("bare scan", FILES),
    ("card, Arrow", FILES),
    ("card in memory", 2),
    ("LightGBM in memory", 2),
    ("card, Arrow", 2),
    ("card from counts, Arrow", FILES),
    ("card without correction, Arrow", 2),
    ("card, up to 4 corrections, Arrow", 2),
    ("card, Spark", 4),
    ("card, Spark", FILES),
)
QUICK = (("bare scan", 1), ("card from counts, Arrow", 1))


def write(folder: Path, files: int = FILES, per_file: int = PER_FILE) -> None:
    """Write the files that are not there yet."""
    table = parquet.read_table(table_folder() / "census_income.parquet")
    order = np.random.default_rng(0).permutation(table.num_rows)
    train, test = np.split(order, [int(SHARE * len(order))])
    for number in range(files):
        path = folder / f"part-{number:04d}.parquet"
        if not path.exists():
            rng = np.random.default_rng(1 + number)
            rows = table.take(pa.array(rng.choice(train, per_file)))
            _replace(path, _with_noise(rows, rng))
    if not (folder / TEST).exists():
        rng = np.random.default_rng(0)
        _replace(folder / TEST, _with_noise(table.take(pa.array(test[:TEST_ROWS])), rng, 0.0))


def _replace(path: Path, table: Any) -> None:
    beside = path.with_suffix(".writing")
    parquet.write_table(table, beside, compression="snappy")
    beside.rename(path)


def _with_noise(table: Any, rng: np.random.Generator, noise: float = NOISE) -> Any:
    """Return a table whose numbers are moved a little; zeros stay, they mean that there is none."""
    columns = []
    for name in table.column_names:
        column = table[name].combine_chunks()
        if name != TARGET and column.type in {pa.int64(), pa.float64(), pa.int32()}:
            values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
            moved = values + rng.normal(0.0, noise * np.nanstd(values), len(values))
            values = np.where(values == 0.0, values, np.round(moved, 1))
            column = pa.array(values, pa.float32(), from_pandas=True)
        columns.append(column)
    return pa.table(columns, names=table.column_names)


def measure(task: str, folder: Path, files: int, per_file: int = PER_FILE) -> tuple[object, ...]:
    """Run a task in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.studies.scale.card_fit", task]
    command += [str(folder), str(files)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)  # noqa: S603 - our own
    result = json.loads(done.stdout.splitlines()[-1])
    rows = files * per_file
    quality = [f"{result[name]:.4f}" if name in result else "" for name in ("AUC", "recall")]
    cost = (
        f"{result['megabytes']:.0f}",
        f"{result['read']:.2f}",
        f"{1e6 * result['cpu'] / rows:.2f}",
    )
    return (commit(), task, rows, *quality, *cost, result.get("chosen", ""))


def lines() -> list[str]:
    """Return the report on everything that was measured."""
    text = [
        "# Scorecards in three passes",
        "",
        "Rows of census_income, drawn with replacement, with noise in their numbers: 40 columns,",
        f"33 of them texts. Test rows, {TEST_ROWS:,} at most, are of other people. Cards are",
        "trained for the AUC. CPU is that of a process and its children, all passes and the search",
        "on the sample included; memory on Spark is that of the driver's Python: workers read and",
        "count elsewhere.",
        "",
        *header(*RECORD.columns),
    ]
    return [*text, *(line(*(row[name] for name in RECORD.columns)) for row in RECORD.rows())]


def main() -> None:
    """Measure what is missing, print and track."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--report", action="store_true")
    options = parser.parse_args()
    if options.quick:
        write(options.folder, 1, 20_000)
        for task, files in QUICK:
            print(*measure(task, options.folder, files, 20_000), sep=" | ", flush=True)
        return
    if not options.report:
        write(options.folder)
        for task, files in PLAN:
            if (commit(), task, str(files * PER_FILE)) not in RECORD.done():
                RECORD.append([measure(task, options.folder, files)])
    write_report(REPORT, lines())


if __name__ == "__main__":
    main()
