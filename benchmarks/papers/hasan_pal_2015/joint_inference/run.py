"""Label the faces of generated pages, face by face and jointly, with many local classifiers.

``python -m benchmarks.papers.hasan_pal_2015.joint_inference.run`` measures what is
not in ``measured.csv`` yet, and then writes ``joint_inference.md`` and ``joint_inference.png`` from
it. Delete the file first when a classifier has changed, or old and new would be mixed.

For each of 30 seeds local classifiers are trained on the faces of 60 pages and label those of 100
other pages (`documents`), with four kinds of noise, before and after exact inference in the
network of each page (`network`). The label is the more probable one. The network's own numbers
are those of the generator, so that methods differ only in their local evidence.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from benchmarks.harness.figure import BLACK, BLUE, GREY, SKY_BLUE, VERMILION, new_figure
from benchmarks.harness.markdown import line
from benchmarks.harness.runner import Part, Study
from benchmarks.papers.hasan_pal_2015.joint_inference.documents import CONDITIONS, task
from benchmarks.papers.hasan_pal_2015.joint_inference.methods import (
    LOGISTIC,
    METHODS,
    RECORD,
    STAGES,
    UNTUNED,
    Outcome,
    local_probabilities,
    read,
    scores,
)
from benchmarks.papers.hasan_pal_2015.joint_inference.network import Network
from directrix._typing import FloatArray

REPORT = Path(__file__).with_name("joint_inference.md")
FIGURE = Path(__file__).with_name("joint_inference.png")
#: The order from the top is the same in all panels.
_COLOURS = {
    "logistic, C=1": GREY,
    "logistic, tuned": BLACK,
    "weak": SKY_BLUE,
    "learned": BLUE,
    "robust": VERMILION,
}
_CAPTION = (
    "Hollow: face by face. Filled: after joint inference.\n"
    "Means over seeds, and two standard errors. Less is better."
)
_REFERENCES = (LOGISTIC, UNTUNED)
_LEVEL = 0.05


class Measure(NamedTuple):
    """A column of the file, and how it is shown."""

    column: str
    title: str
    unit: float
    digits: int


ERROR = Measure("error", "Error, % of faces", 100.0, 2)
LOG_LOSS = Measure("log_loss", "Log-loss", 1.0, 3)
SURELY_WRONG = Measure("surely_wrong", "True label given less than 1 %, % of faces", 100.0, 2)


class Difference(NamedTuple):
    """A method minus logistic regression, over seeds: mean, its error, and Wilcoxon's p."""

    mean: float
    standard_error: float
    p: float

    @classmethod
    def of(cls, ours: FloatArray, theirs: FloatArray) -> Difference:
        """Compare values of the same seeds."""
        gap = ours - theirs
        p = float(wilcoxon(gap, zero_method="zsplit").pvalue) if gap.any() else 1.0
        return cls(float(gap.mean()), float(gap.std(ddof=1)) / len(gap) ** 0.5, p)


def values(
    known: list[Outcome], measure: Measure, condition: str, method: str, stage: str
) -> FloatArray:
    """Return what was measured of a method, one number a seed; "change" is joint minus local."""
    if stage == "change":
        local, joint = (values(known, measure, condition, method, of) for of in STAGES)
        return joint - local
    by_seed = sorted(outcome for outcome in known if outcome[1:4] == (condition, method, stage))
    return measure.unit * np.array([getattr(outcome, measure.column) for outcome in by_seed])


def lines(known: list[Outcome]) -> list[str]:
    """Return the report."""
    seeds = len({outcome.seed for outcome in known})
    return [
        "# Local classifiers inside a graphical model",
        "",
        "The experiment of Hasan and Pal 2015, §5.2, on generated pages. `local` labels each face",
        "by its own features, `joint` after exact inference over the page. How: see `run.py`; the",
        f"pages: see `documents.py`. Means over {seeds} seeds. The same as a figure:",
        "`joint_inference.png`. Noise:",
        "",
        *(f"* {name}: {words}." for name, words in CONDITIONS.items() if name != words),
        *(text for measure in (ERROR, LOG_LOSS, SURELY_WRONG) for text in _means(known, measure)),
        "",
        "## Paired differences",
        "",
        "Mean and standard error over seeds, below zero is better, and p of Wilcoxon's signed-rank",
        f"test. A verdict where p is below {_LEVEL} after Holm's correction for all of a table.",
        "The *change* is joint minus local: whether the network mends more of a method's errors.",
        *(
            text
            for about in (
                *product((ERROR, LOG_LOSS), _REFERENCES, STAGES),
                *product((ERROR,), _REFERENCES, ("change",)),
            )
            for text in _differences(known, *about)
        ),
    ]


def _means(known: list[Outcome], measure: Measure) -> list[str]:
    columns = list(product(CONDITIONS, STAGES))
    table = ["", f"## {measure.title}", "", *_header(*(f"{c}, {s}" for c, s in columns))]
    for method in METHODS:
        means = [values(known, measure, c, method, s).mean() for c, s in columns]
        table.append(line(method, *(f"{mean:.{measure.digits}f}" for mean in means)))
    return table


def _differences(known: list[Outcome], measure: Measure, reference: str, stage: str) -> list[str]:
    """Return the differences of all methods from one, at a stage."""
    compared = [method for method in METHODS if method not in (reference, METHODS[0])]
    cells = {
        (method, condition): Difference.of(
            values(known, measure, condition, method, stage),
            values(known, measure, condition, reference, stage),
        )
        for method, condition in product(compared, CONDITIONS)
    }
    adjusted = multipletests([cell.p for cell in cells.values()], method="holm")[1]
    words = {
        key: f"{cell.mean:+.{measure.digits}f} ± {cell.standard_error:.{measure.digits}f}, "
        f"p {_p(cell.p)}{_verdict(cell.mean, p)}"
        for (key, cell), p in zip(cells.items(), adjusted, strict=True)
    }
    return [
        "",
        f"### {measure.title}, {stage}: difference from {reference}",
        "",
        *_header(*CONDITIONS),
        *(line(method, *(words[method, c] for c in CONDITIONS)) for method in compared),
    ]


def _verdict(mean: float, adjusted: float) -> str:
    if adjusted >= _LEVEL:
        return ""
    return ": **better**" if mean < 0 else ": **worse**"


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


def _header(*names: str) -> list[str]:
    return [line("method", *names), "|---" * (1 + len(names)) + "|"]


def _draw(known: list[Outcome]) -> None:
    """Draw means and two standard errors: a row for each condition, local hollow, joint filled."""
    figure = new_figure(6.0, 6.4)
    axes = figure.subplots(len(CONDITIONS), 2, sharex="col", sharey=True)
    for row, condition in zip(axes, CONDITIONS, strict=True):
        for panel, measure in zip(row, (ERROR, LOG_LOSS), strict=True):
            panel.set_title(f"{condition}: {measure.title.split(',')[0].lower()}", fontsize=9)
            panel.margins(y=0.12)
            panel.grid(visible=True, axis="x", color="#dddddd", linewidth=0.6)
            panel.set_yticks(range(len(_COLOURS)), list(_COLOURS), fontsize=9)
            panel.tick_params(labelsize=9, length=0)
            for height, (method, colour) in enumerate(_COLOURS.items()):
                for stage, face in (("local", "white"), ("joint", colour)):
                    by_seed = values(known, measure, condition, method, stage)
                    panel.errorbar(
                        by_seed.mean(),
                        height,
                        xerr=2.0 * by_seed.std(ddof=1) / np.sqrt(len(by_seed)),
                        fmt="o",
                        color=colour,
                        markerfacecolor=face,
                        markersize=6,
                        elinewidth=1.2,
                    )
    axes[0, 0].invert_yaxis()
    axes[-1, 0].set_xlabel(ERROR.title, fontsize=9)
    axes[-1, 1].set_xlabel(LOG_LOSS.title, fontsize=9)
    figure.suptitle(_CAPTION, fontsize=9)
    figure.savefig(FIGURE, dpi=200)


SEEDS = 30


def measured(seed: int, condition: str) -> list[Outcome]:
    """Return the outcomes of all methods, which see the same pages."""
    X, y, pages = task(seed, condition)
    truth = np.concatenate([page.person for page in pages])
    local = local_probabilities(X, y, np.vstack([page.features for page in pages]))
    networks = [Network(page) for page in pages]
    ends = np.cumsum([len(page.person) for page in pages])[:-1]
    outcomes = []
    for method, alone in local.items():
        parts = zip(networks, np.split(alone, ends), strict=True)
        joint = np.concatenate([network.posterior(part) for network, part in parts])
        for stage, probability in (("local", alone), ("joint", joint)):
            key = (seed, condition, method, stage, len(truth))
            outcomes.append(Outcome(*key, *scores(truth, probability)))
    return outcomes


def _rows(seed: int, condition: str) -> list[tuple[object, ...]]:
    return [outcome.cells() for outcome in measured(seed, condition)]


STUDY = Study(
    [Part(RECORD, lambda _: product(range(SEEDS), CONDITIONS), _rows)],
    lambda _: lines(read()),
    report_path=REPORT,
    draw=lambda: _draw(read()),
)

if __name__ == "__main__":
    STUDY.main(__doc__)
