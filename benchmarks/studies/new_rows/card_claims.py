"""Bias and coverage of what scorecards claim, against the truth on other rows of the population.

``python -m benchmarks.studies.new_rows.card_claims`` draws samples of 1,000 and 3,000 rows from
three real tables and a generated one, fits nine kinds of cards to each, and compares the expected
recall, false-positive rate, precision and metric and their 95 % intervals with what the card does
on up to 60,000 other rows. The gap to logistic regression without bins is compared with the gap to
a logistic regression that is rebuilt from the same bins (see `StraightLine`). The
gap to the baseline on the same bins and the gap of rounding are recorded with their intervals
only: a fitted card has no trace of these two models, so that their truth is not known.

``--label`` names the code that is measured, by default by its commit.

Three populations are real tables, one is generated: numbers, texts and missing values with bends,
steps and an interaction.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import product
from math import nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from benchmarks.harness.data import load_table
from benchmarks.harness.markdown import table
from benchmarks.harness.record import (
    Record,
    Row,
    commits_of,
    distinct,
    numbers,
    package_commit,
    select,
)
from benchmarks.harness.runner import Part, Study, quiet, timed
from benchmarks.studies.new_rows.populations import NEW_ROWS
from directrix import Binner, ScorecardClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import Cost, Curve, Metric, RecallAtFPR, resolve

#: Two columns of each population whose direction is known before any row is seen.
DIRECTIONS: dict[str, Mapping[str, str]] = {
    "give_me_some_credit": {
        "RevolvingUtilizationOfUnsecuredLines": "increasing",
        "age": "decreasing",
    },
    "census_income": {"weeks_worked": "increasing", "dividends": "increasing"},
    "pakdd_2009": {"AGE": "decreasing", "MONTHS_IN_THE_JOB": "decreasing"},
    "simulated": {"debt": "increasing", "income": "decreasing"},
}
POPULATIONS = tuple(DIRECTIONS)
LIMIT = 0.05
_RECALL, _COST = RecallAtFPR(LIMIT), Cost(fp=1, fn=20)
VARIANTS: dict[str, dict[str, Any]] = {
    "AUC": {"metric": "auc"},
    "AUC, counts": {"metric": "auc", "learn_from": "counts"},
    "AUC, two directions": {"metric": "auc"},
    "AUC, whole points of 5 columns": {"metric": "auc", "points": "integer", "max_columns": 5},
    "recall, guaranteed FPR": {"metric": _RECALL, "guarantee": 0.95},
    "recall": {"metric": _RECALL},
    "recall, counts": {"metric": _RECALL, "learn_from": "counts"},
    "cost": {"metric": _COST},
    "cost, counts": {"metric": _COST, "learn_from": "counts"},
}


class Draw(NamedTuple):
    """A sample of a population, and other rows of it."""

    X: pd.DataFrame
    y: AnyArray
    X_new: pd.DataFrame
    y_new: AnyArray


def card(population: str, variant: str) -> ScorecardClassifier:
    """Return a card that is not fitted."""
    parameters = dict(VARIANTS[variant])
    if variant.endswith("directions"):
        parameters["monotone"] = DIRECTIONS[population]
    return ScorecardClassifier(parameters.pop("metric"), warn_baseline=False, **parameters)


@cache
def _population(name: str) -> tuple[pd.DataFrame, AnyArray]:
    if name == "simulated":
        return simulated(200_000, np.random.default_rng(2009))
    rows = load_table(name)
    return rows.X, rows.y


def simulated(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, AnyArray]:
    """Return rows of the generated population; about one in eight is positive."""
    age, debt, income = rng.uniform(18, 80, n), rng.lognormal(0, 1, n), rng.lognormal(3, 0.6, n)
    noise, months = rng.normal(size=(n, 2)).T, rng.integers(0, 121, n).astype(float)
    home = rng.choice(["own", "rent", "parents", "other"], n, p=[0.5, 0.35, 0.1, 0.05])
    job, region = rng.integers(0, 12, n), np.minimum(rng.geometric(0.08, n), 40)
    job_effect = np.random.default_rng(7).normal(0, 0.5, 12)
    logit = (
        -3.2
        + 0.0012 * (age - 50) ** 2
        + 0.8 * np.tanh(debt - 1)
        - 0.9 * np.log(income / 20)
        + 0.6 * (months < 12)
        + 0.7 * ((home == "rent") & (age < 35))
        + 0.5 * ((home == "own") & (debt > 2))
        + job_effect[job]
        + 0.4 * (region % 7 == 0)
    )
    y = rng.random(n) < 1 / (1 + np.exp(-logit))
    income[rng.random(n) < 0.1] = np.nan
    months[rng.random(n) < 0.2 * (home == "parents")] = np.nan
    frame = pd.DataFrame({"age": age, "debt": debt, "income": income, "months": months})
    frame["noise"], frame["other noise"] = noise
    frame["home"] = home
    frame["job"] = np.array([f"job {k}" for k in range(12)], dtype=object)[job]
    frame["region"] = np.array([f"region {k}" for k in range(41)], dtype=object)[region]
    return frame, y


def draw(name: str, n_rows: int, seed: int) -> Draw:
    """Return a sample of a population, and other rows of it."""
    X, y = _population(name)
    order = np.random.default_rng([seed, n_rows]).permutation(len(y))
    seen, new = order[:n_rows], order[n_rows : n_rows + NEW_ROWS]
    sample, others = (X.iloc[rows].reset_index(drop=True) for rows in (seen, new))
    return Draw(sample, y[seen], others, y[new])


class StraightLine:
    """Logistic regression without bins, rebuilt: ``report_.unbinned_baseline`` is the gap to it.

    A number is the mean of its bin; missing values and texts have indicators. The ridge is chosen
    by the area under the curve over five folds, where a report has that of the metric itself, so
    that the gap to it is nearly but not exactly the one that is reported.
    """

    def fit(self, X: pd.DataFrame, y: AnyArray) -> StraightLine:
        """Fit to the rows of a sample."""
        self._binner = Binner().fit(X)
        cells = self._binner.cells(X)
        self._codings = [
            _straight_coding(bins, np.bincount(column, minlength=bins.n_cells))
            for bins, column in zip(self._binner.bins_, cells.T, strict=True)
        ]
        ridges = {"C": np.logspace(-3, 2, 8)}
        line = LogisticRegression(max_iter=300)
        self._line = GridSearchCV(line, ridges, cv=5, scoring="roc_auc")
        self._line.fit(self._features(cells), y)
        self.held_out_auc = float(self._line.best_score_)
        return self

    def decision_function(self, X: pd.DataFrame) -> FloatArray:
        """Return the scores of rows."""
        return np.asarray(self._line.decision_function(self._features(self._binner.cells(X))))

    def _features(self, cells: AnyArray) -> FloatArray:
        coded = zip(self._codings, cells.T, strict=True)
        return np.hstack([coding[column] for coding, column in coded])


def _straight_coding(bins: Any, weight: FloatArray) -> FloatArray:
    """Return the features of each cell: indicators, and the standardised means of ordered bins."""
    means = np.array(getattr(bins, "means", ()))
    ordered = slice(1, 1 + len(means))  # after the cell of missing values
    alone = weight > 0
    alone[ordered] = False
    coding = np.eye(bins.n_cells)[:, alone]
    share = weight[ordered] / max(weight[ordered].sum(), 1)
    centred = means - share @ means
    spread = np.sqrt(share @ centred**2) if len(means) else 0.0
    if spread == 0.0:
        return coding
    line = np.zeros((bins.n_cells, 1))
    line[ordered, 0] = centred / spread
    return np.hstack([coding, line])


SIZES = (1_000, 3_000)
DRAWS = 40
_RATES = {"recall": "tpr", "FPR": "fpr", "precision": "precision", "metric": "metric"}
_GAPS = ("gap", "straight", "rounding")
_FIGURES = tuple(f"{rate}{end}" for rate in _RATES for end in ("", " low", " high", " truth"))
_FIGURES += tuple(f"{gap}{end}" for gap in _GAPS for end in ("", " low", " high"))
_FIGURES += ("straight truth", "empirical", "crosses", "seconds")


@lru_cache(maxsize=1)
def _straight_scores(population: str, n_rows: int, seed: int) -> tuple[Draw, FloatArray]:
    """Return a draw, and the scores of its new rows by logistic regression without bins."""
    rows = draw(population, n_rows, seed)
    with quiet():
        model = StraightLine().fit(rows.X, rows.y)
    return rows, model.decision_function(rows.X_new)


def best_value(metric: Metric, y: Any, scores: FloatArray) -> float:
    """Return a metric at the best threshold for these rows; a gap compares models at theirs."""
    if metric.uses_threshold and metric.limit is None:
        return float(metric.best(Curve.of(y, scores)).value)
    return float(metric.score(y, scores))


def measured(
    code: str, population: str, n_rows: int, seed: int, variant: str
) -> list[tuple[Any, ...]]:
    """Return a row: what a card claims, and the truth on other rows of the population."""
    rows, straight_scores = _straight_scores(population, n_rows, seed)
    fitted, seconds = timed(card(population, variant).fit, rows.X, rows.y)
    point, report, y = fitted.operating_point_, fitted.report_, rows.y_new
    metric, scores = point.metric, np.asarray(fitted.decision_function(rows.X_new))
    above = scores > 0
    truth = {
        "recall": above[y].mean(),
        "FPR": above[~y].mean(),
        "precision": y[above].mean() if above.any() else nan,
    }
    truth["metric"] = metric.score(y, scores) if metric.limit is None else truth["recall"]
    figures: list[float] = []
    for rate, field in _RATES.items():
        interval = getattr(point.intervals, field)
        figures += [getattr(point.expected, field), *interval, truth[rate]]
    for gap in (report.gap, report.unbinned_baseline, report.rounding):
        figures += [nan] * 3 if gap is None else gap
    sign = 1.0 if metric.greater_is_better else -1.0
    better = best_value(metric, y, scores) - best_value(metric, y, straight_scores)
    figures += [sign * better, point.empirical.metric, len(fitted.card_.crosses), seconds]
    about = (code, package_commit(), population, n_rows, seed, variant)
    return [(*about, *(f"{figure:.5g}" for figure in figures))]


def planned(args: argparse.Namespace) -> Iterator[tuple[str, str, int, int, str]]:
    """Yield label, population, rows, seed and variant of each fit, in rounds over all of them."""
    for seed, n_rows in product(range(args.draws), args.sizes):
        for population, variant in product(args.populations, args.variants):
            yield args.label, population, n_rows, seed, variant


def lines(rows: list[Row]) -> list[str]:
    """Return the report."""
    about = (
        "The bias is the mean of expected minus true metric (above zero is optimistic), with its "
        "standard error, and in units of the deviation of this difference. Coverage is the share "
        "of 95 % intervals that contain the truth; each share is followed by its standard error. "
        "The gap is that to logistic regression without bins, whose truth is that of a rebuilt "
        "model and therefore approximate. "
        f"FPR is the mean on new rows, and broken the share of fits above the limit of {LIMIT:g}, "
        "where there is one. No width counts fits with a gap of no width to another model."
    )
    text = ["# Claims of scorecards against the truth", "", about]
    columns = (
        "population | rows | card | draws | bias | in deviations | recall | FPR | precision | "
        "metric | gap | mean FPR | broken | no width | crosses | CPU s"
    )
    for code in distinct(rows, "code"):
        of_code, cells = select(rows, code=code), []
        for n_rows, variant in product(SIZES, VARIANTS):
            fits = select(of_code, n=n_rows, variant=variant)
            for population in (*POPULATIONS, "all"):
                chosen = fits if population == "all" else select(fits, population=population)
                if chosen:
                    cells.append((population, f"{n_rows:,}", variant, *_cells(variant, chosen)))
        text += table(columns, cells, f"{code} (commit {commits_of(of_code)})")
    return text


def _cells(variant: str, rows: list[Row]) -> tuple[object, ...]:
    figures = {name: numbers(rows, name) for name in _FIGURES}
    metric = resolve(VARIANTS[variant]["metric"])
    sign = 1.0 if metric.greater_is_better else -1.0
    off = sign * (figures["metric"] - figures["metric truth"])
    error = off.std(ddof=1) / np.sqrt(len(off)) if len(off) > 1 else nan
    fpr = figures["FPR truth"]
    no_width = [
        (figures[f"{gap} low"] == figures[f"{gap} high"])
        & ((figures[gap] != 0.0) | (gap == "straight"))
        for gap in _GAPS
    ]
    return (
        len(rows),
        f"{off.mean():+.4f} ± {error:.4f}",
        f"{off.mean() / off.std():+.2f}" if len(off) > 1 else "",
        *(_coverage(figures, name) for name in (*_RATES, "straight")),
        f"{fpr.mean():.3f}",
        "" if metric.limit is None else _share(fpr > LIMIT),
        f"{np.any(no_width, axis=0).mean():.0%}",
        f"{figures['crosses'].mean():.1f}",
        f"{figures['seconds'].mean():.1f}",
    )


def _coverage(figures: dict[str, FloatArray], name: str) -> str:
    low, high, truth = (figures[f"{name} {part}"] for part in ("low", "high", "truth"))
    known = ~(np.isnan(low) | np.isnan(high) | np.isnan(truth))
    return _share(((low <= truth) & (truth <= high))[known])


def _share(hits: Any) -> str:
    """Return a share with its standard error, which is not zero where all are alike."""
    n = len(hits)
    if n == 0:
        return ""
    near = (hits.sum() + 2.0) / (n + 4.0)  # Agresti and Coull (1998)
    return f"{hits.mean():.2f} ± {np.sqrt(near * (1.0 - near) / (n + 4.0)):.2f}"


RECORD = Record.beside(
    __file__,
    ("code", "commit", "population", "n", "seed", "variant", *_FIGURES),
    "code, population, n, seed, variant",
)
STUDY = Study(
    [Part(RECORD, planned, measured)],
    lines,
    options={
        **dict.fromkeys(("--label", "--minutes", "--results")),
        "--draws": {"type": int, "default": DRAWS},
        "--sizes": {"type": int, "nargs": "*", "default": SIZES},
        "--populations": {"nargs": "*", "default": POPULATIONS},
        "--variants": {"nargs": "*", "default": tuple(VARIANTS)},
    },
)


if __name__ == "__main__":
    STUDY.main(__doc__)
