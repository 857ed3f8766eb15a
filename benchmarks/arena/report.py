"""What ``arena.md`` says, and the ranks as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from benchmarks.arena import figure
from benchmarks.arena.protocol import FOLDS, GENERAL, IMBALANCED, METRICS
from benchmarks.arena.record import LARGE_RESULTS, RESULTS, read
from benchmarks.markdown import header, line
from benchmarks.rivals import RIVALS, TUNED

if TYPE_CHECKING:
    from directrix._typing import FloatArray

REPORT = Path(__file__).with_name("arena.md")
OURS = tuple(name for name, rival in RIVALS.items() if rival.kind == "ours")
LINEAR = tuple(name for name, rival in RIVALS.items() if rival.kind == "linear")
REFERENCES = tuple(name for name, rival in RIVALS.items() if rival.kind == "reference")
KINDS = {"general": GENERAL, "imbalanced": tuple(f"keel/{name}" for name in IMBALANCED)}
LEVEL = 0.05


class Verdict(NamedTuple):
    """A difference to another competitor, greater being better for the first, and its p-value."""

    mean: float
    p: float

    @classmethod
    def of(cls, differences: FloatArray) -> Verdict:
        r"""Test the differences of the folds of a cross-validation, repeated or not.

        .. math:: t = \bar d \Big/ \sqrt{\left(\tfrac1J + \tfrac{n_2}{n_1}\right) s^2}

        with J − 1 degrees of freedom, n₂/n₁ the test rows to a training row (Nadeau and Bengio
        2003): folds share their training rows, so that their plain t-test finds too much.
        """
        mean, count = float(differences.mean()), len(differences)
        deviation = float(differences.std(ddof=1)) * (1 / count + 1 / (FOLDS - 1)) ** 0.5
        if deviation <= 1e-12 * max(1.0, abs(mean)):
            return cls(mean, 1.0 if abs(mean) < 1e-12 else 0.0)
        return cls(mean, float(2.0 * stats.t.sf(abs(mean) / deviation, count - 1)))

    @property
    def word(self) -> str:
        """Win, tie or loss."""
        if self.p >= LEVEL:
            return "tie"
        return "win" if self.mean > 0 else "loss"


class Arena:
    """The values of a file, by set, competitor and metric: one for each fold."""

    def __init__(self, path: Path = RESULTS) -> None:
        self.lines = read(path)

    @cached_property
    def shapes(self) -> dict[str, str]:
        """Rows and features of each set."""
        return {line.name: f"{line.rows} x {line.features}" for line in self.lines}

    @cached_property
    def ours(self) -> list[str]:
        """Our classifiers that were measured."""
        measured = {line.rival for line in self.lines}
        return [name for name in OURS if name in measured]

    @cached_property
    def values(self) -> dict[tuple[str, str, str], dict[tuple[int, int], float]]:
        """By set, competitor and metric, then repeat and fold; more is better."""
        found: dict[tuple[str, str, str], dict[tuple[int, int], float]] = {}
        for own_line in self.lines:
            for metric, value in own_line.values.items():
                sign = 1.0 if METRICS[metric].greater_is_better else -1.0
                own = found.setdefault((own_line.name, own_line.rival, metric), {})
                own[own_line.repeat, own_line.fold] = sign * value
        return found

    def folds(self, name: str, metric: str, rivals: Sequence[str]) -> FloatArray | None:
        """Return the values of all folds that these competitors have in common, whole repeats."""
        own = [self.values.get((name, rival, metric), {}) for rival in rivals]
        shared = set.intersection(*map(set, own))
        whole = [
            key for key in sorted(shared) if sum(other[0] == key[0] for other in shared) == FOLDS
        ]
        return np.array([[each[key] for key in whole] for each in own]) if whole else None

    def there(self, names: Sequence[str], metric: str) -> list[str]:
        """Return the competitors that have the metric on any of these sets."""
        return [r for r in RIVALS if any((name, r, metric) in self.values for name in names)]

    def measured(self, names: Sequence[str], metric: str, rivals: Sequence[str]) -> list[str]:
        """Return the sets that all of these competitors were measured on."""
        return [name for name in names if self.folds(name, metric, rivals) is not None]

    def verdicts(
        self, names: Sequence[str], metric: str, ours: str, rivals: Sequence[str]
    ) -> dict[str, tuple[str, Verdict]]:
        """Return for each set the best of these rivals, seen from the test rows, and how we do."""
        found = {}
        for name in names:
            there = [rival for rival in rivals if (name, rival, metric) in self.values]
            table = self.folds(name, metric, [ours, *there]) if there else None
            if table is not None:
                best = 1 + int(np.argmax(table[1:].mean(axis=1).round(9)))
                found[name] = there[best - 1], Verdict.of(table[0] - table[best])
        return found

    def ranks(self, names: Sequence[str], metric: str, rivals: Sequence[str]) -> FloatArray:
        """Return the rank of each competitor on each set, one the best, equals sharing theirs."""
        tables = (self.folds(name, metric, rivals) for name in names)
        means = [table.mean(axis=1).round(9) for table in tables if table is not None]
        return np.array([stats.rankdata(-mean) for mean in means])

    def cpu_ratio(self, rival: str) -> float:
        """Return the median over folds of the CPU time to that of tuned logistic regression."""
        ratios = [line.cpu for line in self.lines if line.rival == rival]
        return float(np.median(ratios)) if ratios else float("nan")


def main() -> None:
    """Print what the file says, and write it beside the file."""
    arena = Arena()
    text = "\n".join(_lines(arena)) + "\n"
    print(text, end="")
    REPORT.write_text(text, encoding="utf-8")
    figure.draw(
        {
            (kind, metric): dict(zip(_ranked(arena, names, metric), means, strict=True))
            for kind, names in KINDS.items()
            for metric in METRICS
            if len(ranks := arena.ranks(names, metric, _ranked(arena, names, metric)))
            for means in (ranks.mean(axis=0),)
        },
        {kind: len(arena.measured(names, "error", [TUNED])) for kind, names in KINDS.items()},
    )


def _ranked(arena: Arena, names: Sequence[str], metric: str) -> list[str]:
    """Return the linear competitors, ours among them, that have the metric on every set."""
    sets = arena.measured(names, metric, [TUNED])
    return [r for r in (*OURS, *LINEAR) if len(arena.measured(sets, metric, [r])) == len(sets)]


def _lines(arena: Arena) -> list[str]:
    lines = [
        "# The arena",
        "",
        "All competitors on the same folds; how: see `run.py`. Values are means over the folds.",
        f"Wins and losses: the corrected t-test for repeated cross-validation at {LEVEL:.0%}. The",
        "best rival of a set is chosen with the test folds in view, so it has an edge.",
        "",
        "## Wins, ties and losses against the best linear rival of each set",
        "",
        *header("sets", "metric", "ours", "wins", "ties", "losses", "won on", "lost on"),
    ]
    for kind, names in KINDS.items():
        for metric in METRICS:
            lines += _counts(arena, kind, names, metric, LINEAR)
    lines += ["", f"## Against {TUNED} alone", ""]
    lines += header("sets", "metric", "ours", "wins", "ties", "losses", "won on", "lost on")
    for kind, names in KINDS.items():
        for metric in METRICS:
            lines += _counts(arena, kind, names, metric, (TUNED,))
    lines += ["", "## Mean ranks of the linear ones, one the best", ""]
    lines += _rank_table(arena)
    lines += ["", f"## CPU of the whole choice, to that of {TUNED} (median over folds)", ""]
    lines += header("competitor", "ratio")
    lines += [line(rival, f"{arena.cpu_ratio(rival):.2f}") for rival in RIVALS]
    for kind, names in KINDS.items():
        for metric in METRICS:
            lines += _values(arena, f"{kind} sets", names, metric)
    large = Arena(LARGE_RESULTS)
    for metric in METRICS:
        lines += _values(large, "large sets, whole", tuple(large.shapes), metric)
    return lines


def _counts(
    arena: Arena, kind: str, names: Sequence[str], metric: str, rivals: Sequence[str]
) -> list[str]:
    able = arena.there(names, metric)
    lines = []
    for ours in arena.ours:
        verdicts = arena.verdicts(names, metric, ours, [r for r in rivals if r in able])
        words = {
            word: [name for name, (_, own) in verdicts.items() if own.word == word]
            for word in ("win", "tie", "loss")
        }
        counts = (str(len(own)) for own in words.values())
        lists = (", ".join(map(_short, words[word])) for word in ("win", "loss"))
        lines.append(line(kind, metric, ours, *counts, *lists))
    return lines


def _rank_table(arena: Arena) -> list[str]:
    """Return mean ranks; a critical difference by Nemenyi after Friedman's test."""
    every = [r for r in (*OURS, *LINEAR) if any(line.rival == r for line in arena.lines)]
    lines = header("sets", "metric", "n", *every, "critical difference", "Friedman p")
    for kind, names in KINDS.items():
        for metric in METRICS:
            rivals = _ranked(arena, names, metric)
            ranks = arena.ranks(names, metric, rivals)
            if len(ranks) < 2:
                continue
            n, k = ranks.shape
            q = stats.studentized_range.ppf(1 - LEVEL, k, np.inf) / 2**0.5
            critical = q * (k * (k + 1) / (6 * n)) ** 0.5
            p = stats.friedmanchisquare(*ranks.T).pvalue
            means = dict(zip(rivals, ranks.mean(axis=0), strict=True))
            best = min(means.values())
            cells = (
                ""
                if r not in means
                else f"**{means[r]:.2f}**"
                if means[r] == best
                else f"{means[r]:.2f}"
                for r in every
            )
            lines.append(line(kind, metric, str(n), *cells, f"{critical:.2f}", f"{p:.1g}"))
    return lines


def _values(arena: Arena, kind: str, names: Sequence[str], metric: str) -> list[str]:
    rivals = arena.there(names, metric)
    there = [name for name in names if any((name, r, metric) in arena.values for r in rivals)]
    if not there:
        return []
    direction = "more" if METRICS[metric].greater_is_better else "less"
    sign = 1.0 if METRICS[metric].greater_is_better else -1.0
    lines = ["", f"## {metric.capitalize()}, {kind} ({direction} is better)", ""]
    lines += header("set", "n x d", *rivals)
    for name in there:
        own = (arena.values.get((name, r, metric), {}) for r in rivals)
        cells = (f"{sign * np.mean(list(each.values())):.4f}" if each else "" for each in own)
        lines.append(line(_short(name), arena.shapes[name], *cells))
    return lines


def _short(name: str) -> str:
    return name.removeprefix("keel/")


if __name__ == "__main__":
    main()
