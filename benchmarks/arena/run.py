"""The arena: every competitor on the same folds of 31 general and 30 imbalanced sets.

``python -m benchmarks.arena.run`` appends one line for each set, repeat, fold and competitor to
``measured.csv``, goes on where an interrupted run stopped, and writes ``arena.md`` and
``ranks.png``. ``--quick`` is three small sets and leaves the tracked files alone but compares with
them; ``--large`` is one fold of the large sets, whole, into ``large.csv``. ``--jobs 2`` uses two
processes; ``--without "LibAUC"`` leaves a competitor for a later run.

Two repeats of five stratified folds, the same for all. At most 10,000 rows a set, a fixed sample.
All that is chosen, is chosen in folds of the training rows: for the competitors, three, the same
for all of them; for `MomentClassifier` in folds of its own. Every metric
is exact on the fold held out.

* Features are standardised on the training rows for competitors; ours get them as they are.
* Thresholds: for the error, competitors have their own (those that only rank have none, and are
  given one). For every other metric with a threshold it is the best one for the scores of the
  inner folds, but for "logistic", which is scikit-learn's default throughout. Ours choose theirs
  on folds, for the error too: some wins there come from the threshold alone, and the column
  "logistic, tuned threshold" says which.
* "beta-bernoulli" is treated as the competitors are, its ridge chosen for each metric.
* "Fisher" is LDA without shrinkage; "prior" is one score for all rows.
* HistGradientBoosting, XGBoost and naive Bayes are not linear: they are shown, and not ranked.
* LibAUC has five epochs of balanced batches, 300 steps at least, and one learning rate; Vowpal
  Wabbit five passes and its own steps: neither is tuned.

CPU is that of the whole choice, for all metrics together, to that of tuned logistic regression.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from scipy import stats
from tqdm import tqdm

from benchmarks.arena.protocol import METRICS, SETS, Task, planned, split
from benchmarks.arena.results import (
    LARGE,
    LEVEL,
    MEASURED,
    Arena,
    LargeArena,
    Score,
    critical_difference,
    drift,
)
from benchmarks.harness import figure
from benchmarks.harness.markdown import bold_if, header, line, table
from benchmarks.harness.record import commit
from benchmarks.harness.runner import Part, Study, grouped, timed
from benchmarks.rivals.lines import LINEAR, OURS, REFERENCES, RIVALS, TUNED

# ── the report and its figure ─────────────────────────────────────────────────────────────────────


REPORT = Path(__file__).with_name("arena.md")
FIGURE = Path(__file__).with_name("ranks.png")
#: Colour and marker; all competitors that are not named are grey dots.
_STYLES = {
    "direct": (figure.VERMILION, "*"),
    "smooth": (figure.ORANGE, "D"),
    "moment": (figure.BLUE, "o"),
    "beta-bernoulli": (figure.GREEN, "^"),
    "logistic, tuned": (figure.BLACK, "s"),
    "balanced logistic, tuned": (figure.PURPLE, "P"),
    "linear SVC, tuned": (figure.GREY, "v"),
    "LDA, shrunk": (figure.SKY_BLUE, "X"),
}


def _ranked(arena: Arena, names: Sequence[str], metric: str) -> list[str]:
    """Return the linear competitors, ours among them, that have the metric on every set."""
    sets = arena.measured(names, metric, [TUNED])
    return [r for r in (*OURS, *LINEAR) if len(arena.measured(sets, metric, [r])) == len(sets)]


def lines(arena: Arena) -> list[str]:
    """Return the report."""
    columns = ("sets", "metric", "ours", "wins", "ties", "losses", "won on", "lost on")
    lines = [
        "# The arena",
        "",
        "All competitors on the same folds; how: see `run.py`. Values are means over the folds of",
        "whole repeats.",
        f"Wins and losses: the corrected t-test for repeated cross-validation at {LEVEL:.0%}. The",
        "best rival of a set is chosen with the test folds in view, so it has an edge.",
    ]
    for title, rivals in (
        ("Wins, ties and losses against the best linear rival of each set", LINEAR),
        (f"Against {TUNED} alone", (TUNED,)),
    ):
        lines += ["", f"## {title}", "", *header(*columns)]
        for kind, names in SETS.items():
            for metric in METRICS:
                lines += _counts(arena, kind, names, metric, rivals)
    lines += ["", "## Mean ranks of the linear ones, one the best", ""]
    lines += _rank_table(arena)
    lines += ["", "## What a line cannot reach", "", *_beyond(arena)]
    lines += ["", f"## CPU of the whole choice, to that of {TUNED} (median over folds)", ""]
    lines += header("competitor", "ratio")
    lines += [line(rival, f"{arena.cpu_ratio(rival):.2f}") for rival in RIVALS]
    for kind, names in SETS.items():
        for metric in METRICS:
            lines += _values(arena, f"{kind} sets", names, metric)
    large = LargeArena()
    for metric in METRICS:
        lines += _values(large, "large sets, whole", tuple(large.shapes), metric)
    return lines


def _counts(
    arena: Arena, kind: str, names: Sequence[str], metric: str, rivals: Sequence[str]
) -> list[str]:
    available = arena.available(names, metric)
    lines = []
    for ours in arena.ours:
        sets = arena.outcomes(names, metric, ours, [r for r in rivals if r in available])
        counts = (str(len(names_of_word)) for names_of_word in sets.values())
        lists = (", ".join(map(_short, sets[word])) for word in ("win", "loss"))
        lines.append(line(kind, metric, ours, *counts, *lists))
    return lines


def _rank_table(arena: Arena) -> list[str]:
    """Return mean ranks; a critical difference by Nemenyi after Friedman's test."""
    every = [rival for rival in (*OURS, *LINEAR) if rival in arena.rivals]
    lines = header("sets", "metric", "n", *every, "critical difference", "Friedman p")
    for kind, names in SETS.items():
        for metric in METRICS:
            rivals = _ranked(arena, names, metric)
            ranks = arena.ranks(names, metric, rivals)
            if len(ranks) < 2:
                continue
            n = len(ranks)
            critical = critical_difference(*ranks.shape, LEVEL)
            p = stats.friedmanchisquare(*ranks.T).pvalue
            means = dict(zip(rivals, ranks.mean(axis=0), strict=True))
            best = min(means.values())
            cells = (
                bold_if(f"{means[r]:.2f}", means[r] == best) if r in means else "" for r in every
            )
            lines.append(line(kind, metric, str(n), *cells, f"{critical:.2f}", f"{p:.1g}"))
    return lines


def _values(arena: Arena, kind: str, names: Sequence[str], metric: str) -> list[str]:
    def cells(means: Sequence[float | None]) -> list[str]:
        return ["" if m is None else f"{arena.signed(metric, m):.4f}" for m in means]

    return value_table(arena, f"{metric.capitalize()}, {kind}", names, metric, cells, _short)


def value_table(
    arena: Arena,
    title: str,
    names: Sequence[str],
    metric: str,
    cells: Callable[[Sequence[float | None]], list[str]],
    shown: Callable[[str], str] = str,
) -> list[str]:
    """Return the means of all competitors on each set that any was measured on; [] if none was."""
    rivals = [r for r in arena.rivals if arena.measured(names, metric, [r])]
    rows = []
    for name in names:
        folds = [arena.folds(name, metric, [rival]) for rival in rivals]
        means = [None if of is None else float(of.mean()) for of in folds]
        if any(mean is not None for mean in means):
            rows.append((shown(name), arena.shapes[name], *cells(means)))
    direction = "more" if arena.metrics[metric].greater_is_better else "less"
    columns = ("set", "n x d", *rivals)
    return table(" | ".join(columns), rows, f"{title} ({direction} is better)") if rows else []


def _beyond(arena: Arena) -> list[str]:
    """Return on how many sets trees are better than the best line of the set, ours included."""
    lines = header("metric", "sets", "trees or naive Bayes better than every line, significantly")
    for metric in METRICS:
        outcomes = [
            arena.outcomes(SETS["general"], metric, reference, (*arena.ours, *LINEAR))
            for reference in REFERENCES
        ]
        sets = {name for outcome in outcomes for names in outcome.values() for name in names}
        better = {name for outcome in outcomes for name in outcome["win"]}
        if sets:
            lines.append(line(metric, str(len(sets)), str(len(better))))
    link = "[on 18 sets](../studies/beyond_lines.md)"
    return [*lines, "", f"What splines and Nystroem before a line make up of that: {link}."]


def _short(name: str) -> str:
    return name.removeprefix("keel/")


def draw(arena: Arena) -> None:
    """Draw mean ranks: a panel for each kind of sets, a row of dots for each metric."""
    drawn = figure.new_figure(5.2 * len(SETS), 4.6, layout=None)
    panels = drawn.subplots(1, len(SETS), sharey=True, squeeze=False)[0]
    for panel, (kind, names) in zip(panels, SETS.items(), strict=True):
        ranks = {metric: _mean_ranks(arena, names, metric) for metric in METRICS}
        metrics = [metric for metric in METRICS if ranks[metric]]
        for height, metric in enumerate(metrics):
            for rival, rank in ranks[metric].items():
                colour, marker = _STYLES.get(rival, ("0.8", "."))
                label = rival if height == 0 and rival in _STYLES else None
                order = 3 if rival in _STYLES else 1
                size = 130 if marker == "*" else 45  # a star looks smaller than it is
                panel.scatter(
                    rank, height, color=colour, marker=marker, s=size, label=label, zorder=order
                )
        panel.set_yticks(range(len(metrics)), metrics)
        panel.grid(axis="y", color="0.9")
        panel.set_title(f"{len(arena.measured(names, 'error', [TUNED]))} {kind} sets")
        panel.set_xlabel("mean rank of the linear ones (1 is best)")
    panels[0].invert_yaxis()  # of all, as they share it
    handles, labels = panels[0].get_legend_handles_labels()
    drawn.legend(handles, labels, ncols=4, loc="lower center", frameon=False, fontsize=9)
    drawn.tight_layout(rect=(0, 0.1, 1, 1))
    drawn.savefig(FIGURE, dpi=110)


def _mean_ranks(arena: Arena, names: Sequence[str], metric: str) -> dict[str, float]:
    rivals = _ranked(arena, names, metric)
    ranks = arena.ranks(names, metric, rivals)
    return dict(zip(rivals, ranks.mean(axis=0), strict=True)) if len(ranks) else {}


# ── the run ───────────────────────────────────────────────────────────────────────────────────────


#: Too slow for what they tell, where rows are many.
NOT_WHOLE = ("LibAUC", "Vowpal Wabbit", "pairwise hinge", "SMOTE + logistic", "XGBoost, pairwise")
NOT_QUICK = ("LibAUC", "Vowpal Wabbit")


def measured(task: Task, names: Sequence[str]) -> list[Score]:
    """Fit competitors to the training rows of a fold, and score the others for every metric."""
    train, test = split(task)
    n, d = len(train.y) + len(test.y), train.X.shape[1]
    fold_scores, unit = [], 1.0
    # Tuned logistic regression is the unit of CPU time, so it runs whether asked for or not.
    for name in dict.fromkeys([TUNED, *names]):
        scores, spent = timed(RIVALS[name].scores, train, test, METRICS)
        unit = spent if name == TUNED else unit
        values = {key: METRICS[key].score(test.y, scores[key]) for key in scores}
        about = (task.name, n, d, task.repeat, task.fold, name)
        fold_scores.append(Score(*about, spent, spent / unit, commit(), values))
    return [score for score in fold_scores if score.rival in names]


def plan(args: argparse.Namespace) -> Iterator[tuple[str, int, int, str]]:
    """Yield set, repeat, fold and competitor of all that can be measured here."""
    for name, rival in RIVALS.items():
        if rival.missing:
            print(f"not run: {name}; try: pip install {rival.missing}")
    left_out = {*args.without, *NOT_WHOLE * args.large, *NOT_QUICK * args.quick}
    able = [name for name, rival in RIVALS.items() if not rival.missing and name not in left_out]
    for task in planned(quick=args.quick, large=args.large):
        yield from ((*task[:3], name) for name in able)


def _rows(
    name: str, repeat: int, fold: int, rivals: list[tuple[str]], *, whole: bool = False
) -> list[tuple[object, ...]]:
    task = Task(name, repeat, fold, whole)
    return [score.cells(METRICS) for score in measured(task, [rival for (rival,) in rivals])]


def compare(args: argparse.Namespace) -> None:
    """Measure small sets again, and fail where they are far from the tracked figures."""
    again: list[Score] = []
    for *fold, rivals in tqdm(grouped(plan(args), 3)):
        again += measured(Task(*fold), [rival for (rival,) in rivals])
    raise SystemExit(drift(again) or 0)


STUDY = Study(
    [
        Part(MEASURED, lambda args: () if args.large else plan(args), _rows, 3),
        Part(LARGE, lambda args: plan(args) if args.large else (), partial(_rows, whole=True), 3),
    ],
    lambda _: lines(Arena()),
    quick="three small sets, compared only",
    options={
        "--large": {"action": "store_true", "help": "the large sets, whole"},
        "--jobs": None,
        "--without": {"nargs": "*", "default": [], "choices": RIVALS, "help": "left for later"},
    },
    try_out=compare,
    report_path=REPORT,
    draw=lambda: draw(Arena()),
)

if __name__ == "__main__":
    STUDY.main(__doc__)
