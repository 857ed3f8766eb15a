"""The claims of the report's abstract, each judged by the recorded folds.

A claim about sets holds where it is true on three quarters of them at least.
"""

from __future__ import annotations

import numpy as np

from benchmarks.harness.markdown import holds
from benchmarks.papers.claims import Claim
from benchmarks.papers.ghanbari_2018.results import Results, read

PAPER = "Ghanbari and Scheinberg 2018"
_MOST = 0.75
#: The setting with an intercept, which is that of the printed accuracies; the AUC has none.
_ENDINGS = {"accuracy": ", intercept", "AUC": ""}
_SURROGATES = {"accuracy": "F_log", "AUC": "F_hinge"}


def claims() -> list[Claim]:
    """Return the verdict on each claim of the abstract, from the recorded folds."""
    return judged(Results(read()))


def judged(results: Results) -> list[Claim]:
    """Return the verdict on each claim of the abstract."""
    # The gradients of both papers are the same: their costs are measured with the later one.
    from benchmarks.papers.ghanbari_2019.cost_of_rows import ROWS, growth  # noqa: PLC0415

    cost = growth()
    moments, rows = max(cost["F_n01"], cost["F_nrank"]), min(cost["F_log"], cost["F_hinge"])
    found = [_exact(results, metric) for metric in _ENDINGS]
    found += [_quality(results, metric) for metric in _ENDINGS]
    found += [_time(results, metric) for metric in _ENDINGS]
    found.append(
        Claim(
            PAPER,
            "The per-iteration complexity does not depend on the size of the data set, unlike "
            "that of logistic regression",
            holds(moments < 1.5 <= rows),
            f"with {ROWS[-1] // ROWS[0]} times the rows a gradient costs {moments:.2f} times as "
            f"much from moments, and at least {rows:.0f} times as much from rows",
        )
    )
    return found


def _exact(results: Results, metric: str) -> Claim:
    """Judge the closed forms: on normal rows their exact moments must give the best classifiers."""
    sets = results.sets(metric, artificial=True)
    words = [
        word
        for rival in ("moments", "surrogate")
        for word in results.words(metric, sets, "exact", rival).values()
    ]
    best = words.count("better") + words.count("level")
    return Claim(
        PAPER,
        f"For normal data the expected {_expected(metric)} is a smooth closed form of the first "
        "and second moments, which can be optimised directly",
        holds(best >= _MOST * len(words)),
        f"on normal rows the descent on exact moments is not worse than either rival in {best} of "
        f"{len(words)} comparisons, better in {words.count('better')}",
    )


def _quality(results: Results, metric: str) -> Claim:
    sets, ending = results.sets(metric), _ENDINGS[metric]
    words = list(results.words(metric, sets, f"moments{ending}", f"surrogate{ending}").values())
    good = len(words) - words.count("worse")
    return Claim(
        PAPER,
        f"Also where data are not normal, derivatives from empirical moments give solutions of "
        f"high quality ({metric})",
        holds(good >= _MOST * len(words)),
        f"{metric} against {_SURROGATES[metric]}: better on {words.count('better')}, level on "
        f"{words.count('level')}, worse on {words.count('worse')} of {len(words)} real sets",
    )


def _time(results: Results, metric: str) -> Claim:
    ratios = [results.time_ratio(metric, name) for name in results.sets(metric)]
    faster = sum(ratio > 1.0 for ratio in ratios)
    return Claim(
        PAPER,
        f"The optimisation is efficient ({metric})",
        holds(faster >= _MOST * len(ratios)),
        f"faster than {_SURROGATES[metric]} on {faster} of {len(ratios)} real sets, "
        f"{np.median(ratios):.2g} times in the median",
    )


def _expected(metric: str) -> str:
    return "error" if metric == "accuracy" else "AUC"
