"""The claims of the paper's abstract, each judged by the recorded fits and figures.

A claim about sets holds where it is true on three quarters of them at least. "Similar" is within
0.01 of the test metric.
"""

from __future__ import annotations

import numpy as np

from benchmarks.harness.markdown import holds
from benchmarks.harness.record import parse
from benchmarks.papers.claims import Claim
from benchmarks.papers.ghanbari_2019 import figures
from benchmarks.papers.ghanbari_2019.config import REAL
from benchmarks.papers.ghanbari_2019.cost_of_rows import ROWS, growth
from benchmarks.papers.ghanbari_2019.results import PAIRS, Results
from benchmarks.papers.ghanbari_2019.second_order import Verdict, read
from benchmarks.papers.ghanbari_2019.segment import FEW, MANY

PAPER = "Ghanbari, Li and Scheinberg 2019"
_MOST = 0.75
_SIMILAR = 0.01


def claims() -> list[Claim]:
    """Return the verdict on each claim of the abstract, from the records."""
    return judged(Results())


def judged(results: Results) -> list[Claim]:
    """Return the verdict on each claim of the abstract, and on second-order methods (§4)."""
    found = [_approximation(), _independence(), _normality()]
    found += [_quality(results, metric) for metric in PAIRS]
    found += [_time(results, metric) for metric in PAIRS]
    return [*found, *_second_order()]


def sets(results: Results, metric: str) -> list[str]:
    """Return the real sets of the paper that both methods were measured on."""
    names = [name for name in REAL if "," not in name]  # variants are not in the paper
    return [name for name in names if results.has(name, metric, *PAIRS[metric])]


def _approximation() -> Claim:
    shown = [parse(row, figures.Shown) for row in figures.RECORD.rows()]
    gaps = [s.value for s in shown if s.what == "risk, gap"]
    near, far = (
        [s.value for s in shown if s.what == f"{model}, correlation"] for model in ("risk", "loss")
    )
    better = sum(risk > loss for risk, loss in zip(near, far, strict=True))
    return Claim(
        PAPER,
        "Error and ranking loss are effectively approximated by smooth functions of the first and "
        "second moments",
        holds(better >= _MOST * len(near)),
        f"along {len(near)} paths the risk correlates better with the empirical metric than the "
        f"surrogate loss on {better}, with r from {min(near):.2f} to {max(near):.2f}; it is "
        f"{np.median(gaps):.3f} away in the median and {max(gaps):.3f} at most",
    )


def _independence() -> Claim:
    cost = growth()
    moments, rows = max(cost["F_n01"], cost["F_nrank"]), min(cost["F_log"], cost["F_hinge"])
    return Claim(
        PAPER,
        "The complexity of optimisation does not depend on the size of the training data",
        holds(moments < 1.5 <= rows),
        f"with {ROWS[-1] // ROWS[0]} times the rows a gradient costs {moments:.2f} times as much "
        f"from moments, and at least {rows:.0f} times as much from rows",
    )


def _normality() -> Claim:
    shown = [parse(row, figures.Shown) for row in figures.RECORD.rows()]
    margins = [s for s in shown if s.figure in figures.SETS_OF_MARGINS]
    near = [s for s in margins if s.value <= figures.NEARLY]
    return Claim(
        PAPER,
        "The output of the linear classifier has an approximately normal distribution",
        holds(len(near) >= _MOST * len(margins)),
        f"the Kolmogorov distance to the normal is at most {figures.NEARLY} for {len(near)} of "
        f"{len(margins)} histograms, and {max(s.value for s in margins):.2f} at most",
    )


def _quality(results: Results, metric: str) -> Claim:
    ours, rival = PAIRS[metric]
    names = sets(results, metric)
    gaps = [float(results.gap(name, metric, ours, rival).mean()) for name in names]
    good = sum(gap >= -_SIMILAR for gap in gaps)
    worst = int(np.argmin(gaps))
    # Segment is 210 rows or 2,310, and a verdict may depend on which.
    other = [MANY if name == FEW else name for name in names]
    good_of_other = sum(
        results.gap(name, metric, ours, rival).mean() >= -_SIMILAR for name in other
    )
    return Claim(
        PAPER,
        f"Test {metric} is similar to or better than that of state-of-the-art approaches",
        holds(good >= _MOST * len(gaps)),
        f"{ours} is at most {_SIMILAR} below {rival} on {good} of {len(gaps)} real sets; at worst "
        f"{gaps[worst]:+.3f} ({names[worst]}). With all 2,310 rows of segment: on {good_of_other}, "
        f"so that it {holds(good_of_other >= _MOST * len(gaps))}",
    )


def _time(results: Results, metric: str) -> Claim:
    ours, rival = PAIRS[metric]
    ratios = [results.time_ratio(name, metric, rival, ours) for name in sets(results, metric)]
    faster = sum(ratio > 1.0 for ratio in ratios)
    return Claim(
        PAPER,
        f"In a fraction of the time ({metric})",
        holds(faster >= _MOST * len(ratios)),
        f"{ours} is faster than {rival} on {faster} of {len(ratios)} real sets, "
        f"{np.median(ratios):.2g} times in the median",
    )


def _second_order() -> list[Claim]:
    held = Verdict.of(read())
    if not held.problems:
        return []
    return [
        Claim(
            PAPER,
            "Second-order methods with Hessian-vector products do not outperform L-BFGS in time, "
            "with similar accuracy (§4)",
            holds(min(held.not_faster, held.similar) >= _MOST * held.problems),
            f"Newton-CG is not faster on {held.not_faster} of {held.problems} problems "
            f"({held.ratio:.2g} times the CPU time in the median), and its test metric is similar "
            f"on {held.similar}",
        )
    ]
