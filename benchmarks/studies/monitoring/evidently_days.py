"""Evidently's DataDriftPreset on days of rows, with its defaults; run by its interpreter.

``python evidently_days.py FOLDER COLUMNS ROWS`` reads ``reference.parquet`` and ``days.parquet``,
which have ROWS rows of each day one after another, and writes ``found.csv``: see `rivals.py`.
"""

import sys
import warnings
from pathlib import Path

import evidently
import pandas as pd
from evidently import Report
from evidently.presets import DataDriftPreset

warnings.simplefilter("ignore")
folder, columns, rows = Path(sys.argv[1]), sys.argv[2].split(","), int(sys.argv[3])
reference, days = (pd.read_parquet(folder / f"{name}.parquet") for name in ("reference", "days"))
found = []
for day in range(len(days) // rows):
    current = days[columns].iloc[day * rows : (day + 1) * rows]
    result = Report([DataDriftPreset()]).run(current, reference[columns]).dict()
    counted = next(m for m in result["metrics"] if m["metric_name"].startswith("DriftedColumns"))
    drifted = counted["value"]["count"]
    found.append(("Evidently, half the columns", drifted >= 0.5 * len(columns), day))
    found.append(("Evidently, any column", drifted > 0, day))
frame = pd.DataFrame(found, columns=["method", "alarm", "day"])
frame.assign(version=evidently.__version__).to_csv(folder / "found.csv", index=False)
