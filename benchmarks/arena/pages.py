"""What the documentation says of the arena: the page "Evidence", and tables inside other pages.

``python -m benchmarks.arena.pages`` writes ``docs/evidence.md``, and the tables between two
comments each in the other pages, from the tracked files. It measures nothing. A test compares the
pages with what it would write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.arena.protocol import METRICS, SETS
from benchmarks.arena.results import Arena, Verdict
from benchmarks.harness.markdown import bold_if, header, line
from benchmarks.rivals import LINEAR, REFERENCES, RIVALS, TUNED

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence.md"
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
USUAL = (TUNED, BALANCED, "logistic", "linear SVC, tuned", "LDA, shrunk")
SHOWN = ("error", "AUC", "recall at FPR 1 %", "precision at top 1 %", "PRBEP", "F1", "cost 1:20")
AT_ONE_PERCENT = ("magic04", "ijcnn1", "mammography", "covtype", "vowel", "spambase", "german")
_PAPERS = "benchmarks/papers"
#: Reports that have verdicts of their own, and what they are about.
REPORTS = {
    f"{_PAPERS}/ghanbari_2019/tables.md": "training from moments (Ghanbari and others 2019)",
    f"{_PAPERS}/ghanbari_2018/tables.md": "descents on their risks (Ghanbari and Scheinberg 2018)",
    f"{_PAPERS}/zhang_2012/figures.md": "smoothed losses (Zhang and others 2012)",
    f"{_PAPERS}/zhang_2012/trajectories.md": "their metrics along the way",
    f"{_PAPERS}/hasan_pal_2015/tables.md": "Beta-Bernoulli models (Hasan and Pal)",
    f"{_PAPERS}/hasan_pal_2015/kernels.md": "their kernels and support vectors",
    f"{_PAPERS}/hasan_pal_2015/calibration.md": "their probabilities",
    f"{_PAPERS}/hasan_pal_2015/joint_inference/joint_inference.md": "them in a graphical model",
    "benchmarks/arena/arena.md": "the arena: every value, set by set",
}


def counts(
    arena: Arena, names: Sequence[str], metric: str, ours: str, rivals: Sequence[str]
) -> str:
    """Return wins, ties and losses against the best of these rivals on each set."""
    outcomes = arena.outcomes(names, metric, ours, rivals)
    return " / ".join(str(len(sets)) for sets in outcomes.values())


# ── the page "Evidence" ───────────────────────────────────────────────────────────────────────────


def text(arena: Arena) -> str:
    """Return the page."""
    lines = [
        "# Evidence",
        "",
        "This page is made from tracked measurements by `python -m benchmarks.arena.pages`. Every",
        "competitor sees the same folds and is tuned on the same inner folds; a win or a loss is",
        "significant at 5 % by the corrected t-test for repeated cross-validation, all else is a",
        "tie. On each set we are compared with the linear rival that is best on its test rows,",
        "which favours the rivals. The protocol is in `benchmarks/arena/run.py`.",
        "",
        _extent(arena),
        "",
        "![Mean ranks](../benchmarks/arena/ranks.png)",
    ]
    for kind, names in SETS.items():
        lines += ["", f"## {kind.capitalize()} sets: wins, ties and losses", ""]
        lines += header("metric", *(CLASSES[ours] for ours in arena.ours))
        for metric in METRICS:
            rivals = _linear_rivals(arena, names, metric)
            cells = (counts(arena, names, metric, ours, rivals) for ours in arena.ours)
            lines.append(line(metric, *cells))
    lines += ["", "## DirectClassifier against what people use today", "", *_today(arena)]
    lines += ["", "## Recall where few false positives are allowed", ""]
    lines += [sentence for ours in ("direct", "smooth") for sentence in (_recall(arena, ours), "")]
    lines.pop()
    lines += ["", "## Where we lose, and what to use instead", "", *_losses(arena)]
    lines += ["", "## What a line cannot reach", "", *_beyond(arena)]
    lines += ["", "## What the papers claim", ""]
    lines += [
        "Each report has the printed figures beside ours, and says whether the claim holds.",
        "",
    ]
    lines += [f"- [{about}](../{path})" for path, about in REPORTS.items()]
    return "\n".join(lines) + "\n"


def _extent(arena: Arena) -> str:
    sets = {kind: len(arena.measured(names, "error", [TUNED])) for kind, names in SETS.items()}
    again = {(score.name, score.rival) for score in arena.scores if score.repeat}
    folds = "five folds"
    if again:
        rivals = {rival for _, rival in again}
        folds += f"; on {len({name for name, _ in again})} sets five others, of "
        folds += "; ".join(name for name in RIVALS if name in rivals)
    return (
        f"{sets['general']} of {len(SETS['general'])} general and {sets['imbalanced']} of "
        f"{len(SETS['imbalanced'])} imbalanced sets, at most 10,000 rows a set; {folds}."
    )


def _linear_rivals(arena: Arena, names: Sequence[str], metric: str) -> list[str]:
    available = arena.available(names, metric)
    return [rival for rival in LINEAR if rival in available]


def _today(arena: Arena) -> list[str]:
    """Return counts against the usual competitors, and mean ranks among them."""
    lines = [
        "Against the best of the usual competitors on each general set, by all folds that they",
        "have in common:",
        "",
        *header("metric", "competitors", "wins", "ties", "losses", "won on", "lost on"),
    ]
    for metric, rivals in USED_TODAY.items():
        sets = arena.outcomes(SETS["general"], metric, "direct", rivals)
        numbers = (str(len(names)) for names in sets.values())
        lists = (", ".join(sets[word]) for word in ("win", "loss"))
        lines.append(line(metric, "; ".join(rivals), *numbers, *lists))
    lines += ["", "Mean ranks among them (1 is best; ties share a rank):", ""]
    lines += header("sets", "metric", "n", "ranks")
    comparisons = [("general", metric, rivals) for metric, rivals in USED_TODAY.items()]
    comparisons += [("imbalanced", metric, USED_FOR_RARE) for metric in RARE]
    for kind, metric, rivals in comparisons:
        every = ["direct", *rivals]
        ranks = arena.ranks(SETS[kind], metric, every)
        if len(ranks):
            means = zip(every, ranks.mean(axis=0), strict=True)
            cell = "; ".join(f"{name} {mean:.2f}" for name, mean in means)
            lines.append(line(kind, metric, str(len(ranks)), cell))
    return lines


def _recall(arena: Arena, classifier: str) -> str:
    """Return the gain at one false positive in a hundred over logistic regression, tuned."""
    metric, gains = "recall at FPR 1 %", []
    for name in SETS["general"]:
        table = arena.folds(name, metric, [classifier, TUNED])
        if table is not None:
            ours, theirs = table.mean(axis=1)
            if theirs >= 0.02:
                gains.append(ours / theirs - 1.0)
    mean, median = 100 * np.mean(gains), 100 * np.median(gains)
    return (
        f"{CLASSES[classifier]} against tuned logistic regression, on the {len(gains)} general "
        "sets where the latter catches 2 % or more: the recall at a false-positive rate of 1 % is "
        f"{mean:+.0f} % in the mean, {median:+.0f} % in the median, relative to its own."
    )


def _losses(arena: Arena) -> list[str]:
    """Return each significant loss, and the rival that wins it."""
    lines = header("metric", "ours", "set", "better", "by")
    for names in SETS.values():
        for metric in METRICS:
            rivals = _linear_rivals(arena, names, metric)
            for ours in arena.ours:
                verdicts = arena.verdicts(names, metric, ours, rivals)
                for name, (rival, verdict) in verdicts.items():
                    if verdict.word == "loss":
                        cells = CLASSES[ours], name.removeprefix("keel/"), rival
                        lines.append(line(metric, *cells, f"{-verdict.mean:.4f}"))
    return lines


def _beyond(arena: Arena) -> list[str]:
    """Return on how many sets trees are better than every line, ours included."""
    lines = header("metric", "sets", "trees or naive Bayes better than every line, significantly")
    for metric in METRICS:
        available = arena.available(SETS["general"], metric)
        references = [rival for rival in REFERENCES if rival in available]
        linear = [rival for rival in (*arena.ours, *LINEAR) if rival in available]
        sets = arena.measured(SETS["general"], metric, [*references, *linear])
        better = sum(
            any(_is_better(arena, name, metric, reference, linear) for reference in references)
            for name in sets
        )
        lines.append(line(metric, str(len(sets)), str(better)))
    table = "[on 18 sets](../benchmarks/studies/beyond_lines.md)"
    return [*lines, "", f"What splines and Nystroem before a line make up of that: {table}."]


def _is_better(arena: Arena, name: str, metric: str, reference: str, linear: Sequence[str]) -> bool:
    verdict: Verdict
    _, verdict = arena.verdicts([name], metric, reference, linear)[name]
    return verdict.word == "win"


# ── tables inside other pages ─────────────────────────────────────────────────────────────────────


def against_usual(arena: Arena, ours: str) -> list[str]:
    """Return how one of ours does against the usual competitors on general sets."""
    lines = header(
        "metric", "wins / ties / losses, best of the usual five", "tuned logistic regression alone"
    )
    for metric in SHOWN:
        cells = (
            counts(arena, SETS["general"], metric, ours, rivals) for rivals in (USUAL, (TUNED,))
        )
        lines.append(line(metric, *cells))
    return lines


def six_rows(arena: Arena) -> list[str]:
    """Return the summary of DirectClassifier against what people use today."""
    lines = header("metric", "sets", "against the best of", "wins / ties / losses", "mean rank")
    comparisons = [("general", metric, rivals) for metric, rivals in USED_TODAY.items()]
    comparisons += [("imbalanced", metric, USED_FOR_RARE) for metric in ("F1", "balanced error")]
    for kind, metric, rivals in comparisons:
        names, every = SETS[kind], ["direct", *rivals]
        ranks = arena.ranks(names, metric, every)
        first, *others = ranks.mean(axis=0) if len(ranks) else [0.0] * len(every)
        lines.append(
            line(
                metric,
                f"{len(ranks)} {kind}",
                "; ".join(rivals),
                counts(arena, names, metric, "direct", rivals),
                f"{first:.2f}, theirs {min(others):.2f} at best",
            )
        )
    return lines


def linear_rows(arena: Arena) -> list[str]:
    """Return how DirectClassifier does against the best of all linear competitors, for README."""
    lines = header("metric", "sets", "wins / ties / losses", "median gain over logistic regression")
    comparisons = [("general", metric) for metric in USED_TODAY]
    comparisons += [("imbalanced", metric) for metric in ("F1", "balanced error")]
    for kind, metric in comparisons:
        names = SETS[kind]
        tables = [arena.folds(name, metric, ["direct", TUNED]) for name in names]
        gains = [np.subtract(*table.mean(axis=1)) for table in tables if table is not None]
        rivals = _linear_rivals(arena, names, metric)
        cells = counts(arena, names, metric, "direct", rivals), f"{np.median(gains):+.4f}"
        lines.append(line(metric, f"{len(gains)} {kind}", *cells))
    return lines


def at_one_percent(arena: Arena) -> list[str]:
    """Return recall at a false-positive rate of 1 % on some sets."""
    metric, rivals = "recall at FPR 1 %", (TUNED, BALANCED, *CLASSES)
    lines = header(metric, TUNED, BALANCED, *CLASSES.values())
    for name in AT_ONE_PERCENT:
        table = arena.folds(name, metric, rivals)
        if table is not None:
            means = table.mean(axis=1)
            cells = (bold_if(f"{mean:.3f}", mean == means.max()) for mean in means)
            lines.append(line(name, *cells))
    return lines


#: By page and name of the block.
BLOCKS: dict[tuple[str, str], Callable[[Arena], list[str]]] = {
    ("README.md", "linear models"): linear_rows,
    ("docs/direct-classifier.md", "six rows"): six_rows,
    ("docs/moment-classifier.md", "usual"): partial(against_usual, ours="moment"),
    ("docs/smooth-classifier.md", "usual"): partial(against_usual, ours="smooth"),
    ("docs/smooth-classifier.md", "one percent"): at_one_percent,
}


def embedded(page: str, arena: Arena) -> str:
    """Return the text of a page with its tables made anew."""
    text_of_page = (ROOT / page).read_text(encoding="utf-8")
    for (block_page, name), table in BLOCKS.items():
        if block_page == page:
            begin = f"<!-- {name}: made by benchmarks.arena.pages -->\n"
            end = f"<!-- {name}: end -->"
            before, rest = text_of_page.split(begin)
            block = "\n".join(table(arena))
            text_of_page = f"{before}{begin}\n{block}\n\n{end}{rest.split(end)[1]}"
    return text_of_page


def main() -> None:
    """Write the page and the tables."""
    arena = Arena()
    PAGE.write_text(text(arena), encoding="utf-8")
    for page in dict.fromkeys(page for page, _ in BLOCKS):
        (ROOT / page).write_text(embedded(page, arena), encoding="utf-8")


if __name__ == "__main__":
    main()
