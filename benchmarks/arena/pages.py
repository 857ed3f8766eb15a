"""What the documentation says of the arena: the page "Evidence", and tables inside other pages.

``python -m benchmarks.arena.pages`` writes ``docs/evidence.md`` and its picture, and the tables
between two comments each in the other pages, from the tracked files. It measures nothing. A test
compares the pages with what it would write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.arena import evidence
from benchmarks.arena.protocol import SETS
from benchmarks.arena.results import Arena
from benchmarks.harness.markdown import bold_if, header, line
from benchmarks.rivals import LINEAR, TUNED

ROOT = Path(__file__).parents[2]
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
USUAL = (TUNED, BALANCED, "logistic", "linear SVC, tuned", "LDA, shrunk")
SHOWN = ("error", "AUC", "recall at FPR 1 %", "precision at top 1 %", "PRBEP", "F1", "cost 1:20")
AT_ONE_PERCENT = ("magic04", "ijcnn1", "mammography", "covtype", "vowel", "spambase", "german")


def counts(
    arena: Arena, names: Sequence[str], metric: str, ours: str, rivals: Sequence[str]
) -> str:
    """Return wins, ties and losses against the best of these rivals on each set."""
    outcomes = arena.outcomes(names, metric, ours, rivals)
    return " / ".join(str(len(sets)) for sets in outcomes.values())


def _linear_rivals(arena: Arena, names: Sequence[str], metric: str) -> list[str]:
    available = arena.available(names, metric)
    return [rival for rival in LINEAR if rival in available]


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
    """Write the page, its picture and the tables."""
    everything = evidence.Everything()
    evidence.PAGE.write_text(evidence.text(everything), encoding="utf-8")
    evidence.picture(everything).savefig(evidence.PICTURE, dpi=110)
    arena = Arena()
    for page in dict.fromkeys(page for page, _ in BLOCKS):
        (ROOT / page).write_text(embedded(page, arena), encoding="utf-8")


if __name__ == "__main__":
    main()
