"""
Train from files that do not fit in memory
==========================================

``fit_source`` reads rows from where they are, part by part, and keeps none of them beyond a sample.
The example writes a table as eight files, trains a scorecard in passes over them, counts what is
read, and compares the card with one that was trained on all rows in memory.
"""

# %%
# Eight files
# -----------
# CSV files of 5,000 rows each, with texts and missing values. With the extra ``arrow``, pass a
# folder or a pattern of Parquet or CSV files instead, and with ``spark`` or ``dask`` a data frame
# of theirs.

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from directrix import Binner, ScorecardClassifier
from directrix.displays import style
from directrix.metrics import RecallAtFPR

rng = np.random.default_rng(0)


def applicants(n):
    """Return a table of applications with the outcome in the column ``bad``."""
    table = pd.DataFrame(
        {
            "income": np.exp(rng.normal(8, 0.6, n)).round(),
            "age": rng.integers(19, 75, n),
            "late_payments": rng.poisson(0.6, n),
            "home": rng.choice(["owner", "parents", "rent"], n),
        }
    )
    risk = np.abs(table.age - 47) / 8 - 1.5 * np.log(table.income / 3000)
    risk += 1.2 * table.late_payments + (table.home == "rent")
    table["income"] = table["income"].mask(rng.random(n) < 0.08)
    return table.assign(bad=risk + rng.logistic(size=n) > 5)


folder = TemporaryDirectory()
files = [Path(folder.name) / f"part{k}.csv" for k in range(8)]
for file in files:
    applicants(5_000).to_csv(file, index=False)

# %%
# A function that reads them
# --------------------------
# An iterator can be read once, and a fit makes two passes, so ``fit_source`` takes a function
# that returns a new iterator for each pass. One file is in memory at a time.

reads = []


def parts(n_files=None):
    """Yield one file after the other."""
    reads.append(0)
    for path in files[:n_files]:
        part = pd.read_csv(path)
        reads[-1] += len(part)
        yield part


metric = RecallAtFPR(0.05)
options = {"binner": Binner(max_bins=16), "max_crosses": 0}
card = ScorecardClassifier(metric, **options).fit_source(parts, target="bad", progress=False)
print(f"{len(reads)} passes, rows read in each: {reads}")
print(card.report_.summary())
print(card.operating_point_)

# %%
# Compared with a fit in memory
# -----------------------------
# Here the rows fit in memory, so that both can be compared on new rows. The recall is the same, up
# to chance.

whole = pd.concat(parts())
in_memory = ScorecardClassifier(metric, **options).fit(whole.drop(columns="bad"), whole["bad"])
new = applicants(40_000)
new_bad = new.pop("bad")
for name, model in {"in passes over files": card, "in memory": in_memory}.items():
    recall = metric.score(new_bad, model.decision_function(new))
    print(f"trained {name}: recall {recall:.3f} on new rows")

# %%
# What more files are worth
# -------------------------
# The expected recall, its interval, and the recall on new rows, by the number of files. A card of
# four columns needs few rows; the promise becomes more certain with each file.

models = {
    n_files: ScorecardClassifier(metric, **options).fit_source(
        lambda n_files=n_files: parts(n_files), target="bad", progress=False
    )
    for n_files in (1, 2, 4)
}
rows = []
for n_files, model in (models | {8: card}).items():
    expected = model.report_.expected
    truth = metric.score(new_bad, model.decision_function(new))
    rows.append((5_000 * n_files, expected.value, expected.low, expected.high, truth))
folder.cleanup()
results = pd.DataFrame(rows, columns=["rows", "expected", "low", "high", "new rows"])
print(results.round(3).to_string(index=False))
figure, ax = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
ax.fill_between(
    results["rows"], results.low, results.high, color=style.SKY, alpha=0.4, label="95 % interval"
)
ax.plot(results["rows"], results.expected, "o-", color=style.BLUE, label="expected")
ax.plot(results["rows"], results["new rows"], "x--", color=style.BLACK, label="on 40,000 new rows")
ax.set_xscale("log")
ax.set_xticks(results["rows"], [f"{n:,}" for n in results["rows"]])
ax.minorticks_off()
style.finish(ax, "rows in the files", metric.label, columns=3)
figure.suptitle("Recall promised and measured, by the number of rows")
