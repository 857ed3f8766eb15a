"""How small a card can be: compact cards against small settings and rivals, by printed lines.

``python -m benchmarks.studies.compact_cards`` fits all methods to the twelve tables and four more,
at most 5,000 rows of each (``--rows`` for another number), three folds. ``--quick`` measures one
fold of the smallest table with our methods. ``--only`` names methods, and ``--parts`` parts of the
study. Tables that are not among the twelve are read from the folder ``tables_new`` beside them.

* "full" is the card without compression. "auto", "60 lines", "40 lines" and "20 lines" are sizes of
  one fit, with whole points from 0 to 100; the CPU seconds are those of the fit with all sizes.
* "10 x 6", "8 x 5" and "4 x 5" are cards of so many columns, cut into so many bins before anything
  is learned, with whole points from 0 to 20.
* optbinning: weights of evidence of its bins (at most four a column, or its defaults), logistic
  regression on all columns. EBM: at most eight bins a column, no pairs, four outer bags. A tree has
  60 leaves. FasterRisk has 40 conditions of at most 20 points; a fit that needs more than 300 CPU
  seconds counts for nothing.

The part "sizes" has what is expected of every size of the cards of four tables, for the picture.

The part "coverage" draws samples of large tables, fits the default card for two metrics, and
compares the interval that is expected on new rows with the metric on the rows that were not drawn.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from benchmarks.harness.data import LATER, TABLES, Rows, load_table
from benchmarks.harness.figure import BLUE, GREY, GRID, VERMILION, new_figure
from benchmarks.harness.markdown import table
from benchmarks.harness.record import Record, Row, commit, distinct, select
from benchmarks.harness.runner import Part, Study, quiet, timed
from benchmarks.rivals.tables import one_hot, text_columns, with_plain_texts
from benchmarks.studies.cards import faster_risk
from benchmarks.studies.cards.integer_cards import CellPoints, thermometer
from directrix import Binner, ScorecardClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.estimators import IntegerPoints
from directrix.fit.operating_point import EffectiveCounts, ranking_variance
from directrix.metrics import AUC, RecallAtFPR
from directrix.metrics.base import Curve

FOLDS, MOST_ROWS, LIMIT = 3, 5_000, 300
PARTS = ("methods", "sizes", "coverage")
RECALL = RecallAtFPR(0.05)
METRIC = "auc"
_RARE = 0.01  # share of rows below which optbinning gives a level to the others


class Result(NamedTuple):
    """Scores of test rows, and the lines that the model prints."""

    scores: FloatArray
    lines: int


# ── rows ──────────────────────────────────────────────────────────────────────────────────────────


@cache
def rows_of(name: str, most_rows: int) -> Rows:
    """Return a table; of more rows than this a fixed sample."""
    X, y = load_table(name)
    if len(y) > most_rows:
        sample = np.sort(np.random.default_rng(0).choice(len(y), most_rows, replace=False))
        X, y = X.iloc[sample].reset_index(drop=True), y[sample]
    return Rows(X, y)


def split(name: str, fold: int, most_rows: int) -> tuple[Rows, Rows]:
    """Return the training and the test rows of a fold: the same for every method."""
    X, y = rows_of(name, most_rows)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    train, test = list(folds.split(np.zeros(len(y)), y))[fold]
    first, second = (Rows(X.iloc[rows].reset_index(drop=True), y[rows]) for rows in (train, test))
    return first, second


# ── methods ───────────────────────────────────────────────────────────────────────────────────────


def card(train: Rows, test: Rows, **settings: Any) -> dict[str, Result]:
    """Fit a card of ours; return it as "", and its sizes by their names."""
    made = ScorecardClassifier(METRIC, warn_baseline=False, **settings).fit(train.X, train.y)
    results = {"": Result(made.decision_function(test.X), made.card_.n_lines)}
    if settings.get("max_lines") == "auto":
        for size in (60, 40, 20):
            small = made.compact(size) if len(made.sizes()) > 1 else made
            lines = small.card_.n_lines
            results[f"{size} lines"] = Result(small.decision_function(test.X), lines)
    return results


def full(train: Rows, test: Rows) -> dict[str, Result]:
    """Fit the full card."""
    return {"full": card(train, test, max_lines=None)[""]}


def compact(train: Rows, test: Rows) -> dict[str, Result]:
    """Fit the compact card in all sizes."""
    made = card(train, test, max_lines="auto", points=IntegerPoints(100))
    return {name or "auto": result for name, result in made.items()}


def small_settings(n_columns: int, n_bins: int) -> Callable[[Rows, Rows], dict[str, Result]]:
    """Return a method: few columns and few bins from the beginning."""

    def fit(train: Rows, test: Rows) -> dict[str, Result]:
        made = card(
            train,
            test,
            max_lines=None,
            max_columns=n_columns,
            binner=Binner(max_bins=n_bins),
            points=IntegerPoints(20),
        )
        return {f"{n_columns} x {n_bins}": made[""]}

    return fit


def _commonest(column: Any) -> float:
    """Return the share of the most common level."""
    return float(column.value_counts(normalize=True).iloc[0])


def optimal_bins(n_bins: int | None) -> Callable[[Rows, Rows], dict[str, Result]]:
    """Return a method: weights of evidence of optbinning, and logistic regression."""

    def fit(train: Rows, test: Rows) -> dict[str, Result]:
        from optbinning import BinningProcess  # noqa: PLC0415 - optional

        frames = [with_plain_texts(part.X) for part in (train, test)]
        # It refuses a column whose levels are all rare.
        rare = [name for name in text_columns(frames[0]) if _commonest(frames[0][name]) < _RARE]
        frames = [frame.drop(columns=rare) for frame in frames]
        texts = text_columns(frames[0])
        options = {} if n_bins is None else {"max_n_bins": n_bins}
        process = BinningProcess(
            list(frames[0]),
            categorical_variables=list(texts),
            binning_fit_params={
                name: {**options, **({"cat_cutoff": _RARE} if name in texts else {})}
                for name in frames[0]
            },
            n_jobs=1,
        ).fit(frames[0], train.y)
        coded, other = (
            np.nan_to_num(np.asarray(process.transform(frame, metric_missing="empirical")))
            for frame in frames
        )
        model = LogisticRegression(C=1.0, max_iter=1000).fit(coded, train.y)
        lines = sum(len(np.unique(column)) for column in coded.T if np.ptp(column) > 0)
        name = "optbinning" if n_bins is None else f"optbinning, {n_bins} bins"
        return {name: Result(model.decision_function(other), lines)}

    return fit


def boosting_of_few_bins(train: Rows, test: Rows) -> dict[str, Result]:
    """Fit an explainable boosting machine with few bins and no pairs."""
    from interpret.glassbox import ExplainableBoostingClassifier  # noqa: PLC0415 - optional

    fitted, other = (with_plain_texts(part.X) for part in (train, test))
    model = ExplainableBoostingClassifier(
        max_bins=8, interactions=0, outer_bags=4, n_jobs=1, random_state=0
    ).fit(fitted, train.y)
    lines = sum(len(np.unique(np.asarray(scores))) for scores in model.term_scores_)
    return {"EBM, 8 bins": Result(np.asarray(model.decision_function(other)), lines)}


def tree(train: Rows, test: Rows) -> dict[str, Result]:
    """Fit a tree of 60 leaves."""
    coding = one_hot(train.X)
    coded = coding.fit_transform(with_plain_texts(train.X))
    other = coding.transform(with_plain_texts(test.X))
    model = DecisionTreeClassifier(max_leaf_nodes=60, min_samples_leaf=10, random_state=0)
    model.fit(coded, train.y)
    return {"tree": Result(model.predict_proba(other)[:, 1], model.get_n_leaves())}


def risk_score(train: Rows, test: Rows) -> dict[str, Result]:
    """Fit FasterRisk to conditions on bins."""
    binner = Binner(max_bins=8).fit(train.X)
    codes = [thermometer(bins) for bins in binner.bins_]
    column = np.repeat(np.arange(len(codes)), [code.shape[1] for code in codes])
    cells, other = binner.cells(train.X), binner.cells(test.X)
    X = np.hstack([code[cells[:, k]] for k, code in enumerate(codes)])
    found = faster_risk.fit(X, train.y, column, faster_risk.Settings(40, 40, bound=20), LIMIT)
    if found is None:
        return {"FasterRisk": Result(np.zeros(len(test.y)), 0)}
    points = CellPoints.of_features(binner.bins_, found.coefficients)
    return {"FasterRisk": Result(points.scores(other), points.n_lines)}


FITS: dict[str, Callable[[Rows, Rows], dict[str, Result]]] = {
    "full": full,
    "compact": compact,
    "10 x 6": small_settings(10, 6),
    "8 x 5": small_settings(8, 5),
    "4 x 5": small_settings(4, 5),
    "optbinning, 4 bins": optimal_bins(4),
    "optbinning": optimal_bins(None),
    "EBM, 8 bins": boosting_of_few_bins,
    "tree": tree,
    "FasterRisk": risk_score,
}
OURS = ("full", "compact", "10 x 6", "8 x 5", "4 x 5")
NEEDS = {"optbinning, 4 bins": "optbinning", "optbinning": "optbinning", "EBM, 8 bins": "interpret"}


def is_there(method: str) -> bool:
    """Return whether what a method needs is installed."""
    from importlib.util import find_spec  # noqa: PLC0415 - of this function only

    if method == "FasterRisk":
        return faster_risk.VARIABLE in os.environ
    return method not in NEEDS or find_spec(NEEDS[method]) is not None


def plan(args: argparse.Namespace) -> Iterator[tuple[str, int, int, str]]:
    """Yield table, rows at most, fold and method; all tables of one fold first."""
    if "methods" not in args.parts:
        return
    names = ("german_credit",) if args.quick else (*TABLES, *LATER)
    methods = args.only or (OURS if args.quick else FITS)
    for fold in range(1 if args.quick else FOLDS):
        for name in names:
            for method in filter(is_there, methods):
                yield name, args.rows, fold, method


def measure(name: str, most_rows: int, fold: int, method: str) -> list[tuple[object, ...]]:
    """Return the values of a method, a row for each size."""
    train, test = split(name, fold, most_rows)
    results, cpu = timed(FITS[method], train, test)
    rows = []
    for size, (scores, lines) in results.items():
        values = roc_auc_score(test.y, scores), RECALL.score(test.y, scores)
        errors = standard_errors(test.y, scores, values[1])
        numbers = (f"{value:.6g}" for value in (*values, *errors, lines, cpu))
        rows.append((name, most_rows, fold, method, size, *numbers, commit()))
    return rows


def standard_errors(positive: AnyArray, scores: FloatArray, recall: float) -> tuple[float, float]:
    """Return the standard errors of AUC and recall on test rows, of a model that is fixed."""
    n_pos, n_neg = int(positive.sum()), int((~positive).sum())
    variance = ranking_variance(Curve.of(positive, scores), EffectiveCounts(n_pos, n_neg), AUC())
    return float(np.sqrt(variance)), float(np.sqrt(recall * (1.0 - recall) / n_pos))


# ── coverage ──────────────────────────────────────────────────────────────────────────────────────

POPULATIONS = ("census_income", "give_me_some_credit", "lending_club")
DRAWS, SAMPLE, POPULATION = 60, 2_000, 40_000
EXPECTED_METRICS = ("auc", "recall@fpr=0.05")


def draws(args: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Yield population and number of a draw."""
    if "coverage" not in args.parts:
        return
    for draw in range(1 if args.quick else DRAWS):
        for name in POPULATIONS[-1:] if args.quick else POPULATIONS:
            yield name, draw


def measure_draw(name: str, draw: int) -> list[tuple[object, ...]]:
    """Fit the default card to a sample, and compare what it expects with all other rows."""
    X, y = rows_of(name, POPULATION)
    order = np.random.default_rng(draw).permutation(len(y))
    sample, rest = order[:SAMPLE], order[SAMPLE:]
    default = ScorecardClassifier(warn_baseline=False)
    with quiet():
        cards = default.fit_each(EXPECTED_METRICS, X.iloc[sample], y[sample])
    rows = []
    for metric, made in zip(EXPECTED_METRICS, cards, strict=True):
        scores = made.decision_function(X.iloc[rest])
        reached = _reached(made.operating_point_.metric, y[rest], scores)
        values = made.card_.n_lines, *made.report_.expected, reached
        rows.append((name, draw, metric, *(f"{value:.6g}" for value in values), commit()))
    return rows


def _reached(metric: Any, positive: AnyArray, scores: FloatArray) -> float:
    """Return the metric of rows: at the threshold of the fit, where it has one."""
    if not metric.uses_threshold:
        return float(metric.score(positive, scores))
    return float((scores[positive] > 0).mean())


# ── picture ───────────────────────────────────────────────────────────────────────────────────────

DRAWN = ("german_credit", "credit_data", "telco_churn", "hmeq")
PICTURE = Path(__file__).parents[2] / "docs" / "_static" / "how-small.png"


def drawn_tables(args: argparse.Namespace) -> Iterator[tuple[str, int]]:
    """Yield the tables of the picture, and their rows at most."""
    if "sizes" not in args.parts:
        return
    yield from ((name, args.rows) for name in (DRAWN[:1] if args.quick else DRAWN))


def measure_sizes(name: str, most_rows: int) -> list[tuple[object, ...]]:
    """Return what to expect of each size of a card fitted to all rows of a table."""
    X, y = rows_of(name, most_rows)
    with quiet():
        made = ScorecardClassifier(
            METRIC, max_lines="auto", points=IntegerPoints(100), warn_baseline=False
        ).fit(X, y)
    return [
        (
            name,
            most_rows,
            size.lines,
            "full" if size.gap is None else "auto" if size.is_chosen else "",
            *(f"{value:.6g}" for value in size.expected),
            commit(),
        )
        for size in made.sizes()
    ]


def draw() -> None:
    """Draw lines against the AUC that is expected on new rows."""
    rows = PATHS.rows()
    if not rows:
        return
    figure = new_figure(7.2, 4.6)
    for place, name in enumerate(distinct(rows, "table")):
        axes = figure.add_subplot(2, 2, place + 1)
        chosen = select(rows, table=name)
        sizes = [row for row in chosen if row["which"] != "full"]
        keys = ("lines", "expected")
        lines_of, expected = (np.array([float(row[key]) for row in sizes]) for key in keys)
        full_card = next(row for row in chosen if row["which"] == "full")
        level = float(full_card["expected"])
        ends = float(full_card["low"]), float(full_card["high"])
        axes.axhspan(*ends, color=GREY, alpha=0.15, linewidth=0)
        axes.axhline(level, color=GREY, linestyle="--", linewidth=1)
        axes.plot(lines_of, expected, color=BLUE, marker="o", markersize=4)
        auto = [row for row in sizes if row["which"] == "auto"]
        for row in auto:
            axes.plot(
                float(row["lines"]), float(row["expected"]), "o", color=VERMILION, markersize=8
            )
        axes.set_title(f"{name} (full card: {full_card['lines']} lines)", fontsize=9)
        axes.set_xlabel("lines of the printed card", fontsize=8)
        axes.set_ylabel("AUC expected on new rows", fontsize=8)
        axes.tick_params(labelsize=8)
        axes.grid(**GRID)
    figure.savefig(PICTURE, dpi=150)


# ── report ────────────────────────────────────────────────────────────────────────────────────────


def values_by_table(rows: Sequence[Row], size: str) -> dict[str, tuple[float, float, float]]:
    """Return AUC, recall and lines of a size, the mean of the folds of each table."""
    found = {}
    for name in distinct(rows, "table"):
        chosen = [row for row in select(rows, table=name, size=size) if float(row["lines"]) > 0]
        if chosen:
            means = [fmean(float(row[key]) for row in chosen) for key in ("auc", "recall", "lines")]
            found[name] = (means[0], means[1], means[2])
    return found


def lines(rows: list[Row]) -> list[str]:
    """Return the report: all methods against the full card, and table by table."""
    base = values_by_table(rows, "full")
    cells = []
    for size in distinct(rows, "size"):
        of_size = {
            name: value for name, value in values_by_table(rows, size).items() if name in base
        }
        if not of_size:
            continue
        losses = [[value[k] - base[name][k] for name, value in of_size.items()] for k in range(2)]
        cpu = median(float(row["cpu"]) for row in select(rows, size=size))
        cells.append(
            (
                size,
                f"{median(value[2] for value in of_size.values()):.0f}",
                *(f"{fmean(part):+.4f} ({min(part):+.3f})" for part in losses),
                f"{cpu:.1f}",
                str(len(of_size)),
            )
        )
    columns = (
        "method | lines, median | AUC less full, mean (worst) | recall at 5 % FPR less full, mean "
        "(worst) | CPU seconds, median | tables"
    )
    report = ["# How small a card can be", "", *table(columns, cells), "", "## Table by table"]
    sizes = ("full", "auto", "60 lines", "40 lines", "20 lines")
    of_sizes = {size: values_by_table(rows, size) for size in sizes}
    cells = [
        (
            name,
            *(
                f"{value[0]:.3f} · {value[1]:.3f} ({value[2]:.0f})"
                for value in (of_sizes[size][name] for size in sizes if name in of_sizes[size])
            ),
        )
        for name in base
        if all(name in of_sizes[size] for size in sizes)
    ]
    report += [
        "",
        "AUC, recall at 5 % FPR, and lines.",
        *table(f"table | {' | '.join(sizes)}", cells),
        "",
        "## The default card against the full card",
        *_default_card(rows),
    ]
    drawn = COVERAGE.rows()
    if drawn:
        report += ["", "## Intervals of the default card on new rows", *_coverage(drawn)]
    return report


def _default_card(rows: Sequence[Row]) -> list[str]:
    """Return how far the default card is behind the full one, and the time of all sizes."""
    cells, ratios = [], []
    for name in distinct(rows, "table"):
        pairs = list(
            zip(
                select(rows, table=name, size="full"),
                select(rows, table=name, size="auto"),
                strict=False,
            )
        )
        if not pairs:
            continue
        ratios += [float(auto["cpu"]) / float(full_card["cpu"]) for full_card, auto in pairs]
        texts = []
        for key in ("auc", "recall"):
            behind = fmean(float(auto[key]) - float(full_card[key]) for full_card, auto in pairs)
            variance = fmean(float(full_card[f"{key}_error"]) ** 2 for full_card, _ in pairs)
            error = float(np.sqrt(variance / len(pairs)))
            texts.append(f"{behind:+.4f} ({behind / error:+.1f})")
        cells.append((name, f"{fmean(float(auto['lines']) for _, auto in pairs):.0f}", *texts))
    columns = "table | lines | AUC less full (in standard errors) | recall less full (the same)"
    cpu = f"Fits with all sizes took {median(ratios):.2f} times the CPU time of the full card's, in"
    return [
        "",
        "Standard errors are those of the full card's value on the test rows of all folds.",
        *table(columns, cells),
        "",
        f"{cpu} the median of {len(ratios)} fits ({min(ratios):.2f} to {max(ratios):.2f}).",
    ]


def _coverage(rows: Sequence[Row]) -> list[str]:
    cells = []
    for name in distinct(rows, "table"):
        for metric in distinct(rows, "metric"):
            chosen = select(rows, table=name, metric=metric)
            if not chosen:
                continue
            inside = [
                float(row["low"]) <= float(row["reached"]) <= float(row["high"]) for row in chosen
            ]
            bias = fmean(float(row["expected"]) - float(row["reached"]) for row in chosen)
            n_lines = median(float(row["lines"]) for row in chosen)
            share = f"{100 * fmean(inside):.0f} % of {len(inside)}"
            cells.append((name, metric, f"{n_lines:.0f}", share, f"{bias:+.4f}"))
    columns = "population | metric | lines, median | covered | expected less reached, mean"
    return table(columns, cells)


RECORD = Record.beside(
    __file__,
    "table, rows, fold, method, size, auc, recall, auc_error, recall_error, lines, cpu, commit",
    "table, rows, fold, method",
)
COVERAGE = Record(
    RECORD.path.with_name("compact_cards_coverage.csv"),
    "table, draw, metric, lines, expected, low, high, reached, commit",
    "table, draw",
)
PATHS = Record(
    RECORD.path.with_name("compact_cards_sizes.csv"),
    ("table", "rows", "lines", "which", "expected", "low", "high", "commit"),
    ("table", "rows"),
)
STUDY = Study(
    [
        Part(RECORD, plan, measure),
        Part(PATHS, drawn_tables, measure_sizes),
        Part(COVERAGE, draws, measure_draw),
    ],
    lines,
    draw=draw,
    quick="one fold of the smallest table, and one draw",
    options={
        "--rows": {"type": int, "default": MOST_ROWS, "help": "of a table at most"},
        "--only": {"nargs": "+", "choices": list(FITS), "help": "methods"},
        "--parts": {"nargs": "+", "choices": PARTS, "default": PARTS, "help": "of the study"},
        "--minutes": None,
        "--results": None,
    },
)

if __name__ == "__main__":
    STUDY.main(__doc__)
