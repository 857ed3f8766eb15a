"""What the figures show, in numbers and in a sentence each."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.moment_training.found import verdict

SHOWN = Path(__file__).with_name("figures.csv")
#: Kolmogorov distances up to this are called nearly normal.
NEARLY = 0.05
_RIVALS = {"4.3": ("F_n01", "F_log", "training error"), "4.4": ("F_nrank", "F_hinge", "1 - AUC")}


class Shown(NamedTuple):
    """A number of a figure."""

    figure: str
    set: str
    what: str
    value: float


def write(shown: Iterable[Shown]) -> None:
    """Write all numbers anew."""
    with SHOWN.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Shown._fields)
        writer.writerows((*own[:3], f"{own.value:.6f}") for own in shown)


def read() -> list[Shown]:
    """Return all numbers."""
    if not SHOWN.exists():
        return []
    with SHOWN.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [Shown(r["figure"], r["set"], r["what"], float(r["value"])) for r in rows]


def lines() -> list[str]:
    """Return the part of ``tables.md`` on figures."""
    shown = read()
    if not shown:
        return []
    return [
        "",
        "## Figures 4.1 and 4.2: are margins normal?",
        "",
        "![Margins of a9a](figure_4_1.png)",
        "",
        _normal(shown, "4.1", ("early", "end")),
        "",
        "![Margins of four other sets](figure_4_2.png)",
        "",
        _normal(shown, "4.2", ("end",)),
        "",
        "## Figures 4.3 and 4.4: are risks nearer to the metric than losses?",
        "",
        "![Error, its risk and the logistic loss](figure_4_3.png)",
        "",
        _nearer(shown, "4.3"),
        "",
        "![Ranking loss, its risk and the pairwise hinge](figure_4_4.png)",
        "",
        _nearer(shown, "4.4"),
    ]


def _normal(shown: list[Shown], figure: str, whens: tuple[str, ...]) -> str:
    own = [s for s in shown if s.figure == figure and s.what.split(", ")[0] in whens]
    near = [s for s in own if s.value <= NEARLY]
    differences = [s for s in own if s.what.endswith("differences")]
    of_differences = sum(s.value <= NEARLY for s in differences)
    worst = max(own, key=lambda s: s.value)
    claim = {
        "4.1": "all margins of a9a are almost perfectly normal",
        "4.2": "not all margins are normal, but differences are more often",
    }[figure]
    others = len(near) - of_differences
    rate = of_differences / len(differences), others / (len(own) - len(differences))
    held = verdict(len(near), len(own)) if figure == "4.1" else verdict(int(rate[0] > rate[1]), 1)
    return (
        f"Figure {figure}: {claim}. {held}: D, the Kolmogorov distance to the normal, is at most "
        f"{NEARLY} for {len(near)} of {len(own)} histograms ({of_differences} of "
        f"{len(differences)} of differences); the greatest is {worst.value:.2f} ({worst.set}, "
        f"{worst.what})."
    )


def _nearer(shown: list[Shown], figure: str) -> str:
    risk, loss, metric = _RIVALS[figure]
    own = {(s.set, s.what): s.value for s in shown if s.figure == figure}
    names = list(dict.fromkeys(name for name, _ in own))
    gaps = {name: own[name, "risk, gap"] for name in names}
    follows = sum(own[name, "risk, correlation"] > own[name, "loss, correlation"] for name in names)
    far = [own[name, "loss, correlation"] for name in names]
    near = [own[name, "risk, correlation"] for name in names]
    worst = max(gaps, key=gaps.__getitem__)
    return (
        f"Figure {figure}: {risk} follows {metric} along the path better than {loss}. "
        f"{verdict(follows, len(names))}: its correlation r is greater on {follows} of "
        f"{len(names)} sets ({min(near):.2f} to {max(near):.2f}, and {min(far):.2f} to "
        f"{max(far):.2f} of {loss}). "
        f"As a number it is {np.median(list(gaps.values())):.3f} away in the middle, "
        f"{gaps[worst]:.3f} on {worst}."
    )
