"""What the runs say: a table for each problem, and which of the paper's claims hold."""

from __future__ import annotations

from math import nan
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.smoothing import figure
from benchmarks.smoothing.record import LOSSES, METHODS, Point, Problem, Run, Trajectory

REPORT = Path(__file__).with_name("trajectories.md")
_EPSILON = 1e-3
_NEVER = "-"
_TARGETS = {"relative": "(1 + 1e-3) J*", "absolute": "J* + 1e-3"}
_INTRODUCTION = """\
# Smoothing with L-BFGS against BMRM

The experiment of Zhang, Saha and Vishwanathan 2012, §4, on data sets at hand. J is the objective
without smoothing, J* the least of it that any run found. Evaluations and CPU time to reach
(1 + 1e-3) J* and J* + 1e-3; "-" is never. The unit of time is one evaluation of L-BFGS with μ̂ on
the same problem, in the same run; evaluations mean more. λ is in the paper's units. A run was
stopped after 15 s of CPU. How: see `trajectories.py`. The same as a figure: `trajectories.png`."""


class Group(NamedTuple):
    """All runs of a problem, the least J found, and the greatest bound of it from below."""

    problem: Problem
    runs: dict[str, Trajectory]
    best: float
    bound: float

    @classmethod
    def of(cls, problem: Problem, known: dict[Run, Trajectory]) -> Group:
        """Take the runs of a problem."""
        runs = {run.method: own for run, own in known.items() if run.problem == problem}
        best = min(point.objective for own in runs.values() for point in own.points)
        return cls(problem, runs, best, max(own.lower_bound for own in runs.values()))

    def end(self, method: str) -> Point:
        """Return where a run ended."""
        return self.runs[method].points[-1]

    def gap(self, method: str) -> float:
        """Return how far above the best a run ended."""
        return self.end(method).objective - self.best

    def reaches(self, method: str, target: float) -> Point | None:
        """Return the first point kept at which J is no more than a target."""
        points = self.runs[method].points
        return next((point for point in points if point.objective <= target * (1 + 1e-9)), None)

    @property
    def relative(self) -> float:
        """(1 + ε) J*."""
        return self.best * (1.0 + _EPSILON)

    @property
    def absolute(self) -> float:
        """J* + ε."""
        return self.best + _EPSILON


class Ratio(NamedTuple):
    """How many times as much one run needs as another; more than that, where it never arrived."""

    value: float
    at_least: bool = False

    def __str__(self) -> str:
        return _NEVER if np.isnan(self.value) else f"{'>' * self.at_least}{self.value:.2g}"


def ratio(group: Group, slow: str, fast: str, target: float, what: str = "evaluations") -> Ratio:
    """Compare what two runs need to reach a target; NaN where the fast one never does."""
    ends, reached = group.reaches(fast, target), group.reaches(slow, target)
    if ends is None:
        return Ratio(nan)
    other = reached or group.end(slow)
    return Ratio(getattr(other, what) / getattr(ends, what), reached is None)


def groups_of(known: dict[Run, Trajectory]) -> list[Group]:
    """Return the problems of which every run is known."""
    problems = dict.fromkeys(run.problem for run in known)
    return [
        Group.of(problem, known)
        for problem in problems
        if all(Run(problem, method) in known for method in METHODS)
    ]


def write(known: dict[Run, Trajectory]) -> None:
    """Print the report, write it, and draw the figure."""
    text = "\n".join(lines(known)) + "\n"
    print(text, end="")
    REPORT.write_text(text, encoding="utf-8")
    figure.draw({group.problem: (group.runs, group.best) for group in groups_of(known)})


def lines(known: dict[Run, Trajectory]) -> list[str]:
    """Return the report."""
    groups = groups_of(known)
    claims = (_faster, _identical, _within, _worse, _rate, _generalisation)
    text = [*_INTRODUCTION.splitlines(), "", "## Which of the paper's claims hold", ""]
    for number, claim in enumerate(claims, 1):
        first, *rest = claim(groups)
        text += [f"{number}. {first}", *(f"   * {line}" for line in rest)]
    text += ["", "## What the claims are judged by", "", *_comparison(groups)]
    for group in groups:
        text += ["", *_table(group)]
    return text


def _title(problem: Problem) -> str:
    return f"{problem.set}, {LOSSES[problem.loss]}, λ = {problem.penalty:g}"


def _table(group: Group) -> list[str]:
    """Return how every method did on a problem."""
    metric = LOSSES[group.problem.loss]
    rows = [
        f"## {_title(group.problem)}",
        "",
        f"J* = {group.best:.6f}; it is {group.bound:.6f} at least.",
        "",
        *_header(
            "method",
            f"to {_TARGETS['relative']}",
            "time",
            f"to {_TARGETS['absolute']}",
            "time",
            "J - J* at the end",
            "evaluations",
            "time",
            f"test {metric}",
        ),
    ]
    for method, label in METHODS.items():
        end = group.end(method)
        cells = []
        for target in (group.relative, group.absolute):
            point = group.reaches(method, target)
            cells += [str(point.evaluations), f"{point.time:.0f}"] if point else [_NEVER] * 2
        cells += [f"{group.gap(method):.1e}", str(end.evaluations), f"{end.time:.0f}"]
        rows.append(_line(label, *cells, f"{end.test_metric:.4f}"))
    return rows


def _comparison(groups: list[Group]) -> list[str]:
    """Return the ratios that the claims are about, a row for each problem."""
    rows = [
        'Ratios of evaluations to reach J* + 1e-3 (in brackets, of time). ">" where the first',
        "never does: then it is what it had used by its end.",
        "",
        *_header(
            "problem",
            "BMRM / L-BFGS μ̂",
            "BMRM / L-BFGS 100 μ̂",
            "100 μ̂ / μ̂",
            "Nesterov / L-BFGS",
            "paper's step / L-BFGS",
            "BMRM / L-BFGS μ̂, to (1 + 1e-3) J*",
            "to its own end, 1000 μ̂ / μ̂",
        ),
    ]
    for group in groups:
        pairs = (
            ("bmrm", "lbfgs 1"),
            ("bmrm", "lbfgs 100"),
            ("lbfgs 100", "lbfgs 1"),
            ("nesterov 100", "lbfgs 100"),
            ("nesterov 100 constant", "lbfgs 100"),
        )
        cells = [_both(group, *pair, group.absolute) for pair in pairs]
        cells.append(_both(group, "bmrm", "lbfgs 1", group.relative))
        rows.append(_line(_title(group.problem), *cells, f"{_settled(group):.2g}"))
    return rows


def _both(group: Group, slow: str, fast: str, target: float) -> str:
    """Return the ratio of evaluations, and that of time in brackets."""
    counts, times = (ratio(group, slow, fast, target, what) for what in ("evaluations", "time"))
    return _NEVER if np.isnan(counts.value) else f"{counts} ({times})"


def _settled(group: Group) -> float:
    """Return evaluations to within a thousandth of its own last J, 1000 μ̂ to μ̂."""
    counts = []
    for method in ("lbfgs 1000", "lbfgs 1"):
        there = group.reaches(method, group.end(method).objective * (1.0 + _EPSILON))
        counts.append((there or group.end(method)).evaluations)
    return counts[0] / counts[1]


def _list(cases: list[tuple[Group, Ratio | str]]) -> str:
    return "; ".join(f"{_title(group.problem)}: {number}" for group, number in cases)


def _verdict(good: int, of: int) -> str:
    """Return a word for a share of cases."""
    if good == of:
        return "Holds"
    return (
        "Mostly holds" if good >= 0.75 * of else "Fails" if good <= 0.25 * of else "Holds in part"
    )


def _faster(groups: list[Group]) -> list[str]:
    text, tenfold = [], []
    for method, target, what in (
        ("lbfgs 1", "absolute", "evaluations"),
        ("lbfgs 1", "absolute", "time"),
        ("lbfgs 100", "absolute", "evaluations"),
        ("lbfgs 100", "absolute", "time"),
        ("lbfgs 1", "relative", "evaluations"),
        ("lbfgs 1", "relative", "time"),
    ):
        found = [ratio(own, "bmrm", method, getattr(own, target), what) for own in groups]
        there = [own for own in found if not np.isnan(own.value)]
        tenfold.append(sum(own.value >= 10 for own in there))
        fewer = sum(own.value >= 1 for own in there)
        more = sum(own.value < 1 and not own.at_least for own in there)
        middle = np.median([own.value for own in there])
        text.append(
            f"{METHODS[method]} to {_TARGETS[target]}, {what}: a tenth of BMRM's or fewer in "
            f"{tenfold[-1]} of {len(groups)}, fewer in {fewer}, more in {more}, not comparable in "
            f"{len(groups) - fewer - more}; median ratio {middle:.2g}."
        )
    lost = [
        (group, own)
        for group in groups
        if (own := ratio(group, "bmrm", "lbfgs 1", group.absolute)).value < 1 and not own.at_least
    ]
    if lost:
        text.append(f"BMRM needs fewer evaluations than μ̂ to J* + 1e-3 in: {_list(lost)}.")
    title = "L-BFGS on the smoothed problem is an order of magnitude faster than BMRM."
    word = _verdict(tenfold[0], len(groups))
    return [f"**{title}** {word}, by evaluations to J* + 1e-3:", *text]


def _identical(groups: list[Group]) -> list[str]:
    text, alike = [], []
    for level, name in ((1e-1, "1.1 J*"), (1e-2, "1.01 J*"), (None, "J* + 1e-3")):
        found = [
            ratio(own, "lbfgs 100", "lbfgs 1", own.best * (1 + level) if level else own.absolute)
            for own in groups
        ]
        values = np.array([own.value for own in found if not own.at_least])
        values = values[~np.isnan(values)]
        alike.append(int(((values >= 0.8) & (values <= 1.25)).sum()))
        text.append(
            f"To {name} the evaluations of 100 μ̂ are {values.min():.2g} to {values.max():.2g} "
            f"times those of μ̂, within a quarter in {alike[-1]} of {len(groups)}; one of the two "
            f"is never there in {len(groups) - len(values)}."
        )
    words = [_verdict(count, len(groups)) for count in alike]
    verdict = f"{words[0]} far from the optimum, {words[-1].lower()} near it:"
    return [f"**μ̂ and 100 μ̂ have nearly the same trajectories.** {verdict}", *text]


def _within(groups: list[Group]) -> list[str]:
    gaps = [group.gap("lbfgs 100") for group in groups]
    good = sum(gap <= _EPSILON for gap in gaps)
    relative = sum(gap <= _EPSILON * group.best for gap, group in zip(gaps, groups, strict=True))
    far = [(own, f"{gap:.2e}") for own, gap in zip(groups, gaps, strict=True) if gap > _EPSILON]
    finest = max(group.gap("lbfgs 1") for group in groups)
    word = _verdict(good, len(groups))
    return [
        f"**100 μ̂ ends within ε = 1e-3 of the optimum.** {word}:",
        f"In {good} of {len(groups)}; J - J* is {min(gaps):.1e} to {max(gaps):.1e}.",
        *([f"Not in: {_list(far)}."] if far else []),
        f"Within a thousandth of J* itself: in {relative} of {len(groups)}.",
        f"μ̂ ends {finest:.1e} above J* at most.",
    ]


def _worse(groups: list[Group]) -> list[str]:
    gaps = np.array([group.gap("lbfgs 1000") for group in groups])
    settled = np.array([_settled(group) for group in groups])
    worse, half = int((gaps > _EPSILON).sum()), int((settled <= 0.5).sum())
    medians = [
        f"{np.median(settled[[group.problem.loss == loss for group in groups]]):.2g} for {name}"
        for loss, name in LOSSES.items()
    ]
    words = [_verdict(good, len(groups)).lower() for good in (worse, half)]
    same = [
        ratio(own, "lbfgs 1", "lbfgs 1000", own.end("lbfgs 1000").objective * (1 + _EPSILON)).value
        for own in groups
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


def _rate(groups: list[Group]) -> list[str]:
    text, slower = [], []
    both = [group for group in groups if group.reaches("lbfgs 100", group.absolute)]
    for method in ("nesterov 100", "nesterov 100 constant"):
        found = [ratio(group, method, "lbfgs 100", group.absolute) for group in both]
        there = [own.value for own in found if not own.at_least]
        slower.append(sum(own.value > 1 for own in found))
        span = f", with {min(there):.2g} to {max(there):.2g} times the evaluations" if there else ""
        text.append(
            f"{METHODS[method]}: of the {len(both)} where L-BFGS at the same μ reaches J* + 1e-3 "
            f"it does so in {len(there)}{span}."
        )
    word = _verdict(min(slower), len(both))
    return [f"**Nesterov's method is no match in practice.** {word}:", *text]


def _generalisation(groups: list[Group]) -> list[str]:
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
        behind = _at(group.runs["bmrm"].points, there.time)
        early.append(there.test_metric - behind)
    text.append(
        "When 100 μ̂ reaches J* + 1e-3, or ends, its test metric less that of BMRM after as "
        f"much time: {min(early):+.4f} to {max(early):+.4f}, above 0.01 in "
        f"{sum(e > 0.01 for e in early)} of {len(groups)}, below -0.01 in "
        f"{sum(e < -0.01 for e in early)}."
    )
    peaks = np.array(
        [max(p.test_metric for own in group.runs.values() for p in own.points) for group in groups]
    )
    missed = peaks - finals["lbfgs 1"]
    text.append(
        "The optimum is not the best model: the best test metric of any point kept is above that "
        f"of μ̂ at its end by {missed.min():.4f} to {missed.max():.4f}, most on "
        f"{_title(groups[int(missed.argmax())].problem)} (picked with the test rows in view)."
    )
    word = _verdict(min(words[:2]), len(groups))
    return [f"**A greater μ does not harm the metric on test rows.** {word}:", *text]


def _at(points: list[Point], time: float) -> float:
    """Return the test metric of the last point kept until some second, or of the first."""
    before = [point for point in points if point.time <= time]
    return (before or points[:1])[-1].test_metric


def _header(*cells: str) -> list[str]:
    return [_line(*cells), _line(*("---" for _ in cells))]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
