"""Write ``claims.md`` from ``claims.csv``: ``python -m benchmarks.honesty.report``."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from benchmarks.honesty.claims import DRAWS, METRICS, RESULTS
from benchmarks.markdown import header, line
from directrix._typing import FloatArray

_FIELDS = ("claim", "low", "high", "truth", "fpr claim", "fpr low", "fpr high", "fpr truth")


def figures(rows: FloatArray, *, less_is_better: bool) -> tuple[float, float, float, float]:
    """Return bias, coverage of the metric and of the FPR, and the mean FPR on new rows.

    The bias is in units of the deviation of claim minus truth; above zero is rosy.
    """
    claim, low, high, truth, _, fpr_low, fpr_high, fpr = rows.T
    off = (truth - claim) if less_is_better else (claim - truth)
    covered = ((low <= truth) & (truth <= high)).mean()
    fpr_covered = ((fpr_low <= fpr) & (fpr <= fpr_high)).mean()
    return off.mean() / off.std(), covered, fpr_covered, fpr.mean()


def main() -> None:
    """Write and print the tables."""
    with RESULTS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    about = (
        "Bias is that of the claim in units of the deviation of claim minus truth (above zero is "
        "rosy): in the mean of the populations, and in the worst. Coverage is that of 95 % "
        "intervals: mean, and least. `before` claims what held-out rows show, `now` what is "
        "expected on new rows."
    )
    text = ["# Claims against the truth", "", about]
    for code in dict.fromkeys(row["code"] for row in rows):
        commits = ", ".join(dict.fromkeys(row["commit"] for row in rows if row["code"] == code))
        text += ["", f"## {code} (commit {commits})", ""]
        text += header(
            "rows",
            "metric",
            "populations",
            "draws",
            "bias",
            "worst",
            "coverage",
            "least",
            "FPR / limit",
            "worst",
            "coverage of FPR",
        )
        for n_rows in DRAWS:
            text += [_line(rows, code, n_rows, key) for key in METRICS]
    path = Path(__file__).with_name("claims.md")
    path.write_text("\n".join(text) + "\n", encoding="utf-8")
    print("\n".join(text))


def _line(rows: list[dict[str, str]], code: str, n_rows: int, key: str) -> str:
    chosen = [
        row for row in rows if (row["code"], row["n"], row["metric"]) == (code, str(n_rows), key)
    ]
    names = list(dict.fromkeys(row["population"] for row in chosen))
    found, draws = [], []
    for name in names:
        own = [
            [float(row[field]) for field in _FIELDS] for row in chosen if row["population"] == name
        ]
        draws.append(len(own))
        found.append(figures(np.array(own), less_is_better=not METRICS[key].greater_is_better))
    if not found:
        return line(str(n_rows), key, "0", *[""] * 8)
    bias, covered, fpr_covered, fpr = np.array(found).T
    worst = bias[np.abs(bias).argmax()]
    limit = METRICS[key].limit
    at_limit = ["", "", ""]
    if limit is not None:
        ratio = fpr / limit.value
        at_limit = [f"{ratio.mean():.2f}", f"{ratio.max():.2f}", f"{fpr_covered.mean():.2f}"]
    return line(
        str(n_rows),
        key,
        str(len(names)),
        f"{min(draws)} to {max(draws)}",
        f"{bias.mean():+.2f}",
        f"{worst:+.2f}",
        f"{covered.mean():.3f}",
        f"{covered.min():.2f}",
        *at_limit,
    )


if __name__ == "__main__":
    main()
