"""Linear models from a summary with a sample of rows, against models that see all rows.

``python -m benchmarks.studies.one_pass`` divides each of 57 sets at random, 60 % of the rows to
learn from, and measures six metrics on the others, by

* ``summary``: one summary with at most 10,000 rows of each class, and a `MomentClassifier` for each
  metric from it;
* ``2,000 rows`` and so on: the same with samples of other sizes, on sets of 6,000 rows or more;
* ``cosines``: the same with splines and cosines, which are used if they gain a standard error;
* ``normal scores``: the same without rows, so that scores are assumed to be normal;
* ``logistic``: `LogisticRegressionCV` tuned on all rows, with a threshold for each metric from
  its out-of-fold scores;
* ``all rows``: `MomentClassifier.fit` as it was when it chose by all rows. Its rows were measured
  on the commit that they name, with ``PYTHONPATH`` set to the ``src`` of a worktree of it.

Ten of the sets were not looked at before all constants were chosen. ``cover`` draws samples of
2,000 rows from large sets, and tells how often intervals of the summary's models cover the truth,
and how often limits that are kept with confidence 0.95 are broken.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split

from benchmarks.harness.data import Rows, load
from benchmarks.harness.markdown import table
from benchmarks.harness.record import (
    Record,
    Row,
    commits_of,
    distinct,
    grouped_by,
    mean_of,
    numbers,
    package_commit,
    select,
)
from benchmarks.harness.runner import Part, Study
from benchmarks.rivals.base import finite_threshold, standardized
from benchmarks.studies.new_rows.populations import draw
from directrix import MomentClassifier, Moments, summarize
from directrix._typing import AnyArray, FloatArray
from directrix.exceptions import OutOfReachError
from directrix.fit.choice import limit_by_order
from directrix.fit.operating_point import EffectiveCounts
from directrix.metrics import AUC, BalancedError, Cost, Error, FBeta, FPRAtRecall, RecallAtFPR

LARGE = (
    *("higgs_7k", "phishing", "mammography", "sylva", "htru2", "magic04", "letter", "letter_O"),
    *("cod-rna_30k", "default_credit", "susy_30k", "a9a", "adult", "shuttle", "bank-marketing"),
    *("ijcnn1", "celeba_bald", "skin_nonskin", "covtype", "kddcup99_10pct"),
)
SMALL = (
    *("sonar", "heart", "liver-disorders", "breast", "diabetes", "fourclass", "oil_spill"),
    *("german", "svmguide3", "vowel", "splice", "segment", "svmguide1", "ada", "satimage"),
    *("spambase", "keel/page-blocks0", "keel/abalone19", "keel/yeast1", "keel/yeast3"),
    *("keel/vehicle1", "keel/haberman", "keel/glass0", "keel/ecoli3", "keel/car-good"),
    *("keel/winequality-red-4", "keel/flare-F"),
)
#: Sets that were not looked at before.
UNSEEN = (
    *("poker", "w8a", "mushrooms", "keel/kr-vs-k-three_vs_eleven", "keel/shuttle-2_vs_5"),
    *("keel/yeast4", "keel/vehicle0", "keel/led7digit-0-2-4-5-6-7-8-9_vs_1", "keel/ecoli1"),
    "keel/abalone9-18",
)
LIMIT = 0.01
METRICS: dict[str, Any] = {
    "error": Error(),
    "AUC": AUC(),
    "recall at FPR 1 %": RecallAtFPR(LIMIT),
    "cost 1:20": Cost(fp=1, fn=20),
    "F1": FBeta(),
    "balanced error": BalancedError(),
}
TESTED = 0.4
#: Rows of each class in a summary.
SAMPLE = 10_000
SUMMARY, NORMAL, LOGISTIC, ALL_ROWS = "summary", "normal scores", "logistic", "all rows"
#: Samples of other sizes, and features that are not linear.
SIZES = {f"{rows:,} rows": rows for rows in (2_000, 5_000, 20_000)}
COSINES = "cosines"
#: Sets of more than 60 features, in which splines and cosines are not tried.
WIDE = ("phishing", "sylva", "a9a", "adult", "kddcup99_10pct", "w8a", "mushrooms")


# ── methods: a function of training rows that returns one of a metric ─────────────────────────────

#: From a metric to scores of rows, zero the threshold, and a fitted classifier if there is one.
Learn = Callable[[str], tuple[Callable[[Any], FloatArray], Any]]


def _classifier(fitted: Any) -> tuple[Callable[[Any], FloatArray], Any]:
    return fitted.decision_function, fitted


def summary(train: Rows, sample: int = SAMPLE) -> Learn:
    """Summarise rows once; learn every metric from the summary."""
    by_name = _each(Moments.of(*train, fold=_folds(train), sample=sample))
    return lambda name: _classifier(by_name[name])


def cosines(train: Rows) -> Learn:
    """Summarise raw columns, splines and cosines; learn every metric from the summary."""
    given: dict[str, Any] = {"features": "cosines", "fold": _folds(train), "progress": False}
    by_name = _each(cast(Moments, summarize(_frame(train.X), target=train.y, **given)))
    return lambda name: (
        lambda rows: by_name[name].decision_function(_frame(rows)),
        by_name[name],
    )


def _frame(X: FloatArray) -> Any:
    import pandas as pd  # noqa: PLC0415 - maps are of named columns

    return pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])


def _folds(train: Rows) -> AnyArray:
    return np.random.default_rng(0).integers(5, size=len(train.y))


def _each(moments: Moments) -> dict[str, Any]:
    fitted = MomentClassifier().fit_summary_each(list(METRICS.values()), moments)
    return dict(zip(METRICS, fitted, strict=True))


def normal_scores(train: Rows) -> Learn:
    """Learn from moments alone."""
    moments = Moments.of(*train, sample=0)
    return lambda name: _classifier(MomentClassifier(METRICS[name]).fit_summary(moments))


def all_rows(train: Rows) -> Learn:
    """Fit to all rows, for each metric anew."""
    return lambda name: _classifier(MomentClassifier(METRICS[name]).fit(*train))


def logistic(train: Rows) -> Learn:
    """Tune logistic regression on all rows; out-of-fold scores set the threshold of each metric."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    X, y = standardized(train, train)[0]
    shift, scale = train.X.mean(axis=0), train.X.std(axis=0)
    scale[scale == 0] = 1.0
    few = X.shape[1] <= 150 and len(y) <= 50_000
    options: dict[str, Any] = {"solver": "newton-cholesky" if few else "lbfgs", "max_iter": 300}
    tuned = LogisticRegressionCV(Cs=8, cv=folds, scoring="neg_log_loss", **options).fit(X, y)
    again = LogisticRegression(C=float(tuned.C_[0]), **options)
    held_out = cross_val_predict(again, X, y, cv=folds, method="decision_function")
    sizes = EffectiveCounts(float(y.sum()), float((~y).sum()))

    def learned(name: str) -> tuple[Callable[[Any], FloatArray], Any]:
        metric = METRICS[name]
        if metric.limit is not None:
            metric = metric.with_limit(limit_by_order(metric.limit, sizes))
        at = finite_threshold(metric, y, held_out) if metric.uses_threshold else 0.0
        return lambda rows: tuned.decision_function((rows - shift) / scale) - at, None

    return learned


METHODS = {SUMMARY: summary, NORMAL: normal_scores, LOGISTIC: logistic, ALL_ROWS: all_rows}
METHODS |= {name: partial(summary, sample=rows) for name, rows in SIZES.items()}
METHODS |= {COSINES: cosines}

# ── one split ─────────────────────────────────────────────────────────────────────────────────────

_CLAIMS = ("claimed", "low", "high", "claimed FPR", "FPR low", "FPR high")


def rates(y: AnyArray, scores: FloatArray) -> tuple[float, float]:
    """Return true- and false-positive rate of scores above zero."""
    above = scores > 0
    return float(above[y].mean()), float(above[~y].mean())


def claims(classifier: Any, metric: Any) -> list[float]:
    """Return what a classifier promises of the metric (at a limit of the recall) and of the FPR."""
    point = None if classifier is None else classifier.operating_point_
    if point is None or getattr(point, "intervals", None) is None:
        return [np.nan] * len(_CLAIMS)
    expected, intervals = point.expected, point.intervals
    at_limit = metric.limit is not None
    value = expected.tpr if at_limit else expected.metric
    interval = intervals.tpr if at_limit else intervals.metric
    return [value, *interval, expected.fpr, *intervals.fpr]


def measured(learn: Callable[[Rows], Learn], train: Rows, test: Rows) -> Iterator[list[Any]]:
    """Yield for each metric its value on new rows, the rates there, what was claimed, and CPU."""
    start = process_time()
    of_metric = learn(train)
    shared = process_time() - start
    for name, metric in METRICS.items():
        start = process_time()
        score, classifier = of_metric(name)
        spent = process_time() - start
        scores = np.asarray(score(test.X))
        value, (tpr, fpr) = metric.score(test.y, scores), rates(test.y, scores)
        said = claims(classifier, metric)
        figures = [f"{figure:.6g}" for figure in (value, tpr, fpr, *said)]
        yield [name, *figures, f"{shared:.4g}", f"{spent:.4g}"]


def measure(name: str, split: int, method: str) -> list[tuple[Any, ...]]:
    """Return a row for each metric."""
    X, y = load(name)
    X = np.asarray(X if isinstance(X, np.ndarray) else X.toarray())
    keep = np.ptp(X, axis=0) > 0
    parts = train_test_split(X[:, keep], y, test_size=TESTED, stratify=y, random_state=split)
    train, test = Rows(parts[0], parts[2]), Rows(parts[1], parts[3])
    about = (name, split, method, len(train.y), keep.sum(), int(train.y.sum()))
    rows = measured(METHODS[method], train, test)
    return [(*about, *figures, package_commit()) for figures in rows]


# ── coverage ──────────────────────────────────────────────────────────────────────────────────────

POPULATIONS, DRAWN = ("susy_30k", "skin_nonskin", "covtype"), 2_000
#: Metrics whose limits are kept with confidence.
GUARANTEED: dict[str, Any] = {
    "FPR at most 5 %": RecallAtFPR(0.05),
    "recall at least 90 %": FPRAtRecall(0.9),
}
CONFIDENCE = 0.95


def cover(name: str, seed: int) -> list[tuple[Any, ...]]:
    """Return for each metric what a summary of a sample of a population claims, and the truth.

    The truth of a limit is the rate on new rows; it has no claims, nor a truth if it is refused.
    """
    X, y, X_new, y_new = draw(name, DRAWN, seed)
    moments = Moments.of(X, y, fold=_folds(Rows(X, y)), sample=SAMPLE)
    rows: list[tuple[Any, ...]] = []
    for (key, metric), classifier in zip(METRICS.items(), _each(moments).values(), strict=True):
        scores = classifier.decision_function(X_new)
        tpr, fpr = rates(y_new, scores)
        truth = tpr if metric.limit is not None else metric.score(y_new, scores)
        rows.append((key, truth, fpr, *claims(classifier, metric)))
    for key, metric in GUARANTEED.items():
        try:
            classifier = MomentClassifier(metric, guarantee=CONFIDENCE).fit_summary(moments)
            tpr, fpr = rates(y_new, classifier.decision_function(X_new))
        except OutOfReachError:
            tpr = fpr = np.nan
        truth = fpr if metric.limit.at_most else tpr
        rows.append((key, truth, fpr, *[np.nan] * len(_CLAIMS)))
    return [
        (name, seed, key, *(f"{figure:.6g}" for figure in figures), package_commit())
        for key, *figures in rows
    ]


def planned(args: Namespace) -> Iterator[tuple[str, int, str]]:
    """Yield sets, splits and methods: first the first split of all sets, and last the dearest."""
    methods = [args.method] if args.method else [SUMMARY, NORMAL, LOGISTIC]
    if args.quick:
        yield from (("sonar", 0, method) for method in methods)
        return
    *large, dearest = LARGE
    splits = dict.fromkeys(SMALL, 3) | dict.fromkeys((*large[:-3], *UNSEEN), 2)
    for split in range(3):
        for name in (*SMALL, *UNSEEN, *large):
            if split < splits.get(name, 1):
                yield from ((name, split, method) for method in methods)
    yield from ((dearest, 0, method) for method in methods)
    if not args.method:
        yield from ((name, 0, method) for name in LARGE for method in SIZES)
        narrow = (name for name in (*SMALL, *UNSEEN, *LARGE) if name not in WIDE)
        yield from ((name, 0, COSINES) for name in narrow)


def draws(args: Namespace) -> Iterator[tuple[str, int]]:
    """Yield populations and seeds; none of them if only one method is asked for."""
    if not (args.method or args.quick):
        yield from ((name, seed) for seed in range(200) for name in POPULATIONS)


# ── report ────────────────────────────────────────────────────────────────────────────────────────


def losses(rows: list[Row], method: str, other: str, metric: str) -> dict[str, float]:
    """Return by set by how much a method is worse than another, mean of the splits of both."""
    values: dict[str, dict[tuple[str, str], float]] = {}
    for row in select(rows, metric=metric):
        values.setdefault(row["method"], {})[row["set"], row["split"]] = float(row["value"])
    ours, theirs = values.get(method, {}), values.get(other, {})
    sign = -1.0 if METRICS[metric].greater_is_better else 1.0
    by_set: dict[str, list[float]] = {}
    for key in ours.keys() & theirs.keys():
        by_set.setdefault(key[0], []).append(sign * (ours[key] - theirs[key]))
    return {name: fmean(by_set[name]) for name in sorted(by_set)}


def compared(rows: list[Row], sets: Sequence[str], title: str) -> list[str]:
    """Return the table of losses of all methods on some sets."""
    cells = []
    for metric in METRICS:
        line = [metric]
        pairs = ((NORMAL, LOGISTIC), (ALL_ROWS, LOGISTIC), (SUMMARY, LOGISTIC), (SUMMARY, ALL_ROWS))
        for method, other in pairs:
            found = losses(rows, method, other, metric)
            some = [found[name] for name in sets if name in found]
            line.append(f"{fmean(some):+.4f} / {median(some) + 0.0:+.4f}" if some else "")
        cells.append(tuple(line))
    columns = f"metric | {NORMAL} | {ALL_ROWS} | **{SUMMARY}** | {SUMMARY}, to {ALL_ROWS}"
    return table(columns, cells, title)


def behind(rows: list[Row]) -> list[str]:
    """Return every set on which a summary loses to logistic regression."""
    cells = []
    for metric in METRICS:
        found = losses(rows, SUMMARY, LOGISTIC, metric)
        worse = sorted(((loss, name) for name, loss in found.items() if loss > 0), reverse=True)
        cells.append((metric, ", ".join(f"{name} {loss:.4f}" for loss, name in worse) or "none"))
    return table("metric | set and loss", cells, f"Sets on which the {SUMMARY} is worse")


class Law(NamedTuple):
    """How much worse a method may be than another, in the mean of sets and on each of them."""

    method: str
    other: str
    metrics: tuple[str, ...]
    most: float
    most_in_a_set: float
    sets: tuple[str, ...] = LARGE


LAWS = (
    Law(SUMMARY, ALL_ROWS, ("error", "AUC"), 0.001, 0.005),
    Law(SUMMARY, ALL_ROWS, ("F1", "cost 1:20"), 0.002, 0.005),
    Law(SUMMARY, LOGISTIC, ("error", "AUC"), np.inf, 0.005),
    Law(SUMMARY, LOGISTIC, ("F1", "cost 1:20"), np.inf, 0.01),
    Law(SUMMARY, "20,000 rows", tuple(METRICS), 0.001, np.inf),
    Law(COSINES, SUMMARY, ("error", "AUC"), np.inf, 0.002, (*SMALL, *UNSEEN, *LARGE)),
)


def laws(rows: list[Row]) -> list[str]:
    """Return each law with what was measured, and the sets that are beyond it."""
    cells = []
    for law in LAWS:
        for metric in law.metrics:
            found = losses(rows, law.method, law.other, metric)
            some = {name: found[name] for name in law.sets if name in found}
            beyond = [f"{name} {x:.4f}" for name, x in some.items() if x > law.most_in_a_set]
            if not some:
                continue
            mean, largest = fmean(some.values()), max(some.values())
            measured = (
                f"{mean:+.4f}{_bound(law.most)}",
                f"{largest:+.4f}{_bound(law.most_in_a_set)}",
            )
            about = f"{law.method}, to {law.other}", metric, len(some)
            cells.append((*about, *measured, ", ".join(beyond) or "none"))
    columns = "loss | metric | sets | mean (law) | largest (law) | sets beyond the law"
    return table(columns, cells, "Laws")


def _bound(limit: float) -> str:
    return f" ({limit:g})" if np.isfinite(limit) else ""


def other_summaries(rows: list[Row]) -> list[str]:
    """Return what samples of other sizes, and cosines, lose to the summary."""
    cells = []
    for metric in METRICS:
        line = [metric]
        for method in (*SIZES, COSINES):
            found = list(losses(rows, method, SUMMARY, metric).values()) or [np.nan]
            line.append(", ".join(f"{of(found):+.4f}" for of in (fmean, min, max)))
        cells.append(tuple(line))
    title = f"Loss to the summary of {SAMPLE:,} rows a class: mean, least and largest of the sets"
    return table(" | ".join(["metric", *SIZES, COSINES]), cells, title)


def by_set(rows: list[Row]) -> list[str]:
    """Return error, and recall and FPR at the threshold for a limit of 1 %, of each large set."""
    methods, recall = (NORMAL, SUMMARY, ALL_ROWS, LOGISTIC), "recall at FPR 1 %"

    def means(name: str, metric: str, column: str) -> str:
        found = [select(rows, set=name, metric=metric, method=method) for method in methods]
        return " / ".join(f"{mean_of(some, column):.4f}" for some in found)

    shown = ("error", "value"), (recall, "tpr"), (recall, "fpr")
    cells = [(name, *(means(name, *which) for which in shown)) for name in LARGE]
    title = f"Large sets: {' / '.join(methods)}"
    return table(f"set | error | {recall} | its FPR on new rows", cells, title)


def in_short(rows: list[Row]) -> list[str]:
    """Return the losses of the summary to logistic regression, and on how many sets it is ahead."""
    cells = []
    for metric in METRICS:
        found, line = losses(rows, SUMMARY, LOGISTIC, metric), [metric]
        for sets in (LARGE, SMALL, UNSEEN):
            some = [found[name] for name in sets if name in found]
            ahead, behind = (sum(sign * loss > 0 for loss in some) for sign in (-1, 1))
            line.append(f"{fmean(some):+.4f} / {median(some) + 0.0:+.4f}, {ahead} : {behind}")
        cells.append(tuple(line))
    columns = (
        f"metric | {len(LARGE)} large sets | {len(SMALL)} smaller | {len(UNSEEN)} not seen before"
    )
    return table(columns, cells, "Loss to logistic regression: mean / median, sets ahead : behind")


def better_or_worse(rows: list[Row]) -> str:
    """Return on how many of the first 47 sets the summary is better than logistic regression."""
    said = []
    for metric in METRICS:
        found = losses(rows, SUMMARY, LOGISTIC, metric)
        signs = np.sign([found[name] for name in (*LARGE, *SMALL) if name in found])
        better, worse = int((signs < 0).sum()), int((signs > 0).sum())
        chance = binomtest(better, better + worse).pvalue
        said.append(f"{metric} {better} / {worse} (p {chance:.2g})")
    return (
        f"Sets of the first {len(signs)} on which the summary is better / worse: {', '.join(said)}."
    )


def kept_limit(rows: list[Row]) -> str:
    """Return how well the limit of 1 % is kept on large sets, in the mean of their splits."""
    at_limit = select(rows, metric="recall at FPR 1 %")
    said = []
    for method in (SUMMARY, NORMAL):
        found = grouped_by(select(at_limit, method=method), "set")
        fpr = np.array([numbers(found[(name,)], "fpr").mean() for name in LARGE])
        near = np.abs(fpr - LIMIT) <= 0.003
        said.append(
            f"{method}: mean {fpr.mean():.4f}, {100 * near.mean():.0f} % of sets within 0.003, "
            f"largest {fpr.max():.4f}"
        )
    return (
        f"False-positive rate on new rows of large sets at a limit of 1 %: {'; '.join(said)}. "
        "Required: mean 0.0085 to 0.0115, 90 % within 0.003, none above 0.02."
    )


def cost(rows: list[Row]) -> str:
    """Return the CPU of six metrics from a summary, relative to tuned logistic regression."""
    seconds: dict[tuple[str, ...], float] = {}
    for row in rows:
        key = (row["set"], row["split"], row["method"])
        shared = 0.0 if key in seconds else float(row["CPU shared"])
        seconds[key] = seconds.get(key, 0.0) + shared + float(row["CPU"])
    ratios = [
        seconds[name, split, SUMMARY] / spent
        for (name, split, method), spent in seconds.items()
        if method == LOGISTIC and name in LARGE and (name, split, SUMMARY) in seconds
    ]
    return (
        "CPU of the summary and models for six metrics, relative to LogisticRegressionCV with "
        f"out-of-fold thresholds, large sets: median {median(ratios):.2f} "
        f"({min(ratios):.2f} to {max(ratios):.2f})."
    )


def coverage(rows: list[Row]) -> list[str]:
    """Return how often intervals cover the truth, and how often limits with confidence hold."""
    cells, kept = [], []
    for (name, key), found in grouped_by(rows, "population", "metric").items():
        if key in GUARANTEED:
            limit = GUARANTEED[key].limit
            rate = numbers([row for row in found if row["truth"] != "nan"], "truth")
            broken = np.mean(rate > limit.value if limit.at_most else rate < limit.value)
            delivered = f"{100 * len(rate) / len(found):.1f} %"
            kept.append(
                (name, key, len(found), delivered, f"{100 * broken:.1f} %", f"{rate.mean():.4f}")
            )
            continue
        pairs = (("truth", "low", "high"), ("FPR", "FPR low", "FPR high"))
        covered = [
            np.mean(
                (numbers(found, low) <= numbers(found, truth))
                & (numbers(found, truth) <= numbers(found, high))
            )
            for truth, low, high in pairs
        ]
        bias = numbers(found, "claimed").mean() - numbers(found, "truth").mean()
        shares = (f"{100 * share:.1f} %" for share in covered)
        cells.append((name, key, len(found), *shares, f"{bias:+.4f}"))
    columns = "population | metric | draws | metric covered | FPR covered | claimed less true"
    limits = "population | limit | draws | delivered | broken | mean rate on new rows"
    return [
        *table(
            columns,
            cells,
            f"Coverage of 95 % intervals, samples of {DRAWN:,} rows (law: 92 to 99 %)",
        ),
        *table(
            limits, kept, f"Limits kept with confidence {CONFIDENCE}, samples of {DRAWN:,} rows"
        ),
    ]


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    commits = "; ".join(
        f"{method}: {commits_of(select(rows, method=method))}"
        for method in distinct(rows, "method")
    )
    return [
        "# Linear models from one pass",
        "",
        "Made by `python -m benchmarks.studies.one_pass`. By how much a method is worse than",
        f"`{LOGISTIC}` (LogisticRegressionCV tuned on all rows, with out-of-fold thresholds) on",
        "the 40 % of the rows that are held out: mean / median of the sets, below zero is better.",
        "Recall is that at exactly 1 % false positives on these rows.",
        f"Commits: {commits}.",
        *in_short(rows),
        *compared(rows, LARGE, f"{len(LARGE)} sets of 6,000 rows or more"),
        *compared(rows, SMALL, f"{len(SMALL)} smaller sets"),
        *compared(rows, UNSEEN, f"{len(UNSEEN)} sets that were not looked at before"),
        "",
        better_or_worse(rows),
        "",
        kept_limit(rows),
        "",
        cost(rows),
        *laws(rows),
        *by_set(rows),
        *other_summaries(rows),
        *behind(rows),
        *coverage(COVERED.rows()),
    ]


RECORD = Record.beside(
    __file__,
    "set, split, method, rows, features, positives, metric, value, tpr, fpr, claimed, low, high, "
    "claimed FPR, FPR low, FPR high, CPU shared, CPU, commit",
    "set, split, method",
)
COVERED = Record(
    Path(__file__).with_name("one_pass_coverage.csv"),
    "population, seed, metric, truth, FPR, claimed, low, high, claimed FPR, FPR low, FPR high, "
    "commit",
    "population, seed",
)
STUDY = Study(
    [Part(RECORD, planned, measure), Part(COVERED, draws, cover)],
    lines,
    quick="one small set",
    options={
        "--minutes": None,
        "--results": None,
        "--method": {"choices": list(METHODS), "help": "only this one"},
    },
)

if __name__ == "__main__":
    STUDY.main(__doc__)
