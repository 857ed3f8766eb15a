"""What ``joint_inference.md`` says: means over seeds, and paired tests of their differences."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import wilcoxon
from statsmodels.stats.multitest import multipletests

from benchmarks.beta_bernoulli.joint_inference.documents import CONDITIONS
from benchmarks.beta_bernoulli.joint_inference.local_classifiers import LOGISTIC, METHODS, UNTUNED
from benchmarks.beta_bernoulli.joint_inference.record import STAGES, Outcome
from directrix._typing import FloatArray

REPORT = Path(__file__).with_name("joint_inference.md")
_REFERENCES = (LOGISTIC, UNTUNED)
_LEVEL = 0.05


class Measure(NamedTuple):
    """A column of the file, and how it is told."""

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
        local, joint = (values(known, measure, condition, method, each) for each in STAGES)
        return joint - local
    own = sorted(outcome for outcome in known if outcome[1:4] == (condition, method, stage))
    return measure.unit * np.array([getattr(outcome, measure.column) for outcome in own])


def write(known: list[Outcome]) -> None:
    """Write the report and print it."""
    text = "\n".join(lines(known)) + "\n"
    print(text, end="")
    REPORT.write_text(text, encoding="utf-8")


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
        *(line for measure in (ERROR, LOG_LOSS, SURELY_WRONG) for line in _means(known, measure)),
        "",
        "## Paired differences",
        "",
        "Mean and standard error over seeds, below zero is better, and p of Wilcoxon's signed-rank",
        f"test. A verdict where p is below {_LEVEL} after Holm's correction for all of a table.",
        "The *change* is joint minus local: whether the network mends more of a method's errors.",
        *(
            line
            for about in (
                *product((ERROR, LOG_LOSS), _REFERENCES, STAGES),
                *product((ERROR,), _REFERENCES, ("change",)),
            )
            for line in _differences(known, *about)
        ),
    ]


def _means(known: list[Outcome], measure: Measure) -> list[str]:
    columns = list(product(CONDITIONS, STAGES))
    found = ["", f"## {measure.title}", "", *_header(*(f"{c}, {s}" for c, s in columns))]
    for method in METHODS:
        means = [values(known, measure, c, method, s).mean() for c, s in columns]
        found.append(_line(method, *(f"{mean:.{measure.digits}f}" for mean in means)))
    return found


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
        *(_line(method, *(words[method, c] for c in CONDITIONS)) for method in compared),
    ]


def _verdict(mean: float, adjusted: float) -> str:
    if adjusted >= _LEVEL:
        return ""
    return ": **better**" if mean < 0 else ": **worse**"


def _p(p: float) -> str:
    return f"{p:.3f}" if p >= 0.001 else f"{p:.0e}"


def _header(*names: str) -> list[str]:
    return [_line("method", *names), "|---" * (1 + len(names)) + "|"]


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
