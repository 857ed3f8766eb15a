"""Tables of the arena inside other pages, between two comments each.

``python -m benchmarks.embedded`` writes them anew from the tracked file, and measures nothing. A
test compares the pages with what it would write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from benchmarks.arena.protocol import METRICS
from benchmarks.arena.report import KINDS, Arena
from benchmarks.evidence import BALANCED, CLASSES, USED_FOR_RARE, USED_TODAY
from benchmarks.markdown import header, line
from benchmarks.rivals import TUNED

ROOT = Path(__file__).parents[1]
USUAL = (TUNED, BALANCED, "logistic", "linear SVC, tuned", "LDA, shrunk")
SHOWN = ("error", "AUC", "recall at FPR 1 %", "precision at top 1 %", "PRBEP", "F1", "cost 1:20")
AT_ONE_PERCENT = ("magic04", "ijcnn1", "mammography", "covtype", "vowel", "spambase", "german")


def counts(
    arena: Arena, names: Sequence[str], metric: str, ours: str, rivals: Sequence[str]
) -> str:
    """Return wins, ties and losses against the best of these rivals on each set."""
    words = [own.word for _, own in arena.verdicts(names, metric, ours, rivals).values()]
    return " / ".join(str(words.count(word)) for word in ("win", "tie", "loss"))


def against_usual(arena: Arena, ours: str) -> list[str]:
    """Return how one of ours does against the usual competitors on general sets."""
    lines = header(
        "metric", "wins / ties / losses, best of the usual five", "tuned logistic regression alone"
    )
    for metric in SHOWN:
        cells = (
            counts(arena, KINDS["general"], metric, ours, rivals) for rivals in (USUAL, (TUNED,))
        )
        lines.append(line(metric, *cells))
    return lines


def six_rows(arena: Arena) -> list[str]:
    """Return what README says of DirectClassifier."""
    lines = header("metric", "sets", "against the best of", "wins / ties / losses", "mean rank")
    asked = [("general", metric, rivals) for metric, rivals in USED_TODAY.items()]
    asked += [("imbalanced", metric, USED_FOR_RARE) for metric in ("F1", "balanced error")]
    for kind, metric, rivals in asked:
        names, every = KINDS[kind], ["direct", *rivals]
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


def at_one_percent(arena: Arena) -> list[str]:
    """Return recall at a false-positive rate of 1 % on some sets."""
    metric, rivals = "recall at FPR 1 %", (TUNED, BALANCED, *CLASSES)
    lines = header(metric, TUNED, BALANCED, *CLASSES.values())
    for name in AT_ONE_PERCENT:
        table = arena.folds(name, metric, rivals)
        if table is not None:
            means = table.mean(axis=1)
            cells = (f"**{own:.3f}**" if own == means.max() else f"{own:.3f}" for own in means)
            lines.append(line(name, *cells))
    return lines


#: By page and name of the block.
BLOCKS: dict[tuple[str, str], Callable[[Arena], list[str]]] = {
    ("README.md", "six rows"): six_rows,
    ("docs/direct-classifier.md", "six rows"): six_rows,
    ("docs/moment-classifier.md", "usual"): partial(against_usual, ours="moment"),
    ("docs/smooth-classifier.md", "usual"): partial(against_usual, ours="smooth"),
    ("docs/smooth-classifier.md", "one percent"): at_one_percent,
}


def embedded(page: str, arena: Arena) -> str:
    """Return the text of a page with its tables made anew."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for (own, name), table in BLOCKS.items():
        if own == page:
            begin, end = f"<!-- {name}: made by benchmarks.embedded -->\n", f"<!-- {name}: end -->"
            before, rest = text.split(begin)
            text = (
                before + begin + "\n" + "\n".join(table(arena)) + "\n\n" + end + rest.split(end)[1]
            )
    return text


def main() -> None:
    """Write the tables into their pages."""
    assert set(SHOWN) <= set(METRICS)
    arena = Arena()
    for page in dict.fromkeys(page for page, _ in BLOCKS):
        (ROOT / page).write_text(embedded(page, arena), encoding="utf-8")


if __name__ == "__main__":
    main()
