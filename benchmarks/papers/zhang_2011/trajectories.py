"""The report ``trajectories.md``: a table for each problem, which claims hold, and a figure."""

from __future__ import annotations

from itertools import product
from math import log10, nan
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.harness.figure import BLUE, GREEN, GREY, PURPLE, SKY_BLUE, VERMILION, new_figure
from benchmarks.harness.markdown import header, line, table, verdict
from benchmarks.harness.record import Row
from benchmarks.papers.zhang_2011.results import (
    EPSILON,
    LOSSES,
    METHODS,
    TRAJECTORIES,
    Curves,
    Point,
    Problem,
    read,
)

REPORT = Path(__file__).with_name("trajectories.md")
FIGURE = Path(__file__).with_name("trajectories.png")
_COLOURS = {
    "lbfgs 1": BLUE,
    "lbfgs 100": SKY_BLUE,
    "lbfgs 1000": GREEN,
    "bmrm": VERMILION,
    "nesterov 100": PURPLE,
    "nesterov 100 constant": GREY,
}
_LEAST = 1e-6
_TIMES = (1.0, 2e4)
_CAPTION = (
    "J without smoothing, above the least that any method found; a circle is the end of a run. "
    "Dotted: ε = 1e-3. Less than 1e-6 is drawn there.\nRuns were stopped after 15 s of "
    "CPU. The unit of time is one evaluation of L-BFGS with μ̂ on the same problem."
)
_NEVER = "-"
_TARGETS = {"relative": "(1 + 1e-3) J*", "absolute": "J* + 1e-3"}
_INTRODUCTION = """\
# Smoothing with L-BFGS against BMRM

The experiment of Zhang, Saha and Vishwanathan 2011, §4, on data sets at hand. J is the objective
without smoothing, J* the least of it that any run found. Evaluations and CPU time to reach
(1 + 1e-3) J* and J* + 1e-3; "-" is never. The unit of time is one evaluation of L-BFGS with μ̂ on
the same problem, in the same run; evaluations mean more. λ is in the paper's units, and μ̂ = ε/D
with its prox-functions, for the ROC area on [-1, 1]^m. A run was stopped after 15 s of CPU. How:
see `methods.py`. The same as a figure: `trajectories.png`."""


class Ratio(NamedTuple):
    """How many times as much one run needs as another; more than that, where it never arrived."""

    value: float
    at_least: bool = False

    def __str__(self) -> str:
        return _NEVER if np.isnan(self.value) else f"{'>' * self.at_least}{self.value:.2g}"


def ratio(group: Curves, slow: str, fast: str, target: float, what: str = "evaluations") -> Ratio:
    """Compare what two runs need to reach a target; NaN where the fast one never does."""
    ends, reached = group.reaches(fast, target), group.reaches(slow, target)
    if ends is None:
        return Ratio(nan)
    other = reached or group.end(slow)
    return Ratio(getattr(other, what) / getattr(ends, what), reached is None)


def groups_of(rows: list[Row]) -> list[Curves]:
    """Return the problems of which every run is known."""
    return [curves for curves in read(rows).values() if curves.keys() >= METHODS.keys()]


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    groups = groups_of(rows)
    text = [*_INTRODUCTION.splitlines(), "", "## Which of the paper's claims hold", ""]
    for number, (first, *rest) in enumerate(_judged(groups), 1):
        text += [f"{number}. {first}", *(f"   * {detail}" for detail in rest)]
    text += ["", "## What the claims are judged by", "", *_comparison(groups)]
    for group in groups:
        text += _table(group)
    return text


def short_table(rows: list[Row]) -> list[str]:
    """Return the claims of §4.1 with verdict and first detail, for the page of losses."""
    text = header("the paper says", "here")
    for first, detail, *_ in _judged(groups_of(rows)):
        title, outcome = first.removeprefix("**").split("** ")
        text.append(line(title.rstrip("."), f"{outcome} {detail}"))
    return text


def _judged(groups: list[Curves]) -> list[list[str]]:
    """Return for each claim of §4.1 its title and verdict, and the details."""
    claims = (_faster, _identical, _within, _worse, _rate, _generalisation)
    return [claim(groups) for claim in claims]


def _title(problem: Problem) -> str:
    return f"{problem.set}, {LOSSES[problem.loss]}, λ = {problem.penalty:g}"


def _table(group: Curves) -> list[str]:
    """Return how every method did on a problem."""
    columns = (
        f"method | to {_TARGETS['relative']} | time | to {_TARGETS['absolute']} | time | "
        f"J - J* at the end | evaluations | time | test {LOSSES[group.problem.loss]}"
    )
    rows = []
    for method, label in METHODS.items():
        end = group.end(method)
        cells = []
        for target in (group.relative, group.absolute):
            point = group.reaches(method, target)
            cells += [str(point.evaluations), f"{point.time:.0f}"] if point else [_NEVER] * 2
        cells += [f"{group.gap(method):.1e}", str(end.evaluations), f"{end.time:.0f}"]
        rows.append((label, *cells, f"{end.test_metric:.4f}"))
    best = f"J* = {group.best:.6f}; it is {group.bound:.6f} at least."
    return ["", f"## {_title(group.problem)}", "", best, *table(columns, rows)]


def _comparison(groups: list[Curves]) -> list[str]:
    """Return the ratios that the claims are about, a row for each problem."""
    columns = (
        "problem | BMRM / L-BFGS μ̂ | BMRM / L-BFGS 100 μ̂ | 100 μ̂ / μ̂ | Nesterov / L-BFGS | "
        "paper's step / L-BFGS | BMRM / L-BFGS μ̂, to (1 + 1e-3) J* | to its own end, 1000 μ̂ / μ̂"
    )
    pairs = (
        *(("bmrm", "lbfgs 1"), ("bmrm", "lbfgs 100"), ("lbfgs 100", "lbfgs 1")),
        *(("nesterov 100", "lbfgs 100"), ("nesterov 100 constant", "lbfgs 100")),
    )
    rows = []
    for group in groups:
        cells = [_both(group, *pair, group.absolute) for pair in pairs]
        cells.append(_both(group, "bmrm", "lbfgs 1", group.relative))
        rows.append((_title(group.problem), *cells, f"{group.settled():.2g}"))
    return [
        'Ratios of evaluations to reach J* + 1e-3 (in brackets, of time). ">" where the first',
        "never does: then it is what it had used by its end.",
        *table(columns, rows),
    ]


def _both(group: Curves, slow: str, fast: str, target: float) -> str:
    """Return the ratio of evaluations, and that of time in brackets."""
    counts, times = (ratio(group, slow, fast, target, what) for what in ("evaluations", "time"))
    return _NEVER if np.isnan(counts.value) else f"{counts} ({times})"


def _list(cases: list[tuple[Curves, Ratio | str]]) -> str:
    return "; ".join(f"{_title(group.problem)}: {number}" for group, number in cases)


def _faster(groups: list[Curves]) -> list[str]:
    text, tenfold = [], []
    compared = (("lbfgs 1", "absolute"), ("lbfgs 100", "absolute"), ("lbfgs 1", "relative"))
    for (method, target), what in product(compared, ("evaluations", "time")):
        ratios = [ratio(group, "bmrm", method, getattr(group, target), what) for group in groups]
        known = [r for r in ratios if not np.isnan(r.value)]
        tenfold.append(sum(r.value >= 10 for r in known))
        fewer = sum(r.value >= 1 for r in known)
        more = sum(r.value < 1 and not r.at_least for r in known)
        middle = np.median([r.value for r in known])
        text.append(
            f"{METHODS[method]} to {_TARGETS[target]}, {what}: a tenth of BMRM's or fewer in "
            f"{tenfold[-1]} of {len(groups)}, fewer in {fewer}, more in {more}, not comparable in "
            f"{len(groups) - fewer - more}; median ratio {middle:.2g}."
        )
    lost = [
        (group, r)
        for group in groups
        if (r := ratio(group, "bmrm", "lbfgs 1", group.absolute)).value < 1 and not r.at_least
    ]
    if lost:
        text.append(f"BMRM needs fewer evaluations than μ̂ to J* + 1e-3 in: {_list(lost)}.")
    title = "L-BFGS on the smoothed problem is an order of magnitude faster than BMRM."
    word = verdict(tenfold[0], len(groups))
    return [f"**{title}** {word}, by evaluations to J* + 1e-3:", *text]


def _identical(groups: list[Curves]) -> list[str]:
    text, alike = [], []
    for level, name in ((1e-1, "1.1 J*"), (1e-2, "1.01 J*"), (None, "J* + 1e-3")):
        targets = (group.best * (1 + level) if level else group.absolute for group in groups)
        ratios = [
            ratio(group, "lbfgs 100", "lbfgs 1", target)
            for group, target in zip(groups, targets, strict=True)
        ]
        values = np.array([r.value for r in ratios if not r.at_least])
        values = values[~np.isnan(values)]
        alike.append(int(((values >= 0.8) & (values <= 1.25)).sum()))
        text.append(
            f"To {name} the evaluations of 100 μ̂ are {values.min():.2g} to {values.max():.2g} "
            f"times those of μ̂, within a quarter in {alike[-1]} of {len(groups)}; one of the two "
            f"is never there in {len(groups) - len(values)}."
        )
    words = [verdict(count, len(groups)) for count in alike]
    outcome = f"{words[0]} far from the optimum, {words[-1].lower()} near it:"
    return [f"**μ̂ and 100 μ̂ have nearly the same trajectories.** {outcome}", *text]


def _within(groups: list[Curves]) -> list[str]:
    gaps = [group.gap("lbfgs 100") for group in groups]
    good = sum(gap <= EPSILON for gap in gaps)
    relative = sum(gap <= EPSILON * group.best for gap, group in zip(gaps, groups, strict=True))
    far = [(g, f"{gap:.2e}") for g, gap in zip(groups, gaps, strict=True) if gap > EPSILON]
    finest = max(group.gap("lbfgs 1") for group in groups)
    word = verdict(good, len(groups))
    return [
        f"**100 μ̂ ends within ε = 1e-3 of the optimum.** {word}:",
        f"In {good} of {len(groups)}; J - J* is {min(gaps):.1e} to {max(gaps):.1e}.",
        *([f"Not in: {_list(far)}."] if far else []),
        f"Within a thousandth of J* itself: in {relative} of {len(groups)}.",
        f"μ̂ ends {finest:.1e} above J* at most.",
    ]


def _worse(groups: list[Curves]) -> list[str]:
    gaps = np.array([group.gap("lbfgs 1000") for group in groups])
    settled = np.array([group.settled() for group in groups])
    worse, half = int((gaps > EPSILON).sum()), int((settled <= 0.5).sum())
    medians = [
        f"{np.median(settled[[group.problem.loss == loss for group in groups]]):.2g} for {name}"
        for loss, name in LOSSES.items()
    ]
    words = [verdict(good, len(groups)).lower() for good in (worse, half)]
    same = [
        ratio(g, "lbfgs 1", "lbfgs 1000", g.end("lbfgs 1000").objective * (1 + EPSILON)).value
        for g in groups
    ]
    return [
        f"**1000 μ̂ is faster, but ends worse.** Faster {words[1]}, worse {words[0]}:",
        (
            f"To within a thousandth of its own end it takes {settled.min():.2g} to "
            f"{settled.max():.2g} times the evaluations of μ̂, half or fewer in {half} of "
            f"{len(groups)}; the median is {' and '.join(medians)}."
        ),
        (
            f"To where 1000 μ̂ ends, μ̂ takes at most {min(same):.2g} to {max(same):.2g} times the "
            f"evaluations, median {np.median(same):.2g}."
        ),
        (
            f"J - J* is {gaps.min():.1e} to {gaps.max():.1e}, above 1e-3 in {worse} of "
            f"{len(groups)}."
        ),
    ]


def _rate(groups: list[Curves]) -> list[str]:
    text, slower = [], []
    both = [group for group in groups if group.reaches("lbfgs 100", group.absolute)]
    for method in ("nesterov 100", "nesterov 100 constant"):
        ratios = [ratio(group, method, "lbfgs 100", group.absolute) for group in both]
        exact = [r.value for r in ratios if not r.at_least]
        slower.append(sum(r.value > 1 for r in ratios))
        span = f", with {min(exact):.2g} to {max(exact):.2g} times the evaluations" if exact else ""
        text.append(
            f"{METHODS[method]}: of the {len(both)} where L-BFGS at the same μ reaches J* + 1e-3 "
            f"it does so in {len(exact)}{span}."
        )
    word = verdict(min(slower), len(both))
    return [f"**Nesterov's method is no match in practice.** {word}:", *text]


def _generalisation(groups: list[Curves]) -> list[str]:
    text, words = [], []
    finals = {m: np.array([group.end(m).test_metric for group in groups]) for m in METHODS}
    for method in ("lbfgs 100", "lbfgs 1000", "bmrm"):
        change = finals[method] - finals["lbfgs 1"]
        close = int((np.abs(change) <= 0.01).sum())
        words.append(close)
        where = groups[int(np.abs(change).argmax())]
        text.append(
            f"{METHODS[method]} at its end less μ̂ at its: {change.min():+.4f} to "
            f"{change.max():+.4f}, mean {change.mean():+.4f}, within 0.01 in {close} of "
            f"{len(groups)}; furthest on {_title(where.problem)}."
        )
    early = []
    for group in groups:
        there = group.reaches("lbfgs 100", group.absolute) or group.end("lbfgs 100")
        behind = _at(group["bmrm"], there.time)
        early.append(there.test_metric - behind)
    text.append(
        "When 100 μ̂ reaches J* + 1e-3, or ends, its test metric less that of BMRM after as "
        f"much time: {min(early):+.4f} to {max(early):+.4f}, above 0.01 in "
        f"{sum(e > 0.01 for e in early)} of {len(groups)}, below -0.01 in "
        f"{sum(e < -0.01 for e in early)}."
    )
    peaks = np.array(
        [max(p.test_metric for points in group.values() for p in points) for group in groups]
    )
    missed = peaks - finals["lbfgs 1"]
    text.append(
        "The optimum is not the best model: the best test metric of any point kept is above that "
        f"of μ̂ at its end by {missed.min():.4f} to {missed.max():.4f}, most on "
        f"{_title(groups[int(missed.argmax())].problem)} (picked with the test rows in view)."
    )
    word = verdict(min(words[:2]), len(groups))
    return [f"**A greater μ does not harm the metric on test rows.** {word}:", *text]


def _at(points: list[Point], time: float) -> float:
    """Return the test metric of the last point kept until some second, or of the first."""
    before = [point for point in points if point.time <= time]
    return (before or points[:1])[-1].test_metric


def draw() -> None:
    """Draw the gap of J against CPU time: a row for each set, a column for each loss and λ."""
    problems = {group.problem: group for group in groups_of(TRAJECTORIES.rows())}
    sets = list(dict.fromkeys(problem.set for problem in problems))
    penalties = sorted({problem.penalty for problem in problems}, reverse=True)
    columns = [(loss, penalty) for loss in LOSSES for penalty in penalties]
    figure = new_figure(11.0, 2.1 * len(sets) + 1.4)
    figure.get_layout_engine().set(rect=(0.0, 0.045, 1.0, 0.915))
    axes = figure.subplots(len(sets), len(columns), sharex=True, sharey=True, squeeze=False)
    for (row, name), (column, (loss, penalty)) in product(enumerate(sets), enumerate(columns)):
        panel = axes[row, column]
        if row == 0:
            panel.set_title(f"{LOSSES[loss]}, λ = $10^{{{log10(penalty):.0f}}}$", fontsize=10)
        if row == len(sets) - 1:
            panel.set_xlabel("CPU time", fontsize=9)
        if column == 0:
            panel.set_ylabel(f"{name}\nJ - J*", fontsize=9)
        panel.set(xscale="log", yscale="log", xlim=_TIMES, ylim=(_LEAST, 1.5))
        panel.axhline(1e-3, color="black", linewidth=0.8, linestyle=":")
        panel.grid(visible=True, color="#eeeeee", linewidth=0.6)
        panel.tick_params(labelsize=8)
        group = problems.get(Problem(name, loss, penalty))
        for method, points in group.items() if group else ():
            times = [max(point.time, _TIMES[0]) for point in points]
            gaps = [max(point.objective - group.best, _LEAST) for point in points]
            panel.plot(times, gaps, color=_COLOURS[method], linewidth=1.4)
            panel.plot(
                times[-1], gaps[-1], "o", color=_COLOURS[method], markersize=4, clip_on=False
            )
    handles = [
        axes[0, 0].plot([], [], color=_COLOURS[method], linewidth=2)[0] for method in METHODS
    ]
    figure.legend(handles, METHODS.values(), loc="upper center", ncols=len(METHODS), fontsize=9)
    figure.text(0.01, 0.01, _CAPTION, fontsize=8.5, va="bottom")
    figure.savefig(FIGURE, dpi=95)
