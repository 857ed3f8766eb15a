"""The page "Evidence": where our classifiers win, where it is level, where they lose.

``python -m benchmarks.evidence`` writes ``docs/evidence.md`` from the tracked files, and measures
nothing. A test compares the page with what it would write.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.arena.protocol import METRICS
from benchmarks.arena.report import KINDS, LINEAR, REFERENCES, Arena, Verdict
from benchmarks.markdown import header, line
from benchmarks.rivals import RIVALS, TUNED

PAGE = Path(__file__).parents[1] / "docs" / "evidence.md"
CLASSES = {
    "direct": "DirectClassifier",
    "moment": "MomentClassifier",
    "smooth": "SmoothClassifier",
    "beta-bernoulli": "BetaBernoulliClassifier",
}
BALANCED = "balanced logistic, tuned"
#: What people use today, by metric: what DirectClassifier is to replace.
USED_TODAY = {
    "error": (TUNED, "linear SVC, tuned", "LDA, shrunk"),
    "AUC": (TUNED, "linear SVC, tuned", "LDA, shrunk"),
    "recall at FPR 1 %": (TUNED, BALANCED),
    "precision at top 1 %": (TUNED, BALANCED),
}
#: The same where one class is rare.
USED_FOR_RARE = (BALANCED, "SMOTE + logistic", "logistic, tuned threshold")
RARE = ("balanced error", "F1", "G-mean")
#: Reports that have verdicts of their own, and what they are about.
REPORTS = {
    "benchmarks/moment_training/tables.md": "training from moments (Ghanbari and others 2019)",
    "benchmarks/moment_descent/tables.md": "descents on their risks (Ghanbari and Scheinberg 2018)",
    "benchmarks/smoothing/published_figures/figures.md": "smoothed losses (Zhang and others 2012)",
    "benchmarks/smoothing/trajectories.md": "their metrics along the way",
    "benchmarks/beta_bernoulli/tables.md": "Beta-Bernoulli models (Hasan and Pal)",
    "benchmarks/beta_bernoulli/kernels/kernels.md": "their kernels and support vectors",
    "benchmarks/beta_bernoulli/calibration/calibration.md": "their probabilities",
    "benchmarks/beta_bernoulli/joint_inference/joint_inference.md": "them in a graphical model",
    "benchmarks/arena/arena.md": "the arena: every value, set by set",
}


def text(arena: Arena) -> str:
    """Return the page."""
    lines = [
        "# Evidence",
        "",
        "This page is made from tracked measurements by `python -m benchmarks.evidence`. Every",
        "competitor sees the same folds and is tuned on the same inner folds; a win or a loss is",
        "significant at 5 % by the corrected t-test for repeated cross-validation, all else is a",
        "tie. Each set is compared with the linear rival that is best on that very set, seen from",
        "the test rows, so that rivals have an edge. How: `benchmarks/arena/run.py`.",
        "",
        _extent(arena),
        "",
        "![Mean ranks](../benchmarks/arena/ranks.png)",
    ]
    for kind, names in KINDS.items():
        lines += ["", f"## {kind.capitalize()} sets: wins, ties and losses", ""]
        lines += header("metric", *(CLASSES[ours] for ours in arena.ours))
        for metric in METRICS:
            cells = []
            for ours in arena.ours:
                words = [own.word for _, own in _verdicts(arena, names, metric, ours).values()]
                cells.append(" / ".join(str(words.count(w)) for w in ("win", "tie", "loss")))
            lines.append(line(metric, *cells))
    lines += ["", "## DirectClassifier against what people use today", "", *_today(arena)]
    lines += ["", "## Recall where few false positives are allowed", ""]
    lines += [sentence for ours in ("direct", "smooth") for sentence in (*_recall(arena, ours), "")]
    lines.pop()
    lines += ["", "## Where we lose, and what to use instead", "", *_losses(arena)]
    lines += ["", "## What a line cannot reach", "", *_beyond(arena)]
    lines += ["", "## What the papers claim", ""]
    lines += [
        "Each report has the printed figures beside ours, and says whether the claim holds.",
        "",
    ]
    root = PAGE.parents[1]
    lines += [
        f"- [{about}](../{path})" for path, about in REPORTS.items() if (root / path).exists()
    ]
    return "\n".join(lines) + "\n"


def _extent(arena: Arena) -> str:
    sets = {kind: len(arena.measured(names, "error", [TUNED])) for kind, names in KINDS.items()}
    again = {(line.name, line.rival) for line in arena.lines if line.repeat}
    folds = "five folds"
    if again:
        places = f"{len({name for name, _ in again})} sets"
        folds += f"; on {places} five others, of {_listed({rival for _, rival in again})}"
    return (
        f"{sets['general']} of {len(KINDS['general'])} general and {sets['imbalanced']} of "
        f"{len(KINDS['imbalanced'])} imbalanced sets, at most 10,000 rows a set; {folds}."
    )


def _listed(rivals: set[str]) -> str:
    return "; ".join(name for name in RIVALS if name in rivals)


def _verdicts(
    arena: Arena, names: Sequence[str], metric: str, ours: str
) -> dict[str, tuple[str, Verdict]]:
    able = arena.there(names, metric)
    return arena.verdicts(names, metric, ours, [rival for rival in LINEAR if rival in able])


def _today(arena: Arena) -> list[str]:
    """Return counts against the usual competitors, and mean ranks among them."""
    if "direct" not in arena.ours:
        return ["Not measured yet."]
    lines = [
        "Against the best of the usual competitors on each general set, by all folds that they",
        "have in common:",
        "",
        *header("metric", "competitors", "wins", "ties", "losses", "won on", "lost on"),
    ]
    for metric, rivals in USED_TODAY.items():
        found = arena.verdicts(KINDS["general"], metric, "direct", rivals)
        words = {
            word: [name for name, (_, own) in found.items() if own.word == word]
            for word in ("win", "tie", "loss")
        }
        counts = (str(len(own)) for own in words.values())
        lists = (", ".join(words[word]) for word in ("win", "loss"))
        lines.append(line(metric, "; ".join(rivals), *counts, *lists))
    lines += ["", "Mean ranks among them, one the best, equals sharing theirs:", ""]
    lines += header("sets", "metric", "n", "ranks")
    asked = [("general", metric, rivals) for metric, rivals in USED_TODAY.items()]
    asked += [("imbalanced", metric, USED_FOR_RARE) for metric in RARE]
    for kind, metric, rivals in asked:
        every = ["direct", *rivals]
        ranks = arena.ranks(KINDS[kind], metric, every)
        if len(ranks):
            means = zip(every, ranks.mean(axis=0), strict=True)
            cell = "; ".join(f"{name} {mean:.2f}" for name, mean in means)
            lines.append(line(kind, metric, str(len(ranks)), cell))
    return lines


def _recall(arena: Arena, classifier: str) -> list[str]:
    """Return the gain at one false positive in a hundred over logistic regression, tuned."""
    metric, gains = "recall at FPR 1 %", []
    for name in KINDS["general"]:
        table = arena.folds(name, metric, [classifier, TUNED])
        if table is not None:
            ours, theirs = table.mean(axis=1)
            if theirs >= 0.02:
                gains.append(ours / theirs - 1.0)
    if not gains:
        return ["Not measured yet."]
    mean, median = 100 * np.mean(gains), 100 * np.median(gains)
    found = (
        f"{CLASSES[classifier]} against tuned logistic regression, on the {len(gains)} general "
        "sets where the latter catches 2 % or more: the recall at a false-positive rate of 1 % is "
        f"{mean:+.0f} % in the mean, {median:+.0f} % in the median, relative to its own."
    )
    return [found]


def _losses(arena: Arena) -> list[str]:
    """Return each significant loss, and the rival that wins it."""
    lines = header("metric", "ours", "set", "better", "by")
    for names in KINDS.values():
        for metric in METRICS:
            for ours in arena.ours:
                for name, (rival, own) in _verdicts(arena, names, metric, ours).items():
                    if own.word == "loss":
                        cells = CLASSES[ours], name.removeprefix("keel/"), rival
                        lines.append(line(metric, *cells, f"{-own.mean:.4f}"))
    return lines


def _beyond(arena: Arena) -> list[str]:
    """Return on how many sets trees are better than every line, ours included."""
    lines = header("metric", "sets", "trees or naive Bayes better than every line, significantly")
    for metric in METRICS:
        able = arena.there(KINDS["general"], metric)
        lines_of = [rival for rival in (*arena.ours, *LINEAR) if rival in able]
        better, sets = 0, 0
        for name in KINDS["general"]:
            every = [rival for rival in (*REFERENCES, *lines_of) if rival in able]
            if arena.folds(name, metric, every) is None:
                continue
            sets += 1
            words = []
            for reference in (rival for rival in REFERENCES if rival in able):
                verdict = arena.verdicts([name], metric, reference, lines_of)
                words += [own.word for _, own in verdict.values()]
            better += "win" in words
        lines.append(line(metric, str(sets), str(better)))
    table = "[on 18 sets](../benchmarks/beyond_lines/beyond_lines.md)"
    return [*lines, "", f"What splines and Nystroem before a line make up of that: {table}."]


def main() -> None:
    """Write the page."""
    PAGE.write_text(text(Arena()), encoding="utf-8")


if __name__ == "__main__":
    main()
