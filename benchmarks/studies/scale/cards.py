"""Scorecards in passes over 20,000,000 rows of a table with texts and missing values.

Rows are those of census_income, drawn with replacement; a little noise is added to its numbers, so
that rows are not all copies. Test rows come from people that no training row comes from, without
noise. Each fit runs in a process of its own. ``python -m benchmarks.studies.scale.cards --folder
FOLDER`` writes the rows into a folder and measures what ``cards.csv`` does not have of this commit;
``--quick`` takes few rows and tracks nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from sklearn.metrics import roc_auc_score

from benchmarks.harness.data import table_folder
from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, commit
from benchmarks.harness.runner import Part, Study, isolated
from benchmarks.studies.scale.file_fit import Fit, measured_fit, on_spark, scan
from directrix import ScorecardClassifier
from directrix.metrics import RecallAtFPR

TARGET, POSITIVE, TEST = "income", "50000+.", "test.parquet"
RECALL = RecallAtFPR(0.05)
FILES, PER_FILE, TEST_ROWS = 40, 500_000, 100_000
#: Share of people whose rows are training rows, and noise in standard deviations.
SHARE, NOISE = 0.8, 0.02
#: Each task, and the number of files that it reads.
PLAN = (
    ("bare scan", FILES),
    ("card, Arrow", FILES),
    ("card in memory", 2),
    ("LightGBM in memory", 2),
    ("card, Arrow", 2),
    ("card from counts, Arrow", FILES),
    ("card, Spark", 4),
    ("card, Spark", FILES),
)


def write(folder: Path, files: int = FILES, per_file: int = PER_FILE) -> None:
    """Write the files that are not there yet."""
    people = parquet.read_table(table_folder() / "census_income.parquet")
    order = np.random.default_rng(0).permutation(people.num_rows)
    train, test = np.split(order, [int(SHARE * len(order))])
    for number in range(files):
        path = folder / f"part-{number:04d}.parquet"
        if not path.exists():
            rng = np.random.default_rng(1 + number)
            rows = people.take(pa.array(rng.choice(train, per_file)))
            _replace(path, _with_noise(rows, rng))
    if not (folder / TEST).exists():
        rng = np.random.default_rng(0)
        _replace(folder / TEST, _with_noise(people.take(pa.array(test[:TEST_ROWS])), rng, 0.0))


def _replace(path: Path, rows: Any) -> None:
    beside = path.with_suffix(".writing")
    parquet.write_table(rows, beside, compression="snappy")
    beside.rename(path)


def _with_noise(rows: Any, rng: np.random.Generator, noise: float = NOISE) -> Any:
    """Return a table whose numbers are moved a little; zeros stay, they mean that there is none."""
    columns = []
    for name in rows.column_names:
        column = rows[name].combine_chunks()
        if name != TARGET and column.type in {pa.int64(), pa.float64(), pa.int32()}:
            values = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
            moved = values + rng.normal(0.0, noise * np.nanstd(values), len(values))
            values = np.where(values == 0.0, values, np.round(moved, 1))
            column = pa.array(values, pa.float32(), from_pandas=True)
        columns.append(column)
    return pa.table(columns, names=rows.column_names)


# ── one fit, in a process of its own ──────────────────────────────────────────────────────────────


def card(source: Any, **options: Any) -> Any:
    """Fit a card in passes over a source."""
    return ScorecardClassifier("auc", **options).fit_source(source, target=TARGET, progress=False)


def in_memory(files: list[str]) -> Any:
    """Fit a card to rows in memory."""
    rows = pa.concat_tables(map(parquet.read_table, files))
    return ScorecardClassifier("auc").fit(
        rows.drop_columns([TARGET]), np.array(rows[TARGET].to_pylist())
    )


class Trees:
    """LightGBM with its defaults and 300 trees; texts are its categories."""

    classes_ = np.array([False, True])

    def __init__(self, files: list[str]) -> None:
        from lightgbm import LGBMClassifier  # noqa: PLC0415 - optional

        frame = pa.concat_tables(map(parquet.read_table, files)).to_pandas()
        self.levels = {
            name: frame[name].astype("category").dtype
            for name in frame.columns
            if frame[name].dtype.kind not in "fi" and name != TARGET
        }
        self.model = LGBMClassifier(n_estimators=300, n_jobs=1, verbose=-1)
        self.model.fit(self._frame(frame), frame[TARGET] == POSITIVE)

    def decision_function(self, X: Any) -> Any:
        """Return log-odds."""
        return self.model.predict(self._frame(X.to_pandas()), raw_score=True)

    def _frame(self, frame: Any) -> Any:
        return frame.drop(columns=[TARGET], errors="ignore").astype(self.levels)


TASKS: dict[str, Fit] = {
    "bare scan": scan,
    "card, Arrow": card,
    "card from counts, Arrow": lambda files: card(files, learn_from="counts"),
    "card, Spark": lambda files: on_spark(files, card),
    "card in memory": in_memory,
    "LightGBM in memory": Trees,
}


def one(task: str, folder: str, count: int) -> dict[str, Any]:
    """Return what a task takes in this process, and how well it does on the test rows."""
    model, taken = measured_fit(TASKS[task], folder, "part-*.parquet", count)
    if model is not None:
        test = parquet.read_table(Path(folder) / TEST)
        positive = np.array(test[TARGET].to_pylist()) == POSITIVE
        scores = model.decision_function(test.drop_columns([TARGET]))
        scores = scores if model.classes_[-1] in (POSITIVE, True) else -scores
        taken["AUC"] = float(roc_auc_score(positive, scores))
        taken["recall"] = float(RECALL.score(positive, scores))
    return taken


# ── the study ─────────────────────────────────────────────────────────────────────────────────────


def plan(args: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    """Write the rows; yield commit, task, rows and the folder."""
    write(args.folder)
    FOLDER.append(args.folder)
    yield from ((commit(), task, files * PER_FILE) for task, files in PLAN)


#: Where the rows are, once they are written.
FOLDER: list[Path] = []


def measure(code: str, task: str, rows: int, per_file: int = PER_FILE) -> list[tuple[object, ...]]:
    """Run a task in a process of its own."""
    result = isolated(one, task, FOLDER[0], rows // per_file)
    quality = [f"{result[name]:.4f}" if name in result else "" for name in ("AUC", "recall")]
    cost = (f"{result['megabytes']:.0f}", f"{result['read']:.2f}")
    spent = f"{1e6 * result['cpu'] / rows:.2f}"
    return [(code, task, rows, *quality, *cost, spent, result["chosen"])]


def try_out(args: argparse.Namespace) -> None:
    """Measure two tasks on few rows, and print."""
    write(args.folder, 1, 20_000)
    FOLDER.append(args.folder)
    for task in ("bare scan", "card from counts, Arrow"):
        print(*measure(commit(), task, 20_000, 20_000)[0], sep=" | ", flush=True)


def lines(rows: list[Row]) -> list[str]:
    """Return the report on everything that was measured."""
    return [
        "# Scorecards in passes",
        "",
        "Rows of census_income, drawn with replacement, with noise in their numbers: 40 columns,",
        f"33 of them texts. Test rows, {TEST_ROWS:,} at most, are of other people. Cards are",
        "trained for the AUC. CPU is that of a process and its children, all passes and the search",
        "on the sample included; memory on Spark is that of the driver's Python: workers read and",
        "count elsewhere.",
        *table(" | ".join(RECORD.columns), (row.values() for row in rows)),
    ]


RECORD = Record.beside(
    __file__,
    "commit, task, rows, AUC, recall at FPR 5 %, megabytes, times the bytes were read, "
    "CPU us a row, chosen",
    "commit, task, rows",
)
STUDY = Study(
    [Part(RECORD, plan, measure)],
    lines,
    quick="few rows, nothing is tracked",
    options={"--folder": {"type": Path, "help": "of the rows"}},
    try_out=try_out,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
