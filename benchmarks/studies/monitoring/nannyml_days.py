"""NannyML on days of rows, with its defaults; run by its interpreter: see `rivals.py`.

``python nannyml_days.py FOLDER COLUMNS ROWS`` reads ``reference.parquet`` and ``days.parquet``,
which have ROWS rows of each day one after another, and writes ``found.csv``.
"""

import sys
import warnings
from pathlib import Path
from typing import Any

import nannyml
import pandas as pd

warnings.simplefilter("ignore")
folder, columns, rows = Path(sys.argv[1]), sys.argv[2].split(","), int(sys.argv[3])
reference, days = (pd.read_parquet(folder / f"{name}.parquet") for name in ("reference", "days"))


def of_days(calculator: Any, kind: str) -> pd.DataFrame:
    """Return the results of the monitored days."""
    calculator.fit(reference)
    run = calculator.estimate if kind == "estimate" else calculator.calculate
    return run(days.drop(columns="y")).filter(period="analysis").to_df()


univariate = of_days(nannyml.UnivariateDriftCalculator(columns, chunk_size=rows), "calculate")
alarm = univariate.xs("alert", axis=1, level=2).any(axis=1).to_numpy()
found = [pd.DataFrame({"method": "NannyML univariate", "alarm": alarm})]
rebuilt = of_days(nannyml.DataReconstructionDriftCalculator(columns, chunk_size=rows), "calculate")
alarm = rebuilt["reconstruction_error", "alert"].to_numpy()
found.append(pd.DataFrame({"method": "NannyML reconstruction", "alarm": alarm}))
estimated = of_days(
    nannyml.CBPE(
        metrics=["precision", "recall"],
        y_pred_proba="probability",
        y_pred="predicted",
        y_true="y",
        problem_type="classification_binary",
        chunk_size=rows,
    ),
    "estimate",
)
metrics = ("precision", "recall")
alarm = estimated[[(metric, "alert") for metric in metrics]].any(axis=1).to_numpy()
values = {metric: estimated[metric, "value"].to_numpy() for metric in metrics}
found.append(pd.DataFrame({"method": "NannyML CBPE", "alarm": alarm, **values}))
for part in found:
    part["day"] = range(len(part))
pd.concat(found).assign(version=nannyml.__version__).to_csv(folder / "found.csv", index=False)
