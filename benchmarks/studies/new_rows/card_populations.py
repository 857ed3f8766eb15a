"""Tables that stand for populations, and the scorecards that are fitted to samples of them.

Three are real tables as people have them, one is generated: numbers, texts and missing values with
bends, steps and an interaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from benchmarks.harness.tables import load_table
from benchmarks.studies.new_rows.populations import NEW_ROWS
from directrix import Binner, ScorecardClassifier
from directrix._typing import AnyArray, FloatArray
from directrix.metrics import Cost, RecallAtFPR

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
    """Logistic regression without bins: what ``report_.straight`` compares a card with, rebuilt.

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
