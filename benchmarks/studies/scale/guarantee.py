"""How often a card fitted in passes exceeds the false-positive rate that it guarantees.

Of give_me_some_credit, which stands for all rows there are, 20,000 rows are drawn with replacement,
200 times. Each time a card is fitted to them by ``fit_source`` with ``guarantee=0.95``, and its
false-positive rate is that of all rows. ``python -m benchmarks.studies.scale.guarantee`` goes on
where ``guarantee.csv`` ends, and writes ``guarantee.md``; ``--report`` writes the report only.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import binomtest

from benchmarks.harness.markdown import holds, write_report
from benchmarks.harness.record import Record, commit
from benchmarks.harness.tables import load_table
from directrix import ScorecardClassifier

TABLE, TARGET = "give_me_some_credit", "y"
DRAWS, DRAWN, LIMIT, CONFIDENCE = 200, 20_000, 0.05, 0.95
RECORD = Record(Path(__file__).with_suffix(".csv"), ("draw", "rate", "recall", "commit"), ("draw",))
REPORT = Path(__file__).with_suffix(".md")


def rates(frame: Any, y: Any, number: int) -> tuple[float, float]:
    """Return false-positive rate and recall over all rows of a card of some of them."""
    rows = np.random.default_rng(number).integers(0, len(y), DRAWN)
    drawn = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
    drawn = drawn.append_column(TARGET, pa.array(y[rows]))
    model = ScorecardClassifier(
        f"recall@fpr={LIMIT}", learn_from="counts", guarantee=CONFIDENCE
    ).fit_source(drawn, target=TARGET, progress=False)
    predicted = model.predict(frame)
    return float(predicted[~y].mean()), float(predicted[y].mean())


def lines() -> list[str]:
    """Return the report."""
    rows = RECORD.rows()
    broken, n = sum(float(row["rate"]) > LIMIT for row in rows), len(rows)
    mean, recall = (np.mean([float(row[name]) for row in rows]) for name in ("rate", "recall"))
    interval = binomtest(broken, n).proportion_ci()
    kept = binomtest(broken, n, 1.0 - CONFIDENCE, alternative="greater").pvalue > 0.05
    return [
        "# A guaranteed false-positive rate, in passes",
        "",
        f"Commit {rows[-1]['commit']}. {n} draws of {DRAWN:,} rows of {TABLE}; cards from counts,",
        f"trained for the recall at a false-positive rate of {LIMIT:.0%}, with",
        f"guarantee={CONFIDENCE}. The rate of all rows exceeds the limit in {broken} draws, which",
        f"is {broken / n:.3f} ({interval.low:.3f} to {interval.high:.3f}); at most",
        f"{1.0 - CONFIDENCE:.2f} are promised: {holds(bool(kept))}. Mean rate {mean:.4f}, mean",
        f"recall {recall:.4f}.",
    ]


def main() -> None:
    """Measure what is missing, print and track."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--report", action="store_true")
    if not parser.parse_args().report:
        warnings.simplefilter("ignore")
        X, y = load_table(TABLE)
        for number in range(DRAWS):
            if (str(number),) not in RECORD.done():
                rate, recall = rates(X, y, number)
                RECORD.append([(number, f"{rate:.5f}", f"{recall:.5f}", commit())])
    write_report(REPORT, lines())


if __name__ == "__main__":
    main()
