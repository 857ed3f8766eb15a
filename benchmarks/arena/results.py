"""The values that the arena has measured, and how competitors compare in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import stats

from benchmarks.arena.protocol import FOLDS, METRICS
from benchmarks.harness.record import Record, Row
from benchmarks.rivals.base import Rival
from benchmarks.rivals.lines import RIVALS
from directrix._typing import FloatArray

_ABOUT = ("set", "rows", "features", "repeat", "fold", "rival", "cpu_seconds", "cpu", "commit")
_KEY = ("set", "repeat", "fold", "rival")


def record_of(path: Path, metrics: Iterable[str]) -> Record:
    """Return the record of an arena with some metrics."""
    return Record(path, (*_ABOUT, *metrics), _KEY)


MEASURED = record_of(Path(__file__).with_name("measured.csv"), METRICS)
LARGE = record_of(Path(__file__).with_name("large.csv"), METRICS)
#: How far a metric of one fold, measured again, may be from the tracked one. Releases of NumPy and
#: scikit-learn differ in the last digits, and a candidate or a test row then and now falls the
#: other way; the small sets have some 50 test rows a fold, of which this is a few.
TOLERANCE = 0.1
#: How many of all metrics may be further away than a hundredth of their unit.
SHARE_MOVED = 0.1
LEVEL = 0.05


class Score(NamedTuple):
    """All metrics of a competitor on one fold.

    ``cpu_seconds``: CPU time of the whole choice, for all metrics together. ``cpu``: the same, to
    that of the unit of the arena on the same fold in the same process: tuned logistic regression,
    on tables over one-hot columns. ``values``: by metric.
    """

    name: str
    rows: int
    features: int
    repeat: int
    fold: int
    rival: str
    cpu_seconds: float
    cpu: float
    commit: str
    values: dict[str, float]

    @property
    def key(self) -> tuple[str, int, int, str]:
        """Set, repeat, fold and competitor."""
        return self.name, self.repeat, self.fold, self.rival

    def cells(self, metrics: Iterable[str]) -> tuple[object, ...]:
        """Return a row of the file of an arena with some metrics."""
        values = (f"{self.values[m]:.6g}" if m in self.values else "" for m in metrics)
        return *self[:6], f"{self.cpu_seconds:.4g}", f"{self.cpu:.4g}", self.commit, *values

    @classmethod
    def of(cls, row: Row) -> Score:
        """Read a row of a file."""
        numbers = (int(row[name]) for name in _ABOUT[1:5])
        spent = float(row["cpu_seconds"]), float(row["cpu"])
        values = {name: float(row[name]) for name in row if name not in _ABOUT and row[name]}
        return cls(row["set"], *numbers, row["rival"], *spent, row["commit"], values)


def read(record: Record = MEASURED) -> list[Score]:
    """Return all that was measured."""
    return [Score.of(row) for row in record.rows()]


def drift(again: Sequence[Score]) -> str:
    """Compare with the tracked file; return what is wrong, or nothing."""
    tracked = {score.key: score for score in read()}
    compared = [
        (score, name, value, abs(value - tracked[score.key].values[name]) / METRICS[name].unit)
        for score in again
        if score.key in tracked
        for name, value in score.values.items()
    ]
    if not compared:
        return "nothing that was measured is in the tracked file"
    moved = [comparison for comparison in compared if comparison[3] > 0.01]
    far = [comparison for comparison in compared if comparison[3] > TOLERANCE]
    for score, name, value, _ in far:
        print(f"{score.key}: {name} is {value:.4f}, was {tracked[score.key].values[name]:.4f}")
    print(f"{len(compared)} figures measured again, {len(moved)} moved by more than a hundredth")
    if far or len(moved) > SHARE_MOVED * len(compared):
        return "the tracked figures do not come out again: see above"
    return ""


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
    """The values of records, by set, competitor and metric: one for each fold.

    ``*records``: by default those of the class. ``metrics``, ``competitors``: by name, in the order
    of the tables; an arena of other sets has others. ``planned_folds``: folds of a repeat; with
    fewer it is not whole.
    """

    metrics: ClassVar[Mapping[str, Any]] = METRICS
    competitors: ClassVar[Mapping[str, Rival]] = RIVALS
    records: ClassVar[tuple[Record, ...]] = (MEASURED,)
    planned_folds: ClassVar[int] = FOLDS

    def __init__(self, *records: Record) -> None:
        self.scores = [score for record in records or self.records for score in read(record)]

    @cached_property
    def commits(self) -> list[str]:
        """Commits that were measured, the first one first."""
        return list(dict.fromkeys(score.commit for score in self.scores))

    @cached_property
    def shapes(self) -> dict[str, str]:
        """Rows and features of each set."""
        return {score.name: f"{score.rows} x {score.features}" for score in self.scores}

    @cached_property
    def rivals(self) -> list[str]:
        """Competitors that were measured, in the order of the tables."""
        measured = {score.rival for score in self.scores}
        return [name for name in self.competitors if name in measured]

    @cached_property
    def ours(self) -> list[str]:
        """Our classifiers that were measured."""
        return [name for name in self.rivals if self.competitors[name].family == "ours"]

    @cached_property
    def values(self) -> dict[tuple[str, str, str], dict[tuple[int, int], float]]:
        """By set, competitor and metric, then repeat and fold; more is better."""
        values: dict[tuple[str, str, str], dict[tuple[int, int], float]] = {}
        for score in self.scores:
            for metric, value in score.values.items():
                folds = values.setdefault((score.name, score.rival, metric), {})
                folds[score.repeat, score.fold] = self.signed(metric, value)
        return values

    def folds(self, name: str, metric: str, rivals: Sequence[str]) -> FloatArray | None:
        """Return the values of all folds that these competitors have in common, whole repeats."""
        values = [self.values.get((name, rival, metric), {}) for rival in rivals]
        shared = set.intersection(*map(set, values))
        have = Counter(repeat for repeat, _ in shared)
        whole = [key for key in sorted(shared) if have[key[0]] == self.planned_folds]
        return np.array([[by_fold[key] for key in whole] for by_fold in values]) if whole else None

    def signed(self, metric: str, value: float) -> float:
        """Return a value of a metric with the sign that makes more better.

        Applied again, it returns the value of the metric. Zero has no sign.
        """
        return value if self.metrics[metric].greater_is_better else 0.0 - value

    def available(self, names: Sequence[str], metric: str) -> list[str]:
        """Return the competitors that have the metric on any of these sets."""
        return [
            rival
            for rival in self.competitors
            if any((name, rival, metric) in self.values for name in names)
        ]

    def measured(self, names: Sequence[str], metric: str, rivals: Sequence[str]) -> list[str]:
        """Return the sets that all of these competitors were measured on."""
        return [name for name in names if self.folds(name, metric, rivals) is not None]

    def verdicts(
        self, names: Sequence[str], metric: str, ours: str, rivals: Sequence[str]
    ) -> dict[str, tuple[str, Verdict]]:
        """Return for each set the best of these rivals, seen from the test rows, and how we do.

        Rivals that have no whole repeat of a set are left out there.
        """
        verdicts = {}
        for name in names:
            available = [r for r in rivals if self.folds(name, metric, [ours, r]) is not None]
            table = self.folds(name, metric, [ours, *available]) if available else None
            if table is not None:
                best = 1 + int(np.argmax(table[1:].mean(axis=1).round(9)))
                verdicts[name] = available[best - 1], Verdict.of(table[0] - table[best])
        return verdicts

    def outcomes(
        self, names: Sequence[str], metric: str, ours: str, rivals: Sequence[str]
    ) -> dict[str, list[str]]:
        """Return the sets that are won, tied and lost against the best of these rivals."""
        verdicts = self.verdicts(names, metric, ours, rivals)
        return {
            word: [name for name, (_, verdict) in verdicts.items() if verdict.word == word]
            for word in ("win", "tie", "loss")
        }

    def ranks(self, names: Sequence[str], metric: str, rivals: Sequence[str]) -> FloatArray:
        """Return the rank of each competitor on each set; 1 is best, and ties share a rank."""
        tables = (self.folds(name, metric, rivals) for name in names)
        means = [table.mean(axis=1).round(9) for table in tables if table is not None]
        return np.array([stats.rankdata(-mean) for mean in means])

    def means(self, names: Sequence[str], metric: str, rivals: Sequence[str]) -> FloatArray:
        """Return a row for each set that all of these have: their means over shared folds.

        More is better, whatever the metric.
        """
        tables = [self.folds(name, metric, rivals) for name in names]
        means = [table.mean(axis=1) for table in tables if table is not None]
        return np.array(means).reshape(len(means), len(rivals))

    def cpu_ratio(self, rival: str) -> float:
        """Return the median over folds of the CPU time to that of tuned logistic regression."""
        ratios = [score.cpu for score in self.scores if score.rival == rival]
        return float(np.median(ratios)) if ratios else float("nan")

    def cpu_to(self, names: Sequence[str], rival: str, unit: str) -> float:
        """Return the median CPU time of a competitor to that of another, over shared folds."""
        spent: dict[str, dict[tuple[str, int, int], float]] = {rival: {}, unit: {}}
        for score in self.scores:
            if score.rival in spent and score.name in names:
                spent[score.rival][score.name, score.repeat, score.fold] = score.cpu
        shared = spent[rival].keys() & spent[unit].keys()
        ratios = [spent[rival][key] / spent[unit][key] for key in shared]
        return float(np.median(ratios)) if ratios else float("nan")


class LargeArena(Arena):
    """The large sets, whole: one fold has test rows enough."""

    records: ClassVar[tuple[Record, ...]] = (LARGE,)
    planned_folds: ClassVar[int] = 1


# ── all sets together: signed ranks, Holm's correction, share of a gap ────────────────────────────


#: Samples of sets for the interval of a share.
_SAMPLES = 10_000
#: A gap below this is too small for a share of it to mean anything on a single set.
LEAST_GAP = 0.02


def signed_rank_p(differences: FloatArray) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test; sets that are equal keep ranks.

    One difference a set: sets are independent of each other, which folds are not.
    """
    differences = differences.round(9)
    if not differences.any():
        return 1.0
    # Equal sets or ties rule the exact distribution out; scipy says so, then takes the normal one.
    tied = len(np.unique(np.abs(differences))) < len(differences) or (differences == 0.0).any()
    method = "approx" if tied or len(differences) > 50 else "exact"
    return float(stats.wilcoxon(differences, zero_method="pratt", method=method).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    r"""Return p-values corrected for their number by Holm's method.

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min\left(1, (m - j + 1)\, p_{(j)}\right)

    (Holm 1979): the chance of a single false claim among all m stays below the level.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps = np.minimum(1.0, (len(p) - np.arange(len(p))) * p[order])
    corrected = np.empty_like(p)
    corrected[order] = np.maximum.accumulate(steps) if len(p) else steps
    return [float(value) for value in corrected]


class ClosedShare(NamedTuple):
    """Which share of the gap between two competitors a third one closes.

    ``gap``: mean over the sets of far minus near. ``share``: mean over the sets of the third minus
    near, to the gap: large gaps count for more. ``low``, ``high``: 95 % of samples of the sets,
    with replacement. ``median``: of the shares of single sets whose gap is at least 0.02; not a
    number if there are none.
    """

    sets: int
    gap: float
    share: float
    low: float
    high: float
    median: float

    @classmethod
    def of(cls, near: FloatArray, far: FloatArray, third: FloatArray) -> ClosedShare:
        """Compare three competitors that have one mean for each set."""
        gaps, gains = far - near, third - near
        sample = np.random.default_rng(0).integers(len(gaps), size=(_SAMPLES, len(gaps)))
        with np.errstate(divide="ignore", invalid="ignore"):
            low, high = np.nanquantile(
                gains[sample].sum(axis=1) / gaps[sample].sum(axis=1), [0.025, 0.975]
            )
            share = float(gains.sum() / gaps.sum())
        wide = gaps >= LEAST_GAP
        median = float(np.median(gains[wide] / gaps[wide])) if wide.any() else float("nan")
        return cls(len(gaps), float(gaps.mean()), share, float(low), float(high), median)


class Gain(NamedTuple):
    """Gain of one competitor over another, over sets together.

    ``median``, ``low``, ``high``: median over the sets, and 95 % of its values in samples of the
    sets with replacement. ``p``: of Wilcoxon's signed-rank test.
    """

    sets: int
    median: float
    low: float
    high: float
    mean: float
    p: float

    @classmethod
    def of(cls, differences: FloatArray) -> Gain:
        """Compare two competitors by one difference for each set."""
        n = len(differences)
        sample = np.random.default_rng(0).integers(n, size=(_SAMPLES, n))
        low, high = np.quantile(np.median(differences[sample], axis=1), [0.025, 0.975])
        return cls(
            n,
            float(np.median(differences)),
            float(low),
            float(high),
            float(differences.mean()),
            signed_rank_p(differences),
        )


def critical_difference(n_sets: int, n_competitors: int, level: float) -> float:
    r"""Return how far mean ranks must be apart to differ significantly (Nemenyi).

    .. math:: q_\alpha \sqrt{\frac{k (k + 1)}{6 N}}

    for k competitors on N sets, q the quantile of the studentised range over √2 (Demšar 2006).
    """
    k = n_competitors
    q = stats.studentized_range.ppf(1.0 - level, k, np.inf) / 2**0.5
    return float(q * (k * (k + 1) / (6 * n_sets)) ** 0.5)
