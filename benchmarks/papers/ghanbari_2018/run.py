"""Measure Algorithm 1 on the sets of the paper, and write its tables and figures.

``python -m benchmarks.papers.ghanbari_2018.run`` appends the folds that ``measured.csv`` lacks,
then writes ``tables.md``, printed values beside measured ones, and the figures of the paper,
``accuracy.png`` and ``auc.png``, anew. The claims of the abstract are judged by the recorded folds:
see `benchmarks.papers.claims` for the rule.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.harness.figure import BLUE, GREEN, GRID, VERMILION, new_figure
from benchmarks.harness.markdown import listed, table, verdict
from benchmarks.harness.record import Record, Row, grouped_by, numbers
from benchmarks.harness.runner import Part, Study
from benchmarks.papers.claims import LEVEL, Claim, Counts, claim_table, word
from benchmarks.papers.ghanbari_2018.methods import (
    ARTIFICIAL,
    CHECKPOINTS,
    METRICS,
    NOT_AVAILABLE,
    REAL,
    VARIANTS,
    Printed,
    expected,
    folds_of,
    outcomes_of,
    seed_of,
    split_of,
)
from directrix._typing import FloatArray

RECORD = Record(
    Path(__file__).with_name("measured.csv"),
    "metric, set, repeat, fold, method, value, iterations, evaluations, time_ratio, curve",
    "metric, set, repeat, fold",
)


class Results:
    """The recorded folds, by metric, set and method; times are to those of the moments' descent."""

    def __init__(self, rows: list[Row]) -> None:
        ordered = sorted(rows, key=lambda row: (int(row["repeat"]), int(row["fold"])))
        self.rows = grouped_by(ordered, "metric", "set", "method")

    def sets(self, metric: str, *, artificial: bool = False) -> list[str]:
        """Return the sets that were measured, in the order of the paper."""
        return [name for name in (ARTIFICIAL if artificial else REAL) if self.has(metric, name)]

    def has(self, metric: str, name: str) -> bool:
        """Return whether a set, or a variant of one, was measured."""
        return (metric, name, "moments") in self.rows

    def values(self, metric: str, name: str, method: str, column: str = "value") -> FloatArray:
        """Return the test metric of every fold, or another column."""
        return numbers(self.rows[metric, name, method], column)

    def mean(self, metric: str, name: str, method: str) -> float:
        """Return the mean test metric."""
        return float(self.values(metric, name, method).mean())

    def curve(self, metric: str, name: str, method: str) -> FloatArray:
        """Return the mean test metric at every checkpoint."""
        curves = [row["curve"].split() for row in self.rows[metric, name, method]]
        return np.array(curves, dtype=float).mean(axis=0)

    def word(self, metric: str, name: str, first: str, second: str) -> str:
        """Return whether a method is better or worse than another, or level."""
        return word(self.mean(metric, name, first) - self.mean(metric, name, second))

    def words(self, metric: str, sets: list[str], first: str, second: str) -> dict[str, str]:
        """Say of each set whether the first method is better, worse or level."""
        return {name: self.word(metric, name, first, second) for name in sets}

    def time_ratio(self, metric: str, name: str) -> float:
        """Return the CPU time of the surrogate to that of the moments: the median of the folds."""
        return float(np.median(self.values(metric, name, "surrogate", "time_ratio")))


def counted(words: dict[str, str]) -> str:
    """Return how many are better, level and worse."""
    verdicts = list(words.values())
    return ", ".join(f"{word} in {verdicts.count(word)}" for word in ("better", "level", "worse"))


# ── the claims of the abstract ────────────────────────────────────────────────────────────────────


PAPER = "Ghanbari and Scheinberg 2018"
#: The setting with an intercept, which is that of the printed accuracies; the AUC has none.
_ENDINGS = {"accuracy": ", intercept", "AUC": ""}
_SURROGATES = {"accuracy": "F_log", "AUC": "F_hinge"}


def claims() -> list[Claim]:
    """Return the verdict on each claim of the abstract, from the recorded folds."""
    return judged(Results(RECORD.rows()))


def judged(results: Results) -> list[Claim]:
    """Return the verdict on each claim of the abstract."""
    # The gradients of both papers are the same: their costs are measured with the later one.
    from benchmarks.papers.ghanbari_2019.cost_of_rows import independence  # noqa: PLC0415

    found = [_exact(results, metric) for metric in _ENDINGS]
    found += [_quality(results, metric) for metric in _ENDINGS]
    found += [_time(results, metric) for metric in _ENDINGS]
    text = (
        "The per-iteration complexity does not depend on the size of the data set, unlike that of "
        "logistic regression"
    )
    return [*found, independence(PAPER, text)]


def _exact(results: Results, metric: str) -> Claim:
    """Judge the closed forms: on normal rows their exact moments must give the best classifiers."""
    sets = results.sets(metric, artificial=True)
    words = [
        word
        for rival in ("moments", "surrogate")
        for word in results.words(metric, sets, "exact", rival).values()
    ]
    best = words.count("better") + words.count("level")
    text = (
        f"For normal data the expected {'error' if metric == 'accuracy' else 'AUC'} is a smooth "
        "closed form of the first and second moments, which can be optimised directly"
    )
    figure = (
        f"on normal rows the descent on exact moments is not worse than either rival in {best} of "
        f"{len(words)} comparisons, better in {words.count('better')}"
    )
    return Claim.of_cases(PAPER, text, best, len(words), figure)


def _quality(results: Results, metric: str) -> Claim:
    sets, ending = results.sets(metric), _ENDINGS[metric]
    both = [f"moments{ending}", f"surrogate{ending}"]
    ours, theirs = ([results.mean(metric, name, m) for name in sets] for m in both)
    counts = Counts.of(np.subtract(ours, theirs))
    text = (
        "Also where data are not normal, derivatives from empirical moments give solutions of "
        f"high quality ({metric})"
    )
    figure = (
        f"{metric} against {_SURROGATES[metric]}: {counts} of {len(sets)} real sets (printed: "
        f"{_printed(metric, sets).judged})"
    )
    return Claim.of_cases(PAPER, text, counts.kept, len(sets), figure)


def _printed(metric: str, sets: list[str]) -> Counts:
    """Return the same counts by what the paper prints."""
    ours, theirs = (
        [_PRINTED[metric, name, m].value for name in sets] for m in ("moments", "surrogate")
    )
    return Counts.of(np.subtract(ours, theirs))


def _time(results: Results, metric: str) -> Claim:
    sets = results.sets(metric)
    ratios = [results.time_ratio(metric, name) for name in sets]
    slow, fast = (
        np.array([_PRINTED[metric, name, m].seconds for name in sets])
        for m in ("surrogate", "moments")
    )
    text = f"The optimisation is efficient ({metric})"
    return Claim.of_times(PAPER, text, ratios, slow / fast, _SURROGATES[metric])


# ── the report and the figures ────────────────────────────────────────────────────────────────────


REPORT = Path(__file__).with_name("tables.md")
_FIGURES = {
    "accuracy": Path(__file__).with_name("accuracy.png"),
    "AUC": Path(__file__).with_name("auc.png"),
}
#: The sets of each figure: those where the paper finds a difference, and which.
FIGURE_SETS = {
    "accuracy": {
        **dict.fromkeys(("svmguide1", "svmguide3", "sonar", "colon cancer"), "better"),
        **dict.fromkeys(("shuttle", "segment"), "worse"),
    },
    "AUC": {
        **dict.fromkeys(("svmguide3", "landsat satellite", "colon cancer"), "better"),
        **dict.fromkeys(("vowel", "sonar"), "worse"),
    },
}
_SURROGATE = {"accuracy": "logistic loss", "AUC": "pairwise hinge"}
_OBJECTIVE = {"accuracy": "error of normal scores", "AUC": "1 - AUC of normal scores"}
#: Colour, dashes and marker.
_STYLES = {
    "moments": (BLUE, "-", "o"),
    "surrogate": (VERMILION, "-", "s"),
    "moments, intercept": (BLUE, "--", "^"),
    "surrogate, intercept": (VERMILION, "--", "v"),
}
_PRINTED = expected()
#: Methods: Algorithm 1 to the letter, and with its test mended.
_BOTH_TESTS = ("as printed", "moments")
#: The set that the paper says has 210 rows, and all 2,310 rows of it.
TWO_SEGMENTS = ("segment", *VARIANTS)
_INTRODUCTION = """\
# Gradient descent on moments: the figures and tables of Ghanbari and Scheinberg 2018

Algorithm 1 (c = 1e-4, β = 0.5, first step 1, 250 steps at most) on F_error and F_AUC, which are of
moments, and on F_log and F_hinge, which are of rows. How, which class is positive, and the
artificial sets: see `methods.py`. "Better" and "worse" are by more than {level}; all else is
"level". A claim holds in 85 % of the cases, in part in 60 %. Times are ratios of CPU time on one
thread; the paper prints seconds, and no iterations. Sets above 5,000 rows: five folds of one
shuffle, not of four; of sets above 10,000 rows a sample of 10,000. Figure 1
is `accuracy.png`, Figure 2 `auc.png`.

Not run here, and in none of the counts below: {missing}. The rows of gisette are not in the data
folder."""


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    results = Results(rows)
    missing = [*NOT_AVAILABLE, *(name for name in REAL if name not in results.sets("accuracy"))]
    drawn = results.sets("accuracy", artificial=True)
    missing += [name for name in ARTIFICIAL if name not in drawn]
    introduction = _INTRODUCTION.format(level=LEVEL, missing=", ".join(missing))
    text = [introduction]
    if drawn:
        text += ["", "## The claims of the abstract", "", *claim_table(judged(results))]
    text += ["", "## Does it hold?", ""]
    claims = [_figure(results, metric) for metric in FIGURE_SETS]
    claims += [_real(results, "accuracy"), _printed_numbers(results), _discriminant(results)]
    claims += [_real(results, "AUC"), _printed_areas(results)]
    if drawn:
        claims += [_artificial(results, "accuracy"), _artificial(results, "AUC")]
    if results.has("AUC", TWO_SEGMENTS[1]):
        claims += [_segment(results)]
    claims += [_printed_test(results), _ours(results)]
    text += [f"* {claim}" for claim in claims]
    for metric, tables in (("accuracy", "4, 8 and 12"), ("AUC", "6 and 10")):
        title = f"Tables {tables}: {metric} on real sets"
        text += _table(results, metric, results.sets(metric), title)
    for metric, tables in (("accuracy", "2, 7 and 11"), ("AUC", "5 and 9")):
        names = results.sets(metric, artificial=True)
        if names:
            title = f"Tables {tables}: {metric} on artificial sets"
            text += _table(results, metric, names, title, exact=True)
    return text


def _figure(results: Results, metric: str) -> str:
    number = list(FIGURE_SETS).index(metric) + 1
    claims = {
        name: word for name, word in FIGURE_SETS[metric].items() if name in results.sets(metric)
    }
    verdicts = []
    for ending in ("", ", intercept") if metric == "accuracy" else ("",):
        words = results.words(metric, list(claims), f"moments{ending}", f"surrogate{ending}")
        same = [name for name in claims if words[name] == claims[name]]
        against = [name for name in claims if {words[name], claims[name]} == {"better", "worse"}]
        setting = "with an intercept" if ending else "without an intercept"
        verdicts.append(
            f"{setting} it {verdict(len(same), len(claims)).lower()}, as told in {len(same)} of "
            f"{len(claims)} ({listed(same)}), the opposite in {len(against)} "
            f"({listed(against)}), else level"
        )
    ending = ", intercept" if metric == "accuracy" else ""
    stalls = [
        f"{name} {_settled(results.curve(metric, name, f'moments{ending}'))}"
        for name, word in claims.items()
        if word == "worse"
    ]
    best = [name for name, word in claims.items() if word == "better"]
    return (
        f"**Figure {number}** (the moments' line is better on {listed(best)}; where it is worse it "
        f"stalls after a few steps): {'; '.join(verdicts)}. Its test metric is within 0.002 of "
        f"its end for good by iteration: {listed(stalls)}."
    )


def _settled(curve: np.ndarray) -> int:
    """Return the checkpoint from which a curve stays within 0.002 of its end."""
    far = np.flatnonzero(np.abs(curve - curve[-1]) > 0.002)
    return CHECKPOINTS[int(far[-1]) + 1 if len(far) else 0]


def _real(results: Results, metric: str) -> str:
    sets = results.sets(metric)
    claim = (
        "13 level, 4 better, 2 worse"
        if metric == "accuracy"
        else "14 level, 4 better, 2 worse, which are 20"
    )
    measured = []
    for ending in ("", ", intercept") if metric == "accuracy" else ("",):
        words = results.words(metric, sets, f"moments{ending}", f"surrogate{ending}")
        worse = [name for name in sets if words[name] == "worse"]
        setting = "with an intercept" if ending else "without an intercept"
        measured.append(f"{setting} {counted(words)} of {len(sets)} (worse: {listed(worse)})")
    ratios = {name: results.time_ratio(metric, name) for name in sets}
    slower = [name for name in sets if ratios[name] < 1.0]
    table = 4 if metric == "accuracy" else 6
    return (
        f"**Table {table}** (the paper, of 19: {claim}): {'; '.join(measured)}. "
        f"The surrogate takes {min(ratios.values()):.2g} to {max(ratios.values()):.2g} times the "
        f"CPU time, median {np.median(list(ratios.values())):.2g}; less than the moments on: "
        f"{listed(slower)}."
    )


def _near(measured: float, printed: Printed) -> bool:
    return abs(measured - printed.value) <= 2.0 * printed.deviation


def _printed_numbers(results: Results) -> str:
    """Say which reading of Table 4 the measured accuracies agree with."""
    counts, of = readings(results)
    said = "; ".join(f"{key}: {count}" for key, count in counts.items())
    return (
        f"**The numbers of Table 4**: of {of}, so many are within two of the paper's "
        f"standard deviations of what is measured here, where A is the accuracy: {said}. So "
        f"most are {max(counts, key=counts.__getitem__)}."
    )


def readings(results: Results) -> tuple[dict[str, int], int]:
    """Return how many numbers of Table 4 agree with each reading of them, and of how many."""
    sets = results.sets("accuracy")
    counts: dict[str, int] = {}
    for method in ("moments", "surrogate"):
        for ending in ("", ", intercept"):
            for reading in ("A", "(1 + A) / 2"):
                values = [results.mean("accuracy", name, method + ending) for name in sets]
                if reading != "A":
                    values = [(1.0 + value) / 2.0 for value in values]
                near = sum(
                    _near(value, _PRINTED["accuracy", name, method])
                    for value, name in zip(values, sets, strict=True)
                )
                key = f"{reading}{ending or ', no intercept'}"
                counts[key] = counts.get(key, 0) + near
    return counts, 2 * len(sets)


def _printed_areas(results: Results) -> str:
    sets = results.sets("AUC")
    counts = [
        sum(_near(results.mean("AUC", name, m), _PRINTED["AUC", name, m]) for name in sets)
        for m in ("moments", "surrogate")
    ]
    return (
        f"**The numbers of Table 6**: within two of the paper's standard deviations are "
        f"{counts[0]} of {len(sets)} for F_AUC and {counts[1]} of {len(sets)} for F_hinge."
    )


def _discriminant(results: Results) -> str:
    sets = results.sets("accuracy")
    near = [
        name
        for name in sets
        if _near(results.mean("accuracy", name, "LDA"), _PRINTED["accuracy", name, "LDA"])
    ]
    against = [
        f"{setting} {counted(results.words('accuracy', sets, f'moments{ending}', 'LDA'))}"
        for setting, ending in (("without an intercept", ""), ("with one", ", intercept"))
    ]
    reading = "the accuracy itself" if 2 * len(near) > len(sets) else "something else"
    return (
        f"**Table 12** (LDA is significantly worse than F_error): F_error against LDA is "
        f"{'; '.join(against)} of {len(sets)}. LDA itself is as printed, to two deviations, on "
        f"{len(near)} of {len(sets)}, so its column is {reading}."
    )


def _artificial(results: Results, metric: str) -> str:
    sets = results.sets(metric, artificial=True)
    over = counted(results.words(metric, sets, "moments", "surrogate"))
    exact = counted(results.words(metric, sets, "exact", "moments"))
    ratios = [results.time_ratio(metric, name) for name in sets]
    table = 2 if metric == "accuracy" else 5
    return (
        f"**Table {table}** (exact moments first, then those of the rows, "
        f"then the surrogate): moments of the rows against the surrogate {over}; exact against "
        f"those of the rows {exact}, of {len(sets)}. The surrogate takes {min(ratios):.2g} to "
        f"{max(ratios):.2g} times the CPU time."
    )


def _segment(results: Results) -> str:
    """Say which number of rows of segment the printed deviations are nearer to."""
    cells: list[str] = []
    nearer: dict[str, list[str]] = {"210": [], "2,310": []}
    compared = {"accuracy": ("moments", "surrogate", "LDA"), "AUC": ("moments", "surrogate")}
    for metric, methods in compared.items():
        for method in methods:
            printed = _PRINTED[metric, "segment", method]
            half = metric == "accuracy" and method != "LDA"  # (1 + A) / 2, as shown above
            measured = method + (", intercept" if half else "")
            values = [results.values(metric, name, measured) for name in TWO_SEGMENTS]
            means = [(1.0 + v.mean()) / 2.0 if half else v.mean() for v in values]
            deviations = [v.std() / (2.0 if half else 1.0) for v in values]
            few, many = (f"{m:.4f} ± {d:.4f}" for m, d in zip(means, deviations, strict=True))
            cells.append(
                f"{metric}, {method}: printed {printed.value:.4f} ± {printed.deviation:.4f}, "
                f"{few} of 210 rows, {many} of 2,310"
            )
            far = [abs(np.log(d / printed.deviation)) for d in deviations]
            nearer["210" if far[0] <= far[1] else "2,310"].append(f"{metric} of {method}")
    return (
        "**The rows of segment** (Table 3: 210). As (1 + A) / 2 with an intercept, but for LDA and "
        f"AUC: {'; '.join(cells)}. By its deviation the printed figure is of 210 rows for "
        f"{listed(nearer['210'])}; of all 2,310 rows of the file for {listed(nearer['2,310'])}. "
        "The counts and tables have 210."
    )


def _printed_test(results: Results) -> str:
    gap = effect_of_the_slip(results)
    sums = (
        [results.values(metric, name, method, "evaluations").sum() for method in _BOTH_TESTS]
        for metric in FIGURE_SETS
        for name in results.sets(metric)
    )
    ratios = [printed / mended for printed, mended in sums]
    so = "of no consequence" if gap < 0.001 else "of consequence"
    return (
        "**Algorithm 1 as printed** (a trial may rise by c times step times ‖∇F‖²) ends within "
        f"{gap:.4f} of the mended test in every mean, with {min(ratios):.2f} to "
        f"{max(ratios):.2f} times its evaluations: the slip is {so} here."
    )


def effect_of_the_slip(results: Results) -> float:
    """Return how far the means of Algorithm 1 as printed are from the mended one, at most."""
    means = (
        [results.mean(metric, name, method) for method in _BOTH_TESTS]
        for metric in FIGURE_SETS
        for name in results.sets(metric)
    )
    return max(abs(printed - mended) for printed, mended in means)


def _ours(results: Results) -> str:
    comparisons = []
    for metric, ending in (("accuracy", ", intercept"), ("AUC", "")):
        sets = results.sets(metric)
        for method in ("moments", "surrogate"):
            words = results.words(metric, sets, "ours", f"{method}{ending}")
            lost = [name for name in sets if words[name] == "worse"]
            comparisons.append(
                f"{metric}, against {method}{ending}: {counted(words)} (worse: {listed(lost)})"
            )
    return f"**Ours** (`MomentClassifier`, no descent): {'; '.join(comparisons)}."


def _table(
    results: Results, metric: str, names: list[str], title: str, *, exact: bool = False
) -> list[str]:
    """Return printed and measured values, a row for each set."""
    methods = ["moments", "surrogate"]
    if metric == "accuracy":
        methods += ["moments, intercept", "surrogate, intercept", "LDA"]
    methods += ["ours"]
    methods = ["exact", *methods] if exact else methods
    printed = [m for m in methods if ("intercept" not in m) and m != "ours"]
    both = ("moments", "surrogate")
    columns = (
        *("set", "folds", *(f"printed: {m}" for m in printed), *methods),
        *(f"iterations: {m}" for m in both),
        *("printed time, surrogate/moments", "CPU, surrogate/moments"),
    )
    rows = []
    for name in names:
        values = [results.values(metric, name, method) for method in methods]
        seconds = [_PRINTED[metric, name, method].seconds for method in both]
        counts = (results.values(metric, name, m, "iterations").mean() for m in both)
        rows.append(
            (
                *(name, len(values[0])),
                *(f"{_PRINTED[metric, name, method].value:.4f}" for method in printed),
                *(f"{folds.mean():.4f} ± {folds.std():.4f}" for folds in values),
                *(f"{count:.0f}" for count in counts),
                f"{seconds[1] / seconds[0]:.2g}",
                f"{results.time_ratio(metric, name):.2g}",
            )
        )
    return table(" | ".join(columns), rows, title)


def _draw(results: Results, metric: str) -> None:
    """Draw the mean test metric over the folds, one panel for each set."""
    measured = set(results.sets(metric))
    names = [name for name in FIGURE_SETS[metric] if name in measured]
    drawn = new_figure(8.4, 6.2)
    panels = drawn.subplots(2, 3, squeeze=False).ravel()
    steps = [max(step, 0.6) for step in CHECKPOINTS]  # room for the start on a log axis
    methods = [m for m in _STYLES if metric == "accuracy" or "intercept" not in m]
    for panel, name in zip(panels, names, strict=False):
        for method in methods:
            colour, dashes, marker = _STYLES[method]
            curve = results.curve(metric, name, method)
            label = _label(method, metric)
            style = {"color": colour, "linestyle": dashes, "marker": marker, "markersize": 4}
            panel.plot(steps, curve, label=label, linewidth=1.6, **style)
        ours = results.mean(metric, name, "ours")
        panel.axhline(ours, color=GREEN, linewidth=1.8, linestyle=":", label="ours (no steps)")
        panel.set_xscale("log")
        panel.set_xticks([0.6, 3, 13, 55, 250], ["0", "3", "13", "55", "250"])
        panel.minorticks_off()
        panel.set_title(f"{name}\n(paper: moments {FIGURE_SETS[metric][name]})", fontsize=10)
        panel.grid(**GRID)
        panel.tick_params(labelsize=10)
    for panel in panels[len(names) :]:
        panel.set_axis_off()
        panel.text(0.5, 0.5, f"{listed(NOT_AVAILABLE)}:\nnot run here", ha="center", fontsize=11)
    drawn.supxlabel("iterations of Algorithm 1 (log scale)", fontsize=11)
    drawn.supylabel(f"mean test {metric}", fontsize=11)
    handles, labels = panels[0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside upper center", ncols=2, fontsize=10, frameon=False)
    drawn.savefig(_FIGURES[metric], dpi=110)


def _label(method: str, metric: str) -> str:
    """Name a curve for a reader."""
    name, _, intercept = method.partition(", ")
    words = _OBJECTIVE[metric] if name == "moments" else _SURROGATE[metric]
    return f"{words}, with intercept" if intercept else words


def planned(args: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    """Yield every fold of every set for both metrics."""
    for name in args.sets or [*REAL, *VARIANTS, *ARTIFICIAL]:
        for repeat, fold in folds_of(name):
            yield from ((metric, name, repeat, fold) for metric in METRICS)


def measure(metric: str, name: str, repeat: int, fold: int) -> list[tuple[object, ...]]:
    """Measure all methods on a fold; CPU time becomes a ratio."""
    split, exact = split_of(name, repeat, fold)
    outcomes = outcomes_of(metric, split, seed_of(name, repeat, fold), exact)
    unit = outcomes["moments"].time
    return [
        (
            *(metric, name, repeat, fold, method),
            *(f"{outcome.value:.6f}", outcome.iterations, outcome.evaluations),
            f"{outcome.time / unit:.3g}",
            " ".join(f"{value:.4f}" for value in outcome.curve),
        )
        for method, outcome in outcomes.items()
    ]


def draw() -> None:
    """Draw both figures."""
    for metric in _FIGURES:
        _draw(Results(RECORD.rows()), metric)


STUDY = Study(
    [Part(RECORD, planned, measure)],
    lines,
    options={"--sets": {"nargs": "*", "help": "names of sets; all, if not given"}},
    report_path=REPORT,
    draw=draw,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
