"""One fit of `cards`: ``python -m benchmarks.studies.scale.card_fit NAME FOLDER FILES``.

Prints a line of JSON: CPU seconds with those of its children, its largest size in megabytes, how
often it read the bytes of the files, and how well it does on the test rows.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import concat_tables, dataset, parquet
from sklearn.metrics import roc_auc_score

from benchmarks.studies.two_passes_fit import bytes_read, cpu_seconds, on_spark
from directrix import ScorecardClassifier
from directrix.metrics import RecallAtFPR

TARGET, POSITIVE, TEST = "income", "50000+.", "test.parquet"
RECALL = RecallAtFPR(0.05)


def scan(files: list[str]) -> None:
    """Read all columns, and do nothing with them."""
    for batch in dataset.dataset(files).to_batches():
        batch.num_rows  # noqa: B018 - that is all


def card(source: Any, **options: Any) -> Any:
    """Fit a card in passes over a source."""
    refine = options.pop("refine", 1)
    model = ScorecardClassifier("auc", **options)
    return model.fit_source(source, target=TARGET, refine=refine, progress=False)


def in_memory(files: list[str]) -> Any:
    """Fit a card to rows in memory."""
    table = concat_tables(map(parquet.read_table, files))
    X, y = table.drop_columns([TARGET]), np.array(table[TARGET].to_pylist())
    return ScorecardClassifier("auc").fit(X, y)


class Trees:
    """LightGBM with its defaults and 300 trees; texts are its categories."""

    classes_ = np.array([False, True])

    def __init__(self, files: list[str]) -> None:
        from lightgbm import LGBMClassifier  # noqa: PLC0415 - optional

        frame = concat_tables(map(parquet.read_table, files)).to_pandas()
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
        frame = frame.drop(columns=[TARGET], errors="ignore")
        return frame.assign(
            **{name: frame[name].astype(dtype) for name, dtype in self.levels.items()}
        )


TASKS: dict[str, Callable[[list[str]], Any]] = {
    "bare scan": scan,
    "card, Arrow": card,
    "card without correction, Arrow": lambda files: card(files, refine=0),
    "card, up to 4 corrections, Arrow": lambda files: card(files, refine=4),
    "card from counts, Arrow": lambda files: card(files, learn_from="counts"),
    "card, Spark": lambda files: on_spark(files, card),
    "card in memory": in_memory,
    "LightGBM in memory": Trees,
}


def main() -> None:
    """Run the task and print what it took."""
    warnings.simplefilter("ignore")
    name, folder, count = sys.argv[1:]
    files = sorted(map(str, Path(folder).glob("part-*.parquet")))[: int(count)]
    before, spent = bytes_read(), cpu_seconds()
    model = TASKS[name](files)
    result = {"cpu": cpu_seconds() - spent, "read": (bytes_read() - before) / _size(files)}
    largest = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    result["megabytes"] = int(largest[1]) / 1024 if largest else 0.0
    if model is not None:
        test = parquet.read_table(Path(folder) / TEST)
        positive = np.array(test[TARGET].to_pylist()) == POSITIVE
        scores = model.decision_function(test.drop_columns([TARGET]))
        if model.classes_[-1] not in (POSITIVE, True):
            scores = -scores
        result["AUC"] = float(roc_auc_score(positive, scores))
        result["recall"] = float(RECALL.score(positive, scores))
        result["chosen"] = model.report_.chosen if hasattr(model, "report_") else ""
    print(json.dumps(result))


def _size(files: list[str]) -> int:
    return sum(Path(file).stat().st_size for file in files)


if __name__ == "__main__":
    main()
