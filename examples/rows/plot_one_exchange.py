"""
Fit one scorecard for twelve institutions that share no rows
============================================================

Twelve folders stand for twelve institutions. Each writes two small files: a sketch of its columns,
from which all get the same bins, and a release of its counts, in which no group has fewer than ten
rows of a class. The coordinator joins the releases and fits a card, which is compared with the card
of all rows in one place, and with the cards that institutions could fit alone.
"""

# %%
# Twelve folders
# --------------
# The institutions are of different size, and their rows differ too: some have older customers.

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from directrix import ScorecardClassifier
from directrix.displays import style
from directrix.exceptions import TooFewRowsError
from directrix.tables import BinCounts, ReleasedCounts, TableSketch

rng = np.random.default_rng(0)


def rows_of(n, older=0.0):
    """Return rows of an institution, and whether each was late with a payment."""
    age = np.clip(rng.normal(45 + older, 14, n), 18, 90).round()
    home = rng.choice(["own", "rent", "ward", "boat"], n, p=[0.5, 0.4, 0.09, 0.01])
    income = np.where(rng.random(n) < 0.05, np.nan, rng.lognormal(7.5, 0.6, n).round())
    debt = rng.lognormal(6, 1.2, n).round()
    odds = 0.05 * (45 - age) + 1.2 * (home == "rent") + 0.5 * np.log(debt / 400) - 1.5
    odds = odds - 0.8 * np.nan_to_num(np.log(income / 1800))
    X = pd.DataFrame({"age": age, "home": home, "income": income, "debt": debt})
    return X, rng.logistic(size=n) < odds


folder = TemporaryDirectory()
sizes = [45, 300, 400, 500, 600, 800, 1000, 1200, 1500, 2000, 3000, 5000]
sites = {f"site-{k:02}": rows_of(n, 2.0 * k - 12.0) for k, n in enumerate(sizes)}
for site in sites:
    (Path(folder.name) / site).mkdir()

# %%
# Agree on bins
# -------------
# Each site writes a sketch; the sum of all gives the bins.

for site, (X, _) in sites.items():
    sketch = TableSketch.of(X, min_cell=10, site=site, period="2026")
    sketch.save(Path(folder.name) / site / "columns.sketch")

files = sorted(Path(folder.name).glob("*/columns.sketch"))
agreed = TableSketch.load(files[0])
for file in files[1:]:
    agreed = agreed + TableSketch.load(file)
binner = agreed.binner(max_bins=10)
print(agreed)
print(binner.table())

# %%
# Release counts
# --------------
# One site is too small, and says so; one sends its file twice, which counts once.

for site, (X, y) in sites.items():
    counts = BinCounts.of(binner, X, y)
    own = Path(folder.name) / site
    try:
        release = counts.release(
            min_cell=10, site=site, period="2026", ledger=own / "releases.ledger"
        )
    except TooFewRowsError as error:
        print(f"{site}: {error}")
        continue
    release.save(own / "counts.release")
release.save(own / "counts-again.release")

files = sorted(Path(folder.name).glob("*/*.release"))
pooled = ReleasedCounts.load(files[0])
for file in files[1:]:
    pooled = pooled + ReleasedCounts.load(file)
print(f"{len(files)} files, {sum(file.stat().st_size for file in files):,} bytes")
print(pooled)

# %%
# Compare
# -------
# The card of the releases, of the pooled rows, and of each site alone, on new rows of all kinds.

new = [rows_of(2_000, older) for older in np.linspace(-12, 10, 6)]
X_new, y_new = pd.concat([X for X, _ in new]), np.concatenate([y for _, y in new])
card = ScorecardClassifier("auc").fit_summary(pooled)
whole = sum((BinCounts.of(binner, X, y) for X, y in sites.values()), start=BinCounts.empty(binner))
in_one_place = ScorecardClassifier("auc").fit_summary(whole)
alone = {
    site: ScorecardClassifier("auc").fit_summary(BinCounts.of(binner, X, y)).score(X_new, y_new)
    for site, (X, y) in sites.items()
}
areas = {"releases": card.score(X_new, y_new), "one place": in_one_place.score(X_new, y_new)}
print({name: round(area, 4) for name, area in areas.items()})

figure, ax = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
ax.semilogx(sizes, list(alone.values()), "o", color=style.BLUE, label="each site alone")
ax.axhline(areas["one place"], color="0.4", label="all rows in one place")
ax.axhline(areas["releases"], ls="--", color=style.ORANGE, label="releases of eleven sites")
style.finish(ax, "rows of the site", "AUC on new rows")
figure.suptitle("One exchange of two small files")
folder.cleanup()
