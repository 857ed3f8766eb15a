"""CPU time against rows and features, in units of one bare product.

``python -m benchmarks.speed.scaling`` writes ``scaling.csv`` and ``scaling.png``: rows from 10⁴ to
10⁷ with 20 and 54 features, features from 10 to 2,000 with 20,000 rows. ``--quick`` stops at 10⁵
rows and 200 features, and tracks nothing.

The unit is ``X.T @ X`` of the same rows by NumPy, the least that any use of second moments costs:
times are of this machine, their ratios nearly are not. Rows are two normal classes, float32.

* summary: `Moments.of`, one pass.
* fit from the summary: `MomentClassifier.fit_summary` for AUC, which does not grow with the rows.
* fit to rows: `MomentClassifier.fit` for AUC, rows choosing.
* logistic regression: scikit-learn's default, up to 10⁶ rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.harness.figure import BLACK, BLUE, GREEN, VERMILION, new_figure
from benchmarks.harness.record import Record
from benchmarks.speed.ratio import is_quick, ratios
from directrix import MomentClassifier, Moments
from directrix._typing import AnyArray, FloatArray

FIGURE = Path(__file__).with_suffix(".png")
ROWS, FEATURES = (10_000, 100_000, 1_000_000, 10_000_000), (10, 50, 200, 1000, 2000)
WIDTHS, ROWS_OF_WIDE = (20, 54), 20_000
_MOST_LOGISTIC = 1_000_000
_ROUNDS, _ROUNDS_OF_MANY, _MANY = 5, 3, 1_000_000
_STYLES = {
    "summary": (BLUE, "o"),
    "fit from the summary": (GREEN, "^"),
    "fit to rows": (VERMILION, "D"),
    "logistic regression": (BLACK, "s"),
}


class Measured(NamedTuple):
    """CPU time of a step over that of the product."""

    rows: int
    features: int
    step: str
    ratio: float


RECORD = Record(Path(__file__).with_suffix(".csv"), Measured._fields)


def rows_of(n: int, d: int) -> tuple[FloatArray, AnyArray]:
    """Return two normal classes, one in five positive, their means a deviation apart."""
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.2
    X = rng.standard_normal((n, d), dtype=np.float32)
    X[:, : min(d, 5)] += 0.5 * y[:, None]
    return X, y


def measured(n: int, d: int) -> Iterator[Measured]:
    """Measure all steps at one size."""
    X, y = rows_of(n, d)
    moments = Moments.of(X, y)
    steps: dict[str, Callable[[], object]] = {
        "summary": partial(Moments.of, X, y),
        "fit from the summary": partial(MomentClassifier("auc").fit_summary, moments),
        "fit to rows": partial(MomentClassifier("auc").fit, X, y),
    }
    if n <= _MOST_LOGISTIC:
        steps["logistic regression"] = partial(LogisticRegression().fit, X, y)
    rounds = _ROUNDS if n < _MANY else _ROUNDS_OF_MANY
    # A product of few rows is too short for the clock.
    repeat = max(1, 20_000_000 // (n * d))
    by_step = ratios(partial(np.matmul, X.T, X), steps, rounds=rounds, repeat=repeat)
    yield from (Measured(n, d, step, ratio) for step, ratio in by_step.items())


def draw(measurements: list[Measured]) -> None:
    """Draw the ratios against rows and against features."""
    figure = new_figure(9.5, 4.2, layout=None)
    left, right = figure.subplots(1, 2, sharey=True)
    for step, (colour, marker) in _STYLES.items():
        for width, line in zip(WIDTHS, ("-", "--"), strict=True):
            points = [
                (m.rows, m.ratio)
                for m in measurements
                if m.step == step and m.features == width and m.rows in ROWS
            ]
            label = f"{step}, {width} features"
            x, ratio = zip(*points, strict=True)
            left.loglog(x, ratio, line, color=colour, marker=marker, label=label)
        points = [
            (m.features, m.ratio) for m in measurements if m.step == step and m.rows == ROWS_OF_WIDE
        ]
        x, ratio = zip(*points, strict=True)
        right.loglog(x, ratio, color=colour, marker=marker, label=step)
    left.set_xlabel("rows")
    left.set_ylabel("CPU time, one product XᵀX = 1")
    right.set_xlabel(f"features ({ROWS_OF_WIDE} rows)")
    for panel in (left, right):
        panel.grid(color="0.9")
    left.legend(fontsize=7, frameon=False, handlelength=4)
    right.legend(fontsize=8, frameon=False)
    figure.tight_layout()
    figure.savefig(FIGURE, dpi=110)


def main() -> None:
    """Measure, print and track."""
    quick = is_quick(__doc__, "small sizes, and nothing is tracked")
    sizes = [(n, d) for d in WIDTHS for n in ROWS if not quick or n <= 100_000]
    sizes += [(ROWS_OF_WIDE, d) for d in FEATURES if not quick or d <= 200]
    measurements: list[Measured] = []
    for size in sizes:
        for m in measured(*size):
            print(f"{m.rows:>9} x {m.features:<5} {m.step:<22} {m.ratio:9.2f}", flush=True)
            measurements.append(m)
    if not quick:
        RECORD.write((*m[:3], f"{m.ratio:.3g}") for m in measurements)
        draw(measurements)


if __name__ == "__main__":
    main()
