"""The page "Evidence" of the documentation, and its picture of critical differences.

``python -m benchmarks.arena.pages`` writes both from the tracked files. Competitors, metrics and
groups of sets are fixed here, before anything is measured: none is chosen by its result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from benchmarks.arena.pictures import draw_ranks
from benchmarks.arena.protocol import FOLDS, METRICS, SETS
from benchmarks.arena.results import (
    LARGE,
    LEVEL,
    MEASURED,
    Arena,
    Gain,
    Score,
    critical_difference,
    holm,
)
from benchmarks.arena.tables.protocol import LARGE as LARGE_SETS
from benchmarks.arena.tables.protocol import LARGE_MEASURED as LARGE_TABLES
from benchmarks.arena.tables.protocol import LINES, TableArena
from benchmarks.arena.tables.protocol import MEASURED as MEASURED_TABLES
from benchmarks.arena.tables.protocol import SETS as TABLE_SETS
from benchmarks.harness.figure import new_figure
from benchmarks.harness.markdown import bold_if, header, line, sentence_case
from benchmarks.harness.record import Record, read_rows
from benchmarks.rivals.base import Rival
from benchmarks.rivals.lines import RIVALS, TUNED
from benchmarks.rivals.tables import EBM, LINE, TABLE_RIVALS

#: At hand while the code was written, and new to it: measured once, after it.
TABLES = (*TABLE_SETS["tables"], *TABLE_SETS["later tables"])
NEW_TABLES, MEASURED_ONCE = TABLE_SETS["new tables"], "18 November 2026"
NUMBERS = (*SETS["general"], *SETS["imbalanced"])

#: The card of the default size, and the one that keeps all lines.
DIRECT, CARD, FULL = "direct", "scorecard, rows", "scorecard, full"
TREES = "LightGBM, tuned"
EVIDENCE, ONE_HOT = "weights of evidence", "direct, one-hot"
#: That of each arena: on sets of numbers tuned for every metric, on tables over one-hot texts.
LOGISTIC = "logistic regression"
#: What the pages call them.
SHORT = {
    DIRECT: "DirectClassifier",
    ONE_HOT: "DirectClassifier",
    CARD: "ScorecardClassifier",
    FULL: "its full card",
    **dict.fromkeys((LOGISTIC, TUNED, LINE), "logistic regression"),
    TREES: "LightGBM",
    EVIDENCE: "optbinning",
    EBM: "EBM",
}


class Everything(Arena):
    """Both arenas: on sets of numbers their folds are the same."""

    metrics: ClassVar[Mapping[str, Any]] = {**METRICS, **TableArena.metrics}
    competitors: ClassVar[Mapping[str, Rival]] = {**RIVALS, **TABLE_RIVALS}
    records: ClassVar[tuple[Record, ...]] = (MEASURED, MEASURED_TABLES)

    @cached_property
    def values(self) -> dict[tuple[str, str, str], dict[tuple[int, int], float]]:
        """Return the values of both arenas; the logistic regression of each is one competitor more.

        By set, competitor and metric, then repeat and fold; more is better.
        """
        values = super().values
        logistic = {
            (name, LOGISTIC, metric): folds
            for (name, rival, metric), folds in values.items()
            if rival == (LINE if name in (*TABLES, *NEW_TABLES) else TUNED)
        }
        return values | logistic

    @cached_property
    def rows(self) -> dict[str, int]:
        """Rows of each set, of which at most 10,000 were used."""
        return {score.name: score.rows for score in self.scores}

    @cached_property
    def prevalence(self) -> dict[str, float]:
        """Share of positives of each set of numbers: the average precision of one score for all."""
        folds: dict[str, list[float]] = {}
        for score in self.scores:
            if score.rival == "prior":
                folds.setdefault(score.name, []).append(score.values["average precision"])
        return {name: float(np.mean(values)) for name, values in folds.items()}

    def gain(self, names: Sequence[str], metric: str, ours: str, rival: str) -> Gain | None:
        """Return the gain of one over another on the sets that both have; None if there is none."""
        means = self.means(names, metric, [ours, rival])
        return Gain.of(means[:, 0] - means[:, 1]) if len(means) else None


# ── the page ──────────────────────────────────────────────────────────────────────────────────────


ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "evidence.md"
PICTURE = Path(__file__).with_name("critical_differences.png")
#: The metrics of the line, those of the goals first.
LINE_METRICS = (
    *("recall at FPR 1 %", "PRBEP", "F1", "cost 1:20", "balanced error", "error", "AUC"),
    *("average precision", "log-loss"),
)
CARD_METRICS = ("recall at FPR 1 %", "cost 1:20", "AUC", "average precision", "log-loss")
EXPECTED = ("AUC", "recall at FPR 1 %", "cost 1:20")
_REPEATS = ("not one repeat", "one repeat", "two repeats")
#: The usual lines, of which DirectClassifier shall not be worse than the best.
USUAL = (TUNED, "linear SVC, tuned", "LDA, shrunk")


class PooledTest(NamedTuple):
    """One of ours against a competitor, over some sets together."""

    names: tuple[str, ...]
    metric: str
    ours: str
    rival: str


ALL = (*NUMBERS, *TABLES, *NEW_TABLES)
LINE_TESTS = tuple(PooledTest(NUMBERS, metric, DIRECT, TUNED) for metric in LINE_METRICS)
CARD_TESTS = tuple(
    PooledTest(ALL, metric, ours, rival)
    for ours, metrics in ((CARD, CARD_METRICS), (FULL, CARD_METRICS))
    for metric in metrics
    for rival in (LOGISTIC, EVIDENCE, EBM, TREES)
)


class Group(NamedTuple):
    """Sets that are alike, and the competitors that people would try on them.

    ``rivals``: logistic regression first.
    """

    about: str
    names: tuple[str, ...]
    rivals: tuple[str, ...]


def groups(arena: Everything) -> list[Group]:
    """Return groups of sets by size and share of positives; tables with text are one."""
    on_numbers = (TUNED, DIRECT, CARD, FULL, TREES)
    on_tables = (LINE, ONE_HOT, CARD, FULL, TREES)
    found = []
    for size, small in (("under 1,000 rows", True), ("1,000 rows and more", False)):
        for share, rare in (("under 10 % positives", True), ("10 % and more", False)):
            names = tuple(
                name
                for name in NUMBERS
                if name in arena.prevalence
                and (arena.rows[name] < 1000) == small
                and (arena.prevalence[name] < 0.1) == rare
            )
            found.append(Group(f"numbers, {size}, {share}", names, on_numbers))
    found.append(Group("tables, at hand during development", TABLES, on_tables))
    found.append(Group("tables, new to it", NEW_TABLES, on_tables))
    return found


def text(arena: Everything) -> str:
    """Return the page."""
    lines = ["# Evidence", "", _opening(arena), "", "## In short", "", *in_short(arena)]
    lines += ["", "## Cards on tables, with the lines they print", "", *cards_on_tables(arena)]
    lines += ["", "## What to expect for a table like yours", "", *expectations(arena)]
    lines += ["", "## Over all sets together", "", *pooled_tests(arena)]
    lines += ["", "## Where we lose, and to whom", "", *losses(arena)]
    lines += ["", "## Cost, honesty, scale", "", *cost_and_scale(arena)]
    lines += ["", "## How it was measured", "", *_how(arena)]
    lines += ["", "## Everything else", "", *(f"- [{what}](../{path})" for path, what in LINKS)]
    return "\n".join(lines) + "\n"


def _opening(arena: Everything) -> str:
    by_kind = {kind: len(arena.measured(names, "AUC", [TUNED])) for kind, names in SETS.items()}
    kinds = ", ".join(f"{count} {kind}" for kind, count in by_kind.items())
    n_tables, n_new = (len(arena.measured(n, "AUC", [LINE])) for n in (TABLES, NEW_TABLES))
    new = (
        f", and {n_new} tables new to it, which were run once, on {MEASURED_ONCE}" if n_new else ""
    )
    return (
        "Cards and lines against tuned competitors, all on the same folds: "
        f"{sum(by_kind.values())} sets of numbers ({kinds}) and {n_tables} tables with text and "
        f"missing values that were at hand during development{new}. "
        "[How it was measured](#how-it-was-measured), and what was not, stands at the end. Cards "
        "are those of an earlier version, each the best of many candidates for its metric; "
        "[the cards of today](../benchmarks/studies/cards/one_card.md) were compared with them on "
        "24 of the sets, and are ahead in the mean."
    )


def _how(arena: Everything) -> list[str]:
    commits = ", ".join(f"`{commit}`" for commit in arena.commits)
    hours = sum(score.cpu_seconds for score in arena.scores) / 3600
    folds = " and ".join(
        f"{_REPEATS[repeats]} of five folds of {kind}"
        for kind, repeats in whole_repeats(arena).items()
    )
    about = (
        f"At most 10,000 rows of each set; {folds}, the same for all; all that is chosen, is "
        "chosen in folds of the training rows. Competitors, and all comparisons but one that is "
        f"named above, were fixed before the run. Measured on commit {commits}, in {hours:.2g} "
        "hours of CPU time; this page is made from [its records](../benchmarks/README.md) by "
        "`python -m benchmarks.arena.pages`."
    )
    missing = not_run(arena)
    return [about, "", f"Fewer folds were run of some: {missing}."] if missing else [about]


def whole_repeats(arena: Everything) -> dict[str, int]:
    """Return how often logistic regression has all folds of all sets of a kind."""
    bases = dict(zip(RANKED, (TUNED, LINE), strict=True))
    return {
        kind: _folds_of(arena)[kind, bases[kind]] // (len(names) * FOLDS)
        for kind, (names, _) in RANKED.items()
    }


def not_run(arena: Everything) -> str:
    """Return which competitors have fewer folds than logistic regression; "" if none have."""
    have, repeats = _folds_of(arena), whole_repeats(arena)
    less: dict[str, list[str]] = {}
    for kind, (names, _) in RANKED.items():
        planned = len(names) * FOLDS * repeats[kind]
        rivals = TABLE_RIVALS if kind == "tables" else {**RIVALS, **TABLE_RIVALS}
        for rival in rivals:
            if have[kind, rival] < planned:
                folds = f"{have[kind, rival]} of {planned} folds of {kind}"
                less.setdefault(folds, []).append(rival)
    return "; ".join(f"{folds} for `{'`, `'.join(rivals)}`" for folds, rivals in less.items())


def _folds_of(arena: Everything) -> Counter[tuple[str, str]]:
    """Return the number of folds by kind of sets and competitor."""
    return Counter(
        (kind, score.rival)
        for kind, (names, _) in RANKED.items()
        for score in arena.scores
        if score.name in names
    )


# ── in short ──────────────────────────────────────────────────────────────────────────────────────


def in_short(arena: Everything) -> list[str]:
    """Return the gains over boosting, and what the pooled tests below say, in a few sentences."""
    wins, losses = (
        [len(arena.outcomes(NUMBERS, m, DIRECT, [TUNED])[word]) for m in LINE_METRICS]
        for word in ("win", "loss")
    )
    lines = corrected_gains(arena, LINE_TESTS)
    better = [test.metric for test, (gain, p) in lines.items() if p < LEVEL and gain.median > 0]
    return [
        (
            "What a card gains over boosting, in the mean of the sets; lines are the median. On so "
            "many sets it is behind; in brackets, significantly."
        ),
        "",
        *against_trees(arena),
        "",
        (
            f"- **A line** (`{SHORT[DIRECT]}`) against tuned logistic regression on sets of "
            f"numbers: significantly better on {min(wins)} to {max(wins)} of {len(NUMBERS)} sets, "
            f"depending on the metric, and worse on {min(losses)} to {max(losses)}. Over all sets "
            f"together it is significantly better in {', '.join(better) or 'no metric'}."
        ),
        (
            f"- **A card** (`{SHORT[CARD]}` as it is by default), and the number of metrics in "
            "which it is significantly better or worse over all sets that were measured: "
            f"{_pooled(arena, CARD)}."
        ),
        f"- **{sentence_case(SHORT[FULL])}** (`max_lines=None`): {_pooled(arena, FULL)}.",
    ]


_TABLE_GROUPS = {"new to it": NEW_TABLES, "at hand during development": TABLES}
#: Those that were chosen by nobody's result first.
_AGAINST_TREES = {
    **{f"tables {about}": names for about, names in _TABLE_GROUPS.items()},
    "sets of numbers": NUMBERS,
}


def against_trees(arena: Everything, cards: Sequence[str] = (CARD, FULL)) -> list[str]:
    """Return a table of what cards gain over boosting, and on how many sets they do not."""
    table = header(
        "mean gain over tuned LightGBM | lines | AUC | behind | recall at FPR 5 % | behind"
    )
    for about, names in _AGAINST_TREES.items():
        for ours in cards:
            cells = [
                cell
                for metric in ("AUC", "recall at FPR 5 %")
                for cell in _over_trees(arena, names, metric, ours)
            ]
            lines = -arena.means(names, LINES, [ours])
            if cells:
                shown = f"{np.median(lines):.0f}" if len(lines) else ""
                sets = len(arena.measured(names, "AUC", [ours, TREES]))
                called = f"{sets} {about}" if ours == cards[0] else SHORT[ours]
                table.append(line(called, shown, *cells))
    return table


def _over_trees(arena: Everything, names: Sequence[str], metric: str, ours: str) -> list[str]:
    """Return the mean gain of a card over boosting, and on how many sets it is behind."""
    gains = np.subtract(*arena.means(names, metric, [ours, TREES]).T)
    if not len(gains):
        return []
    # A mean that rounds to zero has no sign to speak of.
    mean, behind = round(gains.mean(), 3) + 0.0, np.count_nonzero(gains < 0)
    clearly = len(arena.outcomes(names, metric, ours, [TREES])["loss"])
    return [f"{mean:+.3f}", f"{behind} ({clearly})"]


def _pooled(arena: Everything, ours: str) -> str:
    """Return against whom one of our cards is better or worse, over all sets together."""
    cards = {t: found for t, found in corrected_gains(arena, CARD_TESTS).items() if t.ours == ours}
    against = []
    for rival in dict.fromkeys(test.rival for test in cards):
        found = [result for test, result in cards.items() if test.rival == rival]
        ahead, behind = (
            sum(p < LEVEL and sign * gain.median > 0 for gain, p in found) for sign in (1, -1)
        )
        who = f"{SHORT[rival]} ({max(gain.sets for gain, _ in found)} sets)"
        against.append(f"against {who} better in {ahead}, worse in {behind} of {len(found)}")
    return "; ".join(against)


# ── cards on tables ───────────────────────────────────────────────────────────────────────────────


ON_TABLES = (CARD, FULL, LINE, EVIDENCE, EBM, TREES)


def cards_on_tables(arena: Everything) -> list[str]:
    """Return means on each table, those new to the code first, with the lines of both cards."""
    lines = [
        (
            "Means over folds; in bold the best. Lines are the median over the metrics that a card "
            "was trained for, one card each. What was not measured in all folds is empty."
        )
    ]
    for about, names in _TABLE_GROUPS.items():
        for metric in ("AUC", "recall at FPR 5 %"):
            shown = arena.measured(names, metric, (CARD, FULL, TREES))
            if shown:
                columns = (*(SHORT[rival] for rival in ON_TABLES), "lines", "lines, full")
                lines += ["", f"{sentence_case(metric)}, tables {about}:", ""]
                lines += header("table", *columns)
                lines += [_on_table(arena, [name], metric, name) for name in shown]
                whole = arena.measured(shown, metric, ON_TABLES)
                of_all = "" if len(whole) == len(shown) else " that all have"
                lines.append(_on_table(arena, whole, metric, f"mean of {len(whole)}{of_all}"))
    return lines


def _on_table(arena: Everything, names: Sequence[str], metric: str, title: str) -> str:
    have = [rival for rival in ON_TABLES if arena.measured(names, metric, [rival])]
    means = dict(zip(have, arena.means(names, metric, have).mean(axis=0), strict=True))
    best = max(means.values())
    cells = (
        bold_if(f"{means[rival]:.3f}", means[rival] == best) if rival in means else ""
        for rival in ON_TABLES
    )
    printed = -arena.means(names, LINES, [CARD, FULL]).mean(axis=0)
    return line(title, *cells, *(f"{number:.0f}" for number in printed))


# ── what to expect ────────────────────────────────────────────────────────────────────────────────


def expectations(arena: Everything) -> list[str]:
    """Return what each of four competitors has over logistic regression, by group of sets."""
    first, *others = (SHORT[rival] for rival in (TUNED, DIRECT, CARD, FULL, TREES))
    about = (
        "Mean of tuned logistic regression, and the gain of others over it: the median over the "
        "sets, and in brackets the mean (above zero is better, whatever the metric). In bold the "
        "largest median; logistic regression has zero. What was not measured is empty."
    )
    lines = [
        about,
        "",
        *header("your table", "sets", "metric", first, *others, "best on so many sets"),
    ]
    for group in groups(arena):
        for metric in EXPECTED:
            measured = [arena.measured(group.names, metric, [r]) for r in group.rivals]
            rivals = [
                rival
                for rival, sets in zip(group.rivals, measured, strict=True)
                if len(sets) == len(measured[0])
            ]
            means = arena.means(group.names, metric, rivals)
            if not len(means):
                continue
            gains = means - means[:, :1]
            medians = np.median(gains, axis=0).round(3)
            shown = [f"{arena.signed(metric, means[:, 0].mean()):.3f}"]
            shown += [
                f"{median:+.3f} ({mean:+.3f})"
                for median, mean in zip(medians[1:], gains[:, 1:].mean(axis=0), strict=True)
            ]
            cells = [
                bold_if(cell, m == medians.max()) for cell, m in zip(shown, medians, strict=True)
            ]
            firsts = (means.round(9) == means.round(9).max(axis=1, keepdims=True)).sum(axis=0)
            by_rival = dict(zip(rivals, zip(cells, firsts.tolist(), strict=True), strict=True))
            found = [by_rival.get(rival, ("", "-")) for rival in group.rivals]
            wins = " / ".join(str(first) for _, first in found)
            cells = [cell for cell, _ in found]
            lines.append(line(group.about, str(len(means)), metric, *cells, wins))
    return lines


# ── pooled tests ──────────────────────────────────────────────────────────────────────────────────


def corrected_gains(
    arena: Everything, tests: Sequence[PooledTest]
) -> dict[PooledTest, tuple[Gain, float]]:
    """Return the gain and the p-value of each test that has sets, corrected for their number."""
    gains = {test: gain for test in tests if (gain := arena.gain(*test))}
    corrected = holm([gain.p for gain in gains.values()])
    return {test: (gain, p) for (test, gain), p in zip(gains.items(), corrected, strict=True)}


def pooled_tests(arena: Everything) -> list[str]:
    """Return gains over declared competitors with intervals and corrected p-values."""
    about = (
        "Median gain over the sets with a 95 % interval (samples of the sets), and the p-value of "
        "Wilcoxon's signed-rank test, corrected by Holm's method for the table; bold below "
        f"{LEVEL:g}. Set by set, wins, ties and losses are by the corrected t-test for repeated "
        f"cross-validation (Nadeau and Bengio 2003) at {100 * LEVEL:g} %."
    )
    lines = [
        about,
        "",
        f"{SHORT[DIRECT]} against tuned logistic regression, on sets of numbers:",
        "",
        *header("metric", "sets", "median gain", "mean gain", "p", "wins / ties / losses"),
    ]
    for test, (gain, p) in corrected_gains(arena, LINE_TESTS).items():
        outcomes = arena.outcomes(NUMBERS, test.metric, DIRECT, [TUNED])
        counts = " / ".join(str(len(sets)) for sets in outcomes.values())
        cells = (str(gain.sets), _span(gain), f"{gain.mean:+.4f}", _p(p), counts)
        lines.append(line(test.metric, *cells))
    lines += ["", _never_worse(arena), ""]
    about_cards = (
        "Cards, on all sets that were measured. Logistic regression is tuned for each metric on "
        "sets of numbers, as above, and on tables, over one-hot texts, for AUC; so are LightGBM "
        "and optbinning everywhere. EBM has its defaults, with four bags. One comparison was "
        "changed after the run: on sets of numbers cards had met a logistic regression tuned for "
        "AUC, which is weaker in cost and log-loss."
    )
    lines += [about_cards, "", *_card_tests(arena), ""]
    lines += [
        "Critical differences (Nemenyi) of mean ranks; bars join those that do not differ:",
        "",
        "![Critical differences](../benchmarks/arena/critical_differences.png)",
    ]
    return lines


def _card_tests(arena: Everything) -> list[str]:
    found = corrected_gains(arena, CARD_TESTS)
    rivals = list(dict.fromkeys(test.rival for test in CARD_TESTS))
    lines = header("card", "metric", *(f"over {SHORT[rival]}" for rival in rivals))
    for ours, metric in dict.fromkeys((test.ours, test.metric) for test in CARD_TESTS):
        cells = []
        for rival in rivals:
            gain, p = found.get(PooledTest(ALL, metric, ours, rival), (None, 1.0))
            cells.append("" if gain is None else f"{_span(gain)}, p {_p(p)}, {gain.sets} sets")
        lines.append(line(SHORT[ours], metric, *cells))
    return lines


def _never_worse(arena: Everything) -> str:
    said = []
    for metric in ("error", "AUC"):
        sets = arena.outcomes(SETS["general"], metric, DIRECT, USUAL)
        of = sum(map(len, sets.values()))
        lost = f"{len(sets['loss'])} of {of}"
        names = f" ({', '.join(sets['loss'])})" if sets["loss"] else ""
        said.append(f"{lost} in {metric}{names}")
    return (
        f"Against the best of {'; '.join(USUAL)} on each general set, seen from the test rows, "
        f"{SHORT[DIRECT]} is significantly worse on {' and '.join(said)}."
    )


def _span(gain: Gain) -> str:
    return f"{gain.median:+.4f} ({gain.low:+.4f} to {gain.high:+.4f})"


def _p(p: float) -> str:
    return bold_if(f"{p:.1g}", p < LEVEL)


# ── losses ────────────────────────────────────────────────────────────────────────────────────────


def losses(arena: Everything) -> list[str]:
    """Return on how many sets ours lose significantly, by competitor and metric."""
    compared = (
        (DIRECT, NUMBERS, LINE_METRICS, (*USUAL, TREES)),
        *((ours, ALL, CARD_METRICS, (LOGISTIC, EVIDENCE, EBM, TREES)) for ours in (CARD, FULL)),
    )
    about = (
        "Sets that are lost significantly, of those that both have; behind them those that are won."
    )
    lines = [about]
    for ours, names, metrics, rivals in compared:
        lines += ["", *header(f"{SHORT[ours]} to", "sets", *metrics, "lost most often")]
        for rival in rivals:
            outcomes = [arena.outcomes(names, metric, ours, [rival]) for metric in metrics]
            sets = max(sum(map(len, outcome.values())) for outcome in outcomes)
            cells = [
                f"{len(o['loss'])} : {len(o['win'])}" if any(o.values()) else "" for o in outcomes
            ]
            lost = Counter(name for outcome in outcomes for name in outcome["loss"])
            most = ", ".join(name.removeprefix("keel/") for name, _ in lost.most_common(3))
            lines.append(line(SHORT.get(rival, rival), str(sets), *cells, most))
    return lines


# ── picture and links ─────────────────────────────────────────────────────────────────────────────

#: Ranked together in the picture, by kind of sets.
RANKED = {
    "sets of numbers": (
        NUMBERS,
        (
            *(DIRECT, CARD, FULL, TUNED, "linear SVC, tuned", "LDA, shrunk"),
            *(EVIDENCE, TREES, EBM),
        ),
    ),
    "tables": (
        (*TABLES, *NEW_TABLES),
        (ONE_HOT, CARD, FULL, LINE, EVIDENCE, TREES, EBM, "CatBoost"),
    ),
}


def picture(arena: Everything) -> Any:
    """Draw critical-difference diagrams: a row for each metric, a column for each kind of sets.

    A competitor that lacks sets which others have is left out: ranks are of shared sets only.
    """
    figure = new_figure(11.0, 2.6 * len(EXPECTED))
    panels = figure.subplots(len(EXPECTED), len(RANKED), squeeze=False)
    for row, metric in enumerate(EXPECTED):
        for column, (kind, (names, rivals)) in enumerate(RANKED.items()):
            sets = {rival: len(arena.measured(names, metric, [rival])) for rival in rivals}
            measured = [rival for rival in rivals if sets[rival] == max(sets.values())]
            ranks = arena.ranks(names, metric, measured)
            if len(ranks) < 2:
                panels[row, column].axis("off")
                continue
            means = dict(zip(measured, ranks.mean(axis=0).tolist(), strict=True))
            critical = critical_difference(*ranks.shape, LEVEL)
            title = f"{metric}, {len(ranks)} {kind}"
            draw_ranks(panels[row, column], means, critical, title, arena.ours)
    return figure


_PAPERS = "benchmarks/papers"
#: Reports that have verdicts of their own, and what they are about.
LINKS = (
    ("benchmarks/arena/arena.md", "lines on sets of numbers: every value, set by set"),
    ("benchmarks/arena/tables/tables.md", "cards, trees and others on tables: every value"),
    (f"{_PAPERS}/ghanbari_2019/tables.md", "training from moments (Ghanbari and others 2019)"),
    (f"{_PAPERS}/ghanbari_2018/tables.md", "descents on risks (Ghanbari and Scheinberg 2018)"),
    (f"{_PAPERS}/zhang_2011/figures.md", "smoothed losses (Zhang and others 2011)"),
    (f"{_PAPERS}/zhang_2011/trajectories.md", "their metrics along the way"),
    (f"{_PAPERS}/hasan_pal_2015/tables.md", "Beta-Bernoulli models (Hasan and Pal)"),
    (f"{_PAPERS}/hasan_pal_2015/kernels.md", "their kernels and support vectors"),
    (f"{_PAPERS}/hasan_pal_2015/calibration.md", "their probabilities"),
    (f"{_PAPERS}/hasan_pal_2015/joint_inference/joint_inference.md", "a graphical model of them"),
)


# ── cost, honesty and scale, from measurements beside the arenas ──────────────────────────────────


def cost_and_scale(arena: Everything) -> list[str]:
    """Return one line each on cost, honesty and scale, and a table of sets that were not cut."""
    card = [f"{arena.cpu_to(TABLES, CARD, rival):.2g}" for rival in (TREES, EBM)]
    lines = [
        (
            f"- **Cost.** {_fit_cost()} On tables, for all metrics together, a card takes "
            f"{card[0]} times the CPU time of tuned LightGBM and {card[1]} times that of EBM with "
            "four bags."
        ),
        f"- **Honesty.** {_coverage()} {_guarantee()}",
        f"- **Scale.** {_two_passes()}",
    ]
    whole = whole_sets(Everything(LARGE, LARGE_TABLES))
    return [*lines, "", *whole] if whole else lines


def whole_sets(arena: Everything) -> list[str]:
    """Return a table of the large sets, one fold of all their rows; nothing if none was measured.

    ``arena``: of the records of large sets.
    """
    columns = ((LINE,), (DIRECT, ONE_HOT), (CARD,), (FULL,), (TREES,))
    found = {(score.name, score.rival): score for score in arena.scores}
    lines = []
    for name in LARGE_SETS:
        scores = [
            next((found[name, rival] for rival in rivals if (name, rival) in found), None)
            for rivals in columns
        ]
        measured = [score for score in scores if score is not None]
        if not measured:
            continue
        shape = f"{measured[0].rows:,} x {measured[0].features}"
        lines.append(line(name, shape, *(_of_whole_set(score) for score in scores)))
    if not lines:
        return []
    hours = sum(score.cpu_seconds for score in arena.scores) / 3600
    about = (
        "Large sets, whole: AUC and recall at a false-positive rate of 1 % on a fifth of the rows, "
        "and the CPU time for all metrics together, to that of logistic regression. Measured on "
        f"commit {', '.join(f'`{commit}`' for commit in arena.commits)}, in {hours:.2g} hours of "
        "CPU time; empty cells were not."
    )
    names = [SHORT[rivals[0]] for rivals in columns]
    return [about, "", *header("set", "size", *names), *lines]


def _of_whole_set(score: Score | None) -> str:
    if score is None:
        return ""
    auc, recall = (score.values[metric] for metric in ("AUC", "recall at FPR 1 %"))
    return f"{auc:.3f}, {recall:.3f}, CPU {score.cpu:.2g}"


def fit_costs() -> dict[str, list[float]]:
    """Return CPU times of one fit, relative to LogisticRegressionCV, by metric: one for each set.

    Those of other methods are under the metric and their name: "AUC by GridSearchCV".
    """
    costs: dict[str, list[float]] = {}
    for row in read_rows(ROOT / "benchmarks" / "speed" / "direct.csv"):
        what, _, unit = row["what"].partition(" / ")
        if unit == "LogisticRegressionCV(cv=5)" and not what.startswith(("generated", "median")):
            costs.setdefault(what.split(", ")[-1], []).append(float(row["ratio"]))
    return costs


def _fit_cost() -> str:
    said = ", ".join(
        f"{np.median(ratios):.2f} for {metric}"
        for metric, ratios in fit_costs().items()
        if " by " not in metric
    )
    return (
        "One fit of DirectClassifier takes the CPU time of `LogisticRegressionCV(cv=5)` times "
        f"{said} (medians of eight sets, [speed](../benchmarks/speed/direct.csv))."
    )


def _coverage() -> str:
    rows = read_rows(ROOT / "benchmarks" / "studies" / "new_rows" / "claims.csv")
    now = [row for row in rows if row["code"] == "now"]
    covered = [float(r["low"]) <= float(r["truth"]) <= float(r["high"]) for r in now]
    return (
        f"The 95 % interval of what to expect on new rows covers the truth in "
        f"{100 * np.mean(covered):.1f} % of {len(now):,} fits "
        "([claims](../benchmarks/studies/new_rows/claims.md))."
    )


def _guarantee() -> str:
    rows = read_rows(ROOT / "benchmarks" / "studies" / "new_rows" / "guarantee.csv")
    broken = [float(row["broken"]) for row in rows]
    without = [float(row["broken without"]) for row in rows]
    return (
        f"A limit of the false-positive rate with a guarantee of 95 % is exceeded on new rows in "
        f"{100 * np.mean(broken):.1f} % of fits, without it in {100 * np.mean(without):.0f} % "
        "([guarantee](../benchmarks/studies/new_rows/guarantee.csv))."
    )


def _two_passes() -> str:
    rows = read_rows(ROOT / "benchmarks" / "studies" / "two_passes.csv")
    fits = [row for row in rows if row["recall at FPR 1 %"]]
    largest = max(fits, key=lambda row: int(row["rows"]))
    read, spent = float(largest["times the bytes were read"]), largest["CPU to two scans"]
    return (
        f"{int(largest['rows']):,} rows in {largest['megabytes']} MB, read {read:.1f} times, at "
        f"{spent} times the CPU time of two scans "
        "([two passes](../benchmarks/studies/two_passes.csv), "
        "[cluster](../benchmarks/studies/scale/cluster.md))."
    )
