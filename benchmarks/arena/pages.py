"""What the documentation says of the arenas, papers and one study, written from the tracked files.

``python -m benchmarks.arena.pages`` writes ``docs/evidence.md`` with its picture, and the
blocks between two comments each in other pages. It measures nothing. A test compares the pages with
what it would write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.arena import evidence
from benchmarks.arena.evidence import (
    DIRECT,
    SHORT,
    Everything,
    fit_costs,
)
from benchmarks.arena.protocol import SETS
from benchmarks.harness.markdown import bold_if, header, line
from benchmarks.papers.claims import Claim, claim_table
from benchmarks.papers.ghanbari_2018 import run as ghanbari_2018
from benchmarks.papers.ghanbari_2019 import report as ghanbari_2019
from benchmarks.papers.hasan_pal_2015 import report as hasan_pal_2015
from benchmarks.papers.zhang_2011 import figures as zhang_2011
from benchmarks.papers.zhang_2011 import trajectories
from benchmarks.rivals.lines import LINEAR, TUNED
from benchmarks.studies import when_it_pays

CLASSES = {
    DIRECT: "DirectClassifier",
    "moment": "MomentClassifier",
    "beta-bernoulli": "PlateauClassifier",
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
RARE_METRICS = ("F1", "balanced error", "G-mean")
USUAL = (TUNED, BALANCED, "logistic", "linear SVC, tuned", "LDA, shrunk")
SHOWN = ("error", "AUC", "recall at FPR 1 %", "precision at top 1 %", "PRBEP", "F1", "cost 1:20")
AT_ONE_PERCENT = ("magic04", "ijcnn1", "mammography", "covtype", "vowel", "spambase", "german")


def counts(
    arena: Everything, names: Sequence[str], metric: str, ours: str, rivals: Sequence[str]
) -> str:
    """Return wins, ties and losses against the best of these rivals on each set."""
    outcomes = arena.outcomes(names, metric, ours, rivals)
    return " / ".join(str(len(sets)) for sets in outcomes.values())


# ── lines on sets of numbers ──────────────────────────────────────────────────────────────────────


def against_usual(arena: Everything, ours: str) -> list[str]:
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


def six_rows(arena: Everything) -> list[str]:
    """Return the summary of DirectClassifier against what people use today."""
    lines = header("metric", "sets", "against the best of", "wins / ties / losses", "mean rank")
    comparisons = [("general", metric, rivals) for metric, rivals in USED_TODAY.items()]
    comparisons += [("imbalanced", metric, USED_FOR_RARE) for metric in RARE_METRICS[:2]]
    for kind, metric, rivals in comparisons:
        names, every = SETS[kind], [DIRECT, *rivals]
        ranks = arena.ranks(names, metric, every)
        first, *others = ranks.mean(axis=0) if len(ranks) else [0.0] * len(every)
        lines.append(
            line(
                metric,
                f"{len(ranks)} {kind}",
                "; ".join(rivals),
                counts(arena, names, metric, DIRECT, rivals),
                f"{first:.2f}, theirs {min(others):.2f} at best",
            )
        )
    return lines


def rare_classes(arena: Everything) -> list[str]:
    """Return mean ranks on imbalanced sets."""
    every = (DIRECT, *USED_FOR_RARE)
    lines = header(
        "metric",
        *(f"mean rank of {SHORT.get(rival, rival)}" for rival in every),
        "DirectClassifier to the best of the others: wins / ties / losses",
    )
    for metric in RARE_METRICS:
        ranks = arena.ranks(SETS["imbalanced"], metric, every).mean(axis=0)
        cells = (bold_if(f"{rank:.2f}", rank == ranks.min()) for rank in ranks)
        outcomes = counts(arena, SETS["imbalanced"], metric, DIRECT, USED_FOR_RARE)
        lines.append(line(metric, *cells, outcomes))
    return lines


def linear_rows(arena: Everything) -> list[str]:
    """Return how DirectClassifier does against the best of all linear competitors."""
    lines = header("metric", "sets", "wins / ties / losses", "median gain over logistic regression")
    comparisons = [("general", metric) for metric in USED_TODAY]
    comparisons += [("imbalanced", metric) for metric in RARE_METRICS[:2]]
    for kind, metric in comparisons:
        names = SETS[kind]
        gains = np.subtract(*arena.means(names, metric, [DIRECT, TUNED]).T)
        available = arena.available(names, metric)
        rivals = [rival for rival in LINEAR if rival in available]
        cells = counts(arena, names, metric, DIRECT, rivals), f"{np.median(gains):+.4f}"
        lines.append(line(metric, f"{len(gains)} {kind}", *cells))
    return lines


def at_one_percent(arena: Everything) -> list[str]:
    """Return recall at a false-positive rate of 1 % on some sets."""
    metric, rivals = "recall at FPR 1 %", (TUNED, BALANCED, *CLASSES)
    lines = header(metric, TUNED, BALANCED, *CLASSES.values())
    for name in AT_ONE_PERCENT:
        for means in arena.means([name], metric, rivals):
            cells = (bold_if(f"{mean:.3f}", mean == means.max()) for mean in means)
            lines.append(line(name, *cells))
    return lines


def training_time(_: Everything) -> list[str]:
    """Return the CPU time of a fit to that of LogisticRegressionCV."""
    lines = header(
        "metric | DirectClassifier, median (range) | GridSearchCV | with TunedThresholdClassifierCV"
    )
    costs = fit_costs()
    for metric in ("error", "recall at FPR 1 %", "AUC"):
        ours, grid = costs[metric], costs[f"{metric} by GridSearchCV"]
        threshold = costs.get(f"{metric} by TunedThresholdClassifierCV")
        lines.append(
            line(
                metric,
                f"{np.median(ours):.1f} ({min(ours):.1f} to {max(ours):.1f})",
                f"{np.median(grid):.1f}",
                f"{np.median(threshold):.1f}" if threshold else "no threshold",
            )
        )
    return lines


# ── cards on tables ───────────────────────────────────────────────────────────────────────────────


# ── papers ────────────────────────────────────────────────────────────────────────────────────────


def paper_claims(_: Everything, claims: Callable[[], list[Claim]]) -> list[str]:
    """Return the verdict on each claim of a paper's abstract."""
    return claim_table(claims())


def paper_trajectories(_: Everything) -> list[str]:
    """Return the claims of a section of a paper, with the figures that they are judged by."""
    return trajectories.short_table(trajectories.TRAJECTORIES.rows())


def verdicts(_: Everything) -> list[str]:
    """Return how many claims of each paper hold."""
    words = ("holds in part", "holds", "does not hold", "not measured")
    lines = header("paper", *(words[k] for k in (1, 0, 2, 3)), "where")
    for paper, page in PAGES_OF_PAPERS.items():
        claims = paper.claims()
        found = [next(word for word in words if c.verdict.startswith(word)) for c in claims]
        lines.append(line(claims[0].paper, *(found.count(words[k]) for k in (1, 0, 2, 3)), page))
    return lines


# ── when training for the metric pays ─────────────────────────────────────────────────────────────


def when_training_pays(_: Everything, begin: str = "", end: str = "") -> list[str]:
    """Return when training for the metric pays, in two sentences."""
    return [f"{begin}{said}{end}" for said in when_it_pays.claim()]


def gains_of_training(_: Everything, described: dict[str, str]) -> list[str]:
    """Return what training for the metric gains, case by case."""
    return when_it_pays.cases_of_page(described)


PAGES_OF_PAPERS = {
    ghanbari_2018: "[verdicts](theory/moment-training.md#descent-on-moments)",
    ghanbari_2019: "[verdicts](theory/moment-training.md)",
    zhang_2011: "[verdicts](theory/smoothing.md)",
    hasan_pal_2015: "[verdicts](theory/beta-bernoulli.md#reproduction-of-the-papers-tables)",
}


#: By page and name of the block.
BLOCKS: dict[tuple[str, str], Callable[[Everything], list[str]]] = {
    ("README.md", "training"): partial(
        when_training_pays,
        begin="**Training for the metric.** ",
        end=" [Every case](docs/when-it-pays.md), with a picture.",
    ),
    ("docs/direct-classifier.md", "linear models"): linear_rows,
    ("docs/direct-classifier.md", "six rows"): six_rows,
    ("docs/direct-classifier.md", "training time"): training_time,
    ("docs/imbalance.md", "rare classes"): rare_classes,
    ("docs/moment-classifier.md", "usual"): partial(against_usual, ours="moment"),
    ("docs/papers.md", "verdicts"): verdicts,
    ("docs/theory/moment-training.md", "claims"): partial(
        paper_claims, claims=ghanbari_2019.claims
    ),
    ("docs/theory/moment-training.md", "claims of 2018"): partial(
        paper_claims, claims=ghanbari_2018.claims
    ),
    ("docs/theory/smoothing.md", "trajectories"): paper_trajectories,
    ("docs/theory/smoothing.md", "claims"): partial(paper_claims, claims=zhang_2011.claims),
    ("docs/when-it-pays.md", "training"): when_training_pays,
    ("docs/when-it-pays.md", "pays"): partial(gains_of_training, described=when_it_pays.PAYS),
    ("docs/when-it-pays.md", "does not pay"): partial(
        gains_of_training, described=when_it_pays.DOES_NOT
    ),
}


ROOT = Path(__file__).parents[2]


def embedded(page: str, arena: Everything) -> str:
    """Return the text of a page with its blocks made anew."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for (block_page, name), made in BLOCKS.items():
        if block_page == page:
            begin = f"<!-- {name}: made by benchmarks.arena.pages -->\n"
            end = f"<!-- {name}: end -->"
            before, rest = text.split(begin)
            block = "\n".join(made(arena))
            text = f"{before}{begin}\n{block}\n\n{end}{rest.split(end)[1]}"
    return text


def main() -> None:
    """Write the page, its picture and the blocks."""
    arena = Everything()
    evidence.PAGE.write_text(evidence.text(arena), encoding="utf-8")
    evidence.picture(arena).savefig(evidence.PICTURE, dpi=200)
    for page in dict.fromkeys(page for page, _ in BLOCKS):
        (ROOT / page).write_text(embedded(page, arena), encoding="utf-8")


if __name__ == "__main__":
    main()
