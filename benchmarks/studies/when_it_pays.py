"""When training for the metric pays, against logistic regression that is tuned for it.

``python -m benchmarks.studies.when_it_pays`` fits `DirectClassifier` and tuned logistic regression
to the same rows, and measures the recall of both at a false-positive rate on rows that neither has
seen. A case is one thing that is varied, all else equal:

* bent and straight boundaries: real sets of numbers, by the number of rows that are learnt from;
* unequal spreads: normal classes, one of which is so many times as wide in one feature;
* wrong labels: a share of labels that are turned, and measured on right ones;
* outliers: a share of rows whose features are twenty times as large;
* rare limits: the false-positive rate itself, on real sets.

Sets, levels and the rival were fixed before the first run. Logistic regression has its ridge
chosen for the metric in folds, as in the arena. The gain is the mean over draws, and its standard
error that of the draws.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.harness.data import Rows, load
from benchmarks.harness.figure import BLACK, BLUE, GREEN, GREY, GRID, VERMILION, new_figure
from benchmarks.harness.markdown import bold_if, table
from benchmarks.harness.record import (
    Record,
    Row,
    commits_of,
    grouped_by,
    numbers,
    package_commit,
    select,
)
from benchmarks.harness.runner import Part, Study
from benchmarks.rivals.lines import RIVALS, TUNED
from directrix import DirectClassifier
from directrix._typing import AnyArray
from directrix.metrics import RecallAtFPR

DRAWS, N_TEST, N_TRAIN = 10, 40_000, 2_000
#: Sets of numbers whose boundary bends in the tail, and others of like size.
BENT = ("magic04", "ijcnn1", "mammography", "spambase")
STRAIGHT = ("htru2", "default_credit", "a9a", "cod-rna_30k")
MOST_LEARNT = 0.6
OURS, RIVAL = "trained for it", "the other"
PICTURE = Path(__file__).parents[2] / "docs" / "_static" / "when-it-pays.png"
#: A gain of so many standard errors is clear.
CLEAR = 2.0


class Drawn(NamedTuple):
    """Rows to learn from and to judge by, and the limit of the false-positive rate."""

    train: Rows
    test: Rows
    limit: float


# ── cases: what is varied, and how rows are drawn ─────────────────────────────────────────────────


def _part_of(name: str, n_train: int, limit: float, rng: np.random.Generator) -> Drawn:
    """Return so many rows of a set of numbers to learn from, and all others."""
    X, y = load(name)
    order = rng.permutation(len(y))
    fitted, other = order[:n_train], order[n_train:][:N_TEST]
    return Drawn(Rows(X[fitted], y[fitted]), Rows(X[other], y[other]), limit)


def by_rows(name: str, level: float, rng: np.random.Generator) -> Drawn:
    """Vary the number of rows; the recall is at 1 % false positives."""
    return _part_of(name, int(level), 0.01, rng)


def by_limit(name: str, level: float, rng: np.random.Generator) -> Drawn:
    """Vary the false-positive rate."""
    return _part_of(name, int(MOST_LEARNT * min(len(load(name)[1]), 10_000)), level, rng)


def _normal(rng: np.random.Generator, n: int, spread: float = 1.0) -> tuple[Any, AnyArray]:
    """Return four features of two normal classes; the negatives are so much wider in the first."""
    y = rng.random(n) < 0.3
    X = rng.normal(size=(n, 4))
    X[:, 0] = np.where(y, 2.0 + X[:, 0], spread * X[:, 0])
    X[:, 1] += 1.5 * y
    return X, y


def unequal_spreads(_: str, level: float, rng: np.random.Generator) -> Drawn:
    """Vary how many times as wide the negatives are in the first feature."""
    train, test = _normal(rng, N_TRAIN, level), _normal(rng, N_TEST, level)
    return Drawn(Rows(*train), Rows(*test), 0.01)


def wrong_labels(_: str, level: float, rng: np.random.Generator) -> Drawn:
    """Turn a share of the labels that are learnt from."""
    X, y = _normal(rng, N_TRAIN)
    turned = rng.random(len(y)) < level
    return Drawn(Rows(X, y ^ turned), Rows(*_normal(rng, N_TEST)), 0.05)


def outliers(_: str, level: float, rng: np.random.Generator) -> Drawn:
    """Enlarge the features of a share of rows, in training and after."""
    parts = []
    for n in (N_TRAIN, N_TEST):
        X, y = _normal(rng, n)
        X[rng.random(n) < level] *= 20.0
        parts.append(Rows(X, y))
    return Drawn(parts[0], parts[1], 0.05)


class Case(NamedTuple):
    """What is varied: its levels, and the sets on which it is."""

    axis: str
    draw: Callable[[str, float, np.random.Generator], Drawn]
    levels: tuple[float, ...]
    sets: tuple[str, ...] = ("",)


_BY_ROWS = (250.0, 1_000.0, 2_500.0, 6_000.0)
_LIMITS = (0.2, 0.05, 0.01, 0.002)
CASES = {
    "bent boundaries": Case("training rows", by_rows, _BY_ROWS, BENT),
    "straight boundaries": Case("training rows", by_rows, _BY_ROWS, STRAIGHT),
    "unequal spreads": Case("spread of one class to the other", unequal_spreads, (1, 2, 4, 8)),
    "wrong labels": Case("share of wrong labels", wrong_labels, (0.0, 0.05, 0.1, 0.2)),
    "outliers": Case("share of outliers", outliers, (0.0, 0.01, 0.03, 0.1)),
    "limits, bent": Case("false-positive rate", by_limit, _LIMITS, BENT),
    "limits, straight": Case("false-positive rate", by_limit, _LIMITS, STRAIGHT),
}


def measure(case: str, name: str, level: str, draw: int) -> list[tuple[object, ...]]:
    """Return the recall of both lines on rows that neither has seen."""
    about = CASES[case]
    rng = np.random.default_rng([draw, list(CASES).index(case), about.levels.index(float(level))])
    train, test, limit = about.draw(name, float(level), rng)
    metric = RecallAtFPR(limit)
    model = DirectClassifier(metric, warn_baseline=False).fit(*train)
    ours = metric.score(test.y, model.decision_function(test.X))
    scores = RIVALS[TUNED].scores(train, test, {"recall": metric})["recall"]
    theirs = metric.score(test.y, scores)
    return [(case, name, level, draw, f"{ours:.6g}", f"{theirs:.6g}", package_commit())]


def plan(args: argparse.Namespace) -> Iterator[tuple[object, ...]]:
    """Yield every case, set, level and draw; real sets have fewer rows than some levels need."""
    for draw in range(1 if args.quick else DRAWS):
        for case, about in CASES.items():
            for name in about.sets:
                for level in about.levels:
                    if not name or about.draw is by_limit or level <= MOST_LEARNT * _size(name):
                        yield case, name, f"{level:g}", draw


def _size(name: str) -> int:
    return len(load(name)[1])


# ── report and picture ────────────────────────────────────────────────────────────────────────────


class Gain(NamedTuple):
    """Mean recall of the rival, and how much is gained, with its standard error."""

    theirs: float
    gain: float
    error: float

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Gain:
        """Compare over draws. Sets are not drawn: the error is that of the draws within them."""
        by_set = grouped_by(rows, "set")
        gains = [numbers(of_set, OURS) - numbers(of_set, RIVAL) for of_set in by_set.values()]
        variance = sum(each.var(ddof=1) / len(each) for each in gains if len(each) > 1)
        mean = float(np.mean([each.mean() for each in gains]))
        theirs = float(np.mean([numbers(of_set, RIVAL).mean() for of_set in by_set.values()]))
        return cls(theirs, mean, float(variance) ** 0.5 / len(gains))

    @property
    def is_clear(self) -> bool:
        """Whether the gain, or the loss, is more than chance."""
        return abs(self.gain) > CLEAR * self.error

    def __str__(self) -> str:
        """Return the gain and its standard error."""
        return bold_if(f"{self.gain:+.3f} ({self.error:.3f})", self.is_clear)


def sets_of_mean(rows: Sequence[Row], case: str) -> list[str]:
    """Return the sets that were measured at every level of a case.

    Means of different sets cannot be compared: a level that a small set lacks would seem better or
    worse than the level before.
    """
    of_case = select(rows, case=case)
    levels = grouped_by(of_case, "level").values()
    return [name for name in CASES[case].sets if all(select(of, set=name) for of in levels)]


def gains(rows: Sequence[Row]) -> dict[str, dict[float, Gain]]:
    """Return the gains of each case by level, means of the same sets at every level."""
    means: dict[str, dict[float, Gain]] = {}
    for case in CASES:
        names = sets_of_mean(rows, case)
        averaged = [row for row in select(rows, case=case) if row["set"] in names]
        by_level = {float(k): Gain.of(of) for (k,), of in grouped_by(averaged, "level").items()}
        means[case] = dict(sorted(by_level.items()))
    return {case: by_level for case, by_level in means.items() if by_level}


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        f"How: see `when_it_pays.py`. Recall at a false-positive rate on rows that were not "
        f"trained on, `DirectClassifier` less logistic regression tuned for the same metric; in "
        f"brackets the standard error, in bold where it is more than {CLEAR:g} of them. Means are "
        f"of the same sets at every level. Measured on commit {commits_of(rows)}."
    )
    text = ["# When does training for the metric pay?", "", about]
    for case, by_level in gains(rows).items():
        varied = CASES[case]
        on = f", mean of {', '.join(sets_of_mean(rows, case))}" if varied.sets != ("",) else ""
        cells = [(f"{level:g}", f"{g.theirs:.3f}", str(g)) for level, g in by_level.items()]
        columns = f"{varied.axis} | recall of logistic regression | gain"
        text += ["", f"## {case.capitalize()}{on}", *table(columns, cells)]
        if len(varied.sets) > 1:
            text += _by_set(rows, case, list(by_level))
    return text


def _by_set(rows: Sequence[Row], case: str, levels: Sequence[float]) -> list[str]:
    """Return the gain on each set; an empty cell is a level for which it has too few rows."""
    by_set = {
        (name, float(level)): Gain.of(of)
        for (name, level), of in grouped_by(select(rows, case=case), "set", "level").items()
    }
    cells = [
        (name, *(str(by_set.get((name, level), "")) for level in levels))
        for name in CASES[case].sets
    ]
    return table(f"set | {' | '.join(f'{level:g}' for level in levels)}", cells)


# ── what the documentation says ───────────────────────────────────────────────────────────────────


def claim() -> list[str]:
    """Return when training for the metric pays, in two sentences.

    A test checks the words that are not figures.
    """
    rows = RECORD.rows()
    of_case = gains(rows)
    most_rows, bent = max(of_case["bent boundaries"].items())
    straight = max(of_case["straight boundaries"].values(), key=lambda gain: gain.gain)
    said = (
        f"Training for the operating point pays where the boundary bends in the tail and there are "
        f"enough rows to show it: with {most_rows:,.0f} training rows, {bent.gain:+.2f} recall at "
        f"1 % false positives over tuned logistic regression "
        f"(mean of {', '.join(sets_of_mean(rows, 'bent boundaries'))}). Where boundaries are "
        f"straighter it gains {straight.gain:.2f} at most, and with wrong labels nothing "
        f"clear."
    )
    return [said]


#: What the page calls cases where it pays, and where it gains little or nothing.
PAYS = {
    "bent boundaries": "boundaries bend in the tail",
    "limits, bent": "the same, by how strict the limit is",
    "unequal spreads": "one class is wider than the other (simulated)",
}
DOES_NOT = {
    "straight boundaries": "boundaries are straighter",
    "limits, straight": "the same, by how strict the limit is",
    "outliers": "some rows are twenty times as far out (simulated)",
    "wrong labels": "some training labels are wrong (simulated)",
}


def cases_of_page(described: dict[str, str]) -> list[str]:
    """Return the gains of some cases, a line each."""
    rows = RECORD.rows()
    means = gains(rows)
    cells = []
    for case, words in described.items():
        names = [name for name in sets_of_mean(rows, case) if name]
        where = f"{words}: {', '.join(names)}" if names else words
        cells.append(_line_of_page(where, CASES[case].axis, means[case]))
    return table("where | what varies | recall gained", cells)[1:]


def _line_of_page(where: str, axis: str, by_level: dict[Any, Gain]) -> tuple[str, str, str]:
    levels = [level if isinstance(level, str) else f"{level:,g}" for level in by_level]
    gained = ", ".join(bold_if(f"{gain.gain:+.3f}", gain.is_clear) for gain in by_level.values())
    return where, f"{axis}: {'; '.join(levels)}", gained


# ── picture ───────────────────────────────────────────────────────────────────────────────────────


def draw_picture() -> None:
    """Draw the gain by level, one panel a case; above zero training for the metric pays."""
    rows = RECORD.rows()
    means = gains(rows)
    panels = [
        ("Real sets, limit 1 % false positives", ("bent boundaries", "straight boundaries")),
        ("Real sets, up to 6,000 training rows", ("limits, bent", "limits, straight")),
        ("Simulated: unequal spreads, limit 1 %", ("unequal spreads",)),
        ("Simulated: wrong labels, limit 5 %", ("wrong labels",)),
        ("Simulated: outliers, limit 5 %", ("outliers",)),
    ]
    figure = new_figure(10.5, 6.0)
    figure.get_layout_engine().set(wspace=0.05)  # else ticks of neighbouring panels touch
    figure.suptitle(
        "Recall gained over tuned logistic regression, on new rows (bars: two standard errors)",
        x=0.01,
        ha="left",
        fontsize=12,
    )
    axes = figure.subplots(2, 3, sharey=True).ravel()
    axes[0].set_ylim(-0.03, 0.21)
    for ax, (title, cases) in zip(axes, panels, strict=False):
        styles = ((BLUE, "o"), (VERMILION, "s")) if len(cases) > 1 else ((GREEN, "^"),)
        for case, style in zip(cases, styles, strict=True):
            n_sets = len(sets_of_mean(rows, case))
            bends = "bent" if "bent" in case else "straighter"
            label = f"{bends}, mean of {n_sets} sets" if len(cases) > 1 else None
            _draw_gains(ax, means.get(case, {}), style, label)
        ax.set_xlabel(CASES[cases[0]].axis)
        ax.set_title(title, loc="left", fontsize=10)
        if len(cases) > 1:
            ax.legend(title="boundaries", frameon=False, fontsize=9, alignment="left", loc=2)
    axes[-1].remove()
    for ax in axes[:-1]:
        ax.axhline(0.0, color=BLACK, linewidth=0.8)
        ax.grid(**GRID)
        ax.set_axisbelow(True)
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
    for first_column in (0, 3):
        axes[first_column].set_ylabel("recall gained")
    figure.savefig(PICTURE, dpi=200)


def _draw_gains(
    ax: Any, by_level: dict[Any, Gain], style: tuple[str, str], label: str | None
) -> None:
    """Draw gains at equal steps, with two standard errors."""
    colour, marker = style
    errors = [CLEAR * gain.error for gain in by_level.values()]
    values = [gain.gain for gain in by_level.values()]
    steps = list(range(len(by_level)))
    ax.errorbar(
        steps, values, errors, fmt=f"{marker}-", color=colour, ecolor=GREY, label=label, capsize=3
    )
    ax.set_xticks(steps, [k if isinstance(k, str) else f"{k:,g}" for k in by_level])


_COLUMNS = (OURS, RIVAL, "commit")
RECORD = Record.beside(
    __file__, ("case", "set", "level", "draw", *_COLUMNS), "case, set, level, draw"
)
STUDY = Study(
    [Part(RECORD, plan, measure)],
    lines,
    quick="one draw of each case",
    options={"--minutes": None},
    draw=draw_picture,
)

if __name__ == "__main__":
    STUDY.main(__doc__)
