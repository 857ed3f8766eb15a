"""CPU time of a fit: this code against another checkout, alternating in one run.

``python -m benchmarks.honesty.cost --against ../other`` fits `DirectClassifier` to the sets of
`benchmarks.speed.direct` with this code and with that of the other checkout, in processes that
alternate, and writes the median ratios to ``cost.csv``.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.honesty.claims import commit

SETS = ("heart", "diabetes", "svmguide1", "spambase")
METRICS = ("error", "recall@fpr=0.01", "auc")
ROUNDS = 3
_FIT = """
import json, sys, warnings
from time import process_time
warnings.simplefilter("ignore")
from benchmarks.arena.protocol import rows_of
from directrix import DirectClassifier
X, y = rows_of(sys.argv[1])
spent = {}
for metric in sys.argv[2:]:
    start = process_time()
    DirectClassifier(metric).fit(X, y)
    spent[metric] = process_time() - start
print(json.dumps(spent))
"""


def spent(checkout: Path, name: str) -> dict[str, float]:
    """Return the CPU seconds of a fit for each metric, by the code of a checkout."""
    environment = os.environ | {
        "PYTHONPATH": f"{checkout / 'src'}{os.pathsep}{checkout}",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, "-c", _FIT, name, *METRICS]
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    return dict(json.loads(found.stdout))


def main() -> None:
    """Measure, print and track."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--against", type=Path, required=True)
    other = parser.parse_args().against.resolve()
    here = Path(__file__).resolve().parents[2]
    with Path(__file__).with_suffix(".csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("commit", "set", "metric", "CPU after / before"))
        for name in SETS:
            rounds = [(spent(here, name), spent(other, name)) for _ in range(ROUNDS)]
            for metric in METRICS:
                ratio = median(ours[metric] / theirs[metric] for ours, theirs in rounds)
                writer.writerow((commit(), name, metric, f"{ratio:.2f}"))
                print(f"{name}, {metric}: {ratio:.2f}", flush=True)


if __name__ == "__main__":
    main()
